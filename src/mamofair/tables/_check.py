"""The check of a table before training: its columns, labels and groups, and what to look at."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from mamofair.notions import Notion, as_notions, require_gap
from mamofair.selection import Support, estimate_support
from mamofair.tables._column_checks import ColumnCheck, check_attribute, check_feature, check_target, check_unit
from mamofair.tables._open import open_source
from mamofair.tables._protected_names import find_protected
from mamofair.tables._single_column import balanced_accuracy
from mamofair.tables.attributes import check_edges, parse_attributes
from mamofair.tables.columns import kind_of
from mamofair.tables.data_check import ColumnUse, DataCheck, Finding, Telltale
from mamofair.tables.file_format import FileFormat
from mamofair.tables.role_columns import read_roles

__all__ = ["check"]

_SAMPLE = 20_000  # rows that tell how well one column predicts another
_PROXY, _COPY = 0.5, 0.96  # skill from which a column is named
_BEST = 10  # telltales that are kept of each attribute
MEASURED = 0.75  # of the rows: what `mamofair train` does not hold out for tests, and the default learner measures on


def check(
    source: Any,
    *,
    target: str | None = None,
    favorable: Any = None,
    sensitive_features: Any = None,
    drop: Any = (),
    min_group: int = 30,
    unit: str | None = None,
    within: float | None = None,
    notions: Any = "demographic_parity",
    file_format: FileFormat = FileFormat(),
) -> DataCheck:
    """Return what a table contains and what to look at before training; nothing is changed.

    It looks for columns that cannot be features (dates, ids, free text), numbers in text, values that differ by case or
    spaces, rare labels, small groups, duplicated rows, near-copies of the target (leakage) and columns that predict a
    sensitive attribute (proxies). The latter two are found with the cross-validated balanced accuracy of each column
    alone, on at most 20,000 random rows.

    Parameters
    ----------
    source : path or DataFrame
        As in `read_table`.
    target : str, optional
        The column to predict.
    favorable : value or str, optional
        The target value that counts as the favorable outcome.
    sensitive_features : str, list or mapping, optional
        The sensitive columns, in the forms of `read_table`: ``["sex", "age:25,60"]``.
    drop : str or list of str
        Columns to exclude from the features.
    min_group : int
        Groups with fewer rows, or units, are named.
    unit : str, optional
        The column that says which rows belong together, such as those of one person; not a feature.
    within : float, optional
        The limit that you want to ask for: what the groups are large enough for is said, and which are not.
    notions : str, Notion or list of them
        What the limit is on.
    file_format : FileFormat
        The separator, decimal mark and encoding of a CSV file.

    Examples
    --------
    >>> people = pd.DataFrame({"pay": ["$1,200", "$800"] * 50, "sex": ["f", "f", "m", "m"] * 25, "hired": [0, 1] * 50})
    >>> print(check(people, target="hired", favorable=1, sensitive_features="sex"))
    the frame: 100 rows; 1 of 3 columns are features (1 number from text).
    Target hired: 0: 50.0%, 1 (favorable): 50.0%.
    Groups of sex: f 50, m 50, unknown 0.
    column  finding                  detail
            duplicated rows          96 rows repeat an earlier one in every column
    pay     read as numbers          '$1,200' is 1200
    pay     near-copy of the target  predicts hired with a balanced accuracy of 1.00 (chance 0.50)
    """
    table = open_source(source, file_format)
    dropped = [drop] if isinstance(drop, str) else list(() if drop is None else drop)
    bins = parse_attributes(sensitive_features, table.names)
    named = [name for name in (target, unit) if name is not None]
    table.check([*named, *bins, *dropped])
    edges = {name: check_edges(name, bins[name]) for name in bins}
    # What may mean unknown is a finding here, and no error.
    lenient = replace(table, file_format=replace(table.file_format, reading="lenient"))
    roles = dict(read_roles(lenient, [name for name in (*named, *bins) if name not in dropped], warn=False))
    units = None if unit is None else roles[unit].names
    exact = dict(table.read_written(dropped)) | {name: column.names for name, column in roles.items()}
    checks, hashes, sample = list[ColumnCheck](), np.zeros(1, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    for name, raw in table.read(list(table.names)):
        if not checks:
            sample = np.sort(np.random.default_rng(0).permutation(len(raw))[:_SAMPLE])
        hashes = hashes * np.uint64(1_000_003) ^ _hash(exact.get(name, raw))
        if name in dropped:
            checks.append(ColumnCheck(ColumnUse(name, "dropped", kind_of(raw), int(raw.isna().sum()))))
        elif name not in roles:
            checks.append(check_feature(raw, table.file_format.decimal, sample))
        elif name == unit:
            checks.append(check_unit(roles[name]))
        elif name == target:
            checks.append(check_target(roles[name], favorable))
        else:
            checks.append(check_attribute(roles[name], edges[name], min_group, units))
    result = _summarize(table.label, checks, hashes, sample, target)
    return result if within is None else replace(result, supports=tuple(_supports(checks, within, as_notions(notions))))


def _summarize(
    name: str, checks: Sequence[ColumnCheck], hashes: np.ndarray, sample: np.ndarray, target: str | None
) -> DataCheck:
    """Return the check of a table after those of its columns."""
    features = {one.use.column: one.bins for one in checks if one.bins is not None}
    classes = {one.use.column: one.classes[sample] for one in checks if one.classes is not None}
    telltales = [telltale for column, codes in classes.items() for telltale in _best(features, column, codes)]
    telltale_findings = [finding for one in telltales for finding in _find_telltale(one, one.tells == target)]
    findings = [finding for one in checks for finding in one.findings]
    return DataCheck(
        name,
        rows=len(hashes),
        uses=tuple(one.use for one in checks),
        findings=(
            *_find_duplicates(hashes),
            *find_protected([one.use for one in checks]),
            *findings,
            *telltale_findings,
        ),
        target=next((one.balance for one in checks if one.balance is not None), None),
        attributes=tuple(one.groups for one in checks if one.groups is not None),
        telltales=tuple(telltales),
        sampled=len(sample) if len(sample) < len(hashes) else None,
    )


def _supports(checks: Sequence[ColumnCheck], within: float, notions: Sequence[Notion]) -> Iterator[Support]:
    """Yield what the groups of each attribute are large enough for, on the rows that training measures on.

    Whom a model selects is not known yet, nor, without a favorable label, whose rates count.
    """
    require_gap(within, "A limit")
    target = next((one for one in checks if one.balance is not None), None)
    known = target is not None and target.balance is not None and target.balance.favorable is not None
    for notion in notions:
        if notion.conditions_on_prediction or (notion.conditions_on_label and not known):
            continue
        for one in checks:
            if one.groups is not None and one.classes is not None and len(one.names) > 1:
                rows = _count(one.classes, None if target is None else target.classes, len(one.names))
                if one.groups.units is not None:  # persons count, not their rows
                    rows *= np.array([[one.groups.units[name] / one.groups.groups[name]] for name in one.names])
                yield estimate_support(
                    notion, one.use.column, dict(zip(one.names, MEASURED * rows, strict=True)), within
                )


def _count(classes: np.ndarray, labels: np.ndarray | None, groups: int) -> np.ndarray:
    """Return the rows of each group with either label; without labels, half of them."""
    if labels is None:
        rows = np.bincount(classes[classes >= 0], minlength=groups)
        return np.column_stack([rows, rows]) / 2
    both = (classes >= 0) & (labels >= 0)
    return np.bincount(2 * classes[both] + labels[both], minlength=2 * groups).reshape(-1, 2).astype(float)


def _best(features: Mapping[str, np.ndarray], name: str, classes: np.ndarray) -> Sequence[Telltale]:
    """Return the single features that predict a label or group best; rows without one do not count."""
    known = np.flatnonzero(classes >= 0)
    codes, values = pd.factorize(classes[known])
    if len(values) < 2:
        return []
    chance = round(1 / len(values), 6)
    telltales = (
        Telltale(one, name, round(balanced_accuracy(bins[known], codes), 6), chance) for one, bins in features.items()
    )
    return sorted(telltales, key=lambda one: -one.balanced_accuracy)[:_BEST]


def _find_telltale(one: Telltale, is_target: bool) -> Iterator[Finding]:
    detail = f"predicts {one.tells} with a balanced accuracy of {one.balanced_accuracy:.2f} (chance {one.chance:.2f})"
    if one.skill >= _COPY:
        yield Finding(one.column, f"near-copy of {'the target' if is_target else one.tells}", detail)
    elif one.skill >= _PROXY and not is_target:
        yield Finding(one.column, f"proxy for {one.tells}", detail)


def _find_duplicates(hashes: np.ndarray) -> Iterable[Finding]:
    if again := len(hashes) - len(np.unique(hashes)):
        yield Finding("", "duplicated rows", f"{again:,} rows repeat an earlier one in every column")


def _hash(column: pd.Series) -> np.ndarray:
    """Return a hash of each value; lists and other objects are hashed by their text."""
    try:
        return np.asarray(pd.util.hash_pandas_object(column, index=False), dtype=np.uint64)
    except TypeError:
        return np.asarray(pd.util.hash_pandas_object(column.astype(str), index=False), dtype=np.uint64)
