"""Training by two real processes, against the same training by one, in double precision."""

from typing import Any

import pytest
import torch

from mamofair.descent import Fixed
from rank_trainings import TRAININGS, Averaging, shared, shared_by_more
from started_ranks import on_ranks

pytestmark = pytest.mark.usefixtures("loopback")

Found = list[dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def together(tmp_path_factory) -> Found:
    """What each of two ranks ends with."""
    return on_ranks(shared, tmp_path_factory.mktemp("ranks"))


@pytest.fixture(scope="module")
def alone() -> dict[str, dict[str, Any]]:
    return {name: training() for name, training in TRAININGS.items()}


@pytest.mark.parametrize("name", TRAININGS)
def test_two_ranks_take_the_steps_of_one(name, together, alone):
    expected = alone[name]
    for rank in together:
        for what in ("parameters", "values", "weights", "cosines"):
            torch.testing.assert_close(rank[name][what], expected[what], atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", TRAININGS)
def test_all_ranks_end_with_the_same_bits(name, together):
    first, second = (rank[name] for rank in together)
    for what in ("parameters", "values", "weights", "cosines"):
        assert torch.equal(first[what], second[what])


def test_three_ranks_do_as_well(alone, tmp_path):
    ranks = on_ranks(shared_by_more, tmp_path, size=3)
    for name, found in ranks[0].items():
        torch.testing.assert_close(found["parameters"], alone[name]["parameters"], atol=1e-12, rtol=0)
        assert all(torch.equal(found["parameters"], other[name]["parameters"]) for other in ranks[1:])


@pytest.mark.parametrize("name", TRAININGS)
def test_nothing_has_collapsed(name, together):
    """Else all would look equal: rows of both labels and decisions on both ranks, and several objectives count."""
    for rank in together:
        assert 0 < rank[name]["decided"] < 1
        assert 0 < rank[name]["positive"] < 1
    if not any(isinstance(weighting, Fixed) for weighting in TRAININGS[name].weightings):
        active = (together[0][name]["weights"] > 0.01).sum(dim=1)  # (snapshots, members)
        assert (active >= 2).any(dim=0).all()


def test_a_step_reduces_the_gradients_it_needs_and_nothing_else(together):
    """One for each objective, but for preferences one in all; and those of their cosines after epochs 0 and 3."""
    d = 3 * 8 + 8 + 8 + 1
    assert together[0]["min-norm"]["shapes"] == [(3, 1, d)] * 20
    steps, look = [(1, 3, d)] * 5, [(3, 3, d)]
    assert together[0]["fixed"]["shapes"] == [*steps, *look, *steps, *steps, *steps, *look]


def test_ranks_really_have_different_rows_and_some_steps_none(together):
    sizes = [rank["uneven"]["sizes"] for rank in together]
    assert {sum(both) for both in zip(*sizes, strict=True)} == {60}
    assert 0 in sizes[0]
    assert sizes[0] != sizes[1]
    assert [rank["min-norm"]["sizes"] for rank in together] == [[24] * 5] * 2


@pytest.mark.parametrize("name", ["min-norm", "fixed"])
def test_gaps_of_each_ranks_rows_averaged_would_be_something_else(name, together, alone):
    wrong = together[0][f"averaged, {name}"]["parameters"]
    assert (wrong - alone[name]["parameters"]).abs().max() > 1e-2
    assert torch.equal(wrong, together[1][f"averaged, {name}"]["parameters"])
    assert torch.equal(
        TRAININGS[name](Averaging())["parameters"], alone[name]["parameters"]
    )  # but for one it is the same
