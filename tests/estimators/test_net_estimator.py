"""The contract of the network estimator: what it finds, what it predicts, and how other points are had."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from small_fits import GROUP, X, Y, assert_same, fitted, small, two_attributes

from mamofair import MLP, ClosestToIdeal, FairNetClassifier, Fixed, Knee, MinNorm, MostAccurateWithin, Notion, Rate
from mamofair.descent import PublishedFrankWolfe
from mamofair.estimators._inputs import Rows, hold_back
from mamofair.groups import read_groups
from mamofair.metrics import error, gap
from mamofair.notions import DEMOGRAPHIC_PARITY, FP, TN
from mamofair.objectives import SquaredError
from mamofair.relaxations import Published, Sigmoid, Tanh


@pytest.fixture(scope="module")
def model() -> FairNetClassifier:
    return fitted(epochs=8)


def held_back(model: FairNetClassifier) -> np.ndarray:
    """Return the numbers of the rows that the toy's fit with `random_state=0` held back."""
    seed = check_random_state(0).randint(2**31 - 1)
    rows = Rows(np.arange(len(X)), Y.to_numpy(), read_groups(GROUP), None)
    return hold_back(rows, (model.validation_fraction, 0.0), np.random.default_rng(seed))[1].X


def test_front_is_what_the_held_back_rows_say_of_each_point(model):
    valid = held_back(model)
    assert len(model.front_) >= 3
    for i, row in model.front_.frame().iterrows():
        decided = model.at(i).predict(X.iloc[valid])
        assert error(Y[valid], decided) == pytest.approx(row["error"])
        unfairness = gap(Y[valid], decided, sensitive_features=GROUP.iloc[valid], notion="demographic_parity")
        assert unfairness == pytest.approx(row["demographic_parity[group]"])


def test_frame_is_sorted_by_error_and_nothing_on_it_is_dominated(model):
    frame = model.front_.frame()
    assert list(frame.columns) == ["error", "demographic_parity[group]"]
    assert frame["error"].is_monotonic_increasing
    assert frame["demographic_parity[group]"].is_monotonic_decreasing
    assert ((frame >= 0) & (frame <= 1)).all(axis=None)


def test_fitted_attributes_are_those_of_the_contract(model):
    assert model.selected_ == ClosestToIdeal()(model.front_)
    assert model.classes_.tolist() == [0, 1]
    assert model.notions_ == {"group": (DEMOGRAPHIC_PARITY,)}
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["x1", "x2"]
    history = model.history_
    assert {"epoch", "step", "member", "cross_entropy", "demographic_parity[group]"} <= set(history)
    assert {"weight of cross_entropy", "weight of demographic_parity[group]"} <= set(history)
    assert history["cosine of cross_entropy and demographic_parity[group]"].dropna().between(-1.001, 1.001).all()
    assert len(history) == 8 * 4 * 3  # epochs, snapshots, members
    assert history["hypervolume"].dropna().is_monotonic_increasing


@pytest.mark.parametrize("name", ["front_", "selected_", "history_"])
def test_nothing_is_fitted_before_fit(name):
    assert not hasattr(small(), name)
    for attempt in (lambda m: m.predict(X), lambda m: m.at(0), lambda m: m.with_selection(Knee())):
        with pytest.raises(NotFittedError):
            attempt(small())


