"""Assessment of decisions by a policy: within, exceeds or inconclusive. What cannot be assessed is never within."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from mamofair.fronts import EVERYONE, Criterion, Tally
from mamofair.metrics._counts import count_events
from mamofair.metrics._policy import MAX_UNKNOWN, Policy
from mamofair.metrics._unknown_groups import UnknownGroups, find_unknown_groups
from mamofair.metrics._verdict import GapVerdict, Verdict, gap_verdicts
from mamofair.notions import Notion, column

__all__ = ["EXIT_CODES", "Assessment", "assess"]

#: The exit code of each outcome.
EXIT_CODES = {"within": 0, "exceeds": 3, "inconclusive": 4}


@dataclass(frozen=True)
class Assessment:
    """The gaps that could be judged, a sentence for each requirement that could not, and rows of unknown group.

    `remarks` do not change the outcome.
    """

    gaps: tuple[GapVerdict, ...]
    unassessed: tuple[str, ...] = ()
    unknown: tuple[UnknownGroups, ...] = ()
    remarks: tuple[str, ...] = ()

    @classmethod
    def of_verdict(cls, verdict: Verdict) -> "Assessment":
        """Return a run's own verdict as an assessment.

        Groups that are too small, and constant classifiers, could not be assessed.
        """
        open_ones = [
            few_rows(one["attribute"], one["group"], one["rows"], counted=one.get("counted", "rows"))
            for one in verdict.unjudged
        ]
        if verdict.is_constant:
            open_ones.append("The model gives everyone the same decision, so gaps of zero say nothing.")
        return cls(tuple(one for one in verdict.gaps if one.limit is not None), tuple(open_ones))

    @property
    def outcome(self) -> Literal["within", "exceeds", "inconclusive"]:
        """Exceeds if some limit is not kept, within if all are kept and nothing is missing, else inconclusive.

        >>> Assessment(()).outcome  # nothing was assessed
        'inconclusive'
        """
        answers = {one.answer for one in self.gaps}
        if "not kept" in answers:
            return "exceeds"
        return "within" if answers == {"kept"} and not self.unassessed else "inconclusive"

    @property
    def exit_code(self) -> int:
        """0 within, 3 exceeds, 4 inconclusive."""
        return EXIT_CODES[self.outcome]

    @property
    def headline(self) -> str:
        """One sentence with the outcome and the number of limits kept."""
        kept = sum(one.answer == "kept" for one in self.gaps)
        return f"Gate: {self.outcome}; {kept} of {len(self.gaps)} limits are kept."

    def sentences(self) -> list[str]:
        """Return the reasons for the outcome: each limit not known to be kept, and what was not assessed."""
        open_ones = [one for one in self.gaps if one.answer != "kept"]
        sentences = [self.headline]
        for one in open_ones:
            value = "undefined" if one.gap is None else f"{one.gap:.3f} ({one.low:.3f}–{one.high:.3f})"
            sentences.append(f"{one.name} is {value}, the limit {one.limit:g}: {one.answer}.")
        return [*sentences, *self.unassessed, *self.remarks]

    def to_json(self) -> dict[str, Any]:
        """Return the assessment as plain JSON."""
        gaps = [asdict(one) | {"answer": one.answer} for one in self.gaps]
        return {
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "gaps": gaps,
            "unassessed": [*self.unassessed],
            "unknown": [one.to_json() for one in self.unknown],
            "remarks": [*self.remarks],
        }

    def with_unknown(
        self,
        tally: Tally,
        criteria: Iterable[Criterion],
        not_judged: Mapping[str, float] | None = None,
        most: float = MAX_UNKNOWN,
    ) -> "Assessment":
        """Return the assessment with rows of unknown group; with more than such a share, it is not within."""
        unknown = find_unknown_groups(tally, criteria, not_judged)
        more = (f"{one} At most {most:.0%} may be." for one in unknown if one.share > most)
        return replace(self, unassessed=(*self.unassessed, *more), unknown=(*self.unknown, *unknown))


def assess(
    policy: Policy,
    tally: Tally,
    groups: Mapping[str, Sequence[Any]],
    *,
    has_labels: bool = True,
    left_out: Mapping[str, Mapping[Any, int]] | None = None,
    not_judged: Mapping[str, float] | None = None,
) -> Assessment:
    """Return the assessment of decisions by a policy.

    Parameters
    ----------
    policy
        What is required.
    tally
        The counts of the decisions.
    groups
        The groups of each attribute, in the order of the counts.
    has_labels
        Whether true labels are known: without them, notions that need them cannot be assessed.
    left_out
        Groups that are too small to be in the counts, with their rows: they could not be assessed.
    not_judged
        For each attribute, the rows whose group is known, but not among the counts.

    Examples
    --------
    >>> from mamofair.metrics import Policy
    >>> from mamofair.notions import DEMOGRAPHIC_PARITY
    >>> tally = Tally({"": np.array([[60.0, 20, 20, 100]]), "sex": np.array([[20.0, 10, 10, 60], [40, 10, 10, 40]])})
    >>> assessment = assess(Policy(("sex",), (DEMOGRAPHIC_PARITY,), limit=0.05), tally, {"sex": ("F", "M")})
    >>> assessment.outcome, round(assessment.gaps[0].gap, 2)
    ('exceeds', 0.2)
    """
    results: list[GapVerdict | str] = []
    for attribute in policy.attributes:
        if attribute not in groups:
            results.append(f"{attribute} could not be assessed: it is not among the sensitive attributes.")
            continue
        results += [
            few_rows(attribute, group, rows)
            for group, rows in (left_out or {}).get(attribute, {}).items()
            if not policy.exempts_group(attribute, group)
        ]
        for notion in policy.notions:
            if not any(rate.needs_labels for rate in notion.rates) or has_labels:
                answers = _assess_gap(policy, tally, attribute, groups[attribute], notion)
            else:
                answers = iter([f"{column(notion, attribute)} could not be assessed: it needs true labels."])
            exempt = policy.exempts_gap(notion, attribute)
            results += [one for one in answers if not (exempt and _is_open(one))]
    criteria = [
        (notion, attribute)
        for attribute in policy.attributes
        for notion in policy.notions
        if attribute in groups and (has_labels or not any(rate.needs_labels for rate in notion.rates))
    ]
    return Assessment(
        tuple(one for one in results if isinstance(one, GapVerdict)),
        tuple(dict.fromkeys(one for one in results if isinstance(one, str))),
    ).with_unknown(tally, criteria, not_judged, policy.max_unknown)


def _assess_gap(
    policy: Policy, tally: Tally, attribute: str, groups: Sequence[Any], notion: Notion
) -> Iterator[GapVerdict | str]:
    """Yield a sentence for each group with too few rows, then the verdict on the gap between the others."""
    _, rows = (part[0] for part in count_events([tally], notion.rates, attribute))
    fewest = rows.min(axis=0)
    counted = [i for i, group in enumerate(groups) if not policy.exempts_group(attribute, group)]
    for i in counted:
        if fewest[i] < policy.min_rows:
            yield few_rows(attribute, groups[i], int(fewest[i]), column(notion, attribute))
    kept = [i for i in counted if fewest[i] >= policy.min_rows]
    if len(kept) < 2:
        yield f"{column(notion, attribute)} could not be assessed: fewer than two groups have enough rows."
        return
    limits = {column(notion, attribute): policy.limit_of(notion, attribute)}
    _, [verdict] = gap_verdicts(_select(tally, attribute, kept), [(notion, attribute)], limits, policy.confidence)
    yield verdict


def _select(tally: Tally, attribute: str, kept: Sequence[int]) -> Tally:
    """Return the counts of everyone and of some groups of one attribute."""

    def part(tables: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {EVERYONE: tables[EVERYONE], attribute: tables[attribute][list(kept)]}

    return Tally(part(tally.counts), None if tally.squares is None else part(tally.squares))


def few_rows(attribute: str, group: object, rows: int | None, gap: str = "", counted: str = "rows") -> str:
    """Return the sentence on a group that has too few rows."""
    where = f" for {gap}" if gap else ""
    return (
        f"{attribute}={group} could not be assessed: {'its' if rows is None else f'{rows:,}'} {counted}{where} are too "
        "few."
    )


def _is_open(one: GapVerdict | str) -> bool:
    """Return whether there is no answer."""
    return isinstance(one, str) or one.answer == "cannot be told"
