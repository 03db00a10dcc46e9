"""The same table comes out, however it was handed over; only what can be a feature is one."""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal, assert_series_equal

from mamofair.tables import Table, read_features, read_table

JOBS = ["clerk", "nurse, night", 'the "boss"', "two\nlines", "Zürich", "日本", "semi;colon", "a:1,2"]


@st.composite
def people(draw: st.DrawFn) -> pd.DataFrame:
    """Numbers, integers, booleans and text, with values missing in all but the integers and the target."""
    kinds = {
        "amount": st.floats(-1e100, 1e100) | st.none(),
        "count": st.integers(-(2**63), 2**63 - 1),
        "member": st.booleans() | st.none(),
        "job": st.sampled_from(JOBS) | st.none(),
        "sex": st.sampled_from(["female", "male"]) | st.none(),
        "age": st.floats(0, 100) | st.none(),
        "hired": st.sampled_from(["no", "yes"]),
    }
    both = [(0.5, 1, True, "clerk", "female", 20.0, "no"), (-1.0, 2, False, "Zürich", "male", 70.0, "yes")]
    return pd.DataFrame(both + draw(st.lists(st.tuples(*kinds.values()), max_size=20)), columns=list(kinds))


def handed_over(frame: pd.DataFrame, folder: Path) -> Iterator[Any]:
    """The same table as a pandas and a polars frame, as CSV, gzipped CSV and Parquet."""
    yield frame
    yield pl.from_pandas(frame)
    for name in ("people.csv", "people.csv.gz"):
        frame.to_csv(folder / name, index=False)
        yield folder / name
    frame.to_parquet(folder / "people.parquet")
    yield str(folder / "people.parquet")


def assert_same(one: Table, other: Table) -> None:
    assert_frame_equal(one.X, other.X)
    assert_series_equal(one.y, other.y)
    assert_frame_equal(one.sensitive, other.sensitive)
    assert (one.labels, one.left_out) == (other.labels, other.left_out)


@settings(max_examples=12)
@given(people())
def test_every_way_to_hand_over_a_table_gives_equal_frames_and_what_a_loop_gives(
    tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame
) -> None:
    ages = ["under 25" if a < 25 else "25 to under 60" if a < 60 else "60 and over" for a in frame["age"].dropna()]
    for source in handed_over(frame, tmp_path_factory.mktemp("people")):
        X, y, sensitive = table = read_table(source, "hired", "yes", ["sex", {"age": [25, 60]}])
        assert list(X) == ["amount", "count", "member", "job"]
        assert X["amount"].dropna().tolist() == frame["amount"].dropna().tolist()
        assert X["count"].tolist() == frame["count"].tolist()
        assert X["job"].dropna().tolist() == frame["job"].dropna().tolist()
        assert X["member"].dropna().astype(str).tolist() == frame["member"].dropna().astype(str).tolist()
        assert X.isna().sum().tolist() == frame[list(X)].isna().sum().tolist()
        assert (y.name, y.tolist()) == ("hired", [int(value == "yes") for value in frame["hired"]])
        assert sensitive["sex"].isna().tolist() == frame["sex"].isna().tolist()
        assert sensitive["sex"].dropna().tolist() == frame["sex"].dropna().tolist()
        assert sensitive["age"].dropna().tolist() == ages
        assert (table.labels, table.left_out) == (("no", "yes"), {})
        kept = read_table(source, "hired", "yes", ["sex", "member"], keep_sensitive=True, drop="age")
        assert_same(kept, read_table(frame, "hired", "yes", ["sex", "member"], keep_sensitive=True, drop="age"))


@settings(max_examples=15)
@given(people())
def test_pandas_reads_a_csv_as_pyarrow_does(tmp_path_factory: pytest.TempPathFactory, frame: pd.DataFrame) -> None:
    path = tmp_path_factory.mktemp("people") / "people.csv.gz"
    frame.to_csv(path, index=False)
    with pytest.MonkeyPatch.context() as patch:
        fast = read_table(path, "hired", "yes", "sex")
        patch.setitem(sys.modules, "pyarrow.csv", None)
        assert_same(fast, read_table(path, "hired", "yes", "sex"))


