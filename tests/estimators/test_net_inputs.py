"""What `fit` and `predict` take, and what they say of what they do not take."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from small_fits import GROUP, X, Y, fitted, small, two_attributes
from torch import nn

from mamofair import MLP, ClosestToIdeal, Fixed, MinNorm, MostAccurateWithin, Sigmoid
from mamofair.datasets import load_adult
from mamofair.learners.numbers import Scaling
from mamofair.metrics import error, gap
from mamofair.relaxations import Linear
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.mark.parametrize(
    ("features", "labels", "people"),
    [
        (X.to_numpy(), Y.to_numpy(), GROUP.to_numpy()),
        (X.to_numpy().tolist(), Y.tolist(), GROUP["group"].tolist()),
        (pl.DataFrame(X), pl.Series(Y), pl.DataFrame(GROUP)),
        (X.convert_dtypes(), Y.astype("Int64"), GROUP["group"].astype("category")),
        (X.set_axis([0, 1], axis=1), Y, {"group": GROUP["group"]}),
        (X.astype(object), Y.astype(object), GROUP.astype(object)),
        (np.asfortranarray(X), Y, GROUP),
        (torch.tensor(X.to_numpy()), torch.tensor(Y.to_numpy()), GROUP["group"]),
    ],
    ids=["arrays", "lists", "polars", "nullable", "integer names", "objects", "fortran", "torch"],
)
def test_tables_of_any_kind_give_the_same_front(model, features, labels, people):
    other = small().fit(features, labels, sensitive_features=people)
    np.testing.assert_array_equal(other.front_.values, model.front_.values)
    np.testing.assert_array_equal(other.predict(features), model.predict(X))


def test_polars_columns_are_found_by_name(model):
    other = small().fit(pl.DataFrame(X), Y, sensitive_features=GROUP)
    assert other.feature_names_in_.tolist() == ["x1", "x2"]
    with pytest.raises(ValueError, match="same order"):
        other.predict(pl.DataFrame(X[["x2", "x1"]]))


def test_columns_without_a_name_are_numbered():
    assert list(small(epochs=1).fit(X, Y, sensitive_features=GROUP.to_numpy()).front_.frame()) == [
        "error",
        "demographic_parity[sensitive_0]",
    ]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float16, np.float32])
def test_numbers_of_any_type_are_features(dtype):
    features = X > 2 if dtype is bool else (10 * X + 60).astype(dtype)
    model = small().fit(features, Y, sensitive_features=GROUP)
    assert error(Y, model.predict(features)) < 0.45


# --- weights


def imbalanced() -> np.ndarray:
    """Return integer weights that matter: rows of one group and label count fourfold."""
    return np.where((GROUP["group"] == "protected") & (Y == 1), 4, 1)


def test_equal_weights_are_no_weights(model):
    for weight in (1.0, 250.0):
        other = small().fit(X, Y, sensitive_features=GROUP, sample_weight=np.full(len(X), weight))
        np.testing.assert_allclose(other.history_["cross_entropy"], model.history_["cross_entropy"], rtol=1e-3)
        np.testing.assert_allclose(
            other.history_["demographic_parity[group]"], model.history_["demographic_parity[group]"], atol=2e-3
        )


def test_weights_count_like_repeated_rows():
    """In what is measured exactly, since the counts are weighted, and in what is learned on average."""
    weight = imbalanced()
    rows = np.repeat(np.arange(len(X)), weight)
    settings = {"members": [Fixed((1, 0))], "epochs": 20, "patience": None, "learning_rate": 0.02, "pieces": 0}
    shares = []
    for seed in range(4):  # at a single one, two such models differ by 0.05
        weighted, repeated, plain = (small(**settings, snapshots=1, random_state=seed) for _ in range(3))
        weighted.fit(X, Y, sensitive_features=GROUP, sample_weight=weight)
        repeated.fit(X.iloc[rows], Y.iloc[rows], sensitive_features=GROUP.iloc[rows])
        plain.fit(X, Y, sensitive_features=GROUP)
        shares.append([model.predict(X).mean() for model in (weighted, repeated, plain)])
    of_weighted, of_repeated, of_plain = np.mean(shares, axis=0)
    assert of_weighted == pytest.approx(of_repeated, abs=0.08)
    assert min(of_weighted, of_repeated) > of_plain + 0.15  # more rows with y = 1 are worth finding
    point = weighted.front_.points[0].valid
    assert point.overall.sum() == pytest.approx(0.25 * weight.sum(), rel=0.1)
    assert point.squares is not None


def test_weights_balance_classes_as_class_weight_does():
    """One in ten is positive: unweighted, hardly anyone is found; with balanced weights most are."""
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.1).astype(int)
    features = rng.normal(size=(600, 2)) + 0.8 * y[:, None]
    people, weight = rng.integers(0, 2, 600), np.where(y == 1, 9.0, 1.0)
    settings = {"members": [Fixed((1, 0))], "epochs": 20, "max_points": 2, "pieces": 0}
    with pytest.warns(UserWarning, match=r"Only 8\.7% of rows have the favorable label"):
        plain = small(**settings).fit(features, y, sensitive_features=people).at(0)
    balanced = small(**settings).fit(features, y, sensitive_features=people, sample_weight=weight).at(0)
    assert plain.predict(features)[y == 1].mean() < 0.4
    assert balanced.predict(features)[y == 1].mean() > 0.6


# --- bad input: one clear error each

OTHER_Y = Y.to_numpy()
SAME_LABEL = GROUP.assign(group=np.where(Y == 1, "unprotected", GROUP["group"]))
WRONG_DATA = {
    "NaN": ({"X": X.where(X["x2"] < 4)}, "no NaN and no infinity: found some in column 'x1', 'x2'"),
    "NaN in an array": ({"X": X.assign(x2=np.nan).to_numpy()}, "in column 1"),
    "infinity": ({"X": X.assign(x1=np.inf)}, "in column 'x1'"),
    "too large": ({"X": X.assign(x1=-1e155)}, "and 1e100 to learn from: found larger ones in column 'x1'"),
    "NaN in an image": ({"X": np.full((600, 2, 3), np.nan)}, "in column 0, 1"),
    "strings": ({"X": X.assign(x1="tall")}, "numeric: .*'tall'.*encoder"),
    "strings in an array": ({"X": X.to_numpy().astype(str)}, "numeric: .*encoder"),
    "a table as it comes": ({"X": load_adult().X[:600]}, "numeric: .*encoder"),
    "dates": ({"X": X.assign(x1=pd.Timestamp("2020-01-01"))}, "numeric: .*encoder"),
    "one axis": ({"X": X["x1"].to_numpy()}, "Expected 2D array"),
    "three classes": ({"y": np.arange(600) % 3}, "binary .* found the classes 0, 1, 2. Merge"),
    "many classes": ({"y": np.arange(600) % 50}, "binary .* 0, 1, 2, 3, 4, 5, …"),
    "one class": ({"y": np.ones(600)}, "two classes: found one class only, 1.0"),
    "one class with a weight": ({"y": OTHER_Y, "sample_weight": OTHER_Y}, "two classes: found one class only, 1"),
    "numbers as labels": ({"y": np.linspace(0, 1, 600)}, "continuous"),
    "missing label": ({"y": Y.astype(float).where(Y.index > 0)}, "no missing value: found 1 of 600"),
    "missing text label": ({"y": [None, *Y.astype(str)[1:]]}, "no missing value: found 1 of 600"),
    "infinite label": ({"y": np.where(Y == 1, np.inf, 0)}, "infinity"),
    "labels of the wrong length": ({"y": OTHER_Y[:-1]}, "one label per sample: found 599 for 600"),
    "no people": ({"sensitive_features": None}, "needs `sensitive_features`.*enable_metadata_routing"),
    "people of the wrong length": ({"sensitive_features": GROUP[:-1]}, "one row per sample: found 599 rows for 600"),
    "one group": ({"sensitive_features": ["a"] * 600}, r"at least two groups: found 'a'"),
    "nobody's group known": ({"sensitive_features": [None] * 600}, r"at least two groups: found none"),
    "as many groups as people": ({"sensitive_features": np.arange(600)}, "Bin it"),
    "weights of the wrong length": ({"sample_weight": [1, 2]}, "found 2 for 600"),
    "negative weights": ({"sample_weight": -np.ones(600)}, "non-negative"),
}


@pytest.mark.parametrize("case", WRONG_DATA)
def test_data_that_cannot_be_used_is_a_clear_error(case):
    wrong, words = WRONG_DATA[case]
    given = {"X": X, "y": Y, "sensitive_features": GROUP} | wrong
    with pytest.raises(ValueError, match=words):
        small().fit(given.pop("X"), given.pop("y"), **given)


def test_group_without_the_rows_a_notion_needs_is_named():
    with pytest.raises(ValueError, match=r"equal_opportunity .* group 'protected' of 'group' has no row with y=1"):
        small(notions="equal_opportunity").fit(X, Y, sensitive_features=SAME_LABEL)
    small(notions="fpr", epochs=1).fit(X, Y, sensitive_features=SAME_LABEL)


@pytest.mark.parametrize("matrix", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_features_are_refused_with_advice(matrix):
    with pytest.raises(TypeError, match="toarray"):
        small().fit(matrix(X.to_numpy()), Y, sensitive_features=GROUP)


def test_rows_to_predict_are_checked_as_well(model):
    with pytest.raises(ValueError, match="column 'x2'"):
        model.predict(X.assign(x2=np.nan))
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(X.assign(x3=1))
    with pytest.raises(ValueError, match="3 features"):
        small().fit(X.to_numpy(), Y, sensitive_features=GROUP).predict(np.zeros((5, 3)))


NOT_A_COUNT = [0, -1, 1.5, "3", None]
WRONG_PARAMETERS = {
    "epochs": NOT_A_COUNT,
    "batch_size": NOT_A_COUNT,
    "micro_batch": NOT_A_COUNT[:-1],
    "snapshots": NOT_A_COUNT,
    "max_points": [*NOT_A_COUNT, 1],
    "patience": NOT_A_COUNT[:-1],
    "members": [0, -1, 1.5, [], MinNorm(), [MinNorm], ["a"], [Fixed((1, 2, 3))]],
    "learning_rate": [0, -0.1, float("nan"), float("inf"), "fast", None],
    "offsets": [0.5, None, ["a"], (float("nan"),)],
    "averaging": [-0.1, 1.0, None],
    "anchor": [-1, None, "a"],
    "validation_fraction": [0, 1, -0.5, 1.5, None],
    "calibration_fraction": [-0.1, 1, 0.75],
    "selection": ["closest", ClosestToIdeal, None],
    "relaxation": ["sigmoid", Sigmoid, {"dp": "sigmoid"}, {"dpp": Sigmoid(3)}, None],
    "anchor_loss": ["mse", None],
    "network": ["mlp", None, nn.Linear(2, 1), str],
    "device": ["nowhere", "mps:99", 3.5],
    "notions": [5, None, [], {}, "demografic_parity", ["dp", "equal_oportunity"], {"grup": "dp"}],
    "favorable": ["yes", 2],
    "random_state": ["a"],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG_PARAMETERS.items() for value in values],
    ids=lambda value: str(value)[:30],
)
def test_parameters_are_checked_in_fit_and_not_before(name, value):
    model = small(**{name: value})
    with pytest.raises(ValueError, match=r"[Ff]ound|Did you mean|cannot be used to seed") as caught:
        model.fit(X, Y, sensitive_features=GROUP)
    assert not hasattr(model, "front_")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("notions", "near"),
    [
        ("demografic_parity", "demographic_parity"),
        (["dp", "equal_oportunity"], "equal_opportunity"),
        ({"grup": "dp"}, "one of: group"),
    ],
    ids=str,
)
def test_unknown_names_offer_the_nearest(notions, near):
    with pytest.raises(ValueError, match=f"Did you mean {near}"):
        small(notions=notions).fit(X, Y, sensitive_features=GROUP)


def test_relaxation_that_does_not_fit_the_notion_is_an_error():
    with pytest.raises(ValueError, match="predictive_parity is conditioned on the prediction"):
        small(notions="ppv", relaxation=Linear()).fit(X, Y, sensitive_features=GROUP)


# --- little data, and rare groups


@pytest.mark.parametrize("rows", [8, 20, 50])
def test_few_rows_are_enough_to_run(rows):
    few = X[:rows], Y[:rows]
    people = np.arange(rows) // 2 % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of groups that cannot be measured
        model = small().fit(*few, sensitive_features=people)
    assert model.predict(X[:1]).shape == (1,)


def test_groups_that_cannot_be_measured_are_warned_of():
    people = GROUP["group"].astype(object).where(np.arange(600) > 1, "rare")  # two rows
    seen = []
    for seed in range(4):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = small(epochs=1, random_state=seed, min_group=1).fit(X, Y, sensitive_features=people)
        counts = model.front_.points[0].valid.counts["group"].sum(axis=1)
        assert bool(caught) == bool((counts == 0).any())
        seen += [str(warning.message) for warning in caught]
    assert seen
    assert all("demographic_parity[group] cannot be measured for 'rare'" in words for words in seen)


def test_rows_held_back_have_the_shares_of_labels_and_groups():
    people = two_attributes()
    point = small(epochs=1).fit(X, Y, sensitive_features=people).front_.points[0].valid
    for name in people:
        held = point.counts[name]
        positives, negatives = held[:, [0, 2]].sum(axis=1), held[:, [1, 3]].sum(axis=1)
        whole = pd.crosstab(people[name], Y)
        np.testing.assert_allclose(positives, whole[1] / 4, atol=2.5)
        np.testing.assert_allclose(negatives, whole[0] / 4, atol=2.5)


# --- scaling


def test_columns_are_standardised_and_those_with_two_values_become_dummies():
    rng = np.random.default_rng(0)
    wide = rng.normal(5, 3, 500)
    table = np.column_stack([wide, rng.integers(0, 2, 500), rng.integers(2019, 2021, 500), np.full(500, 7)])
    scaled = Scaling.of(table)(table)
    np.testing.assert_allclose(scaled[:, 0], (wide - wide.mean()) / wide.std())
    np.testing.assert_array_equal(scaled[:, 1], table[:, 1])
    np.testing.assert_array_equal(scaled[:, 2], table[:, 2] - 2019)
    assert not scaled[:, 3].any()


def test_units_of_a_column_do_not_matter(model):
    other = small().fit(X * [1000.0, 0.001], Y, sensitive_features=GROUP)
    np.testing.assert_allclose(other.predict_proba(X * [1000.0, 0.001]), model.predict_proba(X), atol=1e-4)


def test_gap_of_the_selected_point_is_smaller_than_that_of_the_most_accurate():
    model = fitted(epochs=30, members=6)
    gaps = [
        gap(Y, m.predict(X), sensitive_features=GROUP, notion="demographic_parity") for m in (model.at(0), model.at(-1))
    ]
    assert gaps[1] < gaps[0]
    assert error(Y, model.at(0).predict(X)) < error(Y, model.at(-1).predict(X))


def test_network_of_another_size_can_be_had():
    assert fitted(network=MLP((5, 4, 3), 0.0)).front_.points[0].state["layers.2.weight"].shape == (3, 4)


def test_a_choice_with_confidence_needs_calibration_rows_before_anything_is_trained():
    with pytest.raises(ValueError, match=r"needs calibration rows: set `calibration_fraction`"):
        small(selection=MostAccurateWithin(0.1, confidence=0.9)).fit(X, Y, sensitive_features=GROUP)
