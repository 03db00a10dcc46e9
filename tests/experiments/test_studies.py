"""Studies of the sharpness of relaxations and of the anchor."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from mamofair._descent.networks import MLP, Population
from mamofair._descent.training import isolated
from mamofair._rows.batches import Batch
from mamofair._rows.groups import read_groups
from mamofair.experiments import EXPERIMENTS, Reproduction
from mamofair.experiments._probe import probe
from mamofair.experiments._study import TITLES, Run, explore, tabulate
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.relaxations import Linear, Sigmoid, Tanh

SHARPNESS, ANCHOR = EXPERIMENTS["study-sharpness"], EXPERIMENTS["study-anchor"]


@pytest.fixture
def population():
    with isolated(0):
        return Population([MLP((8,), 0.0)(3) for _ in range(2)])


@pytest.fixture
def batches():
    rng = np.random.default_rng(0)
    rows = [(rng.normal(size=(200, 3)), rng.integers(2, size=(2, 200))) for _ in range(3)]
    return [
        Batch.of(torch.tensor(x, dtype=torch.float32), y, read_groups(pd.Series(group, name="sex")).memberships(y))
        for x, (y, group) in rows
    ]


def test_a_sharper_relaxation_is_nearer_to_the_exact_gap(population, batches):
    far, near = (probe(population, batches, DEMOGRAPHIC_PARITY, "sex", Tanh(c)) for c in (1.0, 1000.0))
    assert near["distance"].mean() < far["distance"].mean()
    assert (near["distance"] < 0.02).all()


def test_every_row_is_live_in_a_linear_relaxation_and_at_most_the_positive_ones_in_htr(population, batches):
    linear, one_sided, two_sided = (
        probe(population, batches, EQUAL_OPPORTUNITY, "sex", r)["live"] for r in (Linear(), Tanh(1.0), Sigmoid(1.0))
    )
    assert linear.tolist() == [1, 1]
    assert (one_sided < two_sided).all()


def test_a_probe_has_a_value_for_each_member(population, batches):
    found = probe(population, batches, DEMOGRAPHIC_PARITY, "sex", Sigmoid(3))
    assert {values.shape for values in found.values()} == {(2,)}
    assert (found["cosine"].abs() <= 1).all()
    assert (found["noise"] > 0).all()


def test_the_grid_of_sharpness_is_the_issues():
    runs = SHARPNESS.runs(range(1), False)
    relaxations = {run.key["relaxation"] for run in runs}
    assert len(relaxations) == 8 * 2 + 2
    assert len(runs) == len(relaxations) * 2 * 2  # data sets; alone and as a population
    assert len({str(run.key) for run in runs}) == len(runs)


@pytest.mark.parametrize("population", [False, True])
def test_a_run_measures_both_notions(population):
    record = explore(Run("compas", Tanh(3.0), 0.1, population, 0, quick=True))
    frame = tabulate([record])
    assert frame["notion"].tolist() == ["demographic_parity", "equal_opportunity"]
    assert frame["HVt"].between(0, 1.2).all()
    assert frame["distance"].between(0, 1).all()


def test_a_quick_study_has_records_a_figure_and_a_page(tmp_path):
    half = replace(ANCHOR, runs=lambda *given: [run for run in ANCHOR.runs(*given) if isinstance(run.relaxation, Tanh)])
    outcome = Reproduction(tmp_path, range(1), quick=True)(half)
    assert {path.name for path in outcome.files} == {"anchor.md", "study-anchor.png", "study-anchor.svg"}
    text = (tmp_path / "anchor.md").read_text()
    assert all(title in text for title in TITLES.values())
    assert "rank correlation" in text
