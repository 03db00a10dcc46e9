"""Whether fitted parts of scikit-learn are sound.

Compiled code trusts what fitted parts hold: a tree with a wrong child reads memory that is not its own, or never ends.
So every part is checked before it predicts, and a type without a check is refused by name.
"""

from collections.abc import Iterable
from functools import partial, singledispatch
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

__all__ = ["require_sound"]

_PLAIN = (type(None), bool, int, float, str, bytes, slice, type, np.generic, np.dtype, np.ufunc)
_RANDOM = (np.random.RandomState, np.random.Generator, np.random.BitGenerator)
_CONTAINERS = (list, tuple, set, frozenset)

#: Parts of scikit-learn that predict with numpy alone, or with compiled code whose input is checked here.
_MODULES = (
    "_loss.Cy",  # compiled losses, as scikit-learn 1.8 calls them
    *("sklearn._loss", "sklearn.base", "sklearn.calibration", "sklearn.compose", "sklearn.decomposition._pca"),
    *("sklearn.discriminant_analysis", "sklearn.dummy", "sklearn.ensemble", "sklearn.feature_selection"),
    *("sklearn.frozen", "sklearn.impute", "sklearn.linear_model", "sklearn.model_selection", "sklearn.multiclass"),
    *("sklearn.naive_bayes", "sklearn.neural_network", "sklearn.pipeline", "sklearn.preprocessing", "sklearn.tree"),
    "sklearn.utils._bunch",
)
_THREADS = 1024
_COLUMN_WISE = (OrdinalEncoder, FunctionTransformer)  # as many columns out as in, whatever the rows are


def require_sound(fitted: Any, label: str, functions: Iterable[str]) -> None:
    """Raise a `ValueError` unless every part is sound and of a known type, or one of the named functions."""
    left, seen = [fitted], {}
    while left:
        part = left.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part  # held, or another part might get its id
        if not (isinstance(part, _KNOWN) or _name(type(part)).startswith(_MODULES) or _name(part) in functions):
            raise ValueError(
                f"{label} must hold parts that can be checked before they predict: found {_name(type(part))}. "
                "Choose a linear model, a tree or an ensemble of trees, for instance."
            )
        if is_fitted(part) and not is_sound(part):
            raise ValueError(f"{label} must be sound: found a broken {type(part).__name__}. Copy it again.")
        left += _inside(part)


def _name(part: Any) -> str:
    return f"{getattr(part, '__module__', '')}.{getattr(part, '__qualname__', '')}"


def _inside(part: Any) -> list[Any]:
    if isinstance(part, dict):
        return [*part.keys(), *part.values()]
    if isinstance(part, _CONTAINERS):
        return list(part)
    if isinstance(part, np.ndarray):
        return list(part.flat) if part.dtype == object else []
    if isinstance(part, partial):
        return [part.func, part.args, part.keywords]
    return list(vars(part).values()) if _name(type(part)).startswith(_MODULES) and hasattr(part, "__dict__") else []


#: The attribute that a fitted part has; without it, the part refuses to predict.
_FITTED: tuple[tuple[type, str], ...] = (
    (BaseDecisionTree, "tree_"),
    (BaseForest, "estimators_"),
    (GradientBoostingClassifier, "estimators_"),
    (HistGradientBoostingClassifier, "_predictors"),
    (OneHotEncoder, "categories_"),
)


def is_fitted(part: Any) -> bool:
    """Whether a part is fitted; pipelines also hold copies of their steps that never were."""
    return all(hasattr(part, name) for kind, name in _FITTED if isinstance(part, kind))


@singledispatch
def is_sound(part: Any) -> bool:
    """Whether a part holds what its compiled code relies on."""
    jobs = getattr(part, "n_jobs", None)
    return jobs is None or (isinstance(jobs, int) and abs(jobs) <= _THREADS)


@is_sound.register
def _(part: np.ndarray) -> bool:
    return not part.size or part.itemsize > 0  # empty texts: any number of them in no bytes


def _are_children(left: np.ndarray, right: np.ndarray, inner: np.ndarray) -> bool:
    """Whether the children of inner nodes come after them, so that every walk ends."""
    places = np.flatnonzero(inner)
    sides = (side[inner].astype(np.int64) for side in (left, right))
    return bool(len(inner)) and all(((side > places) & (side < len(inner))).all() for side in sides)


