"""A run as Markdown: a model card and an evidence pack, from the values that the page shows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mamofair.explanations import who_pays_by_counts
from mamofair.metrics import Verdict
from mamofair.notions import Confusion
from mamofair.report._group_tables import (
    BASELINE,
    MIN_PEOPLE,
    counted,
    hide_rows,
    intersection_table,
    selection_tables,
    tally_shown,
    without_small_counts,
)
from mamofair.report._small_cells import find_hidden_groups, has_hidden_intersections
from mamofair.report._titles import title
from mamofair.runs import Run, judge

__all__ = ["to_markdown"]

_TO_FILL_IN = "_To be written by the person who answers for the decision: {}_"
_CAVEATS = (
    "Equal rates on a data set are not justice. Which notion fits, and which limit is acceptable, is for those who "
    "answer for the decision.",
    "Figures describe the rows they were measured on. Other people, other times or other ways of collecting data may "
    "give other figures.",
    "Labels are taken as they are: where past decisions were unfair, labels can be, too.",
    "Each interval holds by itself: of twenty 95% intervals about one misses.",
)
_LEFT_OUT = (
    "Rows with fewer than {} people in a cell, and what would give them away, are left out. Impact ratios compare the "
    "rows that are shown."
)
_NO_INTERSECTIONS = (
    "All intersections are left out, because together with the groups of each attribute they would reveal what is left "
    "out."
)

#: Headings of Annex IV of Regulation (EU) 2024/1689, and which part of these pages has figures for them.
_ANNEX_IV = (
    ("1(a)", "intended purpose", "Intended use (to be written)"),
    ("2(b)", "design specifications, what the system optimises for, and trade-offs", "Model; Limits and answers"),
    ("2(d)", "data requirements", "Data"),
    ("2(g)", "validation and testing, metrics, potentially discriminatory impacts", "Limits and answers; Groups"),
    ("3", "accuracy for specific groups of persons, and limitations", "Groups; Selection rates; Caveats"),
    ("4", "appropriateness of the performance metrics", "Limits and answers (reasons to be written)"),
)


def to_markdown(run: Run, least: int = 0, *, alternatives: Sequence[str] = (), asked: Sequence[str] = ()) -> str:
    """Return the model card and the evidence pack of a run's chosen point.

    Counts below `least`, and what would give them away, are left out of its tables. `alternatives` and `asked` are
    those of `write`.
    """
    verdict = judge(run) if not least else without_small_counts(judge(run), least)
    tables = selection_tables(run, verdict.point, verdict.level)
    crossed, left_out = intersection_table(run, verdict.level), []
    if least:
        hidden = find_hidden_groups(run, least)
        tables = {name: hide_rows(table, hidden[name]) for name, table in tables.items()}
        left_out.append(_LEFT_OUT.format(least))
        if has_hidden_intersections(run, hidden, least):
            crossed = None
            left_out.append(_NO_INTERSECTIONS)
    sections: dict[str, Sequence[str]] = {"Asked with new rows": asked}
    if not least:  # these numbers would tell what tables leave out
        flips = (run.settings.get("arbitrariness") or {}).get("sentences", [])
        sections = {
            "Compared with the most accurate model": _who_pays(run, verdict.point),
            "Compared with today's decisions": alternatives,
            **sections,
            "With other training rows": flips[verdict.point :][:1],
        }
    head, *parts = [*_card(run, verdict, tables, sections, least > 0), *_evidence(run, verdict, tables, crossed)]
    return "\n\n".join([head, *([" ".join(left_out)] if least else []), *parts]) + "\n"


def _card(
    run: Run,
    verdict: Verdict,
    tables: Mapping[str, pd.DataFrame],
    sections: Mapping[str, Sequence[str]],
    hides: bool,
) -> Iterator[str]:
    """Yield the parts of the model card."""
    settings, data = run.settings, run.settings.get("data", {})
    yield f"# Model card: {_escape(data.get('name', 'a run'))}"
    yield "## Intended use\n\n" + _TO_FILL_IN.format("who is decided about, by whom, for what, and what it is not for.")
    yield "## Model\n\n" + _list(
        {
            "What it predicts": _say(settings.get("target")),
            "Favorable outcome": run.estimator.favorable_,
            "Learner": _learner(run, verdict.point),
            "Chosen": f"point {verdict.point} of {len(run.estimator.front_)}. {verdict.why}",
            "Trained": settings.get("created"),
            "Command": f"`{settings['command']}`" if settings.get("command") else None,
            "Run checksum": settings.get("checksum"),
        }
    )
    yield "## Data\n\n" + _list(
        {
            "Rows": f"{data['rows']:,}" if data.get("rows") else None,
            "Rows by use": _parts(data.get("parts", {})),
            "Test rows": _split(data.get("split") or {}),
            "Checksum (SHA-256)": data.get("checksum"),
            "Sensitive attributes": ", ".join(map(str, run.groups)),
        }
    )
    findings = (data.get("check") or {}).get("findings", ())
    if findings and not hides:
        yield "What the data check found:\n\n" + "\n".join(
            f"- {_escape(one['column'] or 'the table')}: {_escape(one['finding'])} ({_escape(one['detail'])})"
            for one in findings
        )
    yield f"## Limits and answers\n\n**{_escape(verdict.headline)}.**\n\n" + "\n".join(
        f"- {_escape(one)}" for one in verdict.sentences()
    )
    yield _gap_table(verdict)
    if gate := settings.get("gate"):
        yield _escape(gate["headline"])
    yield "## Groups\n\n" + "\n\n".join(_group_part(run, verdict, name, table) for name, table in tables.items())
    for heading, sentences in sections.items():
        if sentences:
            yield f"## {heading}\n\n" + "\n".join(f"- {_escape(one)}" for one in sentences)
    yield "## Caveats\n\n" + "\n".join(f"- {one}" for one in _CAVEATS)


def _evidence(
    run: Run, verdict: Verdict, tables: Mapping[str, pd.DataFrame], crossed: pd.DataFrame | None
) -> Iterator[str]:
    """Yield the parts of the evidence pack."""
    yield "# Evidence"
    yield (
        "## Selection rates and impact ratios\n\nThe tables have the form that New York City's Local Law 144 asks for: "
        "for each category the number of people, how many were selected, the selection rate, and the impact ratio "
        "(this rate divided by that of the category with the highest rate). They count "
        f"{verdict.measured_on} rows, not applicants."
    )
    for name, table in tables.items():
        yield _ratio_table(f"Category: {_escape(name)}", table, counted(run))
    if crossed is not None:
        yield _ratio_table(f"Intersections of {_escape(' and '.join(tables))}", crossed, counted(run))
    elif len(tables) > 1 and not run.settings.get("data", {}).get("intersections"):
        yield "Intersections were not counted in this run: train with `--crossed`."
    yield "## Technical documentation\n\n" + (
        "Headings of Annex IV of Regulation (EU) 2024/1689 for which the figures above can be used. What is not listed "
        "is not answered here.\n\n" + _table(["Annex IV", "subject", "where"], _ANNEX_IV)
    )
    yield "## Software\n\n" + _list(run.settings.get("versions", {}))
    yield "## Decision\n\n" + _list({"Decided by": "", "Date": "", "Reasons": ""}, keep=True)


def _group_part(run: Run, verdict: Verdict, name: str, table: pd.DataFrame) -> str:
    """Return the rates of an attribute's groups: of selection, and those that its notions compare."""
    tally = tally_shown(run, verdict.point)
    rates = dict.fromkeys(
        rate for notion, attribute in run.estimator.front_.criteria if attribute == name for rate in notion.rates
    )
    favorable = run.estimator.favorable_
    [unfavorable] = [one for one in run.estimator.classes_ if one != favorable]
    confusion = Confusion.of_counts(tally.counts[name])
    shown = table["rate"].notna().to_numpy()[: len(run.groups[name])]
    words = [rate.describe(favorable, unfavorable, str(run.settings.get("target") or "outcome")) for rate in rates]
    columns = [np.where(shown, rate(confusion), np.nan) for rate in rates]
    rows = [
        [group, _count(table["people"].iloc[i]), *(_share(column[i]) for column in columns)]
        for i, group in enumerate(run.groups[name])
    ]
    return _table([name, counted(run), *words], rows)


