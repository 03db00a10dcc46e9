"""All objectives of a batch at once: their values, and their derivatives by the logits.

Any objective can be differentiated by autograd. But gaps are many, and each is a dozen operations on a handful of
numbers, whose overhead would cost more than a small network. So the gaps that share a relaxation are computed together
and in closed form. With s the relaxed indicator of ŷ = 1, M the memberships of all attributes and m = [s M, 1 M] the
masses that follow (for a one-sided relaxation also t M, with t the indicator of ŷ = 0):

    rates     r = (m A) / (m B)            A and B sum the cells of each rate's event and of its condition
    gap       r_high − r_low               over the groups that count; for ratios, divided by r_high
    gradient  ∂r/∂m = (A − r B) / (m B)    and from m back to the logits through M and s
"""

from collections.abc import Sequence
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from mamofair._rows.batches import Batch
from mamofair.notions import Confusion, Notion
from mamofair.objectives._objectives import LEAST_RATE, CrossEntropy, Gap, Objective
from mamofair.objectives._precision import full_precision
from mamofair.relaxations import Relaxation

Evaluated = tuple[Float[Tensor, "*members"], Float[Tensor, "*members n"]]


@full_precision
def evaluate(
    objectives: Sequence[Objective], logits: Float[Tensor, "*members n"], batch: Batch
) -> tuple[Float[Tensor, " k *members"], Float[Tensor, "k *members n"]]:
    """Return the objectives' values and their derivatives by the logits, the cotangents.

    Logits may carry members in front: each member then has its own values and its own cotangents. Logits in half
    precision, as autocast makes them, are welcome: values and cotangents are float32.
    """
    # A mean over strata has a dozen more terms, and is left to autograd, anchor and all.
    gaps = {i: own for i, own in enumerate(objectives) if isinstance(own, Gap) and own.notion.over != "mean"}
    found = {i: _differentiate(objectives[i], logits, batch) for i in range(len(objectives)) if i not in gaps}
    for relaxation in dict.fromkeys(gap.relaxation for gap in gaps.values()):
        ours = {i: gap for i, gap in gaps.items() if gap.relaxation == relaxation}
        found |= zip(
            ours, zip(*_gaps(relaxation, list(ours.values()), logits.detach(), batch), strict=True), strict=True
        )
    anchors = {}
    for anchor in {gap.anchor_loss for gap in gaps.values() if gap.anchor}:
        same = next((found[i] for i in found if objectives[i] == anchor), None)  # mostly the first objective
        anchors[anchor] = same or _differentiate(anchor, logits, batch)
    for i, gap in gaps.items():
        if gap.anchor:
            (value, cotangent), (loss, pull) = found[i], anchors[gap.anchor_loss]
            found[i] = value + gap.anchor * loss, cotangent + gap.anchor * pull
    values, cotangents = zip(*(found[i] for i in range(len(objectives))), strict=True)
    return torch.stack(values), torch.stack(cotangents)


def _differentiate(objective: Objective, logits: Float[Tensor, "*members n"], batch: Batch) -> Evaluated:
    if isinstance(objective, CrossEntropy):  # of every step, so it is worth a formula
        return objective.with_cotangent(logits.detach(), batch)
    leaf = logits.detach().requires_grad_()
    with torch.enable_grad():
        value = objective(leaf, batch)
    [cotangent] = torch.autograd.grad(value.sum(), leaf)
    return value.detach(), cotangent


def _gaps(
    relaxation: Relaxation, gaps: Sequence[Gap], logits: Float[Tensor, "*members n"], batch: Batch
) -> tuple[Float[Tensor, " gaps *members"], Float[Tensor, "gaps *members n"]]:
    """Return values and cotangents of gaps that share a relaxation, without their anchors."""
    M, rows = batch.memberships, batch.memberships.sum(0)
    indicators, slopes = _indicators(relaxation, logits)
    masses = torch.cat([*(indicators @ M), rows.expand(*logits.shape[:-1], -1)], dim=-1)

    spans = tuple(batch.spans[gap.attribute] for gap in gaps)
    layout = tuple(gap.notion for gap in gaps), spans, len(rows), len(indicators)
    A, B = _selectors(*layout, M.dtype, M.device)
    shape = A.shape[:-1]
    event, given = (torch.unflatten(masses @ table.flatten(0, -2).T, -1, shape) for table in (A, B))
    counts = given >= batch.one_row
    divisor = torch.where(counts, given, 1.0)  # not zero: a NaN would survive the masks
    rates = event / divisor
    high, most = torch.where(counts, rates, -torch.inf).max(-1, keepdim=True)
    low, least = torch.where(counts, rates, torch.inf).min(-1, keepdim=True)
    distance = (high - low).clamp(min=0)
    rise, fall = torch.ones_like(high), -torch.ones_like(low)
    if any(gap.notion.is_ratio for gap in gaps):
        distance, rise, fall = _divide_by_high([gap.notion.is_ratio for gap in gaps], high, distance)
    gap, worst = distance.max(-2, keepdim=True)  # the worst of a notion's rates

    # +1 for the group on top and −1 for the one at the bottom; if they are the same one, nothing is compared.
    ends = torch.zeros_like(rates).scatter_(-1, most, rise).scatter_add_(-1, least, fall)
    ends = torch.where(torch.arange(rates.shape[-2], device=M.device).unsqueeze(-1) == worst, ends, 0.0) / divisor
    by_mass = _sums(ends, A) - _sums(ends * rates, B)
    # Contiguous, or torch would multiply member by member.
    by_indicator = torch.unflatten(by_mass[..., : -len(rows)].contiguous(), -1, (len(indicators), len(rows))) @ M.T
    sides = by_indicator * slopes.movedim(0, -2).unsqueeze(-3)
    cotangents = sides.squeeze(-2) if len(indicators) == 1 else sides.sum(-2)
    return gap.squeeze((-1, -2)).movedim(-1, 0), cotangents.movedim(-2, 0)


