"""Questions that may be asked again: what they keep, what they answer, and the promise itself, by simulation."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from estimators.small_fits import GROUP, TOY, fitted, small, two_attributes
from examples_of_points import criteria, point
from mamofair._rows.groups import read_groups
from mamofair._stats.certificates import is_within, newcombe
from mamofair.datasets import make_toy
from mamofair.fronts import Counter, Front, Point, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS, PREDICTIVE_PARITY
from mamofair.selection import MostAccurateWithin, Question
from mamofair.selection._certified import Demand, order_rows
from mamofair.selection._rows import Pool

NAMES = {"a": ("men", "women"), "b": ("old", "young")}
LADDER = ((200, 5), (190, 20), (180, 30), (170, 60))
A = "demographic_parity[a]"


def front(*rows: tuple[int, ...]) -> Front:
    """Points with an error and gaps on validation rows in thousandths; the rate of the second group is .2."""
    points = []
    for row in rows:
        counts = dict(point(*row).valid.counts)
        for name, gap in zip("ab", row[1:], strict=False):
            counts[name] = np.array([[200.0 + gap, 0, 800 - gap, 0], [200, 0, 800, 0]])
        points.append(Point(Tally(counts)))
    return Front(tuple(points), criteria(len(rows[0]) - 1), NAMES)


def draw(rng: np.random.Generator, rates: np.ndarray, rows: int, women: float = 0.5):
    """Labels, decisions of points whose rates for men and women are known, and groups; points share their luck."""
    group = rng.choice(["men", "women"], rows, p=[1 - women, women])
    decided = rng.random(rows) < np.where(group == "men", rates[:, :1], rates[:, 1:])
    return rng.integers(0, 2, rows), decided, pd.DataFrame({"a": group})


def ask(question: Question, rng: np.random.Generator, rates: np.ndarray, rows: int, **more) -> Question:
    y, decided, people = draw(rng, rates, rows, **more)
    return question.update(y, decided, sensitive_features=people)


def gaps(*differences: float, base: float = 0.2) -> np.ndarray:
    return np.array([[base + difference, base] for difference in differences])


def test_order_limits_and_confidence_are_fixed_when_the_question_is_asked():
    ours = front(*LADDER)
    question = Question.of(ours, 0.05, 0.95)
    assert list(question.sequence) == order_rows(ours, Demand(dict.fromkeys(ours.criteria, 0.05), 0.05), Pool())
    assert question.answer.limits == {A: 0.05}
    assert question.answer.status == "not enough data"
    assert question.answer.intervals == {A: (0.0, 1.0)}
    assert question.rows == 0


def test_more_rows_certify_one_point_after_the_other(rng):
    question, rates, passed = Question.of(front(*LADDER), 0.05, 0.95), gaps(0, 0, 0.02, 0.08), []
    for _ in range(6):
        question = ask(question, rng, rates, 4000)
        passed.append(question.answer.passed)
    assert passed == sorted(passed)
    assert passed[-1] == 3
    answer = question.answer
    assert answer.row == question.sequence[2]
    assert answer.message == f"Row {answer.row} is certified: {A} ≤ 0.05 with 95 % confidence."
    assert answer.intervals[A][0] <= 0.02 <= answer.intervals[A][1] <= 0.05


def test_first_point_that_does_not_pass_ends_the_sequence(rng):
    question = ask(Question.of(front(*LADDER), 0.05, 0.95), rng, gaps(0, 0.09, 0, 0), 20_000)
    assert question.answer.passed == 1


def test_no_solution_is_said_if_the_first_point_is_shown_to_exceed(rng):
    question = ask(Question.of(front(*LADDER), 0.05, 0.95), rng, gaps(0.12, 0, 0, 0), 8000)
    answer = question.answer
    assert (answer.status, answer.row) == ("no solution", None)
    assert answer.intervals[A][0] > 0.05
    assert "Allow larger limits" in answer.message


def test_what_has_passed_has_passed_for_good(rng):
    question = Question.of(front((200, 5)), 0.05, 0.9)
    question = ask(question, rng, gaps(0), 12_000)
    assert question.answer.status == "certified"
    assert ask(question, rng, gaps(0.3), 12_000).answer.status == "certified"


def test_order_of_rows_within_an_update_does_not_matter(rng):
    y, decided, people = draw(rng, gaps(0, 0.01, 0.02, 0.03), 600)
    order = np.argsort(decided[0], kind="stable")
    question = Question.of(front(*LADDER), 0.05, 0.95)
    one = question.update(y, decided, sensitive_features=people)
    other = question.update(y[order], decided[:, order], sensitive_features=people.iloc[order])
    assert one.to_json() == other.to_json()


def test_looking_more_often_can_only_help(rng):
    y, decided, people = draw(rng, gaps(0, 0, 0, 0), 1200)
    once = twice = Question.of(front(*LADDER), 0.1, 0.9)
    once = once.update(y, decided, sensitive_features=people)
    for part in (slice(700), slice(700, None)):
        twice = twice.update(y[part], decided[:, part], sensitive_features=people.iloc[part])
    assert twice.rows == once.rows == 1200
    for often, seldom in zip(twice.points, once.points, strict=True):
        np.testing.assert_array_equal(often.tally.counts["a"], seldom.tally.counts["a"])
        enough = -np.log(0.1)  # what has been enough is not looked at again
        assert all(x >= min(y, enough) - 0.03 for x, y in zip(often.wealth, seldom.wealth, strict=True))


def test_counts_are_those_of_a_tally_for_every_kind_of_rate(rng):
    """Rates over everyone, given the label and given the prediction: the events and rows are those of the audit."""
    notions = DEMOGRAPHIC_PARITY, EQUALIZED_ODDS, PREDICTIVE_PARITY
    y, decided, people = draw(rng, np.array([[0.5, 0.3]]), 500)
    [tally] = Counter.of(y, read_groups(people))(decided)
    ours = Front((replace(point(200, 5), valid=tally),), tuple((notion, "a") for notion in notions), NAMES)
    question = Question.of(ours, 0.3, 0.9).update(y, decided, sensitive_features=people)
    men, women = (people["a"] == name for name in ("men", "women"))
    conditions = (decided[0], np.ones(500, bool)), (decided[0], y == 1), (decided[0], y == 0), (y == 1, decided[0])
    expected = [[int((event & given & who).sum()) for who in (men, women)] for event, given in conditions]
    rows = [[int((given & who).sum()) for who in (men, women)] for _, given in conditions]
    for claim in question.claims:
        place = [rate for notion in notions for rate in notion.rates].index(claim.rate)
        wanted = tuple((expected[place][i], rows[place][i]) for i in claim.places)
        assert claim.samples(question.points[0].tally) == wanted
    assert len(question.claims) == 8


def test_rows_of_unknown_group_do_not_count_for_that_attribute(rng):
    y, decided, people = draw(rng, gaps(0.1), 400)
    people["b"] = rng.choice(["old", "young"], 400)
    people.loc[:99, "a"] = None
    question = Question.of(front((200, 5, 5)), 0.1, 0.9).update(y, decided, sensitive_features=people)
    [evidence] = question.points
    assert evidence.tally.counts["a"].sum() == 300
    assert evidence.tally.counts["b"].sum() == 400
    assert question.rows == 400


def test_only_attributes_with_a_limit_are_needed(rng):
    question = Question.of(front((200, 5, 5)), {A: 0.1}, 0.9)
    assert ask(question, rng, gaps(0), 100).rows == 100


def test_single_group_certifies_nothing(rng):
    table = point(200, 5).valid.counts
    alone = replace(point(200, 5).valid, counts=table | {"a": table["a"][:1]})
    question = Question.of(Front((replace(point(200, 5), valid=alone),), criteria(1), {"a": ("men",)}), 0.9, 0.6)
    people = pd.DataFrame({"a": ["men"] * 5000})
    question = question.update(np.ones(5000), np.ones((1, 5000)), sensitive_features=people)
    assert question.answer.status == "not enough data"


def test_question_comes_back_from_json(rng):
    question = ask(Question.of(front(*LADDER), 0.05, 0.95), rng, gaps(0, 0, 0.02, 0.08), 3000)
    again = Question.from_json(json.loads(json.dumps(question.to_json())))
    assert again.to_json() == question.to_json()
    assert again.answer == question.answer
    later = [ask(one, np.random.default_rng(1), gaps(0, 0, 0.02, 0.08), 3000).to_json() for one in (question, again)]
    assert later[0] == later[1]


@pytest.mark.parametrize("spoil", ["points", "counts", "negative", "wealth", "shares", "confidence", "limit"])
def test_values_that_no_question_has_written_are_refused(spoil):
    document = Question.of(front(*LADDER), 0.05, 0.95).to_json()
    first = document["points"][0]
    changes = {
        "points": lambda: document.update(points=[]),
        "counts": lambda: first["counts"].update(a=[[0, 0, 0, 0]]),
        "negative": lambda: first["counts"].update(a=[[-1, 0, 0, 0]] * 2),
        "wealth": lambda: first.update(wealth=[0.0]),
        "shares": lambda: first.update(shares=[2.0, 0.5]),
        "confidence": lambda: document.update(confidence=1.5),
        "limit": lambda: document["limits"][0].update(limit=-1),
    }
    changes[spoil]()
    with pytest.raises(ValueError, match="must "):
        Question.from_json(document)


@pytest.mark.parametrize(("women", "difference"), [(0.5, 0.0), (0.2, 0.01)])
def test_about_so_many_more_rows_settle_it_most_of_the_time(women, difference):
    settled = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        question = ask(Question.of(front((200, 5)), 0.06, 0.9), rng, gaps(difference), 1000, women=women)
        more = question.answer.more_rows
        if question.answer.status == "not enough data" and more:
            assert set(more) == {"a=men", "a=women"}
            later = ask(question, rng, gaps(difference), round(sum(more.values())), women=women)
            settled.append(later.answer.status != "not enough data")
    assert len(settled) > 8
    assert np.mean(settled) > 0.5


def test_asking_again_keeps_its_promise_and_a_repeated_fixed_test_does_not():
    """The true gap is just above the limit, and somebody asks after every 200 rows, up to 4,000."""
    draws, looks, size, limit, delta = 40, 20, 200, 0.1, 0.1
    ever = {"question": 0, "fixed test": 0}
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        question, fixed = Question.of(front((200, 5)), limit, 1 - delta), False
        for _ in range(looks):
            question = ask(question, rng, gaps(limit + 0.001), size, women=0.3)
            events, rows = (
                question.points[0].tally.counts["a"][:, :2].sum(1),
                question.points[0].tally.counts["a"].sum(1),
            )
            (x, y), (n, m) = events.tolist(), rows.tolist()
            fixed = fixed or is_within((x, n), (y, m), limit, delta, newcombe)
        ever["question"] += question.answer.passed
        ever["fixed test"] += fixed
    assert ever["question"] <= draws * delta
    assert ever["fixed test"] > draws * delta + 3 * np.sqrt(draws * delta * (1 - delta))


def test_models_answer_questions_about_their_own_front():
    model = fitted()
    question = Question.of(model.front_, 0.6, 0.9)
    new = make_toy(random_state=1)
    later = question.update_from(model, new.X, new.y, sensitive_features=new.sensitive)
    decided = model.decide_all(new.X)[list(question.sequence)]
    plain = question.update(new.y == model.favorable_, decided, sensitive_features=new.sensitive)
    assert later.to_json() == plain.to_json()
    with pytest.raises(ValueError, match=r"found one with another front. Ask a new question"):
        question.update_from(fitted(random_state=1), new.X, new.y, sensitive_features=new.sensitive)
    with pytest.raises(ValueError, match=r"`y` must have the labels .*: found 'maybe'"):
        question.update_from(model, new.X, ["maybe"] * len(new.X), sensitive_features=new.sensitive)


def test_crossed_groups_are_crossed_again_and_new_combinations_are_left_out():
    people = two_attributes()
    name = "*".join(people)
    known = people.drop(people.index[(people[GROUP.columns[0]] == "protected") & (people["region"] == "west")])
    model = small(crossed=True, min_group=1).fit(
        TOY.X.loc[known.index], TOY.y.loc[known.index], sensitive_features=known
    )
    question = Question.of(model.front_, {f"demographic_parity[{name}]": 0.5}, 0.9)
    later = question.update_from(model, TOY.X, TOY.y, sensitive_features=people)
    assert later.rows == len(people)
    assert later.points[0].tally.counts[name].sum() == len(known)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [2] * 10}, "`y` must be 1 for favorable labels and 0 for others: found 2"),
        ({"y": [1] * 9}, r"for each of 1 points and 9 rows: found an array of shape \(1, 10\)"),
        (
            {"decisions": np.full((1, 10), 0.3)},
            "`decisions` must be true or false .* Take those of `question.sequence`",
        ),
        ({"sensitive_features": pd.DataFrame({"a": ["men"] * 9})}, "one row per sample: found 9 rows for 10"),
        ({"sensitive_features": pd.DataFrame({"a": ["child"] * 10})}, "found 'child' in 'a'. Set it to missing"),
        ({"sensitive_features": pd.DataFrame({"c": ["men"] * 10})}, "must have the attribute 'a' as in `fit`"),
    ],
)
def test_rows_that_do_not_fit_are_refused(change, message):
    rows = {"y": [1, 0] * 5, "decisions": np.ones((1, 10)), "sensitive_features": pd.DataFrame({"a": ["men"] * 10})}
    with pytest.raises(ValueError, match=message):
        Question.of(front((200, 5)), 0.05, 0.95).update(**(rows | change))


def test_questions_that_make_no_sense_are_refused():
    ours = front(*LADDER)
    with pytest.raises(ValueError, match=r"5 % is 0.05"):
        Question.of(ours, 5, 0.95)
    with pytest.raises(ValueError, match="`confidence` must be between 0 and 1"):
        Question.of(ours, 0.05, 1.0)
    with pytest.raises(ValueError, match="The front has no column 'parity'"):
        Question.of(ours, {"parity": 0.05}, 0.95)
    with pytest.raises(ValueError, match="must have a limit on some gap: found none"):
        Question.of(ours, {}, 0.95)
    with pytest.raises(ValueError, match="must know the groups of 'a': the front does not name them"):
        Question.of(replace(ours, groups={}), 0.05, 0.95)


def test_a_question_and_a_choice_with_confidence_test_the_same_points():
    ours = front(*LADDER)
    held_back = Front(tuple(replace(p, calibration=p.valid) for p in ours.points), ours.criteria, NAMES)
    assert MostAccurateWithin(0.05, 0.95).answer(held_back).sequence == Question.of(ours, 0.05, 0.95).sequence


def test_more_rows_of_one_group_are_warned_of_if_there_are_several_attributes():
    people, protected = two_attributes(), GROUP.iloc[:, 0] == "protected"
    model = small().fit(TOY.X, TOY.y, sensitive_features=people)
    question = Question.of(model.front_, 0.5, 0.9)
    question.update_from(model, TOY.X, TOY.y, sensitive_features=people)  # as in training: no warning
    rows = protected | (np.arange(len(people)) % 10 == 0)
    with pytest.warns(UserWarning, match=rf"found other shares of '{GROUP.columns[0]}' than in training"):
        question.update_from(model, TOY.X[rows], TOY.y[rows], sensitive_features=people[rows])
    alone = Question.of(model.front_, {f"demographic_parity[{GROUP.columns[0]}]": 0.5}, 0.9)
    alone.update_from(model, TOY.X[rows], TOY.y[rows], sensitive_features=people[rows])  # allowed


def test_new_rows_may_be_one_of_each_group():
    names = tuple(f"country {i:02}" for i in range(25))
    tally = Tally({"": np.array([[500.0, 0, 2000, 0]]), "a": np.tile([20.0, 0, 80, 0], (25, 1))})
    question = Question.of(Front((Point(tally),), criteria(1), {"a": names}), 0.1, 0.9)
    later = question.update([1] * 25, np.ones((1, 25), dtype=bool), sensitive_features=pd.DataFrame({"a": names}))
    assert later.rows == 25


@pytest.mark.parametrize("again", [True, False])
def test_an_answer_says_where_more_rows_will_not_settle_it(again):
    """The true gap is .093, the limit .1: tens of thousands more rows would leave the answer as it is."""
    men, women = ((1180 + 372, 4000), (1180, 4000))
    table = np.array([[events, 0, rows - events, 0] for events, rows in (men, women)], dtype=float)
    counts = Tally({"": table.sum(axis=0, keepdims=True), "a": table})
    ours = front((200, 5))
    if again:
        question = Question.of(ours, 0.1, 0.95)
        answer = replace(question, points=tuple(replace(one, tally=counts) for one in question.points)).answer
    else:
        [one] = ours
        ours = replace(ours, points=(replace(one, calibration=counts),))
        answer = MostAccurateWithin(0.1, 0.95).answer(ours)
    assert (answer.status, answer.too_close) == ("not enough data", (A,))
    high = np.ceil(100 * answer.intervals[A][1]) / 100
    assert f"More rows will not settle it: {A} is too close to 0.1. Ask for {high:g} instead" in answer.message
    assert "would settle" not in answer.message
    assert answer.more_rows == {}
