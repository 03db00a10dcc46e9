"""A table in memory, split into rows to learn from and test rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mamofair.cli._console import print_note
from mamofair.cli._data import Data
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter, Tally
from mamofair.limits import frontier
from mamofair.tables import TableEncoder, encoder

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
        return cls(options, data, rest, test, encoder().fit(data.X.iloc[rest]))

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of rows to learn from, and of test rows."""
        return len(self.rest), len(self.test)

    def fitting(self, estimator: FairClassifier) -> Iterator[FairClassifier]:
        """Yield the estimator as it learns."""
        X = self.encoder.transform(self.data.X.iloc[self.rest])
        people = self.data.sensitive.iloc[self.rest]
        return estimator.resume(X, self.data.y[self.rest], sensitive_features=people)

    def count_test(self, estimator: FairClassifier) -> list[Tally]:
        """Return each point's counts on test rows."""
        people = self.data.people(self.rest, self.options.crossed)
        X = self.encoder.transform(self.data.X.iloc[self.test])
        return Counter.of(self.data.y[self.test] == self.data.favorable, people[self.test])(estimator.decide_all(X))

    def estimate_limit(self) -> pd.DataFrame | None:
        """Return the best trade-off any model could reach, estimated without test rows; print why, if there is none."""
        options, data = self.options, self.data
        if not options.limit:
            return None
        print_note("Estimating the best that any model could do (`--no-limit` skips this).")
        rows = np.sort(np.random.default_rng(options.seed).permutation(self.rest)[:_LIMIT_ROWS])
        more = {"crossed": options.crossed, "favorable": data.favorable, "random_state": options.seed}
        try:
            X, y, people = data.X.iloc[rows], data.y[rows], data.sensitive.iloc[rows]
            limit = frontier(X, y, sensitive_features=people, notions=list(options.notion), **more)
        except ValueError as error:  # a notion without a rule, or a group with too few rows
            print_note(f"The limit cannot be estimated: {error}")
        except KeyboardInterrupt:
            print_note("Skipped the estimated limit.")
        else:
            return limit.frame()
        return None
