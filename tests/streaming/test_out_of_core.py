"""The plug-in on rows that are on disk: the same front as in memory, in the same folds, and nothing left behind."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from mamofair import FairBoostingClassifier, FairPlugInClassifier, FairPortfolioClassifier
from mamofair._rows.disk import DiskArray
from mamofair._rows.splits import row_places
from mamofair.estimators._reading import draw_seed
from mamofair.learners import Rows
from mamofair.learners.plugin import out_of_core, table_models
from mamofair.learners.plugin.proposals import ROUNDS
from mamofair.learners.plugin.table_models import EFFORTS, Trees
from mamofair.streaming import stream
from mamofair.tables import encoder

pytestmark = pytest.mark.usefixtures("short_search")

ROWS = 900
FEATURES = ["income", "age", "job", "married"]


def people(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex, job = rng.choice(["f", "m"], rows), rng.choice(["clerk", "nurse", "cook", None], rows, p=[0.4, 0.3, 0.2, 0.1])
    income, age = rng.normal(2 + (sex == "m"), 1, rows), rng.integers(18, 80, rows).astype(float)
    married = rng.random(rows) < 0.5
    hired = (income + (job == "nurse") + 0.5 * married + rng.normal(size=rows) > 3.2).astype(int)
    income[rng.random(rows) < 0.05] = np.nan
    race = rng.choice(["a", "b", "c"], rows)
    return pd.DataFrame(
        {"income": income, "age": age, "job": job, "married": married, "race": race, "sex": sex, "hired": hired}
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Applicants in two files with several row groups."""
    path, table = tmp_path_factory.mktemp("shards") / "data", people()
    path.mkdir()
    table[:500].to_parquet(path / "a.parquet", index=False, row_group_size=200)
    table[500:].to_parquet(path / "b.parquet", index=False, row_group_size=300)
    return path


@pytest.fixture
def quick(monkeypatch):
    """Few trees and few rules, and rows that are read some at a time, as if they were many."""
    trees = Trees(8, 4, 0.3), Trees(12, 6, 0.2, 0.6)
    monkeypatch.setitem(EFFORTS, "fast", (trees[:1], 0))
    monkeypatch.setitem(EFFORTS, "balanced", (trees, 0))  # products of matrices, in pieces, differ in the last digit
    monkeypatch.setitem(table_models._GROUPS, "fast", trees[0])
    monkeypatch.setitem(table_models._GROUPS, "balanced", trees[1])
    monkeypatch.setitem(ROUNDS, "fast", 1)
    monkeypatch.setitem(ROUNDS, "balanced", 1)
    monkeypatch.setattr(out_of_core, "usable_cores", lambda: 1)  # threads of LightGBM wait for each other
    monkeypatch.setattr("mamofair._rows.disk.PIECE", 128)
    monkeypatch.setattr("mamofair._rows.disk._STRETCH", 50)


def plugin(**options):
    return FairPlugInClassifier(random_state=0, **({"effort": "fast", "max_points": 20} | options))


def in_memory(model, rows, attributes):
    """The same fit with rows in memory and the folds of the stream."""
    keys, table = np.concatenate([keys for *_, keys in rows]), people()
    places = row_places(keys, draw_seed(model.random_state), 2)
    split = Rows.split

    def by_content(self, sizes, rng):
        folds = (places * len(sizes)).astype(int)
        return (
            [np.flatnonzero(folds == i) for i in range(len(sizes))] if len(sizes) in (3, 5) else split(self, sizes, rng)
        )

    X = encoder("none").fit_transform(table[FEATURES])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rows, "split", by_content)
        return model.fit(X, table["hired"], sensitive_features=table[attributes])


@pytest.mark.parametrize(
    ("attributes", "options"),
    [
        (["sex"], {}),
        (["sex"], {"effort": "balanced"}),
        (["sex", "race"], {"notions": {"race": "eopp"}, "performance": "balanced_error"}),
        (["sex"], {"aware": True}),
    ],
    ids=["one gap", "stacked", "several groups", "aware"],
)
def test_the_front_is_that_of_rows_in_memory_in_the_same_folds_bit_for_bit(attributes, options, folder, quick):
    rows = stream(folder, "hired", sensitive=attributes, drop=["race"] if len(attributes) == 1 else [])
    streamed = plugin(**options).fit_stream(rows)
    expected = in_memory(plugin(**options), rows, attributes)
    pd.testing.assert_frame_equal(streamed.front_.frame(), expected.front_.frame(), check_exact=True)
    told = {"sensitive_features": people()[attributes]} if "aware" in options else {}
    X = encoder("none").fit_transform(people()[FEATURES])
    scores = [model.decision_function(X, **told) for model in (streamed, expected)]
    np.testing.assert_array_equal(*scores)


def batches(weight=None, size=200):
    """Numbers only, in batches, with weights or without."""
    table = people()
    X, y, sex = table[["income", "age"]].to_numpy(), table["hired"].to_numpy(), table["sex"]
    parts = (X, y, sex) if weight is None else (X, y, sex, weight)
    return [tuple(part[i : i + size] for part in parts) for i in range(0, ROWS, size)]


