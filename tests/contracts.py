"""Contracts: one function for each kind of thing that can be plugged in, run over everything the package exports."""

import numpy as np
import torch

from examples_of_points import front
from mamofair import descent, relaxations, selection
from mamofair._rows.batches import Batch
from mamofair._rows.groups import Groups
from mamofair.notions import Cell, Confusion, Notion
from mamofair.objectives import Gap, evaluate
from mamofair.relaxations import Relaxation

RELAXATIONS = tuple(getattr(relaxations, name)() for name in relaxations.__all__ if name != "Relaxation")
WEIGHTINGS = (descent.MinNorm(), descent.PublishedFrankWolfe(), descent.Fixed((1, 2, 3)))
SELECTIONS = (
    selection.ClosestToIdeal(),
    selection.ClosestToIdeal(ideal="front"),
    selection.ClosestToIdeal(normalize=True),
    selection.MostAccurateWithin(0.5),
    selection.FairestWithin(0.5),
    selection.Weighted({"error": 1, "demographic_parity[a]": 1}),
    selection.Knee(),
)


def people(groups: int, n: int = 60, seed: int = 0) -> tuple[np.ndarray, Groups]:
    """Return random labels and groups, some of them unknown."""
    rng = np.random.default_rng([groups, n, seed])
    codes = rng.integers(-1, groups, size=(n, 1))
    return rng.integers(0, 2, size=n), Groups(("a",), (tuple(range(groups)),), codes)


def batch_of(y: np.ndarray, groups: Groups, weight: np.ndarray | None = None) -> Batch:
    return Batch.of(torch.zeros(len(y), 1, dtype=torch.float64), y, groups.memberships(y, weight), weight)


def slow_gap(notion: Notion, y: np.ndarray, positive: np.ndarray, codes: np.ndarray) -> float:
    """The definition, row by row."""
    cells = {(1, 1): Cell.TP, (1, 0): Cell.FP, (0, 1): Cell.FN, (0, 0): Cell.TN}
    gaps = []
    for rate in notion.rates:
        found = []
        for group in set(codes.tolist()) - {-1}:
            rows = [cells[int(p), int(t)] for p, t, g in zip(positive, y, codes, strict=True) if g == group]
            given = [cell for cell in rows if cell in rate.given]
            if given:
                found.append(sum(cell in rate.event for cell in given) / len(given))
        high, low = max(found, default=0), min(found, default=0)
        distance = high - low if notion.compare == "difference" else 1 - low / high if high else 0
        gaps.append(distance if len(found) >= 2 else float("nan"))
    return max(gaps) if not any(np.isnan(gaps)) else float("nan")


def check_notion(notion: Notion) -> None:
    """Bounds, symmetry, zero for equal groups, the definition as oracle, a sentence, finite cotangents."""
    assert notion.sentence.startswith("P(ŷ") or notion.sentence.startswith("P(y")
    for size in (2, 3, 5):
        y, groups = people(size)
        positive = np.random.default_rng(size).random(len(y)) < 0.5
        gap = notion.gap(Confusion.of_rows(positive.astype(float), groups.memberships(y)["a"]))
        np.testing.assert_allclose(gap, slow_gap(notion, y, positive, groups.codes[:, 0]))
        assert 0 <= gap <= 1
        renamed = Groups(groups.names, groups.values, np.where(groups.codes < 0, -1, size - 1 - groups.codes))
        assert notion.gap(Confusion.of_rows(positive.astype(float), renamed.memberships(y)["a"])) == gap
        alike = Groups(("a",), (tuple(range(size)),), np.repeat(np.arange(size), len(y))[:, None])
        tiled = np.tile(y, size)
        assert notion.gap(Confusion.of_rows(np.tile(positive, size).astype(float), alike.memberships(tiled)["a"])) == 0
        logits = torch.from_numpy(np.random.default_rng(size).normal(size=len(y)))
        for relaxation in RELAXATIONS:
            if (notion.conditions_on_prediction or notion.is_ratio) and not relaxation.bounded:
                continue
            values, cotangents = evaluate([Gap(notion, "a", relaxation)], logits, batch_of(y, groups))
            assert values.isfinite().all()
            assert cotangents.isfinite().all()


def check_relaxation(relaxation: Relaxation) -> None:
    """Monotone, finite gradients also at the boundary, within [0, 1] if bounded, hashable, and its own repr."""
    logits = torch.linspace(-6, 6, 241, dtype=torch.float64, requires_grad=True)
    positive = relaxation(logits)
    assert positive.shape == logits.shape
    assert (positive.diff() >= 0).all()
    [gradient] = torch.autograd.grad(positive.sum(), logits)
    assert gradient.isfinite().all()
    negative = relaxation.negative(logits)
    negative = 1 - positive if negative is None else negative
    assert (negative.diff() <= 0).all()
    if relaxation.bounded:
        assert ((positive >= 0) & (positive <= 1) & (negative >= 0) & (positive + negative <= 1)).all()
    assert eval(repr(relaxation), vars(relaxations)) == relaxation
    assert hash(eval(repr(relaxation), vars(relaxations))) == hash(relaxation)


def check_weighting(weighting: descent.Weighting) -> None:
    """On the simplex, in the Gramian's dtype, and (unless the weights are fixed) blind to the order of objectives."""
    assert isinstance(weighting, descent.Weighting)
    for seed in range(20):
        J = torch.from_numpy(np.random.default_rng(seed).normal(size=(3, 8)))
        weights = weighting(J @ J.T)
        assert weights.dtype == J.dtype
        assert (weights >= 0).all()
        torch.testing.assert_close(weights.sum(), torch.tensor(1.0, dtype=J.dtype))
        if not isinstance(weighting, descent.Fixed):
            order = [2, 0, 1]
            torch.testing.assert_close(weighting(J[order] @ J[order].T), weights[order])


def check_selection(rule: selection.Selection) -> None:
    """Returns a row of the front, the same point in whatever order the points came, and never a needless constant."""
    assert isinstance(rule, selection.Selection)
    rng = np.random.default_rng(0)
    for _ in range(20):
        rows = [tuple(row) for row in np.unique(rng.integers(1, 500, size=(8, 3)), axis=0).tolist()]
        ours = front(*rows)
        chosen = rule(ours)
        assert 0 <= chosen < len(ours)
        shuffled = front(*[rows[i] for i in rng.permutation(len(rows))])
        np.testing.assert_array_equal(shuffled.values[rule(shuffled)], ours.values[chosen])
        fair_but_useless = front((400, 0, 0), *rows, constants=(0,))
        assert not fair_but_useless.is_constant[rule(fair_but_useless)]
