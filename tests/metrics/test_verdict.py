"""Verdicts: what was asked, and what rows say about it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter
from mamofair.metrics import (
    Assessment,
    CustomValue,
    GapVerdict,
    SelectedShare,
    Verdict,
    audit,
    gap_verdicts,
    worst_answer,
)
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, FN, FP, TN, TP, Rate, column

UNITS = st.floats(0, 1)


def verdict_of(limit: float | None, low: float, gap: float | None, high: float) -> GapVerdict:
    return GapVerdict("dp[sex]", "dp", "sex", limit, gap, low, high, rows=100)


@given(limit=UNITS, ends=st.tuples(UNITS, UNITS, UNITS))
def test_a_limit_is_kept_only_if_the_whole_interval_is_within_it(limit, ends):
    low, gap, high = sorted(ends)
    answer = verdict_of(limit, low, gap, high).answer
    assert (answer == "kept") == (high <= limit)
    assert (answer == "not kept") == (low > limit)
    assert verdict_of(None, low, gap, high).answer is None
    assert verdict_of(limit, 0.0, None, 1.0).answer == "cannot be told"


@given(st.lists(st.sampled_from(["kept", "cannot be told", "not kept", None])))
def test_the_worst_answer_counts(answers):
    ends = {"kept": (0, 0.01, 0.02), "cannot be told": (0, 0.05, 0.1), "not kept": (0.1, 0.2, 0.3)}
    gaps = [verdict_of(None if one is None else 0.05, *ends.get(one, (0, 0, 0))) for one in answers]
    order = ["not kept", "cannot be told", "kept"]
    assert worst_answer(gaps) == min((one for one in answers if one), key=order.index, default=None)


def rows_of_two_groups(n: int = 4000) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    people = {"sex": rng.choice(["f", "m"], n), "race": rng.choice(["a", "b", "c"], n)}
    y = rng.random(n) < 0.5
    return y, rng.random(n) < np.where(people["sex"] == "f", 0.3, 0.4), people


def test_answers_are_those_of_an_audit():
    y, decided, people = rows_of_two_groups()
    criteria = [(notion, name) for name in people for notion in (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY)]
    [tally] = Counter.of(y, read_groups(people))(decided[None])
    for limit in (0.02, 0.05, 0.1, 0.2):
        limits = {column(*one): limit for one in criteria}
        performance, gaps = gap_verdicts(tally, criteria, limits)
        frame = audit(
            y, decided, sensitive_features=people, notions=[DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY], limit=limit
        ).frame()
        same = {"within": "kept", "exceeds": "not kept", "inconclusive": "cannot be told"}
        for one in gaps:
            own = frame[(frame["notion"] == one.notion) & (frame["attribute"] == one.attribute)].iloc[0]
            assert (one.gap, one.low, one.high) == pytest.approx((own["gap"], own["low"], own["high"]))
            assert one.answer == same[own["verdict"]]
            assert one.rows == len(y)
    assert performance[:2] == ("error", pytest.approx(np.mean(y != decided)))


def test_a_gap_without_two_groups_cannot_be_told():
    y, decided, _ = rows_of_two_groups(40)
    [tally] = Counter.of(y, read_groups({"sex": np.repeat("f", len(y))}))(decided[None])
    _, [only] = gap_verdicts(tally, [(DEMOGRAPHIC_PARITY, "sex")], {"demographic_parity[sex]": 1.0})
    assert only.gap is None
    assert only.answer == "cannot be told"
    sentences = a_verdict(asked={only.name: 1.0}, gaps=(only,)).sentences()
    assert f"{only.name}: cannot be told, since fewer than two groups have rows to compare." in sentences


def a_verdict(**changes) -> Verdict:
    gap = verdict_of(0.05, 0.042, 0.055, 0.068)
    plain = Verdict(
        asked={"dp[sex]": 0.05},
        confidence=None,
        gaps=(gap,),
        measured_on="test",
        rows=12_210,
        level=0.95,
        point=7,
        why="It is the most accurate model.",
        performance=("error", 0.15, 0.14, 0.16),
    )
    return replace(plain, **changes)


def test_a_verdict_in_words():
    verdict = a_verdict()
    assert verdict.headline == "Cannot be told whether the limit is kept"
    assert verdict.sentences() == [
        "You asked for gaps of at most 0.05. The answers below come from 12,210 test rows, which played no part in "
        "the choice.",
        "dp[sex]: cannot be told. The gap is 0.055 (0.042–0.068 with 95% confidence), the limit 0.05.",
    ]
    kept = a_verdict(gaps=(verdict_of(0.05, 0.01, 0.02, 0.04),))
    assert (kept.answer, kept.headline) == ("kept", "Kept")
    beyond = a_verdict(gaps=(verdict_of(0.05, 0.1, 0.13, 0.15),))
    assert (beyond.answer, beyond.headline) == ("not kept", "Not kept: test rows exceed the limit")
    assert a_verdict(asked={}, gaps=(verdict_of(None, 0, 0.1, 0.2),)).headline == "No limit was asked for"


def test_a_stand_in_is_never_shown_as_what_was_asked_for():
    failed = {"status": "not enough data", "message": "Not enough data for dp[sex] ≤ 0.05.", "confidence": 0.95}
    kept = (verdict_of(0.05, 0.01, 0.02, 0.04),)
    verdict = a_verdict(gaps=kept, stand_in="No point was certified.", certificate=failed, confidence=0.95)
    assert verdict.headline == "Not what was asked for: the nearest was chosen"
    assert "The chosen model is not what was asked for. No point was certified." in verdict.sentences()
    certified = {"status": "certified", "message": "Row 7 is certified: dp[sex] ≤ 0.05.", "confidence": 0.95}
    unsure = a_verdict(certificate=certified, confidence=0.95)
    assert unsure.headline == "Certified, but test rows alone cannot confirm the limit"
    assert certified["message"] in unsure.sentences()


def test_a_constant_classifier_is_never_simply_kept():
    constant = a_verdict(gaps=(verdict_of(0.05, 0.0, 0.0, 0.01),), is_constant=True)
    assert constant.answer == "kept"
    assert constant.headline == "Kept only because everyone gets the same decision"
    found = Assessment.of_verdict(constant)
    assert found.outcome == "inconclusive"
    assert "everyone the same decision" in found.sentences()[-1]


def test_rows_that_somebody_may_have_seen_are_not_called_untouched():
    assert "which played no part in the choice" in a_verdict().sentences()[0]
    assert "which may have influenced the choice" in a_verdict(by_hand=True).sentences()[0]
    assert "also used to choose" in a_verdict(measured_on="validation").sentences()[0]


def test_a_verdict_is_plain_json():
    plain = json.loads(json.dumps(a_verdict(unjudged=({"attribute": "race", "group": "x", "rows": 12},)).to_json()))
    assert plain["asked"] == {"limits": {"dp[sex]": 0.05}, "confidence": None}
    assert plain["answer"] == plain["gaps"][0]["answer"] == "cannot be told"
    assert plain["measured_on"] == {"rows": "test", "count": 12_210, "confidence": 0.95}
    assert plain["chosen"]["point"] == 7
    assert "race=x (12 rows to learn from)" in plain["sentences"][-1]


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (Rate(TP | FP), "predicted repaid"),
        (Rate(FP, given=FP | TN), "predicted repaid, among those whose loan is default"),
        (Rate(TP, given=TP | FP), "whose loan is repaid, among those predicted repaid"),
        (Rate(TP | TN), "predicted correctly"),
        (Rate(TP, given=TP | TN), "predicted repaid, among those predicted correctly"),
        (Rate(FN | TN), "predicted default"),
    ],
)
def test_rates_are_written_in_the_users_own_labels(rate, words):
    assert rate.describe("repaid", "default", "loan") == words


def test_a_share_is_judged_by_its_whole_interval():
    def share(low, high, asked=(0.0, 0.1)):
        return SelectedShare((low + high) / 2, low, high, observed=0.3, asked=asked)

    assert [share(0.08, 0.1).answer, share(0.09, 0.12).answer, share(0.11, 0.12).answer] == [
        *("kept", "cannot be told", "not kept"),
    ]
    assert [share(low, high, (0.1, 0.2)).answer for low, high in ((0.05, 0.09), (0.09, 0.15), (0.12, 0.18))] == [
        *("not kept", "cannot be told", "kept"),
    ]
    assert share(0.11, 0.12, None).answer is None
    assert share(0.1, 0.2, (0.1, 0.2)).to_json()["asked"] == [0.1, 0.2]


def test_a_share_of_people_is_that_of_the_rows_with_wilsons_interval():
    y, decided, people = rows_of_two_groups(40)
    [tally] = Counter.of(y, read_groups(people))(decided[None])
    share = SelectedShare.of(tally, (0.0, 0.5), 0.95)
    expected = binomtest(int(decided.sum()), len(y)).proportion_ci(method="wilson")
    assert (share.value, share.observed) == pytest.approx((decided.mean(), y.mean()))
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high))


def test_what_else_was_asked_for_is_part_of_the_answer():
    kept = (verdict_of(0.05, 0.01, 0.02, 0.04),)
    many = SelectedShare(0.3, 0.25, 0.35, 0.3, asked=(0.0, 0.1))
    verdict = a_verdict(gaps=kept, selected=many, custom=(CustomValue("size", 0.2, "test", limit=0.1),))
    assert verdict.headline == "Kept; the share selected is not kept; size is above its limit"
    assert verdict.sentences()[-2:] == [many.sentence(), verdict.custom[0].sentence()]
    unasked = a_verdict(
        gaps=kept, selected=SelectedShare(0.3, 0.25, 0.35, 0.3), custom=(CustomValue("size", 0.2, "test"),)
    )
    assert unasked.headline == "Kept"
    assert len(unasked.sentences()) == 2
    alone = a_verdict(
        asked={}, gaps=(verdict_of(None, 0, 0.1, 0.2),), selected=SelectedShare(0.1, 0, 0.2, 0.3, (0, 0.3))
    )
    assert alone.headline == "No limit on gaps was asked for"
