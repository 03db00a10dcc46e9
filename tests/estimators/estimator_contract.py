"""The contract of estimators: what every one of them does, whatever it learns with.

A new estimator is one line in `ESTIMATORS`: a function from parameters to an estimator that is quick to fit, and finds
several points on the toy.
"""

import pickle
from collections.abc import Callable
from copy import deepcopy
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.utils
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from small_fits import GROUP, X, Y, small, two_attributes

from mamofair import (
    ClosestToIdeal,
    FairBoostingClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
    Knee,
    MostAccurateWithin,
    Notion,
    Rate,
)
from mamofair._rows.groups import read_groups
from mamofair.estimators import FairClassifier
from mamofair.learners.rows import Rows, hold_back
from mamofair.metrics import error, gap
from mamofair.notions import DEMOGRAPHIC_PARITY, FP, TN

Make = Callable[..., FairClassifier]


TREES, MEMBERS = 8, 3


def small_boosting(**parameters: Any) -> FairBoostingClassifier:
    """Return a boosting estimator that is quick to fit."""
    return FairBoostingClassifier(**{"members": MEMBERS, "n_estimators": TREES, "random_state": 0} | parameters)


def small_plugin(**parameters: Any) -> FairPlugInClassifier:
    """Return a plug-in that is quick to fit, and measured on rows that are held back."""
    return FairPlugInClassifier(GaussianNB(), **{"cv": None, "effort": "fast", "random_state": 0} | parameters)


def small_portfolio(**parameters: Any) -> FairPortfolioClassifier:
    """Return a portfolio that is quick to fit."""
    members = [("net", small(epochs=1)), ("boosting", small_boosting(n_estimators=2)), ("plugin", small_plugin())]
    return FairPortfolioClassifier(members, **{"random_state": 0} | parameters)


ESTIMATORS: dict[str, Make] = {
    "net": partial(small, epochs=5),
    "boosting": small_boosting,
    "plugin": small_plugin,
    "portfolio": small_portfolio,
}

LABELS = {
    "integers": [3, 7],
    "booleans": [False, True],
    "strings": ["no", "yes"],
    "floats": [-1.0, 1.0],
    "integers as objects": pd.Series([0, 1], dtype=object),
    "pandas integers": pd.array([0, 1], dtype="Int64"),
    "pandas booleans": pd.array([False, True], dtype="boolean"),
    "categories": pd.Categorical(["no", "yes"]),
    "polars strings": pl.Series(["no", "yes"]),
}


@cache
def fitted(make: Make) -> FairClassifier:
    """Return the estimator fitted to the toy; tests share it, and must not change it."""
    return make().fit(X, Y, sensitive_features=GROUP)


def assert_alike(one: FairClassifier, other: FairClassifier) -> None:
    """Same front and, at every point of it, the same scores, bit for bit."""
    pd.testing.assert_frame_equal(one.front_.frame(), other.front_.frame(), check_exact=True)
    assert (one.score_all(X) == other.score_all(X)).all()  # of every point, at once: one by one takes seconds


def held_back(model: FairClassifier) -> np.ndarray:
    """Return the numbers of the rows that the toy's fit with `random_state=0` held back."""
    seed = sklearn.utils.check_random_state(0).randint(2**31 - 1)
    rows = Rows(np.arange(len(X)), Y.to_numpy(), read_groups(GROUP), None)
    return hold_back(rows, (model.validation_fraction, 0.0), np.random.default_rng(seed))[1].X


def check_front_is_what_the_held_back_rows_say_of_each_point(make: Make) -> None:
    model = fitted(make)
    valid = held_back(model)
    assert len(model.front_) >= 3
    for i, row in model.front_.frame().iterrows():
        decided = model.at(i).predict(X.iloc[valid])
        assert error(Y[valid], decided) == pytest.approx(row["error"])
        unfairness = gap(Y[valid], decided, sensitive_features=GROUP.iloc[valid], notion="demographic_parity")
        assert unfairness == pytest.approx(row["demographic_parity[group]"])


def check_frame_is_sorted_by_error_and_nothing_on_it_is_dominated(make: Make) -> None:
    frame = fitted(make).front_.frame()
    assert list(frame.columns)[:2] == ["error", "demographic_parity[group]"]
    assert [name for name in frame if "[" in name] == ["demographic_parity[group]"]
    assert frame["error"].is_monotonic_increasing
    assert frame["demographic_parity[group]"].is_monotonic_decreasing
    values = frame[["error", "demographic_parity[group]"]]
    assert ((values >= 0) & (values <= 1)).all(axis=None)


def check_fitted_attributes_are_those_of_the_contract(make: Make) -> None:
    model = fitted(make)
    assert model.selected_ == ClosestToIdeal()(model.front_)
    assert model.classes_.tolist() == [0, 1]
    assert model.notions_ == {"group": (DEMOGRAPHIC_PARITY,)}
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["x1", "x2"]
    assert isinstance(model.history_, pd.DataFrame)


