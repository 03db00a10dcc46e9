"""Predictions of boosters with their first t trees."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Shaped

from mamofair.learners.loaded_booster import LoadedBooster

if TYPE_CHECKING:
    from mamofair.learners.loaded_booster import Booster

__all__ = ["first_scores", "staged_scores"]

_AT_ONCE = 2**22  # leaves in memory
_LEAVES: "WeakKeyDictionary[Booster, list[np.ndarray]]" = WeakKeyDictionary()
_FIRST: "WeakKeyDictionary[Booster, dict[int, Booster]]" = WeakKeyDictionary()


def staged_scores(
    booster: "Booster", X: Shaped[np.ndarray, "n d"], trees: Sequence[int], threads: int = 1
) -> Float[np.ndarray, "stages n"]:
    """Return the scores with the first t trees, for each of several t, in one pass over all trees.

    They equal `booster.predict(X, num_iteration=t, raw_score=True)` bit for bit. That call is not thread-safe: it
    stores the number of trees in the booster, and another thread may change it meanwhile. Here all calls ask for the
    leaves of all trees, and we compute the sums.
    """
    leaves = _leaf_values(booster)
    wanted: dict[int, list[int]] = {}
    for stage, number in enumerate(trees):
        wanted.setdefault(min(number, len(leaves)), []).append(stage)
    sums = np.zeros((len(trees), len(X)))
    size = max(1, _AT_ONCE // max(1, len(leaves)))
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        places = np.asarray(booster.predict(X[rows], num_iteration=-1, pred_leaf=True, num_threads=threads))
        total = np.zeros(len(places))
        for number, (values, place) in enumerate(zip(leaves, places.T, strict=True), start=1):
            total = total + values[place]
            sums[wanted.get(number, []), rows] = total
    return sums


def first_scores(
    booster: "Booster", X: Shaped[np.ndarray, "n d"], number: int, threads: int = 1
) -> Float[np.ndarray, " n"]:
    """Return the scores with the first t trees, from a copy that has no others: thread-safe, and faster."""
    if not len(X):
        return np.zeros(0)
    first = _first_trees(booster, number)
    return np.asarray(first.predict(X, num_iteration=-1, raw_score=True, num_threads=threads))


def _first_trees(booster: "Booster", number: int) -> "Booster":
    """Return a booster with the first t trees, cached; LightGBM's text format keeps all digits."""
    if number >= booster.num_trees():
        return booster
    known = _FIRST.setdefault(booster, {})
    if number not in known:
        known[number] = LoadedBooster(booster.model_to_string(num_iteration=number))
    return known[number]


def _leaf_values(booster: "Booster") -> list[Float[np.ndarray, " leaves"]]:
    """Return the value of each leaf of each tree, from LightGBM's text format, which keeps all digits; cached."""
    known = _LEAVES.get(booster, [])
    if len(known) != booster.num_trees():  # a booster in training has more trees each time
        text = booster.model_to_string(num_iteration=-1)
        known = [np.array(line.split(), dtype=float) for line in re.findall(r"^leaf_value=(.*)$", text, re.MULTILINE)]
        _LEAVES[booster] = known
    return known
