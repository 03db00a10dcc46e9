"""Text that a spreadsheet would run, and the apostrophe before it."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair.runs._csv import read_csv, to_csv
from mamofair.tables import open_source
from mamofair.tables.formulas import protect, protect_table, safe_csv, unprotect
from mamofair.tables.text_numbers import parse_number

TEXTS = st.text(alphabet="=+-@\t\r\n'＝＋－＠ax1.e", max_size=6) | st.text(max_size=6)


@given(TEXTS)
def test_no_text_begins_like_a_formula_and_every_text_comes_back(text):
    safe = protect(text)
    assert unprotect(safe) == text
    if safe[:1] in tuple("=+-@\t\r\n＝＋－＠") and len(safe) > 1:
        is_number = any(parse_number(safe, mark) is not None for mark in ".,")
        assert is_number or np.isfinite(float(safe)) or safe.lower()[1:] in ("nan", "inf")


@given(st.floats() | st.integers())
def test_numbers_that_are_written_as_text_stay(number):
    for text in (str(number), f"{number:+}", f"{number:e}"):
        assert protect(text) == text


@pytest.mark.parametrize("number", ["-1,55", "-1.234,50", "-1,234.50", "+3 %", "-12 €", "-€5", "- 3", "+1'000"])
def test_numbers_of_any_file_stay(number):
    assert protect(number) == number


@pytest.mark.parametrize(
    "text", ["-1,55,2", "-2+3", "+49 170 1", "-x", "@no", "-1-1", "-5 EUR EUR", "\t-5", "=5", "-(5)"]
)
def test_what_is_no_number_is_protected(text):
    assert protect(text) == f"'{text}"


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_files_are_read_without_the_apostrophe(suffix, tmp_path):
    frame = pd.DataFrame({"'@job": ["'@no", "'tis", None, "''=1"], "pay": ["'-1,5", "-2", "3", "4"]})
    path = tmp_path / f"table{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_excel(path, index=False)
    source = open_source(path)
    assert source.names == ("@job", "pay")
    columns = dict(source.read(["pay", "@job"]))
    assert columns["@job"].dropna().tolist() == ["@no", "'tis", "'=1"]
    assert columns["pay"].tolist() == ["-1,5", "-2", "3", "4"]
    assert columns["@job"].name == "@job"


@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_texts_of_any_kind_of_column_are_protected_and_numbers_are_not(dtype):
    cells = ["=SUM(A1)", "@x", None, "-3.5", "+", "plain", "-1+cmd|' /C calc'!A0"]
    frame = pd.DataFrame({"=name": pd.Series(cells, dtype=dtype), "-5": range(-3, 4), "x": np.linspace(-1, 1, 7)})
    safe = protect_table(frame)
    assert list(safe) == ["'=name", "-5", "x"]
    assert safe["'=name"].dropna().tolist() == ["'=SUM(A1)", "'@x", "-3.5", "+", "plain", "'-1+cmd|' /C calc'!A0"]
    assert safe["'=name"].isna().tolist() == frame["=name"].isna().tolist()
    pd.testing.assert_frame_equal(safe.iloc[:, 1:], frame.iloc[:, 1:])
    assert frame["=name"].tolist()[0] == "=SUM(A1)"  # the caller's table is as it was


def test_cells_that_are_neither_text_nor_number_stay():
    frame = pd.DataFrame({"mixed": pd.Series([b"=x", -2, "=x", True, ("=y",), None], dtype=object)})
    assert protect_table(frame)["mixed"].tolist() == [b"=x", -2, "'=x", True, ("=y",), None]
    ids = pd.DataFrame({"id": pd.Series([4503599627370497, None, 3], dtype=object)})
    assert safe_csv(ids) == 'id\n4503599627370497\n""\n3\n'  # and no 4503599627370497.0
    flags = pd.DataFrame({"flags": pd.Series([True, None, False], dtype=object)})
    pd.testing.assert_frame_equal(protect_table(flags), flags)


@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_a_carriage_return_begins_no_row(dtype):
    frame = pd.DataFrame({"a": pd.Series(["x\r=1+1", "y"], dtype=dtype), "b": [-1.5, 2]})
    text = safe_csv(frame)
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["a", "b"], ["x\r=1+1", "-1.5"], ["y", "2.0"]]
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(text)), frame.astype({"a": "str"}))


@given(st.lists(TEXTS.filter(lambda text: text.strip() and "\0" not in text), min_size=1, max_size=4, unique=True))
def test_a_table_of_a_run_is_read_as_it_was_written(texts):
    rows = read_csv(to_csv(pd.DataFrame(dict.fromkeys(texts, texts))), texts=texts)
    assert [list(row) for row in rows] == [texts] * len(texts)
    assert [list(row.values()) for row in rows] == [[text] * len(texts) for text in texts]
