import gzip
import re

import pytest

from isolation import NOT_BUNDLED
from mamofair.datasets import fetch_dutch
from mamofair.datasets._dutch import FILE, LABELS, parse, recipe
from mamofair.datasets._files import find

# In the format of the published file: a long relation, values that never occur, one capital, an empty line.
ARFF = b"""@relation dutch_census_data-weka.filters.unsupervised.instance.RemoveWithValues-S0.0-C10-Llast-H

@attribute sex {2,1}
@attribute age {17,15,4,10}
@attribute household_position {1110,1131,1122}
@attribute household_size {125,126,112}
@attribute prev_residence_place {2,1,9}
@attribute citizenship {3,2,1}
@attribute country_birth {3,2,1}
@attribute edu_level {3,2,9}
@attribute economic_status {221,111,120}
@attribute cur_eco_activity {134,200}
@attribute Marital_status {3,2,1,4}
@attribute occupation {5_4_9,2_1}

@data

1,10,1131,112,1,1,1,3,111,134,1,2_1
2,4,1110,126,1,1,3,2,120,134,1,5_4_9
2,10,1110,126,2,1,3,2,120,134,4,5_4_9
"""


def test_parse_gives_readable_values_in_the_order_of_the_codes():
    table = parse(ARFF)
    assert list(table["age"]) == ["45-49", "15-19", "45-49"]
    assert list(table["age"].cat.categories) == ["15-19", "45-49"]  # by code, not by spelling; 17 never occurs
    assert list(table["marital_status"]) == ["single", "single", "divorced"]
    assert list(table["occupation"]) == ["2_1", "5_4_9", "5_4_9"]
    assert len(table) == 3


def test_design_has_a_column_for_each_level_that_occurs():
    features = parse(ARFF).drop(columns=["sex", "occupation"])
    assert recipe(features, features).shape == (3, 2 + 2 + 2 + 2 + 1 + 2 + 2 + 2 + 1 + 2)
    assert set(features) == set(LABELS)


def test_without_the_file_the_error_says_how_to_get_it(nowhere):
    with pytest.raises(FileNotFoundError) as raised:
        fetch_dutch()
    for word in (FILE.name, FILE.sha256, "https://", str(nowhere / "cache" / "dutch"), "MAMOFAIR_DATA"):
        assert word in str(raised.value)


def test_a_file_with_other_content_is_refused(nowhere, monkeypatch):
    monkeypatch.setenv("MAMOFAIR_DATA", str(nowhere))
    path = nowhere / f"{FILE.name}.gz"
    path.write_bytes(gzip.compress(ARFF))
    with pytest.raises(ValueError, match=re.escape(str(path))):
        fetch_dutch()


def test_the_real_file(check_dataset, real_data):
    if find(FILE) is None:
        pytest.skip(NOT_BUNDLED)
    dutch = fetch_dutch()
    check_dataset(dutch)
    assert dutch.design()[0].shape == (60_420, 59)
    assert [dutch.X[name].nunique() for name in dutch.X] == [12, 8, 6, 2, 3, 3, 6, 3, 12, 4]
    assert not dutch.X.isna().any(axis=None)
    assert dutch.y.sum() == 28_763
    rates = dutch.y.groupby(dutch.sensitive["sex"]).agg(["size", "mean"]).round(4)
    assert rates.to_dict("index") == {
        "Female": {"size": 30_273, "mean": 0.3271},
        "Male": {"size": 30_147, "mean": 0.6256},
    }
    # What the labels say agrees with each other: whoever lives alone is one person.
    alone = dutch.X["household_position"] == "living alone"
    assert alone.equals(dutch.X["household_size"] == "1")
    married = dutch.X["household_position"].isin(["married with children", "married without children"])
    assert (dutch.X.loc[married, "marital_status"] == "married").all()
