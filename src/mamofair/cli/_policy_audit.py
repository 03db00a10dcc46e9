"""The terms of an audit, from options or from a policy, so that table, page and gate agree."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mamofair.metrics import DEFAULT_NOTIONS, MAX_UNKNOWN, Assessment, Audit, Policy

__all__ = ["AuditTerms", "explain_differences", "option_terms", "policy_terms"]


@dataclass(frozen=True)
class AuditTerms:
    """What an audit measures and compares with, and a sentence for each part of a policy that it cannot show."""

    notions: Any = DEFAULT_NOTIONS
    limit: float | Mapping[str, float] = 0.05
    confidence: float = 0.95
    remarks: tuple[str, ...] = ()
    max_unknown: float = MAX_UNKNOWN


def option_terms(
    policy: Policy | None,
    notions: list[str] | None,
    limit: float | None,
    confidence: float | None,
    max_unknown: float | None = None,
) -> AuditTerms:
    """Return the terms from options, with defaults for those that are None. With a policy, no option may be given."""
    given = {"--notion": notions, "--limit": limit, "--confidence": confidence}
    for option, value in given.items():
        if policy is not None and value is not None:
            raise ValueError(f"`--policy` says what is audited: leave `{option}` out, or change the policy.")
    default = AuditTerms()
    return AuditTerms(
        notions or default.notions,
        default.limit if limit is None else limit,
        default.confidence if confidence is None else confidence,
        max_unknown=default.max_unknown if max_unknown is None else max_unknown,
    )


def policy_terms(policy: Policy, attributes: Iterable[str], *, has_labels: bool) -> AuditTerms:
    """Return a policy as the terms of an audit of these attributes.

    An audit has one limit for each notion: the smallest of those that the policy has for it. Without true labels,
    notions that need them are left out.
    """
    notions = [notion for notion in policy.notions if has_labels or not notion.needs_labels]
    if not notions:
        shown = "None of the policy's notions can be measured without true labels: the table shows what can."
        return AuditTerms(confidence=policy.confidence, remarks=(shown,))
    named = {*attributes}
    audited = [name for name in policy.attributes if name in named] or list(policy.attributes)
    limits = {notion.name: {policy.limit_of(notion, name) for name in audited} for notion in notions}
    remarks = tuple(
        f"The policy's limits for {name} differ by attribute: the table judges all by the smallest, {min(values):g}, "
        "and the gate each by its own."
        for name, values in limits.items()
        if len(values) > 1
    )
    return AuditTerms(notions, {name: min(values) for name, values in limits.items()}, policy.confidence, remarks)


def explain_differences(terms: AuditTerms, audit: Audit, assessment: Assessment | None) -> Iterator[str]:
    """Yield how an audit's table differs from the gate: it has one limit per notion, and all groups."""
    yield from terms.remarks
    frame = audit.frame()
    shown = dict(zip(frame["notion"] + "[" + frame["attribute"] + "]", frame["gap"].tolist(), strict=True))
    for gap in () if assessment is None else assessment.gaps:
        if gap.name in shown and gap.gap is not None and abs(gap.gap - shown[gap.name]) > 1e-9:
            yield (
                f"{gap.name} is {gap.gap:.3f} for the gate, which leaves out groups that are exempt or too small, and "
                f"{shown[gap.name]:.3f} in the table, which compares more groups."
            )
