"""`min_group` of an audit leaves out of gaps what training leaves out, and names and shows it."""

import numpy as np
import pandas as pd
import pytest

from mamofair.learners.small_groups import find_small_groups
from mamofair.metrics import assess_audit, audit, audit_counts


def people(seed=0, rows=800):
    """Rows with a group of ten, all of which are decided favorably."""
    rng = np.random.default_rng(seed)
    race = rng.choice(np.array(["B", "H", "W"], dtype=object), rows)
    race[:10] = "few"
    made = rng.integers(0, 2, rows)
    made[:10] = 1
    department = rng.choice(["arts", "law"], rows)
    return pd.DataFrame({"race": race, "y": rng.integers(0, 2, rows), "made": made, "department": department})


def audited(frame, **options):
    return audit(frame["y"], frame["made"], sensitive_features=frame[["race"]], **options)


def test_gaps_are_those_without_the_small_groups_which_are_named_and_shown():
    frame = people()
    found, plain = audited(frame, min_group=30), audited(frame)
    others = audited(frame.assign(race=frame["race"].mask(frame["race"] == "few")))
    pd.testing.assert_frame_equal(found.frame(), others.frame(), rtol=1e-12)
    assert plain.frame()["gap"][0] > found.frame()["gap"][0]
    shown, every = found.groups(), plain.groups()
    pd.testing.assert_frame_equal(shown.drop(columns="ratio"), every.drop(columns="ratio"), rtol=1e-12)
    assert shown.loc[shown["group"] == "few", "ratio"].isna().all()
    assert shown.groupby("meaning")["ratio"].max().tolist() == [1.0] * shown["meaning"].nunique()
    labels = dict.fromkeys(["race"], tuple(found.limits))
    assert found.small_groups == find_small_groups(found.people, frame["y"].to_numpy(), labels, 30)
    fewest = frame.loc[frame["race"] == "few", "y"].value_counts().min()
    assert f"Left out of the gaps and ratios of race for too few rows: few ({fewest})." in str(found)
    assert plain.small_groups == {}
    assert found.rows == len(frame)
    assert found.unknown_rows == {"race": 0}


def test_parts_of_groups_within_strata_must_have_enough_rows():
    frame = people(1)
    frame.loc[frame["race"] == "few", "department"] = "law"
    notion = "conditional_demographic_parity"
    found = audited(frame, notions=notion, strata=frame["department"], min_group=30)
    others = frame[frame["race"] != "few"]
    expected = audited(others, notions=notion, strata=others["department"])
    ours, theirs = (one.frame()[["gap", "low", "high"]] for one in (found, expected))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert found.small_groups["race within department"] == {"few in law": 10}


def test_units_are_counted_where_rows_belong_to_units():
    frame = people(4)
    frame.loc[:59, "race"] = "few"  # the sixty rows of six people
    persons = np.where(frame["race"] == "few", frame.index % 6, frame.index)
    found = audited(frame, notions="dp", min_group=30, units=persons)
    assert found.small_groups == {"race": {"few": 6}}
    assert "Left out of the gaps and ratios of race for too few units: few (6)." in str(found)
    assert "race=few could not be assessed: 6 units are too few." in assess_audit(found).unassessed
    assert audited(frame, notions="dp", min_group=30).small_groups == {}


def test_counts_and_periods_leave_out_the_same_groups():
    frame = people(2).rename(columns={"department": "period"})
    rows = audited(frame, min_group=30)
    asked = {"sensitive_features": "race", "y_true": "y", "y_pred": "made", "count": None, "by": "period"}
    found = audit_counts(frame, **asked, min_group=30)
    pd.testing.assert_frame_equal(found.frame(), rows.frame(), check_exact=True)
    pd.testing.assert_frame_equal(found.over(), rows.over(frame["period"]), check_exact=True)
    assert found.small_groups == rows.small_groups


@pytest.mark.parametrize("least", [0, -30, True])
def test_what_is_no_number_of_rows_is_refused(least):
    with pytest.raises(ValueError, match="`min_group` must be a whole number of at least 1, such as 30: found"):
        audited(people(), min_group=least)


def test_small_groups_have_no_part_in_ratios_and_are_never_within_a_gate() -> None:
    sex = ["f"] * 4000 + ["m"] * 4000 + ["x"] * 12
    decisions = [1, 0] * 4000 + [0] * 12
    kept = audit(None, decisions, sensitive_features={"sex": sex}, min_group=30)
    assert kept.ratios()["ratio"].tolist() == [1.0]
    assert audit(None, decisions, sensitive_features={"sex": sex}).ratios()["ratio"].tolist() == [0.0]
    assert kept.frame()["verdict"].tolist() == ["within"]
    assessment = assess_audit(kept)
    assert (assessment.outcome, assessment.unassessed) == (
        "inconclusive",
        ("sex=x could not be assessed: 12 rows are too few.",),
    )


def test_an_audit_compares_all_groups_unless_told_otherwise():
    [found] = audit(None, [0, 1, 1, 1, 1], sensitive_features=["a", "b", "b", "c", "c"]).frame().to_dict("records")
    assert found["gap"] == 1
