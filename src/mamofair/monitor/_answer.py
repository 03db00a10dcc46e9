"""The answer of a monitor: within so far, exceeded since …, or not yet known; and what else has drifted."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from mamofair._messages import PATH, cut
from mamofair.metrics import EXIT_CODES
from mamofair.monitor._clock import Place
from mamofair.monitor._streams import DRIFTS

__all__ = ["Drift", "PairAnswer", "Status", "WatchAnswer", "WatchedGap", "worst_status"]

Status = Literal["within so far", "exceeded", "not yet known"]

_ENOUGH = 100  # rows of both groups from which on a lack of comparisons is not due to a lack of rows
_APART = 20  # in random order, there is a block for every two or three rows of the smaller group

#: What a gate calls each status, the worst first.
_OUTCOMES: dict[Status, str] = {
    "exceeded": "exceeds",
    "not yet known": "inconclusive",
    "within so far": "within",
}


@dataclass(frozen=True)
class PairAnswer:
    """What is known about a pair of groups; if the limit is exceeded, the higher rate comes first.

    `difference` is the first group's rate minus that of the second, averaged over blocks of rows so far, None without
    blocks. `since` is an estimate. `evidence` says how close an alarm has been: 1 is an alarm. `rates` are those of
    both groups since then, or over all rows if the limit is not exceeded. `rows` are the tested rows of both groups
    under the rate's condition so far.

    >>> PairAnswer(("F", "M"), "P(ŷ=1)", "not yet known", 0.02, 100, 0.1, (0.32, 0.3)).difference
    0.02
    """

    groups: tuple[str, str]
    rate: str
    status: Status
    difference: float | None
    blocks: int
    evidence: float
    rates: tuple[float | None, float | None]
    since: Place | None = None
    found: Place | None = None
    rows: tuple[int, int] = (0, 0)

    @property
    def came_apart(self) -> bool:
        """Whether both groups have rows, but hardly any that came at about the same time."""
        return min(self.rows) >= _ENOUGH and self.blocks < min(self.rows) / _APART


@dataclass(frozen=True)
class WatchedGap:
    """What is known about a gap: the worst of its pairs of groups. `gap` is the largest average difference so far.

    >>> pair = PairAnswer(("F", "M"), "P(ŷ=1)", "within so far", 0.02, 9000, 0.1, (0.32, 0.3))
    >>> gap = WatchedGap("dp[sex]", "dp", "sex", 0.05, "within so far", gap=0.02, pairs=(pair,))
    >>> gap.sentence()
    'dp[sex]: within so far. The average gap so far is 0.020, the limit 0.05.'
    """

    name: str
    notion: str
    attribute: str
    limit: float
    status: Status
    gap: float | None
    pairs: tuple[PairAnswer, ...]

    @property
    def worst(self) -> PairAnswer | None:
        """The pair that first exceeded the limit; otherwise the one closest to an alarm."""
        alarms = [(pair.found.row, place) for place, pair in enumerate(self.pairs) if pair.found is not None]
        if alarms:
            return self.pairs[min(alarms)[1]]
        return max(self.pairs, key=lambda pair: pair.evidence, default=None)

    def sentence(self) -> str:
        """Return the answer in words."""
        worst = self.worst
        if worst is None or self.gap is None:
            return f"{self.name}: not yet known, since no two groups have rows to compare."
        if worst.since is not None and worst.found is not None:
            a, b = worst.groups
            first, second = (_show(rate) for rate in worst.rates)
            others = sum(pair.status == "exceeded" for pair in self.pairs) - 1
            more = f" {others} more {'pair' if others == 1 else 'pairs'} of groups, too." if others else ""
            return (
                f"{self.name}: exceeded since about {worst.since.text}, found at {worst.found.text}. Since then "
                f"{worst.rate} is {first} for {a} and {second} for {b}; the limit is {self.limit:g}.{more}"
            )
        if self.status == "within so far":
            return f"{self.name}: within so far. The average gap so far is {self.gap:.3f}, the limit {self.limit:g}."
        known = f"The average gap so far is {self.gap:.3f}, the limit {self.limit:g}."
        return f"{self.name}: not yet known for {self._explain_unknown()} {known}"

    def _explain_unknown(self) -> str:
        """Return for whom it is not known, and why, as the end of a sentence."""
        unknown = [pair for pair in self.pairs if pair.status == "not yet known"]
        apart = next((pair for pair in unknown if pair.came_apart), None)
        if apart is not None:
            (a, b), (n, m) = apart.groups, apart.rows
            blocks = "comparison was" if apart.blocks == 1 else "comparisons were"
            return (
                f"{a} and {b}: {n:,} rows of {a} and {m:,} of {b} came one after the other, and only rows of "
                f"about the same time are compared, so that only {apart.blocks:,} {blocks} possible. Give files that "
                "have rows of both groups or, if times overlap, name their column."
            )
        rows: dict[str, int] = {}
        for pair in self.pairs:
            for group, count in zip(pair.groups, pair.rows, strict=True):
                rows[group] = min(count, rows.get(group, count))
        within = {frozenset(pair.groups) for pair in self.pairs} - {frozenset(pair.groups) for pair in unknown}
        settled: list[str] = []
        by_size = sorted(rows, key=lambda group: -rows[group])
        for group in by_size:
            if all(frozenset((group, other)) in within for other in settled):
                settled.append(group)
        if len(settled) < 2:
            few = min(unknown, key=lambda pair: pair.blocks)
            return f"{few.groups[0]} and {few.groups[1]}" + _count_more(len(unknown) - 1) + "."
        named = cut(", ".join(f"{group} ({rows[group]:,} rows)" for group in by_size if group not in settled), PATH)
        return f"{named}: too few decisions so far. All other groups are within."


def _count_more(pairs: int) -> str:
    return f" and {pairs} more {'pair' if pairs == 1 else 'pairs'}" if pairs else ""


@dataclass(frozen=True)
class Drift:
    """A share or a rate of a group that has drifted, and approximately since when.

    `now` is its value since then.

    >>> Drift("share", "sex", "F", 0.5, 0.7, Place(100, 100.0, "row 100"), Place(300, 300.0, "row 300")).sentence()
    'sex=F: the share of all decisions was 0.500 on validation rows, and is 0.700 since about row 100.'
    """

    kind: str
    attribute: str
    group: str
    expected: float
    now: float | None
    since: Place
    found: Place

    def sentence(self) -> str:
        """Return the drift in words."""
        return (
            f"{self.attribute}={self.group}: the {DRIFTS[self.kind]} was {self.expected:.3f} on validation rows, and "
            f"is {_show(self.now)} since about {self.since.text}."
        )


@dataclass(frozen=True)
class WatchAnswer:
    """What the rows so far say about all gaps and, if there is a reference, about drift.

    >>> WatchAnswer((), (), 0.95, rows=0, labelled=0, duplicates=0, strays=0, waiting=0, given_up=0).exit_code
    4
    """

    gaps: tuple[WatchedGap, ...]
    drifts: tuple[Drift, ...]
    confidence: float
    rows: int
    labelled: int
    duplicates: int
    strays: int
    waiting: int
    given_up: int
    has_reference: bool = False
    selective: tuple[str, ...] = ()
    units: int | None = None
    forgotten: int = 0
    left_out: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        """The worst of all gaps."""
        return worst_status([gap.status for gap in self.gaps])

    @property
    def outcome(self) -> str:
        """What a gate says: within, exceeds or inconclusive."""
        return _OUTCOMES[self.status]

    @property
    def exit_code(self) -> int:
        """0 within, 3 exceeds, 4 inconclusive."""
        return EXIT_CODES[self.outcome]

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences."""
        lines = [f"{self.rows:,} decisions so far, {self.labelled:,} of them with labels."]
        lines += [gap.sentence() for gap in self.gaps]
        lines += [drift.sentence() for drift in self.drifts]
        lines += [self._explain_drift()] if self.has_reference and (self.status == "exceeded" or self.drifts) else []
        return [*lines, *self.selective, *self._explain_units(), *self._name_left_out(), *self._remarks()]

    def _explain_drift(self) -> str:
        """Return a sentence on whether the people have changed, or only the decisions."""
        moved = {drift.kind for drift in self.drifts} - {"decisions"}
        people = " and ".join(f"{kind}s" for kind in DRIFTS if kind in moved)
        if self.status != "exceeded":
            return f"{people.capitalize() or 'Decisions'} have drifted, but no gap was found to exceed its limit."
        if moved:
            return f"The people have changed as well ({people}): look for the cause there first."
        known = (
            "group shares or base rates was found"
            if self.labelled
            else "group shares was found (base rates need labels)"
        )
        return f"No drift in {known}: look for the cause in the features and in the decisions."

    def _explain_units(self) -> list[str]:
        """Return whom the rates are about, if decisions come with units."""
        if self.units is None:
            return []
        return [
            f"{self.units:,} units so far. Of each, one decision is tested, drawn at random from the file in which the "
            f"unit first appears: rates are rates of units. {self.rows - self.units:,} other decisions are counted and "
            "shown, and can raise no alarm."
        ]

    def _name_left_out(self) -> list[str]:
        """Return the groups that are not compared, in one line each attribute."""
        return [
            f"Not compared, because training left them out as too small: {attribute}="
            + cut(", ".join(f"{group} ({rows:,} rows so far)" for group, rows in counts.items()), PATH)
            + "."
            for attribute, counts in self.left_out.items()
            if counts
        ]

    def _remarks(self) -> list[str]:
        again = "rows with ids that were counted before: they do not count again."
        if self.units is None:
            again += " If an id names a person and not a decision, name it as the unit (`--unit`)."
        counted = (
            (self.duplicates, again),
            (self.strays, "labels that no decision waits for: they do not count."),
            (self.given_up, "decisions dropped because too many were waiting for labels."),
            (self.forgotten, "ids forgotten, the first ones: a decision with one of them would count again."),
        )
        return [f"{number:,} {text}" for number, text in counted if number]

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain JSON."""
        document = asdict(self)
        for gap in document["gaps"]:
            lists = ("groups", "rates", "rows")
            gap["pairs"] = [pair | {name: list(pair[name]) for name in lists} for pair in gap["pairs"]]
        left_out = {name: {str(group): n for group, n in counts.items()} for name, counts in self.left_out.items()}
        listed = {"left_out": left_out, "selective": [*self.selective]}
        listed |= {"gaps": list(document["gaps"]), "drifts": list(document["drifts"])}
        gate = {"outcome": self.outcome, "exit_code": self.exit_code}
        return {"status": self.status} | gate | {"sentences": self.sentences()} | document | listed


def worst_status(statuses: Sequence[Status]) -> Status:
    """Return the worst of several; not yet known if there are none."""
    return next((status for status in _OUTCOMES if status in statuses), "not yet known")


def _show(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
