"""Assessment of an audit by a policy, or by its own limits."""

import numpy as np

from mamofair.metrics._assessment import Assessment, assess, few_rows
from mamofair.metrics._audit_result import Audit
from mamofair.metrics._policy import MAX_UNKNOWN, Policy
from mamofair.metrics._verdict import GapVerdict

__all__ = ["assess_audit"]


def assess_audit(audit: Audit, policy: Policy | None = None, *, max_unknown: float = MAX_UNKNOWN) -> Assessment:
    """Return the assessment of an audit's decisions: by a policy, or by the limits of the audit.

    Without true labels, a policy's notions that need them count as not assessed; so do groups that the audit leaves out
    of its gaps. Where the group of more than `max_unknown` of the rows is unknown, or of more than the policy's share,
    nothing is known to be kept.

    >>> from mamofair import audit
    >>> result = audit([1, 0] * 500, [1, 0, 0, 0] * 250, sensitive_features=["f", "f", "m", "m"] * 250, limit=0.1)
    >>> assess_audit(result).outcome
    'exceeds'
    """
    if policy is not None:
        groups = dict(zip(audit.people.names, audit.people.values, strict=True))
        return assess(policy, audit.tally, groups, has_labels=audit.has_truth)
    limits = {notion.name: limit for notion, limit in audit.limits.items()}
    unknown = audit.unknown_rows
    gaps = [
        GapVerdict(
            name=f"{notion}[{attribute}]",
            notion=notion,
            attribute=attribute,
            limit=limits[notion],
            gap=None if np.isnan(gap) else gap,
            low=low,
            high=high,
            rows=audit.rows - unknown[attribute],
        )
        for notion, attribute, gap, low, high, _ in audit.frame().to_numpy(dtype=object).tolist()
    ]
    counted = "rows" if audit.decisions.units is None else "units"
    small = [
        few_rows(name, group, count, counted=counted)
        for name, sizes in audit.small_groups.items()
        for group, count in sizes.items()
    ]
    criteria = [(notion, name) for notion in audit.limits for name in audit.tally.counts if name in audit.people.names]
    return Assessment(tuple(gaps), tuple(small)).with_unknown(audit.tally, criteria, most=max_unknown)
