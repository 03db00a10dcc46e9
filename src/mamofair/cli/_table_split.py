"""A table in memory, split into training rows and test rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair._threads import blas_threads
from mamofair.cli._models import takes_tables
from mamofair.cli._more_rows import estimate_limit, measure_arbitrariness
from mamofair.cli._test_rows import divide, read_test
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter, Tally, divide_groups, read_strata
from mamofair.learners.task import read_notions
from mamofair.metrics import ScoreSummary, list_small_groups, summarize_scores
from mamofair.tables import Table, TableEncoder, encoder, read_new_rows
from mamofair.tables.profile import Profile

__all__ = ["TableSplit"]


@dataclass(frozen=True, eq=False)
class TableSplit:
    """The training and test rows of a table, how they were split, and an encoder fitted to the training rows.

    The rows to test on may be those of another table.
    """

    options: TrainOptions
    train: Table
    test: Table
    split: Mapping[str, Any]
    encoder: TableEncoder

    not_measured: ClassVar[tuple[str, ...]] = ()  # rows in memory are measured in full

    @classmethod
    def of(cls, options: TrainOptions, data: Table) -> "TableSplit":
        """Set test rows apart, and fit an encoder to the others."""
        unfitted = encoder("none" if takes_tables(options) else "median", data.text_numbers)
        if options.test is not None:  # that table is read with the columns and types that the encoder knows
            fitted = unfitted.fit(data.X)
            other, split = read_test(options, data, fitted)
            return cls(options, data, other, split, fitted)
        train, test, split = divide(options, data)
        learned = data[train]
        return cls(options, learned, data[test], split, unfitted.fit(learned.X))

    @property
    def columns(self) -> dict[str, Any]:
        """The target, its favorable label, and the sensitive columns, as a run records them."""
        attributes = [str(name) for name in self.train.sensitive]
        return {"target": str(self.train.y.name), "favorable": self.train.favorable, "sensitive": attributes}

    @property
    def target_values(self) -> dict[str, Any] | None:
        """Which values of the target are favorable, if it has more than two."""
        return None if self.train.merged is None else self.train.merged.to_json()

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of rows to learn from, and of test rows."""
        return len(self.train), len(self.test)

    def example(self, rows: int) -> pd.DataFrame:
        """Return the features of some training rows, as a table has them."""
        return self.train.X.head(rows)

    def profile(self) -> dict[str, Any]:
        """Return what a run keeps of its training rows' features."""
        return Profile.of(self.encoder, self.train.X).to_json()

    def group_sizes(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return the number of rows, and of favorable ones, in each group of each attribute."""
        people = pd.concat([part.sensitive for part in (self.train, self.test)], ignore_index=True)
        positive = pd.Series(np.concatenate([part.positive for part in (self.train, self.test)]))
        return {
            str(name): {
                str(group): {"rows": len(rows), "positives": int(rows.sum())}
                for group, rows in positive.groupby(people[name])
            }
            for name in people
        }

    def fitting(self, estimator: FairClassifier) -> Iterator[FairClassifier]:
        """Yield the estimator as it learns."""
        X, train = self.encoder.transform(self.train.X), self.train
        given: dict[str, Any] = {"unlabelled": self._unlabelled(), "strata": self._strata(train)}
        given |= {"sample_weight": train.weight, "units": train.units}
        return estimator.resume(X, train.decode_labels(), sensitive_features=train.sensitive, **given)

    def _strata(self, part: Table) -> pd.Series | None:
        """Return the stratum of some rows, if groups are compared within strata."""
        if self.options.strata is None:
            return None
        if self.options.strata not in part.X:
            raise ValueError(
                f"`--strata` must be one of the features: found {quote(self.options.strata)}. Features are neither the "
                "target, nor sensitive, nor left out."
            )
        return part.strata

    def _read_groups(self, known: Mapping[str, tuple[Any, ...]]) -> Groups:
        """Return the groups of test rows, those that are known."""
        people = read_groups(self.test.sensitive, whole=False)
        people = people.crossed() if self.options.crossed else people
        strata = self._strata(self.test)
        if strata is not None:
            notions = read_notions(list(self.options.notion), people.names)
            people, _, _ = divide_groups(people, notions, read_strata(strata, len(strata)), keep=True)
        return people.as_in(Groups.of_values(known), strict=False)

    def _unlabelled(self) -> tuple[np.ndarray | pd.DataFrame, pd.DataFrame] | None:
        """Return more rows, without labels, if there are some."""
        if self.options.unlabelled is None:
            return None
        names = self.options.sensitive or self.columns["sensitive"]
        path, file_format = Path(self.options.unlabelled), self.options.file_format
        features, people = read_new_rows(path, self.encoder, names, file_format=file_format)
        return self.encoder.transform(features), people

    def _counter(self, people: Groups) -> Counter:
        """Return what counts decisions on test rows."""
        return Counter.of(self.test.positive, people, self.test.weight, units=self.test.units)

    def measure_test(self, estimator: FairClassifier) -> tuple[list[Tally], list[ScoreSummary]]:
        """Return each point's counts on test rows, and what its scores are like there."""
        people = self._read_groups(estimator.front_.groups)
        scores = estimator.score_all(self.encoder.transform(self.test.X))
        tallies = self._counter(people)(scores > 0)
        # NaN counts as unfavorable, but has no place on a scale; intervals of AUCs would take the rows of one unit for
        # independent.
        if np.isnan(scores).any() or self.test.units is not None:
            return tallies, []
        with blas_threads(1):
            return tallies, [
                summarize_scores(values, self.test.positive, people, self.test.weight) for values in scores
            ]

    def measure_small_groups(self, estimator: FairClassifier) -> list[dict[str, Any]]:
        """Return the groups that are too small to judge, with the rates of the chosen point on test rows."""
        small = estimator.small_groups_
        if not small:
            return []
        people = self._read_groups({name: tuple(counts) for name, counts in small.items()})
        decided = estimator.predict(self.encoder.transform(self.test.X)) == self.train.favorable
        [tally] = self._counter(people)(decided[None])
        counted = "rows" if self.train.units is None else "units"
        return list_small_groups(small, tally, estimator.front_.criteria, counted)

    def count_intersections(self, estimator: FairClassifier) -> dict[str, Any] | None:
        """Return the counts of the chosen and of the most accurate point on test rows, by intersection of attributes.

        They are for reports: of runs with `--crossed`, the intersection is an attribute, and counted already. With
        weights or units, `squares` has what intervals need; see `Tally`.
        """
        people = read_groups(self.test.sensitive, whole=False)
        if len(people.names) < 2 or self.options.crossed:
            return None
        crossed, X = people.crossed(), self.encoder.transform(self.test.X)
        models = {"chosen": estimator, "unconstrained": estimator.at(0)}
        decided = np.stack([model.predict(X) == self.train.favorable for model in models.values()])
        tallies, name = dict(zip(models, self._counter(crossed)(decided), strict=True)), crossed.names[-1]
        counted: dict[str, Any] = {model: tally.counts[name].tolist() for model, tally in tallies.items()}
        squares = {model: tally.squares[name].tolist() for model, tally in tallies.items() if tally.squares is not None}
        return {"groups": list(crossed.values[-1]), **counted} | ({"squares": squares} if squares else {})

    def measure_arbitrariness(self, estimator: FairClassifier) -> dict[str, Any] | None:
        """Return how many decisions of each point would flip with other rows to learn from."""
        return measure_arbitrariness(self.options, estimator, self.train)

    def estimate_limit(self, estimator: FairClassifier) -> pd.DataFrame | None:
        """Return the best trade-off found, and what more rows may bring; print why, if there is none."""
        return estimate_limit(self.options, estimator, lambda: self.train, len(self.train))
