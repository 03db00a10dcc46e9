"""What an epoch, a boosting round or a multiplier gives to the archive."""

from collections.abc import Callable
from dataclasses import dataclass

from mamofair.fronts import Point


@dataclass(frozen=True, eq=False)
class Candidates:
    """Points that were just measured. `keep` copies what an accepted one needs; `complete` ends an epoch or a round."""

    points: list[Point]
    keep: Callable[[Point], Point] | None = None
    complete: bool = True