def check_nothing_is_fitted_before_fit(make: Make) -> None:
    for name in ("front_", "selected_", "history_"):
        assert not hasattr(make(), name)
    for attempt in (lambda m: m.predict(X), lambda m: m.at(0), lambda m: m.with_selection(Knee())):
        with pytest.raises(NotFittedError):
            attempt(make())


def check_people_are_needed_to_fit_and_not_to_predict(make: Make) -> None:
    with pytest.raises(ValueError, match=r"needs `sensitive_features`.*enable_metadata_routing"):
        make().fit(X, Y)
    with pytest.raises(ValueError, match="one row per sample: found 599 rows for 600"):
        make().fit(X, Y, sensitive_features=GROUP[:-1])
    assert fitted(make).predict(X.iloc[:7]).shape == (7,)


def check_labels_of_any_type_come_back_as_given(make: Make) -> None:
    decided = next(make().fitting(X, Y, sensitive_features=GROUP)).predict(X)  # one step has all labels
    for labels in LABELS.values():
        unfavorable, favorable = (getattr(label, "item", lambda label=label: label)() for label in labels)
        y = labels.gather(Y.to_numpy()) if isinstance(labels, pl.Series) else pd.Series(labels)[Y.to_numpy()]
        model = make(favorable=None if favorable == 1 else favorable)
        other = next(model.fitting(X, y, sensitive_features=GROUP))
        assert other.favorable_ == favorable
        assert other.classes_.tolist() == [unfavorable, favorable]
        assert [type(label) for label in other.classes_.tolist()] == [type(unfavorable), type(favorable)]
        assert other.predict(X).tolist() == [favorable if one else unfavorable for one in decided]


def check_favorable_label_decides_what_counts_as_positive(make: Make) -> None:
    """The alphabet must not decide: with "denied", equal opportunity would be equal refusals of the unfit."""
    y = Y.map({0: "denied", 1: "approved"})
    asked = make(notions="tpr", favorable="approved").fit(X, y, sensitive_features=GROUP)
    assert_alike(asked, make(notions="tpr").fit(X, Y, sensitive_features=GROUP))
    denied = make(notions="tpr", favorable="denied").fit(X, y, sensitive_features=GROUP)
    assert_alike(denied, make(notions="tpr").fit(X, 1 - Y, sensitive_features=GROUP))
    assert (asked.favorable_, denied.favorable_) == ("approved", "denied")
    assert repr(denied).endswith("# the favorable outcome is 'denied'")
    assert repr(fitted(make)).endswith("# the favorable outcome is 1")
    with pytest.raises(
        ValueError, match=r"must name the favorable label.*'approved' and 'denied' in `y`.*`favorable=…`"
    ):
        make(notions="tpr").fit(X, y, sensitive_features=GROUP)


def check_decisions_scores_and_probabilities_agree(make: Make) -> None:
    y = Y.map({0: "approved", 1: "denied"})
    for favorable in ("approved", "denied"):
        model = make(favorable=favorable).fit(X, y, sensitive_features=GROUP)
        decided, scores, shares = model.predict(X), model.decision_function(X), model.predict_proba(X)
        assert 0 < (decided == "denied").mean() < 1
        assert model.classes_.tolist() == ["approved", "denied"]
        np.testing.assert_array_equal(decided == "denied", scores > 0)
        np.testing.assert_array_equal(decided == "denied", shares[:, 1] > 0.5)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert (np.diff(shares[np.argsort(scores, kind="stable"), 1]) >= 0).all()
        assert model.score(X, y) > 0.6


def check_batches_of_new_rows_do_not_change_their_scores(make: Make) -> None:
    model = fitted(make)
    whole = model.decision_function(X)
    assert whole.dtype == np.float64
    one_by_one = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(0, len(X), 60)])
    np.testing.assert_allclose(one_by_one, whole[::60], rtol=1e-12)
    many = pd.concat([X] * 8, ignore_index=True)
    np.testing.assert_allclose(model.decision_function(many), np.tile(whole, 8), rtol=1e-12)


def check_at_gives_fitted_copies_and_leaves_the_original_alone(make: Make) -> None:
    model = fitted(make)
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


def check_with_selection_gives_a_fitted_copy_whose_rule_can_still_be_changed(make: Make) -> None:
    model = fitted(make)
    before = model.predict(X)
    smallest = float(model.front_.values[:, 1].min())
    fairest = model.with_selection(MostAccurateWithin(smallest, margin=0, allow_constant=True))
    assert fairest.selected_ == len(model.front_) - 1
    np.testing.assert_array_equal(fairest.predict(X), model.at(-1).predict(X))
    np.testing.assert_array_equal(model.predict(X), before)
    assert fairest.set_params(selection=ClosestToIdeal()).selected_ == model.selected_
    assert model.at(0).with_selection(ClosestToIdeal()).selected_ == model.selected_


