"""Excel workbooks: the first sheet, whose first row that is not blank is the header."""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from mamofair._messages import quote, warn_user
from mamofair.tables._csv import MISSING
from mamofair.tables.source import Columns, Source
from mamofair.tables.untrusted import one_sentence

__all__ = ["as_dates", "known_cells", "open_excel", "read_cells"]

_HEAD = 50  # rows in which the header is looked for


def open_excel(path: Path) -> Source:
    """Open an Excel workbook and read the header of its first sheet; a warning says if there are others."""
    sheets, head = _read(path, nrows=_HEAD)
    if len(sheets) > 1:
        warn_user(f"Read the first of {len(sheets)} sheets of {path.name}, {quote(sheets[0])}.")
    names = _names(head)
    if not names:
        raise ValueError(f"{path.name} must hold a table: found only blank rows. Write it again.")
    return Source(path.name, tuple(names.values()), partial(_columns, path))


def read_cells(path: Path) -> pd.DataFrame:
    """Return the rows of a sheet as they are there: what is not blank stays, and whole numbers stay whole."""
    _, frame = _read(path)
    names = _names(frame)
    rows = frame[~_is_blank(frame)].iloc[1:].reset_index(drop=True)
    return rows[list(names)].set_axis(list(names.values()), axis="columns")


def as_dates(column: pd.Series) -> pd.Series:
    """Return a column of cells as dates if it has nothing else: those without a time are then written without one."""
    dates = column.infer_objects()
    return dates if dates.dtype.kind == "M" else column


def known_cells(column: pd.Series) -> pd.Series:
    """Return a column of cells in its own type, missing where words such as NA say so."""
    return column.mask(column.isin(MISSING)).infer_objects()


def _columns(path: Path, wanted: list[str]) -> Columns:
    rows = read_cells(path)
    for name in wanted:
        yield name, known_cells(rows.pop(name))


def _is_blank(frame: pd.DataFrame) -> pd.Series:
    """Return which rows have no value."""
    return (frame.isna() | frame.isin(MISSING)).all(axis="columns")


def _names(frame: pd.DataFrame) -> dict[Any, Any]:
    """Return the names in the header by the places of their columns; columns that are wholly blank have none."""
    known = frame[~_is_blank(frame)]
    if known.empty:
        return {}
    known = known.mask(known.isin(MISSING))
    header = known.iloc[0]
    filled = header.notna() | (known.iloc[1:].notna().any() if len(known) > 1 else False)
    return {place: "" if pd.isna(name) else name for place, name in header[filled].items()}


def _read(path: Path, nrows: int | None = None) -> tuple[list[str], pd.DataFrame]:
    """Return the names of all sheets and the cells of the first as they are written, NaN where they are blank."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise ValueError(
            'Reading .xlsx needs openpyxl, which is not installed. Run pip install "mamofair[excel]", or use CSV.'
        ) from None
    advice = "Save it again, or as CSV."
    with one_sentence(f"{path.name} must be an Excel workbook", advice), pd.ExcelFile(path, engine="openpyxl") as book:
        cells = pd.read_excel(book, header=None, dtype=object, na_values=[""], keep_default_na=False, nrows=nrows)
        return [str(name) for name in book.sheet_names], cells
