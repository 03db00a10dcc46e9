"""A drawn table in every form that the library reads: files, frames, a folder, and a stream of it."""

import csv
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from campaigns._drawn_tables import DrawnTable, name_of

_ARROW = {
    "text": pa.string(),
    "int": pa.int64(),
    "long": pa.uint64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
}


def write_table(table: DrawnTable, random: Random, folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the names of forms and the table in each; a folder also serves as a stream."""
    arrow = pa.table({name: pa.array(one.values, _ARROW[one.kind]) for name, one in table.columns.items()})
    for form, sep in (("csv", ","), ("tsv", "\t")):
        path = folder / form / "people.csv"
        path.parent.mkdir()
        _write_csv(table, path, sep)
        yield form, path
    if all(one.kind != "long" for one in table.columns.values()):  # numbers of Excel have 15 digits
        yield "excel", _write_excel(table, folder / "people.xlsx")
    pq.write_table(arrow, folder / "people.parquet", row_group_size=random.choice([7, 1000]))
    yield "parquet", folder / "people.parquet"
    yield "arrow", arrow
    yield "pandas", _to_pandas(table, arrow, random)
    yield "polars", pl.from_arrow(arrow)
    cut = random.randint(1, table.rows - 1)
    (folder / "shards").mkdir()
    for place, part in enumerate((arrow[:cut], arrow[cut:])):
        pq.write_table(part, folder / "shards" / f"{place}.parquet")
    yield "folder", folder / "shards"


def _write_csv(table: DrawnTable, path: Path, sep: str) -> None:
    columns = [[_cell(value) for value in column.values] for column in table.columns.values()]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=sep).writerows([list(table.columns), *zip(*columns, strict=True)])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return name_of(value) if not isinstance(value, float) or value == int(value) else repr(value)


def _write_excel(table: DrawnTable, path: Path) -> Path:
    frame = pd.DataFrame({name: pd.Series(one.values, dtype=object) for name, one in table.columns.items()})
    frame.to_excel(path, index=False)
    return path


def _to_pandas(table: DrawnTable, arrow: pa.Table, random: Random) -> pd.DataFrame:
    """Return a pandas frame in one of its kinds of types; numpy's would round long numbers where some are missing."""
    kind = random.choice(["numpy", "nullable", "arrow", "object"])
    if kind == "arrow":
        return arrow.to_pandas(types_mapper=pd.ArrowDtype)
    if kind == "object":
        return pd.DataFrame({name: pd.Series(one.values, dtype=object) for name, one in table.columns.items()})
    frame = arrow.to_pandas(date_as_object=False)
    return frame.convert_dtypes() if kind == "nullable" else frame
