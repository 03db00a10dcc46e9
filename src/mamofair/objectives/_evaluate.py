"""All objectives of a batch at once: their values, and their derivatives with respect to the logits.

Autograd could differentiate any objective. But there are many gaps, and each takes a dozen operations on a handful of
numbers, whose overhead would cost more than a small network. So cross-entropy and all gaps have a closed form.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from jaxtyping import Float

from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, torch
from mamofair.objectives._gaps import Gaps
from mamofair.objectives._objectives import CrossEntropy, Gap, Objective, SquaredError
from mamofair.objectives._precision import align

Evaluated = tuple[Float[np.ndarray, " members"], Float[np.ndarray, "members n"]]


def evaluate(
    objectives: Sequence[Objective],
    logits: Tensor,  # "*members n": other shapes raise a readable error below
    batch: Batch,
) -> tuple[Float[Tensor, " k *members"], Float[Tensor, "k *members n"]]:
    """Return the objectives' values and their derivatives with respect to the logits (the cotangents).

    Logits may have leading axes for members: each member then has its own values and cotangents. Logits may be in half
    precision, as under autocast: values and cotangents are float32.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        values, cotangents = Evaluation(objectives)(logits, batch)
    return torch.from_numpy(values).to(logits.device), torch.from_numpy(cotangents).to(logits.device)


class Evaluation:
    """Computes objectives together, batch after batch; what does not depend on the batch is computed once.

    Parameters
    ----------
    objectives
        What to evaluate.
    """

    def __init__(self, objectives: Sequence[Objective]):
        self.objectives = objectives
        # A mean over strata has a dozen more terms, so autograd computes it, including the anchor.
        gaps = {
            i: objective
            for i, objective in enumerate(objectives)
            if isinstance(objective, Gap) and objective.notion.over != "mean"
        }
        self._losses = [i for i in range(len(objectives)) if i not in gaps]
        kinds = dict.fromkeys((gap.relaxation, gap.anchor_loss) for gap in gaps.values())
        self._kinds = [
            self._kind({i: gap for i, gap in gaps.items() if (gap.relaxation, gap.anchor_loss) == kind})
            for kind in kinds
        ]

    def _kind(
        self, gaps: dict[int, Gap]
    ) -> tuple[list[int] | slice, Gaps, np.ndarray | None, CrossEntropy | SquaredError, int | None]:
        """Return where gaps of one kind belong, how to compute them, their anchors and the loss of these.

        That loss is mostly the first of the objectives.
        """
        numbers, same_kind = list(gaps), list(gaps.values())
        stretch = slice(numbers[0], numbers[-1] + 1)
        together = len(same_kind) == stretch.stop - stretch.start
        anchors = np.array([[gap.anchor] for gap in same_kind]) if any(gap.anchor for gap in same_kind) else None
        loss = same_kind[0].anchor_loss
        same = next((i for i in self._losses if self.objectives[i] == loss), None)
        return stretch if together else numbers, Gaps(same_kind), anchors, loss, same

    def __call__(
        self,
        logits: Tensor | np.ndarray,  # "*members n": other shapes raise a readable error below
        batch: Batch,
    ) -> tuple[Float[np.ndarray, " k *members"], Float[np.ndarray, "k *members n"]]:
        """Return what `evaluate` does, as arrays.

        For so few numbers, NumPy takes a fifth of torch's time; logits on another device are moved to the CPU. Callers
        check that logits are finite, and make NumPy ignore what is not.
        """
        M = _array(batch.memberships)
        if not isinstance(logits, np.ndarray) or logits.dtype != M.dtype:
            aligned, batch = align(torch.as_tensor(logits), batch)
            logits, M = _array(aligned.detach()), _array(batch.memberships)
        if logits.ndim != 2:
            flat = logits.reshape(prod(logits.shape[:-1]), logits.shape[-1])
            values, cotangents = self(flat, batch)
            return values.reshape(len(values), *logits.shape[:-1]), cotangents.reshape(len(values), *logits.shape)
        return self._evaluate(logits, M, batch)

    def _evaluate(
        self, f: Float[np.ndarray, "members n"], M: Float[np.ndarray, "n columns"], batch: Batch
    ) -> tuple[Float[np.ndarray, "k members"], Float[np.ndarray, "k members n"]]:
        k = len(self.objectives)
        values, cotangents = np.empty((k, len(f)), f.dtype), np.empty((k, *f.shape), f.dtype)
        for i in self._losses:
            values[i], cotangents[i] = _differentiate(self.objectives[i], f, batch)
        for places, gaps, anchors, loss, same in self._kinds:
            value, pull = gaps(f, M, batch)
            if anchors is not None:
                anchored = _differentiate(loss, f, batch) if same is None else (values[same], cotangents[same])
                shares = anchors.astype(f.dtype, copy=False)
                value += shares * anchored[0]
                pull += shares[:, None] * anchored[1]
            values[places], cotangents[places] = value, pull
        return values, cotangents


def _array(tensor: Tensor) -> np.ndarray:
    return (tensor if tensor.is_cpu else tensor.cpu()).numpy()  # `cpu` takes time even for what is there


def _differentiate(objective: Objective, f: Float[np.ndarray, "members n"], batch: Batch) -> Evaluated:
    if isinstance(objective, CrossEntropy):  # needed in every step, so it has a closed form
        return _cross_entropy(objective, f, batch)
    leaf = torch.from_numpy(f).to(batch.y.device).requires_grad_()
    with torch.enable_grad(), torch.autocast(batch.y.device.type, enabled=False):
        value = objective(leaf, batch)
    [cotangent] = torch.autograd.grad(value.sum(), leaf)
    return value.detach().cpu().numpy(), cotangent.cpu().numpy()


def _cross_entropy(objective: CrossEntropy, f: Float[np.ndarray, "members n"], batch: Batch) -> Evaluated:
    """Return the mean of −log σ(z) and its derivative by the logits, ±w·(σ(z) − 1) / Σw, with z = ±f by the label."""
    y = _array(batch.y)
    share = 1 / len(y) if batch.weight is None else (batch.weight / batch.weight.sum()).cpu().numpy()
    if not objective.is_even:
        share = share * objective.weights_of(batch.y).cpu().numpy()
    sign = 2 * y - 1
    z = f * sign
    logs = np.copysign(z, -1)
    np.exp(logs, out=logs)
    logs += 1
    np.log(logs, out=logs)
    np.subtract(np.minimum(z, 0, out=z), logs, out=logs)  # log σ(z) = min(z, 0) − log(1 + exp −|z|)
    pull = np.exp(logs)
    pull -= 1
    pull *= sign * share
    logs *= -share
    return np.add.reduce(logs, -1), pull
