"""All objectives of a batch at once: their values, and their derivatives with respect to the logits.

Autograd could differentiate any objective. But there are many gaps, and each takes a dozen operations on a handful of
numbers, whose overhead would cost more than a small network. So all gaps that share a relaxation are computed together,
in closed form. With s the relaxed indicator of ŷ = 1, M the memberships of all attributes and m = [s M, 1 M] the masses
(for a one-sided relaxation also t M, with t the indicator of ŷ = 0):

    rates     r = (m A) / (m B)            A and B sum the cells of each rate's event and of its condition
    gap       r_high − r_low               over the groups that count; for ratios, divided by r_high
    gradient  ∂r/∂m = (A − r B) / (m B)    and from m back to the logits through M and s
"""

from collections.abc import Hashable, Sequence

import numpy as np
from jaxtyping import Float

from mamofair._rows.batches import Batch
from mamofair._torch import Tensor, torch
from mamofair.notions import Confusion, Notion
from mamofair.objectives._objectives import LEAST_RATE, CrossEntropy, Gap, Objective
from mamofair.objectives._precision import full_precision
from mamofair.relaxations import Relaxation

Evaluated = tuple[Float[np.ndarray, "*members"], Float[np.ndarray, "*members n"]]


def evaluate(
    objectives: Sequence[Objective],
    logits: Tensor,  # "*members n": other shapes raise a readable error below
    batch: Batch,
) -> tuple[Float[Tensor, " k *members"], Float[Tensor, "k *members n"]]:
    """Return the objectives' values and their derivatives with respect to the logits (the cotangents).

    Logits may have leading axes for members: each member then has its own values and cotangents. Logits may be in half
    precision, as under autocast: values and cotangents are float32.
    """
    return Evaluation(objectives)(logits, batch)


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
        gaps = {i: own for i, own in enumerate(objectives) if isinstance(own, Gap) and own.notion.over != "mean"}
        self._losses = [i for i in range(len(objectives)) if i not in gaps]
        kinds = dict.fromkeys((gap.relaxation, gap.anchor_loss) for gap in gaps.values())
        self._gaps = [
            {i: gap for i, gap in gaps.items() if (gap.relaxation, gap.anchor_loss) == kind} for kind in kinds
        ]
        self._tables: dict[Hashable, np.ndarray] = {}

    @full_precision
    def __call__(
        self, logits: Float[Tensor, "*members n"], batch: Batch
    ) -> tuple[Float[Tensor, " k *members"], Float[Tensor, "k *members n"]]:
        """Return what `evaluate` does.

        For so few numbers, NumPy takes a fifth of torch's time; logits on another device are moved to the CPU.
        """
        k, kind = len(self.objectives), batch.memberships.cpu().numpy().dtype
        values, cotangents = np.empty((k, *logits.shape[:-1]), kind), np.empty((k, *logits.shape), kind)
        for i in self._losses:
            values[i], cotangents[i] = _differentiate(self.objectives[i], logits, batch)
        for ours in self._gaps:
            values[list(ours)], cotangents[list(ours)] = _gaps(
                list(ours.values()), logits.detach(), batch, self._tables
            )
            anchored = {i: gap.anchor for i, gap in ours.items() if gap.anchor}
            if anchored:
                loss = next(iter(ours.values())).anchor_loss
                same = next((i for i in self._losses if self.objectives[i] == loss), None)  # mostly the first one
                value, pull = _differentiate(loss, logits, batch) if same is None else (values[same], cotangents[same])
                for i, anchor in anchored.items():
                    values[i] += anchor * value
                    cotangents[i] += anchor * pull
        return torch.from_numpy(values).to(logits.device), torch.from_numpy(cotangents).to(logits.device)


