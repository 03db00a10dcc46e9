"""The target column: two labels, one of them favorable; a target with more values is reduced to two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import cut, quote, quote_some
from mamofair.tables.columns import ColumnSummary, summarize, to_text

__all__ = ["MergedLabels", "encode_labels", "find_labels", "is_favorable", "merge_labels", "quote_spaces"]

_TRUTHS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_TRUTH_VALUES = ({"0", "1"}, {"false", "true"})
_MOST = 300  # characters of a list of values


@dataclass(frozen=True)
class MergedLabels:
    """A target with more than two values, reduced to two labels: some values are favorable, the rest is not.

    The labels are texts that follow from the favorable values alone, so that they are the same in any other table,
    unless all unfavorable values are one value in several spellings.

    >>> merged = MergedLabels(("approved", "conditional"), ("denied", "withdrawn"))
    >>> merged.labels
    ('neither approved nor conditional', 'approved or conditional')
    >>> merged(pd.Series(["conditional", "denied"])).tolist()
    ['approved or conditional', 'neither approved nor conditional']
    >>> MergedLabels(("yes", "Yes ", "YES"), ("no", "NO ")).labels
    ('no', 'yes')
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
        names, rest = _spell_once(self.favorable), _spell_once(self.unfavorable)
        if len(names) > 1:
            return f"neither {' nor '.join(names)}", " or ".join(names)
        return rest[0] if len(rest) == 1 else f"not {names[0]}", names[0]

    @property
    def message(self) -> str:
        """Which values are favorable and which are not."""
        good, bad = (cut(", ".join(map(quote_spaces, part)), _MOST) for part in (self.favorable, self.unfavorable))
        several = len(_spell_once(self.favorable)) < len(self.favorable)
        return f"Favorable: {good}{' (spellings of one value)' if several else ''}. Unfavorable: {bad}."

    def __call__(self, column: pd.Series) -> pd.Series:
        """Return the label of each row of a column: of true values, or of decisions, which may be labels already."""
        unfavorable, favorable = self.labels
        is_good = is_favorable(column, (*self.favorable, favorable), (*self.unfavorable, unfavorable))
        return pd.Series(np.where(is_good, favorable, unfavorable), index=column.index, name=column.name)


def _fold(value: Any) -> str:
    """Return the spelling of a value, ignoring case and spaces."""
    return " ".join(to_text(value).casefold().split())


def _spell_once(values: Sequence[Any]) -> list[str]:
    """Return each value as text, those that differ only by case or spaces once, in the spelling that comes first.

    >>> _spell_once(["yes", "Yes ", "on hold"])
    ['yes', 'on hold']
    """
    return list({_fold(value): to_text(value).strip() for value in reversed(values)}.values())[::-1]


def quote_spaces(value: Any) -> str:
    """Return a value as text, in quotation marks if it starts or ends with a space.

    >>> quote_spaces("yes"), quote_spaces("Yes ")
    ('yes', "'Yes '")
    """
    text = to_text(value)
    return text if text == text.strip() else quote(text)


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
        strays = quote_some(unknown) if unknown else f"{int(column.isna().sum()):,} rows without a value"
        expected = quote_some([*favorable, *unfavorable])
        raise ValueError(
            f"Column {quote(column.name)} must hold the values of the target, {expected}: found {strays}. Correct "
            "these rows, or check which values are favorable."
        )
    return column.map(values).to_numpy(dtype=bool)


def encode_labels(
    column: pd.Series, favorable: Any, repeats: np.ndarray | None = None
) -> tuple[pd.Series, tuple[Any, Any], MergedLabels | None]:
    """Return the target as 0/1 with 1 = favorable, its two labels (unfavorable, favorable), and what was merged.

    `repeats` is as in `summarize`. The caller reports what was merged: `MergedLabels.message`.
    """
    summary = summarize(column, numbers=True, repeats=repeats)
    merged = merge_labels(summary, favorable)
    if merged is None:
        labels = find_labels(summary, next(iter(_as_values(favorable)), None))
        return (column == labels[1]).astype("int64"), labels, None
    return column.isin(merged.favorable).astype("int64"), merged.labels, merged


def merge_labels(column: ColumnSummary, favorable: Any) -> MergedLabels | None:
    """Return how a target with more than two values is reduced to two labels; None if it need not be.

    It is reduced only if at least one favorable value is named, so that nothing is merged by accident. Values that
    differ from a named one only by case or spaces are favorable, too: an unfavorable "Yes " would be an accident.
    """
    named = _as_values(favorable)
    if not named:
        return None
    values = _target_values(column)
    if len(named) == 1 and column.distinct <= 2 and not _others_alike(values, named[0]):
        return None
    if column.distinct > len(values):
        raise ValueError(
            f"The target {quote(column.name)} must have at most {len(values)} values: found {column.distinct:,}. "
            "Choose another target, or reduce it first, as by a threshold."
        )
    chosen = tuple(dict.fromkeys(value for one in named for value in _spellings(column.name, values, one)))
    rest = tuple(value for value in values if value not in chosen)
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
    if favorable is None and {to_text(value).lower() for value in values} in (*_TRUTH_VALUES, {"-1", "1"}):
        return values[1]
    if favorable is None:
        raise ValueError(
            f"`favorable` must name the value of {quote(target)} that is the favorable outcome: found "
            f"{_list_values(values)}. Give one of them."
        )
    matches = _matches(values, favorable)
    if len(matches) != 1:
        raise ValueError(
            f"`favorable` must be a value of {quote(target)}: found {_list_values(values, len(values))}, not "
            f"{quote(favorable)}. Give one of them."
        )
    return matches[0]


def _spellings(target: Any, values: list[Any], favorable: Any) -> list[Any]:
    """Return the favorable value, and those that differ from it only by case or spaces."""
    alike = _others_alike(values, favorable)
    if alike and not _matches(values, favorable):
        return alike
    return [_favorable(target, values, favorable), *alike]


def _others_alike(values: list[Any], favorable: Any) -> list[Any]:
    """Return the values that differ from a favorable one only by case or spaces."""
    meant = _matches(values, favorable)
    folded = {_fold(value) for value in meant or [favorable]}
    return [value for value in values if value not in meant and _fold(value) in folded]


def _matches(values: list[Any], favorable: Any) -> list[Any]:
    """Return the matching value: the same one, or the only one with the same number or truth value."""
    if favorable in values:
        return [values[values.index(favorable)]]
    truths = {to_text(value).lower() for value in values} in _TRUTH_VALUES
    return [value for value in values if _canonical(value, truths) == _canonical(favorable, truths)]


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
