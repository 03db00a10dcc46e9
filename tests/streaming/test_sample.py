"""Rows of a stream in memory: training rows as a table, and columns of files one after another."""

import numpy as np
import pandas as pd
import pytest

from loan_table import applicants
from mamofair.streaming import stream
from mamofair.streaming.sample import read_sample
from mamofair.streaming.source import open_folder
from mamofair.tables import check

ROWS = 2000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The applicants in three files of several row groups."""
    path, table = tmp_path_factory.mktemp("rows") / "loans", applicants(ROWS).replace({"job": {"": None}})
    path.mkdir()
    for i, own in enumerate(np.array_split(np.arange(ROWS), 3)):
        table.iloc[own].to_parquet(path / f"{i}.parquet", index=False, row_group_size=300)
    return path


def opened(folder, **more):
    return stream(folder, "approved", "yes", ["gender", "race"], test_fraction=0.25, **more)


def test_all_training_rows_fit_or_about_as_many_as_asked_for(folder):
    rows, table = opened(folder), applicants(ROWS).replace({"job": {"": None}})
    whole, part = read_sample(rows, 10**9), read_sample(rows, 500)
    assert len(whole) == len(rows.scan.census)
    assert abs(len(part) - 500) < 6 * np.sqrt(500)
    columns = ["income", "age", "job"]
    merged = whole.X[columns].assign(y=whole.decode_labels(), gender=whole.sensitive["gender"].astype(str))
    known = table[columns].assign(y=table["approved"], gender=table["gender"])
    counted = known.value_counts(dropna=False)
    assert (merged.value_counts(dropna=False) <= counted.reindex(merged.value_counts(dropna=False).index)).all()


def test_a_sample_does_not_depend_on_how_rows_are_cut_into_chunks(folder, tmp_path):
    pd.read_parquet(folder).to_parquet(tmp_path / "one.parquet", index=False)
    one, two = (read_sample(opened(path), 700) for path in (folder, tmp_path / "one.parquet"))
    assert sorted(one.X["age"]) == sorted(two.X["age"])
    assert len(one) == len(two)


def test_columns_of_a_folder_are_those_of_one_file(folder, tmp_path):
    pd.read_parquet(folder).to_parquet(tmp_path / "one.parquet", index=False)
    source, rows = open_folder(folder, ROWS)
    asked = {"target": "approved", "favorable": "yes", "sensitive_features": ["gender"]}
    assert rows == ROWS
    assert check(source, **asked).to_json() == check(tmp_path / "one.parquet", **asked).to_json()


def test_a_sample_of_a_folder_has_the_same_rows_in_every_column(folder):
    source, _ = open_folder(folder, 500)
    columns = dict(source.read(["income", "age", "approved"]))
    assert len({len(column) for column in columns.values()}) == 1
    assert 0 < len(columns["age"]) < ROWS / 2
    known = pd.MultiIndex.from_frame(pd.read_parquet(folder)[["age", "approved"]])
    assert pd.MultiIndex.from_frame(pd.DataFrame(columns)[["age", "approved"]]).isin(known).all()
    whole = pd.read_parquet(folder)[["income", "age", "approved"]]
    assert len(pd.DataFrame(columns).merge(whole.drop_duplicates())) == len(columns["age"])


def test_files_must_have_the_same_columns_except_for_ignored_ones(folder, tmp_path):
    for path in folder.iterdir():
        frame = pd.read_parquet(path)
        (frame.assign(note=1.0) if path.stem == "0" else frame).to_parquet(tmp_path / path.name)
    with pytest.raises(ValueError, match="must have the same columns as"):
        open_folder(tmp_path, ROWS)
    source, _ = open_folder(tmp_path, ROWS, ["note"])
    assert "note" not in source.names