LABELS = {
    "integers": [0, 1],
    "other integers": [3, 7],
    "booleans": [False, True],
    "strings": ["no", "yes"],
    "floats": [-1.0, 1.0],
    "integers as objects": pd.Series([0, 1], dtype=object),
    "pandas integers": pd.array([0, 1], dtype="Int64"),
    "pandas booleans": pd.array([False, True], dtype="boolean"),
    "categories": pd.Categorical(["no", "yes"]),
    "polars strings": pl.Series(["no", "yes"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type_come_back_as_given(kind, model):
    labels = LABELS[kind]
    unfavorable, favorable = (getattr(label, "item", lambda label=label: label)() for label in labels)
    y = labels.gather(Y.to_numpy()) if isinstance(labels, pl.Series) else pd.Series(labels)[Y.to_numpy()]
    other = small(epochs=8).fit(X, y, sensitive_features=GROUP)
    assert other.classes_.tolist() == [unfavorable, favorable]
    assert [type(label) for label in other.classes_.tolist()] == [type(unfavorable), type(favorable)]
    assert other.predict(X).tolist() == [favorable if decided else unfavorable for decided in model.predict(X)]


def test_favorable_label_decides_what_counts_as_positive():
    """Of "denied" and "approved" the larger is "denied": equal opportunity would be equal refusals of the unfit."""
    y = Y.map({0: "denied", 1: "approved"})
    model = small(notions="tpr", favorable="approved").fit(X, y, sensitive_features=GROUP)
    assert_same(model, fitted(notions="tpr"))
    assert_same(
        small(notions="tpr").fit(X, y, sensitive_features=GROUP),
        small(notions="tpr").fit(X, 1 - Y, sensitive_features=GROUP),
    )


@pytest.mark.parametrize("favorable", ["approved", "denied"])
def test_decisions_scores_and_probabilities_agree(favorable):
    y = Y.map({0: "approved", 1: "denied"})
    model = small(favorable=favorable).fit(X, y, sensitive_features=GROUP)
    decided, scores, shares = model.predict(X), model.decision_function(X), model.predict_proba(X)
    assert 0 < (decided == "denied").mean() < 1
    assert model.classes_.tolist() == ["approved", "denied"]
    np.testing.assert_array_equal(decided == "denied", scores > 0)
    np.testing.assert_array_equal(decided == "denied", shares[:, 1] > 0.5)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(np.argsort(scores), np.argsort(shares[:, 1]))
    assert model.score(X, y) > 0.6


def test_batches_of_new_rows_do_not_change_their_scores(model):
    whole = model.decision_function(X)
    one_by_one = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(0, len(X), 60)])
    np.testing.assert_allclose(one_by_one, whole[::60], rtol=1e-12)
    assert whole.dtype == np.float64


def test_prediction_of_more_rows_than_a_chunk_is_that_of_its_parts(model):
    many = pd.concat([X] * 8, ignore_index=True)
    np.testing.assert_allclose(model.decision_function(many), np.tile(model.decision_function(X), 8), rtol=1e-12)


def test_at_gives_fitted_copies_and_leaves_the_original_alone(model):
    before = model.predict(X)
    copies = [model.at(i) for i in range(len(model.front_))]
    assert [copy.selected_ for copy in copies] == list(range(len(model.front_)))
    assert model.at(-1).selected_ == len(model.front_) - 1
    assert any((copy.predict(X) != before).any() for copy in copies)
    np.testing.assert_array_equal(model.predict(X), before)
    np.testing.assert_array_equal(copies[model.selected_].predict(X), before)
    for beyond in (len(model.front_), -len(model.front_) - 1):
        with pytest.raises(IndexError, match=f"rows 0 to {len(model.front_) - 1}: found {beyond}"):
            model.at(beyond)


def test_with_selection_gives_a_fitted_copy_whose_rule_can_still_be_changed(model):
    before = model.predict(X)
    fairest = model.with_selection(MostAccurateWithin(float(model.front_.values[:, 1].min()), allow_constant=True))
    assert fairest.selected_ == len(model.front_) - 1
    np.testing.assert_array_equal(fairest.predict(X), model.at(-1).predict(X))
    np.testing.assert_array_equal(model.predict(X), before)
    assert fairest.set_params(selection=ClosestToIdeal()).selected_ == model.selected_
    assert model.at(0).with_selection(ClosestToIdeal()).selected_ == model.selected_


def test_bound_that_nothing_meets_is_an_error_when_it_is_needed_and_not_before():
    notion = Notion("opposed", (Rate(FP, given=FP | TN),))
    model = small(notions=[notion, "tpr"], selection=MostAccurateWithin(0.0), members=[Fixed((1, 0, 0))], epochs=1)
    model.fit(X, Y, sensitive_features=GROUP)
    assert len(model.front_.frame()) >= 1
    for needs in (lambda: model.selected_, lambda: model.predict(X)):
        with pytest.raises(ValueError, match="bounds"):
            needs()
    with pytest.raises(ValueError, match="bounds"):
        model.with_selection(MostAccurateWithin(0.0))
    assert model.with_selection(ClosestToIdeal()).predict(X).shape == (len(X),)


@pytest.mark.parametrize("members", [3, [MinNorm()], [MinNorm(), Fixed((1, 2))]], ids=str)
def test_integer_random_state_gives_the_same_front_bit_for_bit(members):
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002  # the caller's, which must not matter
    first = fitted(members=members)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.manual_seed(2)
    try:
        assert_same(first, fitted(members=members))
    finally:
        torch.set_num_threads(threads)
    other = fitted(members=members, random_state=1)
    assert first.history_["cross_entropy"].tolist() != other.history_["cross_entropy"].tolist()


def test_random_states_and_threads_of_the_caller_are_untouched():
    legacy, ours, threads = np.random.get_state(), torch.get_rng_state(), torch.get_num_threads()  # noqa: NPY002
    model = fitted()
    model.predict(X)
    assert torch.equal(torch.get_rng_state(), ours)
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), legacy, strict=True))  # noqa: NPY002
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), deepcopy], ids=["pickle", "deepcopy"])
def test_copies_predict_alike(copied, model):
    for original in (model, model.at(0), model.with_selection(Knee())):
        twin = copied(original)
        np.testing.assert_array_equal(twin.decision_function(X), original.decision_function(X))
        assert_same(twin, original)
        pd.testing.assert_frame_equal(twin.history_, original.history_)


def test_clone_is_unfitted_and_fits_to_the_same(model):
    twin = clone(model)
    assert not hasattr(twin, "front_")
    assert repr(twin) == repr(model)
    assert_same(twin.fit(X, Y, sensitive_features=GROUP), model)