def _gap_table(verdict: Verdict) -> str:
    name, value, low, high = verdict.performance
    head = ["", "value", "interval", "limit", "answer"]
    most = "" if verdict.performance_limit is None else f"{verdict.performance_limit:g}"
    rows = [[title(name), f"{value:.3f}", f"{low:.3f}–{high:.3f}", most, verdict.performance_answer or ""]]
    for one in verdict.gaps:
        gap = "undefined" if one.gap is None else f"{one.gap:.3f}"
        limit = "none" if one.limit is None else f"{one.limit:g}"
        rows.append([title(one.name), gap, f"{one.low:.3f}–{one.high:.3f}", limit, one.answer or ""])
    for custom in verdict.custom:
        where = "" if custom.rows == verdict.measured_on else f" (on {custom.rows} rows)"
        limit = "none" if custom.limit is None else f"{custom.limit:g}"
        rows.append([f"{title(custom.name)}{where}", f"{custom.value:.3f}", "none", limit, ""])
    if (share := verdict.selected) is not None:
        bounds = "none" if share.asked is None else share.bounds
        interval = f"{share.low:.1%}–{share.high:.1%}"
        rows.append(["share selected", f"{share.value:.1%}", interval, bounds, share.answer or ""])
    return f"Measured on {verdict.rows:,} {verdict.measured_on} rows.\n\n" + _table(head, rows)


