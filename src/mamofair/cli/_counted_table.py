"""The table of an audit as counts: Parquet files, alone or in a folder, that need not fit in memory."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mamofair._messages import PATH, quote
from mamofair.tables.file_format import FileFormat

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.tables.source import Source

__all__ = ["PERIODS", "open_audited_table", "parse_period"]

#: How dates can be cut, and what pandas calls that.
PERIODS = {"month": "M", "quarter": "Q", "year": "Y"}


def open_audited_table(
    path: Path,
    columns: Sequence[str | None],
    sensitive: Sequence[str],
    by: str | None,
    file_format: FileFormat,
    row_option: str | None,
) -> "Source":
    """Open the table of an audit: one of counts if it is in Parquet files, unless an option needs the rows themselves.

    `columns` are those that are read besides the sensitive ones and that of `by`, as they are.
    """
    from mamofair.tables import open_source

    is_folder = path.is_dir()
    if is_folder and row_option is not None:
        raise ValueError(
            f"`{row_option}` needs rows in memory, and a folder is counted as it is read: found "
            f"{quote(str(path), PATH)}. Leave it out, or name one file."
        )
    if row_option is not None or not (is_folder or (path.is_file() and path.suffix.lower() == ".parquet")):
        return open_source(path, file_format)
    if is_folder and file_format.is_given:
        raise ValueError(f"Folders hold Parquet files, which have no {file_format}: leave these options out.")
    if is_folder and file_format.is_place_given:
        raise ValueError("`--sheet` and `--header` are for Excel files: found a folder. Leave them out.")
    if not is_folder:
        open_source(path, file_format)  # which says what is wrong with it
    return _count(path, [name for name in columns if name is not None], sensitive, by, file_format)


def _count(
    path: Path, columns: Sequence[str], sensitive: Sequence[str], by: str | None, file_format: FileFormat
) -> "Source":
    from mamofair.streaming.cells import COUNT, count_cells
    from mamofair.streaming.parquet import merge_schemas, open_shards
    from mamofair.tables.attributes import check_edges, parse_attributes
    from mamofair.tables.parquet import as_written, from_arrow
    from mamofair.tables.source import Columns, Source

    shards, label = open_shards(path), path.resolve().name
    names = tuple(shards[0].types)
    source = Source(label, names, lambda wanted: iter(()))
    source.check(columns)
    bins = parse_attributes(list(sensitive), names)
    source.check(bins)
    by_name, unit = (None, None) if by is None else parse_period(by, names)
    source.check([] if by_name is None else [by_name])
    keys = list(dict.fromkeys([*columns, *bins, *([] if by_name is None else [by_name])]))
    edges = {name: check_edges(name, edge_list) for name, edge_list in bins.items()}
    cells = count_cells(
        merge_schemas(label, shards, ignored={*names, *(n for one in shards for n in one.types)} - {*keys}),
        keys,
        # What has another role as well is read as it is, and so are numbers of which some may mean unknown.
        {name: ends for name, ends in edges.items() if ends and name not in {*columns, by_name}}
        if not file_format.missing
        else {},
        {} if by_name is None or unit is None or by_name in {*columns, *bins} else {by_name: unit},
    )

    def read(wanted: list[str], convert: Callable[[Any, str], "pd.Series"] = from_arrow) -> Columns:
        return ((name, convert(cells[name], name)) for name in wanted)

    counts = cells[COUNT].to_numpy()
    return Source(label, names, read, file_format, repeats=counts, written=partial(read, convert=as_written))


def parse_period(by: str, names: Sequence[str]) -> tuple[str, str | None]:
    """Return the column that `--by` names, and how its dates are cut, as in "date:month"; None if they are not.

    >>> parse_period("date:month", ["date"]), parse_period("branch", ["branch"])
    (('date', 'month'), ('branch', None))
    """
    name, colon, unit = by.rpartition(":")
    is_cut = by not in names and bool(colon) and (unit in PERIODS or name in names)
    if is_cut and unit not in PERIODS:
        raise ValueError(f"`--by` can cut dates by month, quarter or year, as in {name}:month: found {quote(by)}.")
    return (name, unit) if is_cut else (by, None)
