"""LightGBM's trees as a single ONNX node, with sets of categories."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mamofair.runs._onnx_graph import Graph

if TYPE_CHECKING:
    from mamofair.learners.loaded_booster import Booster

__all__ = ["add_trees"]

_AT_MOST, _MEMBER = 0, 6  # ONNX's numbers for split modes


def add_trees(graph: Graph, booster: "Booster", x: str, trees: int = -1) -> str:
    """Add the first trees of a booster, −1 for all, and return their sums, of shape (rows, 1).

    Missing values go to the same side as in LightGBM; where it treats them as 0, that is the side of 0.
    A category goes left if it is in the set of the split, and right if it is not, or missing.
    """
    forest = _Forest()
    for tree in booster.dump_model(num_iteration=trees)["tree_info"]:
        forest.roots.append(forest.add_tree(tree["tree_structure"]))
    kind = graph.helper.np_dtype_to_tensor_dtype(np.dtype(float))

    def tensor(values: list[float], kind: int = kind) -> Any:
        return graph.helper.make_tensor("", kind, [len(values)], values)

    sets = {"membership_values": tensor(forest.members)} if forest.members else {}
    return graph.node(
        *("TreeEnsemble", x),
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=forest.roots,
        nodes_featureids=[node["feature"] for node in forest.nodes],
        nodes_modes=tensor(
            [node["mode"] for node in forest.nodes], graph.helper.np_dtype_to_tensor_dtype(np.dtype(np.uint8))
        ),
        nodes_splits=tensor([node["split"] for node in forest.nodes]),
        nodes_missing_value_tracks_true=[node["missing_left"] for node in forest.nodes],
        nodes_truenodeids=[node["left"][0] for node in forest.nodes],
        nodes_trueleafs=[node["left"][1] for node in forest.nodes],
        nodes_falsenodeids=[node["right"][0] for node in forest.nodes],
        nodes_falseleafs=[node["right"][1] for node in forest.nodes],
        leaf_targetids=[0] * len(forest.leaves),
        leaf_weights=tensor(forest.leaves),
        **sets,
    )


@dataclass(eq=False)
class _Forest:
    """Nodes, leaves and sets of categories, as they are added; a child is a number, and 1 if that is a leaf's."""

    roots: list[int] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    # onnxruntime 1.21 to 1.23 take a root for a leaf if its children, a leaf and a node, have the same number. Two
    # leaves of no tree keep these apart: when a tree is added, there are always more leaves than nodes.
    leaves: list[float] = field(default_factory=lambda: [0.0, 0.0])
    members: list[float] = field(default_factory=list)

    def add_tree(self, tree: dict[str, Any]) -> int:
        """Add a tree, and return the number of its root; one without a split asks anything, and goes the same way."""
        number, is_leaf = self._add(tree)
        if not is_leaf:
            return number
        ends = {"left": (number, 1), "right": (number, 1)}
        self.nodes.append({"feature": 0, "mode": _AT_MOST, "split": 0.0, "missing_left": 1, **ends})
        return len(self.nodes) - 1

    def _add(self, tree: dict[str, Any]) -> tuple[int, int]:
        """Add a node and all below it; return its number, and 1 if it is a leaf."""
        if "leaf_value" in tree:
            self.leaves.append(tree["leaf_value"])
            return len(self.leaves) - 1, 1
        number = len(self.nodes)
        node = self._split(tree)
        self.nodes.append(node)
        node["left"], node["right"] = self._add(tree["left_child"]), self._add(tree["right_child"])
        return number, 0

    def _split(self, tree: dict[str, Any]) -> dict[str, Any]:
        if tree["decision_type"] == "==":
            self.members += [*map(float, tree["threshold"].split("||")), np.nan]
            return {"feature": tree["split_feature"], "mode": _MEMBER, "split": 0.0, "missing_left": 0}
        if tree["missing_type"] == "Zero":
            raise ValueError("Trees that treat 0 as missing cannot be exported. Train without `zero_as_missing`.")
        left = tree["default_left"] if tree["missing_type"] == "NaN" else tree["threshold"] >= 0
        return {
            "feature": tree["split_feature"],
            "mode": _AT_MOST,
            "split": tree["threshold"],
            "missing_left": int(left),
        }