def check_integer_random_state_gives_the_same_front_bit_for_bit(make: Make) -> None:
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002  # the caller's, which must not matter
    first = make().fit(X, Y, sensitive_features=GROUP)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.manual_seed(2)
    try:
        assert_alike(first, make().fit(X, Y, sensitive_features=GROUP))
    finally:
        torch.set_num_threads(threads)
    other = make(random_state=1).fit(X, Y, sensitive_features=GROUP)
    assert first.front_.values.tolist() != other.front_.values.tolist()


def check_random_states_and_threads_of_the_caller_are_untouched(make: Make) -> None:
    legacy, ours, threads = np.random.get_state(), torch.get_rng_state(), torch.get_num_threads()  # noqa: NPY002
    make().fit(X, Y, sensitive_features=GROUP).predict(X)
    assert torch.equal(torch.get_rng_state(), ours)
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), legacy, strict=True))  # noqa: NPY002
    assert torch.get_num_threads() == threads


def check_copies_predict_alike(make: Make) -> None:
    model = fitted(make)
    for copied in (lambda m: pickle.loads(pickle.dumps(m)), deepcopy):
        for original in (model, model.at(0), model.with_selection(Knee())):
            twin = copied(original)
            assert twin.selected_ == original.selected_
            assert_alike(twin, original)
            pd.testing.assert_frame_equal(twin.history_, original.history_)


def check_clone_is_unfitted_and_fits_to_the_same(make: Make) -> None:
    model = fitted(make)
    twin = clone(model)
    assert not hasattr(twin, "front_")
    assert repr(twin) == repr(model).removesuffix("  # the favorable outcome is 1")
    assert_alike(twin.fit(X, Y, sensitive_features=GROUP), model)
    assert_alike(twin.fit(X, Y, sensitive_features=GROUP), model)  # and again, from the start


def check_notions_can_be_said_in_many_ways(make: Make) -> None:
    people, dp = two_attributes(), "demographic_parity"
    ways: dict[tuple[str, ...], list[Any]] = {
        (f"{dp}[group]", f"{dp}[region]"): ["demographic_parity", DEMOGRAPHIC_PARITY, ["ddp"], ("DP", "dp")],
        (f"{dp}[group]", "equal_opportunity[group]"): [
            {"group": ["dp", "tpr"]},
            {"group": ("dp", "deo"), "region": []},
        ],
        (f"{dp}[region]",): [{"region": "dp"}],
        ("false_alarms[group]", "false_alarms[region]"): [Notion("false_alarms", (Rate(FP, given=FP | TN),))],
    }
    for columns, said in ways.items():
        for notions in said:
            model = next(make(notions=notions).fitting(X, Y, sensitive_features=people))  # one step has all columns
            assert tuple(name for name in model.front_.frame() if "[" in name) == columns


def check_crossing_is_one_more_attribute(make: Make) -> None:
    model = make(crossed=True).fit(X, Y, sensitive_features=two_attributes())
    assert [name for name in model.front_.frame() if "[" in name] == [
        f"demographic_parity[{name}]" for name in ("group", "region", "group*region")
    ]


def check_people_of_unknown_group_train_accuracy_and_are_left_out_of_that_gap(make: Make) -> None:
    people = two_attributes(unknown=200)
    model = make(calibration_fraction=0.2).fit(X, Y, sensitive_features=people)
    for point in model.front_.points:
        everyone = point.valid.overall.sum()
        assert everyone == 150
        assert point.valid.counts["group"].sum() == everyone
        assert point.valid.counts["region"].sum() < everyone


def check_calibration_rows_are_counted_and_neither_trained_nor_archived_on(make: Make) -> None:
    for point in make(calibration_fraction=0.2).fit(X, Y, sensitive_features=GROUP).front_.points:
        assert point.calibration.overall.sum() == 120
        assert point.valid.overall.sum() == 150
    assert all(point.calibration is None for point in fitted(make).front_.points)


def check_archive_is_bounded(make: Make) -> None:
    few = make(max_points=2).fit(X, Y, sensitive_features=GROUP)
    assert len(fitted(make).front_) > len(few.front_) == 2
    np.testing.assert_array_equal(few.front_.values.min(axis=0), fitted(make).front_.values.min(axis=0))


def check_validation_fraction_decides_how_many_rows_are_held_back(make: Make) -> None:
    for fraction in (0.1, 0.5):
        model = make(validation_fraction=fraction).fit(X, Y, sensitive_features=GROUP)
        assert model.front_.points[0].valid.overall.sum() == fraction * len(X)


def check_rows_of_weight_zero_are_left_out(make: Make) -> None:
    keep = np.random.default_rng(0).random(len(X)) < 0.6
    weighted = make().fit(X, Y, sensitive_features=GROUP, sample_weight=keep.astype(float))
    removed = make().fit(X[keep], Y[keep], sensitive_features=GROUP[keep], sample_weight=np.ones(keep.sum()))
    assert_alike(weighted, removed)


def check_fitting_yields_the_estimator_usable_so_far(make: Make) -> None:
    model = make()
    for step in model.fitting(X, Y, sensitive_features=GROUP):
        assert step is model
        assert model.predict(X).shape == (len(X),)
    assert_alike(model, fitted(make))
