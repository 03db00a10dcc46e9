"""Models fitted by two Dask workers in processes of their own: the same front, also if one of them is killed."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from mamofair import FairNetClassifier, FairPlugInClassifier
from mamofair.cli import main
from mamofair.streaming import cluster, stream

pytestmark = pytest.mark.usefixtures("loopback", "short_search")

ROWS = 900


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("cluster") / "data"
    path.mkdir()
    sex, job = rng.choice(["f", "m"], ROWS), rng.choice(["clerk", "nurse", None], ROWS)
    income = rng.normal(2 + (sex == "m"), 1, ROWS)
    hired = (income + (job == "nurse") + rng.normal(size=ROWS) > 3).astype(int)
    table = pd.DataFrame({"income": income, "job": job, "sex": sex, "hired": hired})
    table[:400].to_parquet(path / "a.parquet", index=False, row_group_size=150)
    table[400:].to_parquet(path / "b.parquet", index=False)
    return path


@pytest.fixture(scope="module")
def client():
    """Two workers in processes of their own; one that is killed is not started again, which would take seconds."""
    distributed = pytest.importorskip("distributed")

    class Once(distributed.Nanny):
        async def instantiate(self):
            return await super().instantiate() if self.process is None else self.process.status

    workers = {"n_workers": 2, "threads_per_worker": 1, "worker_class": Once}
    with distributed.LocalCluster(**workers, dashboard_address=":0") as local, distributed.Client(local) as connected:
        yield connected


def plugin(**options):
    return FairPlugInClassifier(effort="fast", max_points=20, random_state=0, **options)


@pytest.fixture(scope="module")
def alone(folder, short_search) -> FairPlugInClassifier:
    """The model that one process fits."""
    return plugin().fit_stream(stream(folder, "hired", sensitive=["sex"]))


@pytest.fixture(scope="module")
def expected(alone) -> pd.DataFrame:
    return alone.front_.frame()


def test_a_dask_frame_is_fitted_as_its_files_are(folder, client, alone, expected):
    frame = pytest.importorskip("dask.dataframe").read_parquet(folder)
    X, people = frame[["income", "job"]], frame[["sex"]]
    model = plugin().fit(X, frame["hired"], sensitive_features=people)
    pd.testing.assert_frame_equal(model.front_.frame(), expected, check_exact=True)
    table = pd.read_parquet(folder)
    assert model.predict(table).tolist() == alone.predict(table).tolist()
    words = frame["hired"].map({0: "no", 1: "yes"}, meta=("hired", "str"))
    named = plugin(favorable="yes").fit(X, words, sensitive_features=frame["sex"])
    assert set(named.predict(table)) == {"no", "yes"}
    with pytest.raises(ValueError, match="`sample_weight` must be left out with a Dask frame"):
        plugin().fit(X, frame["hired"], sensitive_features=people, sample_weight=frame["income"])
    with pytest.raises(ValueError, match="must not have the target 'hired' as a column"):
        plugin().fit(frame, frame["hired"], sensitive_features=people)
    with pytest.raises(TypeError, match="must be Dask frames, as X is"):
        plugin().fit(X, table["hired"], sensitive_features=table["sex"])


def test_two_workers_find_the_front_of_one_process_and_an_address_where_nobody_answers_is_told(
    folder, client, expected, monkeypatch
):
    rows = stream(folder, "hired", sensitive=["sex"])
    model = plugin().fit_stream(rows, dask=client.scheduler.address)
    pd.testing.assert_frame_equal(model.front_.frame(), expected, check_exact=True)
    monkeypatch.setattr(cluster, "_TIMEOUT", 0.1)
    with pytest.raises(ConnectionError, match="There must be a Dask scheduler at 'tcp:"):
        plugin().fit_stream(rows, dask="tcp://127.0.0.1:9")


def test_workers_that_are_busy_are_not_taken_for_gone(folder, client, expected, monkeypatch):
    # The client's own periodic update of this cache asks for no workers, and may come in between.
    monkeypatch.setattr(client, "scheduler_info", lambda **_: {"workers": {}})
    monkeypatch.setattr(cluster, "_PATIENCE", 0.01)
    model = plugin().fit_stream(stream(folder, "hired", sensitive=["sex"]), dask=client)
    pd.testing.assert_frame_equal(model.front_.frame(), expected, check_exact=True)


def test_workers_that_are_all_gone_are_told_in_one_line_and_the_run_can_be_resumed(
    folder, tmp_path, monkeypatch, capsys
):
    distributed, out = pytest.importorskip("distributed"), tmp_path / "run"
    monkeypatch.setattr(cluster, "_PATIENCE", 0.1)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        options = ["--target", "hired", "--sensitive", "sex", "--effort", "fast", "--dask", empty.scheduler_address]
        monkeypatch.setattr(sys, "argv", ["mamofair", "train", str(folder), *options, "--out", str(out)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("mamofair: A Dask cluster must have workers: all are gone. Start some, and train again. ")
    assert line.endswith(f"With the same options: mamofair train --resume {out}")
    assert [path.name for path in out.iterdir()] == ["checkpoint"]


@pytest.mark.parametrize("model", [FairNetClassifier(), plugin(cv=None)], ids=["a network", "no folds"])
def test_other_kinds_are_refused(model, folder, client):
    with pytest.raises(ValueError, match="A Dask cluster trains plug-in models, in folds"):
        model.fit_stream(stream(folder, "hired", sensitive=["sex"]), dask=client)


# The last one: it leaves one worker.
def test_a_worker_that_is_killed_does_not_change_the_front(folder, client, expected):
    killed = []

    def kill_one() -> None:
        while not (busy := [worker for worker, tasks in client.processing().items() if tasks]):
            time.sleep(0.01)
        pids = client.run(os.getpid)
        os.kill(pids[busy[0]], signal.SIGKILL)
        killed.append(pids[busy[0]])

    rows = stream(folder, "hired", sensitive=["sex"])
    killer = threading.Thread(target=kill_one)
    killer.start()
    model = plugin().fit_stream(rows, dask=client)
    killer.join()
    assert killed
    pd.testing.assert_frame_equal(model.front_.frame(), expected, check_exact=True)
