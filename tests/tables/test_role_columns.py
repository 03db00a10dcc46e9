"""Ids, units and groups are text in one form, from whatever file or frame they come; labels keep their type."""

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair._rows.groups import read_groups
from mamofair._rows.names import as_name, as_names
from mamofair.metrics import audit
from mamofair.tables import FileFormat, open_source, read_features, read_table
from mamofair.tables.role_columns import infer_type, read_labels, read_names

LONG = [10**19 + place for place in range(20)]


def names_of(source: Any, column: str = "id") -> list[Any]:
    return read_names(open_source(source), [column])[column].tolist()


def test_text_in_a_file_stays_as_it_is_written(tmp_path: Path) -> None:
    written = ["0001", "1", "1.0", "01", "2024.1", "2024.10", "TRUE", "1e3", " 7", "2024-03-31", "Zürich"]
    frame = pd.DataFrame({"id": written, "x": 1})
    for reader in ("csv", "xlsx", "parquet"):
        path = tmp_path / f"a.{reader}"
        {"csv": frame.to_csv, "xlsx": frame.to_excel}.get(reader, lambda path, index: frame.to_parquet(path))(
            path, index=False
        )
        assert names_of(path) == written
    assert names_of(pl.from_pandas(frame)) == names_of(frame) == written


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([1.0, 0.1, 1e20, -0.0], ["1", "0.1", "100000000000000000000", "0"]),
        (np.array([0.1, 2], dtype="float32"), ["0.1", "2"]),
        ([True, False], ["True", "False"]),
        ([Decimal("1.50"), Decimal("2.00"), Decimal(10**20)], ["1.5", "2", str(10**20)]),
        (pd.to_datetime(["2024-03-31", "2024-03-31 10:30"], format="ISO8601"), ["2024-03-31", "2024-03-31T10:30:00"]),
        ([date(2024, 3, 31), datetime(2024, 3, 31, 9)], ["2024-03-31", "2024-03-31T09:00:00"]),
        (pd.Categorical([2, 1]), ["2", "1"]),
        ([1, "1", "a", True], ["1", "1", "a", "True"]),
        (pd.array([2**60 + 1, None], dtype="Int64"), [str(2**60 + 1), None]),
    ],
)
def test_typed_values_have_one_form(values: Any, names: list[str | None]) -> None:
    found = as_names(pd.Series(values))
    assert [None if name != name else name for name in found] == names


def test_ids_with_many_digits_stay_apart_where_some_are_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [*LONG, None], "x": 1}, schema={"id": pl.UInt64, "x": pl.Int64})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    for source in (frame, frame.to_arrow(), tmp_path / "a.parquet", tmp_path / "a.csv"):
        assert names_of(source)[:-1] == [str(number) for number in LONG]
        assert pd.isna(names_of(source)[-1])


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128] if hasattr(pl, "UInt128") else [pl.Int128])
def test_integers_of_128_bits_are_names_and_features(kind: Any) -> None:
    frame = pl.DataFrame({"id": pl.Series([2**70, 2**70 + 1, None], dtype=kind), "x": pl.Series([3, 4, 6], dtype=kind)})
    assert names_of(frame)[:-1] == [str(2**70), str(2**70 + 1)]
    assert pd.isna(names_of(frame)[-1])
    assert read_features(frame, ["x"])["x"].tolist() == [3, 4, 6]


def test_codes_are_other_groups_where_they_are_written_in_another_way(tmp_path: Path) -> None:
    pd.DataFrame({"g": ["01", "1", "1.0"] * 4, "x": 1.5, "y": [0, 1] * 6}).to_csv(tmp_path / "a.csv", index=False)
    table = read_table(tmp_path / "a.csv", "y", sensitive="g")
    assert table.sensitive["g"].value_counts().to_dict() == {"01": 4, "1": 4, "1.0": 4}


def test_a_quantity_is_no_name_of_a_group_in_any_format_but_codes_with_zeros_are(tmp_path: Path) -> None:
    frame = pd.DataFrame({"g": np.arange(24), "x": 1.5, "y": [0, 1] * 12})
    frame.to_csv(tmp_path / "a.csv", index=False)
    for source in (frame, tmp_path / "a.csv"):
        with pytest.raises(ValueError, match="'g' must name groups: found 24 different numbers"):
            read_table(source, "y", sensitive="g")
    codes = pd.concat([frame.assign(g=[f"{code % 12:02}" for code in frame["g"]])] * 5)
    codes.to_csv(tmp_path / "b.csv", index=False)
    assert read_table(tmp_path / "b.csv", "y", sensitive="g").sensitive["g"].nunique() == 12


