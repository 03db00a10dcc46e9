"""Blocks of rows of two groups: the same as a loop makes, in one piece or in several."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mamofair._stats.matching import OpenBlock

ROWS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)


def slowly(rows):
    """Return payoffs and ends, row by row."""
    found, sides = [], ([], [])
    for place, (first, event) in enumerate(rows):
        sides[not first].append(event)
        if min(map(len, sides)) >= 2:
            found.append((np.mean(sides[0]) - np.mean(sides[1]), place))
            sides = ([], [])
    return found, sides


def add(block, rows):
    first, events = (np.array([row[i] for row in rows], dtype=bool) for i in range(2))
    return block.add(first, events)


@given(ROWS)
def test_blocks_end_as_soon_as_they_have_two_rows_of_each_group(rows):
    payoffs, ends, rest = add(OpenBlock(), rows)
    found, sides = slowly(rows)
    assert ends.tolist() == [end for _, end in found]
    np.testing.assert_allclose(payoffs, [payoff for payoff, _ in found], atol=1e-12)
    assert rest == OpenBlock(tuple(map(len, sides)), tuple(map(sum, sides)))


@given(ROWS, st.integers(0, 60), st.integers(0, 60))
def test_rows_in_pieces_make_the_same_blocks(rows, one, other):
    cuts = sorted(min(cut, len(rows)) for cut in (one, other))
    whole, whole_ends, rest = add(OpenBlock(), rows)
    block, payoffs, ends = OpenBlock(), [], []
    for low, high in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        more, where, block = add(block, rows[low:high])
        payoffs += more.tolist()
        ends += (where + low).tolist()
    assert (payoffs, ends, block) == (whole.tolist(), whole_ends.tolist(), rest)
