"""Folders that would take more memory than they have bytes, or lead out of themselves, are refused beforehand."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
import skops.io
from campaigns._tampering import write_sums
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from mamofair import FairPlugInClassifier
from mamofair.runs import Run, load_run, save
from mamofair.runs._folders import leads_inside
from mamofair.runs._values import _ALLOWED
from mamofair.tables import encoder, load_encoder, save_encoder
from mamofair.tables.skops_files import read_parts
from mamofair.tables.untrusted import parse_json, require_size
from run_fits import GROUP, TOY, X, Y, fitted, net, run_of

MEGABYTE = 2**20


@pytest.fixture
def folder(tmp_path):
    return save(run_of(fitted(net(epochs=1))), tmp_path / "run")


def edit(folder, change) -> None:
    document = json.loads((folder / "estimator.json").read_bytes())
    change(document)
    (folder / "estimator.json").write_text(json.dumps(document))
    write_sums(folder)


def peak_of(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def refused(call, match: str) -> None:
    """Assert that a call is refused, and takes less than 30 MB."""

    def once() -> None:
        with pytest.raises(ValueError, match=match):
            call()

    assert peak_of(once) < 30 * MEGABYTE


def test_a_network_without_weights_of_its_size_is_never_built(folder):
    wide = {"is": "MLP", "of": {"hidden": {"tuple": [30000, 30000]}, "dropout": 0.2, "weight_std": None}}
    edit(folder, lambda document: document["parameters"].update(network=wide))
    refused(lambda: load_run(folder), "without weights of that size")


def test_a_dtype_of_millions_of_characters_is_refused(folder):
    edit(folder, lambda document: document["learned"]["dict"]["feature_names_in_"].update(dtype="<U400000000"))
    refused(lambda: load_run(folder), "the dtype '<U400000000'")


def test_files_that_unpack_to_more_than_they_are_are_refused(tmp_path):
    save_encoder(encoder().fit(TOY.X), tmp_path / "encoder.skops")
    content, bomb = (tmp_path / "encoder.skops").read_bytes(), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("zeros.npy", bytes(40 * MEGABYTE))
    (tmp_path / "encoder.skops").write_bytes(bomb.getvalue())
    assert len(bomb.getvalue()) < MEGABYTE
    refused(lambda: load_encoder(tmp_path / "encoder.skops"), "found compressed ones")


def test_a_matrix_that_unpacks_to_more_than_it_is_is_refused():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("data.npy", bytes(80 * MEGABYTE))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("schema.json", "{}")
        archive.writestr("1.npz", packed.getvalue())
    with pytest.raises(ValueError, match="must not unpack to a huge size"):
        read_parts(content.getvalue(), "model", "a model", _ALLOWED)


def test_parts_that_are_named_again_and_again_are_counted_each_time():
    part: dict = {"__id__": 0, "content": [1]}
    for i in range(1, 40):  # 2⁴⁰ parts in a few lines
        part = {"__id__": i, "content": [part, {"__id__": i - 1, "__loader__": "CachedNode"}]}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("schema.json", json.dumps(part))
    with pytest.raises(ValueError, match="must have at most 10,000,000 parts"):
        read_parts(content.getvalue(), "model", "a model", _ALLOWED)


def test_text_is_bounded_before_it_is_parsed(folder):
    many = b"[" + b"[]," * 10**7 + b"[]]"
    with pytest.raises(ValueError, match="at most"):
        parse_json(many, "counts.json")
    require_size(b"1,2", "counts.json", b",")
    with (folder / "run.json").open("ab") as file:
        file.truncate(2**33)  # sparse: takes no space
    refused(lambda: load_run(folder), r"run\.json.*bytes at most")


def test_a_huge_file_is_summed_block_by_block(folder):
    with (folder / "front.csv").open("ab") as file:
        file.truncate(200 * MEGABYTE)
    refused(lambda: load_run(folder), "altered or cut short")


@pytest.mark.parametrize("name", ["run.json", "front.csv", "points"])
def test_links_that_lead_out_of_the_folder_are_refused(folder, tmp_path, name):
    (folder / name).rename(tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")
    with pytest.raises(ValueError, match="files of its own folder"):
        load_run(folder)


def test_links_within_the_folder_are_followed(folder):
    (folder / "front.csv").rename(folder / "same.csv")
    (folder / "front.csv").symlink_to("same.csv")
    load_run(folder)


def test_no_folder_on_the_way_to_a_file_may_be_a_link(tmp_path):
    """Not even to another one inside: who swaps it later must not decide where files go."""
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "linked").symlink_to("real")
    assert leads_inside(tmp_path, "real/deep/file")
    assert not leads_inside(tmp_path, "linked/file")
    assert not leads_inside(tmp_path, "linked/deep/file")


def crafted(model, change) -> bytes:
    change(model)
    return bytes(skops.io.dumps(model))


def set_node(model, **values) -> None:
    for name, value in values.items():
        model._predictors[0][0].nodes[name][0] = value


def set_tree(model, **values) -> None:
    tree = model.estimators_[0].tree_
    state = tree.__getstate__()
    for name, value in values.items():
        state["nodes"][name][0] = value
    tree.__setstate__(state)


TREES = HistGradientBoostingClassifier(max_iter=2).fit(X, Y)
CRAFTED = {
    "child": lambda: crafted(_copy(TREES), lambda model: set_node(model, left=9999)),
    "cycle": lambda: crafted(_copy(TREES), lambda model: set_node(model, left=0)),
    "feature": lambda: crafted(_copy(TREES), lambda model: set_node(model, feature_idx=9999)),
    "categories": lambda: crafted(_copy(TREES), lambda model: set_node(model, is_categorical=1)),
    "columns": lambda: crafted(_copy(TREES), lambda model: setattr(model, "n_features_in_", 9)),
    "tree's child": lambda: crafted(_forest(), lambda model: set_tree(model, left_child=9999)),
    "tree's cycle": lambda: crafted(_forest(), lambda model: set_tree(model, right_child=0)),
    "tree's feature": lambda: crafted(_forest(), lambda model: set_tree(model, feature=99)),
    "jobs": lambda: crafted(_forest(), lambda model: setattr(model, "n_jobs", 10**6)),
    "one-hot": lambda: crafted(
        OneHotEncoder().fit([["a"], ["b"]]), lambda model: setattr(model, "_n_features_outs", [1])
    ),
}


def _copy(model):
    return skops.io.loads(skops.io.dumps(model), trusted=sorted(_ALLOWED))


def _forest():
    return RandomForestClassifier(2, max_depth=3, random_state=0).fit(X, Y)


@pytest.mark.parametrize("case", CRAFTED)
def test_models_that_would_crash_are_refused_before_they_predict(case):
    with pytest.raises(ValueError, match="found a broken"):
        read_parts(CRAFTED[case](), "model", "a model", _ALLOWED)


@pytest.mark.parametrize("model", [_forest(), GradientBoostingClassifier(n_estimators=3), None], ids=str)
def test_models_of_trees_can_be_saved(model, tmp_path):
    table = TOY.X.assign(colour=np.where(TOY.X["x1"] > 3, "red", "blue")) if model is None else TOY.X
    fresh = None if model is None else clone(model)  # other tests fit it
    fair = FairPlugInClassifier(fresh, cv=None, random_state=0).fit(table, Y, sensitive_features=GROUP)
    loaded = load_run(save(Run(fair, {}, {}), tmp_path / "run")).estimator
    np.testing.assert_array_equal(loaded.decision_function(table), fair.decision_function(table))


@pytest.mark.parametrize("model", [SVC(), KNeighborsClassifier(algorithm="brute")], ids=str)
def test_models_that_cannot_be_checked_are_refused_by_name(model):
    with pytest.raises(ValueError, match=f"found sklearn.*{type(model).__name__}"):
        read_parts(skops.io.dumps(model.fit(X, Y)), "model", "a model", _ALLOWED)
