"""The verdict on a run: the requested limits, and what its test rows say about the chosen point."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mamofair._messages import PATH, cut
from mamofair.fronts import Tally
from mamofair.learners.usefulness import near_constant_sentence
from mamofair.metrics import Assessment, CustomValue, Policy, SelectedShare, Verdict, assess, gap_verdicts
from mamofair.notions import column
from mamofair.performance import ERROR, as_performance
from mamofair.runs._run import Run
from mamofair.selection import (
    ClosestToIdeal,
    FairestWithin,
    LeftOutGroup,
    MostAccurateWithin,
    read_select_rate,
    supports,
)

__all__ = ["assess_run", "describe_near_constant", "judge"]

_LEVEL = 0.95
_ENOUGH = 30  # rows; fewer leave a rate uncertain by more than a third


def judge(run: Run, point: int | None = None) -> Verdict:
    """Return the verdict on a run's chosen point, or on another one chosen by hand.

    All limits are judged on test rows; on validation rows, if there are no test rows. A certificate, and the reason for
    a stand-in, belong to the point that training chose: one chosen by hand has no certificate.
    """
    front, settings = run.estimator.front_, run.settings
    row = run.estimator.selected_ if point is None else point
    measured_on, tally = ("test", run.test[row]) if run.test else ("validation", front[row].valid)
    limits = _limits(run)
    performance, gaps = gap_verdicts(tally, front.criteria, limits, _LEVEL, front.performance)
    certificate = settings.get("certificate")
    by_hand = point is not None and point != run.estimator.selected_
    return Verdict(
        asked=limits,
        confidence=None if certificate is None else certificate["confidence"],
        gaps=gaps,
        measured_on=measured_on,
        rows=_count(settings, measured_on, tally.overall.sum()),
        level=_LEVEL,
        point=row,
        why="It was chosen by hand." if by_hand else _explain(run),
        performance=performance,
        near_constant=describe_near_constant(run, row),
        is_constant=tally.is_constant,
        by_hand=by_hand,
        caveats=(
            *_units(settings),
            *_near_copies(settings),
            *_unsupported(run, limits),
            *_left_out(run),
            *_sparse_groups(run, measured_on, tally),
        ),
        stand_in=_by_hand(certificate) if by_hand else settings.get("stand_in"),
        certificate=None if by_hand else certificate,
        unjudged=tuple(
            {part: one[part] for part in ("attribute", "group", "rows", "counted") if part in one}
            for one in settings.get("data", {}).get("small_groups", ())
        ),
        selected=SelectedShare.of(tally, _asked_share(run), _LEVEL),
        custom=tuple(_custom_values(run, row)),
        performance_limit=_performance_limit(run),
    )


def assess_run(run: Run, policy: Policy | None = None) -> Assessment:
    """Return the assessment of a run's chosen point on test rows, by a policy or by the run's own limits."""
    front, row = run.estimator.front_, run.estimator.selected_
    tally = run.test[row] if run.test else front[row].valid
    left_out: dict[str, dict[str, int]] = {}
    for one in run.settings.get("data", {}).get("small_groups", ()):
        left_out.setdefault(one["attribute"], {})[one["group"]] = one["rows"]
    not_judged = _rows_not_judged(run, left_out, float(tally.overall.sum()))
    if policy is not None:
        return assess(policy, tally, run.groups, left_out=left_out, not_judged=not_judged)
    return Assessment.of_verdict(judge(run)).with_unknown(tally, front.criteria, not_judged)


def _rows_not_judged(run: Run, left_out: Mapping[str, Mapping[str, int]], rows: float) -> dict[str, float]:
    """Return about how many of these rows are of groups that training left out, from their share of the table."""
    data = run.settings.get("data", {})
    sizes, total = data.get("groups") or {}, data.get("rows") or 0
    return {
        name: rows * sum(sizes.get(name, {}).get(group, {}).get("rows", 0) for group in groups) / max(total, 1)
        for name, groups in left_out.items()
    }


def _by_hand(certificate: Mapping[str, Any] | None) -> str | None:
    return None if certificate is None else "It was chosen by hand, and no certificate covers it."


def _limits(run: Run) -> dict[str, float]:
    """Return the limit of each gap that has one, by column: the requested ones, even if no point meets them."""
    given = _given_limits(run)
    if given is None:
        return {}
    gaps = [column(*criterion) for criterion in run.estimator.front_.criteria]
    named = given if isinstance(given, Mapping) else dict.fromkeys(gaps, given)
    return {name: float(named[name]) for name in gaps if name in named}


def _given_limits(run: Run) -> Any:
    given, rule = run.settings.get("within"), run.estimator.selection
    return rule.limit if given is None and isinstance(rule, MostAccurateWithin) else given


def _performance_limit(run: Run) -> float | None:
    """Return the requested limit on the performance, if there is one."""
    rule, given = run.estimator.selection, _given_limits(run)
    limit = run.settings.get("fairest_within")
    if limit is None and isinstance(given, Mapping):
        limit = given.get(run.estimator.front_.performance.name)
    if limit is None and isinstance(rule, FairestWithin) and rule.performance is None:
        limit = rule.limit
    return None if limit is None else float(limit)


def _asked_share(run: Run) -> tuple[float, float] | None:
    """Return the smallest and largest requested share of people to select, even if no point meets it."""
    given = run.settings.get("select_rate")
    if given is None:
        return read_select_rate(getattr(run.estimator.selection, "select_rate", None))
    numbers = tuple(map(float, str(given).split(",")))  # as `--select-rate` takes them
    return read_select_rate(numbers if len(numbers) > 1 else numbers[0])


def _custom_values(run: Run, row: int) -> Iterator[CustomValue]:
    """Yield the values of custom objectives: on test rows, or on validation rows if they were not measured there."""
    given = _given_limits(run)
    values, rows = (run.custom[row], "test") if run.custom else (run.estimator.front_[row].custom, "validation")
    for name in run.estimator.front_.custom:
        limit = given.get(name) if isinstance(given, Mapping) else None
        yield CustomValue(name, values[name], rows, None if limit is None else float(limit))


def _count(settings: Mapping[str, Any], part: str, counted: float) -> int:
    """Return the number of rows of a part; with weights, counts are not numbers of rows."""
    return int(settings.get("data", {}).get("parts", {}).get(part) or round(float(counted)))


def describe_near_constant(run: Run, row: int) -> str | None:
    """Return a warning if a point is nearly constant on test rows, unless that was requested."""
    front = run.estimator.front_
    if not run.test or _asked_share(run) is not None:
        return None
    favorable = run.estimator.favorable_
    [unfavorable] = [label for label in run.estimator.classes_.tolist() if label != favorable]
    ways = _ways_out(run, row)
    return near_constant_sentence(run.test[row], run.test[0], front.performance, (unfavorable, favorable), ways)


def _ways_out(run: Run, row: int) -> str:
    """Return advice about a nearly constant model, which depends on whether limits are the reason."""
    limit, performance = run.settings.get("within"), run.estimator.front_.performance
    if row:
        gaps = f"Allow gaps larger than {limit:g}" if isinstance(limit, float) else "Allow larger gaps"
        return f"{gaps}, choose another point of the front, or add features."
    if performance != ERROR:
        return "No limit is the reason, since no other point does better: add features, or rows."
    costs = "fp=10,fn=1" if run.test[row].positive_share > 1 / 2 else "fp=1,fn=10"
    return (
        "No limit is the reason, since no other point has a smaller error: train with `--performance balanced_error`, "
        f"or say what mistakes cost, such as `--cost {costs}`."
    )


def _units(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence if intervals count units instead of rows."""
    if units := settings.get("data", {}).get("split", {}).get("units"):
        yield f"Intervals count the {units['test']:,} different values of `{units['column']}`, not rows."


