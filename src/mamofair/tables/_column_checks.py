"""The check of one column: as the target, as a sensitive attribute, or as a feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair.tables._column_findings import find_in_feature, find_spaces, find_spellings, find_units, find_words
from mamofair.tables._single_column import as_bins
from mamofair.tables.attributes import name_groups
from mamofair.tables.columns import exclusion_reason, kind_of, require_learnable, summarize, tidy, to_text
from mamofair.tables.data_check import ColumnUse, Finding, GroupCounts, ValueCounts
from mamofair.tables.labels import encode_labels
from mamofair.tables.role_columns import RoleColumn
from mamofair.tables.text_numbers import TextNumbers, read_text_numbers

__all__ = ["ColumnCheck", "check_attribute", "check_feature", "check_target", "check_unit"]

_RARE = 0.05  # of the rows have the rarer label
_MOST_VALUES = 20  # of a target that are counted


@dataclass(frozen=True, eq=False)
class ColumnCheck:
    """The use of a column, its findings, and what the check of the whole table needs to know about it.

    Of sampled rows, a feature has `bins`; of all rows, the target and the attributes have `classes`, −1 where they are
    unknown. `names` are those of an attribute's classes: its groups, without the small ones.
    """

    use: ColumnUse
    findings: Sequence[Finding] = ()
    bins: np.ndarray | None = None
    classes: np.ndarray | None = None
    names: tuple[str, ...] = ()
    balance: ValueCounts | None = None
    groups: GroupCounts | None = None

    @classmethod
    def left_out(cls, name: str, read_as: str, missing: int, reason: str, *findings: Finding) -> "ColumnCheck":
        """Return the check of a column that cannot be a feature."""
        return cls(
            ColumnUse(name, "left out", read_as, missing, reason), [*findings, Finding(name, "left out", reason)]
        )


def check_target(role: RoleColumn, favorable: Any) -> ColumnCheck:
    """Check the column to predict: its values, how often they occur, and whether they can be labels."""
    try:
        column = role.values
    except ValueError as error:
        return _infinite(role.column, error)
    name, counts, missing = str(column.name), column.value_counts(), int(column.isna().sum())
    findings = [*find_words(role), *find_spaces(column), *find_spellings(column)]
    label, classes, two = None, None, counts
    good: tuple[str, ...] = ()
    try:
        positive, labels, merged = encode_labels(column, favorable)
        label, classes = to_text(labels[1]), positive.to_numpy()
        good = tuple(map(to_text, labels[1:] if merged is None else merged.favorable))
        if merged is not None:
            findings.append(Finding(name, "two labels", merged.message))
            two = positive.map(dict(enumerate(labels))).value_counts()
    except ValueError as error:
        if favorable is None and len(counts) == 2 and not missing:  # all that is unknown is which one is favorable
            classes = pd.factorize(column)[0]
        else:
            findings.append(Finding(name, "cannot be the target", str(error)))
    rows = len(column)
    if len(two) == 2 and two.iloc[1] < _RARE * rows:
        rare = f"{quote(to_text(two.index[1]))} in {two.iloc[1]:,} of {rows:,} rows, {two.iloc[1] / rows:.1%}"
        findings.append(Finding(name, "rare label", rare))
    values = {to_text(value): int(count) for value, count in counts.iloc[:_MOST_VALUES].items()}
    balance = ValueCounts(name, values, missing, label, good)
    return ColumnCheck(ColumnUse(name, "target", kind_of(column), missing), findings, classes=classes, balance=balance)


def check_unit(role: RoleColumn) -> ColumnCheck:
    """Check a column that says which rows belong together, such as those of one person."""
    column = role.names
    name, missing, units = str(column.name), int(column.isna().sum()), column.nunique()
    findings = [
        *find_words(role),
        Finding(name, "unit", f"{units:,} units in {len(column):,} rows: intervals count units, not rows"),
    ]
    if missing:
        findings.append(Finding(name, "cannot be the unit", f"{missing:,} rows have none"))
    return ColumnCheck(ColumnUse(name, "unit", "text", missing), findings)


def check_attribute(
    role: RoleColumn,
    edges: tuple[float, ...],
    min_group: int,
    units: pd.Series | None = None,
) -> ColumnCheck:
    """Check a sensitive column: its groups, those with fewer rows, or units, than `min_group`, and the unknown rows."""
    name, unknown = str(role.column.name), int(role.column.isna().sum())
    findings = [*find_words(role)]
    if not edges:
        findings += find_spaces(role.names)
        findings += find_spellings(role.names, ", and are different groups until you change them")
    use = ColumnUse(name, "sensitive", "number" if edges else "text", unknown)
    try:
        groups = name_groups(role, edges)
    except ValueError as error:
        return ColumnCheck(use, [*findings, Finding(name, "cannot be an attribute", str(error))])
    counts = {str(group): int(count) for group, count in groups.value_counts().items()}
    persons = (
        None if units is None else {str(group): int(members.nunique()) for group, members in units.groupby(groups)}
    )
    small = tuple(group for group in counts if (persons or counts)[group] < min_group)
    what = "rows" if persons is None else "units"
    findings += [
        Finding(
            name, "small group", f"{quote(group)} has {(persons or counts)[group]:,} {what}, fewer than {min_group}"
        )
        for group in small
    ]
    if units is not None and (several := int((groups.groupby(units).nunique() > 1).sum())):
        findings.append(Finding(name, "varies within units", f"rows of {several:,} units are in several groups"))
    if len(counts) < 2:
        findings.append(Finding(name, "cannot be an attribute", "there are fewer than two groups"))
    classes, names = pd.factorize(groups.mask(groups.isin(small)))
    counted = GroupCounts(name, counts, unknown, small, persons)
    return ColumnCheck(use, findings, classes=classes, names=tuple(map(str, names)), groups=counted)


def check_feature(raw: pd.Series, decimal: str | None, sample: np.ndarray) -> ColumnCheck:
    """Check a column that may be a feature: whether it can be one, how it is read, and what to look at in it."""
    try:
        column = tidy(raw)
    except ValueError as error:
        return _infinite(raw, error)
    name, missing, read_as = str(column.name), int(column.isna().sum()), str(kind_of(column))
    reading, detail, findings = read_text_numbers(column, decimal), "", list[Finding]()
    if isinstance(reading, TextNumbers):
        column, read_as, detail = reading.numbers, "number from text", reading.detail
        findings.append(Finding(name, "read as numbers", detail))
    elif reading is not None:
        findings.append(Finding(name, "may be numbers", f"{reading.detail}: give the decimal mark"))
    summary = summarize(column)
    if reason := exclusion_reason(summary):
        findings += [] if summary.looks_like_dates else find_units(column)
        return ColumnCheck.left_out(name, read_as, missing, reason, *findings)
    try:
        require_learnable(column, quote(name))
    except ValueError as error:
        findings.append(Finding(name, "cannot be a feature", str(error)))
    findings += find_in_feature(column)
    return ColumnCheck(ColumnUse(name, "feature", read_as, missing, detail), findings, as_bins(column.iloc[sample]))


def _infinite(column: pd.Series, error: ValueError) -> ColumnCheck:
    """Return the check of a column of numbers of which some are infinite."""
    return ColumnCheck.left_out(str(column.name), "number", int(column.isna().sum()), str(error))
