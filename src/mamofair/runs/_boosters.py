"""Boosters as arrays that are checked when they are read.

LightGBM trusts the text of a model: an invalid child index crashes or hangs the process. So a run stores the trees as
arrays of numbers, and LightGBM reads text that is generated here, from arrays that were checked to be trees.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mamofair.learners.loaded_booster import LoadedBooster

#: The arrays of a booster and their types; trees stand one after the other. `leaves` and `categorical` are a tree's
#: numbers of leaves and of splits by categories.
ARRAYS: dict[str, type] = {
    "leaves": np.int64,
    "categorical": np.int64,
    "split_feature": np.int64,
    "threshold": np.float64,
    "decision_type": np.int64,
    "left_child": np.int64,
    "right_child": np.int64,
    "leaf_value": np.float64,
    "cat_boundaries": np.int64,
    "cat_threshold": np.int64,
}
_INNER = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
_CATEGORICAL, _MISSING = 1, 3  # bits of a decision's type: by categories; and, two bits up, what counts as missing


@dataclass(frozen=True, eq=False)
class Tree:
    """The arrays of one tree."""

    arrays: Mapping[str, np.ndarray]

    def is_sound(self, features: int) -> bool:
        """Whether this is a valid tree for this number of features: every prediction ends at a leaf."""
        inner, leaves = len(self.arrays["split_feature"]), len(self.arrays["leaf_value"])
        left, right = self.arrays["left_child"], self.arrays["right_child"]
        # Every leaf, and every node but the root, is a child exactly once, and comes after its parent: no cycles.
        children = np.concatenate([np.arange(-leaves, 0), np.arange(1, inner)]) if inner else left
        once = np.array_equal(np.sort(np.concatenate([left, right])), children)
        after = all(((side < 0) | (side > np.arange(inner))).all() for side in (left, right))
        column, value = self.arrays["split_feature"], self.arrays["leaf_value"]
        known = ((column >= 0) & (column < features)).all() and np.isfinite(value).all()
        return bool(leaves == inner + 1 and once and after and known and self._decides())

    def _decides(self) -> bool:
        """Whether thresholds are numbers, or refer to existing sets of categories."""
        kind, threshold = self.arrays["decision_type"], self.arrays["threshold"]
        bounds, words = self.arrays["cat_boundaries"], self.arrays["cat_threshold"]
        if not ((kind >= 0) & (kind >> 2 < _MISSING) & ~np.isnan(threshold)).all():  # ∞ separates NaN from numbers
            return False
        sets = threshold[kind & _CATEGORICAL == 1]
        if not len(bounds):
            return not len(sets) and not len(words)
        exist = ((sets >= 0) & (sets < len(bounds) - 1) & (sets % 1 == 0)).all()
        ordered = bounds[0] == 0 and (np.diff(bounds) >= 0).all() and bounds[-1] == len(words)
        return bool(exist and ordered and ((words >= 0) & (words < 2**32)).all())

    def text(self, number: int) -> str:
        """Return the tree as LightGBM reads it."""
        leaves, sets = len(self.arrays["leaf_value"]), max(len(self.arrays["cat_boundaries"]) - 1, 0)
        names = [*_INNER, "leaf_value", *(("cat_boundaries", "cat_threshold") if sets else ())]
        lines = (f"{name}={' '.join(map(repr, self.arrays[name].tolist()))}" for name in names)
        head = (f"Tree={number}", f"num_leaves={leaves}", f"num_cat={sets}")
        return "\n".join([*head, *lines, "is_linear=0", "shrinkage=1", "", "", ""])


def to_arrays(booster: Any) -> dict[str, Any]:
    """Return the number of features of a booster, and its trees as arrays."""
    trees = [dict(_fields(block)) for block in _blocks(booster.model_to_string(num_iteration=-1))]
    if any(tree.get("is_linear", "0") != "0" for tree in trees):
        raise ValueError("A run can hold trees with constant leaves: found linear ones. Train without `linear_tree`.")
    texts = {name: " ".join(tree.get(name, "") for tree in trees) for name in ARRAYS}
    texts["leaves"] = " ".join(tree["num_leaves"] for tree in trees)
    texts["categorical"] = " ".join(tree["num_cat"] for tree in trees)
    arrays: dict[str, Any] = {name: np.array(texts[name].split(), dtype=kind) for name, kind in ARRAYS.items()}
    return {"features": booster.num_feature(), **arrays}


def _blocks(text: str) -> list[str]:
    return text.split("\nend of trees\n")[0].split("\nTree=")[1:]


def _fields(block: str) -> Iterator[tuple[str, str]]:
    for line in block.splitlines()[1:]:
        name, separator, value = line.partition("=")
        if separator:
            yield name, value


def from_arrays(features: Any, arrays: Mapping[str, np.ndarray]) -> LoadedBooster:
    """Return the booster of these arrays; a `ValueError` if they are not valid trees."""
    trees = list(_trees(arrays)) if _are_typed(arrays) else []
    if not trees or type(features) is not int or not all(tree.is_sound(features) for tree in trees):
        raise ValueError("A run's booster must hold trees: found nodes that do not form trees. Copy the run again.")
    return LoadedBooster(_text(features, trees))


def _are_typed(arrays: Mapping[str, np.ndarray]) -> bool:
    named = arrays.keys() == ARRAYS.keys() and all(isinstance(array, np.ndarray) for array in arrays.values())
    return named and all(arrays[name].ndim == 1 and arrays[name].dtype == kind for name, kind in ARRAYS.items())


def _trees(arrays: Mapping[str, np.ndarray]) -> Iterator[Tree]:
    """Yield the trees; none if their sizes do not add up."""
    leaves, sets = arrays["leaves"], arrays["categorical"]
    total = sum(leaves.tolist())
    if len(leaves) != len(sets) or (leaves < 1).any() or (sets < 0).any() or total != len(arrays["leaf_value"]):
        return
    bounds = np.where(sets > 0, sets + 1, 0)
    if sum(bounds.tolist()) != len(arrays["cat_boundaries"]):
        return
    ends = np.cumsum(bounds)
    words = np.where(sets > 0, arrays["cat_boundaries"][ends - 1] if sum(bounds.tolist()) else 0, 0)
    sizes = dict.fromkeys(_INNER, leaves - 1) | {"leaf_value": leaves, "cat_boundaries": bounds, "cat_threshold": words}
    if any((size < 0).any() or sum(size.tolist()) != len(arrays[name]) for name, size in sizes.items()):
        return
    parts = {name: np.split(arrays[name], np.cumsum(size)[:-1]) for name, size in sizes.items()}
    yield from (Tree({name: part[i] for name, part in parts.items()}) for i in range(len(leaves)))


def _text(features: int, trees: list[Tree]) -> str:
    """Return a model in LightGBM's format, which contains only our keywords and numbers."""
    texts = [tree.text(number) for number, tree in enumerate(trees)]
    head = (
        *("tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0"),
        f"max_feature_idx={features - 1}",
        f"feature_names={' '.join(f'Column_{i}' for i in range(features))}",
        f"feature_infos={' '.join(['none'] * features)}",
        f"tree_sizes={' '.join(str(len(text)) for text in texts)}",
    )
    return "\n".join([*head, "", "".join(texts)]) + "end of trees\n"
