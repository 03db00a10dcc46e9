"""CSV files: the header is read by hand, the rows by pyarrow or, without it, by pandas."""

import csv
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from mamofair._messages import cut, quote, warn_user
from mamofair.tables._csv_layout import find_decimal, find_sep, read_sample
from mamofair.tables._csv_text import find_encoding, is_gzip, is_utf8, open_text, wrong_encoding
from mamofair.tables.file_format import FileFormat
from mamofair.tables.parquet import from_arrow
from mamofair.tables.source import Columns, Source

__all__ = ["MISSING", "naming_file", "open_csv", "pandas_options"]

# The same for both readers. "None" and "?" are not among them: they may be answers.
MISSING = ["", "#N/A", "#N/A N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"]


def open_csv(path: Path, given: FileFormat = FileFormat()) -> Source:
    """Open a CSV file, gzipped or not, detect its format, and read its header.

    A warning names the format, unless it is the usual one: UTF-8, with commas, and points in numbers.
    """
    with naming_file(path, given.encoding or "utf-8"):
        encoding = given.encoding or find_encoding(path)
        with open_text(path, encoding) as text:
            lines = read_sample(text)
        sep = given.sep or find_sep(lines, path.name)
        decimal = given.decimal or find_decimal(partial(open_text, path, encoding), sep, path.name)
        # Readers of CSV rename a second column of the same name, or drop it: only the header itself tells.
        names = tuple(next((row for row in csv.reader(lines, delimiter=sep) if row), ()))
    if not names:
        raise ValueError(f"{path.name} must hold a table: found only blank lines. Write it again.")
    if len(names) == 1 and given.sep is None and any(separator in names[0] for separator in ";\t|"):
        raise ValueError(
            f"The separator of {path.name} must be clear: found the single column {quote(names[0])}, and no separator "
            "that gives all rows as many cells. Give it with `--sep` or FileFormat(sep=…)."
        )
    file_format = replace(given, sep=sep, decimal=decimal, encoding=encoding)
    if detected := _unusual_format(file_format, given):
        warn_user(f"Read {path.name} with {detected}.")
    read = partial(_columns, path, names, file_format)
    return Source(path.name, names, read, file_format, written=partial(read, as_text=True))


def _unusual_format(file_format: FileFormat, given: FileFormat) -> FileFormat | None:
    """Return a description of a detected format that is not the usual one."""
    shown = file_format if file_format.decimal else replace(file_format, decimal=".")
    surprises = [
        given.sep is None and shown.sep != ",",
        given.decimal is None and shown.decimal != ".",
        given.encoding is None and not is_utf8(str(shown.encoding)),
    ]
    return shown if any(surprises) else None


def _columns(
    path: Path, names: tuple[str, ...], file_format: FileFormat, wanted: list[str], *, as_text: bool = False
) -> Columns:
    try:
        import pyarrow.csv  # noqa: F401
    except ImportError:
        return _with_pandas(path, names, file_format, wanted, as_text)
    return _with_pyarrow(path, file_format, wanted, as_text)


def _with_pyarrow(path: Path, file_format: FileFormat, wanted: list[str], as_text: bool) -> Columns:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    encoding = str(file_format.encoding)
    compression = "gzip" if is_gzip(path) else None
    with naming_file(path, encoding, ValueError), pa.input_stream(path, compression=compression) as file:
        table = arrow_csv.read_csv(
            file,
            read_options=arrow_csv.ReadOptions(encoding="utf8" if is_utf8(encoding) else encoding),
            parse_options=arrow_csv.ParseOptions(delimiter=file_format.sep, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()) if as_text else None,
                null_values=[""] if as_text else MISSING,
                strings_can_be_null=True,
                decimal_point=file_format.decimal or ".",
            ),
        )
    if any(pa.types.is_binary(kind) for kind in table.schema.types):  # what pyarrow makes of text that is not UTF-8
        raise wrong_encoding(path, encoding)
    columns = dict(zip(wanted, table.columns, strict=True))
    del table
    for name in wanted:
        yield name, from_arrow(columns.pop(name), name)


def pandas_options(path: Path, names: tuple[str, ...], file_format: FileFormat) -> dict[str, Any]:
    """Return the options with which pandas reads a file."""
    return {
        "engine": "c",
        "compression": "gzip" if is_gzip(path) else None,
        "names": names,  # else pandas invents one for a column without a name
        "header": 0,
        "sep": file_format.sep,
        "decimal": file_format.decimal or ".",
        "encoding": "utf-8" if is_utf8(str(file_format.encoding)) else file_format.encoding,
    }


def _with_pandas(
    path: Path, names: tuple[str, ...], file_format: FileFormat, wanted: list[str], as_text: bool
) -> Columns:
    with naming_file(path, str(file_format.encoding), ValueError):
        frame = pd.read_csv(
            path,
            **pandas_options(path, names, file_format),
            na_values=[""] if as_text else MISSING,
            keep_default_na=False,
            dtype=dict.fromkeys(wanted, "str") if as_text else None,
            low_memory=False,  # types are guessed from whole columns, not block by block
        )
        # Where every row is longer than the header, pandas makes an index of the first cells.
        if not frame.index.equals(pd.RangeIndex(len(frame))):
            raise ValueError("rows have more cells than the header")
    for name in wanted:
        yield name, frame.pop(name)


@contextmanager
def naming_file(path: Path, encoding: str, *errors: type[Exception]) -> Iterator[None]:
    """Turn errors of reading a file, and those of the given types, into one sentence that names it."""
    expected: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error, csv.Error, *errors)
    try:
        yield
    except UnicodeError:
        raise wrong_encoding(path, encoding) from None
    except expected as error:
        if "invalid UTF8" in str(error):  # what pyarrow says of columns that it was told are text
            raise wrong_encoding(path, encoding) from None
        raise ValueError(
            f"{path.name} cannot be read as CSV: {cut(' '.join(str(error).split()), 200).strip(' .')}. Write it again."
        ) from None
