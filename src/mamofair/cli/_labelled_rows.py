"""New rows with true labels and groups, read like the training table of a run."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.splits import row_keys
from mamofair.cli._checksums import is_training_table
from mamofair.runs import Run
from mamofair.tables import FileFormat, open_source, read_batches, read_features, read_new_rows
from mamofair.tables.excluded import is_excluded
from mamofair.tables.labels import MergedLabels
from mamofair.tables.role_columns import read_labels

__all__ = [
    "as_run_labels",
    "as_run_reads",
    "kept_rows",
    "list_left_out",
    "read_labelled_rows",
    "read_row_keys",
    "require_fresh",
    "row_column_options",
    "sensitive_options",
]


def read_labelled_rows(path: Path, run: Run, file_format: FileFormat) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return features, true labels and groups of a table.

    The run says which column is the label, which are sensitive, and how they are binned. Features are read as `mamofair
    predict` reads them.
    """
    encoder, target = _require_encoder(run), run.settings["target"]
    file_format = as_run_reads(run.settings, file_format)
    source = open_source(path, file_format)
    source.check([target])
    X, people = read_new_rows(path, encoder, sensitive_options(run.settings), file_format=file_format)
    left_out = list_left_out(run)
    people = people.apply(lambda column: column.mask(column.isin(left_out.get(str(column.name), ()))))
    labels = as_run_labels(run.settings, read_labels(source, [target])[target])
    return X, labels.to_numpy(), people


def read_row_keys(path: Path, run: Run, file_format: FileFormat) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return a key for each row of a table that tells it from others, and the columns it is made of: all of them."""
    file_format = as_run_reads(run.settings, file_format)
    names = tuple(sorted(map(str, open_source(path, file_format).names)))
    batches = read_batches(path, _require_encoder(run), file_format=file_format)
    return np.concatenate([row_keys([whole[name].to_numpy() for name in names]) for whole, _ in batches]), names


def as_run_reads(settings: Mapping[str, Any], file_format: FileFormat) -> FileFormat:
    """Return how to read a table for a run: as its training table was read, unless an option says otherwise."""
    data = settings.get("data", {})
    if labels := tuple(data.get("excluded_labels") or ()):
        file_format = replace(file_format, excluded=(str(settings["target"]), labels))
    recorded = data.get("reading")
    if isinstance(recorded, Mapping) and recorded.get("roles") == "text":
        missing = recorded.get("missing") if file_format.missing is None else file_format.missing
        return replace(file_format, missing=missing)
    if file_format.missing is not None:
        raise ValueError(
            "`--missing` needs a run that was trained by this version: an older one reads words such as NA as unknown. "
            "Train it again, or leave `--missing` out."
        )
    return replace(file_format, reading="typed")


def kept_rows(settings: Mapping[str, Any], path: Path, file_format: FileFormat) -> Any:
    """Return which rows of a file remain without those whose label training left out."""
    excluded = as_run_reads(settings, file_format).excluded
    if excluded is None or excluded[0] not in open_source(path, file_format).names:
        return slice(None)
    return ~is_excluded(read_features(path, [excluded[0]], file_format=file_format)[excluded[0]], excluded[1])


def as_run_labels(settings: Mapping[str, Any], column: pd.Series) -> pd.Series:
    """Return true labels or decisions in the labels of a run's models; its target may have had more than two values."""
    merged = settings["data"].get("target_values")
    return column if merged is None else MergedLabels.from_json(merged)(column)


def sensitive_options(settings: Mapping[str, Any]) -> list[str]:
    """Return the sensitive columns with their bins, as the command that trained the run has them."""
    return _recorded(settings, "--sensitive") or [str(name) for name in settings["sensitive"]]


def row_column_options(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of weights and of units, by the option that named them in training."""
    return {option: value for option in ("--weight", "--unit") for value in _recorded(settings, option)}


def _recorded(settings: Mapping[str, Any], option: str) -> list[str]:
    """Return the values of an option in the command that trained the run."""
    return [value for name, value in pairwise(shlex.split(str(settings["command"]))) if name == option]


def require_fresh(path: Path, run: Run) -> None:
    """Raise a `ValueError` if a table is the one that the run was trained with."""
    if is_training_table(path, run.settings):
        raise ValueError(
            f"A question must be answered with new rows: {quote(path.name)} is the training table of "
            "the run. Use other rows."
        )


def _require_encoder(run: Run) -> Any:
    """Return what encodes tables for a run; one that Python has saved need not know what the columns of tables are."""
    if run.estimator.encoder_ is None or not {"target", "sensitive", "command", "data"} <= run.settings.keys():
        raise ValueError(
            "The run must have been written by `mamofair train`: this one has no record of the table's columns. Use "
            "`mamofair.selection.Question` in Python."
        )
    return run.estimator.encoder_


def list_left_out(run: Run) -> dict[str, tuple[Any, ...]]:
    """Return the groups of each attribute that training left out as too small to judge.

    The two lists may differ: a group may be too small in all rows, or only in those that were trained on.
    """
    in_data, small = run.settings["data"].get("groups", {}), run.estimator.small_groups_
    return {
        name: tuple(dict.fromkeys([*small.get(name, ()), *(v for v in in_data.get(name, ()) if v not in kept)]))
        for name, kept in run.groups.items()
    }
