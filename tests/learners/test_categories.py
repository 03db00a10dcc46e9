"""Each different value is looked up once, and rows get what a look at every row would give them."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mamofair._rows.columns import of_series
from mamofair.learners.categories import Categories
from mamofair.tables.columns import as_numbers

TEXTS = st.lists(st.sampled_from(["cook", "nurse", "01", "", "Ü"]) | st.none(), min_size=1, max_size=12)
MIXED = st.lists(st.sampled_from(["cook", 1, 2.5, True]) | st.none(), min_size=1, max_size=12)
KINDS = {
    "str": lambda values: pd.Series(values, dtype="str"),
    "string": lambda values: pd.Series(values, dtype="string"),
    "object": lambda values: pd.Series(values, dtype=object),
    "category": lambda values: pd.Series(values, dtype="str").astype("category"),
    "declared": lambda values: pd.Series(pd.Categorical(values, categories=["Ü", "nurse", "cook", "", "01"])),
    "polars": lambda values: pl.Series(values, dtype=pl.String),
}


def check(fitted, other):
    """Compare with a look at every row."""
    frame, more = (nw.from_native(column, allow_series=True).alias("job").to_frame() for column in (fitted, other))
    categories = Categories.of(frame.to_native())
    plain, rows = of_series(frame["job"]), of_series(more["job"])
    for name, levels in categories.values.items():
        expected = pd.Categorical(plain).categories
        assert levels.dtype == expected.dtype
        assert levels.tolist() == expected.tolist()
        known = {value: place for place, value in enumerate(levels)}
        places = np.array([known.get(value, -1) for value in rows], dtype=int)
        codes = nw.from_native(categories(more.to_native()))[name].to_numpy()
        np.testing.assert_array_equal(codes, np.where(places < 0, np.nan, places))
    return categories


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(fitted=TEXTS, other=TEXTS)
def test_codes_are_places_among_the_values_of_fit(kind, fitted, other):
    known = check(KINDS[kind](fitted), KINDS[kind](other))
    assert list(known.values) in (["job"], [])  # a column of nothing but gaps may be no text


@given(fitted=MIXED, other=MIXED)
@example(fitted=[1, True], other=[True, None])
def test_so_are_those_of_objects_of_all_kinds(fitted, other):
    check(KINDS["object"](fitted), KINDS["object"](other))


SPELLED = st.sampled_from(["1", "-2.5", "1e3", "true", "FALSE", "0.1", "123456789012345678", "9007199254740993"])
ANY = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers(-(2**62), 2**62).map(str)


@given(st.lists(SPELLED | ANY | st.none(), min_size=1, max_size=12))
def test_numbers_in_text_are_those_of_pandas_bit_for_bit(texts):
    column = pd.Series(texts, dtype="str", name="income")
    spelled = column.replace({"true": "1", "FALSE": "0"})
    expected = pd.to_numeric(spelled).to_numpy(dtype="float64", na_value=np.nan)
    assert as_numbers(column).to_numpy().tobytes() == expected.tobytes()


def test_infinities_are_counted_by_rows():
    with pytest.raises(ValueError, match="'income' must hold finite numbers: found infinity in 3 rows"):
        as_numbers(pd.Series(["inf", "1", "inf", "-inf"], dtype="str", name="income"))
