"""Hypervolume, spacing and thinning of points in plain arrays: one row per point, all columns minimised."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import moocore
import numpy as np
import scipy
from jaxtyping import Float

__all__ = ["hypervolume", "spacing", "thin"]

_EXACT_CONTRIBUTIONS = 3  # columns up to which moocore's contributions are fast
_SAMPLES = 8192  # in a box; ranks among them fit in 16 bits
_BLOCK = 16  # points to compare with all samples at once: their flags stay in the processor's cache
_LIMITS = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2)  # on gaps, as users ask for them
_EXACT_HYPERVOLUME = 6  # columns up to which moocore's hypervolume of 200 points takes well under a second


def hypervolume(
    values: Float[np.ndarray, "n columns"], reference: float | Sequence[float], samples: int = 2**18
) -> float:
    """Return the volume between points and a reference point, as `Front.hypervolume` does.

    With more than six columns it is approximated with this many directions. The directions are fixed, so a front that
    dominates more never has less volume.

    >>> hypervolume(np.array([[0.1, 0.3], [0.2, 0.2], [0.4, 0.1]]), reference=1)  # error and gap of three points
    0.77
    """
    values, corner = _as_finite(values, "values"), _as_finite(reference, "reference")
    if corner.shape not in ((), (values.shape[1],)):
        raise ValueError(
            f"`reference` must be one number, or one for each of {values.shape[1]} columns: found {reference}."
        )
    corner = np.broadcast_to(corner, values.shape[1])
    if len(corner) <= _EXACT_HYPERVOLUME:
        return float(moocore.hypervolume(values, ref=corner))
    return float(moocore.hv_approx(values, ref=corner, nsamples=samples))


def spacing(values: Float[np.ndarray, "n columns"]) -> float:
    """Return how unevenly points are spaced, as `Front.spacing` does.

    >>> round(spacing(np.array([[0.1, 0.3], [0.2, 0.2], [0.4, 0.1]])), 3)
    0.058
    """
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
    """Return the indices of at most `size` points, dropping the one that contributes least, one at a time.

    Contributions are to the hypervolume of the box that the points span, enlarged by a tenth: in the whole unit cube,
    the volume that all of them dominate would swamp the differences. The best point of each column is kept, and so is,
    as long as possible, the most accurate one within each of a few common limits on all gaps.

    >>> thin(np.array([[0.1, 0.3], [0.2, 0.2], [0.4, 0.1]]), 2)
    array([0, 2])
    """
    if len(values) <= size:
        return np.arange(len(values))
    low, high = values.min(axis=0), values.max(axis=0)
    corner = high + 0.1 * (high - low) + 1e-9  # a column of equal values must not make all volumes 0
    few = values.shape[1] <= _EXACT_CONTRIBUTIONS
    contributions = _ExactContributions(values, corner) if few else _SampledContributions(values, corner)
    stays = np.zeros(len(values))  # the higher, the later a point is dropped
    stays[_best_within_limits(values)] = 1
    stays[values.argmin(axis=0)] = 2
    distances = _distances(values)
    nearest = distances.argmin(axis=1)
    for _ in range(len(values) - size):
        first = np.flatnonzero(stays == stays.min())
        share = contributions(first)
        # Sampled contributions have many ties: then the more crowded point is dropped.
        tied = first[share == share.min()]
        least = int(tied[distances[tied, nearest[tied]].argmin()])
        contributions.remove(least)
        stays[least] = distances[:, least] = np.inf
        orphans = np.flatnonzero(nearest == least)
        nearest[orphans] = distances[orphans].argmin(axis=1)
    return np.flatnonzero(stays < np.inf)


def _best_within_limits(values: Float[np.ndarray, "n columns"]) -> np.ndarray:
    """Return the indices of the points with the smallest error among those whose gaps are all within each limit."""
    error, worst = values[:, 0], values[:, 1:].max(axis=1, initial=0.0)
    within = [np.where(worst <= limit, error, np.inf).argmin() for limit in _LIMITS if worst.min() <= limit]
    return np.array(within, dtype=int)


class _ExactContributions:
    """The contributions of points to a hypervolume."""

    def __init__(self, values: np.ndarray, corner: np.ndarray):
        self.values, self.corner = values, corner
        self.kept = np.ones(len(values), dtype=bool)

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """Return the contributions of some of the points that are left."""
        share = np.zeros(len(self.values))
        share[self.kept] = moocore.hv_contributions(self.values[self.kept], ref=self.corner)
        return np.asarray(share[places])

    def remove(self, place: int) -> None:
        """Drop a point."""
        self.kept[place] = False


class _SampledContributions:
    """The number of samples of the box that each point alone dominates; exact contributions would take seconds.

    Points and samples are compared by their ranks in a column, in a tenth of the time that floats take. A point that is
    dropped changes the contribution of others only by the samples that it shared with a single one of them.
    """

    def __init__(self, values: np.ndarray, corner: np.ndarray):
        low, samples = values.min(axis=0), _samples(values.shape[1])
        columns = zip(((values - low) / (corner - low)).T, samples, strict=True)
        places = [np.searchsorted(ordered, column).astype(np.uint16) for column, (ordered, _) in columns]
        self.dominated = np.ones((len(values), _SAMPLES), dtype=bool)
        for start in range(0, len(values), _BLOCK):
            some = slice(start, start + _BLOCK)
            for column, (_, ranks) in zip(places, samples, strict=True):
                self.dominated[some] &= column[some, None] <= ranks
        self.times = self.dominated.sum(axis=0, dtype=np.int32)
        self.share = self._count(np.flatnonzero(self.times == 1))

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """Return the contributions of some of the points that are left."""
        return np.asarray(self.share[places])

    def remove(self, place: int) -> None:
        """Drop a point: samples that it shared with one other point now belong to that one alone."""
        gone = np.flatnonzero(self.dominated[place])
        self.dominated[place] = False
        self.times[gone] -= 1
        self.share += self._count(gone[self.times[gone] == 1])

    def _count(self, samples: np.ndarray) -> np.ndarray:
        """Return how many of these samples each point dominates."""
        return np.asarray(np.count_nonzero(self.dominated[:, samples], axis=1))


@cache
def _samples(columns: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return samples of the unit cube: of each column, the sorted values and the rank of each sample."""
    samples = np.random.default_rng(0).random((_SAMPLES, columns))
    return [(np.sort(column), column.argsort().argsort().astype(np.uint16)) for column in samples.T]


def _nearest_distances(values: Float[np.ndarray, "n columns"]) -> Float[np.ndarray, " n"]:
    """Return each point's ℓ₁ distance to the nearest other one."""
    return np.asarray(_distances(values).min(axis=1))


def _distances(values: Float[np.ndarray, "n columns"]) -> Float[np.ndarray, "n n"]:
    distances = scipy.spatial.distance.cdist(values, values, "cityblock")
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances)
