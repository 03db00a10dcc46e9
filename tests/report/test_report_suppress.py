"""`--suppress`: nothing that is shared counts few people, or lets readers work out such a count."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_runs import make_run

from mamofair.fronts import Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS
from mamofair.report import render, summarize, to_markdown
from mamofair.report._group_tables import hide_rows, selection_tables
from mamofair.report._small_cells import find_hidden_groups, find_hidden_rows
from mamofair.runs import Run, judge
from mamofair.selection import MostAccurateWithin, supports

COUNTS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=6)


def is_small(cells: Any, least: int) -> np.ndarray:
    cells = np.array(cells, dtype=float)  # None is NaN
    return (cells > 0) & (cells < least)


def with_data(run: Run, **more: Any) -> Run:
    return replace(run, settings={**run.settings, "data": {**run.settings["data"], **more}})


def with_intersections(run: Run) -> Run:
    """Return the run with counts of intersections: those of its first attribute, which have the right total."""
    name = next(iter(run.groups))
    rows = {"chosen": run.estimator.selected_, "unconstrained": 0}
    counts = {key: run.test[row].counts[name].tolist() for key, row in rows.items()}
    return with_data(run, intersections={"groups": list(run.groups[name]), **counts})


@given(counts=COUNTS, least=st.integers(1, 20))
def test_small_cells_cannot_be_worked_out(counts, least):
    cells = np.array(counts, dtype=float)
    hidden, people = find_hidden_rows(cells, least), cells.sum(axis=1)
    assert not is_small(np.column_stack([cells, people])[~hidden], least).any()
    assert hidden.sum() != 1 or len(cells) == 1  # the total gives a single one away
    if (people[~hidden] > 0).any():  # else the total is all there is
        assert not is_small(cells[hidden].sum(axis=0), least).any()
    if not is_small(cells, least).any():
        assert not hidden.any()


RUNS = st.fixed_dictionaries(
    {
        "rows": st.integers(20, 500),
        "names": st.sampled_from([("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d", "e")]),
        "attributes": st.sampled_from([("sex",), ("sex", "race"), ("sex", "race", "sex*race")]),
        "notions": st.sampled_from([(DEMOGRAPHIC_PARITY,), (EQUALIZED_ODDS,)]),
        "test": st.booleans(),
    }
)


@settings(max_examples=40, deadline=None)
@given(options=RUNS, least=st.integers(2, 40))
def test_no_small_count_of_a_group_is_in_a_shared_summary(options, least):
    run = with_data(make_run(4, **options))
    run = with_intersections(run) if run.test else run
    shown = summarize(run, least=least)
    for row, point in enumerate(shown["points"]):
        everyone, *tables = point["confusion"]
        assert [len(table) for table in tables] == [len(groups) for groups in shown["groups"].values()]
        for table in filter(len, tables):
            assert not is_small(table, least).any()
            if row in (shown["baseline"], shown["selected"]):
                assert not is_small(np.subtract(everyone[0], np.sum(table, axis=0)), least).any()
            else:
                assert all(cell is None for cells in table for cell in cells)
        assert not any(
            is_small(np.array(table, dtype=float).reshape(-1, 4)[:, 3], least).any() for table in point["rates"]
        )
    for scores in shown["scores"]:
        assert not any(is_small(bins, least).any() for table in scores["counts"] for bins in table)
    assert not is_small([row[1:3] for row in shown["intersections"]], least).any()
    is_whole = shown["groups"] == {name: list(groups) for name, groups in run.groups.items()}
    assert is_whole or not shown["intersections"]
    if not is_whole:
        assert shown["groups"].get("sex*race", []) == []  # what is left of it would tell what is hidden


def test_groups_that_are_large_everywhere_stay():
    run = with_intersections(make_run(6))
    plain, shown = summarize(run), summarize(run, least=5)
    assert shown["groups"] == plain["groups"]
    assert shown["intersections"] == plain["intersections"] != []
    for row in (plain["baseline"], plain["selected"]):
        assert shown["points"][row]["confusion"] == plain["points"][row]["confusion"]
        assert shown["points"][row]["rates"] == plain["points"][row]["rates"]
        assert shown["scores"][row]["auc"] == plain["scores"][row]["auc"]


def test_without_suppression_nothing_is_marked():
    summary = summarize(make_run(4))
    assert "hides_intersections" not in summary
    assert not any("hides_groups" in point for point in summary["points"])


def test_a_shared_page_has_no_trace_of_small_groups():
    run = make_run(rows=60)
    tables = selection_tables(run, judge(run).point, 0.95)
    least = int(min(min(table["selected"].min(), table["people"].min()) for table in tables.values())) + 1
    plain, shown = summarize(run), summarize(run, least=least)
    hidden = {name: [g for g in groups if g not in shown["groups"][name]] for name, groups in plain["groups"].items()}
    assert any(hidden.values())
    for name, groups in shown["groups"].items():
        place = 1 + list(shown["groups"]).index(name)
        assert all(len(point["confusion"][place]) == len(groups) for point in shown["points"])
        assert not {*shown["settings"]["data"]["groups"][name]} & {*hidden[name]}
    assert shown["parts"] == plain["parts"]  # performance and gaps count everyone
    assert not any(point["told"] for point in shown["points"])
    assert "not shown" in render(shown)


def test_what_tells_how_large_a_group_is_goes_with_its_size():
    """Shares, standard errors and the limits that they suffice for: from each of them, the rows can be worked out."""
    run = make_run(rows=60, selection=MostAccurateWithin(0.02), within=0.02)
    told = {"supports": supports(run.estimator.front_), "left_out": [], "calibration": {"sex": {"share": 0.1}}}
    run = with_data(replace(run, settings={**run.settings, **told}), profile={"x": {"categories": ["a"]}})
    shown, text = summarize(run, least=50), to_markdown(run, least=50)
    assert not {"left_out", "supports", "calibration"} & {*shown["settings"]}
    assert "profile" not in shown["settings"]["data"]
    assert shown["levels"] == [[]] * len(shown["levels"])
    for said in (render(shown), text):
        assert "left out of the choice" not in said
        assert "these rows could support" not in said
    assert "these rows could support" in to_markdown(run)


def test_intersections_go_whole_and_the_text_says_so():
    run = with_intersections(make_run(6, rows=120))
    cells = [cell for row in run.settings["data"]["intersections"]["chosen"] for cell in row]
    assert "### Intersections" in to_markdown(run)
    text, summary = to_markdown(run, least=int(min(cells)) + 1), summarize(run, least=int(min(cells)) + 1)
    assert "### Intersections" not in text
    assert "All intersections are left out" in text
    assert "Intersections were not counted" not in text
    assert summary["intersections"] == []
    assert "All intersections are left out" in render(summary)


def test_ratios_compare_only_rates_that_are_shown():
    run = make_run(names=("a", "b", "c", "d"))
    for tally in run.test:  # the highest rate is that of a group with a small cell
        tally.counts["sex"][:] = [[90, 5, 0, 5], [60, 40, 10, 10], [40, 40, 40, 40], [10, 20, 60, 80]]
        tally.counts[""][:] = tally.counts["sex"].sum(axis=0)
    table, hidden = selection_tables(run, judge(run).point, 0.95)["sex"], find_hidden_groups(run, 8)["sex"]
    shown = hide_rows(table, hidden)
    rates = table["rate"][~hidden[: len(table)]]
    assert hidden[0]
    assert len(rates) > 1
    np.testing.assert_allclose(shown["ratio"].dropna(), rates / rates.max())
    assert table["ratio"].dropna().max() == table["ratio"][0]


@pytest.mark.parametrize(("rows", "test_rows"), [(40, 4), (4, 40), (40, None)])
def test_the_sizes_of_small_groups_go_with_the_smallest(rows, test_rows):
    rates = [{"meaning": "x", "rate": 0.25, "low": 0.1, "high": 0.5}]
    names = ({"attribute": "sex", "group": group} for group in "xy")
    sizes = ({"rows": rows, "test_rows": test_rows}, {"rows": 50, "test_rows": 50})
    small = [{**name, **size, "rates": rates} for name, size in zip(names, sizes, strict=True)]
    shown = summarize(with_data(make_run(4), small_groups=small), least=10)
    for groups in (shown["small_groups"], shown["settings"]["data"]["small_groups"]):
        assert [(one["rows"], one["test_rows"], one["rates"]) for one in groups] == [(None, None, [])] * 2


def test_sizes_in_the_whole_data_cannot_be_worked_out():
    run = make_run(4, names=("a", "b", "c"))
    sizes = {"a": (500, 200), "b": (300, 100), "c": (30, 4)}
    groups = {name: {group: {"rows": n, "positives": k} for group, (n, k) in sizes.items()} for name in run.groups}
    shown = summarize(with_data(run, groups=groups, rows=830), least=5)["settings"]["data"]["groups"]
    assert all(list(table) == ["a"] for table in shown.values())


def test_weighted_rows_are_refused():
    run = make_run(4)
    weighted = replace(run, test=tuple(Tally(tally.counts, tally.counts) for tally in run.test))
    for share in (summarize, to_markdown):
        share(weighted)
        with pytest.raises(ValueError, match="`--suppress` counts people: found rows with weights"):
            share(weighted, least=5)
