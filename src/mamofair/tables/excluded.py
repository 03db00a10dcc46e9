"""Rows that are left out by their label, such as applications that were withdrawn: nobody decided on them."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import quote_some, warn_user
from mamofair.tables.columns import tidy, to_text
from mamofair.tables.source import Columns, Source

__all__ = ["exclude", "is_excluded", "require_labels"]


def exclude(source: Source) -> Source:
    """Return a table without the rows that its format excludes; a warning says how many there were."""
    if source.file_format.excluded is None or source.file_format.excluded[0] not in source.names:
        return source
    name, labels = source.file_format.excluded
    column = partial(_read, source, name)

    @cache  # the rows of all columns are the same, and the note is given once
    def kept() -> np.ndarray:
        marked = is_excluded(column(), labels)
        warn_user(
            f"Left out {int(marked.sum()):,} of {len(marked):,} rows of {source.label}, whose `{name}` is "
            f"{quote_some(labels)}."
        )
        return ~marked

    def read(columns: Callable[[list[str]], Columns], wanted: list[str]) -> Columns:
        for one, values in columns(wanted):
            yield one, values[kept()].reset_index(drop=True)

    return source.wrap(read)


def is_excluded(column: pd.Series, labels: Sequence[str]) -> np.ndarray:
    """Return which rows have one of these labels, ignoring case and spaces."""
    wanted = {_fold(label) for label in labels}
    codes, values = pd.factorize(column)
    return np.array([*(_fold(value) in wanted for value in values), False])[codes]  # code −1 finds the last


def require_labels(source: Source, name: str, labels: Sequence[str]) -> None:
    """Raise a `ValueError` if no row has a label that is to be excluded: it is probably misspelled."""
    source.check([name])
    values = _read(source, name).dropna().unique().tolist()
    known = {_fold(value) for value in values}
    if unknown := [label for label in labels if _fold(label) not in known]:
        raise ValueError(
            f"`--exclude-label` must name values of `{name}`: found {quote_some(sorted(map(to_text, values)))}, not "
            f"{quote_some(unknown)}. Give one of them, or leave it out."
        )


def _read(source: Source, name: str) -> pd.Series:
    return tidy(next(iter(source.columns([name])))[1])


def _fold(value: Any) -> str:
    return " ".join(to_text(value).casefold().split())
