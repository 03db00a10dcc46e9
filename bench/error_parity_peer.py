"""error-parity as a peer: randomized thresholds for groups within tolerances (Cruz and Hardt 2024).

It needs numpy 1, and so an environment of its own: `make .venv-error-parity/installed`, or name another Python in
ERROR_PARITY_PYTHON.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

from mamofair.baselines._peer import Peer, PeerLearner
from mamofair.learners import Parts

TOLERANCES = np.geomspace(0.005, 0.2, 16).round(4)
SCRIPT = Path(__file__).with_name("error_parity_rules.py")
PYTHON = Path(os.environ.get("ERROR_PARITY_PYTHON", SCRIPT.parents[1] / ".venv-error-parity/bin/python"))


@dataclass(eq=False, kw_only=True)
class ErrorParityLearner(PeerLearner):
    """Finds rules with error-parity's `RelaxedThresholdOptimizer`, one for each tolerance."""

    needs_sensitive_features = True
    known = MappingProxyType(
        {"demographic_parity": "demographic_parity", "equal_opportunity": "true_positive_rate_parity"}
    )

    classifier: Any = field(default=None, init=False)
    names: list[str] = field(default_factory=list, init=False)

    def models(self, notion: str, parts: Parts) -> Iterator[Any]:
        """Yield rules: thresholds and weights of each group, as bench/error_parity_rules.py describes."""
        valid, groups = parts.valid, self.group(parts.valid.groups)
        self.classifier = self.base().fit(parts.train.X, parts.train.y)
        self.names, numbers = np.unique(groups, return_inverse=True)
        scores = self.classifier.predict_proba(valid.X)[:, 1]
        with TemporaryDirectory() as folder:
            np.savez(rows := Path(folder, "rows.npz"), scores=scores, y=np.asarray(valid.y).astype(int), group=numbers)
            command = [PYTHON, "-E", SCRIPT, rows, notion, *map(str, TOLERANCES)]
            yield from json.loads(subprocess.check_output(command, text=True))

    def decide(self, model: Any, X: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return what a rule decides: rows draw their thresholds, the same ones in each call."""
        scores, chances = self.classifier.predict_proba(X)[:, 1], np.zeros(len(X))
        for name, steps in zip(self.names, model, strict=True):
            for threshold, weight in steps:
                chances += weight * ((group == name) & (scores >= threshold))
        return np.random.default_rng(self.task.seed).random(len(X)) < chances


@dataclass(eq=False, repr=False)
class ErrorParityClassifier(Peer):
    """error-parity: as in `OxonFairClassifier`, thresholds are found on the rows that are held back."""

    needs_sensitive_features = True

    def new_learner(self) -> ErrorParityLearner:
        """Return what finds the rules."""
        return ErrorParityLearner.of(self)
