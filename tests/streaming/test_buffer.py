"""Batches of rows that are read anew each epoch."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mamofair._rows.batches import Batch, Feed, in_memory
from mamofair.streaming.buffer import shuffle_buffer


def rows_of(numbers: range) -> Batch:
    """Rows that can be told apart in every part."""
    x = torch.tensor(numbers, dtype=torch.float32)
    return Batch.of(x[:, None], x % 2, {"sex": torch.stack([x, -x], dim=1)}, weight=x + 1)


def feed_of(counts: list[int], *, at_once: int = 7, **options: int) -> Feed:
    starts = [sum(counts[:i]) for i in range(len(counts))]

    def read(chunk):
        rows = range(starts[chunk], starts[chunk] + counts[chunk])
        return (rows_of(rows[i : i + at_once]) for i in range(0, len(rows), at_once))

    return shuffle_buffer(read, counts, **{"batch_size": 8, "capacity": 20} | options)


def numbers_in(batches) -> list[list[float]]:
    found = []
    for batch in batches:
        x = batch.x[:, 0]
        assert torch.equal(batch.y, x % 2)
        assert torch.equal(batch.memberships, torch.stack([x, -x], dim=1))
        assert torch.equal(batch.weight, x + 1)
        found.append(x.tolist())
    return found


COUNTS = st.lists(st.integers(0, 30), min_size=1, max_size=6).filter(lambda counts: sum(counts) > 0)


@given(COUNTS, st.integers(1, 40), st.integers(1, 90), st.integers(1, 9), st.none() | st.integers(0, 99))
def test_an_epoch_has_every_row_exactly_once_in_batches_of_nearly_equal_size(counts, size, buffer, at_once, seed):
    feed = feed_of(counts, batch_size=size, capacity=buffer, at_once=at_once)
    found = numbers_in(feed.batches(seed))
    assert isinstance(feed, Feed)
    assert len(found) == feed.steps == -(-sum(counts) // size)
    assert max(map(len, found)) <= size
    assert max(map(len, found)) - min(map(len, found)) <= 1
    every = [number for batch in found for number in batch]
    assert sorted(every) == list(range(sum(counts)))
    if seed is None:
        assert every == sorted(every)


@given(st.integers(1, 60), st.integers(1, 40), st.none() | st.integers(0, 2**31), st.integers(1, 9))
def test_one_chunk_in_a_buffer_that_holds_it_is_handed_out_as_rows_in_memory_are(n, size, seed, at_once):
    streamed = feed_of([n], batch_size=size, capacity=n, at_once=at_once).batches(seed)
    loaded = in_memory(rows_of(range(n)), size).batches(seed)
    assert numbers_in(streamed) == numbers_in(loaded)


def test_the_seed_decides_the_order():
    feed = feed_of([50, 50, 50], capacity=60)
    one, again, other = (numbers_in(feed.batches(seed)) for seed in (1, 1, 2))
    assert one == again != other
    rises = sum(a < b for batch in one for a, b in pairwise(batch))
    assert 40 < rises < 100  # of 131 neighbours about half


def test_chunks_come_in_another_order_each_epoch():
    feed = feed_of([10] * 8, batch_size=10, capacity=10)
    orders = {tuple(int(min(batch)) // 10 for batch in numbers_in(feed.batches(seed))) for seed in range(5)}
    assert len(orders) == 5


@given(st.lists(st.integers(20, 30), min_size=3, max_size=8), st.integers(2, 3), st.integers(0, 99))
def test_ranks_have_as_many_batches_and_together_every_row_once(counts, parts, seed):
    feeds = [feed_of(counts, batch_size=12, part=part, parts=parts) for part in range(parts)]
    found = [numbers_in(feed.batches(seed)) for feed in feeds]
    assert {len(batches) for batches in found} == {-(-sum(counts) // 12)}
    assert sorted(n for batches in found for batch in batches for n in batch) == list(range(sum(counts)))
    for part, batches in enumerate(found):
        assert sum(map(len, batches)) == sum(counts[part::parts])
        assert max(map(len, batches)) - min(map(len, batches)) <= 1


def test_a_rank_without_rows_is_refused():
    with pytest.raises(ValueError, match="found 0 rows for 5 batches in the chunks of one of 3 ranks"):
        feed_of([20, 20], parts=3)


@pytest.mark.parametrize("buffer", [5, 100])
@pytest.mark.parametrize("counts", [[10], [10, 10]], ids=str)
@pytest.mark.parametrize("read", [8, 12])
def test_rows_that_change_between_epochs_are_noticed(read, counts, buffer):
    feed = shuffle_buffer(lambda chunk: iter([rows_of(range(read))]), counts, batch_size=4, capacity=buffer)
    with pytest.raises(ValueError, match=f"found {read} of 10 in chunk"):
        list(feed.batches(0))
