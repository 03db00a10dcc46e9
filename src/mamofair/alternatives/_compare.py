"""Selecting one model on some rows, and testing it on others."""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from mamofair._rows.splits import stratified_order
from mamofair._stats.reductions import joint_gaps, lower_limit, widest_pair
from mamofair.alternatives._answer import Alternative, Change
from mamofair.alternatives._costs import estimate_loss, measure_cost
from mamofair.alternatives._decisions import PairedDecisions, joint_rates
from mamofair.explanations import WhoPays, who_pays
from mamofair.fronts import Criterion
from mamofair.notions import column
from mamofair.performance import ERROR, Cost

__all__ = ["compare"]


def compare(
    decisions: PairedDecisions,
    criteria: Sequence[Criterion],
    criterion: Criterion,
    *,
    margin: float,
    confidence: float,
    random_state: int,
    performance: Cost = ERROR,
) -> Alternative:
    """Select one of the models on half of the rows, and test it against the incumbent on the other half."""
    strata = np.column_stack([decisions.y, decisions.groups.codes])
    order = stratified_order(strata, np.random.default_rng(random_state))
    picking, test = (decisions[np.sort(part)] for part in np.array_split(order, 2))
    risk = 1 - confidence
    place, promising = pick(picking, criterion, margin, risk, performance)
    picking, test = picking.of_models([place]), test.of_models([place])
    return Alternative(
        criterion=column(*criterion),
        margin=margin,
        confidence=confidence,
        tested=place,
        models=len(decisions.models),
        picking_rows=len(picking),
        test_rows=len(test),
        promising=promising,
        performance=performance.name,
        error=measure_cost(test, performance, risk),
        gaps={column(*each): measure_gap(test, picking, each, risk) for each in criteria},
        people=count_people(decisions.of_models([place]), criterion),
    )


def pick(
    rows: PairedDecisions, criterion: Criterion, margin: float, risk: float, performance: Cost = ERROR
) -> tuple[int, bool]:
    """Return the model to test, and whether it looks like an alternative on these rows.

    Among the models that do, it is the one with the largest chance⁴ × reduction, where the chance is that as many other
    rows confirm the smaller gap and the error within the margin. The power accounts for the luck of the best of many:
    on Adult, 4 found alternatives 1.4 to 2 times as often as 1, with reductions about a third smaller, so that the mean
    over all draws, counting none as 0, was about the same (docs/results/alternatives.md). If no model looks like an
    alternative, it is the one that comes closest, in standard errors.
    """
    notion, attribute = criterion
    rates, table = joint_rates(notion), rows.joint(attribute)
    loss, most_loss = estimate_loss(rows, performance, risk)
    before, after = joint_gaps(table, rates)
    reduction, z = before - after, -ndtri(risk)
    least_reduction = lower_limit(table, rates, widest_pair(table[0], rates), risk)
    strengths = z * np.array([(margin - loss) / (most_loss - loss), reduction / (reduction - least_reduction)])
    promising = (loss <= margin) & (reduction > 0)
    if not promising.any():
        return int(strengths.min(axis=0).argmax()), False
    chance = ndtr((strengths - z) / np.sqrt(2)).prod(axis=0)  # the test rows will be as uncertain as these
    return int(np.where(promising, chance**4 * reduction, -np.inf).argmax()), True


def measure_gap(rows: PairedDecisions, others: PairedDecisions, criterion: Criterion, risk: float) -> Change:
    """Return the change of a gap from the incumbent to the (one) model; other rows say which groups to compare."""
    notion, attribute = criterion
    rates = joint_rates(notion)
    [table], [guide] = rows.joint(attribute), others.joint(attribute)
    before, after = joint_gaps(table, rates)
    most = -lower_limit(table, rates, widest_pair(guide, rates), risk)
    swapped = table.swapaxes(-1, -2)
    least = lower_limit(swapped, rates, widest_pair(guide, rates, second=True), risk)
    return Change(float(before), float(after), max(float(least), -1.0), min(float(most), 1.0))


def count_people(decisions: PairedDecisions, criterion: Criterion) -> WhoPays:
    """Return whose decisions change, in every group."""
    features = {
        name: np.array([*values, None], dtype=object)[codes]
        for name, values, codes in zip(
            decisions.groups.names, decisions.groups.values, decisions.groups.codes.T, strict=True
        )
    }
    changes = who_pays(
        decisions.incumbent, decisions.models[0], y_true=decisions.y, sensitive_features=features, favorable=True
    )
    return WhoPays(changes.flows, (criterion,))
