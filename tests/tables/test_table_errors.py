"""Bad input: one sentence that says what must hold, what was found and what to do."""

import gzip
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mamofair.tables import read_features, read_table


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"target": "hird"}, "no column 'hird' in the frame. Did you mean 'hired'"),
        ({}, {"target": "HIRED"}, "no column 'HIRED' in the frame. Did you mean 'hired'"),
        ({}, {"target": 7}, "no column 7 in the frame. Its columns are age, pay, job, sex, hired"),
        ({}, {"sensitive": ["gender"]}, "no column 'gender'"),
        ({}, {"sensitive": {"agee": [60, 25]}}, "no column 'agee' in the frame. Did you mean 'age'"),
        ({}, {"sensitive": ["sex:young"], "target": "hird"}, "no column 'hird'"),
        ({}, {"drop": ["idd"]}, "no column 'idd'"),
        ({}, {"sensitive": ["hired"]}, "The target 'hired' must be neither sensitive nor dropped"),
        ({}, {"drop": ["hired"]}, "The target 'hired' must be neither sensitive nor dropped"),
        ({}, {"sensitive": []}, "`sensitive` must name at least one column"),
        ({}, {"sensitive": None}, "`sensitive` must name at least one column"),
        ({}, {"favorable": None}, "must name the value of 'hired' that is the favorable outcome: found 'no', 'yes'"),
        ({}, {"favorable": "ja"}, "must be a value of 'hired': found 'no', 'yes', not 'ja'"),
        ({"hired": "yes"}, {}, "The target 'hired' must have two values: found only 'yes'"),
        ({}, {"target": "age"}, "`favorable` must be a value of 'age': found 40: 20, 21, 22, 23, 24, …, not 'yes'"),
        ({}, {"target": "job"}, "must be known in every row: found 10 of 40 rows without a label"),
        ({"hired": None}, {}, "must be known in every row: found 40 of 40"),
        ({"hired": pd.Timestamp("2024-01-01")}, {}, "must be text, numbers or booleans"),
        ({}, {"sensitive": "age"}, r"found 40 different numbers. Give bins, for example \{\"age\": \[39.5\]\}"),
        ({}, {"sensitive": "age:60,25"}, r"Bins of 'age' must be increasing numbers, such as \[25, 60\]: found"),
        ({}, {"sensitive": "age:25,inf"}, "Bins of 'age' must be increasing numbers"),
        ({}, {"sensitive": {"age": 25}}, "Bins of 'age' must be increasing numbers"),
        ({}, {"sensitive": {"age": ["x"]}}, "Bins of 'age' must be increasing numbers"),
        ({}, {"sensitive": "age:25;60"}, "Bins must be numbers separated by commas"),
        ({}, {"sensitive": "age:99"}, "must have two groups or more: found only 'under 99'.*or other bins"),
        ({}, {"sensitive": "sex:25"}, "Bins need a column of numbers: found 'female' in 'sex'"),
        ({"sex": "male"}, {}, "'sex' must have two groups or more: found only 'male'"),
        ({"sex": None}, {}, "'sex' must have values: found none"),
        ({"sex": [f"name {i}" for i in range(40)]}, {}, "'sex' must name groups: found values such as name 0"),
        ({"sex": pd.Timestamp("2024-01-01")}, {}, "'sex' must have two groups or more: found only '2024-01-01'"),
        ({"pay": np.inf}, {}, "'pay' must hold finite numbers: found infinity in 40 rows"),
        ({}, {"drop": ["age", "pay", "job"]}, "There must be a feature"),
        ({"job": None}, {"drop": ["age", "pay"]}, r"cannot be one: 'job' \(every value is missing\)"),
    ],
)
def test_bad_columns_are_refused(
    applicants: pd.DataFrame, change: dict[str, Any], arguments: dict[str, Any], message: str
) -> None:
    call = {"target": "hired", "favorable": "yes", "sensitive": ["sex"]} | arguments
    with pytest.raises(ValueError, match=message):
        read_table(applicants.assign(**change), **call)


