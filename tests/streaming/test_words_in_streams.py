"""A stream treats words such as NA, and names groups, as a table in memory does."""

import numpy as np
import pandas as pd
import pytest

from mamofair.streaming import stream
from mamofair.tables import FileFormat


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Two files of people, some of whom have the race NA, and the age 999."""
    folder, rng = tmp_path_factory.mktemp("shards"), np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=120), "y": [0, 1] * 60, "race": ["W", "B", "NA"] * 40})
    frame["age"] = [20.0, 70, 999, None] * 30
    frame["born"] = pd.to_datetime(["1999-01-01", "2001-01-01"] * 60)
    frame["code"] = [1, 2] * 60
    frame[:50].to_parquet(folder / "a.parquet")
    frame[50:].astype({"code": float}).to_parquet(folder / "b.parquet")
    return folder


def sizes(rows):
    """The rows of each group, None for unknown."""
    counts = dict.fromkeys(rows.groups.names, None)
    for place, name in enumerate(counts):
        drawn = [cell[place + 1] for cell, number in rows.scan.census.cells.items() for _ in range(number)]
        counts[name] = {group: drawn.count(group) for group in set(drawn)}
    return counts


def test_a_word_is_an_error_that_counts_all_rows(shards):
    with pytest.raises(ValueError, match=r"'race' has 'NA' in 40 of 120 rows.* say `--missing NA`"):
        stream(shards, "y", sensitive="race", drop="born", test_fraction=0.3)


def test_what_is_said_of_a_word_holds_in_all_files(shards):
    unknown, value = (
        stream(shards, "y", sensitive="race", drop="born", file_format=FileFormat(missing=m)) for m in ("NA", "none")
    )
    assert sizes(unknown) == {"race": {"W": 40, "B": 40, None: 40}}
    assert sizes(value) == {"race": {"W": 40, "B": 40, "NA": 40}}
    assert unknown.groups.values == (("B", "W"),)


def test_a_number_may_mean_unknown_and_dates_and_numbers_of_any_type_name_groups(shards):
    how = FileFormat(missing=["999", "NA"])
    rows = stream(shards, "y", sensitive=["age:50", "born", "code"], file_format=how)
    assert sizes(rows) == {
        "age": {"under 50": 30, "50 and over": 30, None: 60},
        "born": {"1999-01-01": 60, "2001-01-01": 60},
        "code": {"1": 60, "2": 60},
    }
