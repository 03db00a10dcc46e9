"""The check of a table: what was planted is found, what is clean is not, and nothing is changed."""

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from mamofair.tables import DataCheck, check, read_table
from mamofair.tables._single_column import as_bins, balanced_accuracy
from messy_table import messy


def findings(result: DataCheck) -> dict[tuple[str, str], str]:
    return {(one.column, one.finding): one.detail for one in result.findings}


@pytest.fixture(scope="module")
def checked() -> DataCheck:
    return check(messy(rare=True), target="approved", favorable="yes", sensitive_features=["sex", "age:30,60"])


def test_every_fault_of_a_messy_table_is_named_and_no_other(checked: DataCheck) -> None:
    assert set(findings(checked)) == {
        ("customer_id", "may be an id"),
        ("applied", "left out"),
        ("note", "left out"),
        ("salary", "read as numbers"),
        ("rate", "read as numbers"),
        ("city", "spellings"),
        ("sex", "small group"),
        ("approved", "rare label"),
        ("title", "near-copy of sex"),
        ("decided", "near-copy of the target"),
    }
    details = findings(checked)
    assert details["applied", "left out"] == "dates or times"
    assert details["city", "spellings"] == "these differ only by case or spaces: 'Köln', 'köln '"
    assert details["sex", "small group"] == "'x' has 12 rows, fewer than 30"
    assert details["approved", "rare label"] == "'yes' in 45 of 1,500 rows, 3.0%"


def test_counts_are_those_of_the_table(checked: DataCheck) -> None:
    frame = messy(rare=True)
    assert checked.rows == len(frame)
    assert checked.target is not None
    assert checked.target.values == frame["approved"].value_counts().to_dict()
    assert (checked.target.favorable, checked.target.missing) == ("yes", 0)
    sex, age = checked.attributes
    assert sex.groups == frame["sex"].value_counts().to_dict()
    assert sex.small == ("x",)
    assert age.groups["under 30"] == (frame["age"] < 30).sum()


def test_columns_are_used_as_read_table_uses_them(checked: DataCheck) -> None:
    with pytest.warns(UserWarning, match="Read as numbers|Left out"):
        table = read_table(messy(rare=True), "approved", "yes", ["sex", "age:30,60"])
    columns = checked.columns().set_index("column")
    assert columns.index[columns["role"] == "feature"].tolist() == list(table.X)
    left_out = columns[columns["role"] == "left out"]["detail"]
    assert left_out.to_dict() == table.left_out
    assert columns.index[columns["read_as"] == "number from text"].tolist() == list(table.text_numbers)
    assert columns.index[columns["role"] == "sensitive"].tolist() == ["sex", "age"]


def test_a_check_is_a_frame_a_text_a_page_and_json(checked: DataCheck) -> None:
    frame = checked.frame()
    assert list(frame) == ["column", "finding", "detail"]
    assert len(frame) == len(checked.findings)
    text, page = str(checked), checked._repr_html_()
    assert text.startswith(
        "the frame: 1,500 rows; 7 of 12 columns are features (2 number, 2 number from text, 3 text).\n"
    )
    assert "Groups of sex: x 12, f 708, m 780, unknown 0." in text
    assert all(one.finding in text and one.finding in page for one in checked.findings)
    assert json.loads(json.dumps(checked.to_json(), allow_nan=False))["findings"] == frame.to_dict("records")
    assert "10 findings" in repr(checked)


@pytest.mark.parametrize(
    "leak", [lambda bad, rng: bad * rng.integers(1, 4, 6000), lambda bad, rng: bad * rng.random(6000)]
)
def test_a_column_that_is_zero_but_for_a_rare_label_is_a_near_copy(leak: Callable) -> None:
    rng = np.random.default_rng(0)
    bad = rng.random(6000) < 0.03
    frame = pd.DataFrame({"x": rng.normal(size=6000), "overdue": leak(bad, rng), "bad": bad.astype(int)})
    assert ("overdue", "near-copy of the target") in findings(check(frame, target="bad"))


@pytest.mark.parametrize("name", ["customer_id", "customerId", "Kundennr", "Kundennummer", "ID", "account no"])
def test_numbers_named_like_ids_of_persons_are_named(name: str) -> None:
    numbers = np.random.default_rng(0).integers(10_000, 13_000, 5000)
    assert (name, "may be an id") in findings(check(pd.DataFrame({name: numbers})))