def test_batches_of_numbers_are_taken_in_any_order_and_weights_count(quick):
    weight = np.random.default_rng(0).choice([1.0, 3.0], ROWS)
    model = plugin().fit_stream(batches(weight))
    overall = model.front_.points[0].valid.overall
    assert overall.sum() == pytest.approx(weight.sum())
    assert overall[[0, 2]].sum() == pytest.approx(weight[people()["hired"] == 1].sum())
    sizes = [plugin().fit_stream(batches()[::step]).front_.points[0].valid.counts["sex"].sum() for step in (1, -1)]
    assert sizes == [ROWS, ROWS]


def test_rows_held_back_measure_and_calibrate_if_there_are_no_folds(quick):
    model = plugin(cv=None, calibration_fraction=0.2).fit_stream(batches())
    sizes = model.search_.sizes
    assert sum(sizes.values()) == ROWS
    assert model.front_.points[0].valid.overall.sum() == sizes["validation"] > 100
    assert model.front_.points[0].calibration.overall.sum() == sizes["calibration"] > 100
    folded = plugin(calibration_fraction=0.2).fit_stream(batches())
    assert folded.search_.sizes["train"] == folded.search_.sizes["validation"]
    assert folded.search_.sizes["train"] + folded.search_.sizes["calibration"] == ROWS


@pytest.mark.parametrize("folds", [2, 5, 300])
def test_each_row_is_in_one_fold_and_among_the_others_of_all_the_rest(folds):
    rows, numbers = plugin().start_stream(batches(), None)[1].train, np.arange(ROWS)
    found = rows.folds(numbers, folds)
    assert (found >= 0).all()
    for fold in (0, folds // 2, folds - 1):
        np.testing.assert_array_equal(rows.others(fold, folds, 1.0).X.rows, numbers[found != fold])


def test_rules_found_on_some_rows_are_counted_on_all(quick, monkeypatch):
    monkeypatch.setattr(out_of_core, "_SEARCHED", 300)
    model = plugin().fit_stream(batches())
    assert all(point.valid.overall.sum() == ROWS for point in model.front_.points)


def test_little_memory_fits_models_to_fewer_rows_and_measures_on_all(quick):
    with pytest.warns(UserWarning, match=r"Models are fitted to \d+% of 900 rows, to stay within `memory`"):
        model = plugin().fit_stream(batches(), memory="60kB")
    assert model.front_.points[0].valid.overall.sum() == ROWS


def test_a_portfolio_is_the_plug_in_or_where_that_has_no_rule_a_network_and_boosting(folder, quick):
    rows = stream(folder, "hired", sensitive=["sex"], drop=["race"])
    alone = FairPortfolioClassifier(effort="fast", random_state=0).fit_stream(rows)
    assert list(alone.estimators_) == ["plugin"]
    expected = plugin(max_points=200).fit_stream(rows).front_.frame()
    pd.testing.assert_frame_equal(alone.front_.frame()[expected.columns], expected)
    assert set(alone.predict(people()[FEATURES])) <= {0, 1}
    both = FairPortfolioClassifier(effort="fast", notions="predictive_parity", random_state=0).fit_stream(rows)
    assert list(both.estimators_) == ["boosting"]
    several = [("plugin", plugin()), ("boosting", FairBoostingClassifier(n_estimators=3, members=2))]
    mixed = FairPortfolioClassifier(several, random_state=0).fit_stream(batches())
    assert set(mixed.estimators_) == {"plugin", "boosting"}
    held_back = mixed.search_.sizes["validation"]
    assert all(point.valid.overall.sum() == held_back for point in mixed.front_.points)


def test_what_a_stream_cannot_be_learned_by_is_refused_in_one_line(folder):
    rows = stream(folder, "hired", sensitive=["sex"])
    with pytest.raises(ValueError, match="Streams support only our own models: found `estimator`"):
        FairPlugInClassifier(LogisticRegression()).fit_stream(rows)
    with pytest.raises(ValueError, match="`cv` must be None to train from a stream: found 3"):
        FairBoostingClassifier(cv=3).fit_stream(rows)
    with pytest.raises(ValueError, match="X must be numeric"):
        plugin().fit_stream([(people()[FEATURES], people()["hired"], people()["sex"])])
    with pytest.raises(ValueError, match="found X of 3 dimensions"):
        FairPortfolioClassifier().fit_stream([(np.zeros((9, 2, 2)), [0, 1, 0] * 3, ["a", "b", "a"] * 3)])


@given(st.lists(st.integers(0, 199), unique=True, max_size=60), st.integers(1, 40))
def test_rows_on_disk_are_read_as_they_were_written(chosen, stretch):
    table, numbers = DiskArray(3), np.random.default_rng(0).normal(size=(200, 3))
    for start in range(0, 200, 70):
        table.append(numbers[start : start + 70])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mamofair._rows.disk._STRETCH", stretch)
        np.testing.assert_array_equal(table.take(np.sort(chosen).astype(int)), numbers[sorted(chosen)])
    np.testing.assert_array_equal(table[10:20], numbers[10:20])
    with pytest.raises(ValueError, match="Rows must have 3 columns: found 2"):
        table.append(np.zeros((1, 2)))
