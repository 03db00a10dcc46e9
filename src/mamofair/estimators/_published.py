"""The paper's setting of the network estimator, and that of its code, which differs."""

from typing import Any

from mamofair._descent.networks import MLP
from mamofair.descent import MinNorm, PublishedFrankWolfe
from mamofair.notions import NOTIONS
from mamofair.objectives import SquaredError
from mamofair.relaxations import Published, Tanh
from mamofair.selection import ClosestToIdeal


def published(code: bool) -> dict[str, Any]:
    """Return the constructor parameters of the paper's text, or of its code."""
    text: dict[str, Any] = {
        "relaxation": Tanh(3),
        "members": [MinNorm()],
        "anchor": 0.1,
        "network": MLP((60, 25), 0.2),
        "standardize": False,
        "offsets": (),
        "epochs": 100,
        "even_batches": False,  # full ones, the last with what is left
        "learning_rate": 0.01,
        "scale_floor": 0.0,
        "averaging": 0.0,
        "snapshots": 1,
        "patience": None,
        "selection": ClosestToIdeal(allow_constant=True),
    }
    scales = dict.fromkeys((notion.name for notion in NOTIONS), 3) | {"equal_opportunity": 5, "true_negative_parity": 5}
    differs: dict[str, Any] = {
        "relaxation": {notion: Published(c) for notion, c in scales.items()},
        "members": [PublishedFrankWolfe()],
        "anchor_loss": SquaredError(),
        "network": MLP((60, 25), 0.2, weight_std=0.02),
        # Departs: the code draws one more dropout mask, for the metrics it prints; nothing is learned from that pass.
        "separate_passes": True,
    }
    return text | differs if code else text
