"""Text that a spreadsheet would run, and the apostrophe before it."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair.runs._csv import read_csv, to_csv
from mamofair.tables.formulas import protect, protect_table, safe_csv, unprotect

TEXTS = st.text(alphabet="=+-@\t\r\n'＝＋－＠ax1.e", max_size=6) | st.text(max_size=6)


@given(TEXTS)
def test_no_text_begins_like_a_formula_and_every_text_comes_back(text):
    safe = protect(text)
    assert unprotect(safe) == text
    if safe[:1] in tuple("=+-@\t\r\n＝＋－＠") and len(safe) > 1:
        assert np.isfinite(float(safe)) or safe.lower()[1:] in ("nan", "inf")


@given(st.floats() | st.integers())
def test_numbers_that_are_written_as_text_stay(number):
    for text in (str(number), f"{number:+}", f"{number:e}"):
        assert protect(text) == text


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
