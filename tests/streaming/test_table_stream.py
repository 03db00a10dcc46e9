"""Tables that are read a block at a time: what a scan finds, what is encoded, and which rows are test rows."""

from decimal import Decimal
from functools import reduce
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from mamofair import FairNetClassifier
from mamofair.streaming import stream
from mamofair.streaming.scan import ScanResult, content_keys
from mamofair.tables import TableEncoder, columns, counts, encoder, load_encoder, read_table, save_encoder
from mamofair.tables.columns import MOST_VALUES
from mamofair.tables.counts import Codes, ColumnCounts
from mamofair.tables.roles import Roles

ROWS = 2400


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """A table with a column of every kind, and gaps."""
    rng = np.random.default_rng(0)
    sex, pay = rng.choice(["f", "m"], ROWS), rng.normal(size=ROWS)
    return pd.DataFrame(
        {
            "pay": np.where(rng.random(ROWS) < 0.1, np.nan, pay),
            "age": rng.integers(18, 80, ROWS),
            "small": rng.normal(size=ROWS).astype(np.float32),
            "owner": rng.choice([True, False], ROWS),
            "married": pd.array(rng.choice([True, False, None], ROWS), dtype="boolean"),
            "job": pd.Series(rng.choice(["clerk", "nurse", "", None], ROWS, p=[0.5, 0.3, 0.1, 0.1]), dtype="str"),
            "town": pd.Series([f"town {i}" for i in np.minimum(rng.geometric(0.02, ROWS), 200)], dtype="category"),
            "name": pd.Series([f"person {i}" for i in range(ROWS)], dtype="str"),
            "when": pd.Timestamp("2024-01-01"),
            "nothing": pd.Series([None] * ROWS, dtype="str"),
            "sex": sex,
            "group": pd.Series(rng.choice(["a", "b", None], ROWS), dtype="str"),
            "hired": np.where(pay + (sex == "m") + rng.normal(size=ROWS) > 0.5, "yes", "no"),
        }
    )


ASKED: dict[str, Any] = {"target": "hired", "favorable": "yes", "sensitive": ["sex", "group", "age:30,60"]}


def written(folder: Path, people: pd.DataFrame, *cuts: int, row_group_size: int = 500) -> Path:
    """A folder of shards, cut at these rows."""
    folder.mkdir()
    ends = [0, *cuts, len(people)]
    for i, (start, end) in enumerate(pairwise(ends)):
        people[start:end].to_parquet(folder / f"part-{i}.parquet", index=False, row_group_size=row_group_size)
    return folder


@pytest.fixture(scope="module")
def folder(people: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("shards") / "data", people, 700, 1900)


def joined(rows: Any) -> tuple[np.ndarray, np.ndarray, pd.DataFrame, np.ndarray]:
    parts = [list(block) for block in rows]
    X, y, keys = (np.concatenate([part[i] for part in parts]) for i in (0, 1, 4))
    return X, y, pd.concat([part[2] for part in parts], ignore_index=True), keys


@pytest.mark.filterwarnings("ignore:Left out")
def test_rows_are_those_of_the_table_in_memory(people: pd.DataFrame, folder: Path) -> None:
    table, streamed = read_table(people, **ASKED), stream(folder, **ASKED)
    fitted = encoder(strategy="mean").fit(table.X)
    X, y, sensitive, _ = joined(streamed)
    np.testing.assert_allclose(X, fitted.transform(table.X), rtol=1e-12)
    assert y.tolist() == table.y.tolist()
    pd.testing.assert_frame_equal(sensitive.astype("str"), table.sensitive)
    assert streamed.labels == table.labels == ("no", "yes")
    assert streamed.left_out == table.left_out
    assert set(streamed.left_out) == {"name", "when", "nothing"}
    assert len(streamed) == 2 + 3 + 1


