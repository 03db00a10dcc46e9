"""Tables larger than memory: a batch of rows at a time, in the types that training found."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from sklearn.compose import ColumnTransformer

from mamofair.tables._columns import tidy
from mamofair.tables._csv import MISSING, explained, is_gzip, open_csv
from mamofair.tables._open import open_source
from mamofair.tables._parquet import from_arrow, open_parquet

__all__ = ["read_batches"]

_SPELLINGS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}


def read_batches(
    path: Path, encoder: ColumnTransformer, rows: int = 20_000
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield some rows at a time of a CSV or Parquet file: all columns as they stand, and the encoder's features.

    What is a number or text was settled in training. So it does not depend on the batch, or on the file: a code such
    as 01 stays text, even where no other value tells.
    """
    source = open_source(path)
    wanted = list(encoder.feature_names_in_)
    source.check(wanted)
    if path.name.lower().endswith(".parquet"):
        for whole in _parquet(path, rows):
            yield whole, pd.DataFrame({name: tidy(whole[name]) for name in wanted}, copy=False)
        return
    truths = _truths(encoder)
    for whole in _csv(path, rows):
        features = whole[wanted].mask(whole[wanted].isin(MISSING))
        yield whole, features.assign(**{name: features[name].replace(_SPELLINGS) for name in truths})


def _truths(encoder: ColumnTransformer) -> list[str]:
    """Return the columns that may hold truth values, which CSV files spell in several ways: numbers, True and False."""
    found = []
    for kind, pipeline, columns in encoder.transformers_:
        if kind == "numbers":
            found += list(columns)
        elif kind == "text":
            levels = zip(columns, pipeline[-1].categories_, strict=True)
            found += [name for name, own in levels if {"True", "False"} & set(own) and len(own) <= len("TF?")]
    return found


def _csv(path: Path, rows: int) -> Iterator[pd.DataFrame]:
    names = open_csv(path).names
    with (
        explained(path),
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
