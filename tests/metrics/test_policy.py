"""Policies and gates: what is required, and that nothing that was not assessed is within."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter
from mamofair.metrics import EXIT_CODES, Assessment, GapVerdict, Policy, assess, audit, read_policy
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, as_notion

DP, EOPP = DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
TEXT = """
attributes = ["sex", "race"]
notions = ["dp", "equal_opportunity"]
limit = 0.05
confidence = 0.9
min_rows = 100
exempt = ["race=other", "eopp"]

[limits]
"dp[race]" = 0.08
"""


def written(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_policy_is_read_from_a_file(tmp_path):
    policy = read_policy(written(tmp_path, TEXT))
    assert policy == Policy(
        attributes=("sex", "race"),
        notions=(DP, EOPP),
        limit=0.05,
        limits={"demographic_parity[race]": 0.08},
        confidence=0.9,
        min_rows=100,
        exempt=("race=other", "equal_opportunity"),
    )
    assert policy.limit_of(DP, "race") == 0.08
    assert policy.limit_of(EOPP, "race") == policy.limit_of(DP, "sex") == 0.05


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("attributes = [", "must be a TOML file"),
        ('notions = ["dp"]\nlimit = 0.1', "must say which attributes are required: add `attributes = "),
        ('attributes = ["sex"]\nlimit = 0.1', "must say which notions are required"),
        ('attributes = ["sex"]\nnotions = ["dp"]', r"must have a limit for demographic_parity\[sex\]"),
        ('attributes = ["sex"]\nnotions = ["dp"]\nlimit = 5', "5 % is 0.05"),
        ('attributes = ["sex"]\nnotions = ["dp"]\nlimit = 0.1\nconfidence = 95', "must be between 0 and 1: found 95"),
        ('attributes = ["sex"]\nnotions = ["dp"]\nlimit = 0.1\nmin_rows = 0', "`min_rows` of the policy must be"),
        ('attributes = ["sex"]\nnotions = ["dpp"]\nlimit = 0.1', "No notion is called 'dpp'"),
        ('attributes = ["sex"]\nnotion = ["dp"]\nlimit = 0.1', "no 'notion'. Did you mean notions?"),
        ('attributes = [1]\nnotions = ["dp"]\nlimit = 0.1', "must be a list of names"),
        ('attributes = ["sex"]\nnotions = ["dp"]\nlimits = 0.1', "must be a table"),
        ('attributes = ["sex"]\nnotions = ["dp"]\nlimit = 0.1\n[limits]\neopp = 0.2', "has no notion or gap"),
        ('attributes = ["sex"]\nnotions = ["conditional_dp"]\nlimit = 0.1', "within strata"),
    ],
)
def test_each_mistake_in_a_policy_is_one_sentence(text, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        read_policy(written(tmp_path, text))


def decisions(rates: dict[str, float], rows: int = 3000):
    rng = np.random.default_rng(0)
    people = np.repeat(list(rates), rows)
    decided = rng.random(len(people)) < np.repeat(list(rates.values()), rows)
    return decided, rng.random(len(people)) < 0.5, people


def assessed(policy, decided, y, people, **more):
    groups = read_groups({"sex": people})
    [tally] = Counter.of(y, groups)(decided[None])
    return assess(policy, tally, dict(zip(groups.names, groups.values, strict=True)), **more)


@pytest.mark.parametrize(
    ("rates", "outcome"),
    [
        ({"f": 0.4, "m": 0.4}, "within"),
        ({"f": 0.3, "m": 0.5}, "exceeds"),
        ({"f": 0.36, "m": 0.4}, "inconclusive"),
    ],
)
def test_the_outcome_is_that_of_an_audit(rates, outcome):
    decided, y, people = decisions(rates)
    policy = Policy(("sex",), (DP,), limit=0.05)
    found = assessed(policy, decided, y, people)
    [verdict] = audit(y, decided, sensitive_features={"sex": people}, notions=DP, limit=0.05).frame()["verdict"]
    assert found.outcome == outcome == verdict
    assert found.exit_code == {"within": 0, "exceeds": 3, "inconclusive": 4}[outcome]
    assert json.loads(json.dumps(found.to_json()))["outcome"] == outcome


def test_what_cannot_be_assessed_is_never_within():
    decided, y, people = decisions({"f": 0.4, "m": 0.4})
    missing = assessed(Policy(("sex", "race"), (DP,), limit=0.05), decided, y, people)
    assert missing.outcome == "inconclusive"
    assert missing.unassessed == ("race could not be assessed: it is not among the sensitive attributes.",)
    blind = assessed(Policy(("sex",), (DP, EOPP), limit=0.05), decided, y, people, has_labels=False)
    assert blind.outcome == "inconclusive"
    assert blind.unassessed == ("equal_opportunity[sex] could not be assessed: it needs true labels.",)
    exempt = Policy(("sex",), (DP, EOPP), limit=0.05, exempt=("equal_opportunity",))
    assert assessed(exempt, decided, y, people, has_labels=False).outcome == "within"
    left_out = assessed(Policy(("sex",), (DP,), limit=0.05), decided, y, people, left_out={"sex": {"x": 12}})
    assert left_out.outcome == "inconclusive"
    assert left_out.unassessed == ("sex=x could not be assessed: 12 rows are too few.",)


def test_small_groups_count_as_inconclusive_unless_they_are_exempt():
    decided, y, people = decisions({"f": 0.4, "m": 0.4})
    decided, y, people = np.append(decided, [True] * 12), np.append(y, [True] * 12), np.append(people, ["x"] * 12)
    small = assessed(Policy(("sex",), (DP,), limit=0.05), decided, y, people)
    assert small.outcome == "inconclusive"
    assert "sex=x could not be assessed: 12 rows for demographic_parity[sex] are too few." in small.unassessed
    exempt = assessed(Policy(("sex",), (DP,), limit=0.05, exempt=("sex=x",)), decided, y, people)
    assert exempt.outcome == "within"
    only = assessed(Policy(("sex",), (DP,), limit=0.05, exempt=("sex=x", "sex=f")), decided, y, people)
    assert only.outcome == "inconclusive"


def test_a_limit_that_is_exceeded_counts_more_than_what_is_unknown_or_exempt():
    decided, y, people = decisions({"f": 0.3, "m": 0.5})
    policy = Policy(("sex", "race"), (DP,), limit=0.05, exempt=("demographic_parity",))
    found = assessed(policy, decided, y, people)
    assert found.outcome == "exceeds"
    assert "demographic_parity[sex] is" in found.sentences()[1]


def test_ratios_can_be_required():
    decided, y, people = decisions({"f": 0.2, "m": 0.5})
    policy = Policy(("sex",), (as_notion("dp_ratio"),), limit=0.2)
    assert assessed(policy, decided, y, people).outcome == "exceeds"


@given(
    answers=st.lists(st.sampled_from(["kept", "cannot be told", "not kept"])),
    unassessed=st.lists(st.just("It could not be assessed."), max_size=1),
)
def test_within_means_that_everything_is_kept(answers, unassessed):
    ends = {"kept": (0.0, 0.01, 0.02), "cannot be told": (0.0, 0.05, 0.1), "not kept": (0.1, 0.2, 0.3)}
    gaps = [GapVerdict("dp[sex]", "dp", "sex", 0.05, ends[one][1], ends[one][0], ends[one][2], 100) for one in answers]
    outcome = Assessment(tuple(gaps), tuple(unassessed)).outcome
    assert (outcome == "within") == (bool(answers) and set(answers) == {"kept"} and not unassessed)
    assert (outcome == "exceeds") == ("not kept" in answers)
    assert outcome in EXIT_CODES
