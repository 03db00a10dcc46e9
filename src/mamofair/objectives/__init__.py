"""Objectives: what training makes small. Each depends on the model only through the logits of a batch.

>>> import torch
>>> from mamofair.batches import Batch
>>> from mamofair.groups import read_groups
>>> from mamofair.notions import DEMOGRAPHIC_PARITY
>>> y = [1, 0, 1, 0]
>>> batch = Batch.of(torch.zeros(4, 1), y, read_groups({"sex": ["f", "f", "m", "m"]}).members(y))
>>> objectives = [CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "sex")]
>>> values, cotangents = evaluate(objectives, torch.tensor([1.0, -1, -1, 1]), batch)
>>> values.shape, cotangents.shape
(torch.Size([2]), torch.Size([2, 4]))
"""

from mamofair.objectives._evaluate import evaluate
from mamofair.objectives._objectives import CrossEntropy, Gap, Objective, SquaredError, require_rates
from mamofair.objectives._records import records

__all__ = ["CrossEntropy", "Gap", "Objective", "SquaredError", "evaluate", "records", "require_rates"]
