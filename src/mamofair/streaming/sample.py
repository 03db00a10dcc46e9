"""Training rows of a stream in memory: all of them, or a random sample."""

from itertools import chain

import pandas as pd

from mamofair.streaming.blocks import concatenate, places_of, unpack
from mamofair.streaming.table import Stream
from mamofair.tables import Table

__all__ = ["read_sample"]

_SAMPLE_SEED = 3  # makes the sample independent of other choices with the same seed


def read_sample(rows: Stream, most: int) -> Table:
    """Return the training rows of a stream as a table, or about `most` of them, chosen by their content.

    >>> from tempfile import TemporaryDirectory
    >>> people = pd.DataFrame({"age": range(40), "sex": ["f", "m"] * 20, "hired": ["no", "no", "yes"] * 13 + ["no"]})
    >>> from mamofair.streaming import stream
    >>> with TemporaryDirectory() as folder:
    ...     people.to_parquet(f"{folder}/people.parquet")
    ...     rows = stream(f"{folder}/people.parquet", "hired", favorable="yes", sensitive=["sex"])
    ...     table = read_sample(rows, most=100)
    >>> table
    Table(40 rows, 1 features; hired is 'yes' in 32.5%; sensitive: sex)
    """
    coded, share = rows.as_codes(), most / len(rows.scan.census)
    blocks = chain.from_iterable(map(coded.read, range(len(coded))))
    kept = concatenate([block[places_of(block, rows.seed, _SAMPLE_SEED) < share] for block in blocks])
    X, y, people, _, _ = unpack(kept)
    return Table(coded.frame(X), pd.Series(y, name=rows.roles.target), people, rows.labels, rows.left_out)
