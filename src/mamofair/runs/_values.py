"""Values as JSON, and back: plain ones, arrays, and our own frozen dataclasses from a fixed list; nothing else.

Tensors, boosters and scikit-learn's models go into files beside the JSON, in formats that execute nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd
import skops.io
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from mamofair.descent import Fixed, MinNorm, PublishedFrankWolfe
from mamofair.estimators._numbers import Scaling
from mamofair.groups import Groups
from mamofair.networks import MLP
from mamofair.notions import Cell, Notion, Rate
from mamofair.objectives import CrossEntropy, SquaredError
from mamofair.relaxations import ConvexConcave, Hard, Linear, Published, Sigmoid, Tanh
from mamofair.selection import ClosestToIdeal, Knee, MostAccurateWithin, Weighted
from mamofair.training import Member

# Their names and those of their fields are part of the file format.
_OURS: tuple[Any, ...] = (
    *(Fixed, MinNorm, PublishedFrankWolfe, Member, MLP, CrossEntropy, SquaredError, Notion, Rate),
    *(ConvexConcave, Hard, Linear, Published, Sigmoid, Tanh),
    *(ClosestToIdeal, Knee, MostAccurateWithin, Weighted),
    *(Groups, Scaling),
)
_TYPES = {own.__name__: own for own in _OURS}

# What models may hold beyond skops' own list of numpy's and scikit-learn's harmless types.
_ALLOWED = frozenset({"numpy.dtype", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"})


@dataclass(frozen=True, eq=False)
class Store:
    """What stands beside the JSON: tensors by name, and the content of other files."""

    tensors: dict[str, Tensor] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def put(self, at: str, tensor: Tensor) -> str:
        """Keep a copy of a tensor, and return its name."""
        self.tensors[at] = tensor.detach().cpu().contiguous().clone()
        return at

    def file(self, content: bytes, suffix: str) -> str:
        """Keep the content of a file, and return its name."""
        name = f"model_{len(self.files):03}.{suffix}"
        self.files[name] = content
        return name


@singledispatch
def to_plain(value: Any, at: str, store: Store) -> Any:
    """Return a value as JSON; refuse, by name, what is on no list. `at` is where it stands: the name of tensors."""
    kind = type(value)
    if _TYPES.get(kind.__name__) is kind:
        parts = {part.name: getattr(value, part.name) for part in fields(value) if part.init}
        return {"is": kind.__name__, "of": _each(parts, at, store)}
    if kind.__module__.startswith("lightgbm.") and kind.__name__ == "Booster":
        return {"booster": store.file(value.model_to_string(num_iteration=-1).encode(), "txt")}
    raise ValueError(
        f"A run can hold plain values, arrays and mamofair's own values: found {kind.__module__}.{kind.__qualname__} "
        f"in {at}. Give one of those instead."
    )


def _each(parts: Mapping[str, Any], at: str, store: Store) -> dict[str, Any]:
    return {name: to_plain(part, f"{at}/{name}", store) for name, part in parts.items()}


@to_plain.register(type(None))
@to_plain.register(bool)
@to_plain.register(int)
def _(value: Any, at: str, store: Store) -> Any:
    return value


@to_plain.register
def _(value: str, at: str, store: Store) -> str:
    return str(value)


@to_plain.register
def _(value: float, at: str, store: Store) -> Any:
    return float(value) if np.isfinite(value) else {"float": repr(float(value))}


@to_plain.register
def _(value: np.generic, at: str, store: Store) -> Any:
    return to_plain(value.item(), at, store)


@to_plain.register
def _(value: list, at: str, store: Store) -> Any:  # type: ignore[type-arg]  # singledispatch knows no others
    return [to_plain(part, f"{at}/{i:03}", store) for i, part in enumerate(value)]


@to_plain.register
def _(value: tuple, at: str, store: Store) -> Any:  # type: ignore[type-arg]
    return {"tuple": to_plain(list(value), at, store)}


@to_plain.register
def _(value: dict, at: str, store: Store) -> Any:  # type: ignore[type-arg]
    if all(isinstance(name, str) for name in value):
        return {"dict": _each(value, at, store)}
    return {"pairs": [to_plain(list(pair), f"{at}/{i:03}", store) for i, pair in enumerate(value.items())]}


@to_plain.register
def _(value: np.ndarray, at: str, store: Store) -> Any:
    if value.dtype.kind in "biuf":
        return {"array": store.put(at, torch.from_numpy(np.ascontiguousarray(value)))}
    if value.dtype.kind not in "OU" or value.ndim != 1:
        raise ValueError(f"A run can hold arrays of numbers and lists of texts: found {value.dtype} in {at}.")
    return {"texts": to_plain(value.tolist(), at, store), "dtype": value.dtype.str}


@to_plain.register
def _(value: pd.Index, at: str, store: Store) -> Any:
    return {"index": to_plain(value.tolist(), at, store), "dtype": str(value.dtype)}


@to_plain.register
def _(value: Tensor, at: str, store: Store) -> Any:
    return {"tensor": store.put(at, value)}


@to_plain.register
def _(value: Cell, at: str, store: Store) -> Any:
    return {"cells": value.value}


@to_plain.register
def _(value: BaseEstimator, at: str, store: Store) -> Any:
    content = skops.io.dumps(value)
    _model(content, at)  # what could not be read back is not written
    return {"model": store.file(content, "skops")}


def from_plain(document: Any, store: Store) -> Any:
    """Return the value that `to_plain` has written; a `ValueError` for anything it would not have written."""
    if isinstance(document, list):
        return [from_plain(part, store) for part in document]
    if not isinstance(document, dict):
        return document
    reader = _READERS.get(next(iter(document), ""))
    if reader is None:
        raise ValueError(f"A run holds a value that mamofair does not write: {str(document)[:80]}. Make the run again.")
    return reader(document, store)


def _booster(document: Any, store: Store) -> Any:
    from lightgbm import Booster

    return Booster(model_str=store.files[document["booster"]].decode(), params={"verbosity": -1})


def _model(content: bytes, label: str) -> Any:
    foreign = set(skops.io.get_untrusted_types(data=content)) - _ALLOWED
    if foreign:
        raise ValueError(
            f"{label} must hold nothing but scikit-learn's own parts: found {', '.join(sorted(foreign))}. "
            "Do not use it unless you know who made it."
        )
    return skops.io.loads(content, trusted=sorted(_ALLOWED))


def _of_ours(document: Any, store: Store) -> Any:
    name = document["is"]
    if name not in _TYPES:
        raise ValueError(f"A run may hold {', '.join(sorted(_TYPES))}: found {name}. Make the run again.")
    return _TYPES[name](**{key: from_plain(part, store) for key, part in document["of"].items()})


def _texts(document: Any, store: Store) -> np.ndarray:
    values = from_plain(document["texts"], store)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.astype(np.dtype(document["dtype"]))


_READERS: dict[str, Callable[[Any, Store], Any]] = {
    "float": lambda document, store: float(document["float"]),
    "tuple": lambda document, store: tuple(from_plain(document["tuple"], store)),
    "dict": lambda document, store: {name: from_plain(part, store) for name, part in document["dict"].items()},
    "pairs": lambda document, store: {pair[0]: pair[1] for pair in from_plain(document["pairs"], store)},
    "array": lambda document, store: store.tensors[document["array"]].numpy(),
    "texts": _texts,
    "index": lambda document, store: pd.Index(from_plain(document["index"], store), dtype=document["dtype"]),
    "tensor": lambda document, store: store.tensors[document["tensor"]],
    "cells": lambda document, store: Cell(document["cells"]),
    "booster": _booster,
    "model": lambda document, store: _model(store.files[document["model"]], document["model"]),
    "is": _of_ours,
}
