"""Folders of Parquet files: what would be left out silently, or count twice, is an error; types may differ."""

import os
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mamofair.streaming.folders import find_files
from mamofair.streaming.source import open_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "may").mkdir(parents=True)
    for name in ("a.parquet", "may/b.parquet"):
        pd.DataFrame({"age": [1, 2]}).to_parquet(folder / name)
    return folder


def test_files_of_subfolders_are_found_and_hidden_ones_are_not(folder):
    for name in ("_SUCCESS", ".a.parquet.crc", "README.md", "_backup.csv"):
        (folder / name).write_text("x")
    assert [path.relative_to(folder).as_posix() for path in find_files(folder)] == ["a.parquet", "may/b.parquet"]


@pytest.mark.parametrize("name", ["c.csv", "may/c.CSV.gz", "c.xlsx", "c.parquet.gz", "c.feather"])
def test_tables_of_other_formats_are_not_left_out_silently(folder, name):
    (folder / name).write_text("age\n3\n")
    with pytest.raises(ValueError, match=f"must be Parquet files: found '{name}' beside 2 of them"):
        find_files(folder)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_file_that_is_there_twice_does_not_count_twice(folder, link):
    link(folder / "a.parquet", folder / "may" / "again.parquet")
    with pytest.raises(ValueError, match=r"found 'a.parquet' and 'may/again.parquet', which are one file"):
        find_files(folder)


def test_links_that_are_not_followed_are_named(folder):
    (folder / "june").symlink_to(folder / "may")
    with pytest.raises(ValueError, match="found 'june', a link to another folder"):
        find_files(folder)
    (folder / "june").unlink()
    (folder / "june.parquet").symlink_to(folder / "gone.parquet")
    with pytest.raises(ValueError, match=r"found 'june\.parquet', a link that leads nowhere"):
        find_files(folder)
    (folder / "june.parquet").unlink()
    (folder / "june.parquet").symlink_to(pathlike := folder.parent / "elsewhere.parquet")
    pd.DataFrame({"age": [3]}).to_parquet(pathlike)
    assert len(find_files(folder)) == 3


DAY, TIME = date(2024, 1, 31), datetime(2024, 1, 31)
MIXED = {
    "a date and a time": ([DAY], [TIME], [pd.Timestamp(TIME)] * 2),
    "with and without a zone": ([pd.Timestamp(TIME, tz="Asia/Tokyo")], [TIME], [datetime(2024, 1, 30, 15), TIME]),
    "a date and a time of day": ([DAY], [time(3)], ["2024-01-31", "03:00:00.000000"]),
    "decimals and whole numbers": ([Decimal("1.50")], [2**62], [1.5, 2.0**62]),
    "nothing and a date": ([None], [DAY], [None, DAY]),
}


@pytest.mark.parametrize("name", MIXED)
def test_files_with_different_types_are_one_table(name, tmp_path):
    first, second, expected = MIXED[name]
    for i, values in enumerate((first, second)):
        pq.write_table(pa.table({"x": pa.array(values), "y": [i]}), tmp_path / f"{i}.parquet")
    source, rows = open_folder(tmp_path, 10)
    [(_, column)] = source.read(["x"])
    assert rows == 2
    assert [None if pd.isna(value) else value for value in column] == expected