@is_sound.register
def _(part: Tree) -> bool:
    inner = part.children_left != -1
    feature = part.feature[inner]
    known = (feature >= 0).all() and (feature < part.n_features).all()
    return bool(known and _are_children(part.children_left, part.children_right, inner))


@is_sound.register
def _(part: BaseDecisionTree) -> bool:
    return part.tree_.n_features == part.n_features_in_ and type(part.n_features_in_) is int


@is_sound.register
def _(part: BaseForest) -> bool:
    same = all(tree.tree_.n_features == part.n_features_in_ for tree in part.estimators_)
    return same and is_sound.dispatch(object)(part)


@is_sound.register
def _(part: GradientBoostingClassifier) -> bool:
    trees, columns = part.estimators_, part.n_trees_per_iteration_
    prior = isinstance(part.init_, DummyClassifier) and part.init_.strategy == "prior"
    starts = columns == 1 or (prior and part.init_.class_prior_.shape == (columns,))
    same = all(tree.tree_.n_features == part.n_features_in_ for tree in trees.flat)
    return bool(trees.ndim == 2 and trees.shape[1] == columns and starts and same)


@is_sound.register
def _(part: TreePredictor) -> bool:
    nodes, sets = part.nodes, part.raw_left_cat_bitsets
    if nodes.dtype != PREDICTOR_RECORD_DTYPE or nodes.ndim != 1 or sets.ndim != 2 or sets.dtype != np.uint32:
        return False
    inner = nodes["is_leaf"] == 0
    by_set = nodes["bitset_idx"][inner & (nodes["is_categorical"] != 0)]
    exist = not len(by_set) or (sets.shape[1] == 8 and by_set.max() < len(sets))
    return bool(exist and _are_children(nodes["left"], nodes["right"], inner) and np.isfinite(nodes["value"]).all())


@is_sound.register
def _(part: HistGradientBoostingClassifier) -> bool:
    by_category = np.asarray(part._bin_mapper.is_categorical_, dtype=bool)
    if type(part.n_features_in_) is not int or by_category.shape != (_columns(part),):
        return False
    for tree in (tree for trees in part._predictors for tree in trees):
        if type(tree) is not TreePredictor:
            return False
        inner = tree.nodes[tree.nodes["is_leaf"] == 0]
        if (inner["feature_idx"] < 0).any() or (inner["feature_idx"] >= len(by_category)).any():
            return False
        if (inner["is_categorical"] != 0)[~by_category[inner["feature_idx"]]].any():
            return False
    return len(part._bin_mapper.bin_thresholds_) == len(by_category)


def _columns(part: HistGradientBoostingClassifier) -> int:
    """Return the number of columns that the trees get, after the transformers before them, if any."""
    before = part._preprocessor
    if before is None:
        return int(part.n_features_in_)
    steps = [step for _, step, _ in before.transformers_ if not isinstance(step, str)]
    if type(before) is not ColumnTransformer or not all(type(step) in _COLUMN_WISE for step in steps):
        return -1
    names = getattr(before, "feature_names_in_", None)
    return int(before.transform(pd.DataFrame(np.zeros((1, part.n_features_in_)), columns=names)).shape[1])


@is_sound.register
def _(part: OneHotEncoder) -> bool:
    if part._n_features_outs != part._compute_n_features_outs():
        return False
    drops = part._drop_idx_after_grouping if part._drop_idx_after_grouping is not None else []
    known = [
        drop is None or 0 <= drop < len(categories) for drop, categories in zip(drops, part.categories_, strict=False)
    ]
    if not part._infrequent_enabled:
        return all(known)
    kept = [size + bool(len(drops) and drops[i] is not None) for i, size in enumerate(part._n_features_outs)]
    mappings = zip(part._default_to_infrequent_mappings, part.categories_, kept, strict=True)
    return all(known) and all(
        mapping is None or (mapping.shape == categories.shape and (mapping >= 0).all() and (mapping < most).all())
        for mapping, categories, most in mappings
    )


_KNOWN = (*_PLAIN, *_RANDOM, *_CONTAINERS, dict, np.ndarray, Tree, partial)
