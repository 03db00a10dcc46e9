"""Values as JSON, and back: plain values, arrays, and our exported frozen dataclasses; nothing else.

Tensors, boosters and scikit-learn's models go into files beside the JSON, in formats that execute nothing.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from mamofair import descent, objectives, relaxations, selection
from mamofair._rows.groups import Groups
from mamofair._torch import Tensor, torch
from mamofair.descent import Member
from mamofair.learners.categories import Categories
from mamofair.learners.loaded_booster import LoadedBooster
from mamofair.learners.numbers import Scaling
from mamofair.learners.piecewise import Piecewise
from mamofair.learners.plugin.classifiers import Model
from mamofair.learners.plugin.multipliers import Contrasts
from mamofair.learners.plugin.posterior_model import PosteriorModel
from mamofair.learners.plugin.stack import Stack
from mamofair.learners.plugin.table_models import LinearModel, TreesModel
from mamofair.learners.plugin.thresholds import Strata
from mamofair.notions import Cell, Notion, Rate
from mamofair.performance import Cost
from mamofair.runs._boosters import from_arrays, to_arrays
from mamofair.runs._objectives import NamedFunction
from mamofair.runs._weightings import NamedWeighting
from mamofair.tables.skops_files import read_parts, write_parts

_VOCABULARY = (descent, objectives, relaxations, selection)  # their exports can be saved
_ROWS = ("Batch",)  # exports of `objectives` for custom loops, which are not part of a model
_STATE = (
    Member,
    Notion,
    Rate,
    Cost,
    Groups,
    Scaling,
    Categories,
    Contrasts,
    Strata,
    PosteriorModel,
    Model,
    Stack,
    TreesModel,
    LinearModel,
    Piecewise,
    NamedWeighting,
    NamedFunction,
)

# Types that models may hold beyond skops' own list: scikit-learn's trees, and their checks of non-categorical columns.
_ALLOWED = frozenset(
    {"numpy.dtype", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor", "sklearn.tree._tree.Tree"}
    | {"functools.partial", "sklearn.utils.validation.check_array"}
)
_WHAT = "a model"

# Types of an index, and of text up to a length; wider ones could take any amount of memory.
_INDEX = re.compile(r"object|str|bool|u?int(8|16|32|64)|float(32|64)|string|boolean")
_TEXTS = re.compile(r"\|O|[<>]U(\d{1,4})")
# Former names of fields, for older runs.
_RENAMED = {"MostAccurateWithin": {"eps": "limit", "bound": "method"}}
_COLUMNS = 2 * 10**7  # of all boosters together: LightGBM stores a name for each


def _types() -> dict[str, type]:
    """Return our frozen dataclasses by name; the names, and those of their fields, are part of the file format."""
    exported = [getattr(module, name) for module in _VOCABULARY for name in module.__all__ if name not in _ROWS]
    return {kind.__name__: kind for kind in (*exported, *_STATE) if isinstance(kind, type) and is_dataclass(kind)}


def _type(name: Any) -> type | None:
    """Return our dataclass of a name, if there is one."""
    return _mlp() if name == "MLP" else _types().get(name)


def _mlp() -> type:
    """Return the only one of our dataclasses that needs torch."""
    from mamofair._descent.networks import MLP

    return MLP


def is_mlp(network: Any) -> bool:
    """Whether a network is made by our own recipe."""
    return isinstance(network, _mlp())


@dataclass(frozen=True, eq=False)
class Store:
    """Content that is stored beside the JSON: tensors by name, and other files."""

    tensors: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    columns: list[int] = field(default_factory=list)  # of the boosters that were read

    def put(self, at: str, tensor: Any) -> str:
        """Keep an array or a tensor, and return its name."""
        self.tensors[at] = tensor
        return at

    def file(self, content: bytes, suffix: str) -> str:
        """Keep the content of a file, and return its name."""
        name = f"model_{len(self.files):03}.{suffix}"
        self.files[name] = content
        return name


@singledispatch
def to_plain(value: Any, at: str, store: Store) -> Any:
    """Return a value as JSON; an error names unsupported types. `at` is its path, which names tensors."""
    kind = type(value)
    if isinstance(value, Tensor):
        return {"tensor": store.put(at, value.detach().cpu().contiguous().clone())}
    if _type(kind.__name__) is kind:
        parts = {part.name: getattr(value, part.name) for part in fields(value) if part.init}
        return {"is": kind.__name__, "of": _each(parts, at, store)}
    if kind is LoadedBooster or (kind.__module__.startswith("lightgbm.") and kind.__name__ == "Booster"):
        return {"booster": _each(to_arrays(value), at, store)}
    raise ValueError(
        f"A run can hold plain values, arrays and mamofair's own values: found {kind.__module__}.{kind.__qualname__} "
        f"in {at}. Give one of those instead."
    )


def _each(parts: Mapping[str, Any], at: str, store: Store) -> dict[str, Any]:
    return {name: to_plain(part, f"{at}/{name}", store) for name, part in parts.items()}


@to_plain.register
def _(value: type, at: str, store: Store) -> Any:
    if not (issubclass(value, torch.optim.Optimizer) and getattr(torch.optim, value.__name__, None) is value):
        raise ValueError(f"A run can hold optimizers of torch.optim: found {value.__qualname__[:80]} in {at}.")
    return {"optimizer": value.__name__}


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
        return {"array": store.put(at, np.ascontiguousarray(value).copy())}
    if value.dtype.kind not in "OU" or value.ndim != 1:
        raise ValueError(f"A run can hold arrays of numbers and lists of texts: found {value.dtype} in {at}.")
    narrow = value if _TEXTS.fullmatch(value.dtype.str) else np.array(value.tolist(), dtype=object)
    return {"texts": to_plain(value.tolist(), at, store), "dtype": narrow.dtype.str}


@to_plain.register
def _(value: pd.Index, at: str, store: Store) -> Any:
    if not _INDEX.fullmatch(str(value.dtype)):
        raise ValueError(f"A run can hold categories that are texts or numbers: found {value.dtype} in {at}.")
    return {"index": to_plain(value.tolist(), at, store), "dtype": str(value.dtype)}


@to_plain.register
def _(value: Cell, at: str, store: Store) -> Any:
    return {"cells": value.value}


@to_plain.register
def _(value: BaseEstimator, at: str, store: Store) -> Any:
    return {"model": store.file(write_parts(value, at, _WHAT, _ALLOWED), "skops")}


def from_plain(document: Any, store: Store) -> Any:
    """Return the value that `to_plain` wrote; a `ValueError` for anything else."""
    if isinstance(document, list):
        return [from_plain(part, store) for part in document]
    if not isinstance(document, dict):
        return document
    reader = READERS.get(next(iter(document), ""))
    if reader is None:
        raise ValueError(f"A run holds a value that mamofair does not write: {str(document)[:80]}. Make the run again.")
    return reader(document, store)


def _booster(document: Any, store: Store) -> Any:
    arrays = {name: from_plain(part, store) for name, part in document["booster"].items()}
    features = arrays.pop("features")
    store.columns.append(features)
    if sum(store.columns) > _COLUMNS:
        raise ValueError(f"A run's boosters may have {_COLUMNS:,} columns together: found more. Do not use it.")
    return from_arrays(features, arrays)


def _optimizer(document: Any, store: Store) -> Any:
    optimizer = getattr(torch.optim, str(document["optimizer"]), None)
    if not (isinstance(optimizer, type) and issubclass(optimizer, torch.optim.Optimizer)):
        raise ValueError(f"A run may name optimizers of torch.optim: found {str(document['optimizer'])[:80]!r}.")
    return optimizer


def _of_ours(document: Any, store: Store) -> Any:
    name = document["is"]
    kind = _type(name)
    if kind is None:
        known = ", ".join(sorted(_types()))[:300]
        raise ValueError(f"A run may hold {known}: found {str(name)[:80]}. Update mamofair.")
    parts = {_RENAMED.get(name, {}).get(key, key): from_plain(part, store) for key, part in document["of"].items()}
    return kind(**parts)


def _texts(document: Any, store: Store) -> np.ndarray:
    values = from_plain(document["texts"], store)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.astype(np.dtype(_known(_TEXTS, document["dtype"])))


def _index(document: Any, store: Store) -> Any:
    return pd.Index(from_plain(document["index"], store), dtype=_known(_INDEX, document["dtype"]))


def _known(kinds: re.Pattern[str], dtype: str) -> str:
    if not kinds.fullmatch(dtype):
        raise ValueError(f"A run can hold texts and numbers: found the dtype {dtype[:40]!r}. Make the run again.")
    return dtype


READERS: dict[str, Callable[[Any, Store], Any]] = {
    "float": lambda document, store: float(document["float"]),
    "tuple": lambda document, store: tuple(from_plain(document["tuple"], store)),
    "dict": lambda document, store: {name: from_plain(part, store) for name, part in document["dict"].items()},
    "pairs": lambda document, store: {pair[0]: pair[1] for pair in from_plain(document["pairs"], store)},
    "array": lambda document, store: np.asarray(store.tensors[document["array"]]),
    "texts": _texts,
    "index": _index,
    "tensor": lambda document, store: torch.as_tensor(store.tensors[document["tensor"]]),
    "cells": lambda document, store: Cell(document["cells"]),
    "booster": _booster,
    "model": lambda document, store: read_parts(store.files[document["model"]], document["model"], _WHAT, _ALLOWED),
    "optimizer": _optimizer,
    "is": _of_ours,
}
