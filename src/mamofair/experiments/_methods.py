"""The methods of the tables: each a name, and how to make its estimator for a setting."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from torch.optim import SGD

from mamofair.baselines import (
    ConstantClassifier,
    CotterClassifier,
    EqualShares,
    ExponentiatedGradientClassifier,
    FairretClassifier,
    GridSearchClassifier,
    OxonFairClassifier,
    SearchFairClassifier,
    ThresholdOptimizerClassifier,
    ZafarClassifier,
)
from mamofair.descent import Fixed, MinNorm, PublishedFrankWolfe, Weighting
from mamofair.estimators import FairNetClassifier
from mamofair.selection import Selection, Weighted

QUICK_EPOCHS = 10


@dataclass(frozen=True, eq=False)
class Setting:
    """The settings of an estimator in a table: the notions, the paper's training settings, and whether to be quick.

    `validation` marks the split's validation rows; without it they are drawn again, stratified.
    """

    notions: tuple[str, ...]
    validation_fraction: float
    seed: int
    epochs: int
    batch_size: int
    code_learning_rate: float = 0.01
    validation: np.ndarray | None = None
    quick: bool = False

    @property
    def shared(self) -> dict[str, Any]:
        """The parameters that every estimator takes."""
        notions = list(self.notions)
        fraction = self.validation_fraction
        return {"notions": notions, "validation_fraction": fraction, "random_state": self.seed}

    @property
    def published(self) -> dict[str, Any]:
        """The parameters of networks trained as in the paper."""
        rows = {} if self.validation is None else {"validation_fraction": self.validation}
        epochs = QUICK_EPOCHS if self.quick else self.epochs
        return self.shared | rows | {"epochs": epochs, "batch_size": self.batch_size}

    @property
    def default(self) -> dict[str, Any]:
        """The parameters of networks trained with this library's defaults at the time of the tables."""
        earlier = {"pieces": 0, "offsets": (), "members": 16, "snapshots": 4}
        return self.shared | earlier | ({"epochs": QUICK_EPOCHS} if self.quick else {})


@dataclass(frozen=True)
class Method:
    """A row of a table.

    Parameters
    ----------
    name : str
        As the tables show it.
    title : str
        What it is, in a few words.
    make : callable
        From a setting to an estimator.
    joint : bool
        Whether it is trained for all notions of the table at once.
    told : bool
        Whether it uses the sensitive attributes for predictions.
    printed_as : str
        The paper's row that it is compared with; empty for methods that the paper does not have.
    taken_over : bool
        Whether the paper took that row from Lohaus et al. 2020.
    needs : tuple of str
        The optional packages it needs.
    weighting : Weighting, optional
        Of published networks: methods with the same `make` are trained side by side, each with its weighting of
        accuracy and its gaps. `Fixed` has two weights, of accuracy and of each gap.
    rule : selection, optional
        Chooses from the front of a published network, if not LINMAP.
    """

    name: str
    title: str
    make: Callable[[Setting], Any]
    joint: bool = False
    told: bool = False
    printed_as: str = ""
    taken_over: bool = False
    needs: tuple[str, ...] = ()
    weighting: Weighting | None = None
    rule: Selection | None = None


def _published(cls: Any, setting: Setting, code: bool = False, **parameters: Any) -> Any:
    rate = {"learning_rate": setting.code_learning_rate} if code else {}
    return cls.as_published(code=code, **setting.published | rate | parameters)


def _default(cls: Any, setting: Setting, **parameters: Any) -> Any:
    return cls(**setting.default | parameters)


def _fixed(cls: Any, setting: Setting, quick: dict[str, Any] | None = None, **parameters: Any) -> Any:
    """Make an estimator without epochs; `quick` is what saves it time."""
    return cls(**setting.shared | parameters | ((quick or {}) if setting.quick else {}))


_TEXT = partial(_published, FairNetClassifier)
_CODE = partial(_published, FairNetClassifier, code=True)
_PLAIN_STEPS = partial(_published, FairNetClassifier, optimizer=SGD)
_ACCURACY = Fixed((1, 0))

