"""What ranks that train together must agree on."""

from typing import TYPE_CHECKING

import joblib
import numpy as np

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote_some
from mamofair.learners.rows import Parts
from mamofair.learners.task import Task

if TYPE_CHECKING:
    from mamofair.learners.network.learner import NetworkLearner

__all__ = ["require_same"]


def require_same(ranks: Ranks, learner: "NetworkLearner", task: Task, parts: Parts) -> None:
    """Raise a `ValueError` unless the ranks hold the same rows, of which each will take its share."""
    if ranks.size == 1:
        return
    if learner.custom:
        raise ValueError(
            "`objectives` must be empty to train on several ranks: a loss of your own may need the features of the "
            f"whole batch, of which each rank has a share: found {quote_some(learner.custom)}. Train on one rank."
        )
    every = parts.train, parts.valid, parts.calibration
    rows = [(np.asarray(part.X), part.y, part.groups.codes, part.weight) for part in every]
    given = {
        "number of rows": sum(map(len, every)),
        "columns of X": parts.train.X.shape[1:],
        "classes and groups": task.identity[:3],
        "rows": joblib.hash(rows),
        "seed": task.seed,
        "number of epochs": learner.last_epoch,
        "batch size": learner.batch_size,
        "state of training": learner.training.epoch if learner.training else 0,
    }
    ranks.require_same(given, "Pass the same data and settings on every rank: each takes its share of every batch.")