@pytest.mark.filterwarnings("ignore:Left out")
def test_the_encoder_is_the_one_that_is_fitted_in_memory(people: pd.DataFrame, folder: Path, tmp_path: Path) -> None:
    table, found = read_table(people, **ASKED), stream(folder, **ASKED).encoder
    fitted = encoder(strategy="mean").fit(table.X)
    assert found.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
    assert "town=(infrequent)" in found.get_feature_names_out()
    assert found.feature_names_in_.tolist() == list(table.X)
    assert found.get_params() == fitted.get_params()
    assert found.indicators_ == fitted.indicators_
    assert found.categories_ == fitted.categories_
    assert found.infrequent_categories_ == fitted.infrequent_categories_
    assert found.fill_values_ == pytest.approx(fitted.fill_values_, rel=1e-12)
    save_encoder(found, tmp_path / "encoder.skops")
    new = pd.DataFrame({name: table.X[name][:3] for name in table.X}).assign(town=["nowhere", None, "town 1"])
    np.testing.assert_array_equal(load_encoder(tmp_path / "encoder.skops").transform(new), found.transform(new))
    np.testing.assert_allclose(found.transform(new), fitted.transform(new), rtol=1e-12)


LEVELS = st.dictionaries(st.integers(0, 2000), st.integers(1, 60), min_size=1, max_size=120)


@settings(max_examples=15)
@given(LEVELS, st.integers(0, 1))
def test_rare_values_are_those_that_are_rare_to_scikit_learn(levels: dict[int, int], one_more: int) -> None:
    """Also where more than 63 are frequent, where ties are cut, and where all are rare."""
    levels = levels if len(levels) < 100 else dict.fromkeys(range(600), 1) | {0: 1 + one_more}
    values = pd.Series([f"v{value}" for value, count in levels.items() for _ in range(count)], dtype="str")
    codes, texts = pd.factorize(values)
    column = ColumnCounts.of(Codes(codes, texts.tolist()))
    found = TableEncoder.from_counts({"v": column}, {"v": "text"}, len(values))
    known = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=0.002, max_categories=64, sparse_output=False
    ).fit(values.to_frame("v"))
    fitted = encoder().fit(values.to_frame("v"))
    names = [name.replace("v_", "v=", 1) for name in known.get_feature_names_out()]
    assert [name.replace("(infrequent)", "infrequent_sklearn") for name in found.get_feature_names_out()] == names
    new = pd.DataFrame({"v": [*texts, "never seen"]})
    for one in (found, fitted):
        np.testing.assert_array_equal(one.transform(new), known.transform(new))
    with_gap = pd.DataFrame({"v": [None, *texts]})
    coded = found.encode([("v", Codes(np.arange(-1, len(texts)), texts.tolist()))])
    np.testing.assert_array_equal(coded, found.transform(with_gap))


RAW = st.lists(
    st.tuples(
        st.floats(-1e6, 1e6) | st.just(np.nan),
        st.sampled_from(["a", "b", None]),
        st.sampled_from([True, False, None]),
        st.sampled_from([0.0, 1.0]),
    ),
    min_size=1,
    max_size=30,
)


def scan_of(rows: list[tuple[Any, ...]], piece: int = 0) -> tuple[ScanResult, pd.DataFrame]:
    frame = pd.DataFrame(rows, columns=["pay", "sex", "owner", "hired"]).astype({"sex": object, "owner": object})
    table: dict[str, Any] = {"pay": frame["pay"].to_numpy(), "hired": frame["hired"].to_numpy()}
    for name in ("sex", "owner"):
        codes, values = pd.factorize(frame[name])
        table[name] = Codes(codes, values.tolist())
    keys, roles = content_keys(table), Roles("hired", {"sex": ()}, ("pay", "owner"))
    test = keys % np.uint64(4) == 0
    return ScanResult.of(piece, table, roles, keys, test), frame.assign(test=test)


@settings(max_examples=15)
@given(RAW)
def test_a_scan_finds_what_pandas_finds(rows: list[tuple[Any, ...]]) -> None:
    found, frame = scan_of(rows)
    rest = frame[~frame["test"]]
    assert found.columns["pay"].count == rest["pay"].count()
    assert found.columns["pay"].total == pytest.approx(rest["pay"].sum(), abs=1e-6)
    assert found.columns["owner"].total == rest["owner"].dropna().astype(float).sum()
    for name in ("sex", "owner", "hired"):
        assert found.columns[name].values == rest[name].value_counts().to_dict()
    for census, part in ((found.census, rest), (found.test, frame[frame["test"]])):
        counts = part.groupby(["hired", part["sex"].where(part["sex"].notna(), "?")]).size().to_dict()
        assert {(label, sex or "?"): n for (label, sex), n in census.cells.items()} == counts


