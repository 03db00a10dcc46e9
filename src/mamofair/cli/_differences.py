"""In one table, how the rows of a command differ from those that a run was trained on."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from mamofair.cli._console import print_note
from mamofair.cli._labelled_rows import as_run_reads, sensitive_options
from mamofair.runs import Run
from mamofair.tables import FileFormat, open_source, read_attributes, read_batches
from mamofair.tables.differences import Difference, RowCounts, compare_columns, compare_groups, format_differences
from mamofair.tables.profile import Profile

__all__ = ["count_rows", "find_differences", "print_differences", "read_differences"]

_LARGEST = 2**28  # bytes of a file whose groups are read, which takes all rows at once

#: Counts of the feature columns, by name.
Counts = dict[str, RowCounts]


def read_profile(run: Run) -> Profile | None:
    """Return what a run keeps of its training rows; None for runs before 0.3, and for those saved in Python."""
    document = run.settings.get("data", {}).get("profile")
    return None if document is None or run.estimator.encoder_ is None else Profile.from_json(document)


def count_rows(run: Run) -> tuple[Counts, Callable[[pd.DataFrame], None]]:
    """Return counts of new rows, none yet, and what adds the features of a batch to them."""
    counts, profile = Counts(), read_profile(run)

    def add(features: pd.DataFrame) -> None:
        if profile is None:
            return
        for name, found in RowCounts.by_column(profile, run.estimator.encoder_, features).items():
            counts[name] = counts.get(name, RowCounts()) + found

    return counts, add


def find_differences(run: Run, counts: Counts, table: Path, file_format: FileFormat) -> list[Difference]:
    """Return how counted rows, and the groups in their table if it has them, differ from the training rows."""
    profile = read_profile(run)
    columns = [] if profile is None else list(compare_columns(profile, counts))
    return [*columns, *_compare_groups(run, table, file_format)]


def read_differences(run: Run, table: Path, file_format: FileFormat) -> list[Difference]:
    """Return how the rows of a file differ from the training rows, in what it has of features and groups."""
    counts, add = count_rows(run)
    encoder, names = run.estimator.encoder_, open_source(table, file_format).names
    if encoder is not None and {*encoder.feature_names_in_} <= {*names}:
        for _, features in read_batches(table, encoder, file_format=file_format):
            add(features)
    return find_differences(run, counts, table, file_format)


def print_differences(table: Path, differences: list[Difference]) -> None:
    """Print a table of differences, if there are some."""
    if differences:
        print_note(f"{table.name} differs from the rows that the run was trained on:")
        for line in format_differences(differences):
            typer.echo(f"  {line}", err=True)


def _compare_groups(run: Run, table: Path, file_format: FileFormat) -> list[Difference]:
    groups: Mapping[str, Any] = run.settings.get("data", {}).get("groups") or {}
    is_large = table.is_dir() or table.stat().st_size > _LARGEST
    if is_large or not {"command", "sensitive"} <= run.settings.keys():
        return []
    names = open_source(table, file_format).names
    known = [one for one in sensitive_options(run.settings) if one in names or one.rpartition(":")[0] in names]
    if not known:
        return []
    trained = {name: {group: int(size["rows"]) for group, size in sizes.items()} for name, sizes in groups.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # how the table is read was said where its rows were
            people = read_attributes(table, known, file_format=as_run_reads(run.settings, file_format))
    except ValueError as error:  # predictions do not need groups
        return [Difference(", ".join(known), "groups cannot be read", "", "", str(error))]
    return list(compare_groups(trained, people))
