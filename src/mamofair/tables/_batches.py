"""New rows for a trained model, a batch at a time, in the types that training used."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from mamofair.tables._csv import MISSING, is_gzip, naming_file, open_csv
from mamofair.tables._encoder import MISSING as MISSING_TEXT
from mamofair.tables._encoder import TableEncoder
from mamofair.tables._open import open_source
from mamofair.tables.columns import tidy
from mamofair.tables.parquet import from_arrow, open_parquet

__all__ = ["read_batches"]

_SPELLINGS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}


def read_batches(path: Path, encoder: TableEncoder, rows: int = 20_000) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield batches of rows of a CSV or Parquet file: all columns as they are in the file, and the encoder's features.

    Training decided which columns are numbers and which are text, so that this depends neither on the batch nor on the
    file: a code such as 01 stays text, even if all values of a batch look like numbers.
    """
    source = open_source(path)
    wanted = list(encoder.feature_names_in_)
    source.check(wanted)
    is_parquet = path.name.lower().endswith(".parquet")
    booleans, count = _boolean_columns(encoder), 0
    for whole in _parquet(path, rows) if is_parquet else _csv(path, rows):
        count += len(whole)
        if is_parquet:
            features = pd.DataFrame({name: tidy(whole[name]) for name in wanted}, copy=False)
        else:
            features = whole[wanted].mask(whole[wanted].isin(MISSING))
            features = features.assign(**{name: features[name].replace(_SPELLINGS) for name in booleans})
        if count:
            yield whole, features
    if not count:
        raise ValueError(f"There must be rows in {source.label}: found only column names. Write it again.")


def _boolean_columns(encoder: TableEncoder) -> list[str]:
    """Return the text columns whose values are True and False, which CSV files spell in several ways."""
    return [
        name
        for name, values in encoder.categories_.items()
        if {*values, *encoder.infrequent_categories_[name]} <= {"True", "False", MISSING_TEXT}
    ]


def _csv(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    names = open_csv(path).names
    with (
        naming_file(path),
        pd.read_csv(
            path,
            engine="c",
            compression="gzip" if is_gzip(path) else None,
            names=names,
            header=0,
            dtype="str",
            na_filter=False,
            chunksize=rows,
        ) as chunks,
    ):
        for chunk in chunks:
            # Where every row is longer than the header, pandas makes an index of the first cells.
            if not isinstance(chunk.index, pd.RangeIndex):
                raise ValueError("rows have more cells than the header")
            yield chunk


def _parquet(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    names = list(open_parquet(path).names)
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path).iter_batches(batch_size=rows, columns=names):
        yield pd.DataFrame({name: from_arrow(batch[name], name) for name in names}, copy=False)
