"""Columns with the weight, the unit and the time of each row, and the options that name them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.labels import as_weights
from mamofair._rows.splits import read_units
from mamofair.cli._checksums import sha256_of
from mamofair.cli._dates import read_dates
from mamofair.cli._train_options import TrainOptions
from mamofair.datasets import CATALOG
from mamofair.tables import open_source, read_features
from mamofair.tables.attributes import parse_attributes
from mamofair.tables.columns import kind_of
from mamofair.tables.role_columns import read_names
from mamofair.tables.source import Source

__all__ = [
    "check_row_columns",
    "check_row_options",
    "check_test_columns",
    "read_row_columns",
    "read_row_strata",
    "read_times",
    "read_weights",
    "require_known",
    "require_ordered_times",
    "row_columns",
]


def row_columns(options: TrainOptions) -> dict[str, str]:
    """Return the columns that describe rows, by the option that names them; they are not features."""
    named = {"--weight": options.weight, "--time": options.time, "--unit": options.unit}
    return {option: column for option, column in named.items() if column is not None}


def check_row_options(options: TrainOptions, streamed: bool) -> None:
    """Raise a `ValueError` if options about rows contradict each other or others; no row is read."""
    columns = row_columns(options)
    given = [*columns, *(["--test"] if options.test is not None else [])]
    if given and streamed:
        raise ValueError(f"`{given[0]}` needs data that fit in memory: found data to stream. Leave it out.")
    _check_test(options)
    reasons = {"--weight": "rows have different weights", "--unit": "rows of one unit depend on each other"}
    for option, reason in reasons.items():
        if option in columns and options.confidence is not None:
            raise ValueError(
                f"`--confidence` assumes independent rows of equal weight, but with `{option}` {reason}"
                f": leave `{option}` or `--confidence` out."
            )
        if option in columns and options.arbitrariness:
            raise ValueError(f"`--arbitrariness` cannot be measured with `{option}`: leave one of them out.")


def _check_test(options: TrainOptions) -> None:
    if options.test is None:
        return
    if options.time is not None:
        raise ValueError("Give either `--test` or `--time`, not both: each says which rows are for testing.")
    if options.test_fraction != TrainOptions.test_fraction:
        raise ValueError("`--test-fraction` has no effect with `--test`, whose rows are for testing: leave it out.")
    if options.data in CATALOG:
        raise ValueError(f"`--test` is for tables of your own: {options.data} is one table. Leave it out.")
    if not Path(options.test).is_file():
        raise FileNotFoundError(f"No file is called {quote(options.test)}: check `--test`.")
    if not Path(options.data).is_file():
        return  # what is wrong with it is told where it is opened
    is_same = Path(options.test).resolve() == Path(options.data).resolve()
    if is_same or sha256_of(Path(options.test)) == sha256_of(Path(options.data)):
        raise ValueError(
            f"`--test` must not be the training file: found {'the same' if is_same else 'a copy'}. "
            "Leave it out, and some of its rows are set apart."
        )


def check_test_columns(options: TrainOptions) -> None:
    """Raise a `ValueError` if columns are missing in the table to test on; no row is read."""
    if options.test is not None:
        source = open_source(Path(options.test), options.file_format)
        source.check([options.target, *row_columns(options).values()])
        source.check(parse_attributes(list(options.sensitive), source.names))


def check_row_columns(columns: Mapping[str, str], target: str | None, sensitive: list[str]) -> None:
    """Raise a `ValueError` if a column that describes rows has another role too."""
    for option, column in columns.items():
        if column == target or column in sensitive:
            role = "the target" if column == target else "sensitive"
            raise ValueError(f"`{option}` must name a column of its own: {quote(column)} is {role}. Name another.")
    if len({*columns.values()}) < len(columns):
        raise ValueError(f"{' and '.join(f'`{option}`' for option in columns)} must name different columns.")


def read_row_columns(columns: Mapping[str, str], source: Source) -> dict[str, Any]:
    """Return the weights, units and times of rows, of those that are named."""
    read = {"--weight": ("weight", read_weights), "--time": ("times", read_times), "--unit": ("units", _read_units)}
    rows = {}
    for option, column in columns.items():
        name, convert = read[option]
        if option == "--time":
            require_ordered_times(source, column)
        rows[name] = convert((read_names if option == "--unit" else read_features)(source, [column])[column])
    return rows


def read_row_strata(options: TrainOptions, source: Source) -> pd.Series | None:
    """Return the stratum of each row, if groups are compared within strata; those of no column are refused later."""
    if options.strata is None or options.strata not in source.names:
        return None
    return read_names(source, [options.strata])[options.strata]


def _read_units(column: pd.Series) -> np.ndarray:
    require_known(column, "unit")
    return read_units(column, len(column))


def read_weights(column: pd.Series) -> np.ndarray | None:
    """Return the weights of rows; None if all are 1, which is the same as no weights.

    >>> read_weights(pd.Series([1, 2.5])), read_weights(pd.Series([1, 1]))
    (array([1. , 2.5]), None)
    """
    require_known(column, "weight")
    if kind_of(column) != "number":
        raise ValueError(f"The weights in {quote(column.name)} must be numbers: found {quote(column.iloc[0])}.")
    if (column < 0).any():
        raise ValueError(
            f"The weights in {quote(column.name)} must be 0 or more: found {column.min():g}. Correct these rows."
        )
    weights = as_weights(column.to_numpy(), len(column))
    return weights if (weights != 1).any() else None


def read_times(column: pd.Series) -> pd.Series:
    """Return the time of each row, as numbers or as dates.

    Text must be written as in 2024-03-31, 31.03.2024 or 03/31/2024, where month and day cannot be confused.

    >>> read_times(pd.Series(["2024-03-31", "2023-12-01"])).max()
    Timestamp('2024-03-31 00:00:00')
    """
    require_known(column, "time")
    if kind_of(column) == "number":
        return column
    try:
        return read_dates(column)
    except ValueError:
        raise ValueError(
            f"The times in {quote(column.name)} must be numbers, or dates that can be read in one way, such as "
            f"2024-03-31, 31.03.2024 or 03/31/2024: found {quote(column.iloc[0])}. Convert them."
        ) from None


def require_ordered_times(source: Source, name: str) -> None:
    """Raise a `ValueError` for months of a CSV file that look like numbers: 2024.10 would come before 2024.2."""
    if source.file_format.sep is None:
        return
    [(_, column)] = source.read_written([name])
    decimals = pd.Series(column.dropna().unique(), dtype="str").str.extract(r"^(\d+\.(\d+))$").dropna()
    shortened = decimals[decimals[1].str.match(r".+0$")]
    if len(shortened) and decimals[1].str.len().nunique() > 1:
        raise ValueError(
            f"The times in {quote(name)} must be numbers or dates: found {quote(shortened[0].iloc[0])}, which as a "
            "number has no zero at its end. Write months as in 2024-10."
        )


def require_known(column: pd.Series, what: str) -> None:
    """Raise a `ValueError` if a column is not known in every row."""
    if missing := int(column.isna().sum()):
        raise ValueError(
            f"The {what} in {quote(column.name)} must be known in every row: found {missing:,} of {len(column):,} rows "
            "without one. Fill them in, or remove these rows."
        )
