"""The rows of a table in memory, as `mamofair train` uses them: to learn from, and to test on."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mamofair.cli._asked import Asked
from mamofair.cli._data import Data
from mamofair.cli._limit import estimate
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter, Tally
from mamofair.tables import TableEncoder, encoder


@dataclass(frozen=True, eq=False)
class Parts:
    """A table in memory: the numbers of its rows to learn from and of its test rows, and what encodes them."""

    asked: Asked
    data: Data
    rest: np.ndarray
    test: np.ndarray
    encoder: TableEncoder

    @classmethod
    def of(cls, asked: Asked, data: Data) -> "Parts":
        """Set test rows apart, and fit an encoder to the others."""
        rest, test = data.split(asked.test_fraction, asked.seed)
        return cls(asked, data, rest, test, encoder().fit(data.X.iloc[rest]))

    @property
    def sizes(self) -> tuple[int, int]:
        """How many rows there are to learn from, and to test on."""
        return len(self.rest), len(self.test)

    def limit(self) -> pd.DataFrame | None:
        """Return the estimated limit, if it is wanted."""
        return estimate(self.asked, self.data, self.rest)

    def fitting(self, estimator: FairClassifier) -> Iterator[FairClassifier]:
        """Yield the estimator as it learns."""
        X, y, people = self._learned()
        return estimator.resume(X, y, sensitive_features=people)

    def _learned(self) -> tuple[np.ndarray, np.ndarray, pd.DataFrame]:
        rows = self.encoder.transform(self.data.X.iloc[self.rest])
        return rows, self.data.y[self.rest], self.data.sensitive.iloc[self.rest]

    def tested(self, estimator: FairClassifier) -> list[Tally]:
        """Return each point's counts on test rows."""
        people = self.data.people(self.rest, self.asked.crossed)
        X = self.encoder.transform(self.data.X.iloc[self.test])
        return Counter.of(self.data.y[self.test] == self.data.favorable, people[self.test])(estimator.decide_all(X))
