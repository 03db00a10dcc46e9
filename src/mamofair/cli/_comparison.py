"""Several methods on the same random splits: points chosen on validation rows, measured on test rows."""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair.baselines import UnconstrainedClassifier
from mamofair.cli._console import print_note
from mamofair.cli._data import data_name
from mamofair.cli._models import MODELS, make_estimator, takes_tables
from mamofair.cli._splits import order_at_random, split_at_random, strata_of
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.experiments import METHODS, Setting
from mamofair.fronts import Counter, Criterion, Front, Point, Tally
from mamofair.selection import Weighted
from mamofair.tables import Table, encoder

__all__ = [
    "PEERS",
    "UNCONSTRAINED",
    "Comparison",
    "sample_rows",
    "summarize_records",
    "uses_attributes",
    "without_unknown_groups",
]

UNCONSTRAINED = "unconstrained"
#: A description of each method, in the order of the table.
PEERS = {UNCONSTRAINED: "our network trained for accuracy alone, its most accurate snapshot"} | {
    name: METHODS[name].title for name in ("EG", "TO", "fairret", "OxonFair")
}
_VALIDATION = 0.25  # of the rows that are not test rows: every estimator's default
_REFERENCE_GAP = 0.25
_QUICK_ROWS, _QUICK_EPOCHS = 1500, 10


@dataclass(frozen=True)
class Comparison:
    """The methods to compare, on which data and with which options; `quick` means few rows and epochs."""

    options: TrainOptions
    data: Table
    methods: tuple[str, ...]
    runs: int
    quick: bool = False

    @property
    def name(self) -> str:
        """The name of the data."""
        return data_name(self.options)

    @property
    def reference(self) -> tuple[float, float]:
        """The reference of the hypervolume: the error of a constant classifier, which is thus worth 0, and a gap."""
        share = float(self.data.positive.mean())
        return min(share, 1 - share), _REFERENCE_GAP

    def records(self, left_out: dict[str, str]) -> Iterator[dict[str, Any]]:
        """Yield a record for each split and method; add methods that fail to `left_out`, with the reason."""
        for seed in range(self.options.seed, self.options.seed + self.runs):
            strata = strata_of(self.data.positive, self.data.sensitive)
            train, test = split_at_random(strata, self.options.test_fraction, seed)
            encoders = {
                strategy: encoder(strategy, self.data.text_numbers).fit(self.data.X.iloc[train])
                for strategy in ("median", "none")
            }
            views = {strategy: encoder.transform(self.data.X) for strategy, encoder in encoders.items()}
            for name in self.methods:
                if name in left_out:
                    continue
                try:
                    X = views["none" if takes_tables(replace(self.options, model=name)) else "median"]
                    yield {"method": name, "seed": seed} | self._measure(name, seed, X, train, test)
                except (ImportError, ValueError) as error:
                    if name in MODELS and isinstance(error, ValueError):
                        raise  # not a limitation of a peer, but an error of the user's
                    left_out[name] = " ".join(str(error).split())
                    print_note(f"Skipped {name}: {error}")

    def _measure(self, name: str, seed: int, X: Any, train: np.ndarray, test: np.ndarray) -> dict[str, Any]:
        """Fit a method on one thread, and measure its chosen point and its whole front on test rows."""
        model = self._make(name, seed)
        people, y = self.data.sensitive, self.data.decode_labels()
        with threadpool_limits(1), parallel_config(backend="sequential"), warnings.catch_warnings():
            # The gaps show whether a search has converged; fairlearn triggers pandas' deprecation warnings.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", module="fairlearn")
            start = time.perf_counter()
            model.fit(_take(X, train), y[train], sensitive_features=people.iloc[train])
            seconds = time.perf_counter() - start
            new = _take(X, test)
            decisions = model.decide_all((new, people.iloc[test]) if uses_attributes(name) else new)
        groups = groups_known_to(people.iloc[train], people, self.options.crossed)[test]
        tallies = Counter.of(self.data.positive[test], groups)(decisions)
        chosen = _front([tallies[model.selected_]], model.front_.criteria)
        front = {"points": len(tallies), "hypervolume": self._volume(_front(tallies, model.front_.criteria))}
        values = dict(zip(chosen.columns, chosen.values[0].tolist(), strict=True))
        return front | {"seconds": seconds, "gap": float(chosen.values[0, 1:].max())} | values

    def _make(self, name: str, seed: int) -> FairClassifier:
        """Return the unfitted estimator of a method."""
        data = self.data
        if name in MODELS:
            short = {"effort": "fast"} if name in ("auto", "plugin") else {"epochs": _QUICK_EPOCHS}
            options = replace(self.options, model=name, seed=seed, **(short if self.quick else {}))
            return make_estimator(options, data.favorable)
        setting = Setting(self.options.notion, _VALIDATION, seed, epochs=0, batch_size=0, quick=self.quick)
        if name == UNCONSTRAINED:
            model: Any = UnconstrainedClassifier(**setting.default, selection=Weighted({"error": 1}))
        else:
            model = METHODS[name].make(setting)
        return model.set_params(favorable=data.favorable, crossed=self.options.crossed)  # type: ignore[no-any-return]

    def _volume(self, front: Front) -> float:
        """Return the hypervolume as a fraction of the box between the origin and the reference."""
        error, gap = self.reference
        corner = [error, *[gap] * len(front.criteria)]
        return float(front.hypervolume(corner) / np.prod(corner))


def _take(X: Any, rows: np.ndarray) -> Any:
    """Return rows of a matrix or a frame."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def uses_attributes(name: str) -> bool:
    """Return whether a method needs the sensitive attributes to predict."""
    return name in METHODS and METHODS[name].told


def groups_known_to(learned: pd.DataFrame, sensitive: pd.DataFrame, crossed: bool) -> Groups:
    """Return the groups of all rows; those that do not occur among the rows learned from are unknown."""
    groups, known = read_groups(sensitive), read_groups(learned)
    if crossed:
        groups, known = groups.crossed(), known.crossed()
    return groups.as_in(known, strict=False)


def without_unknown_groups(data: Table) -> Table:
    """Return the rows whose groups are all known: other libraries take no others, and all methods need the same rows.

    A note says how many were left out.
    """
    unknown = data.sensitive.isna()
    if not (rows := unknown.any(axis=1).to_numpy()).any():
        return data
    named = ", ".join(f"{quote(name)} of {int(count):,}" for name, count in unknown.sum().items() if count)
    print_note(
        f"Left out {rows.sum():,} of {len(rows):,} rows for all methods, because a group is unknown ({named}) and "
        "other libraries take no such rows."
    )
    return data[np.flatnonzero(~rows)]


def sample_rows(data: Table, seed: int) -> Table:
    """Return a small sample of the rows, stratified by label and groups."""
    return data[np.sort(order_at_random(strata_of(data.positive, data.sensitive), seed)[:_QUICK_ROWS])]


def summarize_records(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return the mean and standard deviation over splits for each method, in the order of the records."""
    frame = pd.DataFrame(records)
    grouped = frame.groupby("method", sort=False)[["error", "gap", "hypervolume", "seconds"]]
    return pd.concat([grouped.mean(), grouped.std().add_suffix("_std")], axis=1)


def _front(tallies: Sequence[Tally], criteria: Sequence[Criterion]) -> Front:
    return Front(tuple(Point(tally) for tally in tallies), tuple(criteria))
