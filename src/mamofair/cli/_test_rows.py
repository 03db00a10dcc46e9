"""Test rows: split off from a table, or read from another one; and how a run records which they are."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.splits import row_keys
from mamofair.cli._checksums import sha256_of
from mamofair.cli._console import print_note
from mamofair.cli._row_options import read_row_columns, read_row_strata, read_times, row_columns
from mamofair.cli._splits import format_time, order_at_random, split_at_random, split_at_time, split_by_unit, strata_of
from mamofair.cli._train_options import TrainOptions
from mamofair.tables import FileFormat, Table, TableEncoder, open_source, read_features, read_new_rows
from mamofair.tables.columns import to_text
from mamofair.tables.labels import is_favorable
from mamofair.tables.role_columns import read_labels, read_names

__all__ = ["divide", "find_test_rows", "print_split", "read_test"]


def divide(options: TrainOptions, data: Table) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Return the training rows, the test rows, and how they were split, as plain JSON."""
    split: dict[str, Any] = {"kind": "random"}
    strata = strata_of(data.positive, data.sensitive)
    if data.times is not None:
        train, test, begin = split_at_time(data.times, options.test_fraction)
        split = {"kind": "time", "column": options.time, "from": format_time(begin)}
        if data.units is not None:
            train, split["left_out"] = _leave_out_tested(options, data.units, train, test)
    elif data.units is not None:
        train, test = split_by_unit(strata, data.units, options.test_fraction, options.seed)
        split = {"kind": "unit", "column": options.unit, "fraction": options.test_fraction}
    else:
        train, test = split_at_random(strata, options.test_fraction, options.seed)
    if data.units is not None:
        split["units"] = _count_units(options, data.units[train], data.units[test])
    return train, test, split


def read_test(options: TrainOptions, data: Table, encoder: TableEncoder) -> tuple[Table, dict[str, Any]]:
    """Return the rows of the test table, read as the training rows were, and what is recorded about it."""
    path, columns = Path(str(options.test)), row_columns(options)
    X, people = read_new_rows(path, encoder, options.sensitive, file_format=options.file_format)
    target, (unfavorable, favorable) = str(data.y.name), np.array(data.labels).tolist()
    source = open_source(path, options.file_format)
    labels = read_labels(source, [target])[target]
    if data.merged is None:
        positive = is_favorable(labels, [favorable], [unfavorable])
    else:
        positive = (data.merged(labels) == favorable).to_numpy()
    y = pd.Series(positive.astype(int), name=target)
    more: dict[str, Any] = {"weight": None, "units": None} | read_row_columns(columns, source)
    more |= {"strata": read_row_strata(options, source)}
    split: dict[str, Any] = {"kind": "file", "file": path.name, "checksum": sha256_of(path)}
    split["repeated"] = _count_repeated(Path(options.data), path, options.file_format)
    if options.unit is not None:
        both = (open_source(Path(options.data), options.file_format), source)
        split["units"] = _count_units(options, *(read_names(one, [options.unit])[options.unit] for one in both))
    return replace(data, X=X, y=y, sensitive=people, **more), split


def _leave_out_tested(
    options: TrainOptions, units: np.ndarray, train: np.ndarray, test: np.ndarray
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the training rows without those of units in the test set, and how many units and rows are left out."""
    is_tested = np.isin(units[train], units[test])
    if is_tested.all():
        raise ValueError(
            f"`--time` with `--unit` must leave rows to learn from: found no value of {quote(options.unit)} that is "
            "only in the past. Leave one of them out."
        )
    left_out = train[is_tested]
    return train[~is_tested], {"units": len(np.unique(units[left_out])), "rows": len(left_out)}


def _count_repeated(learned: Path, tested: Path, file_format: FileFormat) -> int:
    """Return how many rows of one table are in another one as well, equal in all columns that both have."""
    names = sorted({*open_source(learned, file_format).names} & {*open_source(tested, file_format).names})
    frames = (read_features(path, names, file_format=file_format) for path in (tested, learned))
    keys, others = (row_keys([frame[name].to_numpy() for name in names]) for frame in frames)
    return int(np.isin(keys, others).sum())


def _count_units(options: TrainOptions, train: Any, test: Any) -> dict[str, Any]:
    """Return how many units are in training, in the test set, and in both."""
    units = {"learn": {*pd.unique(train)}, "test": {*pd.unique(test)}}
    shared = len(units["learn"] & units["test"])
    return {"column": options.unit, **{part: len(numbers) for part, numbers in units.items()}, "both": shared}


def print_split(split: Mapping[str, Any], sizes: tuple[int, int]) -> None:
    """Print which rows are for testing, unless they were drawn at random one by one."""
    if split["kind"] == "file":
        print_note(f"All {sizes[0]:,} rows are for training; the {sizes[1]:,} rows of {split['file']} are for testing.")
        if split["repeated"]:
            print_note(
                f"{split['repeated']:,} of the {sizes[1]:,} rows of {split['file']} are also training rows, equal in "
                "all columns: figures on training rows say little."
            )
    if split["kind"] == "time":
        begin, left_out = to_text(split["from"]), split.get("left_out", {"units": 0, "rows": 0})
        total = sum(sizes) + left_out["rows"]
        print_note(
            f"Test rows are the {sizes[1]:,} of {total:,} whose `{split['column']}` is {begin} or later. The rows "
            "that choose a model are drawn at random from the earlier ones."
        )
        if left_out["rows"]:
            print_note(
                f"{left_out['units']:,} values of `{split['units']['column']}` are on both sides: their "
                f"{left_out['rows']:,} earlier rows are left out, so that no test row shares a value with a training "
                "row."
            )
    if units := split.get("units"):
        counts = f"{units['learn']:,} different values for training, {units['test']:,} for testing."
        if units["both"]:
            print_note(f"`{units['column']}` has {counts} {units['both']:,} of these are in both tables.")
        else:
            print_note(f"Rows with the same `{units['column']}` stay together: {counts}")


def find_test_rows(settings: Mapping[str, Any], path: Path, strata: np.ndarray, file_format: FileFormat) -> np.ndarray:
    """Return the rows that a run has tested on, of the table that it was trained with; `strata` are its rows'."""
    split = settings["data"].get("split") or {"kind": "random"}
    if split["kind"] == "file":
        raise ValueError(
            f"Rows must be new to the models: the run was trained on all rows of {path.name}. Give others, such as "
            f"those of {split['file']}."
        )
    if split["kind"] == "random":
        return np.sort(order_at_random(strata, settings["seed"])[: settings["data"]["parts"]["test"]])
    if split["kind"] == "time":
        begin, column = split["from"], read_features(path, [split["column"]], file_format=file_format).iloc[:, 0]
        return np.flatnonzero(read_times(column) >= (pd.Timestamp(begin) if isinstance(begin, str) else begin))
    units = pd.factorize(read_names(open_source(path, file_format), [split["column"]]).iloc[:, 0])[0]
    return split_by_unit(strata, units, split["fraction"], settings["seed"])[1]