def _near_copies(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each feature that gives the target away, according to the data check."""
    for one in (settings.get("data", {}).get("check") or {}).get("findings", ()):
        if one["finding"] == "near-copy of the target":
            yield (
                f"The feature `{one['column']}` is a near-copy of the target: if it is not known when decisions are "
                "made, drop it and train again, because these figures are then worthless."
            )


def _left_out(run: Run) -> Iterator[str]:
    """Yield a sentence for each gap with groups that are too small for its limit, and took no part in the choice."""
    rule = run.estimator.selection
    if "left_out" not in run.settings or not isinstance(rule, MostAccurateWithin):  # of a run before they were left out
        return
    by_gap: dict[str, list[LeftOutGroup]] = {}
    for group in rule.left_out(run.estimator.front_):
        by_gap.setdefault(group.gap, []).append(group)
    for gap, groups in by_gap.items():
        first, *others = groups
        if not others:
            yield f"Too small for the limit, and left out of the choice: {first}"
            continue
        named = ", ".join(f"{one.group} ({one.rows:,})" for one in groups)
        yield (
            f"Too small for a limit of {first.limit:g} on {gap}, and left out of the choice: {named}. Merge such "
            f"groups with others, collect more rows of them ({first.more_rows:,} of {first.group}), or ask for "
            f"{first.enough:g}."
        )


def _unsupported(run: Run, limits: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence that names the limits that are smaller than the rows could support."""
    floors = supports(run.estimator.front_) if "supports" in run.settings else {}
    small = [f"{name} {floors[name]:.3f}" for name, limit in limits.items() if floors.get(name, 0.0) > limit]
    if small:
        yield (
            f"The smallest limits that these rows could support, for all groups: {', '.join(small)}. Ask for those, "
            "merge small groups, or collect more rows of them."
        )


def _sparse_groups(run: Run, measured_on: str, tally: Tally) -> Iterator[str]:
    """Yield a sentence that names the groups whose few rows make the interval of a gap wide, if it has a limit."""
    limits, small = _limits(run), dict[str, None]()
    for notion, attribute in run.estimator.front_.criteria:
        if column(notion, attribute) not in limits:
            continue
        cells = tally.counts[attribute]
        by_label = {1: cells[:, [0, 2]].sum(axis=1), 0: cells[:, [1, 3]].sum(axis=1)}
        fewest = np.min([sum(by_label[label] for label in rate.labels) for rate in notion.rates], axis=0)
        few = zip(run.groups.get(attribute, ()), fewest.tolist(), strict=False)
        small |= {f"{attribute}={group}": None for group, rows in few if rows < _ENOUGH}
    if small and tally.squares is None:  # with weights, counts are not numbers of rows
        yield (
            f"Fewer than {_ENOUGH} {measured_on} rows, which makes intervals wide: {cut(', '.join(small), PATH)}. Test "
            "on more such rows, or train with a larger `--min-group`, which leaves these groups out of the gaps and "
            "names them."
        )


def _explain(run: Run) -> str:
    """Return how the point was chosen, in one sentence."""
    rule, front = run.estimator.selection, run.estimator.front_
    performance = getattr(rule, "performance", None)  # a rule may judge points of a front by other prices
    name = (front.performance if performance is None else as_performance(performance)).name.replace("_", " ")
    best = "the most accurate model" if name == "error" else f"the model with the least {name}"
    if isinstance(rule, MostAccurateWithin):
        if rule.confidence is not None:
            return f"It is {best} of those that calibration rows certify."
        if run.estimator.selection_note_ is not None:
            return "No model is what was asked for: it is the one that comes nearest on validation rows."
        errors = "standard error" if rule.margin == 1 else "standard errors"
        room = f" by {rule.margin:g} {errors}" if rule.margin else ""
        return f"It is {best} whose gaps are within the limits{room} on validation rows."
    if isinstance(rule, FairestWithin):
        errors = "standard error" if rule.margin == 1 else "standard errors"
        room = f" by {rule.margin:g} {errors}" if rule.margin else ""
        return (
            f"Its largest gap is the smallest of all models whose {name} is within the limit{room} on validation rows."
        )
    if isinstance(rule, ClosestToIdeal):
        return f"It is the model closest to zero {name} and zero gaps on validation rows."
    return f"It was chosen by {rule!r} on validation rows."
