"""What users hand to an estimator, read and checked once."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from jaxtyping import Int
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from mamofair._messages import PATH, cut, quote, quote_some
from mamofair._rows.columns import as_array
from mamofair._rows.groups import Groups
from mamofair._rows.labels import as_column
from mamofair._rows.splits import stratified_order
from mamofair.descent import Fixed, Member, Weighting, rays
from mamofair.fronts import Counter, Criterion
from mamofair.notions import Notion, as_notion
from mamofair.objectives import CrossEntropy, Gap, Objective, SquaredError
from mamofair.relaxations import Relaxation, Sigmoid

MISSING = (
    "`fit` needs `sensitive_features`: without them it could only train an ordinary classifier, silently unfair. "
    "Pass a Series, a frame or an array with one row per sample. In a Pipeline or GridSearchCV, call "
    "sklearn.set_config(enable_metadata_routing=True) first and pass sensitive_features to their `fit`."
)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a data set: features as the estimator wants them, labels (1 is favorable), groups and weights."""

    X: Any
    y: Int[np.ndarray, " n"]
    groups: Groups
    weight: np.ndarray | None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: Any) -> "Rows":
        weight = None if self.weight is None else self.weight[index]
        return Rows(self.X[index], self.y[index], self.groups[index], weight)

    def counter(self) -> Counter:
        """Return what counts decisions on these rows."""
        return Counter.of(self.y, self.groups, self.weight)

    def reference(self, gaps: int) -> list[float]:
        """Return the corner from which the hypervolume is counted: the best constant's error, and 1 for each gap."""
        positive = float(np.average(self.y, weights=self.weight))
        return [min(positive, 1 - positive), *[1.0] * gaps]


def hold_back(rows: Rows, fractions: tuple[Any, ...], rng: np.random.Generator) -> list[Rows]:
    """Return the training part, then a part for each fraction, all with the same shares of labels and groups.

    The first fraction may also be a mask of the rows to take.
    """
    if np.ndim(fractions[0]):
        marked = _read_mask(fractions[0], len(rows))
        train, *others = hold_back(rows[~marked], fractions[1:], rng)
        return [train, rows[marked], *others]
    sizes = [round(fraction * len(rows)) or int(fraction > 0) for fraction in fractions]
    if sum(sizes) >= len(rows):
        raise ValueError(
            f"There must be rows left to train on: found n_samples = {len(rows)}, of which {sum(sizes)} are held back."
        )
    order = stratified_order(np.column_stack([rows.y, rows.groups.codes]), rng)
    parts = np.split(order, np.cumsum([len(rows) - sum(sizes), *sizes])[:-1])
    return [rows[np.sort(part)] for part in parts]


def _read_mask(mask: Any, rows: int) -> np.ndarray:
    marked = np.asarray(mask)
    if marked.dtype != bool or marked.shape != (rows,) or not marked.any():
        raise ValueError(
            "A mask as `validation_fraction` must have True or False for each row with a weight, some of them True: "
            f"found {marked.dtype} of shape {marked.shape} for {rows} rows."
        )
    return marked


def warn_of_unmeasured(notion: Notion, attribute: str, valid: Rows) -> None:
    """Warn of groups whose rates cannot be measured on the rows that are held back."""
    index = valid.groups.names.index(attribute)
    values, codes = valid.groups.values[index], valid.groups.codes[:, index]
    for rate in notion.rates:
        present = np.unique(codes[np.isin(valid.y, rate.labels)])
        absent = [value for code, value in enumerate(values) if code not in present]
        if absent:
            warnings.warn(
                f"{notion.name}[{attribute}] cannot be measured for {quote_some(absent)}: no held-back row tells "
                f"{rate} there. Hold back more rows with `validation_fraction`, merge groups, or set them to missing.",
                stacklevel=6,  # the caller of `fit`
            )


def read_classes(y: Any, rows: int, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels as a column and the two classes, sorted, of the rows that have a weight."""
    labels = as_column(column_or_1d(as_array(y, "y"), warn=True), "y")
    if len(labels) != rows:
        raise ValueError(f"`y` must have one label per sample: found {len(labels)} for {rows} samples.")
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    classes = np.unique(labels if weight is None else labels[weight > 0])
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}: found the "
            f"classes {', '.join(cut(str(one)) for one in classes[:6])}{', …' if len(classes) > 6 else ''}. "
            "Merge or drop some."
        )
    if len(classes) < 2:
        raise ValueError(f"`y` must have two classes: found one class only, {quote(classes.tolist()[0])}.")
    return labels, classes


def read_notions(notions: Any, attributes: tuple[str, ...]) -> dict[str, tuple[Notion, ...]]:
    """Return the notions asked for of each attribute.

    >>> [notion.name for notion in read_notions({"sex": ["dp", "tpr"]}, ("sex", "race"))["sex"]]
    ['demographic_parity', 'equal_opportunity']
    """
    wanted = notions if isinstance(notions, Mapping) else dict.fromkeys(attributes, _listed(notions))
    for name in wanted:
        if name not in attributes:
            near = get_close_matches(str(name), attributes, n=3) or attributes
            raise ValueError(
                f"`notions` names no attribute with {quote(name)}. Did you mean one of: {cut(', '.join(near), PATH)}?"
            )
    found = {name: tuple(dict.fromkeys(map(as_notion, _listed(asked)))) for name, asked in wanted.items()}
    if not any(found.values()):
        raise ValueError("`notions` must ask for at least one notion: found none.")
    return found


def _listed(notions: Any) -> list[Notion | str]:
    if not isinstance(notions, Notion | str | Iterable):
        raise ValueError(f"`notions` must be a notion, its name, or a list of them: found {quote(notions)}.")
    return [notions] if isinstance(notions, Notion | str) else list(notions)


def read_members(members: Any, k: int, **ladder: float) -> list[Member]:
    """Return the members of the population, given their weightings, or their number and how far `rays` reach."""
    if isinstance(members, int | np.integer):
        if members < 1:
            raise ValueError(f"`members` must be at least 1: found {members}.")
        members = rays(k, int(members), **ladder)
    listed = list(members) if isinstance(members, Iterable) else []
    if not listed or not all(isinstance(m, Member | Weighting) and not isinstance(m, type) for m in listed):
        raise ValueError(
            f"`members` must be a number, or a list of weightings such as MinNorm(): found {quote(members)}."
        )
    return [member if isinstance(member, Member) else Member(member) for member in listed]


def read_objectives(
    criteria: Iterable[Criterion],
    relaxation: Relaxation | Mapping[Any, Relaxation],
    weightings: Iterable[Weighting],
    anchor: float,
    anchor_loss: CrossEntropy | SquaredError = CrossEntropy(),
) -> list[Objective]:
    """Return what to make small: the cross-entropy, and each gap, without an anchor if all weights are `Fixed`."""
    anchor = 0.0 if all(isinstance(weighting, Fixed) for weighting in weightings) else anchor
    gaps = [Gap(notion, name, relaxation_of(notion, relaxation), anchor, anchor_loss) for notion, name in criteria]
    return [CrossEntropy(), *gaps]


def relaxation_of(notion: Notion, given: Relaxation | Mapping[Any, Relaxation]) -> Relaxation:
    """Return the relaxation to train a notion with; those not named in a mapping have the default."""
    if isinstance(given, Relaxation):
        return given
    return {as_notion(name): relaxation for name, relaxation in given.items()}.get(notion, Sigmoid(3))
