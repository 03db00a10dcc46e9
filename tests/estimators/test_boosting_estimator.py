"""What is special about the boosting estimator: tables as they come, points that are numbers of trees, its boosters."""

import pickle

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_contract import MEMBERS, TREES, assert_alike, small_boosting
from small_fits import GROUP, X, Y

from mamofair import Fixed, Member, MinNorm, Sigmoid
from mamofair.datasets import load_adult
from mamofair.metrics import error, gap
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS


def fitted(**parameters):
    return small_boosting(**parameters).fit(X, Y, sensitive_features=GROUP)


def jobs(n: int = 900) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return a table whose column of text decides the label, in no order that the names have."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(20, 60, n), "job": rng.choice(list("abcdefgh"), n)})
    return table, (table["job"].isin(list("adfg")) ^ (rng.random(n) < 0.1)).to_numpy(), rng.integers(0, 2, n)


# --- points and boosters


def test_points_are_a_member_and_a_number_of_trees():
    model = fitted()
    for i, point in enumerate(model.front_.points):
        member, trees = point.state
        assert (member, trees) == (point.member, point.step)
        assert 0 <= member < 4
        assert 1 <= trees <= 12
        scores = model.search_.learner.boosters[member].predict(X.to_numpy(), num_iteration=trees, raw_score=True)
        np.testing.assert_array_equal(model.at(i).decision_function(X), scores)


def test_boosters_are_saved_in_lightgbm_s_own_format_without_loss():
    model = fitted()
    for i, point in enumerate(model.front_.points):
        member, trees = point.state
        loaded = lightgbm.Booster(model_str=model.search_.learner.boosters[member].model_to_string())
        scores = loaded.predict(X.to_numpy(), num_iteration=trees, raw_score=True)
        np.testing.assert_array_equal(model.at(i).decision_function(X), scores)


def test_fitted_estimator_holds_no_training_rows():
    model = fitted(n_estimators=3, members=2)
    assert all(
        "train_set" not in vars(booster) or booster.train_set is None for booster in model.search_.learner.boosters
    )
    assert len(pickle.dumps(model)) < 100_000


def test_history_has_a_row_for_each_tree_and_member():
    history = fitted().history_
    assert len(history) == TREES * MEMBERS
    assert history["step"].tolist() == np.repeat(np.arange(1, TREES + 1), MEMBERS).tolist()
    assert {"member", "cross_entropy", "demographic_parity[group]", "hypervolume"} <= set(history)
    assert {"weight of cross_entropy", "weight of demographic_parity[group]"} <= set(history)
    assert history["cosine of cross_entropy and demographic_parity[group]"].between(-1.001, 1.001).all()
    assert history["hypervolume"].is_monotonic_increasing
    last = history[history["step"] == TREES]
    assert last["cross_entropy"].iloc[0] < history["cross_entropy"].iloc[0]  # member 0 is accuracy alone


def test_more_weight_on_the_gap_makes_it_smaller():
    model = fitted(members=[Fixed((1, 0)), Fixed((1, 1))], n_estimators=30)
    last = model.history_.groupby("member")["demographic_parity[group]"].last()
    assert last[1] < last[0] / 2
    gaps = [gap(Y, m.predict(X), sensitive_features=GROUP, notion="dp") for m in (model.at(0), model.at(-1))]
    assert gaps[1] < gaps[0]


@pytest.mark.parametrize("members", [[MinNorm()], [MinNorm(), Fixed((1, 2))], [Member(Fixed((1, 1)), seed=3)]], ids=str)
def test_members_of_any_kind_repeat_bit_for_bit(members):
    model = fitted(members=members)
    assert model.history_["member"].nunique() == len(members)
    assert_alike(model, fitted(members=members))


def test_anchor_is_for_common_descent_only():
    fixed, common = [Fixed((1, 1))], [MinNorm()]
    assert_alike(fitted(members=fixed, anchor=0.0), fitted(members=fixed, anchor=0.5))
    some, more = fitted(members=common, anchor=0.1).history_, fitted(members=common, anchor=0.5).history_
    assert some["demographic_parity[group]"].tolist() != more["demographic_parity[group]"].tolist()


