"""What a snapshot says of the steps before it, and which networks may see a batch in pieces."""

import pytest
import torch
from test_training import OBJECTIVES, rows
from torch import nn

from mamofair._descent.networks import MLP, Average, Population
from mamofair._descent.training import epochs, isolated
from mamofair._rows.batches import in_memory
from mamofair.descent import Fixed, MinNorm


def snapshots(weighting, count: int) -> list:
    """Two epochs of three steps, without dropout, in double precision; so many snapshots an epoch."""
    with isolated(0):
        population = Population([MLP((8,), 0.0)(3).double()])
    optimizer, average = torch.optim.SGD(population.parameters, lr=0.5), Average(population, 0.0)
    run = epochs(
        *(population, OBJECTIVES, in_memory(rows(), 30), [weighting], optimizer, average),
        **{"span": range(2), "snapshots": count, "seed": 3},
    )
    return list(run)


@pytest.mark.parametrize("weighting", [MinNorm(), Fixed((1, 0.5, 0.2))], ids=["common", "fixed"])
def test_values_and_weights_of_a_snapshot_are_means_over_its_steps(weighting):
    steps, whole = snapshots(weighting, 3), snapshots(weighting, 1)
    assert [snapshot.step for snapshot in steps] == [1, 2, 3, 4, 5, 6]
    assert [snapshot.step for snapshot in whole] == [3, 6]
    for epoch, snapshot in enumerate(whole):
        own = steps[3 * epoch : 3 * epoch + 3]
        torch.testing.assert_close(snapshot.values, torch.stack([step.values for step in own]).mean(0))
        torch.testing.assert_close(snapshot.weights, torch.stack([step.weights for step in own]).mean(0))
        assert torch.stack([step.values for step in own]).std(0).max() > 1e-3  # else sums of one would do as well


class Mixes(nn.Module):
    """Logits that depend on the other rows of a batch, without a buffer that would show it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 1)

    def forward(self, x):
        return self.linear(x - x.mean(dim=0))


class Counts(nn.Module):
    """Treats each row by itself, but counts the batches it sees."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 1)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        if self.training:
            self.seen += 1
        return self.linear(x)


def in_pieces(network: nn.Module) -> Population:
    population = Population([network])
    population.micro_batch = 8
    population.train()
    return population


@pytest.mark.parametrize(
    ("network", "found"),
    [(Mixes, "logits depend on other rows"), (Counts, "seen changes")],
    ids=["mixes rows", "counts batches"],
)
def test_networks_for_which_pieces_are_another_batch_are_refused(network, found):
    with pytest.raises(ValueError, match=f"`micro_batch` must be None for networks that mix rows.*found that {found}"):
        in_pieces(network()).traced(torch.randn(20, 3))


@pytest.mark.parametrize("network", [Mixes, Counts])
def test_a_batch_in_one_piece_is_not_looked_at(network):
    logits, _ = in_pieces(network()).traced(torch.randn(8, 3))
    assert logits.shape == (1, 8)


def test_networks_that_treat_rows_by_themselves_may_have_pieces():
    network = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Dropout(0.2), nn.Linear(4, 1))
    population, x = in_pieces(network), torch.randn(20, 3)
    logits, _ = population.traced(x)
    assert logits.shape == (1, 20)
    assert population._comes_in_pieces
