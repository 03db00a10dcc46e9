"""What is missing stays missing, whatever container it comes in: for sensitive attributes, labels and features."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mamofair._rows.columns import as_array
from mamofair._rows.groups import read_groups
from mamofair._rows.labels import as_column
from mamofair.learners.categories import Categories
from mamofair.learners.numbers import read_numbers
from mamofair.metrics import gap
from mamofair.tables import encoder, read_table

TEXT = ["b", None, "a", "b", None, "a"]
NAN = ["b", np.nan, "a", "b", np.nan, "a"]
WHOLE = [1, None, 0, 1, None, 0]
FLAGS = [True, None, False, True, None, False]
CODES = [1, -1, 0, 1, -1, 0]


def encoded(values, nulls="mask"):
    return pa.array(values).dictionary_encode(nulls)


def chunked(values):
    return pa.chunked_array([encoded(values[:2]), encoded(values[2:])])


SERIES = {
    "pandas object": pd.Series(TEXT, dtype=object),
    "pandas object, NaN": pd.Series(NAN, dtype=object),
    "pandas object, NA": pd.Series(["b", pd.NA, "a", "b", pd.NA, "a"], dtype=object),
    "pandas str": pd.Series(TEXT, dtype="str"),
    "pandas string": pd.Series(TEXT, dtype="string"),
    "pandas category": pd.Series(TEXT, dtype="category"),
    "pandas arrow": pd.Series(TEXT, dtype=pd.ArrowDtype(pa.string())),
    "pandas arrow large": pd.Series(TEXT, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas arrow dictionary": pd.Series(TEXT, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    "polars": pl.Series("g", TEXT),
    "polars categorical": pl.Series("g", TEXT, dtype=pl.Categorical),
    "polars enum": pl.Series("g", TEXT, dtype=pl.Enum(["a", "b", "c"])),
    "polars object": pl.Series("g", TEXT, dtype=pl.Object),
    "arrow": pa.chunked_array([TEXT]),
    "arrow dictionary": pa.chunked_array([encoded(TEXT)]),
    "arrow dictionary in chunks": chunked(TEXT),
    "arrow dictionary with a null": pa.chunked_array([encoded(TEXT, "encode")]),
}
NUMBERS = {
    "pandas Int64": pd.Series(WHOLE, dtype="Int64"),
    "pandas Float64": pd.Series(WHOLE, dtype="Float64"),
    "pandas float": pd.Series(WHOLE, dtype=float),
    "pandas boolean": pd.Series(FLAGS, dtype="boolean"),
    "pandas category of numbers": pd.Series(WHOLE, dtype="category"),
    "pandas arrow int": pd.Series(WHOLE, dtype="int64[pyarrow]"),
    "pandas arrow bool": pd.Series(FLAGS, dtype="bool[pyarrow]"),
    "polars int": pl.Series("g", WHOLE),
    "polars float": pl.Series("g", [1.0, float("nan"), 0.0, 1.0, None, 0.0]),
    "polars bool": pl.Series("g", FLAGS),
    "arrow int": pa.chunked_array([WHOLE]),
    "arrow bool": pa.chunked_array([FLAGS]),
    "arrow dictionary of numbers": chunked(WHOLE),
    "numpy float": np.array([1, np.nan, 0, 1, np.nan, 0]),
    "numpy masked": np.ma.array([1, 7, 0, 1, 7, 0], mask=[0, 1, 0, 0, 1, 0]),
    "list of numbers": WHOLE,
}
OTHERS = {
    "numpy object": np.array(TEXT, dtype=object),
    "numpy object, NaN": np.array(NAN, dtype=object),
    "numpy masked text": np.ma.array(["b", "x", "a", "b", "x", "a"], mask=[0, 1, 0, 0, 1, 0]),
    "numpy text": np.array(["b", None, "a", "b", None, "a"], dtype=np.dtypes.StringDType(na_object=None)),
    "list": TEXT,
    "list, NaN": NAN,
    "tuple": tuple(TEXT),
    "index": pd.Index(TEXT),
    "categorical": pd.Categorical(TEXT),
    "arrow array": pa.array(TEXT),
    "arrow dictionary array": encoded(TEXT),
}
ALONE = {**SERIES, **NUMBERS, **OTHERS}


def framed(name, values):
    """Return the container's own frame with the column, if it has frames."""
    if isinstance(values, pd.Series):
        return values.to_frame("g")
    if isinstance(values, pl.Series):
        return pl.DataFrame({"g": values})
    return pa.table({"g": values}) if name.startswith("arrow") else {"g": values}


@pytest.mark.parametrize("name", ALONE)
def test_a_missing_group_is_unknown_in_every_container(name):
    for features in (ALONE[name], framed(name, ALONE[name]), {"g": ALONE[name]}):
        found = read_groups(features)
        assert found.codes[:, 0].tolist() == CODES
        assert list(map(str, found.values[0])) in (["a", "b"], ["0", "1"], ["0.0", "1.0"], ["False", "True"])


