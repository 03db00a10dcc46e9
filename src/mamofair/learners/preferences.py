"""The preferences that members train with, and the objectives that they weigh."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mamofair._messages import quote
from mamofair.descent import Fixed, Member, Weighting, rays
from mamofair.fronts import Criterion
from mamofair.notions import Notion, as_notion
from mamofair.objectives import CrossEntropy, Gap, Objective, SquaredError
from mamofair.relaxations import Relaxation, Sigmoid

__all__ = ["default_size", "read_members", "read_objectives", "relaxation_of"]


def default_size(k: int) -> int:
    """Return how many members suit k objectives: the front of two gaps is a surface, which takes more members."""
    return 16 if k <= 2 else 32


def read_members(members: Any, k: int, **ladder: float) -> list[Member]:
    """Return the members of a population for k objectives: as given, or this many with weights from `rays`."""
    if isinstance(members, int | np.integer):
        if members < 1:
            raise ValueError(f"`members` must be at least 1: found {members}.")
        members = rays(k, int(members), **ladder)
    listed = list(members) if isinstance(members, Iterable) else []
    if not listed or not all(isinstance(m, Member | Weighting) and not isinstance(m, type) for m in listed):
        raise ValueError(
            f"`members` must be a number, or a list of weightings such as MinNorm(): found {quote(members)}."
        )
    return [member if isinstance(member, Member) else Member(member) for member in listed]


def read_objectives(
    criteria: Iterable[Criterion],
    relaxation: Relaxation | Mapping[Any, Relaxation],
    weightings: Iterable[Weighting],
    anchor: float,
    anchor_loss: CrossEntropy | SquaredError = CrossEntropy(),
    loss: CrossEntropy = CrossEntropy(),
) -> list[Objective]:
    """Return what to minimize: the loss, and each gap, without an anchor if all weights are `Fixed`.

    An anchor of cross-entropy is the loss itself.
    """
    anchor_loss = loss if isinstance(anchor_loss, CrossEntropy) else anchor_loss
    anchor = 0.0 if all(isinstance(weighting, Fixed) for weighting in weightings) else anchor
    gaps = [Gap(notion, name, relaxation_of(notion, relaxation), anchor, anchor_loss) for notion, name in criteria]
    return [loss, *gaps]


def relaxation_of(notion: Notion, given: Relaxation | Mapping[Any, Relaxation]) -> Relaxation:
    """Return the relaxation to train a notion with; those not named in a mapping have the default."""
    if isinstance(given, Relaxation):
        return given
    return {as_notion(name): relaxation for name, relaxation in given.items()}.get(notion, Sigmoid(3))
