"""The encoder: what it computes, on frames of both libraries, in a pipeline and from its file."""

import io
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from mamofair.tables import encoder, load_encoder, read_table, save_encoder

ROWS = st.tuples(
    st.floats(-1e6, 1e6) | st.none(),
    st.integers(-9, 9),
    st.booleans(),
    st.sampled_from(["a", "b", "ü, x"]) | st.none(),
)


def frame_of(rows: list[tuple[object, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["amount", "count", "member", "job"])
    return frame.astype({"amount": float, "job": "str"})


frames = st.lists(ROWS, min_size=1, max_size=20).map(frame_of)


def encoded_by_hand(fitted_on: pd.DataFrame, frame: pd.DataFrame) -> np.ndarray:
    known = fitted_on["amount"].dropna()
    amount = frame["amount"].fillna(known.median() if len(known) else 0)
    columns = [amount, frame["count"], frame["member"]]
    if fitted_on["amount"].isna().any():
        columns.append(frame["amount"].isna())
    jobs = frame["job"].fillna("(missing)")
    columns += [jobs == job for job in sorted(set(fitted_on["job"].fillna("(missing)")))]
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


@settings(max_examples=15)
@given(frames, frames)
def test_the_encoder_computes_what_a_few_obvious_lines_do(one: pd.DataFrame, other: pd.DataFrame) -> None:
    fitted = encoder().fit(one)
    for frame in (one, other):
        found = fitted.transform(frame)
        assert isinstance(found, np.ndarray)
        assert found.dtype == float
        np.testing.assert_array_equal(found, encoded_by_hand(one, frame))
    assert len(fitted.get_feature_names_out()) == found.shape[1]


@settings(max_examples=15)
@given(frames, frames)
def test_polars_and_pandas_frames_are_encoded_alike(one: pd.DataFrame, other: pd.DataFrame) -> None:
    by_pandas, by_polars = encoder().fit(one), encoder().fit(pl.from_pandas(one))
    for fitted in (by_pandas, by_polars):
        for frame in (other, pl.from_pandas(other)):
            np.testing.assert_array_equal(fitted.transform(frame), by_pandas.transform(other))


@settings(max_examples=15)
@given(frames, frames)
def test_a_saved_encoder_transforms_as_before(
    tmp_path_factory: pytest.TempPathFactory, one: pd.DataFrame, other: pd.DataFrame
) -> None:
    path = tmp_path_factory.mktemp("saved") / "encoder.skops"
    fitted = encoder().fit(one)
    save_encoder(fitted, path)
    loaded = load_encoder(path)
    np.testing.assert_array_equal(loaded.transform(other), fitted.transform(other))
    assert loaded.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


@settings(max_examples=15)
@given(frames, frames)
def test_without_a_strategy_frames_stay_as_they_are_in_the_types_of_fit(one: pd.DataFrame, other: pd.DataFrame) -> None:
    fitted = encoder("none").fit(one)
    for frame in (one, other):
        expected = frame.astype({"count": float, "member": float})
        assert_frame_equal(fitted.transform(frame), expected)
        assert_frame_equal(fitted.transform(pl.from_pandas(frame)), expected)
        assert_frame_equal(
            fitted.transform(frame.assign(other=1)[["other", "job", "count", "amount", "member"]]), expected
        )
    assert fitted.get_feature_names_out().tolist() == list(one)


def test_without_a_strategy_text_stays_text_whatever_it_looks_like(tmp_path: Path) -> None:
    fitted = encoder("none").fit(pd.DataFrame({"code": ["01", "x", None], "amount": [1.0, None, 3.0]}, index=[5, 6, 9]))
    save_encoder(fitted, tmp_path / "encoder")
    for own in (fitted, load_encoder(tmp_path / "encoder")):
        found = own.transform(pd.DataFrame({"code": [1, 2.5], "amount": ["7", None]}, index=[8, 8]))
        assert_frame_equal(found, pd.DataFrame({"code": pd.Series(["1", "2.5"], dtype="str"), "amount": [7.0, np.nan]}))


def test_rare_and_new_values_share_one_column() -> None:
    towns = pd.DataFrame({"town": ["big"] * 999 + ["mid"] * 999 + ["hamlet", "farm"]})
    fitted = encoder().fit(towns)
    assert fitted.get_feature_names_out().tolist() == ["town=big", "town=mid", "town=(infrequent)"]
    new = pd.DataFrame({"town": ["farm", "never seen", None, "big"]})
    assert fitted.transform(new).tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 1], [1, 0, 0]]


def test_thousands_of_values_never_become_thousands_of_columns() -> None:
    streets = pd.DataFrame({"street": [f"street {i % 3000}" for i in range(30_000)]})
    assert encoder().fit_transform(streets).shape[1] <= 64


def test_columns_are_found_by_name_and_others_ignored(applicants: pd.DataFrame) -> None:
    X = read_table(applicants, "hired", "yes", "sex").X
    fitted = encoder().fit(X)
    moved = X[["job", "pay", "age"]].assign(extra=1)
    np.testing.assert_array_equal(fitted.transform(moved), fitted.transform(X))