def test_interruption_leaves_a_usable_estimator_with_the_front_so_far(monkeypatch):
    model, update, calls = small_boosting(), lightgbm.Booster.update, iter(range(1000))

    def interrupted(booster, *args, **kwargs):
        if next(calls) == MEMBERS * 5 + 1:
            raise KeyboardInterrupt
        return update(booster, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(lightgbm.Booster, "update", interrupted)
        with pytest.warns(UserWarning, match="interrupted"):
            model.fit(X, Y, sensitive_features=GROUP)
    assert model.history_["step"].max() == 5
    assert_alike(model, fitted(n_estimators=5))


def test_nothing_is_printed_unless_asked_for(capfd):
    model = pickle.loads(pickle.dumps(fitted()))
    model.predict(X)
    assert capfd.readouterr() == ("", "")
    fitted(verbose=1)
    printed = capfd.readouterr()
    assert not printed.out
    assert f"Step {TREES} of {TREES}" in printed.err


# --- tables as they come


@pytest.mark.parametrize(
    "as_given",
    [
        lambda t: t,
        lambda t: t.assign(job=t["job"].astype("category")),
        lambda t: t.assign(job=t["job"].astype(object)),
        lambda t: t.sample(frac=1, random_state=0).sort_index(),
        lambda t: t.set_index(np.arange(len(t))[::-1]),
        pl.DataFrame,
        lambda t: pl.DataFrame(t).with_columns(pl.col("job").cast(pl.Categorical)),
    ],
    ids=["text", "categories", "objects", "copied", "index", "polars text", "polars categories"],
)
def test_columns_of_text_or_categories_are_used_as_they_are(as_given):
    table, y, people = jobs()
    model = small_boosting(members=1, min_child_samples=5).fit(as_given(table), y, sensitive_features=people)
    assert error(y, model.predict(as_given(table))) < 0.13
    assert model.feature_names_in_.tolist() == ["age", "job"]
    [first, *_] = model.search_.learner.boosters[0].dump_model()["tree_info"]
    assert first["num_cat"] > 0  # a set of categories, not a threshold


def test_columns_may_be_named_by_numbers():
    table, y, people = jobs()
    numbered = table.set_axis([0, 1], axis=1)
    model = small_boosting(members=1, min_child_samples=5).fit(numbered, y, sensitive_features=people)
    assert error(y, model.predict(numbered)) < 0.13


def test_categories_that_are_new_count_as_missing():
    table, y, people = jobs()
    model = small_boosting().fit(table, y, sensitive_features=people)
    new, missing = table.assign(job="z"), table.assign(job=pd.Series([None] * len(table), dtype=object))
    np.testing.assert_array_equal(model.decision_function(new), model.decision_function(missing))
    fewer = table[table["job"] == "a"]  # other codes, if they were made anew
    np.testing.assert_array_equal(model.predict(fewer), model.predict(table)[table["job"] == "a"])


def test_categories_may_be_missing_in_training_and_tell_something():
    table, y, people = jobs()
    holes = table.assign(job=table["job"].where(~table["job"].isin(list("adfg"))))
    model = small_boosting(members=1, min_child_samples=5).fit(holes, y, sensitive_features=people)
    assert error(y, model.predict(holes)) < 0.13


def test_missing_numbers_are_allowed_and_tell_something():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    features = rng.normal(size=(600, 2))
    features[(y == 1) & (rng.random(600) < 0.9), 0] = np.nan
    model = small_boosting().fit(features, y, sensitive_features=rng.integers(0, 2, 600)).at(0)
    assert error(y, model.predict(features)) < 0.2


def test_tables_of_any_kind_give_the_same_front():
    model = fitted()
    for features in (X.to_numpy(), X.to_numpy().tolist(), pl.DataFrame(X), X.convert_dtypes(), X.astype(object)):
        other = small_boosting().fit(features, Y, sensitive_features=GROUP)
        np.testing.assert_array_equal(other.front_.values, model.front_.values)
        np.testing.assert_array_equal(other.predict(features), model.predict(X))


def test_adult_is_a_table_as_it_comes():
    adult = load_adult()
    rows = slice(0, 2000)
    model = small_boosting(n_estimators=20).fit(adult.X[rows], adult.y[rows], sensitive_features=adult.sensitive[rows])
    later = slice(2000, 4000)
    assert error(adult.y[later], model.at(0).predict(adult.X[later])) < 0.2


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda t: t.to_numpy(), "must be a frame.*'job'.*found ndarray"),
        (lambda t: t.drop(columns="job"), "seen at fit time"),
        (lambda t: t.assign(age="old"), "numeric: .*'old'"),
        (lambda t: t.assign(age=np.inf), "no infinity: found some in column 'age'. Set it to NaN"),
        (lambda t: t[["job", "age"]], "same order"),
    ],
    ids=["array", "column missing", "text for numbers", "infinity", "order"],
)
def test_tables_that_differ_from_the_fitted_one_are_a_clear_error(wrong, words):
    table, y, people = jobs(200)
    model = small_boosting(n_estimators=2).fit(table, y, sensitive_features=people)
    with pytest.raises(ValueError, match=words):
        model.predict(wrong(table))


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (X.assign(x1=np.inf), "no infinity: found some in column 'x1'"),
        (X.assign(x1=pd.Timestamp("2020-01-01")), "numeric"),
        (X.to_numpy().astype(str), "numeric: .*encoder"),
        (np.zeros((600, 2)), "a column that is not constant"),
        (np.zeros((600, 2, 2)), "dim 3"),
    ],
    ids=["infinity", "dates", "text in an array", "constant", "three axes"],
)
def test_features_that_cannot_be_used_are_a_clear_error(features, words):
    with pytest.raises(ValueError, match=words):
        small_boosting().fit(features, Y, sensitive_features=GROUP)


NOT_A_COUNT = [0, -1, 1.5, "3", None]
WRONG_PARAMETERS = {
    "n_estimators": NOT_A_COUNT,
    "min_child_samples": NOT_A_COUNT,
    "n_jobs": NOT_A_COUNT,
    "num_leaves": [*NOT_A_COUNT, 1],
    "learning_rate": [0, -0.1, float("nan"), "fast"],
    "members": [0, [], ["a"], [Fixed((1, 2, 3))]],
    "relaxation": ["sigmoid", Sigmoid, None],
    "anchor": [-1, None],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG_PARAMETERS.items() for value in values],
    ids=lambda value: str(value)[:30],
)
def test_parameters_are_checked_in_fit_and_not_before(name, value):
    model = small_boosting(**{name: value})
    with pytest.raises(ValueError, match="found"):
        model.fit(X, Y, sensitive_features=GROUP)
    assert not hasattr(model, "front_")


def test_more_threads_find_the_same_front_as_one():
    np.testing.assert_allclose(fitted(n_jobs=2).front_.values, fitted().front_.values)
