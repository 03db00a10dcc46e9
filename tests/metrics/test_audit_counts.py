"""`audit_counts` says of counts, wherever they were counted, what `audit` says of the rows: to the last bit."""

from decimal import Decimal

import dask.dataframe
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from mamofair.metrics import assess_audit, audit, audit_counts
from mamofair.performance import Cost
from mamofair.report import write_audit

KEYS = ["sex", "race", "code", "y", "decided"]
ASKED = {"sensitive_features": ["sex", "race", "code"], "y_pred": "decided", "y_true": "y", "favorable": "yes"}


def people(seed=0, rows=900):
    """Rows with unknown groups among texts and among numbers, and labels that must be named."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.choice(np.array(["F", "M", None], dtype=object), rows, p=[0.45, 0.45, 0.1]),
            "race": rng.choice(["B", "H", "W"], rows, p=[0.1, 0.3, 0.6]),
            "code": rng.choice([1.0, 2.0, np.nan], rows),
            "y": rng.choice(["no", "yes"], rows),
            "decided": rng.choice(["no", "yes"], rows, p=[0.7, 0.3]),
            "branch": rng.choice(np.array(["north", "south", None], dtype=object), rows),
        }
    )


def encoded(frame):
    table = pl.from_pandas(frame).to_arrow()
    texts = [name for name in table.column_names if pa.types.is_large_string(table[name].type)]
    return pa.table({name: table[name].dictionary_encode() if name in texts else table[name] for name in frame})


CONTAINERS = {
    "pandas": lambda frame: frame,
    "pandas, categories": lambda frame: frame.astype({"sex": "category", "decided": "category"}),
    "pandas, Arrow": lambda frame: pl.from_pandas(frame).to_pandas(use_pyarrow_extension_array=True),
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": lambda frame: pl.from_pandas(frame).to_arrow(),
    "pyarrow, dictionaries": encoded,
    "duckdb": lambda frame: duckdb.from_arrow(pl.from_pandas(frame).to_arrow()),
    "dask": lambda frame: dask.dataframe.from_pandas(frame, npartitions=3),
}


def from_rows(frame, **options):
    asked = {"favorable": "yes"} | options
    truth = frame["y"] if asked.pop("truth", True) else None
    return audit(truth, frame["decided"], sensitive_features=frame[["sex", "race", "code"]], **asked)


def assert_same(found, expected):
    """Assert that two audits have the same counts and terms, bit for bit: all their tables derive from these."""
    assert found.tally.counts.keys() == expected.tally.counts.keys()
    for name, table in expected.tally.counts.items():
        np.testing.assert_array_equal(found.tally.counts[name], table)
    assert found.tally.squares is expected.tally.squares is None
    derived = ("rows", "unknown_rows", "limits", "notions", "favorable", "confidence", "has_truth", "performance")
    for name in derived:
        assert getattr(found, name) == getattr(expected, name)
    assert (found.people.names, found.people.values) == (expected.people.names, expected.people.values)


def test_text_tables_verdicts_and_page_are_those_of_the_rows(tmp_path):
    frame = people(3)[["sex", "race", "y", "decided"]]
    rows = audit(frame["y"], frame["decided"], sensitive_features=frame[["sex", "race"]], favorable="yes", notions="dp")
    asked = ASKED | {"sensitive_features": ["sex", "race"], "notions": "dp"}
    found = audit_counts(pl.from_pandas(frame).lazy(), count=None, **asked)
    assert (str(found), repr(found), found._repr_html_()) == (str(rows), repr(rows), rows._repr_html_())
    for table in ("frame", "groups", "ratios"):
        pd.testing.assert_frame_equal(getattr(found, table)(), getattr(rows, table)(), check_exact=True)
    assert assess_audit(found) == assess_audit(rows)
    for name, one in {"rows": rows, "counts": found}.items():
        write_audit(one, tmp_path / f"{name}.html")
    assert (tmp_path / "counts.html").read_text() == (tmp_path / "rows.html").read_text()


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("container", CONTAINERS)
def test_counts_of_any_engine_give_the_audit_of_the_rows(container, counted):
    frame, options = people(), {"crossed": True, "limit": 0.2, "confidence": 0.9, "performance": Cost(fp=1, fn=5)}
    expected = from_rows(frame, **options)
    table = frame.groupby(KEYS, dropna=False).size().rename("n").reset_index() if counted else frame
    found = audit_counts(CONTAINERS[container](table), count="n" if counted else None, **ASKED, **options)
    assert_same(found, expected)


@pytest.mark.parametrize("container", CONTAINERS)
def test_an_audit_without_truth_needs_no_column_of_it(container):
    frame = people(1)
    asked = {"sensitive_features": ["sex", "race", "code"], "y_pred": "decided", "favorable": "yes"}
    found = audit_counts(CONTAINERS[container](frame.drop(columns="y")), count=None, **asked)
    assert_same(found, from_rows(frame, truth=False))
    with pytest.raises(ValueError, match="`notions` must need no true labels if `y_true` is None"):
        audit_counts(frame, count=None, notions="equal_opportunity", **asked)


@pytest.mark.parametrize("container", ["pandas", "polars, lazy", "duckdb", "dask"])
def test_strata_and_periods_are_grouped_by_as_well(container):
    frame, notions = people(2), ["conditional_demographic_parity", "demographic_parity"]
    rows = from_rows(frame, notions=notions, strata=frame["branch"])
    native = CONTAINERS[container](frame)
    found = audit_counts(native, count=None, notions=notions, strata="branch", by="race", **ASKED)
    assert_same(found, rows)
    pd.testing.assert_frame_equal(found.over(), rows.over(frame["race"]), check_exact=True)
    with pytest.raises(ValueError, match="`over` takes no `values` if the audit has `by`"):
        found.over(frame["race"])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["F", "M", None]), st.integers(0, 1), st.integers(0, 1), st.integers(0, 40)),
        min_size=1,
        max_size=30,
    )
)
def test_cells_in_any_order_often_or_empty_are_their_rows(cells):
    if not any(cell[-1] and cell[0] for cell in cells):
        return
    counts = pd.DataFrame(cells, columns=["sex", "y", "made", "count"])
    rows = counts.loc[counts.index.repeat(counts["count"])]
    expected = audit(rows["y"], rows["made"], sensitive_features=rows["sex"])
    assert_same(audit_counts(counts, sensitive_features="sex", y_true="y", y_pred="made"), expected)


def counts(values, dtype=object):
    table = {"sex": list("FFMM"), "y": [0, 1, 0, 1], "made": [0, 1, 1, 0], "count": pd.Series(values, dtype=dtype)}
    return pd.DataFrame(table)


def audited(frame, **options):
    return audit_counts(frame, **{"sensitive_features": ["sex"], "y_true": "y", "y_pred": "made"} | options)


def test_billions_of_rows_are_counted_exactly_however_the_engine_writes_numbers():
    large = [2**51 + 1, 2**51 - 1, 3, 10**9]
    found = audited(counts(large, "int64"))
    assert found.rows == sum(large)
    assert found.tally.counts["sex"].tolist() == [[2.0**51 - 1, 0, 0, 2.0**51 + 1], [0, 3, 1e9, 0]]
    for other in ([Decimal(one) for one in large], [float(one) for one in large]):
        assert_same(audited(counts(other)), found)
    sums = duckdb.from_arrow(pa.table(counts(large, "int64"))).aggregate("sex, y, made, sum(count) as count")
    assert_same(audited(sums), found)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([5, -1, 5, 5], "Counts must be 0 or more: found -1 in 'count'. Correct them."),
        ([5, 2.5, 5, 5], "Counts must be whole numbers of rows: found 2.5 in 'count'. If these are sums of weights"),
        ([5, np.nan, 5, None], "Counts must be known: found 2 missing ones in 'count'. Fill them."),
        ([5, np.inf, 5, 5], "Counts must be finite numbers: found inf in 'count'. Correct them."),
        ([5, "many", 5, 5], "Counts must be finite numbers: found 'many' in 'count'. Correct them."),
        ([True, False, True, True], "Counts must be finite numbers: found True in 'count'. Correct them."),
        ([0, 0, 0, 0], "Counts must add up to 1 at least and 2⁵³ at most: found 0 in all in 'count'."),
        ([2**53, 1, 0, 0], f"Counts must add up to 1 at least and 2⁵³ at most: found {2**53 + 1:,} in all in 'count'."),
    ],
)
def test_what_is_no_count_is_said_in_one_sentence(values, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below, without a pattern
        audited(counts(values))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_wrong_column_is_named_with_the_nearest():
    frame = counts([5, 5, 5, 5])
    wrong = {
        "There is no column 'sx' in `frame`. Did you mean 'sex'?": {"sensitive_features": ["sx"]},
        "There is no column 'n' in `frame`. Name the column of counts, or pass `count=None`": {"count": "n"},
        "`count` must be a column of its own: 'made' has another role": {"count": "made"},
    }
    for message, options in wrong.items():
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            audited(frame, **options)
        assert str(caught.value).startswith(message)
    with pytest.raises(ValueError, match="`frame` must be a frame that narwhals knows"):
        audited([("F", 1, 1, 5)])
    with pytest.raises(ValueError, match="`frame` must have different column names: found 'sex' twice"):
        audited(pd.concat([frame, frame[["sex"]]], axis=1))
    with pytest.raises(ValueError, match="`sensitive_features` must have at least one column"):
        audited(frame, sensitive_features=[])


def test_missing_labels_are_counted_in_rows():
    frame = counts([5, 7, 5, 5]).assign(y=[0, None, 0, 1])
    with pytest.raises(ValueError, match="`y_true` must have no missing value: found 7 of 22 rows without 'y'"):
        audited(frame)


def test_what_needs_rows_is_refused_in_one_sentence():
    found = audited(counts([5, 7, 5, 5]))
    for what in (lambda: found.metric(f1_score), lambda: found.subset([0]), lambda: found.over(["a", "b", "a", "b"])):
        with pytest.raises(ValueError, match="needs rows: found counts only"):
            what()
    for what in (found.auc, found.calibration, found.curve, found.around_threshold):
        with pytest.raises(ValueError, match="needs scores: found decisions"):
            what()


def test_many_groups_are_names_if_their_rows_are_many():
    countries = [f"country {i}" for i in range(150)]
    frame = pd.DataFrame({"country": countries, "made": [0, 1] * 75, "count": 4})
    assert len(audit_counts(frame, sensitive_features="country", y_pred="made").people.values[0]) == 150
    with pytest.raises(ValueError, match="must have groups of several rows: found 150 values in 150 rows"):
        audit_counts(frame.assign(count=1), sensitive_features="country", y_pred="made")


def test_a_column_called_as_the_engines_count_is_no_trouble():
    frame = people(4).rename(columns={"sex": "number of rows"})
    found = audit_counts(frame, sensitive_features=["number of rows"], y_pred="decided", favorable="yes", count=None)
    assert found.rows == len(frame)
