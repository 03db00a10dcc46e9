"""The target column: two labels, one of them favorable."""

from typing import Any

import pandas as pd

from mamofair._messages import quote
from mamofair.tables.columns import Facts, facts_of, written

__all__ = ["binary_labels", "two_labels"]

_TRUTHS = {"true": "1", "yes": "1", "false": "0", "no": "0"}


def binary_labels(column: pd.Series, favorable: Any) -> tuple[pd.Series, tuple[Any, Any]]:
    """Return the target as 0/1 with 1 = favorable, and the labels (unfavorable, favorable) as they were."""
    bad, good = two_labels(facts_of(column, numbers=True), favorable)
    return (column == good).astype("int64"), (bad, good)


def two_labels(column: Facts, favorable: Any) -> tuple[Any, Any]:
    """Return the labels (unfavorable, favorable) of a target."""
    if missing := column.rows - column.count:
        raise ValueError(
            f"The target {quote(column.name)} must be known in every row: found {missing:,} of {column.rows:,} rows "
            "without a label. Remove these rows, or choose another target."
        )
    if column.kind in ("date", "other"):
        raise ValueError(
            f"The target {quote(column.name)} must be text, numbers or booleans: found {quote(column.some[0])}. "
            "Convert it."
        )
    values = sorted(column.some)
    if len(values) != 2:
        raise ValueError(
            f"The target {quote(column.name)} must have two values: found {_listed(values, column.distinct)}. "
            "Choose another target, or bring it down to two values first."
        )
    good = _favorable(column.name, values, favorable)
    return values[0] if good == values[1] else values[1], good


def _favorable(target: Any, values: list[Any], favorable: Any) -> Any:
    """Return the value that is meant; None means 1 or True, and a command line spells every value as text."""
    spelled = {written(value).lower() for value in values}
    truths = spelled in ({"0", "1"}, {"false", "true"})
    if favorable is None and (truths or spelled == {"-1", "1"}):
        return values[1]
    if favorable is None:
        raise ValueError(
            f"`favorable` must say which value of {quote(target)} is the good outcome: found {_listed(values)}. "
            "Give one of them."
        )
    if favorable in values:
        return values[values.index(favorable)]
    meant = [value for value in values if _canonical(value, truths) == _canonical(favorable, truths)]
    if len(meant) != 1:
        raise ValueError(
            f"`favorable` must be a value of {quote(target)}: found {_listed(values)}, not {quote(favorable)}. "
            "Give one of them."
        )
    return meant[0]


def _canonical(value: Any, truths: bool) -> str:
    """Return one spelling for 1, 1.0, "1" and, where the labels are truth values, "True" and "yes"."""
    text = written(value)
    if truths:
        text = _TRUTHS.get(text.lower(), text)
    try:
        return written(float(text))
    except ValueError:
        return text


def _listed(values: list[Any], distinct: int = 2) -> str:
    shown = ", ".join(map(quote, values[:5]))
    if len(values) == 1:
        return f"only {shown}"
    return f"{distinct:,}: {shown}, …" if distinct > 5 else shown
