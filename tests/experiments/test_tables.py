"""Every table: its names resolve, what the paper printed is complete, and a quick run works."""

import json
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest

from mamofair.experiments import EXPERIMENTS, METHODS, Table, _job, _methods, _run, read, run
from mamofair.experiments._fronts import ratio_gap
from mamofair.experiments._job import LOADERS, telling
from mamofair.experiments._methods import Setting
from mamofair.experiments._run import jobs
from mamofair.fronts import Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, NOTIONS, as_notion

TABLES = [experiment for experiment in EXPERIMENTS.values() if isinstance(experiment, Table)]
COMPAS = EXPERIMENTS["table-compas"]
CHEAP = replace(COMPAS, methods=("Zaf", "Con", "MF2"))


@pytest.fixture(autouse=True)
def fewer_epochs(monkeypatch):
    monkeypatch.setattr(_methods, "QUICK_EPOCHS", 2)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_names_in_a_table_resolve_and_printed_rows_are_shown(table):
    assert table.data in LOADERS
    assert set(table.methods) <= set(METHODS)
    assert all(as_notion(name) in NOTIONS for task in table.tasks for name in task)
    shown = {METHODS[name].printed_as for name in table.methods}
    assert {name for name in table.printed if name in {"MF1", "MF2", "Unc", "Con"} or table.whole_front} <= shown
    columns = {"HV", "SP"} if table.whole_front else {"DDP", "DDP error", "DEO", "DEO error"}
    assert all(set(cells) == columns for cells in table.printed.values())


def test_every_method_of_the_appendix_runs_quickly(tmp_path, monkeypatch):
    monkeypatch.setattr(_job, "_QUICK_SIZES", (300, 150))
    table = EXPERIMENTS["table-adult"]
    records = list(run(table, tmp_path, repetitions=range(1), quick=True))
    assert {record["method"] for record in records} == set(table.methods)
    for record in records:
        assert record.keys() >= {"seed", "versions", "seconds", "validation", "test", "points", "constant"}
        assert all(0 <= value <= 1 for value in [*record["test"].values(), *record["validation"].values()])


def test_a_table_of_fronts_has_both_readings_on_both_parts(tmp_path):
    table = replace(EXPERIMENTS["table-compas-race-sex"], methods=("Sum of losses",))
    [record] = run(table, tmp_path, repetitions=range(1), quick=True)
    assert set(record["fronts"]) == {f"{p}, {r}" for p in ("validation", "test") for r in ("differences", "ratios")}
    assert all(0 <= found["HV"] <= 1 for found in record["fronts"].values())


def test_a_joint_method_is_trained_once_for_both_notions():
    wanted = [(job.method, job.notions) for job in jobs(CHEAP, [0])]
    assert wanted.count(("MF2", ("demographic_parity", "equal_opportunity"))) == 1
    assert [notions for method, notions in wanted if method == "Zaf"] == [
        ("demographic_parity",),
        ("equal_opportunity",),
    ]


def test_what_is_recorded_is_not_run_again(tmp_path):
    first = list(run(CHEAP, tmp_path, repetitions=range(1), quick=True))
    path = tmp_path / "table-compas.jsonl"
    before = path.read_bytes()
    assert list(run(CHEAP, tmp_path, repetitions=range(1), quick=True)) == first
    assert path.read_bytes() == before
    assert len(list(run(CHEAP, tmp_path, repetitions=range(2), quick=True))) == 2 * len(first)
    assert path.read_bytes().startswith(before)


def test_a_killed_run_continues_and_half_a_line_is_dropped(tmp_path):
    whole = {json.dumps(record["test"]) for record in run(CHEAP, tmp_path, repetitions=range(1), quick=True)}
    path = tmp_path / "table-compas.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + lines[2][:40])
    assert {json.dumps(record["test"]) for record in run(CHEAP, tmp_path, repetitions=range(1), quick=True)} == whole
    assert len(read(path)) == len(lines)


