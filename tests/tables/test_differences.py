"""How new rows differ from training rows: named where it matters, and silent where chance explains it."""

from functools import reduce

import numpy as np
import pandas as pd
import pytest

from loan_table import applicants
from mamofair.tables import encoder
from mamofair.tables.differences import RowCounts, compare_columns, compare_groups, format_differences
from mamofair.tables.profile import Profile

FEATURES = ["income", "age", "job", "race"]


@pytest.fixture(scope="module")
def known():
    """An encoder and the profile of training rows."""
    X = applicants(600)[FEATURES].replace({"job": {"": None}})
    fitted = encoder("none").fit(X)
    return fitted, Profile.of(fitted, X)


def new_rows(rows: int = 300, seed: int = 1) -> pd.DataFrame:
    return applicants(rows, seed)[FEATURES].replace({"job": {"": None}})


def differences(known, *batches: pd.DataFrame):
    fitted, profile = known
    counts = [RowCounts.by_column(profile, fitted, batch) for batch in batches]
    totals = {name: reduce(RowCounts.__add__, [one[name] for one in counts]) for name in counts[0]}
    return {(one.column, one.difference): one for one in compare_columns(profile, totals)}


def test_rows_like_those_of_training_are_not_named(known):
    named = [seed for seed in range(30) for rows in (20, 300) if differences(known, new_rows(rows, seed + 1))]
    assert not named


def test_a_text_column_in_another_case_is_named_with_its_spelling(known):
    rows = new_rows()
    found = differences(known, rows.assign(job=rows["job"].str.upper()))
    [(key, one)] = found.items()
    assert key == ("job", "rare or new values")
    assert "'CLERK' ('clerk' in training), 'NURSE' ('nurse' in training)" in one.example
    assert one.training == "0.0%"


def test_what_is_wholly_missing_or_out_of_range_is_named(known):
    found = differences(known, new_rows().assign(income=np.nan, age=150))
    assert found[("income", "missing")].here == "100.0%"
    assert found[("age", "outside 18 to 79")].here == "100.0%"
    assert len(found) == 2


def test_a_single_new_value_is_named_and_counted_over_batches(known):
    one = new_rows(1).assign(job="astronaut")
    assert ("job", "rare or new values") in differences(known, one)
    found = differences(known, *(new_rows(50, seed).assign(job="astronaut") for seed in (1, 2)))
    assert found[("job", "rare or new values")].here == "100.0%"
    assert found[("job", "rare or new values")].example == "'astronaut'"


def test_other_types_are_named_where_a_file_has_types(known):
    found = differences(known, new_rows().assign(job=1.0))
    assert (found[("job", "another type")].here, found[("job", "another type")].training) == ("number", "text")
    as_csv = new_rows().astype("str").where(new_rows().notna())  # all columns of a CSV file are text
    assert not differences(known, as_csv)


def test_groups_that_are_new_or_gone_are_named():
    trained = {"race": {"a": 300, "b": 200, "rare": 3}}
    people = pd.DataFrame({"race": ["b"] * 90 + ["c"] * 10})
    found = [(one.difference, one.example, one.here, one.training) for one in compare_groups(trained, people)]
    assert found == [("a new group", "'c'", "10 rows", "0 rows"), ("a group is gone", "'a'", "0 rows", "300 rows")]
    assert not list(compare_groups(trained, people[:5]))  # so few rows need not have everyone
    assert not list(compare_groups(trained, pd.DataFrame({"sex": ["f"]})))


def test_the_table_of_differences_is_aligned(known):
    lines = format_differences(list(differences(known, new_rows().assign(income=np.nan)).values()))
    assert lines == ["column  difference  here    training  for example", "income  missing     100.0%  12.8%"]