def _divide_by_high(
    ratios: Sequence[bool],
    high: Float[Tensor, "*members gaps rates 1"],
    difference: Float[Tensor, "*members gaps rates 1"],
) -> tuple[Float[Tensor, "*members gaps rates 1"], ...]:
    """Return gaps and their derivatives by the largest and the smallest rate, where those of ratios are shortfalls.

    It is 1 − low / high, with the derivatives low / high² and −1 / high. Rates below `LEAST_RATE` divide by that.
    """
    is_ratio = torch.tensor(ratios, device=high.device)[:, None, None]
    divisor = torch.where(is_ratio, high.clamp(min=LEAST_RATE), 1.0)
    distance = difference / divisor
    return distance, (1 - torch.where(is_ratio & (high >= LEAST_RATE), distance, 0.0)) / divisor, -1 / divisor


def _sums(
    weights: Float[Tensor, "*members gaps rates groups"], table: Float[Tensor, "gaps rates groups masses"]
) -> Float[Tensor, "*members gaps masses"]:
    """Return each gap's weighted sum of the table's rows; plain products, because einsum takes longer to think."""
    return (weights.flatten(-2).unsqueeze(-2) @ table.flatten(1, 2)).squeeze(-2)


def _indicators(
    relaxation: Relaxation, logits: Float[Tensor, "*members n"]
) -> tuple[Float[Tensor, "sides *members n"], Float[Tensor, "sides *members n"]]:
    """Return the relaxed indicator of ŷ = 1 and, unless it is one minus that, of ŷ = 0; and their derivatives."""
    positive, slope = relaxation.with_slope(logits)
    leaf = logits.detach().requires_grad_()
    with torch.enable_grad():
        negative = relaxation.negative(leaf)
    if negative is None:
        return positive.unsqueeze(0), slope.unsqueeze(0)
    [fall] = torch.autograd.grad(negative.sum(), leaf)
    return torch.stack([positive, negative.detach()]), torch.stack([slope, fall])


@lru_cache(maxsize=64)
def _selectors(
    notions: tuple[Notion, ...],
    spans: tuple[tuple[int, int], ...],
    columns: int,
    sides: int,
    dtype: torch.dtype,
    device: torch.device,
) -> tuple[Float[Tensor, "gaps rates groups masses"], Float[Tensor, "gaps rates groups masses"]]:
    """Return A and B: which masses each rate's event and condition sum, for every gap and group.

    Rates within each of several strata count as so many rates, of its groups. Notions with fewer rates and attributes
    with fewer groups are padded with conditions that never hold.
    """
    halves = [(stop - start) // 2 for start, stop in spans]
    compared = [
        [(rate, block) for rate in notion.rates for block in notion.comparisons(half)]
        for notion, half in zip(notions, halves, strict=True)
    ]
    shape = (len(notions), max(map(len, compared)), max(len(block) for own in compared for _, block in own))
    A, B = torch.zeros(2, *shape, (sides + 1) * columns, dtype=dtype, device=device)
    unit = torch.eye((sides + 1) * columns, dtype=dtype, device=device)
    selected, rows = unit[:, :columns], unit[:, -columns:]
    rejected = rows - selected if sides == 1 else unit[:, columns : 2 * columns]
    for i, (own, half, (start, stop)) in enumerate(zip(compared, halves, spans, strict=True)):
        labels = slice(start, start + half), slice(start + half, stop)
        cells = Confusion(*(part[:, label] for part in (selected, rejected, rows) for label in labels))
        for j, (rate, block) in enumerate(own):
            A[i, j, : len(block)] = cells.mass(rate.event).T[block]
            B[i, j, : len(block)] = cells.mass(rate.given).T[block]
    return A, B
