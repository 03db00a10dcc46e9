"""Excel workbooks: a sheet, and the row with the names of its columns."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from mamofair._messages import cut, quote, quote_some, warn_user
from mamofair.tables._csv import MISSING
from mamofair.tables.file_format import FileFormat
from mamofair.tables.source import Columns, Source
from mamofair.tables.untrusted import one_sentence

__all__ = ["as_dates", "known_cells", "open_excel", "read_cells"]

_HEAD = 50  # rows in which the header is looked for
_TOTALS = ("total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "insgesamt", "somme", "totale")


def open_excel(path: Path, file_format: FileFormat = FileFormat()) -> Source:
    """Open an Excel workbook and read the header of a sheet; a warning says if there are others to choose from."""
    sheets, head = _read(path, file_format, nrows=max(_HEAD, file_format.header or 0))
    if len(sheets) > 1 and file_format.sheet is None:
        warn_user(f"Read the first of {len(sheets)} sheets of {path.name}, {quote(sheets[0])}. Choose with `--sheet`.")
    names = _names(path.name, head, file_format.header)
    cells = cache(lambda: read_cells(path, file_format))  # else the workbook would be read for each role
    known = partial(_columns, cells, MISSING)
    return Source(path.name, tuple(names.values()), known, written=partial(_columns, cells, []))


def read_cells(path: Path, file_format: FileFormat = FileFormat()) -> pd.DataFrame:
    """Return the rows of a sheet as they are there: what is not blank stays, and whole numbers stay whole."""
    _, frame = _read(path, file_format)
    names = _names(path.name, frame, file_format.header)
    rows = frame[~_is_blank(frame)].loc[_header_row(frame, file_format.header) + 1 :]
    _name_total(path.name, rows)
    return rows[list(names)].set_axis(list(names.values()), axis="columns").reset_index(drop=True)


def as_dates(column: pd.Series) -> pd.Series:
    """Return a column of cells as dates if it has nothing else: those without a time are then written without one."""
    dates = column.infer_objects()
    return dates if dates.dtype.kind == "M" else column


def known_cells(column: pd.Series, missing: Sequence[str] = MISSING) -> pd.Series:
    """Return a column of cells in its own type, missing where words such as NA say so."""
    return column.mask(column.isin(missing)).infer_objects()


def _columns(cells: Callable[[], pd.DataFrame], missing: Sequence[str], wanted: list[str]) -> Columns:
    for name in wanted:
        yield name, known_cells(cells()[name], missing)


def _is_blank(frame: pd.DataFrame) -> pd.Series:
    """Return which rows have no value; a word such as NA is one."""
    return frame.isna().all(axis="columns")


def _header_row(frame: pd.DataFrame, given: int | None) -> int:
    """Return the place of the row with the names: the one that is given, or the first that is not blank."""
    return given - 1 if given is not None else int(frame.index[~_is_blank(frame)][0])


def _names(label: str, frame: pd.DataFrame, given: int | None) -> dict[Any, Any]:
    """Return the names in the header by the places of their columns; columns that are wholly blank have none."""
    known = frame[~_is_blank(frame)]
    if known.empty:
        raise ValueError(f"{label} must hold a table: found only blank rows. Write it again.")
    row = _header_row(frame, given)
    if row not in known.index:
        raise ValueError(f"{label} must have names of columns in row {given}: found none. Give another `--header`.")
    if given is None:
        _require_no_title(label, known)
    used = {place for place, column in known.loc[row:].items() if column.notna().any()}
    return {place: "" if pd.isna(name) else name for place, name in known.loc[row].items() if place in used}


def _require_no_title(label: str, known: pd.DataFrame) -> None:
    """Raise a `ValueError` if the first row seems to be a title, and a later one the header."""
    width, filled = int(known.notna().any().sum()), known.notna().sum(axis="columns")
    if 2 * filled.iloc[0] >= width:
        return
    like_headers = [row for row in known.index if _is_like_header(known.loc[row].dropna().tolist(), width)]
    if like_headers:
        first, header, cells = known.index[0] + 1, like_headers[0] + 1, "cell" if filled.iloc[0] == 1 else "cells"
        raise ValueError(
            f"The first row of {label} that is not blank must have the names of its columns: row {first} has "
            f"{filled.iloc[0]} filled {cells} of {width}, and row {header} looks like the header. Add "
            f"`--header {header}`."
        )


def _is_like_header(cells: list[Any], width: int) -> bool:
    """Whether a row may have the names of columns: nearly all cells are filled, with different texts."""
    texts = all(isinstance(cell, str) for cell in cells) and len({*cells}) == len(cells)
    return texts and 5 * len(cells) >= 4 * width


def _name_total(label: str, rows: pd.DataFrame) -> None:
    """Warn of a last row that looks like a total: it is read as if it were a person."""
    for cell in rows.iloc[-1].dropna().tolist() if len(rows) else ():
        if isinstance(cell, str) and cell.strip(" :.").casefold() in _TOTALS:
            warn_user(
                f"Row {rows.index[-1] + 1:,} of {label}, the last, has {quote(cell)} and looks like a total, but is "
                "read like any other row: delete it unless it is one of them."
            )
            return


def _read(path: Path, file_format: FileFormat, nrows: int | None = None) -> tuple[list[str], pd.DataFrame]:
    """Return the names of all sheets and the cells of one as they are written, NaN where they are blank."""
    try:
        import openpyxl  # noqa: F401
    except ImportError:
        raise ValueError(
            'Reading .xlsx needs openpyxl, which is not installed. Run pip install "mamofair[excel]", or use CSV.'
        ) from None
    advice = "Save it again, or as CSV."
    with one_sentence(f"{path.name} must be an Excel workbook", advice), pd.ExcelFile(path, engine="openpyxl") as book:
        names = [str(name) for name in book.sheet_names]
        sheet = _find_sheet(path.name, names, file_format.sheet)
        cells = pd.read_excel(
            book, sheet_name=sheet, header=None, dtype=object, na_values=[""], keep_default_na=False, nrows=nrows
        )
        return names, cells


def _find_sheet(label: str, names: list[str], given: str | None) -> int:
    """Return the place of a sheet that is given by its name or number; the first if none is."""
    if given is None or given in names:
        return 0 if given is None else names.index(given)
    if given.isdecimal() and 1 <= int(given) <= len(names):
        return int(given) - 1
    raise ValueError(
        f"There is no sheet {quote(given)} in {label}: found {cut(quote_some(names), 200)}. Give a name or a number."
    )
