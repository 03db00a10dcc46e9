import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair._rows.groups import Census, read_groups
from mamofair.baselines import ConstantClassifier
from mamofair.metrics import audit, gap
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS

PEOPLE = {"sex": ["F", "M", None, "F"], "race": ["B", "W", "W", None]}


@pytest.mark.parametrize(
    "features",
    [PEOPLE, pd.DataFrame(PEOPLE), pl.DataFrame(PEOPLE), pl.LazyFrame(PEOPLE), pd.DataFrame(PEOPLE).astype("category")],
    ids=["mapping", "pandas", "polars", "lazy", "category"],
)
def test_frames_of_any_kind_read_alike(features):
    groups = read_groups(features, rows=4)
    assert groups.names == ("sex", "race")
    assert groups.values == (("F", "M"), ("B", "W"))
    assert groups.codes.tolist() == [[0, 0], [1, 1], [-1, 1], [0, -1]]


@pytest.mark.parametrize(
    "features",
    [
        np.array([[0, 1], [1, 0]]),
        [[0, 1], [1, 0]],
        pd.DataFrame([[0, 1], [1, 0]]),
    ],
    ids=["array", "list", "frame"],
)
def test_unnamed_columns_are_numbered(features):
    groups = read_groups(features)
    assert groups.names == ("sensitive_0", "sensitive_1")
    assert groups.codes.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_series_keep_their_name(series):
    named = series(["a", "b"], name="sex") if series is pd.Series else series("sex", ["a", "b"])
    assert read_groups(named).names == ("sex",)
    assert read_groups(series(["a", "b"])).names == ("sensitive_0",)


def test_values_of_many_types_are_groups():
    assert read_groups([True, False, True]).values == (("False", "True"),)
    assert read_groups([1.0, np.nan, 0.0]).codes[:, 0].tolist() == [1, -1, 0]
    assert read_groups(pd.Series(["b", pd.NA, "a"])).codes[:, 0].tolist() == [1, -1, 0]
    assert read_groups(np.array(["b", 1, None], dtype=object)).codes[:, 0].tolist() == [1, 0, -1]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0, 1, None])), min_size=1, max_size=20))
def test_crossing_has_the_combinations_that_occur(rows):
    crossed = read_groups(pd.DataFrame(rows, columns=["x", "y"])).crossed()
    expected = {f"{x} / {y}" for x, y in rows if y is not None}
    found = {value.replace(".0", "") for value in crossed.values[-1]}
    assert found == expected
    assert ((crossed.codes[:, 2] == -1) == [y is None for _, y in rows]).all()


def test_crossing_one_attribute_adds_nothing():
    assert read_groups(["a", "b"]).crossed().names == ("sensitive_0",)


def test_columns_of_a_mapping_may_have_one_axis_more():
    assert read_groups({"sex": np.array([["a"], ["b"]])}).codes.tolist() == [[0], [1]]


def test_rows_can_be_taken():
    groups = read_groups(PEOPLE)[np.array([2, 1])]
    assert len(groups) == 2
    assert groups.codes.tolist() == [[-1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["a"] * 90, "one row per sample: found 90 rows for 100 samples"),
        (pd.DataFrame(index=range(100)), "at least one column"),
        (np.zeros((100, 2, 2)), "one or two dimensions"),
        (pd.DataFrame([["a", "b"]] * 100, columns=["sex", "sex"]), "'sex' twice"),
        (np.arange(100) / 7, "found 100 values in 100 rows. Bin it first"),
        ({"sex": np.zeros((100, 2))}, r"Columns of `sensitive_features` must have one dimension: found.*\(100, 2\)"),
        ([{}] * 100, "Groups must be text in valid Unicode, numbers, or other values that can be sorted: unhashable"),
        (["\ud800"] * 100, "Groups must be text in valid Unicode, numbers, or other values that can be sorted"),
        (
            [1j, 2j] * 50,
            "Groups must be text in valid Unicode, numbers, or other values that can be sorted: '<' not supp",
        ),
    ],
    ids=["length", "empty", "dimensions", "names", "continuous", "flat", "unhashable", "surrogates", "complex"],
)
def test_bad_input_gets_one_clear_sentence(features, message):
    with pytest.raises(ValueError, match=message):
        read_groups(features, rows=100)


