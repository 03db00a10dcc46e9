"""Checks of a plug-in's parts that come from a file."""

import numpy as np

from mamofair.learners.checks import are_finite
from mamofair.learners.plugin.multipliers import Contrasts
from mamofair.learners.plugin.posterior_model import PosteriorModel
from mamofair.learners.plugin.thresholds import Strata
from mamofair.learners.task import Task

__all__ = ["are_whole"]


def are_whole(
    parts: tuple[Contrasts | None, Strata | None, PosteriorModel | None], task: Task, features: int, aware: bool
) -> bool:
    """Whether contrasts, strata and models are complete, finite, and for the groups of a task."""
    contrasts, strata, posterior = parts
    if contrasts is None or strata is None or posterior is None:
        return False
    groups = {name: len(names) for name, names in task.groups.items()}
    if contrasts.criteria != task.criteria or type(aware) is not bool:
        return False
    shares = [contrasts.shares[name] for _, name in task.criteria]
    sound = are_finite(*contrasts.shares.values(), strata.codes) and all((table >= 0).all() for table in shares)
    sizes = all(contrasts.shares[name].shape == (groups[name], 2) for _, name in task.criteria)
    needed = aware or {name for name, _ in posterior.models} >= {name for _, name in task.criteria}
    named = dict(zip(posterior.groups.names, map(len, posterior.groups.values), strict=True)) == groups
    if not (sound and sizes and np.isfinite(contrasts.offset).all()):
        return False
    return posterior.is_sound(features) and needed and named and strata.codes.ndim == 2
