"""The decisions of an incumbent and of other models on the same rows, counted together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from mamofair._rows.groups import Groups
from mamofair._stats.reductions import JointRate
from mamofair.notions import FN, FP, TN, TP, Cell, Notion

__all__ = ["PairedDecisions", "joint_rates"]

_CELLS = ((TP, FN), (FP, TN))  # by label (1, 0) and decision (favorable, not)


@dataclass(frozen=True, eq=False)
class PairedDecisions:
    """Rows with labels and groups, and the favorable decisions of the incumbent and of several models."""

    y: Bool[np.ndarray, " n"]
    groups: Groups
    incumbent: Bool[np.ndarray, " n"]
    models: Bool[np.ndarray, "models n"]

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> "PairedDecisions":
        return PairedDecisions(self.y[rows], self.groups[rows], self.incumbent[rows], self.models[:, rows])

    def of_models(self, places: Any) -> "PairedDecisions":
        """Return the same rows with a subset of the models."""
        return PairedDecisions(self.y, self.groups, self.incumbent, self.models[places])

    def disagreements(self) -> tuple[Int[np.ndarray, " models"], Int[np.ndarray, " models"]]:
        """Return, for each model, the numbers of rows on which only the model, and only the incumbent, is wrong."""
        wrong, incumbent_wrong = self.models != self.y, self.incumbent != self.y
        return (wrong & ~incumbent_wrong).sum(axis=1), (~wrong & incumbent_wrong).sum(axis=1)

    def joint(self, attribute: str) -> Float[np.ndarray, "models groups 2 2 2"]:
        """Return the rows by group, label (1, 0), and decision (favorable, not) of the incumbent and of each model."""
        place = self.groups.names.index(attribute)
        size, codes = len(self.groups.values[place]), self.groups.codes[:, place]
        known = codes >= 0
        cells = np.ravel_multi_index(
            (codes[known], (~self.y[known]).astype(int), (~self.incumbent[known]).astype(int)), (size, 2, 2)
        )
        rows = np.bincount(cells, minlength=4 * size)
        favorable = np.stack([np.bincount(cells[one[known]], minlength=4 * size) for one in self.models])
        return np.stack([favorable, rows - favorable], axis=-1).reshape(-1, size, 2, 2, 2).astype(float)


def joint_rates(notion: Notion) -> list[JointRate]:
    """Return the rates of a notion in the form that joint counts need."""

    def mask(cells: Cell) -> Bool[np.ndarray, "2 2"]:
        return np.array([[cell in cells for cell in row] for row in _CELLS])

    return [JointRate(mask(rate.event), mask(rate.given)) for rate in notion.rates]
