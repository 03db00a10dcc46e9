import torch

from mamofair.batches import Batch


def test_taking_rows_takes_them_from_every_part():
    batch = Batch(torch.arange(6.0).reshape(3, 2), torch.tensor([1.0, 0, 1]), {"a": torch.eye(3)}, torch.ones(3))
    some = batch[torch.tensor([2, 0])]
    assert some.x.tolist() == [[4, 5], [0, 1]]
    assert some.y.tolist() == [1, 1]
    assert some.members["a"].tolist() == [[0, 0, 1], [1, 0, 0]]
    assert len(some) == len(some.weight) == 2
    assert batch[:1].weight.tolist() == [1]
