"""Scores on disk: the same summaries as those of scores in memory, however few points fit at once."""

import numpy as np
import pytest

from mamofair._rows.disk import PIECE, DiskArray
from mamofair.metrics import summarize_scores
from mamofair.objectives import read_groups
from mamofair.streaming.scores import memory_to_summarize, summarize_stored

ROWS, POINTS = PIECE + 500, 3


def stored(scores: np.ndarray) -> DiskArray:
    table = DiskArray(len(scores))
    for block in np.array_split(scores.T, 5):
        table.append(block)
    return table


@pytest.mark.parametrize("memory", [1, 8 * 2 * ROWS * 4, 10**9])  # one point at a time, two, all
def test_summaries_are_those_of_scores_in_memory(memory):
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=(POINTS, ROWS)), rng.random(ROWS) < 0.3
    people = read_groups({"sex": rng.choice(["f", "m"], ROWS)})
    found = summarize_stored(stored(scores), positive, people, memory)
    assert len(found) == POINTS
    for own, logits in zip(found, scores, strict=True):
        expected = summarize_scores(logits, positive, people)
        for part in ("counts", "auc", "difference"):
            for name, values in getattr(expected, part).items():  # rows are added up in another order
                np.testing.assert_allclose(getattr(own, part)[name], values, rtol=1e-12, atol=1e-15)


def test_scores_that_are_no_numbers_are_not_summarized():
    scores, people = np.ones((2, 4)), read_groups({"sex": ["f", "m", "f", "m"]})
    scores[1, 2] = np.nan
    assert summarize_stored(stored(scores), np.array([True, False] * 2), people, 10**6) == []


def test_more_rows_need_more_memory():
    assert memory_to_summarize(2_000_000) == pytest.approx(2 * memory_to_summarize(1_000_000), abs=1)
    assert memory_to_summarize(1_000_000) > 176e6  # what `summarize_scores` alone takes
