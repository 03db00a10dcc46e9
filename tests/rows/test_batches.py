import torch

from mamofair._rows.batches import Batch


def test_taking_rows_takes_them_from_every_part():
    tables = {"a": torch.eye(3, 4), "b": 2 * torch.eye(3, 6)}
    batch = Batch.of(torch.arange(6.0).reshape(3, 2), [1, 0, 1], tables, torch.ones(3))
    some = batch[torch.tensor([2, 0])]
    assert some.x.tolist() == [[4, 5], [0, 1]]
    assert some.y.tolist() == [1, 1]
    assert some.memberships_of("a").tolist() == [[0, 0, 1, 0], [1, 0, 0, 0]]
    assert some.memberships_of("b").tolist() == [[0, 0, 2, 0, 0, 0], [2, 0, 0, 0, 0, 0]]
    assert len(some) == len(some.weight) == 2
    assert batch[:1].weight.tolist() == [1]


def test_labels_and_memberships_take_the_features_dtype():
    wide = Batch.of(torch.zeros(2, 1, dtype=torch.float64), [1, 0], {"a": torch.eye(2, 4)})
    assert wide.y.dtype == wide.memberships.dtype == torch.float64
    words = Batch.of(torch.zeros(2, 7, dtype=torch.int64), [1, 0], {"a": torch.eye(2, 4)})
    assert words.y.dtype == torch.float32
    assert words.one_row == 1
