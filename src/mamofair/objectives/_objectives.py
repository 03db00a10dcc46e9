"""What training minimises: losses and relaxed gaps."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from mamofair._messages import quote, quote_some
from mamofair._rows.batches import Batch
from mamofair._rows.groups import Groups
from mamofair._torch import Tensor, torch
from mamofair.notions import ALL, Confusion, Notion, Rate, column
from mamofair.objectives._precision import full_precision
from mamofair.relaxations import Relaxation, Sigmoid

#: The smallest number that a ratio divides by: if hardly anyone is selected, its gradient would be unbounded.
LEAST_RATE = 1e-3


@runtime_checkable
class Objective(Protocol):
    """A function from logits ``(..., n)`` and their batch to values ``(...)`` to minimise, one for each member.

    >>> class Confidence:
    ...     name = "confidence"
    ...     def __call__(self, logits, batch):
    ...         return torch.sigmoid(logits.abs()).mean(-1)
    >>> isinstance(Confidence(), Objective)
    True
    """

    def __call__(self, logits: Float[Tensor, "*members n"], batch: Batch, /) -> Float[Tensor, "*members"]:
        """Return the objective's value."""
        ...


@dataclass(frozen=True)
class CrossEntropy:
    """The mean cross-entropy of the labels, −log σ(±f); `weights` are those of rows with y = 0 and y = 1.

    >>> import torch
    >>> from mamofair.objectives import Batch, read_groups
    >>> y = [1, 0]
    >>> batch = Batch.of(torch.zeros(2, 1), y, read_groups(["f", "m"]).memberships(y))
    >>> CrossEntropy()(torch.tensor([0.0, 0.0]), batch)
    tensor(0.6931)
    """

    weights: tuple[float, float] = (1.0, 1.0)

    @full_precision
    def __call__(self, logits: Float[Tensor, "*members n"], batch: Batch) -> Float[Tensor, "*members"]:
        """Return the weighted mean over rows."""
        labels = batch.y.expand_as(logits)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
        return mean_over_rows(losses if self.is_even else losses * self.weights_of(batch.y), batch)

    @property
    def is_even(self) -> bool:
        """Whether rows of both labels have weight one."""
        return self.weights == (1.0, 1.0)

    def weights_of(self, y: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Return the weights of rows with these labels."""
        negative, positive = self.weights
        return negative + (positive - negative) * y

    def __str__(self) -> str:
        return "cross_entropy"


@dataclass(frozen=True)
class SquaredError:
    """The mean squared error of the probabilities, (σ(f) − y)²; the anchor in the paper's code.

    >>> import torch
    >>> from mamofair.objectives import Batch, read_groups
    >>> y = [1, 0]
    >>> batch = Batch.of(torch.zeros(2, 1), y, read_groups(["f", "m"]).memberships(y))
    >>> SquaredError()(torch.tensor([0.0, 0.0]), batch)
    tensor(0.2500)
    """

    @full_precision
    def __call__(self, logits: Float[Tensor, "*members n"], batch: Batch) -> Float[Tensor, "*members"]:
        """Return the weighted mean over rows."""
        return mean_over_rows((torch.sigmoid(logits) - batch.y).square(), batch)

    def __str__(self) -> str:
        return "squared_error"


def mean_over_rows(values: Float[Tensor, "*members n"], batch: Batch) -> Float[Tensor, "*members"]:
    """Return the mean over the rows of a batch, by their weights if they have some."""
    return values.mean(-1) if batch.weight is None else values @ batch.weight.to(values) / batch.weight.sum()


@dataclass(frozen=True)
class Gap:
    """The relaxed gap of a notion for an attribute, plus an accuracy term: `|gap| + anchor·anchor_loss`.

    The gap is the largest difference of two groups' rates, with the indicator of ŷ = 1 relaxed (Padh et al. 2021, Eq.
    11 and 16); for a notion that compares by ratio, that difference divided by the largest rate. Without the anchor, a
    model that minimises only this would become constant.

    In a batch, a group with a (relaxed) mass of less than one row under a rate's condition is ignored; if fewer than
    two groups are left, the gap is 0, without a gradient.

    Departs: the paper's equations leave out the absolute value (its code does not), and divide by all rows of a group
    for equal opportunity, where its definition asks for the rows with y = 1.

    >>> import torch
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> from mamofair.objectives import Batch, read_groups
    >>> y = [1, 0, 1, 0]
    >>> batch = Batch.of(torch.zeros(4, 1), y, read_groups({"sex": ["f", "f", "m", "m"]}).memberships(y))
    >>> Gap(DEMOGRAPHIC_PARITY, "sex")(torch.tensor([-1.0, -1, -1, 1]), batch)
    tensor(0.4526)
    """

    notion: Notion
    attribute: str
    relaxation: Relaxation = Sigmoid(3)
    anchor: float = 0.0
    anchor_loss: CrossEntropy | SquaredError = CrossEntropy()

    def __post_init__(self) -> None:
        if not isinstance(self.notion, Notion):
            raise ValueError(
                f"`notion` must be a notion such as mamofair.notions.EQUAL_OPPORTUNITY: found {quote(self.notion)}. "
                "`mamofair.notions.as_notion` returns the notion of a name."
            )
        if not isinstance(self.relaxation, Relaxation):
            raise ValueError(f"`relaxation` must be a relaxation such as Sigmoid(3): found {quote(self.relaxation)}.")
        if self.notion.conditions_on_prediction and not self.relaxation.bounded:
            raise ValueError(
                f"{self.notion.name} is conditioned on the prediction and needs a relaxation within [0, 1], because it "
                f"divides by the relaxed number of predictions: found {self.relaxation}. Use Sigmoid or Tanh."
            )
        if self.notion.is_ratio and not self.relaxation.bounded:
            raise ValueError(
                f"{self.notion.name} divides by the largest rate and needs a relaxation within [0, 1]: found "
                f"{self.relaxation}. Use Sigmoid or Tanh."
            )
        if self.anchor < 0:
            raise ValueError(f"`anchor` must not be negative: found {self.anchor}.")

    @full_precision
    def __call__(self, logits: Float[Tensor, "*members n"], batch: Batch) -> Float[Tensor, "*members"]:
        """Return the relaxed gap and its anchor."""
        positive, negative = self.relaxation(logits), self.relaxation.negative(logits)
        confusion = Confusion.of_rows(positive, batch.memberships_of(self.attribute), negative)
        gaps = [_distance(self.notion, confusion, rate, batch.one_row) for rate in self.notion.rates]
        gap = gaps[0] if len(gaps) == 1 else torch.stack(gaps).amax(0)
        return gap + self.anchor * self.anchor_loss(logits, batch) if self.anchor else gap

    def __str__(self) -> str:
        return column(self.notion, self.attribute)


def _distance(notion: Notion, confusion: Confusion, rate: Rate, one_row: float | Tensor) -> Float[Tensor, "*members"]:
    """Return the distance between the groups' rates; within strata, the worst or the mean."""
    event, given = confusion.mass(rate.event), confusion.mass(rate.given)
    if notion.over is None:
        return _span(notion.is_ratio, event, given, one_row)
    blocks = notion.comparisons(event.shape[-1])
    spans = [_span(notion.is_ratio, event[..., block], given[..., block], one_row) for block in blocks]
    if notion.over == "worst":
        return torch.stack(spans).amax(0)
    rows = torch.stack([confusion.mass(ALL)[..., block].sum() for block in blocks])
    several = torch.stack([(given[..., block] >= one_row).sum(-1) >= 2 for block in blocks], dim=-1)
    weights = torch.where(several, rows, 0.0)
    return (torch.stack(spans, dim=-1) * weights).sum(-1) / weights.sum(-1).clamp(min=one_row)


