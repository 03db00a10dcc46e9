"""The data of a command: the user's table, or a data set by name."""

import hashlib
import warnings
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from mamofair._descent.ranks import Ranks
from mamofair._messages import ReadingWarning, quote
from mamofair.cli._checks import find_conditional, require_strata
from mamofair.cli._checksums import sha256_of
from mamofair.cli._models import takes_tables
from mamofair.cli._row_options import (
    check_row_columns,
    check_row_options,
    check_test_columns,
    read_row_columns,
    read_row_strata,
    row_columns,
)
from mamofair.cli._streamed import is_streamed, open_stream, path_name
from mamofair.cli._train_options import TrainOptions
from mamofair.datasets import CATALOG
from mamofair.streaming import Stream
from mamofair.streaming.cluster import connect
from mamofair.streaming.table import open_table
from mamofair.tables import FileFormat, Table, open_source, read_table
from mamofair.tables.excluded import require_labels
from mamofair.tables.roles import assign_roles

__all__ = ["check_columns", "data_name", "open_data", "read_data"]


def data_name(options: TrainOptions) -> str:
    """Return the name of the data."""
    return options.data if options.data in CATALOG else path_name(options.data)


def check_columns(options: TrainOptions) -> None:
    """Raise an error if columns are missing or cannot play their role; no row is read."""
    if options.strata is not None and options.arbitrariness:
        raise ValueError("`--arbitrariness` cannot be measured within strata: leave it or `--strata` out.")
    streamed = options.data not in CATALOG and is_streamed(options)
    if streamed and (options.strata is not None or find_conditional(options.notion) is not None):
        raise ValueError(
            "Groups are compared within strata of data that fit in memory: found data to stream. Choose other notions, "
            "or train on a table of fewer rows."
        )
    if options.exclude_label and (streamed or options.data in CATALOG):
        raise ValueError("`--exclude-label` needs a table of your own that fits in memory. Leave it out.")
    require_strata(options.notion, options.strata)
    check_row_options(options, streamed)
    if options.dask is not None:
        _check_cluster(options, options.dask, streamed)
    if options.data in CATALOG:
        return  # `read_data` checks them, and takes no time
    path = _require_path(options)
    if streamed:
        _require_no_format(options.file_format, path.name)
        open_table(path, str(options.target), options.sensitive, options.drop, file_format=options.file_format)
    else:
        _assign_roles(path, options)
        check_test_columns(options)


def _require_no_format(file_format: FileFormat, label: str) -> None:
    """Raise a `ValueError` if options say how a file is written that is neither CSV nor Excel."""
    if file_format.is_given:
        raise ValueError(f"`--sep`, `--decimal` and `--encoding` are for CSV files: found {label}.")
    if file_format.is_place_given:
        raise ValueError(f"`--sheet` and `--header` are for Excel files: found {label}.")


def _check_cluster(options: TrainOptions, address: str, streamed: bool) -> None:
    if not streamed or not takes_tables(options):
        raise ValueError(
            "`--dask` fits the models of auto or plugin to a folder of Parquet files: found other data or another "
            "model. Leave it out."
        )
    with connect(address):  # says so before anything is read or written, if nobody answers
        pass


def open_data(options: TrainOptions, ranks: Ranks, *, show_check: bool) -> Table | Stream:
    """Return the data: in memory, read by rank 0 for all, or streamed, read by all ranks together.

    If the check of a table is to be shown, it says how columns were read, and warnings do not.
    """
    with warnings.catch_warnings():
        if show_check:
            warnings.simplefilter("ignore", ReadingWarning)
        if ranks.broadcast(lambda: options.data not in CATALOG and is_streamed(options)):
            return open_stream(options, takes_tables(options))
        return ranks.broadcast(lambda: read_data(options))


def read_data(options: TrainOptions) -> Table:
    """Return the data in memory; errors about columns come before any other."""
    return _read_dataset(options) if options.data in CATALOG else _read_file(options)


