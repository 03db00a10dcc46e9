"""Arrow tables of several files as one: columns of one kind that have different types in them get a common one."""

from collections.abc import Sequence
from typing import Any

__all__ = ["concatenate"]


def concatenate(tables: Sequence[Any]) -> Any:
    """Return the rows of tables with the same columns.

    Dates and timestamps together become timestamps, and those with and without a time zone times in UTC; other times
    become text, and numbers that have no common type become floats.
    """
    import pyarrow as pa

    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        for name in tables[0].column_names:
            tables = _unify(tables, name)
        return pa.concat_tables(tables, promote_options="permissive")


def _unify(tables: Sequence[Any], name: str) -> Sequence[Any]:
    """Return the tables with one type in a column."""
    import pyarrow as pa
    from pyarrow import types

    kinds = {table.schema.field(name).type for table in tables} - {pa.null()}
    if len(kinds) < 2 or not all(types.is_primitive(kind) or types.is_decimal(kind) for kind in kinds):
        return tables
    if all(types.is_date(kind) or types.is_timestamp(kind) for kind in kinds):
        steps = [pa.timestamp("us", "UTC"), pa.timestamp("us")]  # from a zone to UTC, which is then left out
    elif any(types.is_temporal(kind) for kind in kinds):
        steps = [pa.string()]
    else:
        steps = [pa.float64()]
    return [_cast(table, name, steps) for table in tables]


def _cast(table: Any, name: str, steps: Sequence[Any]) -> Any:
    """Return a table with a column of another type."""
    place, column = table.column_names.index(name), table[name]
    has_zone = getattr(column.type, "tz", None) is not None
    for step in steps if has_zone else steps[-1:]:
        column = column.cast(step, safe=False)
    return table.set_column(place, name, column)
