"""Opens tables: paths and frames."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd

from mamofair._messages import PATH, quote
from mamofair.tables._csv import open_csv
from mamofair.tables._excel import open_excel
from mamofair.tables.excluded import exclude
from mamofair.tables.file_format import FileFormat
from mamofair.tables.formulas import unprotected
from mamofair.tables.parquet import as_written, from_arrow, open_parquet
from mamofair.tables.source import Columns, Source

__all__ = ["open_source"]

_WIDE = (nw.Int128, nw.UInt128)  # integers that Arrow has not


def open_source(source: Any, file_format: FileFormat = FileFormat()) -> Source:
    """Open a path or a frame; no row is read before the column names have been checked.

    What `file_format` does not specify is detected, and a warning says what was found. A file that can be read in
    several ways is a `ValueError`. What is open already is returned as it is.
    """
    return source if isinstance(source, Source) else exclude(_open(source, file_format))


def _open(source: Any, file_format: FileFormat) -> Source:
    if isinstance(source, str | os.PathLike):
        return _open_file(Path(source), file_format)
    file_format = replace(file_format, sep=None, encoding=None)  # which a frame does not have
    if isinstance(source, pd.DataFrame):
        return Source("the frame", tuple(source.columns), partial(_columns, source), file_format)
    try:
        names = nw.from_native(source, eager_only=True).columns
    except TypeError:
        raise ValueError(
            "A table must be a path to a CSV or Parquet file, or a pandas or polars DataFrame: "
            f"found {type(source).__name__}. Convert it (a LazyFrame with .collect())."
        ) from None
    return Source("the frame", tuple(names), partial(_columns, source), file_format, written=partial(_written, source))


def _columns(frame: Any, wanted: list[str]) -> Columns:
    return _convert(frame, wanted, _as_pandas)


def _written(frame: Any, wanted: list[str]) -> Columns:
    return _convert(frame, wanted, _as_written)


def _convert(frame: Any, wanted: list[str], convert: Callable[[nw.Series[Any]], pd.Series]) -> Columns:
    columns = nw.from_native(frame, eager_only=True)
    for name in wanted:
        try:
            yield name, convert(columns[name])
        except ImportError:
            raise ValueError(
                'Reading a polars frame needs pyarrow, which is not installed. Run pip install "mamofair[data]".'
            ) from None


def _as_pandas(column: nw.Series[Any]) -> pd.Series:
    """Return a column as a pandas Series; categories stay categories, wherever they come from."""
    native = column.to_native()
    if nw.dependencies.is_pyarrow_chunked_array(native):  # narwhals would fill the gaps in a dictionary column
        return from_arrow(native, column.name)
    if column.dtype in _WIDE:
        return pd.Series(column.to_list(), name=column.name)
    series = column.to_pandas()
    encoded = isinstance(series.dtype, pd.ArrowDtype) and column.dtype == nw.Categorical
    return series.astype(object).astype("category") if encoded else series


def _as_written(column: nw.Series[Any]) -> pd.Series:
    """Return a column of a polars or Arrow frame as a Series that keeps all digits of whole numbers."""
    if not column.dtype.is_integer():
        return _as_pandas(column)
    if column.dtype in _WIDE:
        return pd.Series(column.to_list(), name=column.name, dtype=object)
    native = column.to_native()
    return as_written(native if nw.dependencies.is_pyarrow_chunked_array(native) else column.to_arrow(), column.name)


def _is_readable(path: Path) -> bool:
    """Whether the system accepts the name of a file: not too long, no null characters."""
    try:
        path.stat()
    except FileNotFoundError:
        return True  # the name is fine
    except (OSError, ValueError):
        return False
    return True


def _open_file(path: Path, file_format: FileFormat) -> Source:
    if not _is_readable(path):
        raise ValueError(f"A table must be one file: {quote(str(path))} cannot be the name of one.")
    if path.is_dir():
        raise ValueError(f"A table must be one file: {quote(str(path), PATH)} is a folder. Name a file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {quote(str(path), PATH)}. Check the name and the folder.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path.name} must hold a table: the file is empty (0 bytes). Write it again.")
    return _open_by_type(path, path.name.lower(), file_format)


def _open_by_type(path: Path, name: str, file_format: FileFormat) -> Source:
    """Open a file of a type that its name tells; texts of CSV and Excel are as they were before they were protected."""
    if file_format.is_place_given and not name.endswith(".xlsx"):
        raise ValueError(f"`sheet` and `header` are for Excel files: found {path.name}. Leave them out.")
    if name.endswith((".csv", ".csv.gz")):
        return unprotected(open_csv(path, file_format))
    if not name.endswith((".parquet", ".xlsx")):
        raise ValueError(
            f"A table must be a .csv, .csv.gz, .parquet or .xlsx file: found {quote(path.name)}. Convert it."
        )
    if file_format.is_given:
        raise ValueError(
            f"Separators, decimal marks and encodings are for CSV files: found {file_format} for {path.name}. "
            "Leave them out."
        )
    opened = open_parquet(path) if name.endswith(".parquet") else unprotected(open_excel(path, file_format))
    return replace(opened, file_format=file_format)
