"""What users hand to an estimator, read and checked once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from jaxtyping import Int
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from mamofair.descent import Weighting, rays
from mamofair.groups import Groups
from mamofair.notions import Notion, as_notion
from mamofair.pareto import Counter
from mamofair.relaxations import Relaxation, Sigmoid
from mamofair.splits import stratified_order
from mamofair.training import Member

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


def hold_back(rows: Rows, fractions: tuple[float, ...], rng: np.random.Generator) -> list[Rows]:
    """Return the training part, then a part for each fraction, all with the same shares of labels and groups."""
    for fraction in fractions:
        if not 0 <= fraction < 1:
            raise ValueError(f"A fraction of rows to hold back must be in [0, 1): found {fraction!r}.")
    sizes = [round(fraction * len(rows)) or int(fraction > 0) for fraction in fractions]
    if sum(sizes) >= len(rows):
        raise ValueError(
            f"There must be rows left to train on: found n_samples = {len(rows)}, of which {sum(sizes)} are held back."
        )
    order = stratified_order(np.column_stack([rows.y, rows.groups.codes]), rng)
    parts = np.split(order, np.cumsum([len(rows) - sum(sizes), *sizes])[:-1])
    return [rows[np.sort(part)] for part in parts]


def read_classes(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels as a column and the two classes, sorted."""
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    classes = np.unique(labels)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(labels)}: found the "
            f"classes {', '.join(map(str, classes[:6]))}{', …' if len(classes) > 6 else ''}. Merge or drop some."
        )
    if len(classes) < 2:
        raise ValueError(f"`y` must have two classes: found one class only, {classes[0]!r}.")
    return labels, classes


Notions = Notion | str | Iterable[Notion | str] | Mapping[str, Any]


def read_notions(notions: Notions, attributes: tuple[str, ...]) -> dict[str, tuple[Notion, ...]]:
    """Return the notions asked for of each attribute.

    >>> [notion.name for notion in read_notions({"sex": ["dp", "tpr"]}, ("sex", "race"))["sex"]]
    ['demographic_parity', 'equal_opportunity']
    """
    wanted = notions if isinstance(notions, Mapping) else dict.fromkeys(attributes, notions)
    for name in wanted:
        if name not in attributes:
            near = get_close_matches(str(name), attributes, n=3) or attributes
            raise ValueError(f"`notions` names no attribute with {name!r}. Did you mean one of: {', '.join(near)}?")
    found = {name: tuple(dict.fromkeys(map(as_notion, _listed(asked)))) for name, asked in wanted.items()}
    if not any(found.values()):
        raise ValueError("`notions` must ask for at least one notion: found none.")
    return found


def _listed(notions: Any) -> list[Notion | str]:
    return [notions] if isinstance(notions, Notion | str) else list(notions)


def read_members(members: Any, k: int) -> list[Member]:
    """Return the members of the population, given their number or their weightings."""
    if isinstance(members, int | np.integer):
        if members < 1:
            raise ValueError(f"`members` must be at least 1: found {members}.")
        members = rays(k, int(members))
    found = [member if isinstance(member, Member) else Member(member) for member in members]
    if not found or not all(isinstance(member.weighting, Weighting) for member in found):
        raise ValueError(f"`members` must be a number, or a list of weightings such as MinNorm(): found {members!r}.")
    return found


def relaxation_of(notion: Notion, given: Relaxation | Mapping[Any, Relaxation]) -> Relaxation:
    """Return the relaxation to train a notion with; those not named in a mapping have the default."""
    if isinstance(given, Relaxation):
        return given
    return {as_notion(name): relaxation for name, relaxation in given.items()}.get(notion, Sigmoid(3))
