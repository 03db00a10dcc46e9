"""A network as an ONNX model: the encoder, the scaling, the layers and the decision in one graph, in double precision.

The graph is written by hand: it is short, and so needs no exporter whose tracing would have to be trusted.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mamofair.estimators import FairClassifier
from mamofair.estimators.state import layers
from mamofair.tables import TableEncoder

_OPSET, _ML_OPSET, _IR = 17, 3, 8


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
        """Add an input with a row per person."""
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, ["rows", columns]))
        return name


def to_onnx(estimator: FairClassifier) -> bytes:
    """Return an ONNX model of the selected point.

    With an encoder, its inputs are the columns of a table, each of shape (rows, 1): numbers as double, NaN where
    missing, and text, empty where missing. Without, it is the matrix `X`. Its outputs are `prediction`, `score` (that
    of the favorable label, from 0 to 1) and `logit`.
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise ImportError('ONNX needs onnx, which is not installed. Run pip install "mamofair[onnx]".') from None
    scaling, parts = layers(estimator)
    graph = Graph(helper)
    if estimator.encoder_ is None:
        x = graph.input("X", TensorProto.DOUBLE, int(estimator.n_features_in_))
    else:
        x = _encode(graph, estimator.encoder_, TensorProto)
    if scaling is not None:
        x = x if scaling.columns is None else graph.node("Gather", x, graph.constant(scaling.columns), axis=1)
        x = graph.node("Sub", x, graph.constant(scaling.center))
        x = graph.node("Div", x, graph.constant(scaling.scale))
    if scaling is not None and scaling.ends is not None:
        x = graph.node("Max", x, graph.constant(scaling.ends[0]))
        x = graph.node("Min", x, graph.constant(scaling.ends[1]))
    for i, (weight, bias) in enumerate(parts):
        x = graph.node("Relu", x) if i else x
        x = graph.node("Gemm", x, graph.constant(weight), graph.constant(bias), transB=1)
    logit = graph.node("Squeeze", x, graph.constant(np.array([1])), name="logit")
    graph.node("Sigmoid", logit, name="score")
    favorably = graph.node("Greater", logit, graph.constant(np.array([0.0])))
    labels = [graph.constant(_label(estimator.classes_[i : i + 1])) for i in estimator.search_.task.places]
    graph.node("Where", favorably, *labels, name="prediction")
    kind = TensorProto.STRING if estimator.classes_.dtype.kind in "UO" else TensorProto.INT64
    kinds = {"prediction": kind, "score": TensorProto.DOUBLE, "logit": TensorProto.DOUBLE}
    outputs = [helper.make_tensor_value_info(name, kind, ["rows"]) for name, kind in kinds.items()]
    made = helper.make_graph(graph.nodes, "mamofair", graph.inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=_IR, producer_name="mamofair")
    helper.set_model_props(model, {"favorable": str(estimator.favorable_), "point": str(estimator.selected_)})
    checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def _label(label: np.ndarray) -> np.ndarray:
    return label.astype(str) if label.dtype.kind in "UO" else label.astype(np.int64)


def _encode(graph: Graph, encoder: TableEncoder, kinds: Any) -> str:
    """Add the encoder, and return the matrix; inputs are in the order of the columns that it was fitted to."""
    inputs = {
        name: graph.input(name, kinds.STRING if name in encoder.categories_ else kinds.DOUBLE, 1)
        for name in encoder.feature_names_in_
    }
    numbers, texts = ([name for name in inputs if name in own] for own in (encoder.fill_values_, encoder.categories_))
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
            f"ONNX has no missing text, so that empty text must stand for it: found both in {name!r}. Write one "
            "of them otherwise, and train again."
        )
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
