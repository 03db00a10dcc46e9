"""The table of a watch: decisions in the labels of a run's models, or labels of earlier decisions; and its features."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair.cli._labelled_rows import as_run_labels, sensitive_options
from mamofair.cli._row_options import read_times, require_known, require_ordered_times
from mamofair.fronts import Counter, Tally
from mamofair.monitor import Monitor, WatchAnswer, read_ticks
from mamofair.runs import Run
from mamofair.tables import FileFormat, open_source, read_attributes, read_features, read_new_rows
from mamofair.tables.role_columns import read_labels, read_names
from mamofair.tables.source import Source

__all__ = ["WatchedColumns", "WatchedTable", "read_watched_table"]


@dataclass(frozen=True)
class WatchedColumns:
    """The columns of decisions, ids, times and units; fixed when the watch begins."""

    prediction: str = "prediction"
    id: str | None = None
    time: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit == self.id:
            raise ValueError(
                f"`--id` names decisions, and `--unit` whom they are about: found {quote(self.unit)} for both. Leave "
                "`--id` out if decisions have no id of their own."
            )


@dataclass(frozen=True, eq=False)
class WatchedTable:
    """The content of a table; `decisions` and `sensitive` are None if it only has labels of earlier decisions."""

    path: Path
    decisions: pd.Series | None
    labels: pd.Series | None
    sensitive: pd.DataFrame | None
    ids: pd.Series | None
    times: pd.Series | None
    units: pd.Series | None = None

    def __len__(self) -> int:
        column = self.labels if self.decisions is None else self.decisions
        return 0 if column is None else len(column)

    def add_to(self, monitor: Monitor) -> Monitor:
        """Return the monitor after these rows."""
        if self.decisions is None:
            return monitor.label(self.ids, self.labels)
        more = {"y": self.labels, "ids": self.ids, "times": self.times, "units": self.units}
        return monitor.update(self.decisions, sensitive_features=self.sensitive, **more)

    def since(self, answer: WatchAnswer) -> np.ndarray:
        """Return which rows came after a limit was exceeded; all if they are few, or if they have no times."""
        places = [gap.worst.since for gap in answer.gaps if gap.worst is not None and gap.worst.since is not None]
        if not places or self.times is None:
            return np.ones(len(self), dtype=bool)
        first = min(places, key=lambda place: place.row)
        rows = read_ticks(self.times, len(self))[1] >= first.tick
        return rows if rows.sum() >= _FEW else np.ones(len(self), dtype=bool)


_FEW = 200  # rows to judge other points by


def read_watched_table(
    path: Path, run: Run, columns: WatchedColumns, file_format: FileFormat, ids_as: str
) -> WatchedTable:
    """Return the decisions of a table, with true labels where it has the run's target.

    Ids are read as the earlier ones of the watch, as text or typed.
    """
    source = open_source(path, file_format)
    target, names = str(run.settings["target"]), list(map(str, source.names))
    labels_only = columns.prediction not in names and target in names and columns.id is not None
    wanted = [columns.id] if labels_only else [columns.prediction, columns.id, columns.time, columns.unit]
    source.check([name for name in wanted if name is not None])
    if target == columns.prediction:
        raise ValueError(f"`--prediction` must be another column than the target: found {quote(target)} for both.")
    frame = read_labels(source, [name for name in (columns.prediction, target) if name in names])
    return WatchedTable(
        path=path,
        decisions=None if labels_only else _read_labels(run, frame[columns.prediction]),
        labels=_read_labels(run, frame[target]) if target in frame else None,
        sensitive=None if labels_only else read_attributes(source, sensitive_options(run.settings)),
        ids=None if columns.id is None else _read_ids(source, columns.id, ids_as),
        times=None if columns.time is None or labels_only else _read_times(source, columns.time),
        units=None if columns.unit is None or labels_only else _read_units(source, columns.unit),
    )


def _read_times(source: Source, name: str) -> pd.Series:
    require_ordered_times(source, name)
    return read_times(read_features(source, [name])[name])


def _read_ids(source: Source, name: str, ids_as: str) -> pd.Series:
    if ids_as == "typed":
        return read_features(source, [name])[name]
    how = source.file_format
    strict = replace(how, reading="strict" if how.reading == "typed" else how.reading)
    return read_names(replace(source, file_format=strict), [name])[name]


def _read_units(source: Source, name: str) -> pd.Series:
    units = _read_ids(source, name, "text")
    require_known(units, "unit")
    return units


def _read_labels(run: Run, column: pd.Series) -> pd.Series:
    """Return labels or decisions as a run's models have them, missing ones left missing; a stray one is an error."""
    known = column.dropna()
    labels = as_run_labels(run.settings, known)
    classes = run.estimator.classes_.tolist()
    stray = next((label for label in labels.unique().tolist() if label not in classes), None)
    if stray is not None:
        raise ValueError(f"{quote(column.name)} must have the labels {classes}: found {quote(stray)}.")
    favorable = labels.map({label: float(label == run.estimator.favorable_) for label in classes})
    return favorable.reindex(column.index).astype(float)


def tally_points(
    table: WatchedTable, which: np.ndarray, run: Run, file_format: FileFormat
) -> tuple[list[Tally] | None, bool]:
    """Return the counts of each point of the front on rows of a table, and whether they have labels.

    None where the table has not the features that the model was trained with.
    """
    encoder = run.estimator.encoder_
    names = open_source(table.path, file_format).names
    if table.decisions is None or encoder is None or not {*encoder.feature_names_in_} <= {*names}:
        return None, False
    X, people = read_new_rows(table.path, encoder, sensitive_options(run.settings), file_format=file_format)
    labelled = np.zeros(len(table), dtype=bool) if table.labels is None else table.labels.notna().to_numpy()
    has_labels = bool(labelled[which].sum() >= _FEW)
    rows = which & labelled if has_labels else which
    y = np.zeros(len(table)) if table.labels is None else table.labels.fillna(0).to_numpy()
    decided = run.estimator.decide_all(X[rows])
    return Counter.of(y[rows], _as_in(people[rows], run.groups))(decided), has_labels


def _as_in(people: pd.DataFrame, groups: Mapping[str, tuple[Any, ...]]) -> Groups:
    """Return groups numbered as in the front; others are unknown."""
    read = read_groups(people, whole=False)
    read = read.crossed() if any(name not in read.names for name in groups) else read
    return read.as_in(Groups.of_values(dict(groups)), strict=False)
