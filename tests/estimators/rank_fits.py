"""Fits that ranks share: each function is run by every one of them."""

import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from small_fits import GROUP, X, Y, small, two_attributes
from torch import nn

from mamofair import MLP, FairNetClassifier, FairPortfolioClassifier, MinNorm
from mamofair._descent.ranks import Ranks

PLAIN: dict[str, Any] = {"network": MLP((8,), 0.0), "epochs": 3, "batch_size": 200}
WEIGHT = np.random.default_rng(1).uniform(0.5, 2, len(X))


def rowwise(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 1), nn.Flatten(0))


def normalised(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))


class Counting(nn.Module):
    """Keeps a statistic of its own."""

    def __init__(self, n_features: int):
        super().__init__()
        self.layer = nn.Linear(n_features, 1)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        if self.training:
            self.seen += x.mean()
        return self.layer(x)


FITS = {
    "preferences": ({}, {}),
    "common descent": ({"members": [MinNorm(), MinNorm()]}, {}),
    "weights and calibration": ({"calibration_fraction": 0.2}, {"sample_weight": WEIGHT}),
    "two attributes, some unknown": ({"notions": ["dp", "tpr"]}, {"sensitive_features": two_attributes(60)}),
    "out of fold": ({"cv": 2}, {}),
    "a module of one's own": ({"network": rowwise}, {}),
}


def fit(name: str) -> FairNetClassifier:
    parameters, given = FITS[name]
    return small(**PLAIN | parameters).fit(X, Y, **{"sensitive_features": GROUP} | given)


class Quarters:
    """All rows in four pieces, and which of these were read."""

    def __init__(self) -> None:
        self.read_so_far: list[int] = []

    def __len__(self) -> int:
        return 4

    def read(self, piece: int) -> Iterator[Any]:
        self.read_so_far.append(piece)
        yield X.iloc[piece::4], Y.iloc[piece::4], GROUP.iloc[piece::4]


def fit_stream() -> tuple[FairNetClassifier, list[int]]:
    rows = Quarters()
    return small(**PLAIN).fit_stream(rows), rows.read_so_far


def own_seed() -> np.random.RandomState:
    """Return what None stands for in processes that were not forked: a state that no other rank has."""
    return np.random.RandomState(Ranks.present().rank)


def fits() -> dict[str, Any]:
    """Return fits with the ranks there are; one of them with a seed that each draws for itself."""
    found = {name: fit(name) for name in FITS}
    found["drawn"] = small(epochs=2, random_state=own_seed()).fit(X, Y, sensitive_features=GROUP)
    again = small(**PLAIN | {"epochs": 2, "warm_start": True})
    found["continued"] = (
        again.fit(X, Y, sensitive_features=GROUP).set_params(epochs=1).fit(X, Y, sensitive_features=GROUP)
    )
    nets = [("one", small(**PLAIN)), ("two", small(**PLAIN | {"members": 2}))]
    found["portfolio"] = FairPortfolioClassifier(nets, random_state=0).fit(X, Y, sensitive_features=GROUP)
    found["streamed"], found["pieces"] = fit_stream()
    return found


def refusals() -> dict[str, str]:
    """Return what is said to ranks that were given other things than the others, or what they cannot share."""
    rank = Ranks.present().rank
    shuffled = np.random.default_rng(rank).permutation(len(X))
    attempts = {
        "rows": (small(), slice(len(X) - 10 * rank)),
        "order": (small(), shuffled),
        "epochs": (small(epochs=3 + rank), slice(None)),
        "portfolio": (FairPortfolioClassifier([("net", small())], random_state=own_seed()), slice(None)),
        "BatchNorm": (small(network=normalised), slice(None)),
        "statistics": (small(network=Counting), slice(None)),
    }
    said = {}
    for name, (estimator, part) in attempts.items():
        try:
            estimator.fit(X.iloc[part], Y.iloc[part], sensitive_features=GROUP.iloc[part])
        except ValueError as error:
            said[name] = str(error)
    return said


def left_alone() -> str:
    """Interrupt rank 1 in the middle of training, as Ctrl-C does; return what the other one is told."""
    if Ranks.present().rank == 1:
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        small(epochs=100_000, patience=None).fit(X, Y, sensitive_features=GROUP)
    except ConnectionError as error:
        return str(error)
    return "nothing"
