"""A point of a front as an ONNX model: encoder, network or trees, and decision rule in one graph, in doubles."""

from typing import Any

import numpy as np

from mamofair._messages import quote
from mamofair.estimators import FairClassifier, FairPortfolioClassifier
from mamofair.estimators.layers import layers
from mamofair.fronts import Point
from mamofair.learners import BoostingLearner, Learner, PlugInLearner
from mamofair.learners.categories import Categories
from mamofair.runs._onnx_graph import Graph, encode, encode_categories
from mamofair.runs._onnx_plugin import plugin_logit
from mamofair.runs._onnx_trees import add_trees

_OPSET, _ML_OPSET, _IR = 17, 5, 10
_OUTPUTS = ("prediction", "score", "logit")


def to_onnx(estimator: FairClassifier) -> bytes:
    """Return an ONNX model of the selected point.

    With an encoder, or with columns of text, its inputs are the columns of a table, each of shape (rows, 1): numbers as
    double, NaN where missing, and text, empty where missing. Without, it is the matrix `X`. Its outputs are
    `prediction`, `score` (that of the favorable label, from 0 to 1) and `logit`. A `ValueError` says what cannot be
    exported: the user's own networks and models, and rules that need the groups.
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise ImportError('ONNX needs onnx, which is not installed. Run pip install "mamofair[onnx]".') from None
    graph, point = Graph(helper), estimator.front_.points[estimator.selected_]
    chosen = estimator.estimators_[point.model] if isinstance(estimator, FairPortfolioClassifier) else estimator
    x = _inputs(graph, estimator, chosen, TensorProto)
    if reserved := [given.name for given in graph.inputs if given.name in _OUTPUTS]:
        raise ValueError(
            f"An ONNX model has the outputs {', '.join(_OUTPUTS)}, so no column may have such a name: found "
            f"{quote(reserved[0])}. Rename it, and train again."
        )
    logit = graph.node("Squeeze", _logit(graph, chosen, point, x), graph.constant(np.array([1])), name="logit")
    graph.node("Sigmoid", logit, name="score")
    favorably = graph.node("Greater", logit, graph.constant(np.array([0.0])))
    labels = [graph.constant(_label(estimator.classes_[i : i + 1])) for i in estimator.search_.task.places]
    graph.node("Where", favorably, *labels, name="prediction")
    kind = TensorProto.STRING if estimator.classes_.dtype.kind in "UO" else TensorProto.INT64
    kinds = (kind, TensorProto.DOUBLE, TensorProto.DOUBLE)
    outputs = [helper.make_tensor_value_info(name, kind, ["rows"]) for name, kind in zip(_OUTPUTS, kinds, strict=True)]
    made = helper.make_graph(graph.nodes, "mamofair", graph.inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=_IR, producer_name="mamofair")
    helper.set_model_props(model, {"favorable": str(estimator.favorable_), "point": str(estimator.selected_)})
    checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def _inputs(graph: Graph, estimator: FairClassifier, chosen: FairClassifier, kinds: Any) -> str:
    """Add the inputs and the encoder, and return the matrix that the model takes."""
    categories = _categories(chosen.search_.learner)
    if estimator.encoder_ is not None and estimator.encoder_.strategy != "none":
        return encode(graph, estimator.encoder_, kinds)
    if estimator.encoder_ is None and not categories.values:
        return graph.input("X", kinds.DOUBLE, int(chosen.n_features_in_))
    return encode_categories(graph, list(chosen.feature_names_in_), categories.values, kinds)


def _categories(learner: Learner) -> Categories:
    return learner.categories if isinstance(learner, PlugInLearner | BoostingLearner) else Categories({}, [])


def _logit(graph: Graph, chosen: FairClassifier, point: Point, x: str) -> str:
    """Add the model of a point, and return its logits, of shape (rows, 1)."""
    learner = chosen.search_.learner
    if isinstance(learner, PlugInLearner):
        return plugin_logit(graph, learner, point.state, x)
    if isinstance(learner, BoostingLearner):
        member, trees, *moved = point.state
        score = add_trees(graph, learner.boosters[member], x, trees)
        return graph.node("Add", score, graph.constant(np.array([moved[0]]))) if moved else score
    return _network(graph, chosen, point, x)


def _network(graph: Graph, chosen: FairClassifier, point: Point, x: str) -> str:
    scaling, parts = layers(chosen, point)
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
    return x


def _label(label: np.ndarray) -> np.ndarray:
    return label.astype(str) if label.dtype.kind in "UO" else label.astype(np.int64)
