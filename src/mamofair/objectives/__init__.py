"""Objectives: what training minimises. Each depends on the model only through the logits of a batch.

>>> import torch
>>> from mamofair.notions import DEMOGRAPHIC_PARITY
>>> y = [1, 0, 1, 0]
>>> batch = Batch.of(torch.zeros(4, 1), y, read_groups({"sex": ["f", "f", "m", "m"]}).memberships(y))
>>> objectives = [CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "sex")]
>>> values, cotangents = evaluate(objectives, torch.tensor([1.0, -1, -1, 1]), batch)
>>> values.shape, cotangents.shape
(torch.Size([2]), torch.Size([2, 4]))
"""

from mamofair._rows.batches import Batch
from mamofair._rows.groups import Groups, read_groups
from mamofair.objectives._counterfactual import CounterfactualGap, EvaluationWithChanges
from mamofair.objectives._custom import CustomObjective
from mamofair.objectives._evaluate import evaluate
from mamofair.objectives._objectives import CrossEntropy, Gap, Objective, SquaredError, require_rates
from mamofair.objectives._records import records

__all__ = [
    "Batch",
    "CounterfactualGap",
    "CrossEntropy",
    "CustomObjective",
    "EvaluationWithChanges",
    "Gap",
    "Groups",
    "Objective",
    "SquaredError",
    "evaluate",
    "read_groups",
    "records",
    "require_rates",
]
