"""Run experiments by name, one after another: records, figures and pages of results in a folder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from mamofair.experiments._canvas import save
from mamofair.experiments._compare import compared, frame
from mamofair.experiments._hypothesis_page import describe
from mamofair.experiments._job import LOADERS, Record
from mamofair.experiments._page import page, section
from mamofair.experiments._run import complete, jobs, read, run
from mamofair.experiments._spec import Figure, Table
from mamofair.experiments._study import Study, explore, tabulate
from mamofair.experiments.hypotheses import Hypothesis

#: What can be reproduced.
Experiment = Table | Figure | Hypothesis | Study

#: Shows the progress of records that are about to come: (records, how many, of what) → the same records.
Watch = Callable[[Iterator[Record], int, str], Iterable[Record]]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one experiment: its records, the files of its figure or page, or why it was skipped."""

    experiment: Experiment
    records: Sequence[Record] = ()
    files: Sequence[Path] = ()
    skipped: str = ""

    def __str__(self) -> str:
        name = self.experiment.name
        if self.skipped:
            return f"{name} is skipped: {self.skipped}"
        judged = not any(record["quick"] for record in self.records)
        if isinstance(self.experiment, Table):
            return section(self.experiment, self.records, judged)
        if isinstance(self.experiment, Hypothesis):
            return describe(self.experiment, self.records, judged)
        return f"{name}: {', '.join(map(str, self.files))}"

    def plain(self) -> dict[str, Any]:
        """Return plain data."""
        values: dict[str, Any] = {"name": self.experiment.name, "title": self.experiment.title}
        if self.skipped:
            return values | {"skipped": self.skipped}
        if isinstance(self.experiment, Table):
            return values | {"cells": [cell.plain() for cell in compared(self.experiment, self.records)]}
        if isinstance(self.experiment, Hypothesis):
            cells = [{"reading": reading} | cell.plain() for reading, cell in self.experiment.compare(self.records)]
            return values | {"statement": self.experiment.statement, "cells": cells}
        return values | {"files": [str(path) for path in self.files]}


@dataclass(frozen=True)
class Reproduction:
    """A reproduction run: where to write, which splits, and how."""

    out: Path
    splits: Sequence[int] = range(10)
    quick: bool = False
    n_jobs: int = 1
    watch: Watch = field(default=lambda records, total, name: records, repr=False)

    @property
    def folder(self) -> Path:
        """Where records and figures are."""
        return self.out / "paper"

    def __call__(self, experiment: Experiment) -> Outcome:
        """Run a table, a hypothesis, a study, or what a figure shows, and draw it."""
        if isinstance(experiment, Table):
            return self._tabulate(experiment, self.splits)
        if isinstance(experiment, Hypothesis):
            outcome = self._tabulate(experiment.table, experiment.splits(len(self.splits)))
            return replace(outcome, experiment=experiment)
        return self._study(experiment) if isinstance(experiment, Study) else self._draw(experiment)

    def _tabulate(self, table: Table, splits: Sequence[int]) -> Outcome:
        try:
            LOADERS[table.data]()
        except FileNotFoundError as error:
            return Outcome(table, skipped=" ".join(str(error).split()))
        records = run(table, self.folder, repetitions=splits, quick=self.quick, n_jobs=self.n_jobs)
        total = len(jobs(table, splits, self.quick))
        return Outcome(table, records=list(self.watch(records, total, table.name)))

    def _study(self, study: Study) -> Outcome:
        wanted = study.runs(self.splits, self.quick)
        path = self.folder / f"{study.name}.jsonl"
        completed = complete(path, wanted, explore, self.n_jobs)
        records = list(self.watch(completed, len(wanted), study.name))
        results = tabulate(records)
        files = save(study.draw(results), self.folder, study.name)
        text = self.out / study.page
        text.write_text(study.describe(results), encoding="utf-8")
        return Outcome(study, records=records, files=[text, *files])

    def _draw(self, figure: Figure) -> Outcome:
        tables = (replace(table, methods=figure.methods) for table in figure.tables)
        shown = [outcome for table in tables if (outcome := self._tabulate(table, self.splits)).records]
        if figure.tables and not shown:
            return Outcome(figure, skipped="none of its data sets is at hand.")
        frames = [frame(outcome.experiment, outcome.records) for outcome in shown]  # type: ignore[arg-type]
        drawn = figure.draw(pd.concat(frames, ignore_index=True)) if frames else figure.draw()
        return Outcome(figure, files=save(drawn, self.folder, figure.name))

    def recorded(self, table: Table) -> list[Record]:
        """Return all records of a table, from this run or earlier ones."""
        return [record for record in read(self.folder / f"{table.name}.jsonl") if record["quick"] == self.quick]

    def write_page(self, experiments: Iterable[Experiment], command: str) -> Path:
        """Write `paper.md` from everything in the folder, and return its path."""
        tables, hypotheses, figures = [], [], []
        for experiment in experiments:
            if isinstance(experiment, Table):
                tables.append((experiment, self.recorded(experiment)))
            elif isinstance(experiment, Hypothesis):
                hypotheses.append((experiment, self.recorded(experiment.table)))
            elif isinstance(experiment, Figure) and (self.folder / f"{experiment.name}.png").exists():
                figures.append((experiment.title, f"paper/{experiment.name}.png", experiment.note))
        path = self.out / "paper.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(tables, figures, command, self.quick, hypotheses), encoding="utf-8")
        return path