def _differentiate(objective: Objective, logits: Float[Tensor, "*members n"], batch: Batch) -> Evaluated:
    if isinstance(objective, CrossEntropy):  # needed in every step, so it has a closed form
        value, cotangent = objective.with_cotangent(logits.detach(), batch)
        return value.cpu().numpy(), cotangent.cpu().numpy()
    leaf = logits.detach().requires_grad_()
    with torch.enable_grad():
        value = objective(leaf, batch)
    [cotangent] = torch.autograd.grad(value.sum(), leaf)
    return value.detach().cpu().numpy(), cotangent.cpu().numpy()


@np.errstate(invalid="ignore", over="ignore")
def _gaps(
    gaps: Sequence[Gap],
    logits: Float[Tensor, "*members n"],
    batch: Batch,
    known: dict[Hashable, Float[np.ndarray, "2 _ _ _ _"]],
) -> tuple[Float[np.ndarray, " gaps *members"], Float[np.ndarray, "gaps *members n"]]:
    """Return values and cotangents of gaps that share a relaxation, without their anchors.

    `known` caches tables that depend only on the batch's attributes. Callers check that logits are finite; NumPy must
    not warn before they do.
    """
    indicators, slopes = (part.cpu().numpy() for part in _indicators(gaps[0].relaxation, logits))
    M = batch.memberships.cpu().numpy()
    *members, sides, n = indicators.shape
    masses = np.empty((*members, sides + 1, M.shape[1]), M.dtype)
    np.matmul(indicators, M, out=masses[..., :-1, :])
    masses[..., -1, :] = np.ones(n, M.dtype) @ M
    key = id(gaps[0]), tuple(batch.spans.items()), M.dtype
    if key not in known:
        spans = [batch.spans[gap.attribute] for gap in gaps]
        known[key] = _selectors([gap.notion for gap in gaps], spans, M.shape[1], sides, M.dtype)
    values, by_mass = _distances(known[key], [gap.notion.is_ratio for gap in gaps], masses, float(batch.one_row))
    by_indicator = (by_mass[..., :-1, :].reshape(-1, M.shape[1]) @ M.T).reshape(len(gaps), *members, sides, n)
    by_indicator *= slopes
    return values, by_indicator[..., 0, :] if sides == 1 else by_indicator.sum(-2)


def _distances(
    tables: Float[np.ndarray, "2 gaps rates groups masses"],
    ratios: Sequence[bool],
    masses: Float[np.ndarray, "*members kinds columns"],
    one_row: float,
) -> tuple[Float[np.ndarray, " gaps *members"], Float[np.ndarray, "gaps *members kinds columns"]]:
    """Return gaps and their derivatives with respect to the masses."""
    flat = masses.reshape(-1, tables.shape[-1]).T  # (masses, members)
    shape = (*tables.shape[1:-1], flat.shape[1])  # (gaps, rates, groups, members)
    event, given = (tables.reshape(-1, len(flat)) @ flat).reshape(2, *shape)
    counts = given >= one_row
    divisor = np.where(counts, given, 1)  # divide by one instead of zero: a NaN would survive the masks
    rates = event / divisor
    highs, lows = np.where(counts, rates, -np.inf), np.where(counts, rates, np.inf)
    high, low = highs.max(2, keepdims=True), lows.min(2, keepdims=True)
    distance = np.maximum(high - low, 0)
    rise, fall = np.ones_like(high), -np.ones_like(low)
    if any(ratios):
        distance, rise, fall = _divide_by_high(ratios, high, distance)

    # +1 for the group with the largest rate and −1 for the one with the smallest; if they are the same group, nothing
    # is compared. A constant model, as boosting is at first, has rates that differ only by rounding, which must not
    # decide between groups: among equal rates, the first counts as the largest and the last as the smallest.
    places = 12 if rates.dtype == np.float64 else 5
    top, bottom = highs.round(places).argmax(2), shape[2] - 1 - lows.round(places)[:, :, ::-1].argmin(2)
    rate, group = np.arange(shape[1])[:, None, None], np.arange(shape[2])[:, None]
    ends = rise * (group == top[:, :, None]) + fall * (group == bottom[:, :, None])
    ends *= (rate == distance.argmax(1)[:, None]) & counts  # the worst of a notion's rates
    ends /= divisor
    by_rate = np.stack([ends, -ends * rates]).reshape(2, shape[0], -1, shape[-1])
    A, B = tables.reshape(2, shape[0], -1, len(flat))
    by_mass = by_rate[0].mT @ A + by_rate[1].mT @ B  # (gaps, members, masses)
    values = distance.max(1).reshape(shape[0], *masses.shape[:-2])
    return values, by_mass.reshape(shape[0], *masses.shape)


