"""What a run keeps of its training rows: shares, categories and quantiles, and nothing about one person."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair.tables import encoder
from mamofair.tables.profile import FEWEST, Profile


def profile_of(frame: pd.DataFrame) -> Profile:
    return Profile.of(encoder("none").fit(frame), frame)


@given(st.lists(st.floats(-1e100, 1e100), max_size=80))
def test_no_end_of_a_column_is_that_of_few_rows(numbers):
    column = profile_of(pd.DataFrame({"x": np.array([*numbers, 0.0])})).columns["x"]
    if column.low is None or column.high is None:
        assert len(numbers) + 1 < 4 * FEWEST
        return
    values = np.array([*numbers, 0.0])
    assert column.low <= column.high
    # Four digits, rounded outwards: no value beyond an end is lost, and five rows are as far out.
    slack = 1e-3 * np.abs(values).max()
    assert (values <= column.low + slack).sum() >= FEWEST
    assert (values >= column.high - slack).sum() >= FEWEST
    assert column.other <= 2 * (FEWEST - 1) / len(values)


def test_quantiles_are_those_of_one_percent_and_not_the_extremes():
    pay = np.append(np.arange(1000.0), 1e9)
    column = profile_of(pd.DataFrame({"pay": pay})).columns["pay"]
    assert (column.low, column.high) == (10.0, 990.0)
    assert column.other == pytest.approx(20 / 1001)


def test_categories_of_fewer_than_five_rows_are_not_kept():
    jobs = ["clerk"] * 50 + ["nurse"] * 5 + ["king"] * 4 + [None] * 41
    column = profile_of(pd.DataFrame({"job": jobs})).columns["job"]
    assert (column.categories, column.other, column.missing) == (("clerk", "nurse"), 0.04, 0.41)


def test_many_categories_are_kept_as_a_share():
    names = np.repeat([f"n{i:04}" for i in range(1200)], 6)
    column = profile_of(pd.DataFrame({"name": names})).columns["name"]
    assert len(column.categories) == 1000
    assert column.other == pytest.approx(1 / 6)


def test_a_profile_comes_back_from_json_and_a_broken_one_is_refused():
    frame = pd.DataFrame({"age": range(40), "job": ["a", "b"] * 20, "own": [True, False] * 20})
    profile = profile_of(frame)
    document = json.loads(json.dumps(profile.to_json()))
    assert Profile.from_json(document) == profile
    age = document["columns"]["age"]
    for wrong in ({}, {"rows": 0, "columns": {}}, {"rows": 5, "columns": {"age": age | {"missing": 2}}}, [1], None):
        with pytest.raises(ValueError, match=r"profile in run\.json must be as mamofair wrote it"):
            Profile.from_json(wrong)
    with pytest.raises(ValueError, match=r"profile in run\.json"):
        Profile.from_json({"rows": 5, "columns": {"age": age | {"high": None}}})
