"""`torchrun … -m mamofair train data/`: each rank reads row groups of its own, from the first pass on."""

import shutil
import signal
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loan_table import ASKED, applicants
from mamofair._descent.ranks import Ranks
from mamofair.cli import app
from mamofair.cli._stream_split import StreamSplit
from mamofair.cli._streamed import open_stream
from mamofair.cli._train_options import TrainOptions
from mamofair.runs import load_run, read_checkpoint
from mamofair.streaming import stream
from started_ranks import commanded, commanded_until, on_ranks, said

pytestmark = pytest.mark.usefixtures("loopback")

FILES, ROWS = 4, 250


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """Applicants in four files of one row group each: two for each of two ranks."""
    folder = tmp_path / "loans"
    folder.mkdir()
    table = applicants(FILES * ROWS).replace({"job": {"": None}, "married": {"": None}})
    for i in range(FILES):
        table[i * ROWS : (i + 1) * ROWS].to_parquet(folder / f"part-{i}.parquet", index=False)
    return folder


def test_ranks_find_together_what_one_process_finds(shards, tmp_path):
    out = tmp_path / "run"
    assert commanded(tmp_path, "train", shards, *ASKED, "--epochs", 2, "--out", out) == [0, 0], said(tmp_path)
    run = load_run(out)
    asked = TrainOptions(str(shards), target="approved", favorable="yes", sensitive=("gender",), model="net")
    alone = open_stream(asked, coded=False)
    data = run.settings["data"]
    assert data["checksum"] == alone.checksum
    assert data["groups"] == StreamSplit(asked, alone).group_sizes()
    assert data["rows"] == sum(data["parts"].values()) == FILES * ROWS
    assert run.estimator.encoder_.fill_values_ == pytest.approx(alone.encoder.fill_values_, rel=1e-12)
    assert len(run.test) == len(run.estimator.front_) >= 2
    assert not run.estimator.front_.is_constant.all()


def test_a_broken_file_that_one_rank_meets_is_told_once(shards, tmp_path):
    broken = shards / "part-1.parquet"
    content = bytearray(broken.read_bytes())
    content[4:2000] = bytes(1996)  # the rows, not the footer, which all ranks read
    broken.write_bytes(content)
    assert commanded(tmp_path, "train", shards, *ASKED, "--out", tmp_path / "run") == [2, 2]
    [line] = "".join(said(tmp_path)).splitlines()
    assert "part-1.parquet" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("ignore:.* rows are held back")
def test_one_process_goes_on_where_two_were_killed_and_measures_on_the_same_rows(shards, tmp_path):
    out, small = tmp_path / "run", ("--memory", "60kB", "--epochs", 3)
    commanded_until(tmp_path, out, {1: signal.SIGKILL}, "train", shards, *ASKED, *small, "--out", out)
    before = read_checkpoint(out)[0]
    assert before.search_.learner.training.epoch == 1
    done = CliRunner().invoke(app, ["train", "--resume", str(out)])
    assert done.exit_code == 0, done.output
    run = load_run(out)
    assert run.estimator.search_.bound == before.search_.bound < 0.25
    [held] = {point.valid.overall.sum() for point in (*before.front_.points, *run.estimator.front_.points)}
    assert held == run.settings["data"]["parts"]["validation"]


def own_folder(folders: list[Path]) -> str:
    """Return what is said to a rank that reads a folder of its own."""
    with pytest.raises(ValueError) as said:  # noqa: PT011  # the message is what is returned
        stream(folders[Ranks.present().rank], "approved", "yes", ["gender"])
    return str(said.value)


def test_machines_must_read_the_same_files(shards, tmp_path):
    other = shutil.copytree(shards, tmp_path / "other")
    (other / "part-3.parquet").unlink()
    found = on_ranks(partial(own_folder, [shards, other]), tmp_path)
    for said_to_one in found:
        assert said_to_one.startswith("All ranks must be given the same number of files: found 4, 3. Let every machine")
