"""The file of an encoder: skops under a fixed allow-list, no pickle."""

import os
from pathlib import Path

from sklearn.compose import ColumnTransformer

from mamofair.tables.skops_files import read_parts, write_parts

__all__ = ["load_encoder", "read_encoder", "save_encoder"]

# What the file of an encoder may hold beyond skops' own list of numpy's and scikit-learn's harmless types.
# The functions are found by these names, which makes them part of the file format.
_ALLOWED = frozenset(
    {"numpy.dtype"}
    | {
        f"mamofair.tables._encoder.{name}"
        for name in ("number_columns", "text_columns", "numbers", "texts", "level_name")
    }
)
_WHAT = "an encoder"


def save_encoder(fitted: ColumnTransformer, path: str | os.PathLike[str]) -> None:
    """Write an encoder to a skops file, which `load_encoder` reads without executing anything from it.

    Examples
    --------
    >>> import pandas as pd
    >>> from tempfile import TemporaryDirectory
    >>> from mamofair.tables import encoder
    >>> people = pd.DataFrame({"age": [23, None, 61]})
    >>> with TemporaryDirectory() as folder:
    ...     save_encoder(encoder().fit(people), f"{folder}/encoder.skops")
    ...     load_encoder(f"{folder}/encoder.skops").transform(people[:1]).tolist()
    [[23.0, 0.0]]
    """
    Path(path).write_bytes(write_parts(fitted, "The encoder", _WHAT, _ALLOWED))


def load_encoder(path: str | os.PathLike[str]) -> ColumnTransformer:
    """Read the file of an encoder; types that no encoder needs are refused by name, and nothing is executed."""
    return read_encoder(Path(path).read_bytes(), str(path))


def read_encoder(data: bytes, label: str) -> ColumnTransformer:
    """Return the encoder in the content of a file."""
    loaded = read_parts(data, label, _WHAT, _ALLOWED)
    if not isinstance(loaded, ColumnTransformer):
        raise ValueError(f"{label} must hold an encoder: found {type(loaded).__name__}. Use encoder().")
    return loaded