def test_groups_with_spaces_or_named_unknown_are_told_from_others() -> None:
    frame = pd.DataFrame({"sex": ["f", "f ", "unknown", None, None] * 10})
    text = str(check(frame, sensitive_features="sex"))
    assert "Groups of sex: f 10, 'f ' 10, 'unknown' 10, unknown 20." in text


def test_people_with_several_rows_are_named_as_units_and_dates_and_notes_are_not() -> None:
    person, when = np.arange(3000) % 1000, pd.date_range("2024-01-01", periods=1000).astype(str)
    frame = pd.DataFrame({"customer": [f"C{i}" for i in person], "when": when[person]})
    frame["note"] = [f"call {i}" for i in range(3000)]
    found = findings(check(frame))
    assert {column for column, finding in found if finding == "left out"} == {"customer", "when", "note"}
    assert [column for column, finding in found if finding == "may be a unit"] == ["customer"]
    assert "`--unit`" in found["customer", "may be a unit"]


@pytest.mark.parametrize("name", ["amount paid", "grid", "casino", "monkey"])
def test_numbers_with_other_names_are_not_taken_for_ids(name: str) -> None:
    numbers = np.random.default_rng(0).integers(10_000, 13_000, 5000)
    assert (name, "may be an id") not in findings(check(pd.DataFrame({name: numbers})))


def test_a_rare_favorable_value_of_several_is_a_rare_label() -> None:
    frame = pd.DataFrame({"status": ["hired"] * 3 + ["rejected"] * 87 + ["no show"] * 10})
    found = findings(check(frame, target="status", favorable="hired"))
    assert found["status", "rare label"] == "'hired' in 3 of 100 rows, 3.0%"
    assert found["status", "two labels"] == "Favorable: hired. Unfavorable: no show, rejected."


def test_a_clean_table_has_nothing_to_look_at() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "sex": list("fm") * 200, "y": rng.integers(0, 2, 400)})
    result = check(frame, target="y", sensitive_features="sex")
    assert result.findings == ()
    assert result.frame().empty
    assert str(result).endswith("Nothing else to look at.")


def test_a_table_without_target_or_attributes_can_be_checked() -> None:
    result = check(messy())
    assert result.target is None
    assert result.attributes == result.telltales == ()
    assert ("applied", "left out") in findings(result)


def test_the_table_is_not_changed() -> None:
    frame, before = messy(), messy()
    check(frame, target="approved", favorable="yes", sensitive_features="sex")
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("change", "finding", "detail"),
    [
        ({"hired": ["yes", "Yes ", "no", "no"]}, "spellings", "these differ only by case or spaces: 'yes', 'Yes '"),
        ({"hired": ["yes", "Yes ", "no", "no"]}, "two labels", "Favorable: yes, 'Yes ' (spellings of one value)"),
        ({"hired": ["yes ", "yes ", "no", "no"]}, "spaces", "'yes ': spaces around values are part of them"),
        ({"hired": ["yes", None, "no", "no"]}, "cannot be the target", "10 of 40 rows without a label"),
        ({"sex": ["f", "F ", "m", "m"]}, "spellings", "and are different groups until you change them: 'f', 'F '"),
        ({"sex": ["f", "f", "f", "f"]}, "cannot be an attribute", "fewer than two groups"),
        ({"sex": ["f", "f", "f", "m"]}, "small group", "'m' has 10 rows, fewer than 30"),
        ({"pay": [np.inf, 1.0, 2.0, 3.0]}, "left out", "must hold finite numbers"),
        ({"pay": [1.0, None, None, None]}, "mostly missing", "75% of the values are missing"),
        ({"pay": [1.0, 1.0, 1.0, 1.0]}, "constant", "every known value is 1"),
        ({"pay": ["1,234", "2,345", "950", "7"]}, "may be numbers", "'1,234' has thousands or decimals"),
        ({"pay": [[1], [2], [3], [4]]}, "left out", "neither numbers nor text"),
    ],
)
def test_a_fault_is_named_and_nothing_raises(change: dict[str, list[object]], finding: str, detail: str) -> None:
    columns = {"pay": [1.0, 2.0, 3.0, 4.0], "sex": list("ffmm"), "hired": ["yes", "no", "no", "yes"]} | change
    frame = pd.DataFrame({name: values * 10 for name, values in columns.items()})
    result = check(frame, target="hired", favorable="yes", sensitive_features="sex")
    [column] = change
    assert detail in findings(result)[column, finding]