def _require_path(options: TrainOptions) -> Path:
    """Return the path of the data; it must exist, and a target must be given."""
    path = Path(options.data)
    if not path.exists():
        near = get_close_matches(options.data.lower(), CATALOG, n=1)
        meant = f"Did you mean {near[0]}?" if near else f"The data sets are {', '.join(CATALOG)}."
        raise FileNotFoundError(f"No file or data set is called {quote(options.data)}. {meant}")
    if options.target is None:
        raise ValueError(f"`--target` is missing: name the column of {path.name} to predict.")
    return path


def _assign_roles(path: Path, options: TrainOptions) -> tuple[str, ...]:
    """Return the columns that are no features, after a check of what each column is."""
    source, columns = open_source(path, options.file_format), row_columns(options)
    roles = assign_roles(source, options.target, options.sensitive, options.drop, keep_sensitive=False)
    source.check([*columns.values(), *([] if options.strata is None else [options.strata])])
    check_row_columns(columns, roles.target, list(roles.edges))
    return tuple(dict.fromkeys((*options.drop, *columns.values())))


def _read_file(options: TrainOptions) -> Table:
    path = _require_path(options)
    left_out = _assign_roles(path, options)
    if options.exclude_label:
        every = open_source(path, replace(options.file_format, excluded=None))
        require_labels(every, str(options.target), options.exclude_label)
    roles = options.target, options.favorable, options.sensitive, left_out
    source = open_source(path, options.file_format)
    table, more = read_table(source, *roles), read_row_columns(row_columns(options), source)
    return replace(table, checksum=sha256_of(path), strata=read_row_strata(options, source), **more)


def _read_dataset(options: TrainOptions) -> Table:
    _require_no_format(options.file_format, options.data)
    if options.missing:
        raise ValueError(f"`--missing` is for tables of your own: {options.data} has no such words. Leave it out.")
    if options.memory is not None:
        raise ValueError(f"`--memory` is for Parquet files: {options.data} always fits in memory. Leave it out.")
    data = CATALOG[options.data].load()
    if options.target is not None and options.target != data.y.name:
        raise ValueError(f"The target of {options.data} is {quote(data.y.name)}: leave `--target` out.")
    columns = row_columns(options)
    left_out = [*options.drop, *columns.values()]
    features = [name for name in left_out if name not in data.X]
    unknown = [*(name for name in options.sensitive if name not in data.sensitive), *features]
    if unknown:
        known = [*data.sensitive, *(data.X if features else ())]
        near = get_close_matches(unknown[0].lower(), known, cutoff=0.5) or known
        raise ValueError(f"There is no column {quote(unknown[0])} in {options.data}. Did you mean {' or '.join(near)}?")
    favorable = data.favorable if options.favorable is None else options.favorable
    if isinstance(favorable, tuple) or str(favorable) not in ("0", "1"):
        raise ValueError(f"`--favorable` must be 0 or 1 for {options.data} ({data.y.name}): found {quote(favorable)}.")
    sensitive = data.sensitive[list(options.sensitive) or data.sensitive.columns.tolist()]
    parts = (pd.util.hash_pandas_object(part, index=False) for part in (data.X, data.y, data.sensitive))
    checksum = hashlib.sha256(b"".join(part.to_numpy().tobytes() for part in parts)).hexdigest()
    check_row_columns(columns, str(data.y.name), [str(name) for name in sensitive])
    X, more = data.X.drop(columns=left_out), read_row_columns(columns, open_source(data.X))
    strata = read_row_strata(options, open_source(X))
    # The command line asks for the favorable label, which need not be the positive class of the paper.
    y, labels = (data.y == int(favorable)).astype(int), (1 - int(favorable), int(favorable))
    return Table(X, y, sensitive, labels, left_out={}, checksum=checksum, strata=strata, **more)
