"""Trials of what is measured: errors, gaps, rates, audits, groups, labels and weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite, isnan
from random import Random
from typing import Any

import numpy as np

from campaigns._containers import GROUPS, LABELS, STRANGE, contain, table
from campaigns._oracles import NOTIONS, Refusal, group_rates, is_missing, largest_gap, positive_label, same, share
from campaigns._trials import Trial
from mamofair._rows.groups import read_groups
from mamofair._rows.labels import as_column, as_weights, favorable_label
from mamofair.metrics import audit, error, gap, rates

_CELLS = {(y, d) for y in (0, 1) for d in (0, 1)}
_WRONG = {(0, 1), (1, 0)}


@dataclass(frozen=True)
class Decisions:
    """Labels and decisions, groups (None where unknown), and weights, as plain lists."""

    truth: list[Any]
    decision: list[Any]
    groups: dict[str, list[Any]]
    weights: list[Any] | None
    favorable: Any

    @classmethod
    def draw(cls, random: Random) -> "Decisions":
        """Return good ones."""
        rows = random.choice([1, 2, 3, 5, 8, 13, 30, 60])
        labels = random.choice(LABELS)
        truth, decision = ([random.choice(labels) for _ in range(rows)] for _ in range(2))
        if random.random() < 0.1:  # of one label only
            decision = [labels[0]] * rows
        groups = {}
        for name in random.sample(["sex", "race", "ålder", "a b", "x" * 50], random.choice([1, 1, 2, 3])):
            values = [*random.choice(GROUPS), *[None] * random.choice([0, 0, 1])]
            groups[name] = [random.choice(values) for _ in range(rows)]
        weights = None if random.random() < 0.6 else [random.choice([0, 1, 2.5, 1e-3, 1e6]) for _ in range(rows)]
        if weights is not None and not any(weights):
            weights[0] = 1
        favorable = random.choice(labels) if labels[1] not in (1, True) or random.random() < 0.5 else None
        return cls(truth, decision, groups, weights, favorable)

    def right(self) -> Any:
        """Return labels and decisions as 0 and 1, or why there is no answer."""
        if any(map(is_missing, [*self.truth, *self.decision])):
            return Refusal("a label is missing")
        positive = positive_label([*self.truth, *self.decision], self.favorable)
        if isinstance(positive, Refusal):
            return positive
        return tuple([int(one == positive) for one in column] for column in (self.truth, self.decision))

    def masses(self) -> list[Fraction]:
        """Return exact weights."""
        return [Fraction(1) if self.weights is None else Fraction(weight) for weight in self.weights or self.truth]

    def is_plain(self) -> bool:
        """Whether nobody could object: every attribute has few groups, and some."""
        return all(len({one for one in column if one is not None}) for column in self.groups.values())


def spoil(random: Random, good: Decisions, what: str) -> tuple[dict[str, Any], Decisions | Refusal]:
    """Return what is handed over with one thing wrong, or at least odd, and what it says if it says anything."""
    given, strange, rows = handed_over(random, good), random.choice(STRANGE), len(good.truth)
    if what in ("y_true", "y_pred"):
        own = "truth" if what == "y_true" else "decision"
        given[what] = _odd_column(random, getattr(good, own), strange)
        return given, _with_column(good, own, given[what])
    if what == "sample_weight":
        given[what] = _odd_column(random, [1.0] * rows, strange)
        return given, replace(good, weights=None) if given[what] is None else _with_column(good, "weights", given[what])
    if what == "sensitive_features":
        strange = {} if isinstance(strange, list | tuple) else strange  # which could be several attributes
        given[what] = _odd_column(random, next(iter(good.groups.values())), strange)
        column = given[what] if isinstance(given[what], list | tuple) else ()
        if len(column) != rows or any(isinstance(one, list | dict) for one in column):
            return given, Refusal("there are no groups")
        return given, replace(good, groups={"": list(column)})
    if what == "favorable":
        given[what] = strange
        return given, replace(good, favorable=strange)
    if what == "notion":
        given[what] = strange
    else:
        odd = (
            [1] * random.choice([0, rows + 1]) if what == "length" else np.zeros(random.choice([(), (2, 3), (1, 1, 1)]))
        )
        given[random.choice(["y_true", "y_pred"])] = odd
    return given, Refusal(f"{what} is wrong")


def _odd_column(random: Random, column: list[Any], strange: Any) -> Any:
    values = list(column)
    values[random.randrange(len(values))] = strange
    return random.choice([values, tuple(values), strange, [strange] * len(values)])


def _with_column(good: Decisions, name: str, column: Any) -> Decisions | Refusal:
    """Return decisions with another column, if it is one."""
    if not isinstance(column, list | tuple) or len(column) != len(good.truth):
        return Refusal(f"{name} is no column of values")
    if all(isinstance(one, list | tuple) and len(one) == 1 for one in column):  # an array of one column
        column = [one[0] for one in column]
    if name == "weights" and not _are_weights(column):
        return Refusal("weights must be numbers")
    return replace(good, **{name: list(column)})


def _are_weights(column: Sequence[Any]) -> bool:
    numbers = all(isinstance(one, int | float) and isfinite(one) and one >= 0 for one in column)
    return numbers and any(column)


def handed_over(random: Random, good: Decisions) -> dict[str, Any]:
    """Return good decisions in containers of all kinds."""
    weights = good.weights
    return {
        "y_true": contain(random, good.truth),
        "y_pred": contain(random, good.decision),
        "sensitive_features": table(random, good.groups),
        "sample_weight": None if weights is None else contain(random, [float(weight) for weight in weights]),
        "favorable": good.favorable,
        "notion": random.choice(list(NOTIONS)),
    }


def measured(random: Random) -> Trial:
    """Return a trial of `error`, `gap` or `rates` on good input."""
    good = Decisions.draw(random)
    given = handed_over(random, good)
    which = random.choice([_error, _gap, _rates])
    return which(given, good, plain=good.is_plain())


def spoiled(random: Random) -> Trial:
    """Return a trial of a measure on input with something wrong."""
    good = Decisions.draw(random)
    which = random.choice([_error, _gap, _rates, _audit])
    columns = ["y_true", "y_pred", "sample_weight", "length", "shape"]
    what = random.choice(columns if which is _error else [*columns, "sensitive_features", "favorable", "notion"])
    given, said = spoil(random, good, what)
    return which(given, said, plain=False)


def _error(given: dict[str, Any], said: Decisions | Refusal, plain: bool) -> Trial:
    columns = {name: given[name] for name in ("y_true", "y_pred", "sample_weight")}
    right = said if isinstance(said, Refusal) else _anything_missing([*said.truth, *said.decision])
    if isinstance(said, Refusal) or right is not None:
        return Trial("error", lambda: error(**columns), _anything, right, shown=given)
    pairs = zip(said.truth, said.decision, said.masses(), strict=True)
    expected = share([((0, int(bool(y != d))), w) for y, d, w in pairs], {(0, 1)}, _CELLS)
    return Trial("error", lambda: error(**columns), _near(expected), None, plain, given)


def _gap(given: dict[str, Any], said: Decisions | Refusal, plain: bool) -> Trial:
    return _worst("gap", lambda: gap(**given), given, said, plain)


def _audit(given: dict[str, Any], said: Decisions | Refusal, plain: bool) -> Trial:
    options = {name: value for name, value in given.items() if name != "notion"}
    notions = given["notion"]
    call = lambda: float(np.max(audit(**options, notions=notions, crossed=False).frame()["gap"].to_numpy()))  # noqa: E731
    if given["y_true"] is None:  # audits need no true labels, where the notion needs none
        return Trial("audit", call, _anything, shown=given)
    return _worst("audit", call, given, said, plain)


def _worst(
    kind: str, call: Callable[[], float], given: dict[str, Any], said: Decisions | Refusal, plain: bool
) -> Trial:
    """Return a trial of what returns the worst gap of all attributes."""
    right = said if isinstance(said, Refusal) else said.right()
    if isinstance(said, Refusal) or isinstance(right, Refusal):
        return Trial(kind, call, _anything, right, shown=given)
    columns = said.groups.values()
    gaps = [largest_gap(group_rates(*right, said.masses(), column, given["notion"])) for column in columns]
    expected = float("nan") if any(map(isnan, gaps)) else max(gaps)
    return Trial(kind, call, _near(expected), None, plain, given)


def _rates(given: dict[str, Any], said: Decisions | Refusal, plain: bool) -> Trial:
    right = said if isinstance(said, Refusal) else said.right()
    if isinstance(said, Refusal) or isinstance(right, Refusal):
        return Trial("rates", lambda: rates(**given), _anything, right, shown=given)
    columns = said.groups.values()
    found = [group_rates(*right, said.masses(), column, given["notion"]) for column in columns]
    expected = [rate for one in found for by_group in one for rate in by_group.values()]

    def check(frame: Any) -> str | None:
        numbers = frame["rate"].tolist()
        alike = len(numbers) == len(expected) and all(map(same, np.sort(numbers), np.sort(expected)))
        return None if alike else f"found the rates {numbers}, not {expected}"

    return Trial("rates", lambda: rates(**given), check, None, plain, given)


def audited(random: Random) -> Trial:
    """Return a trial of an audit on good input, of decisions or of scores."""
    good = Decisions.draw(random)
    given, right = handed_over(random, good), good.right()
    notion, limit = given.pop("notion"), random.choice([0, 0.05, 0.5, 1.0])
    crossed, scored, printed = (random.random() < 0.3 for _ in range(3))
    options: dict[str, Any] = {"notions": notion, "limit": limit, "crossed": crossed}
    if isinstance(right, Refusal):
        return Trial("audit", lambda: audit(**given, **options), _anything, right, shown=given)
    truth, decision = right
    if scored:
        scores = [random.random() for _ in truth]
        threshold = random.choice([0.0, 0.5, scores[0]])
        decision = [int(score > threshold) for score in scores]
        given["y_pred"], options["threshold"] = contain(random, scores), threshold
        positive = positive_label(good.truth, good.favorable)
        if isinstance(positive, Refusal):
            return Trial("audit", lambda: audit(**given, **options), _anything, positive, shown=given)
    masses = good.masses()
    gaps = [largest_gap(group_rates(truth, decision, masses, column, notion)) for column in good.groups.values()]
    wrong = share(list(zip(zip(truth, decision, strict=True), masses, strict=True)), _WRONG, _CELLS)

    def check(found: Any) -> str | None:
        frame = found.frame().iloc[: len(gaps)]
        if not all(map(same, frame["gap"], gaps)) or not same(found.tally.error, wrong):
            return f"found gaps {frame['gap'].tolist()} and error {found.tally.error}, not {gaps} and {wrong}"
        for row in found.frame().itertuples():
            verdict = "exceeds" if row.low > limit else "within" if row.high <= limit else "inconclusive"
            inside = isnan(row.gap) or 0 <= row.low <= row.gap + 1e-12 <= row.high + 2e-12 <= 1 + 3e-12
            if row.verdict != verdict or not inside:
                return f"found {row}"
        return None if not printed or (str(found) and repr(found)) else "printed nothing"

    return Trial("audit", lambda: audit(**given, **options), check, None, good.is_plain(), {"right": right} | given)


def grouped(random: Random) -> Trial:
    """Return a trial of reading groups."""
    columns = Decisions.draw(random).groups
    given = table(random, columns)

    def check(found: Any) -> str | None:
        for i, column in enumerate(columns.values()):
            named = [None if code < 0 else found.values[i][code] for code in found.codes[:, i]]
            if not all(one in _names(value) for one, value in zip(named, column, strict=True)):
                return f"found {named}, not {column}"
        combinations = {one for one in zip(*columns.values(), strict=True) if None not in one}
        crossed = found.crossed()
        cells = len(crossed.values[-1]) if len(columns) > 1 else len(combinations)
        return None if cells == len(combinations) else f"found {cells} combinations, not {len(combinations)}"

    return Trial("groups", lambda: read_groups(given), check, None, True, {"columns": columns, "given": given})


def _names(value: Any) -> set[str | None]:
    """Return the names that a group may have: whole numbers have no point, and masked booleans are numbers."""
    if value is None:
        return {None}
    whole = isinstance(value, float | bool) and value == int(value)
    return {str(value)} | {str(int(value))} if isinstance(value, bool) else {str(int(value) if whole else value)}


def labelled(random: Random) -> Trial:
    """Return a trial of reading labels, which one is favorable, or weights."""
    good = Decisions.draw(random)
    values: list[Any] = list(good.truth)
    odd = random.random() < 0.5
    if odd:
        values[random.randrange(len(values))] = random.choice(STRANGE)
    if random.random() < 0.3:
        weights = values if odd else [1.0, *[2.5] * (len(values) - 1)]
        return Trial("weights", lambda: as_weights(list(weights), len(weights)), _weights(weights), is_plain=not odd)
    given = list(values) if odd else contain(random, values)
    if random.random() < 0.5:
        check = _anything if odd else lambda column: None if column.tolist() == values else f"{column.tolist()}"
        return Trial("labels", lambda: as_column(given, "y"), check, is_plain=not odd, shown={"given": given})
    favorable = random.choice([None, good.favorable, random.choice(STRANGE)])
    right = _anything_missing(values) or positive_label(values, favorable)
    strange = odd or favorable is not good.favorable
    check = lambda label: None if label == right else f"found {label!r}"  # noqa: E731
    call = lambda: favorable_label(as_column(given, "y"), favorable=favorable)  # noqa: E731
    refused = right if isinstance(right, Refusal) else None
    plain = not strange and refused is None
    return Trial("favorable label", call, check, refused, plain, {"values": values, "favorable": favorable})


def _anything_missing(values: list[Any]) -> Refusal | None:
    return Refusal("a label is missing") if any(map(is_missing, values)) else None


def _weights(weights: list[Any]) -> Callable[[Any], str | None]:
    def check(found: Any) -> str | None:
        flat = [weight[0] if isinstance(weight, list) else weight for weight in weights]  # a single row may be nested
        exact = [float(weight) if isinstance(weight, int | float) else None for weight in flat]
        fine = all(one is not None and isfinite(one) and one >= 0 for one in exact) and found.tolist() == exact
        return None if fine else f"took {weights!r} for {found.tolist()}"

    return check


def _near(expected: float) -> Callable[[Any], str | None]:
    return lambda found: None if same(found, expected) else f"found {found}, not {expected}"


def _anything(found: Any) -> None:
    return None
