"""The target column: two labels, one of them favorable."""

from typing import Any

import pandas as pd

from mamofair._messages import quote
from mamofair.tables.columns import ColumnSummary, summarize, to_text

__all__ = ["encode_labels", "find_labels"]

_TRUTHS = {"true": "1", "yes": "1", "false": "0", "no": "0"}


def encode_labels(column: pd.Series, favorable: Any) -> tuple[pd.Series, tuple[Any, Any]]:
    """Return the target as 0/1 with 1 = favorable, and its two values (unfavorable, favorable)."""
    labels = find_labels(summarize(column, numbers=True), favorable)
    return (column == labels[1]).astype("int64"), labels


def find_labels(column: ColumnSummary, favorable: Any) -> tuple[Any, Any]:
    """Return the two values (unfavorable, favorable) of a target."""
    if missing := column.rows - column.count:
        raise ValueError(
            f"The target {quote(column.name)} must be known in every row: found {missing:,} of {column.rows:,} rows "
            "without a label. Remove these rows, or choose another target."
        )
    if column.kind in ("date", "other"):
        raise ValueError(
            f"The target {quote(column.name)} must be text, numbers or booleans: found {quote(column.examples[0])}. "
            "Convert it."
        )
    values = sorted(column.examples)
    if len(values) != 2:
        raise ValueError(
            f"The target {quote(column.name)} must have two values: found {_list_values(values, column.distinct)}. "
            "Choose another target, or reduce it to two values first."
        )
    chosen = _favorable(column.name, values, favorable)
    return values[0] if chosen == values[1] else values[1], chosen


def _favorable(target: Any, values: list[Any], favorable: Any) -> Any:
    """Return the favorable value; None means 1 or True, and on the command line every value is text."""
    spelled = {to_text(value).lower() for value in values}
    truths = spelled in ({"0", "1"}, {"false", "true"})
    if favorable is None and (truths or spelled == {"-1", "1"}):
        return values[1]
    if favorable is None:
        raise ValueError(
            f"`favorable` must name the value of {quote(target)} that is the favorable outcome: found "
            f"{_list_values(values)}. Give one of them."
        )
    if favorable in values:
        return values[values.index(favorable)]
    matches = [value for value in values if _canonical(value, truths) == _canonical(favorable, truths)]
    if len(matches) != 1:
        raise ValueError(
            f"`favorable` must be a value of {quote(target)}: found {_list_values(values)}, not {quote(favorable)}. "
            "Give one of them."
        )
    return matches[0]


def _canonical(value: Any, truths: bool) -> str:
    """Return the same text for 1, 1.0, "1" and, where labels are truth values, "True" and "yes"."""
    text = to_text(value)
    if truths:
        text = _TRUTHS.get(text.lower(), text)
    try:
        return to_text(float(text))
    except ValueError:
        return text


def _list_values(values: list[Any], distinct: int = 2) -> str:
    shown = ", ".join(map(quote, values[:5]))
    if len(values) == 1:
        return f"only {shown}"
    return f"{distinct:,}: {shown}, …" if distinct > 5 else shown
