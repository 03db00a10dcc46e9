"""The parts of an ONNX model, written by hand: it is short, and avoids trusting an exporter's tracing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mamofair._messages import quote, warn_user
from mamofair.tables import TableEncoder

__all__ = ["Graph", "encode", "encode_categories"]


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes, constants and inputs, as they are added."""

    helper: Any
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)

    def node(self, kind: str, *sources: str, domain: str = "", name: str | None = None, **attributes: Any) -> str:
        """Add an operation and return the name of its result."""
        result = name or f"{kind}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(sources), [result], domain=domain, **attributes))
        return result

    def constant(self, values: Any) -> str:
        """Add an array and return its name."""
        array = np.asarray(values)
        name = f"constant_{len(self.constants)}"
        kind = self.helper.np_dtype_to_tensor_dtype(array.dtype if array.dtype.kind != "U" else np.dtype(object))
        flat = [text.encode() for text in array.ravel().tolist()] if array.dtype.kind == "U" else array.ravel()
        self.constants.append(self.helper.make_tensor(name, kind, array.shape, flat))
        return name

    def input(self, name: str, kind: int, columns: int) -> str:
        """Add an input with one value per row."""
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, ["rows", columns]))
        return name


def encode(graph: Graph, encoder: TableEncoder, kinds: Any) -> str:
    """Add the encoder, and return the matrix; inputs are in the order of the columns that it was fitted to."""
    inputs = {
        name: graph.input(name, kinds.STRING if name in encoder.categories_ else kinds.DOUBLE, 1)
        for name in encoder.feature_names_in_
    }
    numbers, texts = ([name for name in inputs if name in kind] for kind in (encoder.fill_values_, encoder.categories_))
    missing = {name: graph.node("IsNaN", name) for name in numbers}
    fills = {name: graph.constant(np.array([encoder.fill_values_[name]])) for name in numbers}
    columns = [graph.node("Where", missing[name], fills[name], name) for name in numbers]
    columns += [graph.node("Cast", missing[name], to=kinds.DOUBLE) for name in encoder.indicators_]
    columns += [_text(graph, encoder.categories_[n], encoder.infrequent_categories_[n], n) for n in texts]
    return graph.node("Concat", *columns, axis=1)


def _text(graph: Graph, frequent: list[str], infrequent: list[str], name: str) -> str:
    """Add a text's place among the columns of 0/1; an unknown value goes where infrequent values go, or nowhere."""
    width, elsewhere = len(frequent) + bool(infrequent), len(frequent) if infrequent else -1
    places = {value: i for i, value in enumerate(frequent)} | dict.fromkeys(infrequent, elsewhere)
    if "" in places and "(missing)" in places:
        raise ValueError(
            f"ONNX has no missing text, so empty text stands for it: found both in {name!r}. Write one "
            "of them differently, and train again."
        )
    _warn_of_nul(name, places)
    spelled = {"": places.get("(missing)", elsewhere)} | places
    place = graph.node(
        *("LabelEncoder", name),
        domain="ai.onnx.ml",
        keys_strings=list(spelled),
        values_int64s=list(spelled.values()),
        default_int64=elsewhere,
    )
    hit = graph.node("Equal", place, graph.constant(np.arange(width)))  # (rows, 1) against (width,)
    return graph.node("Cast", hit, to=graph.helper.np_dtype_to_tensor_dtype(np.dtype(float)))


def encode_categories(graph: Graph, names: list[str], categories: Mapping[str, Any], kinds: Any) -> str:
    """Add columns without encoding, and return the matrix: numbers, and codes of text, NaN if missing or new."""
    columns = []
    for name in names:
        values = [str(value) for value in categories.get(name, ())]
        column = graph.input(name, kinds.STRING if name in categories else kinds.DOUBLE, 1)
        if "" in values:
            raise ValueError(
                f"ONNX has no missing text, so empty text stands for it: found empty text in {name!r}. Write "
                "it differently, and train again."
            )
        _warn_of_nul(name, values)
        columns.append(_codes(graph, column, values, kinds) if name in categories else column)
    return graph.node("Concat", *columns, axis=1)


def _warn_of_nul(name: str, values: Iterable[str]) -> None:
    """Warn of text that onnxruntime cuts short if it comes in numpy's arrays of str, which may make two values one."""
    if found := next((value for value in values if "\0" in value), None):
        warn_user(
            f"Text in {quote(name)} has a NUL character, such as {quote(found)}: pass it to the ONNX model in arrays "
            "of objects, `.astype(object)`. In numpy's arrays of str it ends there, and another decision may follow."
        )


def _codes(graph: Graph, column: str, values: list[str], kinds: Any) -> str:
    place = graph.node(
        *("LabelEncoder", column),
        domain="ai.onnx.ml",
        keys_strings=values,
        values_int64s=list(range(len(values))),
        default_int64=-1,
    )
    unknown = graph.node("Less", place, graph.constant(np.array([0])))
    return graph.node("Where", unknown, graph.constant(np.array([np.nan])), graph.node("Cast", place, to=kinds.DOUBLE))