@pytest.mark.parametrize("name", ALONE)
def test_a_missing_label_is_refused_in_every_container(name):
    with pytest.raises(ValueError, match="`y` must have no missing value: found 2 of 6"):
        as_column(ALONE[name], "y")


@pytest.mark.parametrize("name", SERIES)
def test_a_missing_category_is_no_other_one_in_every_frame(name):
    frame = framed(name, SERIES[name])
    codes = nw.from_native(Categories.of(frame)(frame))["g"].to_numpy()
    np.testing.assert_array_equal(codes, np.where(np.array(CODES) < 0, np.nan, CODES))
    fitted = encoder().fit(frame)
    assert fitted.get_feature_names_out().tolist() == ["g=(missing)", "g=a", "g=b"]
    assert fitted.transform(frame).argmax(axis=1).tolist() == [code + 1 for code in CODES]
    people = nw.from_native(frame).with_columns(
        y=nw.new_series("y", [0, 1] * 3, backend=nw.get_native_namespace(frame))
    )
    table = read_table(people.to_native(), "y", sensitive="g", keep_sensitive=True)
    assert read_groups(table.sensitive).codes[:, 0].tolist() == CODES


@pytest.mark.parametrize("name", [name for name, column in NUMBERS.items() if not isinstance(column, list)])
def test_a_missing_number_is_no_other_one_in_every_container(name):
    if isinstance(NUMBERS[name], np.ndarray):
        X = NUMBERS[name].reshape(-1, 1)
    else:
        X = framed(name, NUMBERS[name])
        X = X.astype({"g": float}) if name == "pandas category of numbers" else X
    from mamofair.baselines import ConstantClassifier

    numbers = read_numbers(ConstantClassifier(), X, reset=True, table=True)[:, 0].astype(float)
    np.testing.assert_array_equal(numbers, [1, np.nan, 0, 1, np.nan, 0])


@pytest.mark.parametrize(
    "ids",
    [
        lambda ids: pd.Series(ids, dtype="Int64"),
        lambda ids: pd.Series(ids, dtype="int64[pyarrow]"),
        lambda ids: pl.Series("g", ids),
        lambda ids: pa.chunked_array([ids]),
        lambda ids: ids,
    ],
)
def test_large_numbers_are_not_rounded_for_what_is_missing(ids):
    large = 2**53
    found = read_groups(ids([large, large + 1, None]))
    assert found.values == ((str(large), str(large + 1)),)
    assert found.codes[:, 0].tolist() == [0, 1, -1]


def test_a_number_among_texts_is_no_text():
    assert as_array(["1", 1], "y").tolist() == ["1", 1]
    assert as_array(["a\0", "a"], "y").tolist() == ["a\0", "a"]  # numpy cuts zeros off the end
    assert as_array([2**63, -1], "y").tolist() == [2**63, -1]
    with pytest.raises(ValueError, match=r"two labels: found 3 \(1, 0, '1'\)"):
        gap([1, 0, "1"], [1, 0, 1], sensitive_features=list("aab"), notion="dp")


@pytest.mark.parametrize(
    "values",
    [[np.zeros((2, 2)), np.zeros((2, 3))], [[1, 2], [3]], np.zeros(3, dtype=[("a", int), ("b", float)])],
    ids=["shapes", "lengths", "records"],
)
def test_what_is_no_column_is_refused_in_a_sentence(values):
    with pytest.raises(ValueError, match="`y` must be a list, an array or a column of plain values: found"):
        as_array(values, "y")


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128] if hasattr(pl, "UInt128") else [pl.Int128])
def test_integers_of_128_bits_are_whole_numbers(kind):
    whole = as_array(pl.Series("g", [0, 1, 1], dtype=kind), "g")
    assert (whole.dtype.kind, whole.tolist()) == ("i", [0, 1, 1])
    assert as_array(pl.Series("g", [0, None, 2**80], dtype=kind), "g").tolist() == [0, None, 2**80]
    groups = pl.DataFrame({"g": pl.Series([0, 1, None, 1], dtype=kind)})
    assert gap([0, 1, 1, 1], [0, 1, 1, 1], sensitive_features=groups, notion="dp") == 1


def test_a_multiindex_is_no_column():
    index = pd.MultiIndex.from_tuples([(0, "a"), (1, "a")])
    with pytest.raises(ValueError, match="`y_true` must be a column of plain values: found a MultiIndex of 2 levels"):
        gap(index, [0, 1], sensitive_features=["f", "m"], notion="dp")
    with pytest.raises(ValueError, match="`sensitive_features` must be a column of plain values: found a MultiIndex"):
        gap([0, 1], [0, 1], sensitive_features=index, notion="dp")
