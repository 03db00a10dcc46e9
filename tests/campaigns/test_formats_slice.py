"""A slice of the campaign "same table, every format", and that its judge would notice a format that reads otherwise."""

from random import Random

import pandas as pd
import pytest
from campaigns._drawn_tables import draw_table, name_of

from campaigns import formats
from mamofair.tables import _csv, parquet


def test_a_slice_of_tables_is_the_same_in_every_format():
    found = [formats.case(seed) for seed in range(1000, 1004)]
    assert [one for one in found if one.outcome in formats.ALARMS] == []
    assert "right" in {one.outcome for one in found}


@pytest.mark.parametrize(
    ("module", "name", "read"),
    [
        (_csv, "_columns", lambda *arguments, as_text=False, read=_csv._columns: read(*arguments)),
        (parquet, "as_written", lambda column, name: pd.Series(column.to_pandas(), name=name).astype("float64")),
    ],
    ids=["csv", "parquet"],
)
def test_a_reader_that_takes_ids_for_numbers_is_noticed(module, name, read, monkeypatch):
    seed = next(seed for seed in range(100) if draw_table(Random(seed)).columns["who"].kind == "long")
    monkeypatch.setattr(module, name, read)
    assert formats.case(seed).outcome == "wrong"


def test_drawn_groups_have_the_names_that_are_written():
    table = draw_table(Random(3))
    assert table.rows == len(next(iter(table.groups().values())))
    assert [name_of(value) for value in (2.0, 0.5, True, "01")] == ["2", "0.5", "True", "01"]
