"""Bad shards: one sentence with the file's name and what differs, before training where that can be known."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mamofair import FairNetClassifier
from mamofair.streaming import stream

ASKED: dict[str, Any] = {"target": "hired", "favorable": "yes", "sensitive": ["sex"]}


@pytest.fixture
def folder(applicants: pd.DataFrame, tmp_path: Path) -> Path:
    """Three shards of forty people each."""
    folder = tmp_path / "data"
    folder.mkdir()
    for i in range(3):
        applicants.assign(pay=np.arange(40) + i / 3).to_parquet(folder / f"part-{i}.parquet", row_group_size=20)
    return folder


def rewritten(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], object]:
    return lambda path: change(pd.read_parquet(path)).to_parquet(path)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (lambda p: p.write_bytes(p.read_bytes()[:-100]), "part-1.parquet cannot be read as Parquet: "),
    "empty": (lambda p: p.write_bytes(b""), "part-1.parquet cannot be read as Parquet: "),
    "no Parquet": (lambda p: p.write_bytes(b"sex,hired\nf,yes\n"), "part-1.parquet cannot be read as Parquet: "),
    "fewer columns": (
        rewritten(lambda t: t.drop(columns="job")),
        "part-1.parquet must have the same columns as part-0.parquet: 'job' is missing",
    ),
    "more columns": (rewritten(lambda t: t.assign(id=1)), "part-1.parquet must .*: found 'id' in addition"),
    "text for numbers": (
        rewritten(lambda t: t.astype({"age": "str"})),
        "part-1.parquet must .*: found large_string in 'age', not int64",
    ),
    "numbers for text": (
        rewritten(lambda t: t.assign(job=1.5)),
        "part-1.parquet must .*: found double in 'job', not large_string",
    ),
    "dates": (rewritten(lambda t: t.assign(age=pd.Timestamp("2024-01-01"))), "found timestamp.* in 'age', not int64"),
    "infinity": (rewritten(lambda t: t.assign(pay=np.inf)), "'pay' of part-1.parquet must hold finite numbers"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_shard_is_named_before_training(folder: Path, name: str) -> None:
    damage, message = BROKEN[name]
    damage(folder / "part-1.parquet")
    with pytest.raises(ValueError, match=message):
        stream(folder, **ASKED)


def test_a_page_that_cannot_be_decoded_is_found_in_the_first_pass(folder: Path) -> None:
    path = folder / "part-2.parquet"
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"part-2\.parquet cannot be read as Parquet"):
        stream(folder, **ASKED)


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "infinity"])
def test_a_shard_that_changes_while_training_is_named(folder: Path, name: str) -> None:
    rows = stream(folder, **ASKED)
    fitting = FairNetClassifier(members=2, epochs=5, patience=None, random_state=0).fitting_stream(rows)
    next(fitting)
    BROKEN[name][0](folder / "part-1.parquet")
    with pytest.raises(ValueError, match=r"part-1\.parquet must not change while it is read: it has changed"):
        list(fitting)


def test_a_shard_that_is_gone_or_breaks_without_a_trace_is_named(folder: Path) -> None:
    rows, path = stream(folder, **ASKED), folder / "part-1.parquet"
    found, content = os.stat(path), bytearray(path.read_bytes())
    path.write_bytes(b"\xff" * len(content))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    with pytest.raises(ValueError, match=r"part-1\.parquet cannot be read as Parquet"):
        FairNetClassifier(members=2, epochs=1).fit_stream(rows)
    path.unlink()
    with pytest.raises(ValueError, match=r"part-1\.parquet cannot be read as Parquet: .*No such file"):
        FairNetClassifier(members=2, epochs=1).fit_stream(rows)


def test_dropped_columns_may_differ(folder: Path) -> None:
    rewritten(lambda t: t.assign(job=1.5))(folder / "part-1.parquet")
    rewritten(lambda t: t.drop(columns="job"))(folder / "part-2.parquet")
    rows = stream(folder, **ASKED, drop=["job"])
    assert len(rows.scan.census) == 120
    assert "job" not in rows.encoder.feature_names_in_


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ((), "must hold Parquet files to be streamed: found none in '.*data'. Check the name"),
        (("a.csv", "b.csv"), r"found 2 files \(.csv\) in '.*data'. Convert them to Parquet"),
        (("_SUCCESS", ".part.parquet", "_common.parquet"), "must hold Parquet files"),
    ],
)
def test_a_folder_without_parquet_is_refused(files: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in files:
        (tmp_path / "data" / name).write_bytes(b"a,b\n")
    with pytest.raises(ValueError, match=message):
        stream(tmp_path / "data", **ASKED)


def test_only_parquet_that_exists_is_streamed(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        stream(tmp_path / "nowhere", **ASKED)
    (tmp_path / "people.csv").write_text("sex,hired\n")
    with pytest.raises(ValueError, match=r"Only Parquet can be streamed: found 'people\.csv'"):
        stream(tmp_path / "people.csv", **ASKED)
    (folder / "part-0.parquet").rename(folder / "part-9.parquet")
    assert len(stream(folder / "part-9.parquet", **ASKED).scan.census) == 40


def test_files_in_folders_are_found_but_not_columns_in_their_names(folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "part-0.parquet").rename(folder / "more" / "part-0.parquet")
    assert len(stream(folder, **ASKED).scan.census) == 120
    shutil.copytree(folder / "more", folder / "_temporary" / "0")
    shutil.copytree(folder / "more", folder / ".old")
    assert len(stream(folder, **ASKED).scan.census) == 120
    (folder / "more").rename(folder / "year=2024")
    with pytest.raises(ValueError, match="found one in the name of a folder, 'year=2024'"):
        stream(folder, **ASKED)


def test_files_without_rows_do_no_harm_unless_there_are_no_others(applicants: pd.DataFrame, folder: Path) -> None:
    applicants[:0].assign(pay=0.5).to_parquet(folder / "part-3.parquet")
    assert len(stream(folder, **ASKED).scan.census) == 120
    for i in range(3):
        (folder / f"part-{i}.parquet").unlink()
    with pytest.raises(ValueError, match="There must be rows in data"):
        stream(folder, **ASKED)


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"target": "hird"}, "no column 'hird' in data. Did you mean 'hired'"),
        ({}, {"sensitive": ["gender"], "memory": "1 parsec"}, "such as 2GB or 500MB: found '1 parsec'"),
        ({}, {"sensitive": ["gender"]}, "no column 'gender'"),
        ({}, {"drop": ["idd"]}, "no column 'idd'"),
        ({}, {"sensitive": ["hired"]}, "The target 'hired' must be neither sensitive nor dropped"),
        ({}, {"sensitive": []}, "`sensitive` must name at least one column"),
        ({}, {"favorable": None}, "must name the value of 'hired' that is the favorable outcome: found 'no', 'yes'"),
        ({}, {"favorable": "ja"}, "must be a value of 'hired': found 'no', 'yes', not 'ja'"),
        ({"hired": "yes"}, {}, "The target 'hired' must have two values: found only 'yes'"),
        ({}, {"target": "age"}, r"must have two values: found \d+: 20, 21, 22, 23, 24, …"),
        ({}, {"target": "job"}, "must be known in every row: found 30 of 120 rows without a label|5 of 20 rows"),
        ({"hired": pd.Timestamp("2024-01-01")}, {}, "must be text, numbers or booleans: found 'timestamp"),
        ({}, {"sensitive": "age"}, r"found \d+ different numbers. Give bins, for example \{\"age\": \[\d"),
        ({}, {"sensitive": "age:60,25"}, r"Bins of 'age' must be increasing numbers"),
        ({}, {"sensitive": "age:99"}, "must have two groups or more: found only 'under 99'.*or other bins"),
        ({}, {"sensitive": "sex:25"}, "Bins need a column of numbers: found 'female' in 'sex'"),
        ({"sex": "male"}, {}, "'sex' must have two groups or more: found only 'male'"),
        ({"sex": [None] * 40}, {}, "'sex' must have values: found none"),
        ({"sex": [f"name {i}" for i in range(40)]}, {}, "'sex' must name groups: found values such as name 0"),
        ({"sex": pd.Timestamp("2024-01-01")}, {}, "'sex' must have two groups or more: found only '2024-01-01'"),
        ({}, {"drop": ["age", "pay", "job"]}, "There must be a feature"),
        ({}, {"test_fraction": 1.0}, "`test_fraction` must be at least 0 and less than 1: found 1.0"),
    ],
)
def test_bad_columns_are_refused_as_in_memory(
    applicants: pd.DataFrame, tmp_path: Path, change: dict[str, Any], arguments: dict[str, Any], message: str
) -> None:
    (tmp_path / "data").mkdir()
    for i in range(3):
        applicants.assign(**change).to_parquet(tmp_path / "data" / f"{i}.parquet", row_group_size=20)
    with pytest.raises(ValueError, match=message):
        stream(tmp_path / "data", **ASKED | arguments)


def test_rows_that_are_all_alike_make_no_test_rows_of_their_own(applicants: pd.DataFrame, tmp_path: Path) -> None:
    pd.concat([applicants.assign(age=1, pay=1.0)[:8]] * 500).to_parquet(tmp_path / "alike.parquet")
    with pytest.warns(UserWarning, match="rows with the same content go together, and too many are alike"):
        stream(tmp_path / "alike.parquet", **ASKED, test_fraction=0.3)
