"""A table in memory, split into rows to learn from and test rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._rows.groups import Groups, read_groups
from mamofair.arbitrariness import arbitrariness
from mamofair.cli._console import print_note
from mamofair.cli._data import Data
from mamofair.cli._models import takes_tables
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter, Tally, divide_groups, read_strata
from mamofair.learners.task import read_notions
from mamofair.limits import frontier
from mamofair.metrics import ScoreSummary, list_small_groups, summarize_scores
from mamofair.tables import TableEncoder, encoder, read_new_rows

__all__ = ["TableSplit"]

_LIMIT_ROWS = 20_000  # for the estimated limit; more rows change little and take long


@dataclass(frozen=True, eq=False)
class TableSplit:
    """A table, the indices of its rows to learn from and of its test rows, and an encoder fitted to the former."""

    options: TrainOptions
    data: Data
    rest: np.ndarray
    test: np.ndarray
    encoder: TableEncoder

    @classmethod
    def of(cls, options: TrainOptions, data: Data) -> "TableSplit":
        """Set test rows apart, and fit an encoder to the others."""
        rest, test = data.split(options.test_fraction, options.seed)
        return cls(
            options, data, rest, test, encoder("none" if takes_tables(options) else "median").fit(data.X.iloc[rest])
        )

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of rows to learn from, and of test rows."""
        return len(self.rest), len(self.test)

    def fitting(self, estimator: FairClassifier) -> Iterator[FairClassifier]:
        """Yield the estimator as it learns."""
        X = self.encoder.transform(self.data.X.iloc[self.rest])
        people = self.data.sensitive.iloc[self.rest]
        given = {"unlabelled": self._unlabelled(), "strata": self._strata(self.rest)}
        return estimator.resume(X, self.data.y[self.rest], sensitive_features=people, **given)

    def _strata(self, rows: np.ndarray) -> pd.Series | None:
        """Return the stratum of some rows, if groups are compared within strata."""
        if self.options.strata is None:
            return None
        read_strata(self.options.strata, len(self.data.X), self.data.X)  # says which columns there are
        return self.data.X[self.options.strata].iloc[rows]

    def _read_groups(self, known: Mapping[str, tuple[Any, ...]]) -> Groups:
        """Return the groups of test rows, those that are known."""
        people = read_groups(self.data.sensitive.iloc[self.test], whole=False)
        people = people.crossed() if self.options.crossed else people
        strata = self._strata(self.test)
        if strata is not None:
            asked = read_notions(list(self.options.notion), people.names)
            people, _, _ = divide_groups(people, asked, read_strata(strata, len(strata)), keep=True)
        return people.as_in(Groups.of_values(known), strict=False)

    def _unlabelled(self) -> tuple[np.ndarray | pd.DataFrame, pd.DataFrame] | None:
        """Return more rows, without labels, if there are some."""
        if self.options.unlabelled is None:
            return None
        names = self.options.sensitive or self.data.attributes
        features, people = read_new_rows(Path(self.options.unlabelled), self.encoder, names)
        return self.encoder.transform(features), people

    def measure_test(self, estimator: FairClassifier) -> tuple[list[Tally], list[ScoreSummary]]:
        """Return each point's counts on test rows, and what its scores are like there."""
        people = self._read_groups(estimator.front_.groups)
        X = self.encoder.transform(self.data.X.iloc[self.test])
        positive, scores = self.data.y[self.test] == self.data.favorable, estimator.score_all(X)
        tallies = Counter.of(positive, people)(scores > 0)
        if np.isnan(scores).any():  # these count as unfavorable, but have no place on a scale
            return tallies, []
        return tallies, [summarize_scores(own, positive, people) for own in scores]

    def measure_small_groups(self, estimator: FairClassifier) -> list[dict[str, Any]]:
        """Return the groups that are too small to judge, with the rates of the chosen point on test rows."""
        small = estimator.small_groups_
        if not small:
            return []
        people = self._read_groups({name: tuple(counts) for name, counts in small.items()})
        decided = estimator.predict(self.encoder.transform(self.data.X.iloc[self.test])) == self.data.favorable
        [tally] = Counter.of(self.data.y[self.test] == self.data.favorable, people)(decided[None])
        return list_small_groups(small, tally, estimator.front_.criteria)

    def measure_arbitrariness(self, estimator: FairClassifier) -> dict[str, Any] | None:
        """Return how many decisions of each point would flip with other rows to learn from."""
        print_note("Measuring how many decisions flip with other training rows.")
        X, y, people = self.data.X.iloc[self.rest], self.data.y[self.rest], self.data.sensitive.iloc[self.rest]
        try:
            luck = arbitrariness(estimator, X, y, sensitive_features=people, random_state=self.options.seed)
        except KeyboardInterrupt:
            print_note("Skipped the measurement of flips.")
            return None
        table = luck.frame().round(6)
        sentences = [luck.sentence(row) for row in range(len(table))]
        return {"rows": luck.rows, "table": table.to_dict("list"), "sentences": sentences}

    def estimate_limit(self, estimator: FairClassifier) -> pd.DataFrame | None:
        """Return the best trade-off found, and what more rows may bring; print why, if there is none.

        Where a network or boosting was trained, a quick plug-in rule is what it is compared with.
        """
        options, data = self.options, self.data
        if not options.limit:
            return None
        if options.strata is not None:
            print_note("What more rows may bring is not estimated for gaps within strata.")
            return None
        print_note("Estimating what more rows may bring (`--no-limit` skips this).")
        rows, effort = self.rest, options.effort
        model: FairClassifier | None = estimator
        if not takes_tables(options):
            rows = np.sort(np.random.default_rng(options.seed).permutation(self.rest)[:_LIMIT_ROWS])
            model, effort = None, "fast"
        more = {"crossed": options.crossed, "favorable": data.favorable, "random_state": options.seed, "effort": effort}
        more |= {"performance": estimator.performance, "selection": estimator.selection}
        try:
            X, y, people = data.X.iloc[rows], data.y[rows], data.sensitive.iloc[rows]
            limit = frontier(X, y, sensitive_features=people, model=model, notions=list(options.notion), **more)
        except ValueError as error:  # a notion without a rule, or a group with too few rows
            print_note(f"What more rows may bring cannot be estimated: {error}")
        except KeyboardInterrupt:
            print_note("Skipped the estimate of what more rows may bring.")
        else:
            return limit.frame()
        return None