def test_errors_about_columns_come_before_any_other(applicants: pd.DataFrame) -> None:
    broken = applicants.assign(hired=None, sex="male")
    with pytest.raises(ValueError, match="no column 'idd'"):
        read_table(broken, "hired", sensitive={"age": [60, 25]}, drop=["idd"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "a.csv must hold a table: the file is empty .0 bytes"),
        ("a.csv", b"\n\n", "found only blank lines"),
        ("a.csv", b"hired,sex,age\n", "There must be rows in a.csv: found only column names"),
        ("a.csv", b"hired,sex,age,sex\nno,f,1,f\n", "Column names must differ: found 'sex' more than once in a.csv"),
        (
            "a.csv",
            b"hired;sex;age\nno;f\n",
            "separator of a.csv must be clear: found the single column 'hired;sex;age'",
        ),
        (
            "a.csv",
            b"hired;sex,age;x\nno;f,1;2\n",
            "must be clear: found rows that ',' and ';' split equally well.*`--sep`",
        ),
        (
            "a.csv",
            b"hired;sex;age\nno;f;1,5\nno;m;2.5\n",
            "decimal mark of a.csv must be clear: found both .1,5. in line 2 and .2.5. in line 3",
        ),
        ("a.csv", b"hired;sex;age\nno;f;1,234\n", "must be clear: found '1,234'.*`--decimal`"),
        ("a.csv", b"hired,sex,age\nno,f,1\nyes,Ren\x81e,2\n", "must be in UTF-8: .*in line 3.*`--encoding`"),
        ("a.csv", "hired,sex,age\nno,f,1\n".encode("utf-16-le"), "found many zero bytes.*utf-16-le"),
        ("a.csv", b"hired,sex,age\nno,f,1\nyes,m,2,3\n", "a.csv cannot be read as CSV"),
        ("a.csv", b"hired,sex,age\nno,f,1,3\nyes,m,2,3\n", "a.csv cannot be read as CSV"),
        ("a.csv.gz", b"hired,sex,age\nno,f,1\n", "a.csv.gz cannot be read as CSV: Not a gzipped file"),
        (
            "a.csv.gz",
            gzip.compress(b"hired,sex,age\n" + b"no,f,1\n" * 10_000, mtime=0)[:-20],
            "a.csv.gz cannot be read as CSV",
        ),
        ("a.csv.gz", gzip.compress(b"", mtime=0), "found only blank lines"),
        ("a.parquet", b"", "a.parquet must hold a table: the file is empty"),
        ("a.parquet", b"PAR1 or not", "a.parquet cannot be read as Parquet"),
        ("a.xlsx", b"PK", "a.xlsx must be an Excel workbook: found something else"),
        ("a.ods", b"PK", "must be a .csv, .csv.gz, .parquet or .xlsx file: found 'a.ods'"),
    ],
)
@pytest.mark.parametrize("reader", ["pyarrow", "pandas"])
def test_bad_files_are_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    if reader == "pandas":
        monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name, "hired", "yes", ["sex"])
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == content


def test_a_parquet_file_needs_columns_that_differ_and_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table([["no"], ["f"], ["f"]], names=["hired", "sex", "sex"]), tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match="found 'sex' more than once in twice"):
        read_table(tmp_path / "twice.parquet", "hired", "yes", ["sex"])
    pq.write_table(pa.table({"hired": pa.array([], "string"), "sex": pa.array([], "string")}), tmp_path / "no.parquet")
    with pytest.raises(ValueError, match="There must be rows in no"):
        read_table(tmp_path / "no.parquet", "hired", "yes", ["sex"])


def test_a_file_must_exist_and_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no file "):
        read_table(tmp_path / "people.csv", "hired")
    with pytest.raises(ValueError, match="is a folder"):
        read_table(str(tmp_path), "hired")


@pytest.mark.parametrize("source", [5, None, [[1, 2]], np.eye(2), pl.LazyFrame({"hired": [0, 1]})])
def test_what_is_no_table_is_refused(source: object) -> None:
    with pytest.raises(ValueError, match="A table must be a path to a CSV or Parquet file, or a pandas or polars"):
        read_table(source, "hired")


def test_names_in_a_frame_must_be_text_and_differ() -> None:
    with pytest.raises(ValueError, match="Column names must be text: found 0 in the frame"):
        read_table(pd.DataFrame(np.eye(2)), "0")
    with pytest.raises(ValueError, match="found 'a' more than once in the frame"):
        read_table(pd.DataFrame(np.eye(2), columns=["a", "a"]), "a")


def test_what_needs_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r'pip install "mamofair\[data\]"'):
        read_table(tmp_path / "a.parquet", "hired")


def test_a_table_without_rows_has_no_features_to_read() -> None:
    with pytest.raises(ValueError, match="There must be rows in the frame"):
        read_features(pd.DataFrame({"age": []}), ["age"])
