"""Studies: one setting of common descent varied over a grid, with everything else as in the paper.

One run trains, side by side, a member or a population for demographic parity and one for equal opportunity.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from mamofair._rows.batches import Batch, in_memory
from mamofair._rows.groups import read_groups
from mamofair.descent import Fixed, MinNorm, Weighting
from mamofair.estimators import FairNetClassifier
from mamofair.experiments import table_adult, table_compas
from mamofair.experiments._job import Record, Sample, calm, draw_sample, seconds
from mamofair.experiments._live import LiveNetworks
from mamofair.experiments._probe import probe
from mamofair.experiments._run import versions
from mamofair.experiments._side_by_side import Some
from mamofair.fronts import Archive, Point, hypervolume
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.relaxations import Relaxation

NOTIONS = (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY)
TABLES = {"adult": table_adult.TABLE, "compas": table_compas.TABLE}

#: Epochs, and the box of the tight hypervolume: its corner, and the error it goes down to.
EPOCHS = {"adult": 20, "compas": 40}
BOXES = {"adult": ((0.25, 0.20), 0.15), "compas": ((0.46, 0.25), 0.30)}

#: The panels of figures, by data set and notion.
TITLES = {
    ("adult", "demographic_parity"): "Adult DDP",
    ("adult", "equal_opportunity"): "Adult DEO",
    ("compas", "demographic_parity"): "COMPAS DDP",
    ("compas", "equal_opportunity"): "COMPAS DEO",
}

#: What the pages say about the settings.
SETTING = f"""\
The setting is that of `as_published` (Adam at 0.01, hidden layers of 60 and 25, raw inputs, batches of 512, an archive
entry each epoch), with {EPOCHS["adult"]} epochs on Adult and {EPOCHS["compas"]} on COMPAS; splits: {{splits}}.
A single run is common descent on accuracy and one gap; a population has six members per notion, with weights of 0 to 2
on the gap and one on the cross-entropy. HVt is the hypervolume, on test rows, of the points that are non-dominated on
validation rows, in a tight box: errors from .15 to .25 and gaps up to .20 on Adult, .30 to .46 and .25 on COMPAS, as in
[models.md](models.md). Gradients are probed four times per run, on six batches, without dropout and anchor."""

_STRENGTHS = (0.0, 0.06, 0.15, 0.36, 0.85, 2.0)  # weights of the gap in a population; that of the cross-entropy is one
_BATCHES = 6  # per probe
_PROBES = 4  # a run


@dataclass(frozen=True)
class Run:
    """A relaxation and an anchor on a data set and a split: a single run of common descent, or a population."""

    data: str
    relaxation: Relaxation
    anchor: float
    population: bool
    repetition: int
    quick: bool = False

    @property
    def key(self) -> dict[str, Any]:
        """The values that identify its record in a file."""
        values = {"data": self.data, "relaxation": str(self.relaxation), "anchor": self.anchor}
        return values | {"population": self.population, "repetition": self.repetition, "quick": self.quick}

    @property
    def members(self) -> list[Weighting]:
        """The weightings: half of them are about demographic parity, the others about equal opportunity."""
        if not self.population:
            return [Some(MinNorm(), (0, 1)), Some(MinNorm(), (0, 2))]
        return [*(Fixed((1, s, 0)) for s in _STRENGTHS), *(Fixed((1, 0, s)) for s in _STRENGTHS)]


@dataclass(frozen=True)
class Study:
    """A question, the runs that answer it, and how the answer is shown.

    Parameters
    ----------
    name, title, page : str
        Its name on the command line, its heading, and the file of its page.
    runs : callable
        From split numbers, and whether to be quick, to what is run.
    draw, describe : callable
        From a frame of all results to a figure, and to the text of the page.
    """

    name: str
    title: str
    page: str
    runs: Callable[[Sequence[int], bool], list[Run]]
    draw: Callable[[pd.DataFrame], Any]
    describe: Callable[[pd.DataFrame], str]


def explore(run: Run) -> Record:
    """Train, probe the gradients along the way, and measure the fronts."""
    table = TABLES[run.data]
    sample = draw_sample(table, run.repetition, run.quick)
    epochs = 4 if run.quick else EPOCHS[run.data]
    model = FairNetClassifier.as_published(
        notions=list(NOTIONS),
        relaxation=run.relaxation,
        anchor=run.anchor,
        epochs=epochs,
        batch_size=table.batch_size,
        members=run.members,
        validation_fraction=sample.held_back,
        random_state=run.repetition,
    )
    networks = LiveNetworks(optimizer=model.optimizer)
    trained, probes = [], []
    moments = {round((i + 1) * epochs / _PROBES) - 1 for i in range(_PROBES)}
    with calm(), seconds() as times:
        for epoch, _ in enumerate(model.set_params(optimizer=networks).fitting(**sample.given)):
            trained.append(networks.copy())
            if epoch in moments:
                probes.append(_look(run, networks, sample, table.attributes[0]))
    fronts = _measure(run, networks, trained, sample, table.attributes[0])
    results = [looked | front for looked, front in zip(_means(probes), fronts, strict=True)]
    return {**run.key, **times, "results": results, "versions": versions()}


def _look(run: Run, networks: LiveNetworks, sample: Sample, attribute: str) -> list[dict[str, float]]:
    """Return the probes of both notions, means over the members that are about them."""
    rows = sample.rows.train
    groups = read_groups(sample.people)[rows]
    memberships = groups.memberships(sample.y[rows])
    whole = Batch.of(torch.tensor(sample.X[rows], dtype=torch.float32), sample.y[rows], memberships)
    batches = list(in_memory(whole, 512, even=False).batches(run.repetition))[:_BATCHES]
    probes = []
    for notion, half in zip(NOTIONS, _halves(len(run.members)), strict=True):
        looked = probe(networks.population(), batches, notion, attribute, run.relaxation)
        probes.append({name: float(values[half].mean()) for name, values in looked.items()})
    return probes


def _halves(n: int) -> tuple[slice, slice]:
    return slice(0, n // 2), slice(n // 2, n)


def _means(probes: Sequence[Sequence[dict[str, float]]]) -> list[dict[str, float]]:
    """Return the means over the moments of a run, for each notion."""
    return [
        {name: float(np.mean([moment[name] for moment in moments])) for name in moments[0]}
        for moments in zip(*probes, strict=True)
    ]


def _measure(
    run: Run, networks: LiveNetworks, trained: Sequence[Any], sample: Sample, attribute: str
) -> list[dict[str, Any]]:
    """Return, for each notion, the tight hypervolume of its front on test rows and the point that LINMAP picks."""
    (error, gap), least = BOXES[run.data]
    counters = [(sample.counter(rows), sample.X[rows]) for rows in (sample.rows.validation, sample.rows.test)]
    valid = [counters[0][0](networks.decide(counters[0][1], parameters)) for parameters in trained]
    results = []
    for notion, half in zip(NOTIONS, _halves(len(run.members)), strict=True):
        archive = Archive([(notion, attribute)])
        for epoch, tallies in enumerate(valid):
            archive.add_all([Point(tallies[i], member=i, step=epoch) for i in range(len(run.members))[half]])
        front = archive.front()
        kept = [[stack[p.member : p.member + 1] for stack in trained[p.step]] for p in front.points]
        decided = np.concatenate([networks.decide(counters[1][1], parameters) for parameters in kept])
        values = np.array([[tally.error, tally.gap(notion, attribute)] for tally in counters[1][0](decided)])
        chosen = int(np.square(front.values).sum(axis=1).argmin())
        volume = hypervolume(values, (error, gap)) / ((error - least) * gap)
        picked = {"error": float(values[chosen, 0]), "gap": float(values[chosen, 1])}
        constant = front.points[chosen].valid.is_constant
        results.append({"notion": notion.name, "HVt": volume, **picked, "constant": constant, "points": len(front)})
    return results


def tabulate(records: Iterable[Record]) -> pd.DataFrame:
    """Return a row for each run and notion."""
    keys = ("data", "relaxation", "anchor", "population", "repetition")
    rows = [{name: record[name] for name in keys} | result for record in records for result in record["results"]]
    return pd.DataFrame(rows)


def add_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with the panel of each row, the kind of its relaxation and, if it has one, its c."""
    parts = frame["relaxation"].str.extract(r"^(?P<kind>\w+)\((?:c=(?P<c>[\d.]+))?\)$")
    panels = [TITLES[data, notion] for data, notion in zip(frame["data"], frame["notion"], strict=True)]
    return frame.assign(panel=panels, kind=parts["kind"], c=parts["c"].astype(float))