def _ratio_table(caption: str, table: pd.DataFrame, unit: str) -> str:
    rows = [
        [row.group, _count(row.people), _count(row.selected), _share(row.rate), _ratio(row.ratio)]
        for row in table.itertuples()
    ]
    small = table.loc[table["is_small"] & table["people"].notna(), "group"]
    below = f"\n\nToo small for a ratio, with fewer than {MIN_PEOPLE} independent rows: {_escape(', '.join(small))}."
    head = ["category", unit, "selected", "selection rate", "impact ratio"]
    return f"### {caption}\n\n" + _table(head, rows) + (below if len(small) else "")


def _who_pays(run: Run, row: int) -> list[str]:
    if row == BASELINE:
        return []
    before, after = (tally_shown(run, one) for one in (BASELINE, row))
    names = {name: tuple(groups) for name, groups in run.groups.items()}
    return who_pays_by_counts(before, after, names, run.estimator.front_.criteria).sentences()


def _list(values: Mapping[str, Any], keep: bool = False) -> str:
    return "\n".join(f"- {name}: {_escape(value)}" for name, value in values.items() if keep or value not in (None, ""))


def _table(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_escape(cell) for cell in line)} |" for line in lines)


def _escape(value: Any) -> str:
    """Return text that Markdown shows as it is: names from tables must not become markup, such as links.

    Within a code span nothing is a link, and a backslash would be shown.
    """
    text = " ".join(str(value).split())
    is_code = len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]
    for mark in () if is_code else ("\\", "[", "]"):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("|", "\\|").replace("<", "&lt;")


def _split(split: Mapping[str, Any]) -> str:
    """Return how test rows were chosen."""
    column = split.get("column")
    words = {"random": "drawn at random", "time": f"the latest by {column}", "file": f"those of {split.get('file')}"}
    together = f"all rows with the same {split['units']['column']} together" if split.get("units") else ""
    return ", ".join(filter(None, [words.get(str(split.get("kind"))), together]))


def _learner(run: Run, row: int) -> str:
    """Return the kind of model that was trained or, of several, the one that the point comes from."""
    name, kind = str(run.settings.get("model") or type(run.estimator).__name__), run.estimator.front_[row].model
    return f"{name} ({kind})" if kind and kind != name else name


def _parts(parts: Mapping[str, int]) -> str:
    """Return how many rows each part has; rows may train in one fold and validate in another."""
    folds = " (in turns, out of fold)" if parts.get("train") and parts.get("train") == parts.get("validation") else ""
    return ", ".join(f"{name} {rows:,}{folds * (name == 'validation')}" for name, rows in parts.items() if rows)


def _say(value: Any) -> str:
    return "" if value is None else str(value)


def _count(value: Any) -> str:
    return "–" if np.isnan(value) else f"{value:,.0f}"


def _share(value: Any) -> str:
    return "–" if np.isnan(value) else f"{value:.1%}"


def _ratio(value: Any) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"
