"""The model card and the evidence pack."""

import re
from dataclasses import replace
from html import unescape

import pytest
from markdown_it import MarkdownIt
from report_runs import make_run

from mamofair.fronts import Tally
from mamofair.report import to_markdown
from mamofair.report._group_tables import MIN_PEOPLE, selection_tables
from mamofair.runs import judge


@pytest.fixture(scope="module")
def run():
    return make_run()


def rows_of(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its head."""
    lines = text[text.index(heading) :].split("\n\n")[1].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_card_says_what_the_verdict_says(run):
    text, verdict = to_markdown(run), judge(run)
    assert f"**{verdict.headline}.**" in text
    assert all(sentence.replace("<", "&lt;") in text for sentence in verdict.sentences())
    assert f"point {verdict.point} of {len(run.estimator.front_)}." in text


def test_what_was_found_since_training_is_on_the_card(run):
    flips = {"sentences": [f"Row {row} flips." for row in range(len(run.estimator.front_))]}
    measured = replace(run, settings={**run.settings, "arbitrariness": flips})
    found = {"alternatives": ["Row 3 is an <alternative>."], "asked": ["Row 2 is certified."]}
    text = to_markdown(measured, **found)
    assert "## Compared with today's decisions\n\n- Row 3 is an &lt;alternative>." in text
    assert "## Asked with new rows\n\n- Row 2 is certified." in text
    assert f"## With other training rows\n\n- Row {run.estimator.selected_} flips.\n" in text
    hidden = to_markdown(measured, 10, **found)
    assert "Row 2 is certified." in hidden
    assert "alternative>" not in hidden
    assert "flips." not in hidden


def test_impact_ratios_are_rates_divided_by_the_highest(run):
    text, verdict = to_markdown(run), judge(run)
    for name, groups in run.groups.items():
        counts = run.test[verdict.point].counts[name]
        rates = counts[:, :2].sum(axis=1) / counts.sum(axis=1)
        found = rows_of(text, f"### Category: {name}")[: len(groups)]
        assert [row[0] for row in found] == list(groups)
        assert [row[4] for row in found] == [f"{one:.2f}" for one in rates / rates.max()]


def test_no_legal_threshold_and_no_verdict_of_law_is_printed(run):
    text = to_markdown(run)
    assert not re.search(r"complian|complies|\bpass(es)?\b|0\.8\b|four-fifths|80 ?%", text, flags=re.IGNORECASE)


def test_names_do_not_become_markup():
    run = make_run(attributes=("a|b",), names=("<script>", "x | y"))
    text = to_markdown(run)
    assert "<script>" not in text
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| &lt;script>")}
    assert widths <= {4, 6}  # as many cells as the heads have


@pytest.mark.parametrize(
    "name",
    [
        "[click](javascript:alert(1))",
        "\\[click](javascript:alert(1))",
        "![seen](https://example.org/a.png)",
        "[x]: https://example.org",
        "`[a](b) [click](https://example.org)",
    ],
)
def test_a_group_whose_name_looks_like_a_link_is_none(name):
    text = to_markdown(make_run(attributes=("sex",), names=(name, "M")))
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert "<a " not in page
    assert "<img" not in page
    plain = unescape(re.sub("<[^>]*>", "", page))
    assert name in plain or name.startswith("`")  # a pair of these makes code of what is between them


def test_what_is_left_out_is_said_and_appears_nowhere(run):
    verdict = judge(run)
    least = int(min(table["people"].min() for table in selection_tables(run, verdict.point, 0.95).values())) + 1
    text = to_markdown(run, least=least)
    assert f"Rows with fewer than {least} people" in text
    assert "Compared with the most accurate model" not in text
    assert any("–" in row for name in run.groups for row in rows_of(text, f"### Category: {name}"))


def test_small_groups_have_no_ratio_and_are_no_reference():
    run = make_run(attributes=("sex",), names=("a", "b", "c"))
    for tally in run.test:  # all 20 of a group are selected, by each point
        tally.counts["sex"][:] = [[50, 50, 50, 50], [40, 50, 60, 50], [10, 10, 0, 0]]
        tally.counts[""][:] = tally.counts["sex"].sum(axis=0)
    text, counts = to_markdown(run), run.test[judge(run).point].counts["sex"][:2]
    rates = counts[:, :2].sum(axis=1) / counts.sum(axis=1)
    found = rows_of(text, "### Category: sex")
    assert [row[4] for row in found[:3]] == [*(f"{one:.2f}" for one in rates / rates.max()), "–"]
    assert f"Too small for a ratio, with fewer than {MIN_PEOPLE} independent rows: c." in text


def test_weights_are_not_called_people():
    run = make_run()
    assert "| category | people |" in to_markdown(run)
    weighted = replace(run, test=tuple(Tally(tally.counts, tally.counts) for tally in run.test))
    assert "| category | weight |" in to_markdown(weighted)
    assert "| category | people |" not in to_markdown(weighted)
    by_unit = replace(weighted, settings={**run.settings, "data": {**run.settings["data"], "weight": None}})
    assert "| category | rows |" in to_markdown(by_unit)
