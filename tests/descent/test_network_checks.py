"""What a network must return, and the advice if it does not."""

import pytest
import torch
from torch import nn

from mamofair import MLP
from mamofair._descent.network_checks import build_network, one_logit, require_logits


@pytest.mark.parametrize("shape", [(3,), (3, 1), ()])
def test_one_logit_a_row_in_any_of_its_shapes(shape):
    assert one_logit(torch.zeros(shape)).ndim == 1


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        (torch.zeros(3, 2), "second logit minus the first"),
        (torch.zeros(3, 4), r"shape \(3, 4\)"),
        (torch.zeros(3, 1, 1), r"shape \(3, 1, 1\)"),
        ((torch.zeros(3), None), "tuple"),
    ],
    ids=["two logits", "four logits", "three axes", "tuple"],
)
def test_anything_but_one_logit_a_row_is_refused(output, advice):
    with pytest.raises(ValueError, match=f"one logit per row.*{advice}"):
        one_logit(output)


def squashed(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Linear(4, 1), *layers)


class SecondProbability(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        return torch.softmax(self.layer(x), dim=1)[:, 1]


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (squashed(nn.Sigmoid()), "sigmoid or softmax"),
        (squashed(nn.Sigmoid(), nn.Flatten(0)), "sigmoid or softmax"),
        (squashed(nn.LogSigmoid()), "sigmoid or softmax"),
        (SecondProbability(), "sigmoid or softmax"),
        (nn.Linear(4, 2), "second logit minus the first"),
        (nn.Linear(4, 1).requires_grad_(False), "parameters to train"),
        (nn.Flatten(0), "8 for 2 rows"),
        (nn.Linear(3, 1), r"rows of shape \(4\) as float32"),
        (nn.Embedding(9, 1), "standardize=False"),
        (7, r"torch\.nn\.Module: found int"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_networks_that_cannot_be_trained_are_refused_with_advice(network, words):
    with pytest.raises(ValueError, match=words):
        require_logits(network, torch.randn(2, 4))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half, torch.float64], ids=str)
def test_parameters_in_another_precision_are_named(dtype):
    with pytest.raises(ValueError, match=r"float32: found (bfloat16|float16|float64) in 0\.weight.*network\.float\(\)"):
        require_logits(squashed().to(dtype), torch.randn(2, 4))


def test_advice_is_not_what_was_done_already():
    pictures, tokens = torch.randint(256, (2, 3, 8, 8)), torch.randint(9, (2, 4))
    with pytest.raises(ValueError, match=r"as int64.*X\.astype\('float32'\)") as caught:
        require_logits(nn.Sequential(nn.Conv2d(3, 1, 8), nn.Flatten(0)), pictures)
    assert "keep them integers" not in str(caught.value)
    with pytest.raises(ValueError, match="first layer") as caught:
        require_logits(nn.Linear(3, 1), tokens.float())
    assert "standardize" not in str(caught.value)


def test_what_torch_says_is_cut_short():
    class Wordy(nn.Linear):
        def forward(self, x):
            raise RuntimeError("no\n" * 100_000)

    with pytest.raises(ValueError, match="cannot take X") as caught:
        require_logits(Wordy(4, 1), torch.randn(2, 4))
    assert len(str(caught.value)) <= 500


def test_logits_are_accepted_without_a_trace():
    network = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 1)).train()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    require_logits(network, torch.randn(2, 4))
    assert network.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())


class Tokens(nn.Module):
    """The mean of an embedding of 50 words."""

    def __init__(self, features):
        super().__init__()
        self.words, self.last = nn.Embedding(50, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.last(self.words(x.long()).mean(dim=1)).squeeze(1)


class WithoutWidth(nn.Module):
    def __init__(self):
        super().__init__()


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (nn.Linear, r"found Linear, which cannot be called so .*network=lambda features: Linear\("),
        (WithoutWidth, "found WithoutWidth, which cannot be called so"),
        (MLP, r"found the class MLP. Pass one of its values, such as MLP\(\)"),
    ],
)
def test_recipes_that_do_not_take_the_number_of_features_are_refused_with_advice(recipe, words):
    with pytest.raises(ValueError, match=words):
        build_network(recipe, 6, lambda rows: torch.zeros(rows, 6))


def test_token_ids_that_were_standardized_or_are_beyond_the_table_are_refused_with_advice():
    ids = torch.arange(60).repeat(2, 1).T.contiguous()  # the first rows are within the table
    with pytest.raises(ValueError, match="keep them integers with `standardize=False`"):
        build_network(Tokens, 2, lambda rows: (ids / 10 - 3)[:rows])
    with pytest.raises(ValueError, match="must have a row for each value of X: found values from 0 to 59"):
        build_network(Tokens, 2, lambda rows: ids[:rows])
    assert isinstance(build_network(Tokens, 2, lambda rows: ids[:50][:rows]), Tokens)
