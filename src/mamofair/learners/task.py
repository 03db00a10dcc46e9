"""The task of a search: labels, groups and gaps, fixed before training."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from mamofair._messages import PATH, cut, quote
from mamofair._rows.groups import Groups
from mamofair._rows.labels import favorable_label
from mamofair.fronts import Criterion
from mamofair.notions import Notion, as_notion
from mamofair.performance import ERROR, Cost

__all__ = ["Task", "read_notions"]


@dataclass(frozen=True, eq=False)
class Task:
    """What a search is asked for.

    The labels, which of them is favorable, the groups of each attribute, its notions, the seed, the performance besides
    the gaps, the smallest and largest share of people that can be selected, and the names of custom objectives.
    """

    classes: np.ndarray
    favorable: Any
    groups: Mapping[str, tuple[Any, ...]]
    notions: Mapping[str, tuple[Notion, ...]]
    seed: int
    performance: Cost = ERROR
    select_rate: tuple[float, float] | None = None
    custom: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        classes: np.ndarray,
        groups: Groups,
        *,
        notions: Any,
        favorable: Any,
        seed: int,
        performance: Cost = ERROR,
        select_rate: tuple[float, float] | None = None,
        custom: tuple[str, ...] = (),
    ) -> "Task":
        """Return the task for these labels, groups and user settings."""
        values = dict(zip(groups.names, groups.values, strict=True))
        label, notions_by_attribute = favorable_label(classes, favorable=favorable), read_notions(notions, groups.names)
        for name, notion_list in notions_by_attribute.items():
            for notion in notion_list:
                notion.comparisons(len(values[name]))  # raises if the strata are unknown
        if performance.name in custom:
            raise ValueError(
                f"The name of an objective must be unique: found {quote(performance.name)}, the front's first column."
            )
        return cls(classes, label, values, notions_by_attribute, seed, performance, select_rate, custom)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """The gaps besides the performance: a notion and an attribute each."""
        return tuple((notion, name) for name, notions in self.notions.items() for notion in notions)

    @property
    def size(self) -> int:
        """The number of objectives, which are the front's columns."""
        return 1 + len(self.criteria) + len(self.custom)

    @property
    def places(self) -> tuple[int, int]:
        """The places of the favorable and of the unfavorable label among the classes."""
        return (1, 0) if self.classes[1] == self.favorable else (0, 1)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Plain values that another task must share for a search to continue with it."""
        groups = tuple(self.groups.values())
        return self.classes.tolist(), self.favorable, groups, dict(self.notions), self.performance, self.custom


def read_notions(notions: Any, attributes: tuple[str, ...]) -> dict[str, tuple[Notion, ...]]:
    """Return the notions of each attribute.

    >>> [notion.name for notion in read_notions({"sex": ["dp", "tpr"]}, ("sex", "race"))["sex"]]
    ['demographic_parity', 'equal_opportunity']
    """
    by_attribute = notions if isinstance(notions, Mapping) else dict.fromkeys(attributes, _as_list(notions))
    for name in by_attribute:
        if name not in attributes:
            near = get_close_matches(str(name), attributes, n=3) or attributes
            raise ValueError(
                f"`notions` names no attribute with {quote(name)}. Did you mean one of: {cut(', '.join(near), PATH)}?"
            )
    known = {
        name: tuple(dict.fromkeys(map(as_notion, _as_list(notion_list)))) for name, notion_list in by_attribute.items()
    }
    if not any(known.values()):
        raise ValueError("`notions` must ask for at least one notion: found none.")
    return known


def _as_list(notions: Any) -> list[Notion | str]:
    if not isinstance(notions, Notion | str | Iterable):
        raise ValueError(f"`notions` must be a notion, its name, or a list of them: found {quote(notions)}.")
    return [notions] if isinstance(notions, Notion | str) else list(notions)
