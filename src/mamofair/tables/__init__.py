"""A user's own table: read, encoded, and the encoder saved without pickle.

>>> import pandas as pd
>>> from mamofair.tables import encoder, read_table
>>> people = pd.DataFrame({"age": [23, 35, 61], "sex": ["f", "m", "f"], "hired": [0, 1, 1]})
>>> X, y, sensitive = read_table(people, "hired", sensitive=["sex"])
>>> encoder().fit_transform(X).shape
(3, 1)
"""

from mamofair.tables._attributes import parse_attribute
from mamofair.tables._batches import read_batches
from mamofair.tables._encoder import encoder
from mamofair.tables._encoder_file import load_encoder, save_encoder
from mamofair.tables._open import open_source
from mamofair.tables._read import Table, read_features, read_table
from mamofair.tables._stream import Stream, stream

__all__ = [
    "Stream",
    "Table",
    "encoder",
    "load_encoder",
    "open_source",
    "parse_attribute",
    "read_batches",
    "read_features",
    "read_table",
    "save_encoder",
    "stream",
]
