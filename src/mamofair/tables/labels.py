"""The target column: two labels, one of them favorable; a target with more values is reduced to two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import cut, quote, quote_some, warn_user
from mamofair.tables.columns import ColumnSummary, summarize, to_text

__all__ = ["MergedLabels", "encode_labels", "find_labels", "is_favorable", "merge_labels"]

_TRUTHS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_MOST = 300  # characters of a list of values


@dataclass(frozen=True)
class MergedLabels:
    """A target with more than two values, reduced to two labels: some values are favorable, the rest is not.

    The labels are texts that follow from the favorable values alone, so that they are the same in any other table.

    >>> merged = MergedLabels(("approved", "conditional"), ("denied", "withdrawn"))
    >>> merged.labels
    ('neither approved nor conditional', 'approved or conditional')
    >>> merged(pd.Series(["conditional", "denied"])).tolist()
    ['approved or conditional', 'neither approved nor conditional']
    >>> MergedLabels(("yes", "Yes ", "YES"), ("no",)).labels
    ('not yes', 'yes')
    """

    favorable: tuple[Any, ...]
    unfavorable: tuple[Any, ...]

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "MergedLabels":
        """Return what `to_json` wrote."""
        return cls(tuple(values["favorable"]), tuple(values["unfavorable"]))

    def to_json(self) -> dict[str, Any]:
        """Return the values as plain JSON."""
        return {"favorable": list(self.favorable), "unfavorable": list(self.unfavorable)}

    @property
    def labels(self) -> tuple[str, str]:
        """The two labels (unfavorable, favorable)."""
        names = list({_fold(value): to_text(value).strip() for value in reversed(self.favorable)}.values())[::-1]
        first, *others = names
        return f"neither {' nor '.join(names)}" if others else f"not {first}", " or ".join(names)

    @property
    def message(self) -> str:
        """Which values are favorable and which are not."""
        good, bad = (cut(", ".join(map(to_text, part)), _MOST) for part in (self.favorable, self.unfavorable))
        return f"Favorable: {good}. Unfavorable: {bad}."

    def __call__(self, column: pd.Series) -> pd.Series:
        """Return the label of each row of a column: of true values, or of decisions, which may be labels already."""
        unfavorable, favorable = self.labels
        is_good = is_favorable(column, (*self.favorable, favorable), (*self.unfavorable, unfavorable))
        return pd.Series(np.where(is_good, favorable, unfavorable), index=column.index, name=column.name)


def _require_unlike(name: Any, favorable: Sequence[Any], others: Sequence[Any]) -> None:
    """Raise a `ValueError` if an unfavorable value is a favorable one in another spelling."""
    folded = {_fold(value) for value in favorable}
    alike = [value for value in others if value not in favorable and _fold(value) in folded]
    if alike:
        raise ValueError(
            f"Values of the target {quote(name)} that differ from a favorable one only by case or spaces must be "
            f"favorable as well: found {quote_some(alike)}. Name them, too, or correct the column."
        )


def _fold(value: Any) -> str:
    """Return how a value is spelled, but for case and spaces."""
    return " ".join(to_text(value).casefold().split())


def is_favorable(column: pd.Series, favorable: Sequence[Any], unfavorable: Sequence[Any]) -> np.ndarray:
    """Return which rows of a column have a favorable value; each must have one of these values, or one spelled alike.

    >>> is_favorable(pd.Series(["1", "0"]), [1], [0])
    array([ True, False])
    """
    known = {_canonical(value, truths=False): False for value in unfavorable}
    known |= {_canonical(value, truths=False): True for value in favorable}
    values = {value: known.get(_canonical(value, truths=False)) for value in column.dropna().unique().tolist()}
    unknown = [value for value, is_good in values.items() if is_good is None]
    if unknown or column.isna().any():
        found = quote_some(unknown) if unknown else f"{int(column.isna().sum()):,} rows without a value"
        expected = quote_some([*favorable, *unfavorable])
        raise ValueError(
            f"Column {quote(column.name)} must hold the values of the target, {expected}: found {found}. Correct these "
            "rows, or check which values are favorable."
        )
    return column.map(values).to_numpy(dtype=bool)


def encode_labels(
    column: pd.Series, favorable: Any, repeats: np.ndarray | None = None
) -> tuple[pd.Series, tuple[Any, Any], MergedLabels | None]:
    """Return the target as 0/1 with 1 = favorable, its two labels (unfavorable, favorable), and what was merged.

    `repeats` as in `summarize`.
    """
    summary = summarize(column, numbers=True, repeats=repeats)
    merged = merge_labels(summary, favorable)
    if merged is None:
        labels = find_labels(summary, next(iter(_as_values(favorable)), None))
        return (column == labels[1]).astype("int64"), labels, None
    warn_user(merged.message)
    return column.isin(merged.favorable).astype("int64"), merged.labels, merged


def merge_labels(column: ColumnSummary, favorable: Any) -> MergedLabels | None:
    """Return how a target with more than two values is reduced to two labels; None if it need not be.

    It is reduced only if at least one favorable value is named, so that nothing is merged by accident.
    """
    named = _as_values(favorable)
    if not named:
        return None
    values = _target_values(column)
    if len(named) == 1 and column.distinct <= 2:
        _require_unlike(column.name, [one for one in values if to_text(one) == to_text(named[0])], values)
        return None
    if column.distinct > len(values):
        raise ValueError(
            f"The target {quote(column.name)} must have at most {len(values)} values: found {column.distinct:,}. "
            "Choose another target, or reduce it first, as by a threshold."
        )
    chosen = tuple(dict.fromkeys(_favorable(column.name, values, one) for one in named))
    rest = tuple(value for value in values if value not in chosen)
    _require_unlike(column.name, chosen, rest)
    if not rest:
        raise ValueError(
            f"`favorable` must leave a value of {quote(column.name)} that is unfavorable: found all of "
            f"{_list_values(values, column.distinct)}. Name fewer."
        )
    return MergedLabels(chosen, rest)


def find_labels(column: ColumnSummary, favorable: Any) -> tuple[Any, Any]:
    """Return the two values (unfavorable, favorable) of a target."""
    values = _target_values(column)
    if len(values) != 2:
        many = len(values) > 2 and favorable is None
        ways = "Name its favorable values, choose another target" if many else "Choose another target"
        raise ValueError(
            f"The target {quote(column.name)} must have two values: found {_list_values(values, column.distinct)}. "
            f"{ways}, or reduce it to two values first."
        )
    chosen = _favorable(column.name, values, favorable)
    return values[0] if chosen == values[1] else values[1], chosen


def _target_values(column: ColumnSummary) -> list[Any]:
    """Return the values of a target, sorted; each row must have one."""
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
    return sorted(column.examples)


def _as_values(favorable: Any) -> tuple[Any, ...]:
    """Return the favorable values that were named: none, one or several."""
    if favorable is None:
        return ()
    return tuple(favorable) if isinstance(favorable, list | tuple) else (favorable,)


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
            f"`favorable` must be a value of {quote(target)}: found {_list_values(values, len(values))}, not "
            f"{quote(favorable)}. Give one of them."
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