@settings(max_examples=15)
@given(RAW, st.integers(0, 30), st.integers(0, 30))
def test_scans_of_parts_add_up_to_that_of_the_whole(rows: list[tuple[Any, ...]], one: int, other: int) -> None:
    first, second = sorted((one, other))
    parts = [scan_of(part)[0] for part in (rows[:first], rows[first:second], rows[second:]) if part]
    whole, found = scan_of(rows)[0], reduce(add, parts)
    assert found.checksums == whole.checksums
    assert found.census.cells == whole.census.cells
    assert found.test.cells == whole.test.cells
    for name, column in whole.columns.items():
        assert (found.columns[name].count, found.columns[name].values) == (column.count, column.values)
        assert found.columns[name].total == pytest.approx(column.total, abs=1e-6)


def test_more_values_than_can_be_counted_are_not_counted() -> None:
    half = MOST_VALUES // 2 + 1
    parts = [ColumnCounts.of(Codes(np.arange(half), [f"{i} {j}" for j in range(half)])) for i in range(3)]
    assert len(parts[0].values) == half
    for found in (parts[0] + parts[1] + parts[2], parts[0] + (parts[1] + parts[2])):
        assert len(found.values) == 100
        summary = found.summary("id", "text", 3 * half)
        assert (summary.count, summary.distinct) == (3 * half, MOST_VALUES + 1)
        assert summary.is_free_text


@pytest.mark.filterwarnings("ignore:Left out")
def test_test_rows_are_the_same_in_any_file_and_order_and_the_encoder_has_not_seen_them(
    people: pd.DataFrame, folder: Path, tmp_path: Path
) -> None:
    moved = people.sample(frac=1, random_state=0)[people.columns[::-1]].astype({"age": float, "town": "str"})
    other = written(tmp_path / "other", moved, 10, 500, row_group_size=300)
    options = ASKED | {"test_fraction": 0.25, "seed": 3}
    rows = [stream(path, **options) for path in (folder, other)]
    parts = [(joined(one), joined(one.test)) for one in rows]
    for one, moved_one in zip(*parts, strict=True):
        assert sorted(one[3].tolist()) == sorted(moved_one[3].tolist())
    (rest, test), _ = parts
    assert len(rest[0]) + len(test[0]) == ROWS
    assert len(np.unique([*rest[3], *test[3]])) == ROWS
    assert abs(len(test[0]) - ROWS / 4) < 6 * np.sqrt(ROWS * 3 / 16)
    assert len(rows[0].scan.test) == len(test[0])
    mean = rows[0].encoder.fill_values_["pay"]
    np.testing.assert_allclose(rest[0][:, 0].mean(), mean, rtol=1e-12)  # missing ones are the mean of the others
    assert stream(folder, **options | {"seed": 4}).scan.test.cells != rows[0].scan.test.cells
    assert rows[0].checksum != rows[1].checksum


@pytest.mark.filterwarnings("ignore:Left out")
def test_little_memory_changes_nothing_but_how_many_rows_are_read_at_once(people: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    people.to_parquet(path)
    large, small = stream(path, **ASKED), stream(path, **ASKED, memory="100kB")
    assert [len(y) for _, y, *_ in large] == [2400]
    assert [len(y) for _, y, *_ in small] == [1000, 1000, 400]
    np.testing.assert_allclose(joined(large)[0], joined(small)[0], rtol=1e-12)
    assert large.checksum == small.checksum


@pytest.mark.filterwarnings("ignore:Left out")
def test_labels_may_be_as_they_are_and_a_model_encodes_frames(people: pd.DataFrame, folder: Path) -> None:
    rows = stream(folder, **ASKED, keep_sensitive=True).with_labels()
    assert set(joined(rows)[1]) == {"no", "yes"}
    model = FairNetClassifier(members=2, epochs=1, favorable="yes", random_state=0).fit_stream(rows)
    assert set(model.predict(people[:20])) <= {"no", "yes"}
    assert "age" in model.encoder_.feature_names_in_


def test_numbers_may_be_labels_and_groups(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "old": rng.integers(0, 2, 300), "y": rng.integers(0, 2, 300)})
    for name, change in {"whole": {}, "half": {"y": "float64"}, "truth": {"y": bool, "old": bool}}.items():
        path = tmp_path / f"{name}.parquet"
        frame.astype(change).to_parquet(path)
        table, rows = read_table(path, "y", sensitive="old"), stream(path, "y", sensitive="old")
        assert rows.labels == table.labels
        assert [type(label) for label in rows.labels] == [type(label) for label in table.labels]
        assert joined(rows)[1].tolist() == table.y.tolist()
        pd.testing.assert_frame_equal(joined(rows)[2].astype("str"), table.sensitive)
        assert repr(rows).startswith("Stream(300 rows in 1 row groups, 1 features; y is ")


