"""Hypervolume and spacing of fronts, with gaps as differences (the paper's text) and as ratios (its numbers)."""

from collections.abc import Mapping, Sequence

import moocore
import numpy as np

from mamofair.fronts import Criterion, Tally, hypervolume, spacing
from mamofair.notions import Confusion


def ratio_gap(tally: Tally, criterion: Criterion) -> float:
    """Return 1 − smallest / largest rate over the groups, the worst of the notion's rates; 0 if all rates are 0."""
    notion, attribute = criterion
    rates = np.array([rate(Confusion.of_counts(tally.counts[attribute])) for rate in notion.rates])
    largest = rates.max(axis=1)
    return float(np.max(1 - np.divide(rates.min(axis=1), largest, out=np.ones_like(largest), where=largest > 0)))


def fronts(parts: Mapping[str, Sequence[Tally]], criteria: Sequence[Criterion]) -> dict[str, dict[str, float | None]]:
    """Return hypervolume (reference 1) and spacing of what is non-dominated, for each part of the rows and reading."""
    readings = {"differences": Tally.gap, "ratios": lambda tally, *criterion: ratio_gap(tally, criterion)}
    results = {}
    for part, tallies in parts.items():
        for reading, gap in readings.items():
            values = np.array([[tally.error, *(gap(tally, *criterion) for criterion in criteria)] for tally in tallies])
            kept = values[moocore.is_nondominated(values)]
            spread = spacing(kept)
            measured = {"HV": hypervolume(kept, 1.0), "SP": None if np.isnan(spread) else spread}
            results[f"{part}, {reading}"] = measured
    return results