PAPER = (
    Method(
        "MF1",
        "common descent, one notion, as the paper writes",
        _TEXT,
        weighting=MinNorm(),
        printed_as="MF1",
    ),
    Method("MF1 code", "the same as its code ran", _CODE, weighting=PublishedFrankWolfe(), printed_as="MF1"),
    Method(
        "MF1 SGD",
        "as the paper writes, with plain gradient steps",
        _PLAIN_STEPS,
        weighting=MinNorm(),
        printed_as="MF1",
    ),
    Method(
        "MF2",
        "common descent, both notions, as the paper writes",
        _TEXT,
        weighting=MinNorm(),
        joint=True,
        printed_as="MF2",
    ),
    Method(
        "MF2 code",
        "the same as its code ran",
        _CODE,
        weighting=PublishedFrankWolfe(),
        joint=True,
        printed_as="MF2",
    ),
    Method("SFa", "SearchFair, linear", partial(_fixed, SearchFairClassifier), printed_as="SFa", taken_over=True),
    Method(
        "SFa RBF",
        "SearchFair, RBF kernel",
        partial(_fixed, SearchFairClassifier, kernel="rbf"),
        printed_as="SFa",
        taken_over=True,
    ),
    Method(
        "Zaf",
        "Zafar, no covariance allowed",
        partial(_fixed, ZafarClassifier, bounds=(0.0,)),
        printed_as="Zaf",
        taken_over=True,
    ),
    Method(
        "Cot",
        "Cotter, linear, no gap allowed",
        partial(_fixed, CotterClassifier, tolerance=0.0, quick={"steps": 50}),
        printed_as="Cot",
        taken_over=True,
    ),
    Method(
        "Unc",
        "accuracy alone, archived, LINMAP",
        _TEXT,
        printed_as="Unc",
        weighting=_ACCURACY,
    ),
    Method(
        "Unc last",
        "accuracy alone, its most accurate snapshot",
        _TEXT,
        printed_as="Unc",
        weighting=_ACCURACY,
        rule=Weighted({"error": 1}),
    ),
    Method("Con", "the majority's label for everyone", partial(_fixed, ConstantClassifier), printed_as="Con"),
)

OURS = (
    Method("mamofair", "our default population", partial(_default, FairNetClassifier)),
    Method("mamofair joint", "our default population, both notions", partial(_default, FairNetClassifier), joint=True),
)

PEERS = (
    Method(
        "EG",
        "fairlearn ExponentiatedGradient on LightGBM",
        partial(_fixed, ExponentiatedGradientClassifier, quick={"bounds": (0.05,)}),
        needs=("fairlearn", "lightgbm"),
    ),
    Method(
        "GS",
        "fairlearn GridSearch on LightGBM",
        partial(_fixed, GridSearchClassifier, quick={"grid_size": 3}),
        needs=("fairlearn", "lightgbm"),
    ),
    Method(
        "TO",
        "fairlearn ThresholdOptimizer on LightGBM",
        partial(_fixed, ThresholdOptimizerClassifier),
        told=True,
        needs=("fairlearn", "lightgbm"),
    ),
    Method("fairret", "fairret's norm loss, our network", partial(_default, FairretClassifier), needs=("fairret",)),
    Method(
        "OxonFair",
        "OxonFair on LightGBM",
        partial(_fixed, OxonFairClassifier),
        told=True,
        needs=("oxonfair", "lightgbm"),
    ),
)

FRONTS = (
    Method(
        "M-MAMO-fair",
        "common descent, as the paper writes",
        _TEXT,
        weighting=MinNorm(),
        printed_as="M-MAMO-fair",
    ),
    Method(
        "M-MAMO-fair code",
        "the same as its code ran",
        _CODE,
        weighting=PublishedFrankWolfe(),
        printed_as="M-MAMO-fair",
    ),
    Method(
        "Sum of losses",
        "the sum of all objectives",
        _TEXT,
        weighting=Fixed((1, 1)),
        printed_as="Sum of losses",
    ),
    Method(
        "Sum, normalised",
        "the sum of all objectives, each divided by its initial value",
        _TEXT,
        weighting=EqualShares(),
        printed_as="Sum of losses",
    ),
    Method(
        "Unconstrained",
        "accuracy alone, archived",
        _TEXT,
        printed_as="Unconstrained",
        weighting=_ACCURACY,
    ),
)

#: Every method that a table may name.
METHODS = {method.name: method for method in (*PAPER, *OURS, *PEERS, *FRONTS)}
