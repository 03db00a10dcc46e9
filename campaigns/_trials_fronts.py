"""Trials of choices: selections of a point, volumes and spacings of fronts."""

from collections.abc import Callable
from math import isfinite, isnan
from random import Random
from typing import Any

import numpy as np

from campaigns._containers import STRANGE
from campaigns._oracles import Refusal, same, unevenness, volume
from campaigns._trials import Trial
from mamofair import ClosestToIdeal, Knee, MostAccurateWithin, Weighted
from mamofair.fronts import Front, Point, Tally, hypervolume, spacing
from mamofair.notions import DEMOGRAPHIC_PARITY

_ROWS = 1000


def _front(random: Random) -> tuple[Front, list[tuple[float, ...]], list[bool]]:
    """Return a front, and its rows: error and gaps, and whether the point is constant."""
    gaps = random.choice([1, 1, 2, 3])
    rows = []
    for _ in range(random.choice([1, 2, 3, 5, 8])):
        constant = random.random() < 0.2
        error = 500 if constant else random.randint(1, 400)  # half of the people have the favorable label
        rows.append((error, *(0 if constant else random.randint(0, 300) for _ in range(gaps)), constant))
    points = []
    for error, *own, constant in rows:
        overall = [0.0, 0.0, 500.0, 500.0] if constant else [500.0, error, 0.0, 500 - error]
        counts = {"": np.array([overall])}
        for i, gap in enumerate(own):
            counts[f"a{i}"] = np.array([[gap, 0.0, _ROWS - gap, 0.0], [0.0, 0.0, _ROWS, 0.0]])
        points.append(Point(Tally(counts)))
    front = Front(tuple(points), tuple((DEMOGRAPHIC_PARITY, f"a{i}") for i in range(gaps)))
    rows.sort(key=lambda row: row[:-1])
    return front, [tuple(one / _ROWS for one in row[:-1]) for row in rows], [row[-1] for row in rows]


def _chosen(rows: list[tuple[float, ...]], constant: list[bool], allowed: bool, cost: Callable[[Any], float]) -> float:
    """Return the least cost of the rows that may be chosen."""
    free = [row for row, alike in zip(rows, constant, strict=True) if allowed or not alike] or rows
    return min(map(cost, free))


def selected(random: Random) -> Trial:
    """Return a trial of a selection."""
    front, rows, constant = _front(random)
    allowed = random.random() < 0.5
    free = [row for row, alike in zip(rows, constant, strict=True) if allowed or not alike] or rows
    low = [min(column) for column in zip(*free, strict=True)]
    wide = [(max(column) - min(column)) or 1.0 for column in zip(*free, strict=True)]
    ideal, scaled = random.choice(["zero", "front"]), random.random() < 0.5
    weights = [random.choice([0.0, 0.5, 1.0, 3.0]) for _ in front.columns]

    def distance(row: tuple[float, ...]) -> float:
        start = low if ideal == "front" else [0.0] * len(row)
        return sum(((x - s) / (w if scaled else 1.0)) ** 2 for x, s, w in zip(row, start, wide, strict=True))

    rules: list[tuple[Any, Callable[[Any], float]]] = [
        (ClosestToIdeal(ideal, scaled, allow_constant=allowed), distance),
        (
            Weighted(dict(zip(front.columns, weights, strict=True)), allow_constant=allowed),
            lambda row: sum(x * w for x, w in zip(row, weights, strict=True)),
        ),
        (Knee(allow_constant=allowed), lambda row: sum((x - s) / w for x, s, w in zip(row, low, wide, strict=True))),
    ]
    rule, cost = random.choice(rules)
    best = min(map(cost, free))

    def check(row: Any) -> str | None:
        fine = 0 <= row < len(rows) and rows[row] in free and same(cost(rows[row]), best)
        return None if fine else f"chose {row} with {cost(rows[row])}, not {best}"

    return Trial("selection", lambda: rule(front), check, None, True, {"rule": rule, "rows": rows})


def bounded(random: Random) -> Trial:
    """Return a trial of the most accurate point within a bound, which may be nonsense."""
    front, rows, constant = _front(random)
    allowed, odd = random.random() < 0.5, random.random() < 0.4
    bound = random.choice(STRANGE) if odd else random.choice([0, 0.05, 0.1, 0.2, 1])
    named = random.random() < 0.4
    columns = random.sample(front.columns[1:], 1) if named else front.columns[1:]
    eps = {columns[0]: bound} if named else bound
    number = isinstance(bound, int | float) and not isnan(bound) and bound >= 0
    places = [front.columns.index(name) for name in columns]
    free = [row for row, alike in zip(rows, constant, strict=True) if allowed or not alike] or rows
    right = None if eps == {} or number else Refusal("the bound is not a number")

    def excess(row: tuple[float, ...]) -> float:
        return 0.0 if eps == {} else round(max(0.0, *(row[i] - bound for i in places)), 9)

    def check(choice: Any) -> str | None:
        best = min((excess(row), row[0]) for row in free)
        found = (excess(rows[choice.row]), rows[choice.row][0])
        said = choice.note is not None or best[0] == 0
        return None if found == best and said else f"chose {choice}: {found}, not {best}"

    call = lambda: MostAccurateWithin(eps, margin=0, allow_constant=allowed).choose(front)  # noqa: E731
    plain = right is None and not odd
    return Trial("selection within a bound", call, check, right, plain, {"eps": eps, "rows": rows})


def odd_rule(random: Random) -> Trial:
    """Return a trial of a rule with a parameter that may be nonsense."""
    front, rows, _ = _front(random)
    strange = random.choice(STRANGE)
    call = random.choice(
        [
            lambda: ClosestToIdeal(strange)(front),
            lambda: Weighted({"error": strange})(front),
            lambda: Weighted({strange: 1.0})(front) if isinstance(strange, str) else Weighted(strange)(front),
            lambda: MostAccurateWithin(0.5, strange)(front),
            lambda: MostAccurateWithin({"error": 0.1, str(strange): 0.1})(front),
            lambda: MostAccurateWithin(0.5, method=strange)(front),
        ]
    )
    return Trial(
        "selection, odd parameters",
        call,
        lambda row: None if 0 <= row < len(rows) else f"{row}",
        shown={"strange": strange},
    )


def spread(random: Random) -> Trial:
    """Return a trial of a volume or a spacing."""
    columns = random.choice([1, 2, 3, 4])
    points = [[random.random() for _ in range(columns)] for _ in range(random.choice([1, 2, 4, 6]))]
    corner: Any = random.choice([1, 1.0, [1.0] * columns, [0.5] * columns])
    odd = random.random() < 0.3
    if odd:
        points[0][0] = random.choice([float("nan"), float("inf"), -float("inf"), -1.0])
    full = corner if isinstance(corner, list) else [float(corner)] * columns
    finite = all(isfinite(one) for point in points for one in point)
    right = None if finite else Refusal("points must be finite")
    values = np.array(points)
    if random.random() < 0.5 or (columns == 1 and not odd):
        expected = volume(points, full) if finite else 0.0
        check = lambda found: None if same(found, expected) else f"found {found}, not {expected}"  # noqa: E731
        return Trial("hypervolume", lambda: hypervolume(values, corner), check, right, not odd, {"points": points})
    uneven = unevenness(points) if finite else 0.0
    check = lambda found: None if same(found, uneven) else f"found {found}, not {uneven}"  # noqa: E731
    return Trial("spacing", lambda: spacing(values), check, right, not odd, {"points": points})