def test_csv_reads_and_trains_where_pyarrow_is_not_installed(applicants: pd.DataFrame, tmp_path: Path) -> None:
    applicants.to_csv(tmp_path / "people.csv", index=False)
    code = (
        "import importlib.abc, sys\n"
        "class NoPyarrow(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'pyarrow': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoPyarrow())\n"
        "from mamofair.tables import encoder, read_table\n"
        "X, y, sensitive = read_table('people.csv', 'hired', 'yes', ['sex'])\n"
        "print(encoder().fit_transform(X).shape, y.sum(), sensitive['sex'].nunique())\n"
    )
    done = subprocess.run([sys.executable, "-Werror", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("(40, 6) 20 2\n", "")


def test_a_byte_order_mark_is_no_part_of_the_first_name(applicants: pd.DataFrame, tmp_path: Path) -> None:
    applicants.to_csv(tmp_path / "people.csv", index=False, encoding="utf-8-sig")
    assert list(read_table(tmp_path / "people.csv", "hired", "yes", "sex").X) == ["age", "pay", "job"]


def test_a_frame_is_not_changed_and_keeps_its_index(applicants: pd.DataFrame) -> None:
    frame = applicants.set_index(applicants.index * 3 + 1)
    before = frame.copy()
    table = read_table(frame, "hired", "yes", "sex")
    table.X.loc[1, "age"] = 99
    assert_frame_equal(frame, before)
    for part in table:
        assert part.index.tolist() == before.index.tolist()


def test_types_of_other_libraries_become_plain_ones(applicants: pd.DataFrame) -> None:
    nullable = applicants.convert_dtypes().astype({"job": "category"})
    arrow = applicants.convert_dtypes(dtype_backend="pyarrow")
    objects = applicants.astype(object)
    assert read_table(applicants.astype({"pay": "float32"}), "hired", "yes", "sex").X["pay"].dtype == "float32"
    for frame in (
        nullable,
        arrow,
        objects,
        pl.from_pandas(applicants).with_columns(pl.col("job").cast(pl.Categorical)),
    ):
        assert_same(read_table(frame, "hired", "yes", "sex"), read_table(applicants, "hired", "yes", "sex"))


def test_decimals_are_numbers_and_lists_are_no_features(applicants: pd.DataFrame, tmp_path: Path) -> None:
    table = pa.Table.from_pandas(applicants).append_column("cost", pa.array([Decimal("1.50")] * 40))
    table = table.append_column("vector", pa.array([[1.0, 2.0]] * 40)).append_column("day", pa.array([date.min] * 40))
    pq.write_table(table, tmp_path / "people.parquet")
    with pytest.warns(UserWarning, match="'vector' .neither numbers nor text.; 'day' .dates or times"):
        X = read_table(tmp_path / "people.parquet", "hired", "yes", "sex").X
    assert X["cost"].tolist() == [1.5] * 40


def test_the_index_that_pandas_saved_is_no_feature(applicants: pd.DataFrame, tmp_path: Path) -> None:
    frame = applicants.set_index(pd.Index(np.arange(40) + 5, name="row"))
    frame.to_parquet(tmp_path / "people.parquet")
    assert list(read_table(tmp_path / "people.parquet", "hired", "yes", "sex").X) == ["age", "pay", "job"]
    frame.to_csv(tmp_path / "people.csv", index_label="")
    with pytest.warns(UserWarning, match="'' .no name"):
        assert list(read_table(tmp_path / "people.csv", "hired", "yes", "sex").X) == ["age", "pay", "job"]


def test_one_warning_names_dates_free_text_and_empty_columns(applicants: pd.DataFrame, tmp_path: Path) -> None:
    notes = {
        "id": [f"A{i}" for i in range(40)],
        "born": [f"{i % 28 + 1}.{i % 12 + 1}.1990" for i in range(40)],
        "seen": pd.date_range("2024-01-01", periods=40),
        "at": ["12:30:00"] * 40,
        "nothing": [None] * 40,
    }
    for source in handed_over(applicants.assign(**notes), tmp_path):
        with pytest.warns(UserWarning, match="Left out") as caught:
            table = read_table(source, "hired", "yes", "sex")
        assert len(caught) == 1
        assert list(table.X) == ["age", "pay", "job"]
        assert list(table.left_out) == list(notes)
        assert all(f"'{name}'" in str(caught[0].message) for name in notes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(applicants.assign(**notes), "hired", "yes", "sex", drop=list(notes)).left_out == {}


def test_categories_that_come_back_are_features_however_many_they_are() -> None:
    frame = pd.DataFrame({"town": [f"town {i % 300}" for i in range(3000)], "sex": ["f", "m"] * 1500})
    X, y, _ = read_table(frame.assign(hired=[0, 1, 1] * 1000), "hired", sensitive="sex")
    assert X["town"].nunique() == 300
    assert y.sum() == 2000


def test_sensitive_columns_are_features_only_when_asked(applicants: pd.DataFrame) -> None:
    assert "age" not in read_table(applicants, "hired", "yes", {"age": [40]}).X
    kept = read_table(applicants, "hired", "yes", {"age": [40]}, keep_sensitive=True)
    assert kept.X["age"].tolist() == applicants["age"].tolist()
    assert set(kept.sensitive["age"]) == {"under 40", "40 and over"}


@pytest.mark.parametrize(
    ("values", "favorable", "labels"),
    [
        ([0, 1], None, (0, 1)),
        ([0, 1], "1", (0, 1)),
        ([0, 1], "yes", (0, 1)),
        ([0, 1], True, (0, 1)),
        ([0, 1], 0, (1, 0)),
        ([0, 1], "0", (1, 0)),
        ([0.0, 1.0], "1", (0, 1)),
        ([False, True], None, (False, True)),
        ([False, True], "True", (False, True)),
        ([False, True], "1", (False, True)),
        ([False, True], "false", (True, False)),
        ([False, True], 0, (True, False)),
        (["0", "1"], None, ("0", "1")),
        ([1, 2], "2", (1, 2)),
        ([1, 2], "1.0", (2, 1)),
        ([-1, 1], 1, (-1, 1)),
        (["no", "yes"], "yes", ("no", "yes")),
        (["no", "yes"], "no", ("yes", "no")),
        (["1", "01"], "01", ("1", "01")),
        (["approved", "denied"], "approved", ("denied", "approved")),
    ],
)
def test_the_favorable_label_is_one_however_it_is_spelled(values: list[Any], favorable: Any, labels: Any) -> None:
    frame = pd.DataFrame({"x": range(6), "sex": list("fmfmfm"), "label": [*values, *values, *values]})
    table = read_table(frame, "label", favorable, "sex")
    assert table.labels == labels
    assert [type(label) for label in table.labels] == [type(values[0])] * 2
    assert table.y.tolist() == [int(value == labels[1]) for value in frame["label"]]


def test_new_rows_are_read_by_the_names_of_features(applicants: pd.DataFrame, tmp_path: Path) -> None:
    for source in handed_over(applicants.assign(extra="x"), tmp_path):
        assert_frame_equal(read_features(source, ["job", "age"]), applicants[["job", "age"]])
    with pytest.raises(ValueError, match="no column 'jop' in the frame"):
        read_features(applicants, ["age", "jop"])


def test_a_table_prints_as_one_line(applicants: pd.DataFrame) -> None:
    table = read_table(applicants, "hired", "yes", "sex")
    assert repr(table) == "Table(40 rows, 3 features; hired is 'yes' in 50.0%; sensitive: sex)"
