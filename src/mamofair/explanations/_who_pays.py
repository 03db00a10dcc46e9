"""Who pays: whose decisions change between two models, in which direction, and why a gap shrank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.groups import read_groups
from mamofair.explanations._flows import Flows, flows_from_decisions, flows_from_tallies
from mamofair.explanations._gap_changes import decompose, describe_gap, describe_rates
from mamofair.explanations._wording import format_count, gap_phrase, group_phrase, trend_phrase
from mamofair.fronts import Criterion, Front, Tally
from mamofair.notions import ALL, FN, FP, TN, TP, Notion, Rate, as_notions, column

__all__ = ["WhoPays", "who_pays", "who_pays_by_counts", "who_pays_on_front"]

_SHARED = ("before", "after", "net")  # counts that are also given as shares of the rows


@dataclass(frozen=True, eq=False)
class WhoPays:
    """What changes for whom from one model to another, on the same rows. Printing it gives plain sentences.

    For each rate of each notion, let u and v be the groups' rates before and after, oriented so that more is better for
    the people concerned: a favorable decision is better for whoever gets it (so a larger P(ŷ=1 | y=0) is better, too);
    for rates of correct decisions, a correct one is. Then

    - `by_gains` is how much the gap would shrink if the losses were undone: gap(u) − gap(max(u, v));
    - `by_losses` is how much it would shrink if the gains were undone: gap(u) − gap(min(u, v));
    - **levelling down** is a gap that shrank, but would not have without the losses: gap(v) < gap(u) and by_gains ≤ 0.
      With two groups: the better-off group got worse and the other one no better.

    With two groups that do not swap places, the two parts add up to the total change. The flag describes these rows and
    is not a test: a small change may be due to chance.

    >>> changes = who_pays([1, 0, 1, 1], [1, 0, 1, 0], sensitive_features={"sex": ["F", "F", "M", "M"]})
    >>> print(changes)
    The decision changes for 1 of 4 people: 0 get a favorable one, 1 loses it.
    Of 1,000 people whose sex is F, as many as before are decided favorably; of 1,000 people whose sex is M, 500 fewer.
    The gap shrinks from 0.500 to 0.000, only because group M lost (levelling down).
    >>> changes.frame()[["group", "before", "after", "gained", "lost"]]
          group  before  after  gained  lost
    0  everyone     3.0    2.0     0.0   1.0
    1         F     1.0    1.0     0.0   0.0
    2         M     2.0    1.0     0.0   1.0
    """

    flows: Flows
    criteria: tuple[Criterion, ...]

    def frame(self) -> pd.DataFrame:
        """Return how many people get a favorable decision before and after, by group and label.

        Columns: `attribute`, `group` (first everyone), `label` (all, and where labels are known favorable and
        unfavorable), `rows`, `before` and `after` (the number of favorable decisions), `net`, `gained` and `lost` (how
        many people gained and lost a favorable decision; NaN if only counts are known), and the shares `before_share`,
        `after_share`, `net_share` of the rows.
        """
        everyone = ("everyone", "everyone", self.flows.everyone)
        groups = [
            (name, value, table)
            for name, values in self.flows.names.items()
            for value, table in zip(values, self.flows.tables[name], strict=False)  # all but the unknown group
        ]
        rows = [
            {"attribute": attribute, "group": group, "label": label} | self._numbers(part)
            for attribute, group, table in [everyone, *groups]
            for label, part in self._labels(table)
        ]
        frame = pd.DataFrame(rows)
        shares = {f"{name}_share": frame[name] / frame["rows"].where(frame["rows"] > 0) for name in _SHARED}
        return frame.assign(**shares)

    def _labels(self, table: np.ndarray) -> list[tuple[str, np.ndarray]]:
        parts = [("all", table.sum(axis=0))]
        return [*parts, ("favorable", table[0]), ("unfavorable", table[1])] if self.flows.labelled else parts

    def _numbers(self, table: np.ndarray) -> dict[str, float]:
        before, after = table[0].sum(), table[:, 0].sum()
        gained, lost = (table[1, 0], table[0, 1]) if self.flows.paired else (np.nan, np.nan)
        numbers = {"rows": table.sum(), "before": before, "after": after, "net": after - before}
        return {name: float(value) for name, value in (numbers | {"gained": gained, "lost": lost}).items()}

    def rates(self) -> pd.DataFrame:
        """Return each rate for each group: `notion`, `attribute`, `meaning`, `group`, `before` and `after`."""
        tables = []
        for change in self._changes:
            groups = list(self.flows.names[change.attribute])
            tables.append(pd.DataFrame(change.key | {"group": groups, "before": change.before, "after": change.after}))
        return pd.concat(tables, ignore_index=True)

    def gaps(self) -> pd.DataFrame:
        """Return how the gap of each rate changed, and why.

        Columns: `notion`, `attribute`, `meaning` (the rate), `before`, `after`, `by_gains`, `by_losses` and
        `levelling_down` (None if it is unclear what is better, or a rate is undefined).
        """
        return pd.DataFrame(self.gap_records()).astype({"levelling_down": object})

    def gap_records(self) -> list[dict[str, Any]]:
        """Return the rows of `gaps()` as dictionaries: frames for all points of a front would take seconds."""
        return [change.key | change.parts for change in self._changes]

    @cached_property
    def _changes(self) -> list["_Change"]:
        """How each rate of each notion changed."""
        changes = []
        for notion, attribute in self.criteria:
            old, new = (self.flows.confusion(attribute, moment) for moment in (False, True))
            rows = np.asarray(old.mass(ALL))
            for rate in notion.rates:
                before, after = rate(old), rate(new)
                parts = decompose(notion, rate, before, after, rows)
                changes.append(_Change(notion, rate, attribute, before, after, parts))
        return changes

    def sentences(self, people: Mapping[Any, str] | None = None) -> list[str]:
        """Return sentences on what changes, for readers who do not know fairness metrics.

        Parameters
        ----------
        people
            Plural nouns for groups, such as `{"F": "women", "M": "men"}`.
        """
        names = {} if people is None else people
        sentences = [_who_changes(self._numbers(self.flows.everyone.sum(axis=0)))]
        if self.flows.labelled:
            sentences.append(f"The share of wrong decisions {trend_phrase(*self.flows.errors())}.")
        for change in self._changes:
            sentences += self._about(change, names)
        return sentences

    def _about(self, change: "_Change", names: Mapping[Any, str]) -> list[str]:
        notion, rate, attribute, before, after, parts = change
        gap = "The gap" if len(self.criteria) == 1 else _capital(gap_phrase(column(notion, attribute)))
        gap += f" (of {rate})" if len(notion.rates) > 1 else ""
        groups = self.flows.names[attribute]
        sentences = [f"{gap} {describe_gap(rate, groups, names, before, after, parts)}."]
        if not groups:  # all of them are unknown
            return sentences
        counted = [group_phrase(attribute, group, names, rate) for group in groups]
        return [describe_rates(rate, counted, before, after), *sentences]

    def __str__(self) -> str:
        return "\n".join(self.sentences())


class _Change(NamedTuple):
    """A rate of a notion for each group of an attribute, before and after, and the parts of its gap."""

    notion: Notion
    rate: Rate
    attribute: str
    before: np.ndarray
    after: np.ndarray
    parts: dict[str, Any]

    @property
    def key(self) -> dict[str, str]:
        """What tables call it."""
        return {"notion": self.notion.name, "attribute": self.attribute, "meaning": str(self.rate)}


def who_pays(
    before: Any,
    after: Any,
    *,
    y_true: Any = None,
    sensitive_features: Any,
    notions: Notion | str | Sequence[Notion | str] = "demographic_parity",
    favorable: Any = None,
    sample_weight: Any = None,
) -> WhoPays:
    """Compare two models' decisions on the same rows, such as two points of a front.

    Parameters
    ----------
    before, after
        The predicted labels of both models.
    y_true
        The true labels, if known; without them, only notions that need no labels (demographic parity) are possible.
    sensitive_features
        A Series, a frame or an array; each column is an attribute. Rows of unknown group count for everyone only.
    notions
        One or several, by name or value, each for every attribute.
    favorable
        The label that counts as positive; by default the larger of 0/1, booleans or −1/1. Others must be named.
    sample_weight
        The weight of each row; numbers of people are then sums of weights.

    Examples
    --------
    >>> changes = who_pays([1, 0, 0, 1], [1, 1, 0, 1], sensitive_features={"sex": ["F", "F", "M", "M"]})
    >>> changes.frame().loc[1:, ["group", "before", "after", "gained", "lost"]]
      group  before  after  gained  lost
    1     F     1.0    2.0     1.0   0.0
    2     M     1.0    1.0     0.0   0.0
    """
    wanted = as_notions(notions)
    flows = flows_from_decisions(before, after, y_true, sensitive_features, favorable, sample_weight)
    for notion in wanted:
        if not flows.labelled and any(_needs_labels(rate) for rate in notion.rates):
            raise ValueError(
                f"{notion.name} needs labels: found none. Pass them as `y_true`, or ask for demographic_parity."
            )
    return WhoPays(flows, tuple((notion, attribute) for attribute in flows.names for notion in wanted))


def who_pays_on_front(front: Front, before: int, after: int, *, sensitive_features: Any) -> WhoPays:
    """Compare two points of a front by their counts on the validation rows: the net change of each group.

    Counts do not show who changed, so `gained` and `lost` are NaN. For these, pass both points' predictions to
    `who_pays`.

    Parameters
    ----------
    front
        The front, such as `model.front_`.
    before, after
        Rows of `front.frame()`.
    sensitive_features
        Those passed to `fit`; they give the names of the groups.
    """
    groups = read_groups(sensitive_features).crossed()
    wanted = list(dict.fromkeys(attribute for _, attribute in front.criteria))
    missing = [name for name in wanted if name not in groups.names]
    if missing:
        raise ValueError(f"`sensitive_features` must have the attributes of the front: {quote(missing[0])} is missing.")
    names = {name: groups.values[groups.names.index(name)] for name in wanted}
    return who_pays_by_counts(front[before].valid, front[after].valid, names, front.criteria)


def who_pays_by_counts(
    before: Tally, after: Tally, names: Mapping[str, tuple[Any, ...]], criteria: Sequence[Criterion]
) -> WhoPays:
    """Compare two models by their counts on the same rows, such as test rows; `gained` and `lost` are NaN.

    Parameters
    ----------
    before, after
        The counts of both models.
    names
        The names of each attribute's groups, in the order of the counts.
    criteria
        The gaps to explain.
    """
    compared = {attribute: names[attribute] for _, attribute in criteria}
    return WhoPays(flows_from_tallies(before, after, compared), tuple(criteria))


def _needs_labels(rate: Rate) -> bool:
    return rate.given != ALL or rate.event not in (TP | FP, FN | TN)


def _who_changes(everyone: dict[str, float]) -> str:
    gained, lost, rows = everyone["gained"], everyone["lost"], format_count(everyone["rows"])
    if np.isnan(gained):
        was, now = (format_count(everyone[moment]) for moment in ("before", "after"))
        return f"Of {rows} people, {now} {'is' if now == '1' else 'are'} decided favorably; before: {was}."
    if not gained + lost:
        return "No decision changes: nobody gains and nobody pays."
    gets, loses = "gets" if gained == 1 else "get", "loses" if lost == 1 else "lose"
    changes = f"The decision changes for {format_count(gained + lost)} of {rows} people"
    return f"{changes}: {format_count(gained)} {gets} a favorable one, {format_count(lost)} {loses} it."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
