"""How a run is judged by a policy: its chosen point, on test rows where there are any, and no small group forgotten."""

from dataclasses import replace

import pytest

from mamofair.metrics import Policy, assess
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.runs import assess_run
from run_fits import fitted, net, run_of

POLICY = Policy(("group",), (DEMOGRAPHIC_PARITY,), limit=0.05)


@pytest.fixture(scope="module")
def run():
    return run_of(fitted(net()))


def test_the_chosen_point_is_assessed_on_test_rows_or_else_on_validation_rows(run):
    chosen = run.estimator.selected_
    assert assess_run(run, POLICY) == assess(POLICY, run.test[chosen], run.groups)
    untested = replace(run, test=())
    assert assess_run(untested, POLICY) == assess(POLICY, run.estimator.front_[chosen].valid, run.groups)
    assert assess_run(untested, POLICY) != assess_run(run, POLICY)


def test_groups_that_were_too_small_to_learn_from_are_named(run):
    small = [{"attribute": "group", "group": group, "rows": rows} for group, rows in (("a", 7), ("b", 9))]
    assessed = assess_run(replace(run, settings=run.settings | {"data": {"small_groups": small}}), POLICY)
    told = [f"group={group} could not be assessed: {rows} rows are too few." for group, rows in (("a", 7), ("b", 9))]
    assert assessed.unassessed == tuple(told)
    assert assessed.outcome != "within"
