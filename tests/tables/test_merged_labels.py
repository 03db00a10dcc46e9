"""Targets with more than two values: the favorable ones are named, the rest is unfavorable."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair.tables import Table, read_table
from mamofair.tables.labels import MergedLabels

VALUES = ("approved", "conditional", "denied", "withdrawn")


def read(values: list, favorable: object) -> Table:
    frame = pd.DataFrame({"outcome": values, "sex": ["f", "m"] * (len(values) // 2), "age": range(len(values))})
    return read_table(frame, "outcome", favorable, ["sex"])


@given(st.lists(st.sampled_from(VALUES), min_size=1, max_size=3, unique=True))
def test_named_values_are_favorable_and_all_others_are_not(named: list[str]) -> None:
    values = [*VALUES] * 3
    with pytest.warns(UserWarning, match=f"^Favorable: {', '.join(named)}. Unfavorable: "):
        table = read(values, named)
    assert table.y.tolist() == [int(value in named) for value in values]
    assert table.merged == MergedLabels(tuple(named), tuple(value for value in VALUES if value not in named))
    assert table.labels == table.merged.labels


@pytest.mark.parametrize("favorable", ["4", 4, 4.0, [4], ["4"]])
def test_one_favorable_number_of_many_may_be_spelled_in_any_way(favorable: object) -> None:
    with pytest.warns(UserWarning, match="Favorable: 4. Unfavorable: 1, 2, 3."):
        table = read([1, 2, 3, 4] * 2, favorable)
    assert table.labels == ("not 4", "4")
    assert table.y.tolist() == [0, 0, 0, 1] * 2


@pytest.mark.parametrize("favorable", ["yes", ["yes"], ("yes",)])
def test_two_values_stay_as_they_are(favorable: object) -> None:
    table = read(["yes", "no"] * 4, favorable)
    assert (table.labels, table.merged) == (("no", "yes"), None)


@pytest.mark.parametrize(
    ("values", "favorable", "message"),
    [
        (["yes", "no"] * 4, ["yes", "no"], "must leave a value of 'outcome' that is unfavorable: found all of 'no'"),
        ([*VALUES] * 2, list(VALUES), "must leave a value of 'outcome'"),
        ([*VALUES] * 2, ["approved", "granted"], "`favorable` must be a value of 'outcome': found 'approved'"),
        ([*VALUES] * 2, None, "must have two values: found .* Name its favorable values, choose another target"),
        (list(range(102)), [5], "must have at most 100 values: found 102"),
        ([*VALUES[:3], None] * 2, ["approved"], "must be known in every row: found 2 of 8 rows"),
    ],
)
def test_what_cannot_be_merged_is_refused(values: list, favorable: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(values, favorable)


def test_decisions_may_be_values_or_labels_but_nothing_else() -> None:
    merged = MergedLabels((4, 5), (1, 2, 3))
    assert merged.labels == ("neither 4 nor 5", "4 or 5")
    for column in ([5, 1, 4], ["5", "1", "4"], ["4 or 5", "neither 4 nor 5", "4 or 5"], [5.0, 1.0, 4.0]):
        assert merged(pd.Series(column)).tolist() == ["4 or 5", "neither 4 nor 5", "4 or 5"]
    with pytest.raises(
        ValueError, match=r"Column 'given' must hold the values of the target, 4, 5, '4 or 5', 1, 2, .* found 6"
    ):
        merged(pd.Series([6, 5], name="given"))
    with pytest.raises(ValueError, match="found 1 rows without a value"):
        merged(pd.Series([np.nan, 5], name="given"))
    assert MergedLabels.from_json(merged.to_json()) == merged


@pytest.mark.parametrize("favorable", ["yes", "YES", ["Yes "], ["yes", "Yes ", "YES"], "yEs"])
def test_spellings_of_a_favorable_value_are_favorable_and_named(favorable: object) -> None:
    with pytest.warns(
        UserWarning, match=r"^Favorable: .*\(spellings of one value\)\. Unfavorable: 'NO ', no\.$"
    ) as notes:
        table = read(["yes", "Yes ", "YES", "no", "NO "] * 2, favorable)
    assert all(spelling in str(notes[0].message) for spelling in ("yes", "'Yes '", "YES"))
    assert [label.lower() for label in table.labels] == ["no", "yes"]
    assert table.y.tolist() == [1, 1, 1, 0, 0] * 2


def test_a_value_may_be_named_in_another_spelling_and_that_is_said() -> None:
    with pytest.warns(UserWarning, match=r"^Favorable: 'Yes '\. Unfavorable: NO\.$"):
        table = read(["Yes ", "NO"] * 4, "yes")
    assert table.labels == ("NO", "Yes")
    assert table.y.tolist() == [1, 0] * 4


def test_spellings_of_one_value_are_not_two_labels() -> None:
    with pytest.raises(ValueError, match="must leave a value of 'outcome' that is unfavorable"):
        read(["yes", "Yes "] * 4, "yes")


def test_case_alone_is_no_reason_to_join_what_was_not_named() -> None:
    with pytest.warns(UserWarning, match=r"^Favorable: a\. Unfavorable: B, b, c\.$"):
        assert read(["a", "b", "B", "c"] * 2, "a").labels == ("not a", "a")