def test_columns_without_any_value_in_a_file_and_other_numbers_are_no_difference(tmp_path: Path) -> None:
    one = pa.table({"x": [1, 2], "job": ["a", "b"], "sex": ["f", "m"], "y": [0, 1]})
    two = pa.table({"job": pa.nulls(2), "x": [0.5, None], "y": [1, 0], "sex": pa.array(["f", "m"]).dictionary_encode()})
    none = one.slice(0, 0)
    for order in ((one, two, none), (two, none, one)):
        folder = tmp_path / str(id(order))
        folder.mkdir()
        for i, table in enumerate(order):
            pq.write_table(table, folder / f"{i}.parquet")
        X, y, _, _ = joined(stream(folder, "y", sensitive="sex"))
        assert X.shape == (4, 5)
        assert sorted(y.tolist()) == [0, 0, 1, 1]


def test_labels_that_only_test_rows_lack_or_have_are_refused(people: pd.DataFrame, tmp_path: Path) -> None:
    few = people[["pay", "age", "sex", "hired"]]
    asked = {"target": "hired", "favorable": "yes", "sensitive": ["sex"], "test_fraction": 0.3}
    rows = stream(written(tmp_path / "whole", few), **asked)
    frame = few.assign(hired=pd.Categorical(few["hired"], categories=["maybe", "no", "yes"]))
    assert joined(stream(written(tmp_path / "unused", frame), **asked))[1].tolist() == joined(rows)[1].tolist()
    for label, message in ((None, r"found 1 of [\d,]+ rows without a label"), ("maybe", "found 'maybe', 'no', 'yes'")):
        for i in range(8):  # whether a row is a test row follows from its content: some of these are
            changed = few.assign(hired=few["hired"].where(np.arange(ROWS) != i, label))
            with pytest.raises(ValueError, match=message):
                stream(written(tmp_path / f"{label}{i}", changed), **asked)


def test_there_are_no_test_rows_unless_they_are_asked_for(folder: Path) -> None:
    with (
        pytest.warns(UserWarning, match="Left out"),
        pytest.raises(ValueError, match="There are no test rows: ask for them with `test_fraction`"),
    ):
        stream(folder, **ASKED).test  # noqa: B018


def test_text_with_too_many_values_is_left_out_however_many_rows_there_are(
    people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (columns, counts):
        monkeypatch.setattr(module, "MOST_VALUES", 100)
    zips = people.assign(town=[f"{i % 150}" for i in range(ROWS)])[["pay", "town", "sex", "hired"]]
    folder = written(tmp_path / "zips", zips)
    for read in (stream, read_table):
        with pytest.warns(UserWarning, match="Left out"):
            found = read(folder if read is stream else zips, "hired", "yes", ["sex"])
        assert found.left_out == {"town": "names, ids or free text, more than 100 different values in 2,400 rows"}
        with pytest.raises(ValueError, match="'town' must name groups: found values such as 0 that hardly ever repeat"):
            read(folder if read is stream else zips, "hired", "yes", ["town"])
    with pytest.raises(ValueError, match="'town' must have two values: found 101: '0', '1', '10', '11', '12', …"):
        stream(folder, "town", "0", ["sex"])
    numbers = written(tmp_path / "numbers", zips.assign(town=zips["town"].astype(int)))
    with pytest.raises(ValueError, match=r"'town' must name groups: found 101 different numbers. Give bins, .* \[\d"):
        stream(numbers, "hired", "yes", ["town"])


def test_decimals_with_gaps_are_numbers_in_memory_as_well(people: pd.DataFrame, tmp_path: Path) -> None:
    cents = [None if i % 7 == 0 else Decimal(i) / 100 for i in range(ROWS)]
    table = pa.table({"cents": pa.array(cents, pa.decimal128(9, 2)), "sex": people["sex"], "hired": people["hired"]})
    pq.write_table(table, tmp_path / "cents.parquet")
    X = joined(stream(tmp_path / "cents.parquet", "hired", "yes", ["sex"]))[0]
    found = read_table(tmp_path / "cents.parquet", "hired", "yes", ["sex"])
    np.testing.assert_allclose(X, encoder(strategy="mean").fit_transform(found.X))
