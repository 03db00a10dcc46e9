"""Groups that are too small to judge: left out of the gaps, and named."""

import numpy as np
import pandas as pd
import pytest

from mamofair import FairNetClassifier, FairPlugInClassifier, load
from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter
from mamofair.learners.small_groups import find_small_groups
from mamofair.learners.task import read_notions
from mamofair.metrics import gap, list_small_groups
from mamofair.notions import EQUAL_OPPORTUNITY
from mamofair.runs import Run, save

pytestmark = pytest.mark.usefixtures("short_search")


def people(rng, small):
    """Return features, labels and groups of 400 people of two large regions and some of a small one."""
    region = np.array(["north"] * 200 + ["south"] * 200 + ["islands"] * small)
    X = rng.normal(size=(len(region), 2)) + (region == "north")[:, None]
    return X, (X[:, 0] + rng.normal(size=len(X)) > 0.5).astype(int), pd.Series(region, name="region")


def fit(X, y, region, **parameters):
    model = FairPlugInClassifier(effort="fast", cv=2, random_state=0, **parameters)
    return model.fit(X, y, sensitive_features=region)


def test_a_small_group_is_named_and_does_not_count(rng):
    X, y, region = people(rng, small=12)
    with pytest.warns(UserWarning, match=r"'region' with fewer than 30 rows are too small .*: 'islands' \(12\)\."):
        model = fit(X, y, region)
    assert model.front_.groups == {"region": ("north", "south")}
    known = region.where(region != "islands")
    unknown = fit(X, y, known)  # as if nobody knew where they live
    np.testing.assert_array_equal(model.front_.values, unknown.front_.values)


def test_a_group_that_is_large_enough_counts(rng):
    X, y, region = people(rng, small=12)
    assert fit(X, y, region, min_group=12).front_.groups == {"region": ("islands", "north", "south")}


def test_of_two_groups_none_is_left_out(rng):
    X, y, _ = people(rng, small=0)
    few = pd.Series(np.where(np.arange(len(X)) % 40 == 0, "few", "many"), name="kind")
    model = fit(X, y, few)
    assert model.front_.groups == {"kind": ("few", "many")}
    decided = model.predict(X)
    assert 0 <= gap(y, decided, sensitive_features=few, notion="dp") <= 1


def test_rows_are_counted_under_the_condition_of_the_rate(rng):
    groups = read_groups(pd.Series(["a"] * 50 + ["b"] * 50 + ["c"] * 50, name="x"))
    y = np.array([1] * 50 + [1] * 40 + [0] * 10 + [1] * 20 + [0] * 30)
    found = {name: find_small_groups(groups, y, read_notions(name, ("x",)), 30) for name in ("dp", "tpr", "eodds")}
    # With false positives, one group would be left: so only the one without any such row is left out.
    assert found == {"dp": {}, "tpr": {"x": {"c": 20}}, "eodds": {"x": {"a": 0}}}


def test_units_are_counted_instead_of_rows_where_rows_belong_to_units(rng):
    X, y, region = people(rng, small=60)
    persons = np.where(region == "islands", np.arange(len(region)) % 12, np.arange(len(region)))
    groups, notions = read_groups(region), read_notions("eodds", ("region",))
    found = find_small_groups(groups, y, notions, 30, units=persons)
    islands = [len({*persons[(region == "islands") & (y == label)]}) for label in (0, 1)]
    assert found == {"region": {"islands": min(islands)}}
    assert find_small_groups(groups, y, notions, min(islands), units=persons) == {}
    model = FairPlugInClassifier(effort="fast", cv=2, random_state=0)
    with pytest.warns(UserWarning, match=r"with fewer than 30 units are too small .*: 'islands' \(12\)\."):
        model.fit(X, y, sensitive_features=region, units=persons)
    assert model.front_.groups == {"region": ("north", "south")}


def test_a_group_without_positives_is_no_error_where_others_can_be_compared(rng):
    X, y, region = people(rng, small=40)
    y[region == "islands"] = 0
    with pytest.warns(UserWarning, match=r"'islands' \(0\)"):
        model = fit(X, y, region, notions="equal_opportunity")
    assert model.front_.groups == {"region": ("north", "south")}
    assert model.small_groups_ == {"region": {"islands": 0}}


def test_a_rare_combination_of_attributes_is_left_out(rng):
    X, y, region = people(rng, small=0)
    sex = np.where(np.arange(len(X)) % 2, "f", "m")
    sex[:3], sex[3:200] = "f", "m"  # three women in the north
    with pytest.warns(UserWarning, match=r"'region\*sex' .*'north / f' \(3\)"):
        model = fit(X, y, pd.DataFrame({"region": region, "sex": sex}), crossed=True)
    assert model.front_.groups["region*sex"] == ("north / m", "south / f", "south / m")


def test_what_was_left_out_is_saved(rng, tmp_path):
    X, y, region = people(rng, small=12)
    with pytest.warns(UserWarning, match="too small"):
        model = fit(X, y, region)
    save(Run(model, {"data": {}}, {"region": ("north", "south")}), tmp_path / "run")
    assert load(tmp_path / "run").small_groups_ == {"region": {"islands": 12}}


def test_a_stream_leaves_out_the_same_groups(rng):
    X, y, region = people(rng, small=12)
    with pytest.warns(UserWarning, match=r"'islands' \(12\)"):
        model = FairNetClassifier(epochs=1, random_state=0).fit_stream([(X, y, region.to_frame())])
    assert model.front_.groups == {"region": ("north", "south")}
    assert model.small_groups_ == {"region": {"islands": 12}}


def test_small_groups_are_listed_with_their_intervals(rng):
    y, decided = np.array([1, 1, 0, 0, 1]), np.array([True, False, False, False, True])
    groups = read_groups(pd.Series(["b", "a", "a", "a", None], name="x"))
    [tally] = Counter.of(y, groups)(decided[None])
    rows = list_small_groups({"x": {"a": 3, "b": 1}}, tally, [(EQUAL_OPPORTUNITY, "x")])
    assert [(one["group"], one["rows"]) for one in rows] == [("a", 3), ("b", 1)]
    [a], [b] = (one["rates"] for one in rows)
    assert (a["meaning"], a["rate"], b["rate"]) == ("P(ŷ=1 | y=1)", 0.0, 1.0)
    assert (a["low"], a["high"]) == pytest.approx((0, 1.96**2 / (1 + 1.96**2)), abs=1e-4)  # Wilson, none of one


def test_only_groups_without_a_row_are_left_out_if_all_are_small():
    groups, y = read_groups({"x": ["a", "b", "c", "c"]}), np.array([1, 1, 0, 0])
    notions = {"x": (EQUAL_OPPORTUNITY,)}
    assert find_small_groups(groups, y, notions, least=30) == {"x": {"c": 0}}
    assert find_small_groups(groups, np.array([1, 0, 0, 0]), notions, least=30) == {}
