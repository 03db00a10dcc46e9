"""Points, the archive that keeps the best of them, and the front that users work with.

A point is a snapshot of a model with its confusion counts, for everyone and for each group. Error, gaps and whether the
model is constant follow from the counts. Everything is minimised, lies in [0, 1], and 0 is ideal.

>>> import numpy as np
>>> from mamofair.fronts import hypervolume, spacing, thin
>>> values = np.array([[0.1, 0.3], [0.2, 0.2], [0.4, 0.1]])  # error and gap of three points
>>> round(hypervolume(values, reference=1), 2), round(spacing(values), 3)
(0.77, 0.058)
>>> thin(values, 2)
array([0, 2])

A front of one point, from counts (TP, FP, FN, TN) of everyone and of two groups:

>>> from mamofair.fronts import Front, Point, Tally, measure_points
>>> from mamofair.notions import DEMOGRAPHIC_PARITY
>>> counts = {"": np.array([[60.0, 20, 20, 100]]), "sex": np.array([[20.0, 10, 10, 60], [40, 10, 10, 40]])}
>>> points, criteria = (Point(Tally(counts)),), ((DEMOGRAPHIC_PARITY, "sex"),)
>>> measure_points(points, criteria).round(2)
array([[0.2, 0.2]])
>>> Front(points, criteria).columns
['error', 'demographic_parity[sex]']
"""

from mamofair.fronts._archive import Archive
from mamofair.fronts._capacity import Bounds, distance_to
from mamofair.fronts._front import DECIMALS, Criterion, Front, Point, measure_points
from mamofair.fronts._hypervolume import hypervolume, spacing, thin
from mamofair.fronts._small_groups import SmallGroups, find_small_groups
from mamofair.fronts._strata import bind_notions, divide_groups, read_strata
from mamofair.fronts._tally import EVERYONE, Counter, Tally, count_decisions, measure_gaps

__all__ = [
    "DECIMALS",
    "EVERYONE",
    "Archive",
    "Bounds",
    "Counter",
    "Criterion",
    "Front",
    "Point",
    "SmallGroups",
    "Tally",
    "bind_notions",
    "count_decisions",
    "distance_to",
    "divide_groups",
    "find_small_groups",
    "hypervolume",
    "measure_gaps",
    "measure_points",
    "read_strata",
    "spacing",
    "thin",
]