def _divide_by_high(
    ratios: Sequence[bool],
    high: Float[np.ndarray, "gaps rates 1 members"],
    difference: Float[np.ndarray, "gaps rates 1 members"],
) -> tuple[Float[np.ndarray, "gaps rates 1 members"], ...]:
    """Return gaps and their derivatives by the largest and the smallest rate; gaps of ratios are shortfalls.

    A shortfall is 1 − low / high, with the derivatives low / high² and −1 / high; `high` is at least `LEAST_RATE`.
    """
    is_ratio = np.array(ratios)[:, None, None, None]
    divisor = np.where(is_ratio, np.maximum(high, LEAST_RATE), 1)
    distance = difference / divisor
    return distance, (1 - np.where(is_ratio & (high >= LEAST_RATE), distance, 0)) / divisor, -1 / divisor


def _indicators(
    relaxation: Relaxation, logits: Float[Tensor, "*members n"]
) -> tuple[Float[Tensor, "*members sides n"], Float[Tensor, "*members sides n"]]:
    """Return the relaxed indicators of ŷ = 1 and, unless it is one minus that, of ŷ = 0, with their derivatives."""
    positive, slope = relaxation.with_slope(logits)
    if type(relaxation).negative is not Relaxation.negative:
        leaf = logits.detach().requires_grad_()
        with torch.enable_grad():
            negative = relaxation.negative(leaf)
        if negative is not None:
            [fall] = torch.autograd.grad(negative.sum(), leaf)
            return torch.stack([positive, negative.detach()], dim=-2), torch.stack([slope, fall], dim=-2)
    return positive.unsqueeze(-2), slope.unsqueeze(-2)


def _selectors(
    notions: Sequence[Notion], spans: Sequence[tuple[int, int]], columns: int, sides: int, dtype: np.dtype
) -> Float[np.ndarray, "2 gaps rates groups masses"]:
    """Return A and B: the masses that each rate's event and condition add up, for every gap and group.

    A rate within several strata counts as one rate per stratum. Notions with fewer rates and attributes with fewer
    groups are padded with conditions that never hold.
    """
    halves = [(stop - start) // 2 for start, stop in spans]
    compared = [
        [(rate, block) for rate in notion.rates for block in notion.comparisons(half)]
        for notion, half in zip(notions, halves, strict=True)
    ]
    shape = (len(notions), max(map(len, compared)), max(len(block) for own in compared for _, block in own))
    A, B = tables = np.zeros((2, *shape, (sides + 1) * columns), dtype)
    unit = np.eye((sides + 1) * columns, dtype=dtype)
    selected, rows = unit[:, :columns], unit[:, -columns:]
    rejected = rows - selected if sides == 1 else unit[:, columns : 2 * columns]
    for i, (own, half, (start, stop)) in enumerate(zip(compared, halves, spans, strict=True)):
        labels = slice(start, start + half), slice(start + half, stop)
        cells = Confusion(*(part[:, label] for part in (selected, rejected, rows) for label in labels))
        for j, (rate, block) in enumerate(own):
            A[i, j, : len(block)] = cells.mass(rate.event).T[block]
            B[i, j, : len(block)] = cells.mass(rate.given).T[block]
    return tables
