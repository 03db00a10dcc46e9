"""Several methods on the same random splits: chosen on validation rows, measured on test rows."""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from mamofair.baselines import UnconstrainedClassifier
from mamofair.cli._asked import Asked
from mamofair.cli._data import Data
from mamofair.cli._learn import MODELS, make_estimator
from mamofair.cli._notes import note
from mamofair.estimators import FairClassifier
from mamofair.experiments import METHODS, Setting
from mamofair.fronts import Counter, Criterion, Front, Point, Tally
from mamofair.selection import Weighted
from mamofair.tables import encoder

UNCONSTRAINED = "unconstrained"
#: What each method is, in the order of the table.
PEERS = {UNCONSTRAINED: "our network, accuracy alone, its most accurate snapshot"} | {
    name: METHODS[name].title for name in ("EG", "TO", "fairret", "OxonFair")
}
_VALIDATION = 0.25  # of the rows that are not test rows, as is every estimator's default
_REFERENCE_GAP = 0.25
_QUICK_ROWS, _QUICK_EPOCHS = 1500, 10


@dataclass(frozen=True)
class Contest:
    """Who takes part, on which rows, and what a method is asked for; `quick` means few rows and epochs."""

    asked: Asked
    data: Data
    methods: tuple[str, ...]
    runs: int
    quick: bool = False

    @property
    def reference(self) -> tuple[float, float]:
        """The reference of the hypervolume, so that deciding all alike is worth nothing: an error and a gap."""
        share = float((self.data.y == self.data.favorable).mean())
        return min(share, 1 - share), _REFERENCE_GAP

    def records(self, left_out: dict[str, str]) -> Iterator[dict[str, Any]]:
        """Yield a record for each split and method; a method that cannot do what is asked is named in `left_out`."""
        for seed in range(self.asked.seed, self.asked.seed + self.runs):
            rest, test = self.data.split(self.asked.test_fraction, seed)
            encode = encoder().fit(self.data.X.iloc[rest])
            X = encode.transform(self.data.X)
            for name in self.methods:
                if name in left_out:
                    continue
                try:
                    yield {"method": name, "seed": seed} | self._carry_out(name, seed, X, rest, test)
                except (ImportError, ValueError) as error:
                    if name in MODELS and isinstance(error, ValueError):
                        raise  # not a peer's limits, but something to mend
                    left_out[name] = " ".join(str(error).split())
                    note(f"{name} is left out. {error}")

    def _carry_out(self, name: str, seed: int, X: np.ndarray, rest: np.ndarray, test: np.ndarray) -> dict[str, Any]:
        """Fit one method, and measure what it chose and its whole front on test rows; one thread each."""
        model = self._make(name, seed)
        people, y = self.data.sensitive, self.data.y
        with threadpool_limits(1), warnings.catch_warnings():
            # A search that has not converged shows in its gaps; fairlearn warns of pandas' future.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", module="fairlearn")
            start = time.perf_counter()
            model.fit(X[rest], y[rest], sensitive_features=people.iloc[rest])
            seconds = time.perf_counter() - start
            decisions = model.decide_all((X[test], people.iloc[test]) if is_told(name) else X[test])
        groups = self.data.people(rest, self.asked.crossed)[test]
        tallies = Counter.of(y[test] == self.data.favorable, groups)(decisions)
        chosen = _front([tallies[model.selected_]], model.front_.criteria)
        found = {"points": len(tallies), "hypervolume": self._volume(_front(tallies, model.front_.criteria))}
        values = dict(zip(chosen.columns, chosen.values[0].tolist(), strict=True))
        return found | {"seconds": seconds, "gap": float(chosen.values[0, 1:].max())} | values

    def _make(self, name: str, seed: int) -> FairClassifier:
        """Return a method's estimator, not fitted."""
        data = self.data
        epochs = _QUICK_EPOCHS if self.quick and name != "plugin" else None
        if name in MODELS:
            return make_estimator(replace(self.asked, model=name, seed=seed, epochs=epochs), data.favorable)
        setting = Setting(self.asked.notion, _VALIDATION, seed, epochs=0, batch_size=0, quick=self.quick)
        if name == UNCONSTRAINED:
            model: Any = UnconstrainedClassifier(**setting.default, selection=Weighted({"error": 1}))
        else:
            model = METHODS[name].make(setting)
        return model.set_params(favorable=data.favorable, crossed=self.asked.crossed)  # type: ignore[no-any-return]

    def _volume(self, front: Front) -> float:
        """Return the hypervolume as a share of the box between no error, no gaps and the reference."""
        error, gap = self.reference
        corner = [error, *[gap] * len(front.criteria)]
        return float(front.hypervolume(corner) / np.prod(corner))


def is_told(name: str) -> bool:
    """Return whether a method is told the sensitive attributes to predict."""
    return name in METHODS and METHODS[name].told


def fewer(data: Data, seed: int) -> Data:
    """Return some of the rows, alike in labels and groups, for a quick look."""
    rows = np.sort(data.order(seed)[:_QUICK_ROWS])
    return replace(data, X=data.X.iloc[rows], y=data.y[rows], sensitive=data.sensitive.iloc[rows])


def summary(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return mean and deviation over splits for each method, in the order in which they took part."""
    frame = pd.DataFrame(records)
    grouped = frame.groupby("method", sort=False)[["error", "gap", "hypervolume", "seconds"]]
    return pd.concat([grouped.mean(), grouped.std().add_suffix("_std")], axis=1)


def _front(tallies: Sequence[Tally], criteria: Sequence[Criterion]) -> Front:
    return Front(tuple(Point(tally) for tally in tallies), tuple(criteria))