def test_columns_that_are_not_there_are_an_error() -> None:
    with pytest.raises(ValueError, match="no column 'gender' in the frame"):
        check(messy(), sensitive_features="gender")


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), min_size=1, max_size=40))
def test_duplicated_rows_are_those_of_pandas(rows: list[tuple[int, str]]) -> None:
    frame = pd.DataFrame(rows, columns=["x", "z"])
    again = int(frame.duplicated().sum())
    found = findings(check(frame)).get(("", "duplicated rows"))
    assert found == (f"{again:,} rows repeat an earlier one in every column" if again else None)


@given(st.integers(2, 4), st.integers(1, 6), st.integers(0, 10**6))
def test_balanced_accuracy_is_that_of_a_loop_over_folds(classes: int, bins: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 200)])
    x = np.where(rng.random(len(y)) < 0.5, y % bins, rng.integers(0, bins, len(y)))
    folds = np.random.default_rng(0).permutation(len(y)) % 5
    predicted = np.zeros(len(y), dtype=int)
    for row in range(len(y)):
        others = folds != folds[row]
        shares = [((x == x[row]) & (y == c) & others).sum() / max(1, ((y == c) & others).sum()) for c in range(classes)]
        predicted[row] = int(np.argmax(shares))
    assert balanced_accuracy(x, y) == pytest.approx(balanced_accuracy_score(y, predicted))


def test_noise_tells_nothing_and_a_rare_copy_everything() -> None:
    rng = np.random.default_rng(0)
    y = (np.arange(20_000) < 600).astype(int)
    ids = pd.Series(rng.permutation(20_000).astype(str), dtype="str")
    assert balanced_accuracy(as_bins(ids), y) == pytest.approx(0.5, abs=0.02)
    assert balanced_accuracy(as_bins(pd.Series(rng.normal(size=20_000))), y) == pytest.approx(0.5, abs=0.05)
    assert balanced_accuracy(as_bins(pd.Series(y + rng.normal(0, 0.05, 20_000))), y) > 0.98
    assert balanced_accuracy(as_bins(pd.Series(np.where(y, np.nan, 1.0))), y) == 1


def test_of_many_rows_a_sample_tells_and_the_check_says_so() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=30_000), "y": rng.integers(0, 2, 30_000)})
    result = check(frame.assign(copy=frame["y"].map({0: "a", 1: "b"})), target="y")
    assert result.sampled == 20_000
    assert "measured on 20,000 random rows" in str(result)
    assert ("copy", "near-copy of the target") in findings(result)
    assert check(frame[:20_000], target="y").sampled is None


def test_groups_are_counted_in_units_where_rows_belong_together() -> None:
    frame = pd.DataFrame(
        {
            "person": np.repeat(np.arange(120), 4),
            "sex": ["f"] * 160 + ["m"] * 240 + ["x"] * 80,
            "size": np.random.default_rng(0).normal(size=480),
        }
    )
    frame.loc[0, "sex"] = "m"
    result = check(frame, sensitive_features=["sex"], unit="person")
    [sex] = result.attributes
    assert sex.units == {"f": 40, "m": 61, "x": 20}
    assert sex.small == ("x",)
    assert findings(result) == {
        ("person", "unit"): "120 units in 480 rows: intervals count units, not rows",
        ("sex", "small group"): "'x' has 20 units, fewer than 30",
        ("sex", "varies within units"): "rows of 1 units are in several groups",
    }
    assert "Groups of sex: x 80 (20 units), f 159 (40 units), m 241 (61 units), unknown 0." in str(result)
    json.dumps(result.to_json(), allow_nan=False)


def test_rows_with_other_ids_are_no_duplicates_however_many_digits_these_have(tmp_path):
    frame = pd.DataFrame({"id": [str(10**19 + place) for place in range(20)], "x": 1, "sex": list("fm") * 10})
    frame.to_csv(tmp_path / "a.csv", index=False)
    for roles in ({"drop": "id"}, {"unit": "id"}, {"drop": "id", "sensitive_features": "sex"}):
        found = check(tmp_path / "a.csv", **roles).findings
        assert "duplicated rows" not in {one.finding for one in found}
