"""Boosters are arrays that are checked while they are read; LightGBM only ever sees text that we wrote from them."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from campaigns._tampering import write_sums
from campaigns.folders import ask_child

from mamofair import FairBoostingClassifier
from mamofair.learners.boosting.staged import first_scores
from mamofair.runs import Run, load_run, save
from mamofair.runs._boosters import from_arrays, to_arrays
from run_fits import GROUP, TOY, Y, fitted
from tiny_fits import TINY_FITS

CITIES = np.resize([f"city {i}" for i in range(40)], len(Y))
TABLE = TOY.X.assign(city=CITIES, x2=TOY.X["x2"].where(np.arange(len(Y)) % 5 > 0))


def boosters(**parameters):
    model = FairBoostingClassifier(members=3, random_state=0, **{"n_estimators": 8} | parameters)
    y = np.where(np.arange(len(Y)) % 40 % 3 == 0, 1 - Y, Y)  # so that cities matter
    return model.fit(TABLE, y, sensitive_features=GROUP)


@TINY_FITS
@pytest.mark.parametrize("parameters", [{}, {"min_child_samples": 5}, {"min_child_samples": 500}], ids=str)
def test_a_booster_of_arrays_predicts_the_same_bit_for_bit(parameters):
    model = boosters(**parameters)
    rows = model.search_.learner.read(model, TABLE, reset=False)
    odd = np.vstack([rows, rows * np.nan, -rows, 1e300 * np.sign(rows), rows + 0.5, np.zeros_like(rows[:1])])
    kinds, leaves = set(), set()
    for booster in model.search_.learner.boosters:
        arrays = to_arrays(booster)
        kinds |= set(arrays["decision_type"].tolist())
        leaves |= set(arrays["leaves"].tolist())
        again = from_arrays(arrays.pop("features"), arrays)
        for trees in (1, 3, 8):
            asked = {"raw_score": True, "num_iteration": trees, "num_threads": 1}
            np.testing.assert_array_equal(first_scores(again, odd, trees), booster.predict(odd, **asked))
    if parameters.get("min_child_samples") == 500:
        assert leaves == {1}
    else:
        assert {kind & 1 for kind in kinds} == {0, 1}  # by numbers, and by categories
        assert 2 in {kind >> 2 for kind in kinds}  # NaN is missing


CRAFTED = {
    "child out of range": ("left_child", 0, 40),
    "leaf out of range": ("right_child", 0, -99),
    "feature out of range": ("split_feature", 0, 10**6),
    "feature below zero": ("split_feature", 0, -1),
    "cycle": ("left_child", 1, 0),
    "itself": ("left_child", 0, 0),
    "more leaves than there are": ("leaves", 0, 2**40),
    "no leaves": ("leaves", 0, 0),
    "NaN threshold": ("threshold", 0, np.nan),
    "infinite leaf": ("leaf_value", 0, np.inf),
    "unknown decision": ("decision_type", 0, 127),
    "categories that are not there": ("decision_type", 0, 9),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    model = fitted(FairBoostingClassifier(members=2, n_estimators=3, random_state=0))
    return save(Run(model, {}, {}), tmp_path_factory.mktemp("boosting") / "run")


@pytest.mark.parametrize("case", CRAFTED)
def test_crafted_trees_are_refused(case, saved):
    tensors = safetensors.numpy.load((saved / "learned.safetensors").read_bytes())
    at = "learned/_boosters/000/"
    arrays = {name.removeprefix(at): array.copy() for name, array in tensors.items() if name.startswith(at)}
    name, place, value = CRAFTED[case]
    arrays[name][place] = value
    with pytest.raises(ValueError, match="must hold trees"):
        from_arrays(2, arrays)


def test_columns_of_boosters_are_counted_before_lightgbm_names_them(saved, tmp_path):
    folder = shutil.copytree(saved, tmp_path / "run")
    document = json.loads((folder / "estimator.json").read_bytes())
    document["learned"]["dict"]["_boosters"]["tuple"][0]["booster"]["features"] = 2 * 10**7 + 1
    (folder / "estimator.json").write_text(json.dumps(document))
    write_sums(folder)
    with pytest.raises(ValueError, match="may have 20,000,000 columns together: found more"):
        load_run(folder)


@pytest.mark.parametrize("text", ["half", "num_tree_per_iteration=0", "tree_sizes=7", "left_child=99", "left_child=0"])
def test_lightgbms_own_text_never_reaches_it_from_a_folder(text, saved, tmp_path):
    whole = (
        fitted(FairBoostingClassifier(members=1, n_estimators=1, random_state=0))
        .search_.learner.boosters[0]
        .model_to_string()
    )
    key = text.split("=")[0]
    lines = (
        whole[: len(whole) // 3]
        if text == "half"
        else "\n".join(text if line.startswith(f"{key}=") else line for line in whole.splitlines())
    )
    folder = tmp_path / "run"
    (folder / "points").mkdir(parents=True)
    for path in saved.rglob("*.*"):
        (folder / path.relative_to(saved)).write_bytes(path.read_bytes())
    (folder / "points" / "model_000.txt").write_text(lines)
    head = json.loads((folder / "run.json").read_bytes())
    head["files"]["points/model_000.txt"] = ""
    (folder / "run.json").write_text(json.dumps(head))
    document = json.loads((folder / "estimator.json").read_bytes())
    document["learned"]["dict"]["_boosters"] = {"tuple": [{"booster": "model_000.txt"}] * 2}
    (folder / "estimator.json").write_text(json.dumps(document))
    write_sums(folder)
    status, answer = ask_child(folder, pd.DataFrame(TOY.X[:3]))
    assert status == "error"
    assert answer[0] == "ValueError"
