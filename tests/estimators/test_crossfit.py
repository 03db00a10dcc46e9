"""Cross-fitting: every row measures, every row trains, and what is measured is what folds say."""

import numpy as np
import pytest
from estimator_contract import small_boosting
from small_fits import GROUP, X, Y, small

from mamofair import MostAccurateWithin
from mamofair._rows.groups import read_groups
from mamofair._rows.splits import stratified_order
from mamofair.learners import Parts, Rows

pytestmark = pytest.mark.usefixtures("short_search")

MAKES = {"net": small, "boosting": small_boosting}


@pytest.fixture(params=MAKES)
def make(request):
    return MAKES[request.param]


@pytest.fixture
def model(make):
    return make(cv=3).fit(X, Y, sensitive_features=GROUP)


def test_points_are_measured_on_every_row(model):
    assert all(point.valid.overall.sum() == len(Y) for point in model.front_.points)
    assert all(point.calibration is None for point in model.front_.points)


def test_counts_of_a_point_are_the_sum_of_what_folds_count(make):
    """By hand: train each fold alone, measure the rows it has not seen, and add up."""
    model = make(cv=3).fit(X, Y, sensitive_features=GROUP)
    rows = Rows(X.to_numpy(), Y.to_numpy(), read_groups(GROUP), None)
    rng = np.random.default_rng(model.search_.task.seed)
    order = stratified_order(np.column_stack([rows.y, rows.groups.codes]), rng)
    fold = np.empty(len(rows), dtype=int)
    fold[order] = np.repeat([0, 1, 2], len(rows) // 3)
    expected: dict[tuple[int, int], np.ndarray] = {}
    for i in range(3):
        part = rows[fold != i]
        twin, parts = model.search_.learner.for_fold(rows, part), Parts(part, rows[fold == i], rows[:0])
        moments = twin.candidates(model.search_.task, parts, model.search_.archive)
        for moment, candidates in enumerate(moments):
            for member in {point.member for point in candidates.points}:  # with several offsets each
                own = np.stack([point.valid.overall for point in candidates.points if point.member == member])
                expected[member, moment] = expected.get((member, moment), 0) + own
    moments = sorted(set(model.history_["step"]))  # of the whole, in step with those of the folds
    for point in model.front_.points:
        counted = expected[point.member, moments.index(point.step)]
        assert (counted == point.valid.overall).all(axis=1).any()


@pytest.mark.parametrize("folds", [2, 4])
def test_every_fold_trains_on_both_labels(make, folds):
    """As many rows of either label come in turns when they are put in order."""
    front = make(cv=folds).fit(X, Y, sensitive_features=GROUP).front_
    assert front.values[:, 0].min() < 0.3


def test_the_kept_models_have_seen_all_rows(make):
    """A row that one fold holds back still changes the model that predicts."""
    flipped = Y.to_numpy().copy()
    flipped[:60] = 1 - flipped[:60]
    one = make(cv=2).fit(X, Y, sensitive_features=GROUP)
    other = make(cv=2).fit(X, flipped, sensitive_features=GROUP)
    assert (one.at(0)._scores(X) != other.at(0)._scores(X)).any()


def test_the_same_seed_gives_the_same_front(make):
    one, other = (make(cv=2).fit(X, Y, sensitive_features=GROUP) for _ in range(2))
    np.testing.assert_array_equal(one.front_.values, other.front_.values)
    np.testing.assert_array_equal(one.at(0)._scores(X), other.at(0)._scores(X))


def test_few_rows_still_step_together():
    few = slice(None, None, 4)
    model = small(cv=5).fit(X[few], Y[few], sensitive_features=GROUP[few])
    assert len(model.front_) >= 1


def test_weights_count(make):
    weight = np.linspace(0.5, 1.5, len(Y))
    model = make(cv=2).fit(X, Y, sensitive_features=GROUP, sample_weight=weight)
    assert model.front_.points[0].valid.overall.sum() == pytest.approx(weight.sum())


def test_confidence_does_not_go_with_folds(make, model):
    with pytest.raises(ValueError, match=r"`calibration_fraction` must be 0 with `cv`"):
        make(cv=2, calibration_fraction=0.2).fit(X, Y, sensitive_features=GROUP)
    rule = MostAccurateWithin(0.5, confidence=0.9)
    with pytest.raises(ValueError, match=r"needs calibration rows: set `calibration_fraction`, and cv=None"):
        make(cv=2, selection=rule).fit(X, Y, sensitive_features=GROUP)
    with pytest.raises(ValueError, match=r"found none. .* fit again, without `cv`"):
        model.with_selection(rule)


def test_warm_start_does_not_go_with_folds():
    with pytest.raises(ValueError, match=r"`warm_start` must be False with `cv`"):
        small(cv=2, warm_start=True).fit(X, Y, sensitive_features=GROUP)


@pytest.mark.parametrize("folds", [1, 0, 2.5, "5"])
def test_folds_are_at_least_two(make, folds):
    with pytest.raises(ValueError, match="`cv` must be None or an integer of at least 2"):
        make(cv=folds).fit(X, Y, sensitive_features=GROUP)