def test_fitting_again_starts_anew(model):
    twin = deepcopy(model)
    assert_same(twin.fit(X, Y, sensitive_features=GROUP), model)


def test_notions_can_be_said_in_many_ways():
    people, dp = two_attributes(), "demographic_parity"
    ways = {
        (f"{dp}[group]", f"{dp}[region]"): ["demographic_parity", DEMOGRAPHIC_PARITY, "dp", ["ddp"], ("DP", "dp")],
        (f"{dp}[group]", "equal_opportunity[group]"): [
            {"group": ["dp", "tpr"]},
            {"group": ("dp", "deo"), "region": []},
        ],
        (f"{dp}[region]",): [{"region": "dp"}],
    }
    for columns, said in ways.items():
        for notions in said:
            model = small(notions=notions, epochs=1).fit(X, Y, sensitive_features=people)
            assert tuple(model.front_.frame().columns) == ("error", *columns)


def test_notion_of_ones_own_is_trained_and_named():
    ours = Notion("false_alarms", (Rate(FP, given=FP | TN),))
    assert list(fitted(notions=ours, epochs=1).front_.frame()) == ["error", "false_alarms[group]"]


def test_crossing_is_one_more_attribute():
    model = small(crossed=True, epochs=1).fit(X, Y, sensitive_features=two_attributes())
    assert list(model.front_.frame().columns)[1:] == [
        f"demographic_parity[{name}]" for name in ("group", "region", "group*region")
    ]
    only = small(crossed=True, notions={"group*region": "dp"}, epochs=1).fit(X, Y, sensitive_features=two_attributes())
    assert list(only.front_.frame().columns) == ["error", "demographic_parity[group*region]"]


def test_people_of_unknown_group_train_accuracy_and_are_left_out_of_that_gap():
    people = two_attributes(unknown=200)
    model = small(calibration_fraction=0.2).fit(X, Y, sensitive_features=people)
    for point in model.front_.points:
        everyone = point.valid.overall.sum()
        assert everyone == 150
        assert point.valid.counts["group"].sum() == everyone
        assert point.valid.counts["region"].sum() < everyone


def test_relaxation_may_differ_by_notion():
    one = fitted(notions=["dp", "tpr"], relaxation={"dp": Tanh(3), "equal_opportunity": Sigmoid(3)})
    default = fitted(notions=["dp", "tpr"])
    other = fitted(notions=["dp", "tpr"], relaxation={"dp": Tanh(3)})
    column = "demographic_parity[group]"
    assert one.history_[column].tolist() != default.history_[column].tolist()
    assert_same(one, other)  # what is not named has the default


def test_calibration_rows_are_counted_and_neither_trained_nor_archived_on():
    model = fitted(calibration_fraction=0.2)
    for point in model.front_.points:
        assert point.calibration.overall.sum() == 120
        assert point.valid.overall.sum() == 150
    assert all(point.calibration is None for point in fitted().front_.points)


def test_archive_is_bounded(model):
    few = fitted(epochs=8, max_points=3)
    assert len(model.front_) > len(few.front_) == 3
    np.testing.assert_array_equal(few.front_.values.min(axis=0), model.front_.values.min(axis=0))


def test_validation_fraction_decides_how_many_rows_are_held_back():
    for fraction in (0.1, 0.5):
        assert fitted(validation_fraction=fraction).front_.points[0].valid.overall.sum() == fraction * len(X)


def test_as_published_has_the_parameters_of_the_text():
    text = FairNetClassifier.as_published(notions="tpr", epochs=2)
    assert (text.members, text.relaxation, text.anchor) == ([MinNorm()], Tanh(3), 0.1)
    assert (text.network, text.learning_rate, text.standardize) == (MLP((60, 25), 0.2), 0.01, False)
    assert (text.snapshots, text.patience, text.selection) == (1, None, ClosestToIdeal(allow_constant=True))
    assert (text.notions, text.epochs) == ("tpr", 2)


def test_as_published_has_the_parameters_of_the_code():
    code = FairNetClassifier.as_published(code=True)
    assert code.members == [PublishedFrankWolfe()]
    assert code.relaxation["demographic_parity"] == Published(3)
    assert code.relaxation["equal_opportunity"] == Published(5)
    assert code.anchor_loss == SquaredError()
    assert code.network == MLP((60, 25), 0.2, weight_std=0.02)
    assert code.learning_rate == FairNetClassifier.as_published().learning_rate


@pytest.mark.parametrize("code", [False, True], ids=["text", "code"])
def test_as_published_runs_and_archives_once_an_epoch(code):
    model = FairNetClassifier.as_published(code=code, notions=["dp", "tpr"], epochs=4, random_state=0)
    model.fit(X, Y, sensitive_features=GROUP)
    assert len(model.history_) == 4
    assert list(model.front_.frame()) == ["error", "demographic_parity[group]", "equal_opportunity[group]"]
    assert set(np.unique(model.predict(X))) <= {0, 1}
    assert_same(model, clone(model).fit(X, Y, sensitive_features=GROUP))
