"""How a relaxed gap behaves as an objective during training: its gradients, and its distance from the exact gap."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from mamofair._descent.networks import Population
from mamofair._descent.training import isolated
from mamofair._rows.batches import Batch
from mamofair.notions import Notion
from mamofair.objectives import CrossEntropy, Gap, evaluate
from mamofair.relaxations import Hard, Relaxation

_LIVE = 0.01  # of the steepest slope there is

#: Values by name, for each member.
Probe = dict[str, Float[Tensor, " members"]]


def probe(
    population: Population, batches: Sequence[Batch], notion: Notion, attribute: str, relaxation: Relaxation
) -> Probe:
    """Return statistics of the gap and its gradient, without dropout and anchor.

    `distance` is between the relaxed and the exact gap, means over batches; `live` the share of rows, of those that
    the notion is about, where the relaxation has more than 1 % of its steepest slope; `norm` the mean length of the
    gradient; `noise` its variance between batches, in units of the squared length of the mean; `cosine` the mean
    cosine with the gradient of the cross-entropy.
    """
    gap, exact = Gap(notion, attribute, relaxation), Gap(notion, attribute, Hard())
    distances, live, gradients, cosines = [], [], [], []
    population.train(False)
    with isolated(0):
        for batch in batches:
            outputs, pull = population.traced(batch.x)
            logits = torch.as_tensor(outputs).detach()
            (_, value), cotangents = evaluate([CrossEntropy(), gap], logits, batch)
            accuracy, gap_gradient = torch.as_tensor(pull(cotangents.numpy())).clone()
            distances.append((value - exact(logits, batch)).abs())
            live.append(_live_share(relaxation, logits, batch, notion))
            gradients.append(gap_gradient)
            cosines.append(torch.cosine_similarity(accuracy, gap_gradient, dim=-1))
    stack = torch.stack(gradients)
    mean = stack.mean(0)
    noise = (stack - mean).square().sum(-1).mean(0) / mean.square().sum(-1).clamp(min=1e-12)
    statistics = {"distance": distances, "live": live, "norm": list(stack.norm(dim=-1)), "cosine": cosines}
    return {name: torch.stack(values).mean(0) for name, values in statistics.items()} | {"noise": noise}


def _live_share(relaxation: Relaxation, logits: Tensor, batch: Batch, notion: Notion) -> Float[Tensor, " members"]:
    """Return the share of rows with a substantial gradient, among those the notion is about."""
    labels = {label for rate in notion.rates for label in rate.labels}
    about = [float(label) in labels for label in batch.y.tolist()]
    _, steepest = relaxation.with_slope(np.linspace(-20, 20, 8001))
    _, slopes = relaxation.with_slope(logits.numpy()[:, about])
    return torch.from_numpy((np.abs(slopes) > _LIVE * np.abs(steepest).max()).mean(-1)).to(logits)
