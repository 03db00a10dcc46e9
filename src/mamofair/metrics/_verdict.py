"""The verdict on a model: the requested limits, and what independent rows say. Every output shows this value."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from mamofair.fronts import Criterion, Tally
from mamofair.metrics._intervals import tally_intervals
from mamofair.metrics._verdict_parts import CustomValue, SelectedShare
from mamofair.notions import column
from mamofair.performance import ERROR, Cost

__all__ = ["GapVerdict", "Verdict", "gap_verdicts", "worst_answer"]

KeptOrNot = Literal["kept", "not kept", "cannot be told"]
#: How rows relate to the choice, if they are not independent of it.
_ROLES = {"test": "which may have influenced the choice", "validation": "which were also used to choose the model"}
_WORST_FIRST: tuple[KeptOrNot, ...] = ("not kept", "cannot be told", "kept")


@dataclass(frozen=True)
class GapVerdict:
    """A gap with its interval, compared with its limit if it has one.

    `name` is the column of `front.frame()`; `rows` counts rows of known groups. The gap is None if fewer than two
    groups can be compared.
    """

    name: str
    notion: str
    attribute: str
    limit: float | None
    gap: float | None
    low: float
    high: float
    rows: int

    @property
    def answer(self) -> KeptOrNot | None:
        """Whether the whole interval is within the limit, above it, or neither; None without a limit.

        >>> verdict = GapVerdict("dp[sex]", "dp", "sex", limit=0.05, gap=0.055, low=0.042, high=0.068, rows=12_210)
        >>> verdict.answer
        'cannot be told'
        """
        return judge_value(self.limit, self.gap, self.low, self.high)


def judge_value(limit: float | None, value: float | None, low: float, high: float) -> KeptOrNot | None:
    """Return whether a limit is kept; None without a limit, and no answer for a value that is undefined."""
    if limit is None:
        return None
    if value is not None and high <= limit:
        return "kept"
    return "not kept" if value is not None and low > limit else "cannot be told"


@dataclass(frozen=True)
class Verdict:
    """The requested limits, the answer for each gap, the chosen point and why, and whether it was asked for.

    Attributes
    ----------
    asked
        The limits, by column of `front.frame()`.
    confidence
        The requested confidence that limits hold for new rows; None if none was requested.
    gaps
        The answer for each gap.
    measured_on
        The rows that the answers come from: "test", or "validation" if there are no test rows.
    rows
        The number of these rows.
    level
        The confidence level of each interval.
    point
        The chosen row of `front.frame()`.
    why
        How it was chosen.
    stand_in
        Why the chosen point does not meet the request; None if it does.
    certificate
        The outcome of the tests on calibration rows, if any: `status` and `message`.
    unjudged
        The groups with too few rows, which no gap counts: `attribute`, `group` and `rows` of each (None if that must
        not be disclosed).
    performance
        The name of the performance, its value, and both ends of its interval.
    near_constant
        A warning, if the chosen point makes the same decision for nearly everyone and gains little from the rest, or if
        the same decision for everyone would do better.
    is_constant
        Whether it is a constant classifier, which keeps any limit and is of no use.
    by_hand
        Whether a person chose the point, who may have seen the rows that it is judged on.
    caveats
        Sentences on what may make figures worthless, such as a near-copy of the target, or uncertain, such as groups
        with few rows.
    selected
        The share of people selected, compared with the requested share.
    custom
        The values of custom objectives.
    performance_limit
        The largest acceptable value of the performance, if there is one.

    Examples
    --------
    >>> gap = GapVerdict("dp[sex]", "dp", "sex", limit=0.05, gap=0.02, low=0.01, high=0.03, rows=9000)
    >>> error = ("error", 0.15, 0.14, 0.16)
    >>> Verdict({"dp[sex]": 0.05}, None, (gap,), "test", 9000, 0.95, point=3, why="by hand", performance=error).answer
    'kept'
    """

    asked: Mapping[str, float]
    confidence: float | None
    gaps: tuple[GapVerdict, ...]
    measured_on: str
    rows: int
    level: float
    point: int
    why: str
    performance: tuple[str, float, float, float]
    stand_in: str | None = None
    certificate: Mapping[str, Any] | None = None
    unjudged: tuple[Mapping[str, Any], ...] = ()
    near_constant: str | None = None
    is_constant: bool = False
    by_hand: bool = False
    caveats: tuple[str, ...] = ()
    selected: SelectedShare | None = None
    custom: tuple[CustomValue, ...] = ()
    performance_limit: float | None = None

    @property
    def answer(self) -> KeptOrNot | None:
        """The worst answer over all limits; None if there is no limit."""
        return worst_answer(self.gaps)

    @property
    def headline(self) -> str:
        """The answer in a few words.

        It names the rows that the answer is from, because a limit that is kept on test rows may still lack a
        certificate, and any other request that is not met.
        """
        missed = ["the share selected is not kept"] if self.selected and self.selected.answer == "not kept" else []
        missed += [f"the {self.performance[0]} is above its limit"] if self.performance_answer == "not kept" else []
        missed += [f"{one.name} is above its limit" for one in self.custom if one.is_exceeded]
        return "; ".join([self._gap_headline(), *missed])

    def _gap_headline(self) -> str:
        if self.answer is None:
            others = [self.performance_limit, *(one.limit for one in self.custom)]
            other = self._share_sentence() or any(limit is not None for limit in others)
            return f"No limit {'on gaps ' if other else ''}was asked for"
        certified = self.certificate is not None and self.certificate["status"] == "certified"
        limits, worst = len(self.asked), [one for one in self.gaps if one.answer == self.answer]
        which = "the limit" if limits == 1 else f"{len(worst)} of {limits} limits"
        if self.answer == "not kept":
            return f"Not kept: {self.measured_on} rows exceed {which}"
        if self.stand_in is not None:
            return "Not what was asked for: the nearest was chosen"
        if self.answer == "kept" and self.is_constant:
            return "Kept only because everyone gets the same decision"
        if self.answer == "kept":
            return "Kept" if limits == 1 else f"Kept: all {limits} limits"
        if certified:
            return f"Certified, but {self.measured_on} rows alone cannot confirm {which}"
        return "Cannot be told whether the limit is kept" if limits == 1 else f"Cannot be told for {which}"

    def sentences(self) -> list[str]:
        """Return the verdict in plain sentences, the same in every output."""
        # What rows can show comes first, and a column that gives the target away makes all else worthless.
        sentences = [self._asked_sentence(), *self.caveats]
        sentences += [self._gap_sentence(one) for one in self.gaps if one.answer is not None]
        sentences += [self._performance_sentence(), self._share_sentence(), *(one.sentence() for one in self.custom)]
        if self.stand_in is not None:
            sentences.append(f"The chosen model is not what was asked for. {self.stand_in}")
        elif self.certificate is not None:
            sentences.append(str(self.certificate["message"]))
        sentences += [] if self.near_constant is None else [self.near_constant]
        if self.unjudged:
            named = [f"{one['attribute']}={one['group']} ({_say_rows(one)})" for one in self.unjudged]
            sentences.append(f"Too few rows to judge, and left out of the gaps: {', '.join(named)}.")
        return [sentence for sentence in sentences if sentence]

    def _asked_sentence(self) -> str:
        if not self.asked:
            return ""
        values = sorted(set(self.asked.values()))
        every = len(values) == 1 and len(self.asked) == len(self.gaps)
        limits = f"gaps of at most {values[0]:g}" if every else _list_limits(self.asked)
        sure = "" if self.confidence is None else f", with {100 * self.confidence:g}% confidence"
        unseen = self.measured_on == "test" and not self.by_hand
        role = "which played no part in the choice" if unseen else _ROLES[self.measured_on]
        return (
            f"You asked for {limits}{sure}. The answers below come from {self.rows:,} {self.measured_on} rows, {role}."
        )

    def _gap_sentence(self, one: GapVerdict) -> str:
        if one.gap is None:
            return f"{one.name}: cannot be told, since fewer than two groups have rows to compare."
        return (
            f"{one.name}: {one.answer}. The gap is {one.gap:.3f} ({one.low:.3f}–{one.high:.3f} with "
            f"{100 * self.level:g}% confidence), the limit {one.limit:g}."
        )

    @property
    def performance_answer(self) -> KeptOrNot | None:
        """Whether the limit of the performance is kept; None without one."""
        _, value, low, high = self.performance
        return judge_value(self.performance_limit, value, low, high)

    def _performance_sentence(self) -> str:
        """Return the performance beside its limit, if it has one."""
        if self.performance_limit is None:
            return ""
        name, value, low, high = self.performance
        return (
            f"{name}: {self.performance_answer}. It is {value:.3f} on {self.rows:,} {self.measured_on} rows "
            f"({low:.3f}–{high:.3f} with {100 * self.level:g}% confidence), the limit {self.performance_limit:g}."
        )

    def _share_sentence(self) -> str:
        """Return a sentence on how many people are selected, if a share was requested."""
        share = self.selected
        return "" if share is None or share.asked is None else share.sentence(self.measured_on)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON: asked, answer, gaps, chosen and stand-in."""
        name, value, low, high = self.performance
        return {
            "asked": {"limits": dict(self.asked), "confidence": self.confidence},
            "answer": self.answer,
            "headline": self.headline,
            "sentences": self.sentences(),
            "measured_on": {"rows": self.measured_on, "count": self.rows, "confidence": self.level},
            "performance": {"name": name, "value": value, "low": low, "high": high, "limit": self.performance_limit},
            "gaps": [asdict(one) | {"answer": one.answer} for one in self.gaps],
            "chosen": {"point": self.point, "why": self.why},
            "stand_in": self.stand_in,
            "certificate": None if self.certificate is None else dict(self.certificate),
            "near_constant": self.near_constant,
            "is_constant": self.is_constant,
            "by_hand": self.by_hand,
            "caveats": list(self.caveats),
            "selected": None if self.selected is None else self.selected.to_json(self.measured_on),
            "custom": [asdict(one) for one in self.custom],
            "unjudged": [dict(one) for one in self.unjudged],
        }


