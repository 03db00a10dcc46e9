"""Rows of two groups in order of arrival, combined into short blocks with rows of both.

Only rows of the same time may be compared: if everybody's rate rises in March, March must not be compared with May. So
rows wait for rows of the other group. A block ends as soon as it has two rows of each, and its payoff is the mean event
of the first group minus that of the second. All rows count, however unevenly groups come: of a rare group, each block
has two rows, and of a frequent one as many as came meanwhile. Where blocks end follows from the groups of rows alone,
so a payoff's mean is the difference of the groups' rates at that time.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

__all__ = ["OpenBlock"]

_LEAST = 2  # rows of each group: with one, a quarter of the information would be lost if groups are of equal size


@dataclass(frozen=True)
class OpenBlock:
    """The rows that wait for others: how many, and how many of them have the event, of both groups.

    >>> payoffs, ends, rest = OpenBlock().add(np.array([True, True, False, False, True]), np.array([1, 0, 0, 0, 1]))
    >>> payoffs.tolist(), ends.tolist(), rest
    ([0.5], [3], OpenBlock(rows=(1, 0), events=(1, 0)))
    """

    rows: tuple[int, int] = (0, 0)
    events: tuple[int, int] = (0, 0)

    def add(
        self, first: Bool[np.ndarray, " n"], events: Any
    ) -> tuple[Float[np.ndarray, " blocks"], Int[np.ndarray, " blocks"], "OpenBlock"]:
        """Return the payoffs of the blocks that these rows complete, the row that ends each, and the open block.

        `first` says which rows are of the first group. Rows that come in pieces make the same blocks.
        """
        sides = first, ~first
        rows = [np.concatenate([[0], np.cumsum(side)]) + had for side, had in zip(sides, self.rows, strict=True)]
        hits = [
            np.concatenate([[0], np.cumsum(side * np.asarray(events))]) + had
            for side, had in zip(sides, self.events, strict=True)
        ]
        ends = _find_ends(*(count.tolist() for count in rows), *(np.flatnonzero(side).tolist() for side in sides))
        cuts = np.concatenate([[0], ends + 1])
        sizes, sums = ([_from_zero(count[cuts]) for count in counts] for counts in (rows, hits))
        left = [int(count[-1] - (count[cuts[-1]] if len(ends) else 0)) for count in (*rows, *hits)]
        payoffs = sums[0] / sizes[0] - sums[1] / sizes[1]
        return payoffs, ends, OpenBlock((left[0], left[1]), (left[2], left[3]))


def _from_zero(counts: np.ndarray) -> np.ndarray:
    """Return the differences of counts; the first block has the rows that were open before, too."""
    return np.diff(np.concatenate([[0], counts[1:]]))


def _find_ends(a: list[int], b: list[int], of_a: list[int], of_b: list[int]) -> np.ndarray:
    """Return the row that ends each block, given the numbers of rows of each group so far, and where they are."""
    ends: list[int] = []
    had_a, had_b = a[0], b[0]  # the places of earlier rows are not known
    used_a = used_b = 0
    while True:
        next_a, next_b = used_a + _LEAST - had_a - 1, used_b + _LEAST - had_b - 1
        if next_a >= len(of_a) or next_b >= len(of_b):
            return np.array(ends, dtype=int)
        end = max(of_a[next_a] if next_a >= 0 else -1, of_b[next_b] if next_b >= 0 else -1)
        ends.append(end)
        used_a, used_b = a[end + 1], b[end + 1]
