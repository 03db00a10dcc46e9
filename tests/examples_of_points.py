"""Points with prescribed error and gaps, in thousandths, for tests of archives, fronts and selections."""

import numpy as np

from mamofair.fronts import Front, Point, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY

ATTRIBUTES = ("a", "b", "c", "d", "e")


def criteria(gaps: int) -> tuple:
    return tuple((DEMOGRAPHIC_PARITY, attribute) for attribute in ATTRIBUTES[:gaps])


def point(error: int, *gaps: int, constant: bool = False) -> Point:
    """Return a point whose error and gaps are these many thousandths."""
    overall = np.array([[0.0, 0.0, error, 1000 - error] if constant else [500.0, error, 0.0, 500 - error]])
    groups = {
        attribute: np.array([[gap, 0.0, 1000 - gap, 0.0], [0.0, 0.0, 1000.0, 0.0]])
        for attribute, gap in zip(ATTRIBUTES, gaps, strict=False)
    }
    return Point(Tally({"": overall, **groups}))


def front(*rows: tuple[int, ...], constants: tuple[int, ...] = ()) -> Front:
    points = tuple(point(*row, constant=i in constants) for i, row in enumerate(rows))
    return Front(points, criteria(len(rows[0]) - 1))
