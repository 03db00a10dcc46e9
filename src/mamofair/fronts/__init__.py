"""Points, the archive that keeps the best of them, and the front that users work with.

A point is a snapshot of a model, measured: confusion counts of everyone and of each group. Error, gaps and whether the
model is constant all derive from the counts. Everything is minimised, lies in [0, 1], and 0 is ideal.
"""

from mamofair.fronts._archive import Archive
from mamofair.fronts._capacity import Bounds, distance_to
from mamofair.fronts._front import Criterion, Front, Point, measure_points
from mamofair.fronts._hypervolume import hypervolume, spacing, thin
from mamofair.fronts._strata import bind_notions, divide_groups, read_strata
from mamofair.fronts._tally import EVERYONE, Counter, Tally

__all__ = [
    "EVERYONE",
    "Archive",
    "Bounds",
    "Counter",
    "Criterion",
    "Front",
    "Point",
    "Tally",
    "bind_notions",
    "distance_to",
    "divide_groups",
    "hypervolume",
    "measure_points",
    "read_strata",
    "spacing",
    "thin",
]
