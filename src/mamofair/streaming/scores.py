"""Scores of streamed rows: kept on disk, and summarized a few points at a time."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float

from mamofair._rows.disk import PIECE, DiskArray
from mamofair._rows.groups import Groups
from mamofair._threads import blas_threads
from mamofair.metrics import ScoreSummary, summarize_scores

__all__ = ["memory_to_summarize", "summarize_stored"]

_SHARE = 1 / 4  # of the memory, for scores; the rest is for summarizing those of one point
_ROW = 200  # bytes per row that this takes: ranks, labels, groups, sorted copies (`summarize_scores` takes 176)


def memory_to_summarize(rows: int) -> int:
    """Return the least memory, in bytes, in which the scores of this many rows can be summarized."""
    return int(_ROW * rows / (1 - _SHARE))


def summarize_stored(
    scores: DiskArray, positive: Bool[np.ndarray, " n"], people: Groups, memory: int
) -> list[ScoreSummary]:
    """Return the summary of each point's scores, which are a column of the table; nothing if one of them is NaN."""
    summaries = []
    with blas_threads(1):
        for columns in _columns(scores, max(1, int(memory * _SHARE / (8 * len(scores))))):
            if np.isnan(columns).any():  # it counts as unfavorable, but has no place on a scale
                return []
            summaries.append(summarize_scores(columns, positive, people))
    return summaries


def _columns(scores: DiskArray, at_once: int) -> Iterator[Float[np.ndarray, " n"]]:
    """Yield the columns of a table on disk, which is read once for as many of them as may be in memory."""
    for first in range(0, scores.width, at_once):
        block = np.empty((min(at_once, scores.width - first), len(scores)))
        for start in range(0, len(scores), PIECE):
            block[:, start : start + PIECE] = scores[start : start + PIECE][:, first : first + at_once].T
        yield from block
