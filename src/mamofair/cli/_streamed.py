"""Parquet files that need not fit in memory: `mamofair train` reads them in chunks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from mamofair._messages import quote_some
from mamofair._rows.groups import Groups, read_groups
from mamofair.cli._console import print_note
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter, Tally
from mamofair.metrics import ScoreSummary, list_small_groups
from mamofair.streaming import Stream, stream
from mamofair.streaming.blocks import as_bytes
from mamofair.tables import TableEncoder

__all__ = ["StreamSplit", "is_streamed", "open_stream", "path_name"]

_BUDGET = "2GB"


@dataclass(frozen=True, eq=False)
class StreamSplit:
    """The rows of a stream to learn from and those to test on, with the interface of `TableSplit`."""

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

    def estimate_limit(self, estimator: FairClassifier) -> pd.DataFrame | None:
        """Return None: the estimate would need all rows in memory."""
        return None

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
        """Return each point's counts on test rows, chunk by chunk; ranking scores would need all rows at once."""
        known = Groups.of_values(estimator.front_.groups)
        return self._count(known, estimator.decide_all, self.options.crossed), []

    def _count_models(self, known: Groups, *models: FairClassifier, crossed: bool) -> list[Tally]:
        """Return the counts of each model's chosen point, by groups."""
        favorable = self.stream.favorable
        return self._count(known, lambda X: np.stack([model.predict(X) == favorable for model in models]), crossed)

    def _count(self, known: Groups, decide: Callable[[Any], np.ndarray], crossed: bool) -> list[Tally]:
        """Return the counts of decisions on test rows, in one pass over them."""
        total = list[Tally]()
        for X, y, features, *_ in self.stream.test:
            if not len(y):
                continue
            people = read_groups(features, whole=False)
            people = (people.crossed() if crossed else people).as_in(known, strict=False)
            tallies = Counter.of(y, people)(decide(self.stream.frame(X) if self.stream.is_coded else X))
            total = [one + other for one, other in zip(total, tallies, strict=True)] if total else tallies
        return total


def is_streamed(options: TrainOptions) -> bool:
    """Return whether rows are read in chunks: those of folders, of large files, and with `--memory`."""
    path = Path(options.data)
    large = path.suffix.lower() == ".parquet" and path.is_file() and path.stat().st_size > as_bytes(_BUDGET)
    return path.is_dir() or options.memory is not None or large


def open_stream(options: TrainOptions, coded: bool) -> Stream:
    """Return the rows after one pass over them; `coded` if the model takes text and missing values as they are."""
    if isinstance(options.favorable, tuple):
        raise ValueError(
            f"Streamed rows must have one favorable value: found {quote_some(options.favorable)}. Reduce "
            "the target to two values first."
        )
    if not 0 < options.test_fraction < 1:
        raise ValueError(f"`--test-fraction` must leave rows to train and to test on: found {options.test_fraction}.")
    rows = stream(
        *(options.data, str(options.target), options.favorable, options.sensitive, options.drop),
        memory=options.memory or _BUDGET,
        test_fraction=options.test_fraction,
        seed=options.seed,
    )
    if not len(rows.scan.test):
        raise ValueError(f"`--test-fraction` must leave rows to test on: {options.test_fraction} leaves none.")
    return rows.as_codes() if coded else rows


def path_name(path: str) -> str:
    """Return the name of a folder, or of a file without its suffix."""
    return Path(path).resolve().name if Path(path).is_dir() else Path(path).stem
