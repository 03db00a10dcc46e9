"""Questions that may be asked again: "is there a point within these limits?", answered with more and more rows."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool

from mamofair._messages import quote, quote_some, warn_user
from mamofair._rows.groups import Groups, read_groups, warn_of_order
from mamofair._rows.labels import as_column, is_label, unique
from mamofair._stats.shares import compare_shares
from mamofair.fronts import Counter, Criterion, Front
from mamofair.notions import Cell, Notion, Rate, column, require_differences
from mamofair.selection._answer import Answer
from mamofair.selection._certified import Demand, order_rows
from mamofair.selection._claims import Claim, list_claims
from mamofair.selection._evidence import Evidence
from mamofair.selection._more_rows import count_more_rows
from mamofair.selection._rows import Pool
from mamofair.selection._within import MostAccurateWithin

__all__ = ["Question"]


@runtime_checkable
class Model(Protocol):
    """A fitted model: any of our estimators."""

    front_: Front
    classes_: np.ndarray
    favorable_: Any

    def decide_all(self, X: Any) -> Bool[np.ndarray, "points n"]:
        """Return which rows each point of the front decides favorably."""
        ...


@dataclass(frozen=True, eq=False)
class Question:
    """A test for a point within the limits that may be repeated with more rows.

    `MostAccurateWithin(limit, confidence)` tests points once, on calibration rows. A question takes later rows, in any
    number of updates, and you may look at `answer` after each of them: the chance that it ever names a point that
    exceeds a limit is at most 1 − `confidence`. That takes about twice the rows of the single test.

    The order of the points, the limits and the confidence are fixed when the question is asked (`Question.of`). Another
    limit, another confidence or another model is another question, and rows that have answered one cannot answer it.

    Parameters
    ----------
    limits
        The largest acceptable gaps.
    confidence
        The confidence, such as 0.95.
    groups
        The names of each attribute's groups.
    points
        The points in the order of testing, and the evidence about them.
    front
        A checksum that identifies the front that the question is about.
    rows
        The number of rows so far.

    Examples
    --------
    >>> from mamofair import FairNetClassifier
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairNetClassifier(epochs=10, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> question = Question.of(model.front_, 0.5, confidence=0.9)
    >>> for seed in (1, 2):
    ...     new = make_toy(random_state=seed)
    ...     question = question.update_from(model, new.X, new.y, sensitive_features=new.sensitive)
    >>> question.rows, question.answer.status
    (1200, 'certified')
    """

    limits: Mapping[Criterion, float]
    confidence: float
    groups: Mapping[str, tuple[Any, ...]]
    points: tuple[Evidence, ...]
    front: str
    rows: int = 0

    @classmethod
    def of(
        cls, front: Front, limit: float | Mapping[str, float], confidence: float, *, allow_constant: bool = False
    ) -> "Question":
        """Return a new question about a front, without rows; parameters as for `MostAccurateWithin`."""
        limits = MostAccurateWithin(limit, confidence).limits_of(front.criteria)
        if not limits:
            raise ValueError("A question must have a limit on some gap: found none.")
        for notion, _ in limits:
            require_differences(notion, "A question that may be asked again")
        sequence = order_rows(front, Demand(limits, round(1 - confidence, 12)), Pool(allow_constant=allow_constant))
        claims = list_claims(limits, front[sequence[0]].valid)
        attributes = list(dict.fromkeys(attribute for _, attribute in limits))
        points = (Evidence.none(row, front[row].valid, claims, attributes) for row in sequence)
        nameless = [name for name in attributes if name not in front.groups]
        if nameless:
            raise ValueError(f"A question must know the groups of {quote(nameless[0])}: the front does not name them.")
        groups = {name: tuple(front.groups[name]) for name in _required_attributes(attributes, list(front.groups))}
        return cls(limits, confidence, groups, tuple(points), _identify(front, sequence))

    @property
    def delta(self) -> float:
        """The chance of being wrong, δ."""
        return round(1 - self.confidence, 12)

    @property
    def sequence(self) -> tuple[int, ...]:
        """The rows of `front.frame()` in the order of testing."""
        return tuple(point.row for point in self.points)

    @property
    def claims(self) -> list[Claim]:
        """The claims that must be rejected for a point to pass."""
        return list_claims(self.limits, self.points[0].tally)

    def update(self, y: Any, decisions: Any, *, sensitive_features: Any) -> "Question":
        """Return the question with more rows, which must be new and a random sample of the same people.

        Within an update, the order of rows does not matter. If there is one attribute, rows may be a random sample
        within each of its groups instead, in any proportion.

        Parameters
        ----------
        y : array of shape (n,)
            The true labels: 1 is favorable, 0 the other.
        decisions : array of shape (points, n)
            Whether each point of `sequence`, in that order, decides favorably.
        sensitive_features : Series, frame or array with n rows
            As in `fit`. A row with a missing value does not count for that attribute.
        """
        labels = as_column(y, "y")
        if not set(unique(labels)) <= {0, 1}:
            raise ValueError(
                f"`y` must be 1 for favorable labels and 0 for others: found {quote_some(unique(labels))}."
            )
        decided = np.asarray(decisions)
        wanted = (len(self.points), len(labels))
        if decided.shape != wanted or not np.isin(decided, (0, 1)).all():
            raise ValueError(
                f"`decisions` must be true or false for each of {wanted[0]} points and {wanted[1]} rows: found an "
                f"array of shape {decided.shape} and type {decided.dtype}. Take those of `question.sequence`."
            )
        people = self._read_groups(sensitive_features, len(labels))
        tallies = Counter.of(labels.astype(int), people)(decided.astype(bool))
        claims, enough = self.claims, -log(self.delta)
        points = (point.update(tally, claims, enough) for point, tally in zip(self.points, tallies, strict=True))
        return replace(self, points=tuple(points), rows=self.rows + len(labels))

    def update_from(self, model: Model, X: Any, y: Any, *, sensitive_features: Any) -> "Question":
        """Return the question with more rows, decided by the model whose front it was asked of.

        Parameters
        ----------
        model
            The fitted estimator.
        X
            The features, as its `decide_all` takes them.
        y
            The true labels, as in `fit`.
        sensitive_features
            As in `fit`.
        """
        if _identify(model.front_, self.sequence) != self.front:
            raise ValueError(
                "A question must be answered by its own model: found one with another front. Ask a "
                "new question, `Question.of(model.front_, …)`, and answer it with other rows."
            )
        warn_of_order(sensitive_features, {"X": X, "y": y})
        labels = as_column(y, "y")
        strange = [label for label in unique(labels) if label not in model.classes_.tolist()]
        if strange:
            raise ValueError(
                f"`y` must have the labels {quote_some(model.classes_.tolist())}: found {quote(strange[0])}."
            )
        decided = model.decide_all(X)[list(self.sequence)]
        later = self.update(is_label(labels, model.favorable_), decided, sensitive_features=sensitive_features)
        self._warn_of_other_shares(later, model.front_)
        return later

    @property
    def answer(self) -> Answer:
        """The answer of the rows so far. Its guarantees hold at all times: whenever you look, and however often.

        A point that has passed once has passed for good. `intervals` are those of the rows so far.
        """
        threshold, passed = -log(self.delta), 0
        while passed < len(self.points) and min(self.points[passed].wealth) >= threshold:
            passed += 1
        point = self.points[max(passed - 1, 0)]
        limits = {column(*criterion): limit for criterion, limit in self.limits.items()}
        more, close = ({}, []) if passed else count_more_rows(self.claims, point.tally, self.delta, self.groups)
        return Answer(
            limits=limits,
            confidence=self.confidence,
            sequence=self.sequence,
            passed=passed,
            intervals=self._intervals(point),
            more_rows=more,
            too_close=tuple(close),
        )

    def _intervals(self, point: Evidence) -> dict[str, tuple[float, float]]:
        """Return the low and high end of each gap: high ends at level δ each, low ends at level δ jointly."""
        claims = self.claims
        ends = {column(*criterion): (0.0, 0.0) for criterion in self.limits}
        for claim, share in zip(claims, point.shares, strict=True):
            low, high = ends[column(*claim.criterion)]
            low = claim.lower(point.tally, share, self.delta / len(claims), least=low)
            ends[column(*claim.criterion)] = low, claim.upper(point.tally, share, self.delta, least=high)
        return ends

    def _warn_of_other_shares(self, later: "Question", front: Front) -> None:
        """Warn if there are several attributes, and new rows have other shares of a group than chance explains."""
        before, after, valid = self.points[0].tally, later.points[0].tally, front[self.sequence[0]].valid
        attributes = dict.fromkeys(attribute for _, attribute in self.limits)
        if len(attributes) < 2 or valid.squares is not None:  # sums of weights are not numbers of rows
            return
        for name in attributes:
            new = (after.counts[name] - before.counts[name]).sum(axis=1)
            if listed := compare_shares(self.groups[name], valid.counts[name].sum(axis=1), new):
                warn_user(
                    "With several attributes, new rows must be a random sample of everyone, because more rows of one "
                    f"group change the rates of others: found other shares of {quote(name)} than in training, "
                    f"{listed}. An answer that rests on them may not hold."
                )

    def _read_groups(self, sensitive_features: Any, rows: int) -> Groups:
        """Return the groups of new rows, numbered as in the front; new groups are errors, new combinations unknown."""
        crossing = _crossing(list(self.groups))
        plain = {name: values for name, values in self.groups.items() if name != crossing}
        people = read_groups(sensitive_features, rows, whole=False).as_in(Groups.of_values(plain))
        return people if crossing is None else people.crossed().as_in(Groups.of_values(self.groups), strict=False)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for a JSON file; `Question.from_json` reads them."""
        return {
            "limits": [
                {"notion": notion.name, "attribute": attribute, "limit": limit}
                | {"rates": [[rate.event.value, rate.given.value] for rate in notion.rates]}
                for (notion, attribute), limit in self.limits.items()
            ],
            "confidence": self.confidence,
            "groups": {name: list(values) for name, values in self.groups.items()},
            "points": [point.to_json() for point in self.points],
            "front": self.front,
            "rows": self.rows,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Question":
        """Return the question that `to_json` has written."""
        limits = {}
        for one in document["limits"]:
            rates = tuple(Rate(Cell(event), given=Cell(given)) for event, given in one["rates"])
            limits[Notion(str(one["notion"]), rates), str(one["attribute"])] = float(one["limit"])
        groups = {str(name): tuple(values) for name, values in document["groups"].items()}
        points = tuple(map(Evidence.from_json, document["points"]))
        question = cls(
            limits, float(document["confidence"]), groups, points, str(document["front"]), int(document["rows"])
        )
        MostAccurateWithin({column(*criterion): limit for criterion, limit in limits.items()}, question.confidence)
        sizes = {attribute: len(groups[attribute]) for _, attribute in limits}
        if not points or not all(point.is_sound(sizes, len(question.claims)) for point in points):
            raise ValueError("A question must hold what `to_json` has written: found other counts. Ask a new one.")
        return question


def _identify(front: Front, sequence: Sequence[int]) -> str:
    """Return what identifies a front: a checksum of these points' counts on validation rows."""
    points = [front[row].valid.counts if row < len(front) else {} for row in sequence]
    counts = [{name: table.tolist() for name, table in tables.items()} for tables in points]
    return hashlib.sha256(json.dumps([front.columns, list(sequence), counts]).encode()).hexdigest()


def _crossing(names: Sequence[str]) -> str | None:
    """Return the attribute that is the crossing of all others, which come before it, if there is one."""
    return names[-1] if len(names) > 2 and names[-1] == "*".join(names[:-1]) else None


def _required_attributes(attributes: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """Return the attributes that new rows must have: those that count, and all if their crossing does."""
    return names if _crossing(names) in attributes else attributes
