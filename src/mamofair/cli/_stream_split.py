"""Parquet files that need not fit in memory, split into training rows and test rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from tempfile import gettempdir
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from mamofair._rows.disk import DiskArray
from mamofair._rows.groups import Groups, read_groups
from mamofair.cli._console import print_note
from mamofair.cli._models import takes_tables
from mamofair.cli._more_rows import LIMIT_ROWS, estimate_limit, measure_arbitrariness
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter, Tally
from mamofair.metrics import ScoreSummary, list_small_groups
from mamofair.streaming import Stream
from mamofair.streaming.sample import read_sample
from mamofair.streaming.scores import memory_to_summarize, summarize_stored
from mamofair.tables import TableEncoder
from mamofair.tables.profile import Profile

__all__ = ["StreamSplit"]

_PROFILED = 50_000  # training rows, at random, of which a profile is made
_FIT = 12  # times the memory of the rows that fitting models to them in memory takes: docs/results/memory.md


@dataclass(frozen=True, eq=False)
class StreamSplit:
    """The training and test rows of a stream, with the interface of `TableSplit`."""

    options: TrainOptions
    stream: Stream

    split: ClassVar[dict[str, Any]] = {"kind": "random"}
    target_values: ClassVar[None] = None  # the target of a stream has two values

    @property
    def columns(self) -> dict[str, Any]:
        """The target, its favorable label, and the sensitive columns, as a run records them."""
        roles = self.stream.roles
        return {"target": roles.target, "favorable": self.stream.favorable, "sensitive": list(roles.edges)}

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of rows to learn from, and of test rows."""
        return len(self.stream.scan.census), len(self.stream.scan.test)

    @property
    def encoder(self) -> TableEncoder:
        """The encoder of a frame of features."""
        return self.stream.encoder

    def example(self, rows: int) -> pd.DataFrame:
        """Return features that have values of the training rows, as a table has them."""
        return self.stream.example.head(rows)

    def profile(self) -> dict[str, Any]:
        """Return what a run keeps of its training rows' features, by a random sample of them."""
        return Profile.of(self.encoder, read_sample(self.stream, min(_PROFILED, self._most)).X).to_json()

    def count_intersections(self, estimator: FairClassifier) -> dict[str, Any] | None:
        """Return the counts of two points on test rows by intersection of attributes, as `TableSplit` does."""
        if len(self.stream.roles.edges) < 2 or self.options.crossed:
            return None
        groups = self.stream.scan.test.groups().crossed()
        models = {"chosen": estimator, "unconstrained": estimator.at(0)}
        tallies = self._count_models(groups, *models.values(), crossed=True)
        counts = {model: tally.counts[groups.names[-1]].tolist() for model, tally in zip(models, tallies, strict=True)}
        return {"groups": list(groups.values[-1]), **counts}

    def measure_small_groups(self, estimator: FairClassifier) -> list[dict[str, Any]]:
        """Return the groups that are too small to judge, with the rates of the chosen point on test rows."""
        small = estimator.small_groups_
        if not small:
            return []
        groups = Groups.of_values({name: tuple(counts) for name, counts in small.items()})
        [tally] = self._count_models(groups, estimator, crossed=self.options.crossed)
        return list_small_groups(small, tally, estimator.front_.criteria)

    def group_sizes(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return the number of rows, and of favorable ones, in each group of each attribute."""
        census, sizes = self.stream.scan.census + self.stream.scan.test, dict[str, dict[str, dict[str, int]]]()
        for i, name in enumerate(census.names):
            groups = sizes.setdefault(name, {})
            for (label, *people), count in sorted(census.cells.items(), key=lambda cell: str(cell[0][i + 1])):
                if people[i] is not None:
                    counts = groups.setdefault(people[i], {"rows": 0, "positives": 0})
                    counts["rows"] += count
                    counts["positives"] += count * (label == self.stream.labels[1])
        return sizes

    @property
    def _most(self) -> int:
        """How many rows models can be fitted to in memory, which takes about twelve times that of the rows."""
        return int(self.stream.memory / (_FIT * 8 * len(self.encoder.feature_names_in_)))

    def estimate_limit(self, estimator: FairClassifier) -> pd.DataFrame | None:
        """Return the best trade-off found, and what more rows may bring, by a sample of as many rows as fit."""
        most = self._most if takes_tables(self.options) else min(self._most, LIMIT_ROWS)
        return estimate_limit(self.options, estimator, lambda: read_sample(self.stream, most), self.sizes[0])

    def measure_arbitrariness(self, estimator: FairClassifier) -> dict[str, Any] | None:
        """Return how many decisions of each point would flip with other rows to learn from, if they fit in memory."""
        if self.sizes[0] > self._most:
            print_note(f"`--arbitrariness` needs at most {self._most:,} training rows with this `--memory`: skipped.")
            return None
        return measure_arbitrariness(self.options, estimator, read_sample(self.stream, self.sizes[0]))

    def fitting(self, estimator: FairClassifier) -> Iterator[FairClassifier]:
        """Yield the estimator as it learns."""
        memory, chunks = f"{self.stream.memory / 1e6:,.0f} MB", len(self.stream)
        is_network = "epochs" in estimator.get_params(deep=False)
        verb = "Each epoch reads" if is_network else "Training reads"
        print_note(f"{verb} {sum(self.sizes):,} rows in {chunks:,} chunks, within {memory} of memory.")
        if not is_network:
            size = 8 * self.sizes[0] * (len(self.stream.encoder.get_feature_names_out()) + 8)
            print_note(f"Rows are copied to a temporary file of some {size / 1e6:,.0f} MB in {gettempdir()}.")
        return estimator.resume_stream(self.stream.with_labels(), dask=self.options.dask)

    def measure_test(self, estimator: FairClassifier) -> tuple[list[Tally], list[ScoreSummary]]:
        """Return each point's counts on test rows, and what its scores are like there, which are kept on disk."""
        known, scores = Groups.of_values(estimator.front_.groups), DiskArray(len(estimator.front_))
        positive, codes = list[np.ndarray](), list[np.ndarray]()
        summarized = memory_to_summarize(self.sizes[1]) <= self.stream.memory

        def decide(X: Any, y: np.ndarray, people: Groups) -> np.ndarray:
            by_point = estimator.score_all(X)
            if summarized:
                scores.append(by_point.T)
                positive.append(y == 1)
                codes.append(people.codes)
            return by_point > 0

        tallies = self._count(known, decide, self.options.crossed)
        if not summarized:
            return tallies, []
        people = Groups(known.names, known.values, np.concatenate(codes))
        return tallies, summarize_stored(scores, np.concatenate(positive), people, self.stream.memory)

    @property
    def not_measured(self) -> list[str]:
        """Why something that the report of a file has is missing: a sentence each."""
        needed = memory_to_summarize(self.sizes[1])
        if needed <= self.stream.memory:
            return []
        return [
            f"AUC and calibration by group were not measured: for {self.sizes[1]:,} test rows, they take "
            f"{needed / 1e6:,.0f} MB, and training was given {self.stream.memory / 1e6:,.0f} MB."
        ]

    def _count_models(self, known: Groups, *models: FairClassifier, crossed: bool) -> list[Tally]:
        """Return the counts of each model's chosen point, by groups."""
        favorable = self.stream.favorable
        return self._count(known, lambda X, *_: np.stack([model.predict(X) == favorable for model in models]), crossed)

    def _count(
        self, known: Groups, decide: Callable[[Any, np.ndarray, Groups], np.ndarray], crossed: bool
    ) -> list[Tally]:
        """Return the counts of decisions on test rows, given their features, labels and groups, in one pass."""
        total = list[Tally]()
        for X, y, features, *_ in self.stream.test:
            if not len(y):
                continue
            people = read_groups(features, whole=False)
            people = (people.crossed() if crossed else people).as_in(known, strict=False)
            decided = decide(self.stream.frame(X) if self.stream.is_coded else X, y, people)
            tallies = Counter.of(y, people)(decided)
            total = [one + other for one, other in zip(total, tallies, strict=True)] if total else tallies
        return total
