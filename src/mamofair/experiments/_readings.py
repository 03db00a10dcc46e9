"""Readings of a run that kept every epoch: what another archive, or none, would have chosen."""

from collections.abc import Mapping, Sequence

import moocore
import numpy as np

from mamofair.experiments._fronts import ratio_gap
from mamofair.experiments._job import Record
from mamofair.experiments._spec import SHORT, Table
from mamofair.fronts import Criterion, Tally, hypervolume, spacing
from mamofair.notions import as_notion

#: Values by column.
Reading = Mapping[str, float]


def tallies(record: Record, part: str, epochs: int | None = None) -> list[Tally]:
    """Return the counts of every epoch, up to some, on validation or test rows."""
    counts = record["counts"][part][:epochs]
    return [Tally({name: np.array(table, dtype=float) for name, table in one.items()}) for one in counts]


def criteria(table: Table, record: Record) -> list[Criterion]:
    """Return the gaps that a record has."""
    return [(as_notion(notion), attribute) for notion in record["notions"] for attribute in table.attributes]


def differences(measured: Sequence[Tally], wanted: Sequence[Criterion]) -> np.ndarray:
    """Return error and gaps, a row for each epoch."""
    return np.array([[tally.error, *(tally.gap(*criterion) for criterion in wanted)] for tally in measured])


def ratios(measured: Sequence[Tally], wanted: Sequence[Criterion]) -> np.ndarray:
    """Return error and gaps as ratios, a row for each epoch."""
    return np.array([[tally.error, *(ratio_gap(tally, criterion) for criterion in wanted)] for tally in measured])


def choose_by_linmap(table: Table, record: Record, epochs: int | None = None) -> Reading:
    """Return test error and gap, by notion, of the epoch closest to no error and no gap on validation rows."""
    wanted = criteria(table, record)
    values = differences(tallies(record, "validation", epochs), wanted)
    return _points(table, record, int(np.argmin((values**2).sum(axis=1))))


def take_last_epoch(table: Table, record: Record) -> Reading:
    """Return test error and gap of the last epoch, whatever the archive would say."""
    return _points(table, record, -1)


def _points(table: Table, record: Record, epoch: int) -> Reading:
    tally = tallies(record, "test")[epoch]
    gaps = {SHORT[notion.name]: tally.gap(notion, name) for notion, name in criteria(table, record)}
    return gaps | {f"{short} error": tally.error for short in list(gaps)}


def measure_ratios(table: Table, record: Record, *, archived_on_ratios: bool) -> Reading:
    """Return hypervolume and spacing on validation rows, gaps as ratios, epochs that decide all alike left out."""
    wanted = criteria(table, record)
    measured = [tally for tally in tallies(record, "validation") if not tally.is_constant]
    if not measured:
        return {}
    if not archived_on_ratios:
        measured = [measured[i] for i in np.flatnonzero(moocore.is_nondominated(differences(measured, wanted)))]
    values = ratios(measured, wanted)
    values = values[moocore.is_nondominated(values)]
    spread = spacing(values)
    return {"HV": hypervolume(values, 1.0)} | ({} if np.isnan(spread) else {"SP": spread})
