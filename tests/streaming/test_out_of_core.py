"""The plug-in on rows that are on disk: the same front as in memory, in the same folds, and nothing left behind."""

import numpy as np
import pandas as pd
import pytest

from mamofair import FairPlugInClassifier
from mamofair._rows.splits import row_places
from mamofair.estimators._reading import draw_seed
from mamofair.learners import Rows
from mamofair.learners.plugin import stored
from mamofair.streaming import stream
from mamofair.tables import encoder

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
def small_pieces(monkeypatch):
    """Rows are read some at a time, as if they were many."""
    monkeypatch.setattr(stored, "_AT_ONCE", 128)
    monkeypatch.setattr("mamofair._rows.disk._STRETCH", 50)


def plugin(**options):
    return FairPlugInClassifier(random_state=0, **({"effort": "fast"} | options))


def in_memory(model, rows, attributes):
    """The same fit with rows in memory and the folds of the stream."""
    keys, table = np.concatenate([block.keys for block in rows]), people()
    places = row_places(keys, draw_seed(model.random_state), 2)
    split = Rows.split

    def by_content(self, sizes, rng):
        folds = (places * len(sizes)).astype(int)
        return [np.flatnonzero(folds == i) for i in range(len(sizes))] if len(sizes) == 5 else split(self, sizes, rng)

    X = encoder("none").fit_transform(table[FEATURES])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rows, "split", by_content)
        return model.fit(X, table["hired"], sensitive_features=table[attributes])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"effort": "balanced", "notions": ["dp", "eopp"]},
        {"notions": {"race": "eodds"}, "performance": "balanced_error"},
        {"aware": True},
    ],
    ids=["one gap", "stacked", "several groups", "aware"],
)
def test_the_front_is_that_of_rows_in_memory_in_the_same_folds_bit_for_bit(options, folder, small_pieces):
    attributes = ["sex", "race"] if "notions" in options else ["sex"]
    rows = stream(folder, "hired", sensitive=attributes, drop=["race"] if len(attributes) == 1 else [])
    streamed = plugin(**options).fit_stream(rows)
    expected = in_memory(plugin(**options), rows, attributes)
    pd.testing.assert_frame_equal(streamed.front_.frame(), expected.front_.frame(), check_exact=True)
    told = {"sensitive_features": people()[attributes]} if "aware" in options else {}
    X = encoder("none").fit_transform(people()[FEATURES])
    scores = [model.decision_function(X, **told) for model in (streamed, expected)]
    np.testing.assert_array_equal(*scores)
