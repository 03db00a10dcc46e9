import pickle
from concurrent.futures import ThreadPoolExecutor

import lightgbm
import numpy as np
import pytest

from mamofair.learners.loaded_booster import LoadedBooster

ROWS, TREES = 600, 20


def table(seed=0):
    """Return numbers of which some are missing, zero or infinite, and categories of which some are unknown."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 5))
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 1] = np.where(rng.random(ROWS) < 0.5, 0.0, X[:, 1])
    X[:, 3] = rng.integers(0, 70, ROWS)  # more than two words of 32 bits
    X[:, 4] = rng.choice([np.nan, -1, 0, 5], ROWS)
    return X


@pytest.fixture(scope="module", params=[{}, {"zero_as_missing": True}, {"use_missing": False}], ids=str)
def booster(request):
    X = table()
    y = (np.nan_to_num(X[:, 0]) + X[:, 3] % 3 + np.isnan(X[:, 2])) > 1
    ways = {"objective": "binary", "verbosity": -1, "min_data_in_leaf": 3, "num_threads": 1, "max_cat_to_onehot": 2}
    return lightgbm.train(ways | request.param, lightgbm.Dataset(X, y, categorical_feature=[3, 4]), TREES)


def rows_of_every_kind():
    X = table(1)
    X[:5, :3] = [np.inf, -np.inf, 1e-36]
    X[5:9, 3] = [1e9, 69.5, -3, np.nan]
    return X


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_predictions_are_those_of_the_package_bit_for_bit(booster, kind, order):
    X = np.array(rows_of_every_kind(), dtype=kind, order=order)
    loaded = LoadedBooster(booster.model_to_string())
    for what in ({"raw_score": True}, {"pred_leaf": True}):
        ours, theirs = (own.predict(X, **what, num_threads=1) for own in (loaded, booster))
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
        rows = X[::3]  # a view with gaps
        np.testing.assert_array_equal(loaded.predict(rows, **what), booster.predict(rows, **what))
    assert loaded.predict(X[:0], raw_score=True).shape == (0,)


@pytest.mark.parametrize("number", [1, 7, TREES, TREES + 1, -1])
def test_the_first_trees_are_those_of_the_package(booster, number):
    loaded, X = LoadedBooster(booster.model_to_string(num_iteration=-1)), rows_of_every_kind()
    first = LoadedBooster(loaded.model_to_string(num_iteration=number))
    assert first.num_trees() == (TREES if number == -1 else min(number, TREES))
    assert loaded.num_feature() == booster.num_feature() == 5
    expected = booster.predict(X, raw_score=True, num_iteration=number)
    np.testing.assert_array_equal(first.predict(X, raw_score=True), expected)


def test_copies_predict_the_same_and_outlive_the_original(booster):
    X = rows_of_every_kind()
    copies = [pickle.loads(pickle.dumps(LoadedBooster(booster.model_to_string()))) for _ in range(3)]
    expected = booster.predict(X, raw_score=True)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda i: copies[i % 3].predict(X, raw_score=True), range(60)):
            np.testing.assert_array_equal(found, expected)
    assert copies[0].dump_model()["tree_info"] == booster.dump_model()["tree_info"]


def test_wrong_columns_and_wrong_texts_are_errors(booster):
    loaded = LoadedBooster(booster.model_to_string())
    with pytest.raises(ValueError, match="number of features"):
        loaded.predict(np.zeros((2, 4)), raw_score=True)
    with pytest.raises(ValueError, match="raw scores, or leaves"):
        loaded.predict(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="LightGBM"):
        LoadedBooster("no model")
