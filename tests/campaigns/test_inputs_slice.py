"""A short seeded slice of the campaign of inputs, and that its judge would notice what is wrong."""

import json
from collections import Counter
from fractions import Fraction

import pytest
from campaigns._oracles import Refusal, group_rates, largest_gap, volume
from campaigns._trials import Trial
from campaigns.inputs import ALARMS

import forked
from mamofair._rows.groups import read_groups

#: In a process of its own: tests check types at run time, and would refuse odd input before the library does.
SCRIPT = """
import json
from dataclasses import asdict
from campaigns.inputs import case
print(json.dumps([asdict(case(seed)) for seed in range(120)]))
"""


def test_a_slice_of_the_inputs_is_answered_right_or_refused():
    said = forked.run(exec, SCRIPT, {})
    assert said.returncode == 0, said.stderr
    results = json.loads(said.stdout)
    assert [result for result in results if result["outcome"] in ALARMS] == []
    outcomes = Counter(result["outcome"] for result in results)
    assert set(outcomes) == {"right", "refused"}
    assert min(outcomes.values()) > 20
    assert len({result["kind"] for result in results}) > 10


def raises(error):
    raise error


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: 0.5, "found 0.5"),
        (lambda: raises(KeyError("sex")), "not a type we raise"),
        (lambda: raises(ValueError("of this test")), "not in our words"),
        (lambda: int("x"), "not in our words"),
        (lambda: read_groups([["a"] * 3] * 2 + [["b"] * 2]), None),
    ],
)
def test_the_judge_tells_wrong_answers_and_errors_of_others(call, problem):
    result = Trial("a trial", call, lambda answer: f"found {answer}").run()
    assert result.outcome == ("refused" if problem is None else "wrong")
    assert (problem or "") in result.detail


def test_the_judge_tells_answers_where_there_is_none_and_refusals_of_good_input():
    assert Trial("a trial", lambda: 1, lambda _: None, Refusal("nothing is right")).run().outcome == "wrong"
    assert Trial("a trial", lambda: read_groups({}), lambda _: None, is_plain=True).run().outcome == "wrong"
    assert Trial("a trial", lambda: 1, lambda _: None, is_plain=True).run().outcome == "right"


def test_the_oracles_agree_with_what_is_counted_by_hand():
    ones = [Fraction(1)] * 4
    rates = group_rates([1, 1, 0, 1], [1, 0, 0, 1], ones, ["f", "f", "m", "m"], "equal_opportunity")
    assert rates == [{"f": 0.5, "m": 1.0}]
    assert largest_gap(rates) == 0.5
    assert volume([[0.5, 0.2], [0.2, 0.5]], [1, 1]) == pytest.approx(0.5 * 0.8 + 0.8 * 0.5 - 0.5 * 0.5)
