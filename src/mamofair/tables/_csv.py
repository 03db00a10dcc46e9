"""CSV files: the header is read by hand, the rows by pyarrow or, without it, by pandas."""

import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path

import pandas as pd

from mamofair._messages import cut, quote
from mamofair.tables.parquet import from_arrow
from mamofair.tables.source import Columns, Source

__all__ = ["MISSING", "is_gzip", "naming_file", "open_csv"]

# The same for both readers. "None" and "?" are not among them: they may be answers.
MISSING = ["", "#N/A", "#N/A N/A", "#NA", "-NaN", "-nan", "<NA>", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"]


def open_csv(path: Path) -> Source:
    """Open a CSV file, gzipped or not, and read its header."""
    # Readers of CSV rename a second column of the same name, or drop it: only the header itself tells.
    with naming_file(path), _bytes(path) as file:
        lines = (line.decode("utf-8-sig") for line in file)
        names = tuple(next((row for row in csv.reader(lines) if row), ()))
    if not names:
        raise ValueError(f"{path.name} must hold a table: found only blank lines. Write it again.")
    if len(names) == 1 and any(separator in names[0] for separator in ";\t|"):
        raise ValueError(
            f"The columns of a CSV must be separated by commas: found the single column {quote(names[0])} in "
            f"{path.name}. Write it with commas, or read it yourself and pass the DataFrame."
        )
    return Source(path.name, names, partial(_columns, path, names))


def _columns(path: Path, names: tuple[str, ...], wanted: list[str]) -> Columns:
    try:
        import pyarrow.csv  # noqa: F401
    except ImportError:
        return _with_pandas(path, names, wanted)
    return _with_pyarrow(path, wanted)


def _with_pyarrow(path: Path, wanted: list[str]) -> Columns:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with naming_file(path), pa.input_stream(path, compression="gzip" if is_gzip(path) else None) as file:
        table = arrow_csv.read_csv(
            file,
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted, null_values=MISSING, strings_can_be_null=True
            ),
        )
    if any(pa.types.is_binary(kind) for kind in table.schema.types):  # what pyarrow makes of text that is not UTF-8
        raise _not_utf8(path)
    columns = dict(zip(wanted, table.columns, strict=True))
    del table
    for name in wanted:
        yield name, from_arrow(columns.pop(name), name)


def _with_pandas(path: Path, names: tuple[str, ...], wanted: list[str]) -> Columns:
    with naming_file(path):
        frame = pd.read_csv(
            path,
            engine="c",
            compression="gzip" if is_gzip(path) else None,
            names=names,  # else pandas invents one for a column without a name
            header=0,
            na_values=MISSING,
            keep_default_na=False,
            low_memory=False,  # types are guessed from whole columns, not block by block
        )
        # Where every row is longer than the header, pandas makes an index of the first cells.
        if not frame.index.equals(pd.RangeIndex(len(frame))):
            raise ValueError("rows have more cells than the header")
    for name in wanted:
        yield name, frame.pop(name)


def is_gzip(path: Path) -> bool:
    """Return whether a file is gzipped, by its name."""
    return path.suffix.lower() == ".gz"


def _bytes(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path) if is_gzip(path) else path.open("rb")


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Turn errors of the readers into one sentence that names the file."""
    try:
        yield
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        raise ValueError(
            f"{path.name} cannot be read as CSV: {cut(' '.join(str(error).split()), 200).strip(' .')}. Write it again."
        ) from None


def _not_utf8(path: Path) -> ValueError:
    with _bytes(path) as file:
        lines = enumerate(file, start=1)
        number, line = next((n, line) for n, line in lines if line.decode(errors="ignore").encode() != line)
    encoding = "utf-16" if line.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin1"
    return ValueError(
        f"{path.name} must be in UTF-8: found {quote(line[:40])} in line {number:,}. Save it as UTF-8 "
        f"(in Excel: CSV UTF-8), or, if it is in {encoding}, convert it with iconv -f {encoding} -t utf-8."
    )
