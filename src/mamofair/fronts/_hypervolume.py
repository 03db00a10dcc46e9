"""Measures of points in plain arrays, a row each, all columns minimised: hypervolume, spacing, the best of many."""

from collections.abc import Sequence
from typing import Any

import moocore
import numpy as np
from jaxtyping import Float

__all__ = ["hypervolume", "spacing", "thin"]

_EXACT_CONTRIBUTIONS = 3  # columns up to which moocore's contributions take no time
_EXACT_HYPERVOLUME = 6  # columns up to which moocore's hypervolume of 200 points takes well under a second


def hypervolume(values: Float[np.ndarray, "n columns"], reference: float | Sequence[float]) -> float:
    """Return the volume between points and a reference point, as `Front.hypervolume` does."""
    values, corner = _as_finite(values, "values"), _as_finite(reference, "reference")
    if corner.shape not in ((), (values.shape[1],)):
        raise ValueError(
            f"`reference` must be one number, or one for each of {values.shape[1]} columns: found {reference}."
        )
    corner = np.broadcast_to(corner, values.shape[1])
    if len(corner) <= _EXACT_HYPERVOLUME:
        return float(moocore.hypervolume(values, ref=corner))
    return float(moocore.hv_approx(values, ref=corner, seed=0))


def spacing(values: Float[np.ndarray, "n columns"]) -> float:
    """Return how unevenly points lie, as `Front.spacing` does."""
    values = _as_finite(values, "values")
    return float(_nearest_distances(values).std(ddof=1)) if len(values) > 1 else float("nan")


def _as_finite(numbers: Any, name: str) -> np.ndarray:
    """Return numbers as an array of floats; a `ValueError` if one is NaN or infinite."""
    try:
        array = np.asarray(numbers, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"`{name}` must hold numbers: found {type(numbers).__name__} of others.") from None
    if not np.isfinite(array).all():
        raise ValueError(f"`{name}` must be finite: found {array[~np.isfinite(array)].flat[0]}. Leave that point out.")
    return array


def thin(values: Float[np.ndarray, "n columns"], size: int) -> np.ndarray:
    """Return the indices of `size` points at most: again and again, the one that contributes least leaves."""
    kept = np.arange(len(values))
    if len(values) <= size:
        return kept
    best = np.isin(kept, values.argmin(axis=0))
    contributions = _exact_contributions if values.shape[1] <= _EXACT_CONTRIBUTIONS else _sample_contributions(values)
    while len(kept) > size:
        share = contributions(values, kept)
        # Ties, of which sampled contributions have many, go to the more crowded point.
        order = np.lexsort([_nearest_distances(values[kept]), np.where(best[kept], np.inf, share)])
        kept = np.delete(kept, order[0])
    return kept


def _exact_contributions(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    return np.asarray(moocore.hv_contributions(values[kept], ref=1.0))


def _sample_contributions(values: np.ndarray, samples: int = 4096) -> Any:
    """Return a function that counts samples of the box that one point alone dominates; exact ones take seconds."""
    low = values.min(axis=0)
    places = low + (1 - low) * np.random.default_rng(0).random((samples, values.shape[1]))
    dominated = (values[None, :, :] <= places[:, None, :]).all(axis=-1)

    def contributions(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
        by_kept = dominated[:, kept]
        return np.asarray(by_kept[by_kept.sum(axis=1) == 1].sum(axis=0), dtype=float)

    return contributions


def _nearest_distances(values: Float[np.ndarray, "n columns"]) -> Float[np.ndarray, " n"]:
    """Return each point's ℓ₁ distance to the nearest other one."""
    distances = np.abs(values[:, None, :] - values[None, :, :]).sum(axis=-1)
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances.min(axis=1))
