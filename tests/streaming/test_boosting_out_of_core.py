"""Boosting on rows that are on disk: the same front as in memory, also if members are trained one after another."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair import FairBoostingClassifier, FairPortfolioClassifier
from mamofair._rows import disk
from mamofair._rows.splits import row_places
from mamofair._rows.views import RowView
from mamofair.estimators._reading import draw_seed
from mamofair.learners.boosting.out_of_core import Plan
from mamofair.objectives import CustomObjective

ROWS, MEMBERS, TREES = 700, 3, 4
LARGE, SMALL = "1GB", "120kB"  # memory for all members at once, and for one of them


def people() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], ROWS)
    X = np.column_stack([rng.normal(2 + (sex == "m"), 1, ROWS), rng.integers(18, 80, ROWS), rng.normal(size=ROWS)])
    y = (X[:, 0] + rng.normal(size=ROWS) > 2.6).astype(int)
    X[rng.random(ROWS) < 0.05, 0] = np.nan
    return X, y, sex


def batches(weight: np.ndarray | None = None, size: int = 150) -> list[tuple[np.ndarray | None, ...]]:
    parts = (*people(), weight, np.arange(ROWS, dtype=np.uint64))
    return [tuple(None if own is None else own[i : i + size] for own in parts) for i in range(0, ROWS, size)]


def boosting(**options) -> FairBoostingClassifier:
    settings = {"members": MEMBERS, "n_estimators": TREES, "max_points": 1000, "random_state": 0}
    return FairBoostingClassifier(**settings | options)


def in_memory(model: FairBoostingClassifier, weight: np.ndarray | None = None) -> FairBoostingClassifier:
    """The same fit with rows in memory, and the held-back rows of the stream."""
    held_back = row_places(np.arange(ROWS, dtype=np.uint64), draw_seed(0)) < 0.25
    X, y, sex = people()
    return model.set_params(validation_fraction=held_back).fit(X, y, sensitive_features=sex, sample_weight=weight)


def table(model: FairBoostingClassifier) -> pd.DataFrame:
    """The front in an order that does not depend on which point came first."""
    frame = model.front_.frame()
    return frame.sort_values(list(frame.columns), ignore_index=True)


def scores(model: FairBoostingClassifier) -> list[np.ndarray]:
    """The scores of each member with all trees."""
    return [booster.predict(people()[0]) for booster in model.search_.learner.boosters]


OPTIONS = pytest.mark.parametrize(
    "options", [{}, {"notions": ["dp", "eopp"], "performance": "balanced_error"}], ids=["one gap", "two gaps"]
)


@OPTIONS
def test_the_front_is_that_of_the_same_rows_in_memory_bit_for_bit(options, monkeypatch):
    monkeypatch.setattr(disk, "PIECE", 64)  # rows on disk are read in several pieces
    streamed, expected = boosting(**options).fit_stream(batches(), memory=LARGE), in_memory(boosting(**options))
    pd.testing.assert_frame_equal(table(streamed), table(expected), check_exact=True)
    for ours, theirs in zip(scores(streamed), scores(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@OPTIONS
def test_members_that_are_trained_one_after_another_differ_by_rounding_alone(options):
    streamed, expected = boosting(**options).fit_stream(batches(), memory=SMALL), in_memory(boosting(**options))
    for ours, theirs in zip(scores(streamed), scores(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert pickle.loads(pickle.dumps(streamed)).predict(people()[0]).tolist() == streamed.predict(people()[0]).tolist()


def test_rows_reserved_for_calibration_are_measured_but_not_trained_on():
    model = boosting(calibration_fraction=0.1).fit_stream(batches(), memory=SMALL)
    sizes = model.search_.sizes
    assert model.front_.points[0].calibration.overall.sum() == sizes["calibration"] > 30
    assert sum(sizes.values()) == ROWS


def test_weights_count_and_custom_objectives_see_the_features():
    weight = np.random.default_rng(1).choice([1.0, 2.0], ROWS)  # which single precision has exactly
    steady = CustomObjective("steady", lambda logits, batch: (logits * (batch.x[:, 1] > 40)).square().mean(-1) / 10)
    models = [boosting(objectives=[steady]) for _ in range(2)]
    streamed = models[0].fit_stream(batches(weight), memory=LARGE)
    pd.testing.assert_frame_equal(table(streamed), table(in_memory(models[1], weight)), rtol=1e-5)
    assert "steady" in streamed.front_.frame()


def test_members_that_are_trained_one_after_another_make_as_many_rounds_as_trees():
    for memory in (LARGE, SMALL):
        model = boosting()
        fitting = model.fitting_stream(batches(), memory=memory)
        steps = [len(own.search_.learner.boosters) for own in fitting]
        assert steps == ([MEMBERS] * TREES if memory == LARGE else [1, 2, 3, 3])
        assert sorted(model.history_["member"]) == sorted([*range(MEMBERS)] * TREES)
        assert {point.member for point in model.front_.points} <= set(range(MEMBERS))


@pytest.mark.filterwarnings("ignore:.* rows are held back, instead of 25%")
def test_memory_that_is_too_small_for_one_member_trains_on_fewer_rows():
    with pytest.warns(UserWarning, match=r"Models are trained on \d\d% of \d+ rows, to stay within `memory`: "):
        model = boosting().fit_stream(batches(), memory="60kB")
    assert model.search_.sizes["train"] + model.search_.sizes["validation"] == ROWS


def test_features_of_held_back_rows_are_on_disk_unless_custom_metrics_look_at_them():
    _, parts = boosting(calibration_fraction=0.1).start_stream(batches(), LARGE)
    for part in parts.held_back:
        assert isinstance(part.X, RowView)
        assert len(part.X) == len(part.y) > 30
        assert set(np.asarray(part.X)[:, 2]) <= set(people()[0][:, 2])  # each row's own number
    steady = CustomObjective("steady", lambda logits, batch: logits.square().mean(-1))
    _, parts = boosting(objectives=[steady]).start_stream(batches(), LARGE)
    assert isinstance(parts.valid.X, np.ndarray)


def test_a_portfolio_trains_boosting_from_disk():
    named = [("boosting", boosting(max_points=200))]
    mixed = FairPortfolioClassifier(named, max_points=1000, random_state=0).fit_stream(batches(), memory=SMALL)
    expected = table(boosting().fit_stream(batches(), memory=SMALL))
    pd.testing.assert_frame_equal(table(mixed)[expected.columns], expected, check_exact=True)


@given(st.integers(1, 10**8), st.integers(0, 10**7), st.integers(1, 40), st.integers(1, 10**10))
def test_more_memory_never_means_fewer_rows_or_members_at_once(rows, held_back, members, memory):
    def plan(memory: int) -> Plan:
        return Plan.of(memory, rows, held_back, columns=20, groups=2, members=members, objectives=2)

    little, much = plan(memory), plan(2 * memory)
    assert 0 < little.share <= much.share <= 1
    assert 1 <= little.at_once <= much.at_once <= members
    assert little.at_once == 1 or little.share == 1
    assert plan(int(little.memory) + 1).share == 1