def test_types_may_differ_between_fit_and_transform() -> None:
    fitted = encoder().fit(pd.DataFrame({"code": ["1", "2", "x"], "flag": [True, False, True], "n": [1, 2, 3]}))
    new = pd.DataFrame({"code": [2.0, None], "flag": [True, None], "n": ["7", None]})
    assert fitted.transform(new).tolist() == [[1, 7, 0, 1, 0], [1, 2, 0, 0, 0]]
    with pytest.raises(ValueError, match="Column 'n' must hold numbers"):
        fitted.transform(new.assign(n="seven"))


def test_a_column_that_is_empty_at_fit_does_no_harm() -> None:
    fitted = encoder().fit(pd.DataFrame({"a": [np.nan, np.nan], "b": [None, None], "c": [1, 2]}))
    assert np.isfinite(fitted.transform(pd.DataFrame({"a": [1.0], "b": ["x"], "c": [3]}))).all()


def test_dates_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="Features must be numbers or text: found neither in 'day'"):
        encoder().fit(pd.DataFrame({"day": pd.date_range("2024-01-01", periods=3), "n": [1, 2, 3]}))


def test_an_array_has_no_names_to_find_columns_by() -> None:
    with pytest.raises(ValueError, match="pandas or polars DataFrame: found ndarray"):
        encoder().fit(np.eye(3))


def test_the_encoder_works_in_a_pipeline_as_a_clone_and_with_frames_out(applicants: pd.DataFrame) -> None:
    X, y, _ = read_table(applicants, "hired", "yes", "sex")
    model = clone(make_pipeline(encoder(), LogisticRegression())).fit(X, y)
    assert set(model.predict(X.assign(job="astronaut"))) <= {0, 1}
    fitted = encoder().fit(X)
    out = fitted.set_output(transform="pandas").transform(X)
    expected = pd.DataFrame(encoder().fit_transform(X), columns=fitted.get_feature_names_out())
    assert_frame_equal(out, expected)


def test_foreign_types_are_refused_by_name_when_loading_and_when_saving(tmp_path: Path) -> None:
    harmful = ColumnTransformer([("run", FunctionTransformer(os.system), ["a"])])
    skops.io.dump(harmful, tmp_path / "harmful.skops")
    with pytest.raises(ValueError, match=r"nothing but the parts of an encoder: found \w+\.system"):
        load_encoder(tmp_path / "harmful.skops")
    with pytest.raises(ValueError, match=r"must be an encoder\(\): found ColumnTransformer"):
        save_encoder(harmful, tmp_path / "mine.skops")
    assert not (tmp_path / "mine.skops").exists()


def test_a_file_that_is_no_encoder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "encoder.skops"
    skops.io.dump(LogisticRegression(), path)
    with pytest.raises(ValueError, match="must hold an encoder: found LogisticRegression"):
        load_encoder(path)
    whole = io.BytesIO()
    skops.io.dump(encoder(), whole)
    for content in (b"", b"not a zip file", whole.getvalue()[:-100]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="must be the file of an encoder"):
            load_encoder(path)
    with pytest.raises(FileNotFoundError):
        load_encoder(tmp_path / "none.skops")


BROKEN = {
    "a column without a meaning": {"columns": ["age", "job", "more"]},
    "a column twice": {"columns": ["age", "age"]},
    "no number": {"fill_values": {"age": "1"}},
    "infinity": {"fill_values": {"age": float("inf")}},
    "a mark of text": {"indicators": ["job"]},
    "numbers as values": {"categories": {"job": [1, 2]}},
    "no infrequent values": {"infrequent_categories": {}},
    "another strategy": {"strategy": "mode"},
    "another part": {"more": 1},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_with_values_that_no_encoder_has_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "encoder.skops"
    save_encoder(encoder().fit(pd.DataFrame({"age": [1, None], "job": ["a", "b"]})), path)
    skops.io.dump(skops.io.load(path) | BROKEN[name], path)
    with pytest.raises(ValueError, match="must be sound: found a broken encoder"):
        load_encoder(path)


def test_an_encoder_is_pickled_and_shown_as_others_are() -> None:
    fitted = encoder("mean").fit(pd.DataFrame({"age": [1, None, 2], "job": ["a", "b", "a"]}))
    again = pickle.loads(pickle.dumps(fitted))
    assert again.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert repr(clone(fitted)) == "TableEncoder(strategy='mean')"
    with pytest.raises(NotFittedError):
        clone(fitted).transform(pd.DataFrame({"age": [1]}))
    with pytest.raises(ValueError, match="There is no column 'job' in the frame"):
        fitted.transform(pd.DataFrame({"age": [1]}))
    with pytest.raises(ValueError, match="`strategy` must be 'median', 'mean' or 'none': found 'mode'"):
        encoder("mode").fit(pd.DataFrame({"age": [1]}))
