"""Groups: names, bins and their edges."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair.tables import parse_attribute, read_table


def groups_of(ages: list[float | None], edges: list[float]) -> list[str | None]:
    frame = pd.DataFrame({"x": range(len(ages)), "age": ages, "y": np.arange(len(ages)) % 2})
    found = read_table(frame, "y", sensitive={"age": edges}).sensitive["age"]
    return [None if pd.isna(name) else name for name in found]


def test_an_edge_belongs_to_the_group_above_it() -> None:
    ages = [24.999, 25, 25.001, 59.999, 60, None, 100, -1]
    low, middle, high = "under 25", "25 to under 60", "60 and over"
    assert groups_of(ages, [25, 60]) == [low, middle, middle, middle, high, None, high, low]


def test_names_of_bins_are_right_for_fractions() -> None:
    assert groups_of([0.49, 0.5, 1.25], [0.5, 1.25]) == ["under 0.5", "0.5 to under 1.25", "1.25 and over"]


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=5, unique=True).map(sorted),
    st.lists(st.floats(-200, 200) | st.none(), max_size=30),
)
def test_bins_part_the_numbers_in_order(edges: list[float], values: list[float | None]) -> None:
    names = groups_of([-300, 300, *values], edges)[2:]
    for value, name in zip(values, names, strict=True):
        if value is None:
            assert name is None
        elif value < edges[0]:
            assert name.startswith("under ")
        elif value >= edges[-1]:
            assert name.endswith(" and over")
        else:
            low, high = name.split(" to under ")
            assert float(low) <= value < float(high)


@pytest.mark.parametrize(
    "sensitive",
    [
        ["sex", "age:25,60"],
        ["sex", {"age": [25, 60]}],
        {"sex": None, "age": (25, 60)},
        pd.Index(["sex", "age:25,60"]),
        [{"sex": []}, {"age": np.array([25.0, 60.0])}],
    ],
)
def test_all_spellings_of_sensitive_columns_mean_the_same(applicants: pd.DataFrame, sensitive: object) -> None:
    found = read_table(applicants, "hired", "yes", sensitive).sensitive
    assert list(found) == ["sex", "age"]
    assert found["age"].value_counts().to_dict() == {"25 to under 60": 35, "under 25": 5}


def test_a_name_with_a_colon_is_a_name_where_it_exists(applicants: pd.DataFrame) -> None:
    frame = applicants.rename(columns={"sex": "q:1", "age": "q:2"})
    found = read_table(frame, "hired", "yes", ["q:1", "q:2:40"]).sensitive
    assert set(found["q:1"]) == {"female", "male"}
    assert set(found["q:2"]) == {"under 40", "40 and over"}
    assert parse_attribute("q:1") == ("q", (1.0,))


@pytest.mark.parametrize(
    ("values", "names"),
    [([0, 1], ["0", "1"]), ([0.0, None, 1.0], ["0", "1"]), ([True, False], ["False", "True"])],
)
def test_codes_are_groups_named_as_they_are_written(values: list[object], names: list[str]) -> None:
    frame = pd.DataFrame({"x": range(6), "group": (values * 6)[:6], "y": [0, 1] * 3})
    found = read_table(frame, "y", sensitive="group").sensitive["group"]
    assert sorted(found.dropna().unique()) == names
    assert found.isna().tolist() == frame["group"].isna().tolist()
