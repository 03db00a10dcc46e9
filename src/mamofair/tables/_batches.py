"""New rows for a trained model, a batch at a time, in the types that training used."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from mamofair.tables._csv import MISSING, naming_file, pandas_options
from mamofair.tables._encoder import MISSING as MISSING_TEXT
from mamofair.tables._encoder import TableEncoder
from mamofair.tables._excel import as_dates, known_cells, read_cells
from mamofair.tables._open import open_source
from mamofair.tables.columns import tidy
from mamofair.tables.excluded import is_excluded
from mamofair.tables.file_format import FileFormat
from mamofair.tables.formulas import unprotect_frame
from mamofair.tables.parquet import as_written
from mamofair.tables.source import Source
from mamofair.tables.text_numbers import read_decimals

__all__ = ["read_batches", "require_file"]

_SPELLINGS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}


def read_batches(
    path: str | Path, encoder: TableEncoder, rows: int = 20_000, *, file_format: FileFormat = FileFormat()
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield batches of rows of a CSV, Parquet or Excel file: all columns as they are there, and the encoder's features.

    Training decided which columns are numbers and which are text, so that this depends neither on the batch nor on the
    file: a code such as 01 stays text, even if all values of a batch look like numbers.
    """
    require_file(path)
    source = open_source(path, file_format)
    wanted = list(encoder.feature_names_in_)
    source.check(wanted)
    count = 0
    for every in _read(Path(path), source, rows):
        whole = _without_excluded(every, source.file_format)
        count += len(whole)
        if source.file_format.sep is None:  # columns have types
            known = known_cells if _is_excel(Path(path)) else _unchanged
            features = pd.DataFrame({name: tidy(known(whole[name])) for name in wanted}, copy=False)
        else:
            features = _typed(whole[wanted], encoder, source.file_format.decimal)
        if count:
            yield whole, features
    if not count:
        raise ValueError(f"There must be rows in {source.label}: found only column names. Write it again.")


def require_file(path: Any) -> None:
    """Raise a `ValueError` for rows that are no file, such as a frame."""
    if not isinstance(path, str | os.PathLike):
        raise ValueError(
            f"New rows are read from a file: found a {type(path).__name__}. Rows in memory need no reading: pass the "
            "frame to `predict`, or to `encoder.transform`."
        )


def _without_excluded(whole: pd.DataFrame, file_format: FileFormat) -> pd.DataFrame:
    """Return the rows without those whose label is excluded."""
    if file_format.excluded is None or file_format.excluded[0] not in whole:
        return whole
    name, labels = file_format.excluded
    return whole[~is_excluded(tidy(whole[name]), labels)].reset_index(drop=True)


def _typed(texts: pd.DataFrame, encoder: TableEncoder, decimal: str | None) -> pd.DataFrame:
    """Return the features of a CSV file as the encoder reads them: numbers, and True and False, in one spelling."""
    features = texts.mask(texts.isin(MISSING))
    if decimal == ",":
        plain = [name for name in encoder.fill_values_ if name not in (encoder.text_numbers or {})]
        features = features.assign(**{name: read_decimals(features[name], decimal) for name in plain})
    return features.assign(**{name: features[name].replace(_SPELLINGS) for name in _boolean_columns(encoder)})


def _boolean_columns(encoder: TableEncoder) -> list[str]:
    """Return the text columns whose values are True and False, which CSV files spell in several ways."""
    return [
        name
        for name, values in encoder.categories_.items()
        if {*values, *encoder.infrequent_categories_[name]} <= {"True", "False", MISSING_TEXT}
    ]


def _unchanged(column: pd.Series) -> pd.Series:
    return column


def _is_excel(path: Path) -> bool:
    return path.name.lower().endswith(".xlsx")


def _read(path: Path, source: Source, rows: int) -> Iterator[pd.DataFrame]:
    name = path.name.lower()
    if name.endswith(".parquet"):
        yield from _parquet(path, list(source.names), rows)
    elif _is_excel(path):
        whole = unprotect_frame(
            pd.DataFrame({name: as_dates(column) for name, column in read_cells(path, source.file_format).items()})
        )
        yield from (whole.iloc[start : start + rows] for start in range(0, len(whole), rows))
    else:
        yield from _csv(path, source, rows)


def _csv(path: Path, source: Source, rows: int) -> Iterator[pd.DataFrame]:
    options = pandas_options(path, source.names, source.file_format)
    with (
        naming_file(path, str(source.file_format.encoding), ValueError),
        pd.read_csv(path, **options, dtype="str", na_filter=False, chunksize=rows) as chunks,
    ):
        for chunk in chunks:
            # Where every row is longer than the header, pandas makes an index of the first cells.
            if not isinstance(chunk.index, pd.RangeIndex):
                raise ValueError("rows have more cells than the header")
            yield unprotect_frame(chunk)


def _parquet(path: Path, names: list[str], rows: int) -> Iterator[pd.DataFrame]:
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path).iter_batches(batch_size=rows, columns=names):
        yield pd.DataFrame({name: as_written(batch[name], name) for name in names}, copy=False)
