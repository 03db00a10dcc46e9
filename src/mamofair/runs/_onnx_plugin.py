"""A plug-in rule as ONNX nodes: the models of labels and groups, their stack, and the price of each gap."""

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from mamofair.learners import PlugInLearner
from mamofair.learners.piecewise import Piecewise
from mamofair.learners.plugin.classifiers import Model
from mamofair.learners.plugin.evidence import State
from mamofair.learners.plugin.multipliers import Contrasts, Posterior
from mamofair.learners.plugin.stack import LEAST, Stack
from mamofair.learners.plugin.table_models import LinearModel, TreesModel
from mamofair.runs._onnx_graph import Graph
from mamofair.runs._onnx_trees import add_trees

__all__ = ["plugin_logit"]

_SURE = 1 - 1e-9  # as in `PlugInLearner.scores`


def plugin_logit(graph: Graph, learner: PlugInLearner, state: State, x: str) -> str:
    """Add the models and the rule of a point, and return its logits, of shape (rows, 1)."""
    if learner.aware:
        raise ValueError("A model that needs the groups to predict cannot be exported: train with aware=False.")
    posterior, contrasts = learner.posterior, learner.contrasts
    assert posterior is not None
    assert contrasts is not None
    probabilities = {
        key: _stacked(graph, [_probabilities(graph, model, x) for model in models], posterior.stacks.get(key))
        for key, models in posterior.models.items()
    }
    labels = probabilities.pop(("", None))  # P(y=0 | x) and P(y=1 | x), side by side
    prices = _prices(contrasts, state["multipliers"])
    mistakes = np.array([-contrasts.mistakes[0], contrasts.mistakes[1]])
    score = _sum(graph, graph.node("Mul", labels, graph.constant(mistakes)))
    score = graph.node("Sub", score, graph.constant(state["multipliers"][-1:]))
    for (name, y), groups in probabilities.items():
        price = prices[name] if y is None else prices[name] * (np.arange(2) == y)
        paid = graph.node("Mul", graph.node("MatMul", groups, graph.constant(price)), labels)
        score = graph.node("Sub", score, _sum(graph, paid))
    stakes = _sum(graph, graph.node("Mul", labels, graph.constant(np.abs(mistakes))))
    return _log_odds(graph, graph.node("Div", score, stakes))


def _prices(contrasts: Contrasts, multipliers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the price of P(a, y | x) for each group and label of each attribute; the rule is linear in these."""
    names = list(dict.fromkeys(name for _, name in contrasts.criteria))
    sizes = {name: len(contrasts.shares[name]) for name in names}
    prices = {}
    for name in names:
        count = 2 * sizes[name]
        joint = {other: np.zeros((count, sizes[other], 2)) for other in names}
        joint[name] = np.eye(count).reshape(count, sizes[name], 2)
        terms = contrasts.terms(Posterior(np.zeros(count), joint))
        prices[name] = (terms @ multipliers[:-1]).reshape(sizes[name], 2)
    return prices


def _stacked(graph: Graph, given: list[str], stack: Stack | None) -> str:
    """Return the probabilities of all models of a target together."""
    if stack is None:
        return given[0]
    score = graph.constant(stack.bias)
    for weight, one in zip(stack.weights, given, strict=True):
        log = graph.node("Log", graph.node("Max", one, graph.constant(np.array([LEAST]))))
        score = graph.node("Add", score, graph.node("Mul", log, graph.constant(np.array([weight]))))
    return graph.node("Softmax", score, axis=1)


def _probabilities(graph: Graph, model: Model, x: str) -> str:
    """Add a model, and return the probability of each class of its target, 0 for one that it has not seen."""
    classifier, columns = model.classifier, [str(label) for label in model.classes]
    if isinstance(classifier, DummyClassifier):
        given = graph.constant(classifier.predict_proba(np.zeros((1, 1))))
    elif isinstance(classifier, TreesModel):
        given = _of_trees(graph, classifier, x)
    elif isinstance(classifier, LinearModel):
        given = _of_linear(graph, classifier, x)
    else:
        raise ValueError(
            f"Only our own models can be exported: found {type(classifier).__name__}. Leave `estimator` and "
            "`group_estimator` out, or export it with its own tools."
        )
    known = [str(label) for label in classifier.classes_.tolist()]
    if known == columns:
        return given
    places = np.array([[float(label == column) for column in columns] for label in known])
    return graph.node("MatMul", given, graph.constant(places))


def _of_trees(graph: Graph, trees: TreesModel, x: str) -> str:
    scores = [graph.node("Sigmoid", add_trees(graph, booster, x)) for booster in trees.boosters]
    if len(scores) == 1:
        return graph.node("Concat", graph.node("Sub", graph.constant(np.ones(1)), scores[0]), scores[0], axis=1)
    side_by_side = graph.node("Concat", *scores, axis=1)
    return graph.node("Div", side_by_side, _sum(graph, side_by_side))


def _of_linear(graph: Graph, linear: LinearModel, x: str) -> str:
    weights = graph.constant(linear.coef), graph.constant(linear.intercept)
    score = graph.node("Gemm", _piecewise(graph, linear.encoding, x), *weights, transB=1)
    if len(linear.classes_) > 2:
        return graph.node("Softmax", score, axis=1)
    unfavorable = graph.node("Sigmoid", graph.node("Neg", score))
    return graph.node("Concat", unfavorable, graph.node("Sigmoid", score), axis=1)


def _piecewise(graph: Graph, encoding: Piecewise, x: str) -> str:
    """Add the transformation of `Piecewise`."""
    columns, ends = [], np.cumsum(encoding.sizes, axis=0)
    double = graph.helper.np_dtype_to_tensor_dtype(np.dtype(float))
    for i, ((numbers, categories), (knot, code)) in enumerate(zip(encoding.sizes, ends, strict=True)):
        column = graph.node("Gather", x, graph.constant(np.array([i])), axis=1)
        if numbers:
            at, missing = encoding.knots[knot - numbers : knot], graph.node("IsNaN", column)
            if numbers > 1:
                steps: Any = graph.node("Sub", column, graph.constant(at[:-1]))
                steps = graph.node("Div", steps, graph.constant(np.diff(at)))
                steps = graph.node(
                    "Min", graph.node("Max", steps, graph.constant(np.zeros(1))), graph.constant(np.ones(1))
                )
                columns.append(graph.node("Where", missing, graph.constant(np.zeros(1)), steps))
            columns.append(graph.node("Cast", missing, to=double))
        elif categories:
            hit = graph.node("Equal", column, graph.constant(encoding.codes[code - categories : code]))
            columns.append(graph.node("Cast", hit, to=double))
    return graph.node("Concat", *columns, axis=1)


def _log_odds(graph: Graph, moved: str) -> str:
    """Return twice the inverse hyperbolic tangent, which ONNX has for floats only: log((1 + x) / (1 − x))."""
    moved = graph.node("Max", moved, graph.constant(np.array([-_SURE])))
    moved = graph.node("Min", moved, graph.constant(np.array([_SURE])))
    one = graph.constant(np.ones(1))
    return graph.node("Log", graph.node("Div", graph.node("Add", one, moved), graph.node("Sub", one, moved)))


def _sum(graph: Graph, x: str) -> str:
    return graph.node("ReduceSum", x, graph.constant(np.array([1])), keepdims=1)