@pytest.mark.parametrize(
    ("written", "labels"),
    [(["0", "1"], (0, 1)), (["-1", "1"], (-1, 1)), (["true", "FALSE"], (False, True)), (["0.0", "1.0"], (0, 1))],
)
def test_targets_keep_their_default_label_and_their_type(
    written: list[str], labels: tuple[Any, Any], tmp_path: Path
) -> None:
    pd.DataFrame({"g": list("ab") * 4, "x": 1.5, "y": written * 4}).to_csv(tmp_path / "a.csv", index=False)
    table = read_table(tmp_path / "a.csv", "y", sensitive="g")
    assert table.labels == labels
    assert type(table.favorable) is not str


@given(st.lists(st.integers(-(10**6), 10**6).map(str) | st.floats(-1e6, 1e6).map(repr) | st.none(), min_size=1))
def test_numbers_of_a_file_have_the_values_that_python_reads(written: list[str | None]) -> None:
    found = infer_type(pd.Series(written, dtype="str"))
    if any(one is not None for one in written):
        assert [None if one != one else one for one in found.tolist()] == [
            None if one is None else float(one) for one in written
        ]


def test_decimal_commas_are_read_in_labels_and_thousands_stay_text() -> None:
    assert infer_type(pd.Series(["0,5", "1"]), ",").tolist() == [0.5, 1]
    assert infer_type(pd.Series(["1.234", "2,5"]), ",").tolist() == ["1.234", "2,5"]


def test_a_frame_has_no_separator_and_a_given_mark_decides_how_its_texts_are_read() -> None:
    frame = pd.DataFrame({"g": [1, 2] * 4, "pay": ["1,500", "2,500"] * 4, "y": [0, 1] * 4})
    with pytest.warns(UserWarning, match="Read as numbers: 'pay'"):
        table = read_table(frame, "y", sensitive="g", file_format=FileFormat(";", ".", "cp1252"))
    assert table.X["pay"].tolist()[:2] == [1500, 2500]
    assert table.sensitive["g"].tolist()[:2] == ["1", "2"]


def test_runs_that_began_before_read_as_they_did(tmp_path: Path) -> None:
    pd.DataFrame({"id": ["01", "1.0", "NA"], "y": ["1", "0", "NA"]}).to_csv(tmp_path / "a.csv", index=False)
    source = open_source(tmp_path / "a.csv", FileFormat(reading="typed"))
    assert read_names(source, ["id"])["id"].tolist()[:2] == ["1", "1"]
    assert read_names(source, ["id"])["id"].isna().tolist() == [False, False, True]
    assert read_labels(source, ["y"])["y"].tolist()[:2] == [1, 0]


@pytest.mark.parametrize("kind", ["int64", "float32", "bool", "object"])
def test_groups_in_arrays_are_named_by_text_and_have_the_same_gaps(kind: str) -> None:
    codes = np.arange(40) % 2
    decisions = (np.arange(40) % 5 < 1 + codes).astype(int)
    named = audit(None, decisions, sensitive_features=codes.astype(str), min_group=1).frame()
    typed = audit(None, decisions, sensitive_features=codes.astype(kind), min_group=1).frame()
    pd.testing.assert_frame_equal(named, typed)


def test_one_group_may_be_a_number_here_and_text_there() -> None:
    mixed = np.array([1, "1", 2.0, "b", None], dtype=object)
    assert read_groups(mixed, whole=False).values == (("2", "1", "b"),)
    assert read_groups(mixed, whole=False).codes[:, 0].tolist() == [1, 1, 0, 2, -1]
    assert read_groups(pa.array([3, None, 10]), whole=False).values == (("3", "10"),)


def test_older_groups_of_numbers_are_found_by_their_names() -> None:
    from mamofair._rows.groups import Groups

    older = Groups.of_values({"x": (0, 1.0, True)})
    assert older.values == (("0", "1", "True"),)
    assert read_groups({"x": ["1", 0, "True"]}).as_in(older).codes[:, 0].tolist() == [1, 0, 2]


@given(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_name_is_a_number_that_python_reads_back(value: float) -> None:
    assert float(as_name(value)) == value
    assert "." not in as_name(value) or not float(value).is_integer()