def _span(
    is_ratio: bool, event: Float[Tensor, "*members groups"], given: Float[Tensor, "*groups"], one_row: float | Tensor
) -> Float[Tensor, "*members"]:
    """Return the distance between the rates of the groups that have a row which meets the condition."""
    counts = given >= one_row
    # An ignored group divides by one, not by zero: a NaN would survive the masks in the gradient.
    rates = event / torch.where(counts, given, 1.0)
    high = torch.where(counts, rates, -torch.inf).amax(-1)
    low = torch.where(counts, rates, torch.inf).amin(-1)
    difference = torch.where(counts.sum(-1) >= 2, high - low, 0.0)
    return difference / high.clamp(min=LEAST_RATE) if is_ratio else difference


def require_rates(notion: Notion, attribute: str, groups: Groups, y: np.ndarray) -> None:
    """Raise a `ValueError` unless every rate of the notion is defined in every group of the attribute.

    Parameters
    ----------
    notion, attribute
        The gap to train on.
    groups, y
        The whole training set: group memberships, and labels with 1 for favorable.

    Examples
    --------
    >>> from mamofair.notions import EQUAL_OPPORTUNITY
    >>> from mamofair.objectives import read_groups
    >>> require_rates(EQUAL_OPPORTUNITY, "sex", read_groups({"sex": ["f", "m"]}), np.array([1, 1]))
    """
    index = groups.names.index(attribute)
    values, codes = groups.values[index], groups.codes[:, index]
    if len(values) < 2:
        raise ValueError(f"Attribute {quote(attribute)} must have at least two groups: found {quote_some(values)}.")
    for code, value in enumerate(values):
        labels = set(y[codes == code].tolist())
        for rate in notion.rates:
            if not labels.intersection(rate.labels):
                rows = "row" if len(rate.labels) == 2 else f"row with y={rate.labels[0]}"
                raise ValueError(
                    f"{notion.name} compares {rate} between groups, but group {quote(value)} of {quote(attribute)} has "
                    f"no {rows} in the training data. Merge it with another group, set it to missing, "
                    "or choose another notion."
                )
