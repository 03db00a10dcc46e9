"""The file of an encoder: plain values in skops' format, nothing that could be executed."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mamofair.tables._encoder import STRATEGIES, TableEncoder
from mamofair.tables.skops_files import read_parts, write_parts

__all__ = ["load_encoder", "read_encoder", "save_encoder", "write_encoder"]

_WHAT = "an encoder"
_NUMBERS = "text_numbers"  # only in files of encoders that read some, so that older ones stay as they are
_PARTS = ("strategy", "columns", "fill_values", "indicators", "categories", "infrequent_categories")


def save_encoder(fitted: Any, path: str | os.PathLike[str]) -> None:
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
    Path(path).write_bytes(write_encoder(fitted))


def write_encoder(fitted: Any) -> bytes:
    """Return the content of an encoder's file."""
    if not isinstance(fitted, TableEncoder):
        raise ValueError(f"The encoder must be an encoder(): found {type(fitted).__name__}. Save it in another way.")
    check_is_fitted(fitted)
    learned = (fitted.fill_values_, fitted.indicators_, fitted.categories_, fitted.infrequent_categories_)
    state = dict(zip(_PARTS, (fitted.strategy, fitted.feature_names_in_.tolist(), *learned), strict=True))
    if fitted.text_numbers:
        state[_NUMBERS] = {name: mark for name, mark in fitted.text_numbers.items() if name in fitted.fill_values_}
    return write_parts(state, "The encoder", _WHAT, frozenset())


def load_encoder(path: str | os.PathLike[str]) -> TableEncoder:
    """Read the file of an encoder; types that no encoder needs are refused by name, and nothing is executed.

    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from mamofair.tables import encoder
    >>> people = pd.DataFrame({"age": [23, 61], "job": ["nurse", "clerk"]})
    >>> with TemporaryDirectory() as folder:
    ...     save_encoder(encoder().fit(people), f"{folder}/encoder.skops")
    ...     load_encoder(f"{folder}/encoder.skops").categories_
    {'job': ['clerk', 'nurse']}
    """
    return read_encoder(Path(path).read_bytes(), str(path))


def read_encoder(data: bytes, label: str) -> TableEncoder:
    """Return the encoder in the content of a file."""
    state = read_parts(data, label, _WHAT, frozenset())
    if not isinstance(state, dict):
        raise ValueError(f"{label} must hold an encoder: found {type(state).__name__}. Use encoder().")
    if not _is_sound(state):
        raise ValueError(f"{label} must be sound: found a broken encoder. Copy it again.")
    fitted = TableEncoder(state["strategy"], state.get(_NUMBERS))
    fitted.feature_names_in_ = np.array(state["columns"], dtype=object)
    fitted.n_features_in_ = len(state["columns"])
    fitted.fill_values_, fitted.indicators_ = state["fill_values"], state["indicators"]
    fitted.categories_, fitted.infrequent_categories_ = state["categories"], state["infrequent_categories"]
    return fitted


def _is_sound(state: dict[Any, Any]) -> bool:
    """Whether the values are those of a fitted encoder."""
    if state.keys() - {_NUMBERS} != set(_PARTS) or state["strategy"] not in STRATEGIES:
        return False
    if not _are_marks(state.get(_NUMBERS, {}), state["fill_values"]):
        return False
    columns, fills, marked, *levels = (state[name] for name in _PARTS[1:])
    if not (_are_texts(columns) and _are_texts(marked) and all(isinstance(part, dict) for part in (fills, *levels))):
        return False
    numbers = all(isinstance(value, float) and np.isfinite(value) for value in fills.values()) and {*marked} <= {*fills}
    texts = all(_are_texts(values) for level in levels for values in level.values()) and {*levels[0]} == {*levels[1]}
    return numbers and texts and sorted([*fills, *levels[0]]) == sorted(columns)


def _are_marks(marks: Any, numbers: Any) -> bool:
    """Whether these are decimal marks of columns of numbers."""
    known = isinstance(marks, dict) and isinstance(numbers, dict) and marks.keys() <= numbers.keys()
    return known and all(mark in (".", ",") for mark in marks.values())


def _are_texts(values: Any) -> bool:
    texts = isinstance(values, list) and all(isinstance(value, str) for value in values)
    return texts and len(set(values)) == len(values)
