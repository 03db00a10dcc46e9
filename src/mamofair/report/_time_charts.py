"""Lines over time as places on a canvas, for a template to draw without scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Line", "draw_chart"]

WIDTH, HEIGHT = 460, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 452, 22, 184
_ENDS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # where axes may end


@dataclass(frozen=True)
class Line:
    """Values over time, None where there is none, and an interval for each if there are some."""

    name: str
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float]] = ()


def draw_chart(
    lines: Sequence[Line],
    at: Sequence[float],
    names: Sequence[str],
    *,
    limit: float | None = None,
    marks: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return a chart as plain values: paths, bars, a line for a limit, places that are marked, and the axes' labels.

    >>> draw_chart([Line("gap", [0.1, 0.2])], [0, 1], ["a", "b"])["lines"][0]["path"]
    'M38.0,103.0 L452.0,22.0'
    """
    known = [value for line in lines for value in line.values if value is not None]
    largest = max([*known, 1.3 * (limit or 0.0), 0.01])
    top = next(end for end in _ENDS if largest <= end + 1e-9)
    first, last = (at[0], at[-1]) if at else (0.0, 1.0)
    span = (last - first) or 1.0

    def x(place: float) -> float:
        share = 0.5 if last == first else (place - first) / span
        return round(_LEFT + (_RIGHT - _LEFT) * min(max(share, 0.0), 1.0), 1)

    def y(value: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * min(value, top) / top, 1)

    drawn = []
    for line in lines:
        points = [(x(place), y(value)) for place, value in zip(at, line.values, strict=True) if value is not None]
        bars = [
            {"x": x(place), "low": y(low), "high": y(high)}
            for place, value, (low, high) in zip(at, line.values, line.intervals, strict=False)
            if value is not None
        ]
        path = "M" + " L".join(f"{a:.1f},{b:.1f}" for a, b in points) if points else ""
        drawn.append({"name": line.name, "path": path, "points": points, "bars": bars})
    middle = len(names) // 2
    labels = [(x(at[i]), names[i], anchor) for i, anchor in _labelled(len(names), middle)]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "lines": drawn,
        "limit": None if limit is None else y(limit),
        "marks": [{"name": name, "x": x(place)} for name, place in (marks or {}).items()],
        "x_labels": labels,
        "y_labels": [(y(value), f"{value:g}") for value in (0.0, top / 2, top)],
        "ends": (_LEFT, _RIGHT, _TOP, _BOTTOM),
    }


def _labelled(periods: int, middle: int) -> list[tuple[int, str]]:
    """Return which periods have a label, and where its text is anchored."""
    if periods < 2:
        return [(i, "middle") for i in range(periods)]
    ends = [(0, "start"), (periods - 1, "end")]
    return [ends[0], (middle, "middle"), ends[1]] if periods > 4 else ends