def test_quick_records_are_not_taken_for_others(tmp_path):
    table = replace(COMPAS, methods=("Con",))
    list(run(table, tmp_path, repetitions=range(1), quick=True))
    [record, _] = run(table, tmp_path, repetitions=range(1))
    assert not record["quick"]
    assert len(read(tmp_path / "table-compas.jsonl")) == 4


@pytest.mark.filterwarnings("ignore:Couldn't detect a suitable IP address")  # Dask's, where the network is cut off
def test_records_are_the_same_on_a_dask_cluster(tmp_path):
    from distributed import Client, LocalCluster

    table = replace(COMPAS, methods=("Zaf", "Con"))
    here = {
        str(r["method"]) + str(r["notions"]): r["test"]
        for r in run(table, tmp_path / "here", repetitions=[0], quick=True)
    }
    local = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    with local as cluster, Client(cluster), joblib.parallel_config(backend="dask"):
        there = list(run(table, tmp_path / "there", repetitions=[0], quick=True, n_jobs=-1))
    assert {str(r["method"]) + str(r["notions"]): r["test"] for r in there} == here


def test_columns_that_tell_the_attribute_are_found():
    groups = np.array([[0, 1], [1, 1], [1, 0]])
    X = np.column_stack([[5, 6, 7], groups[:, 0], [0, 1, 0]])
    assert telling(X, groups).tolist() == [False, True, True]


def test_a_ratio_gap_is_one_minus_the_smaller_rate_over_the_larger():
    counts = np.array([[2.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 3.0]])  # half of one group, a quarter of the other
    tally = Tally({"": counts.sum(0, keepdims=True), "sex": counts})
    assert ratio_gap(tally, (DEMOGRAPHIC_PARITY, "sex")) == pytest.approx(0.5)
    nobody = Tally({"": np.array([[0.0, 0, 4, 4]]), "sex": np.array([[0.0, 0, 2, 2], [0, 0, 2, 2]])})
    assert ratio_gap(nobody, (DEMOGRAPHIC_PARITY, "sex")) == 0


def test_splits_are_by_number_and_not_by_order(tmp_path):
    table = replace(COMPAS, methods=("Con",))
    forward = {r["repetition"]: r["test"]["error"] for r in run(table, tmp_path / "a", repetitions=[0, 1], quick=True)}
    backward = {r["repetition"]: r["test"]["error"] for r in run(table, tmp_path / "b", repetitions=[1, 0], quick=True)}
    assert forward == backward
    assert Path(tmp_path / "a" / "table-compas.jsonl").exists()


def test_packages_that_are_not_there_are_named_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr(_run, "find_spec", lambda name: None if name == "oxonfair" else object())
    table = replace(COMPAS, methods=("Con", "OxonFair"))
    with pytest.raises(ImportError, match="table-compas compares with methods that need oxonfair: pip install"):
        next(run(table, tmp_path, repetitions=[0], quick=True))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "rate"), [("table-adult", 0.01), ("table-compas", 0.005)])
def test_code_rows_train_at_the_rate_of_its_script(name, rate):
    rate_of_script = EXPERIMENTS[name].code_learning_rate
    setting = Setting(("demographic_parity",), 0.4, 0, 35, 512, code_learning_rate=rate_of_script)
    assert METHODS["MF1 code"].make(setting).learning_rate == rate
    assert METHODS["MF1"].make(setting).learning_rate == 0.01


def test_published_rows_are_chosen_on_the_validation_rows_of_the_split():
    mask = np.arange(10) >= 6
    setting = Setting(("demographic_parity",), 0.4, 0, 35, 512, validation=mask)
    for name in ("MF1", "MF1 code", "Unc", "Sum of losses"):
        assert METHODS[name].make(setting).validation_fraction is mask
    assert METHODS["mamofair"].make(setting).validation_fraction == 0.4
