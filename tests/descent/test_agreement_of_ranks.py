"""Ranks that were given different things say so, each of them, before they train; one alone exchanges nothing."""

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from mamofair._descent.ranks import ALONE, Ranks


@dataclass(frozen=True)
class Met(Ranks):
    """Ranks that have met already: what the others were given is known, and nothing is sent."""

    others: list[dict[str, Any]] = field(default_factory=list)

    def all_gather(self, own: Any) -> list[Any]:
        return [own, *self.others]


def ranks_with(*others: dict[str, Any]) -> Met:
    return Met(0, len(others) + 1, list(others))


def test_ranks_that_were_given_the_same_go_on():
    ranks_with({"rows": 5, "seed": 1}, {"rows": 5, "seed": 1}).require_same({"rows": 5, "seed": 1}, "Check.")
    ALONE.require_same({"rows": 5}, "Check.")


@pytest.mark.parametrize("different", [1, 2])
def test_what_differs_is_named_with_what_each_rank_has(different):
    others = [{"rows": 5, "seed": 1} for _ in range(2)]
    others[different - 1]["seed"] = 7
    found = ", ".join(str(own["seed"]) for own in ({"seed": 1}, *others))
    with pytest.raises(ValueError, match=f"^All ranks must be given the same seed: found {found}. Pass the same.$"):
        ranks_with(*others).require_same({"rows": 5, "seed": 1}, "Pass the same.")


def test_of_many_ranks_the_first_eight_are_told():
    others = [{"rows": number} for number in range(1, 12)]
    with pytest.raises(ValueError, match=r"found 0, 1, 2, 3, 4, 5, 6, 7, …\. Check\.$"):
        ranks_with(*others).require_same({"rows": 0}, "Check.")
    eight = [{"rows": number} for number in range(1, 8)]
    with pytest.raises(ValueError, match=r"found 0, 1, 2, 3, 4, 5, 6, 7\. Check\.$"):
        ranks_with(*eight).require_same({"rows": 0}, "Check.")


def test_alone_there_is_nothing_to_exchange():
    assert Ranks.present() == ALONE == Ranks(0, 1)
    tensor = torch.ones(3)
    assert ALONE.all_reduce(tensor) is tensor
    assert ALONE.broadcast(lambda: 7) == 7