CELLS = st.lists(
    st.tuples(
        st.sampled_from(["no", "yes"]), st.sampled_from(["F", "M", None]), st.sampled_from(["B", "W", "7", None])
    ),
    min_size=1,
    max_size=30,
)


def census_of(rows):
    frame = pd.DataFrame(rows, columns=["label", "sex", "race"]).astype(object)
    codes, labels = pd.factorize(frame["label"])
    return Census.of(labels, codes, read_groups(frame[["sex", "race"]], whole=False))


@given(CELLS, st.integers(1, 30))
def test_a_census_counts_and_two_of_them_add_up(rows, cut):
    whole = census_of(rows)
    assert whole.cells == {cell: rows.count(cell) for cell in set(rows)}
    assert len(whole) == len(rows)
    if rows[cut:]:
        assert (census_of(rows[:cut]) + census_of(rows[cut:])).cells == whole.cells


@given(CELLS)
def test_a_census_knows_the_groups_that_reading_all_rows_finds(rows):
    frame = pd.DataFrame(rows, columns=["label", "sex", "race"]).astype(object)
    people, census = read_groups(frame[["sex", "race"]], whole=False), census_of(rows)
    assert census.groups().values == people.values
    assert census.groups().crossed().values == people.crossed().values
    assert census.groups().crossed().names == people.crossed().names
    for cell, label, codes in zip(census.cells, census.labels, census.groups().codes, strict=True):
        assert (label, *((*v, None)[c] for v, c in zip(people.values, codes, strict=True))) == cell


def test_a_census_of_other_attributes_is_not_added():
    with pytest.raises(ValueError, match="same attributes"):
        census_of([("no", "F", "B")]) + Census.of(["no"], np.array([0]), read_groups(pd.Series(["F"], name="sex")))


def test_few_rows_of_many_may_all_be_of_another_group():
    features = pd.Series([f"town {i}" for i in range(30)], name="town")
    assert len(read_groups(features, whole=False).values[0]) == 30
    with pytest.raises(ValueError, match="groups of several rows"):
        read_groups(features)


def test_a_new_group_is_refused_or_unknown():
    known, new = (read_groups(pd.Series(names, name="sex")) for names in (["F", "M"], ["M", "X"]))
    assert new.as_in(known, strict=False).codes.tolist() == [[1], [-1]]
    with pytest.raises(ValueError, match="found 'X' in 'sex'"):
        new.as_in(known)


def test_rows_of_one_index_in_another_order_are_warned_of(eight_people):
    named = eight_people.set_axis(list("abcdefgh"))
    shuffled = named["sex"].iloc[::-1]
    for use in (
        lambda: gap(named["y"], named["predicted"], sensitive_features=shuffled, notion="dp"),
        lambda: audit(named["y"], named["predicted"].to_numpy(), sensitive_features=shuffled),
        lambda: ConstantClassifier(random_state=3).fit(
            named[["y"]], named["y"].to_numpy(), sensitive_features=shuffled
        ),
    ):
        with pytest.warns(UserWarning, match="has the rows of `.*` in another order, going by their index"):
            use()
    for other in (shuffled.reset_index(drop=True), shuffled.to_numpy(), named["sex"]):  # may stand as it is
        gap(named["y"], named["predicted"], sensitive_features=other, notion="dp")


def test_a_quantity_is_no_attribute_and_advice_helps():
    age = pd.Series(np.random.default_rng(0).integers(18, 80, 2000), name="age")
    for quantity in (age, age.astype(float), age.to_numpy(), age.tolist(), {"age": age.astype(object)}):
        with pytest.raises(ValueError, match=r"62 different numbers, 18(\.0)? to 79(\.0)?\. Bin it, as in pandas\.cut"):
            read_groups(quantity)
    assert len(read_groups(pd.cut(age, [0, 25, 60, 120])).values[0]) == 3
    assert len(read_groups(age.astype(str)).values[0]) == 62


@pytest.mark.parametrize(
    "values", [range(20), [f"country {i}" for i in range(195)], [*range(60), "unknown"], [True, 0]]
)
def test_many_groups_that_have_names_are_an_attribute(values):
    column = [value for value in values for _ in range(10)]
    assert len(read_groups(np.array(column, dtype=object)).values[0]) == len(values)