def worst_answer(gaps: Sequence[GapVerdict]) -> KeptOrNot | None:
    """Return the worst answer over all gaps with a limit; None if there are none."""
    answers = {one.answer for one in gaps}
    return next((answer for answer in _WORST_FIRST if answer in answers), None)


def gap_verdicts(
    tally: Tally,
    criteria: Sequence[Criterion],
    limits: Mapping[str, float],
    level: float = 0.95,
    performance: Cost = ERROR,
) -> tuple[tuple[str, float, float, float], tuple[GapVerdict, ...]]:
    """Return the performance, and each gap with its limit, for a tally."""
    frame = tally_intervals([tally], criteria, level, performance)
    first, *gaps = ([float(frame[name][part].iloc[0]) for part in ("value", "low", "high")] for name in _names(frame))
    verdicts = []
    for (notion, attribute), (value, low, high) in zip(criteria, gaps, strict=True):
        name, known = column(notion, attribute), tally.counts[tally.key(notion, attribute)]
        defined = not np.isnan(tally.gap(notion, attribute))
        verdicts.append(
            GapVerdict(
                name=name,
                notion=notion.name,
                attribute=attribute,
                limit=limits.get(name),
                gap=value if defined else None,
                low=low if defined else 0.0,
                high=high,
                rows=round(float(known.sum())),
            )
        )
    return (performance.name, first[0], first[1], first[2]), tuple(verdicts)


def _say_rows(group: Mapping[str, Any]) -> str:
    counted = group.get("counted", "rows")
    return f"few {counted}" if group["rows"] is None else f"{group['rows']:,} {counted} to learn from"


def _names(frame: Any) -> list[str]:
    """Return the names of the measured values, each of which has three columns."""
    return list(dict.fromkeys(frame.columns.get_level_values(0)))


def _list_limits(limits: Mapping[str, float]) -> str:
    return ", ".join(f"{name} ≤ {limit:g}" for name, limit in limits.items())
