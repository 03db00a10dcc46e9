"""The price of fairness: against simulation, the bootstrap and hand-made fronts."""

import numpy as np
import pytest

from mamofair._rows.groups import read_groups
from mamofair.explanations import price, price_between
from mamofair.explanations._flows import flows_from_tallies
from mamofair.explanations._price import _covariance, _fold, _price_step
from mamofair.explanations._who_pays import who_pays
from mamofair.fronts import Counter, Front, Point, Tally
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS, PREDICTIVE_PARITY, Notion

SEX = "sex"


def people(rng: np.random.Generator, rows: int, unfair: float = 0.06) -> dict:
    """Draw people and two models' decisions that often agree; the second is fairer and less accurate."""
    sex = rng.integers(0, 2, rows)
    y = rng.random(rows) < np.where(sex == 1, 0.6, 0.4)
    luck = rng.random(rows)
    before = luck < np.where(y, 0.8, 0.2) + sex * np.where(y, 0.15, 0.08)
    after = luck < np.where(y, 0.75, 0.25) + sex * np.where(y, unfair, unfair / 3)
    return {"before": before.astype(int), "after": after.astype(int), "y_true": y.astype(int), "sex": sex}


def between(case: dict, **options):
    rest = {name: column for name, column in case.items() if name != "sex"}
    return price_between(**rest, sensitive_features={SEX: case["sex"]}, **options)


def front(*points: tuple[int, int], constants: tuple[int, ...] = ()) -> Front:
    """Return points with these errors and gaps of demographic parity, in thousandths, on the same 2,000 people.

    800 of group A and 200 of group B have y = 1: a gap below 0.6 takes an error of (0.6 − gap) / 2 at least.
    """
    tallies = []
    for error, gap in points:
        fewer = 600 - gap  # favorable decisions that A must lose, all of them deserved
        both = (2 * error - fewer) // 2  # one more error of each kind leaves the gap as it is
        table = np.array([[800 - fewer - both, both, fewer + both, 200 - both], [200, 0, 0, 800]], dtype=float)
        tallies.append(Tally({"": table.sum(axis=0)[None], "a": table}))
    for favorably in constants:
        table = np.array([[800, 200, 0, 0], [200, 800, 0, 0]], dtype=float)
        table = table if favorably else table[:, [2, 3, 0, 1]]
        tallies.append(Tally({"": table.sum(axis=0)[None], "a": table}))
    return Front(tuple(map(Point, tallies)), ((DEMOGRAPHIC_PARITY, "a"),))


def test_the_price_is_error_added_over_gap_removed():
    case = people(np.random.default_rng(0), 4000)
    [row] = between(case).frame().to_dict("records")
    wrong = [(case[moment] != case["y_true"]).mean() for moment in ("before", "after")]
    gaps = [
        abs(case[moment][case["sex"] == 1].mean() - case[moment][case["sex"] == 0].mean())
        for moment in ("before", "after")
    ]
    assert row["price"] == pytest.approx(0.01 * (wrong[1] - wrong[0]) / (gaps[0] - gaps[1]))
    assert row["low"] < row["price"] < row["high"]


@pytest.mark.parametrize("notion", [DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, PREDICTIVE_PARITY, EQUALIZED_ODDS])
def test_the_covariance_is_that_of_resampled_people(notion: Notion):
    """A stratified bootstrap knows nothing of influences; 1,500 draws leave a variance uncertain by about 4 %."""
    rng = np.random.default_rng(1)
    case = people(rng, 20_000)
    features = {SEX: case.pop("sex")}
    flows = who_pays(**case, sensitive_features=features, notions=notion).flows
    exact = _covariance(flows, (notion, SEX))
    table = flows.tables[SEX]
    draws = []
    for _ in range(1500):
        again = [rng.multinomial(int(group.sum()), (group / group.sum()).ravel()) for group in table[:2]]
        new = type(flows)(flows.names, {SEX: np.vstack([*again, np.zeros(8)]).reshape(table.shape)}, flows.factors)
        errors = new.errors()
        gaps = [float(notion.gap(new.confusion(SEX, moment))) for moment in (False, True)]
        draws.append([errors[1] - errors[0], gaps[0] - gaps[1]])
    sampled = np.cov(np.transpose(draws))
    scale = np.sqrt(np.outer(sampled.diagonal(), sampled.diagonal()))
    np.testing.assert_allclose(exact / scale, sampled / scale, atol=0.15)


def test_absolute_values_of_normal_differences_vary_as_simulated():
    rng = np.random.default_rng(4)
    covariance, gaps = np.array([[1.0, 0.3, 0.5], [0.3, 1.0, 0.6], [0.5, 0.6, 1.0]]), (3.0, 0.4)
    error, first, second = rng.multivariate_normal([0.1, *gaps], covariance, 200_000).T
    sampled = np.cov([error, np.abs(first), np.abs(second)])
    np.testing.assert_allclose(_fold(covariance, gaps), sampled, atol=0.02)


@pytest.mark.parametrize("unfair", [0.06, 0.0])
def test_intervals_cover_the_true_price_at_least_as_often_as_they_say(unfair):
    """The truth is that of the recipe of `people`; in 100 samples, 95 % is 89 to 100. No gap left is harder."""
    rng = np.random.default_rng(2)
    # Below y and sex, decisions are right with probability 0.8 (+ 0.15 for y = 1, − 0.08 for y = 0) before, …
    right_before = (0.4 * 0.8 + 0.6 * 0.8 + 0.6 * 0.95 + 0.4 * 0.72) / 2
    right_after = (0.75 + 0.6 * (0.75 + unfair) + 0.4 * (0.75 - unfair / 3)) / 2
    truth = 0.01 * (right_before - right_after) / (0.15 - unfair)
    found = [between(people(rng, 2000, unfair), notions="tpr").frame().loc[0] for _ in range(100)]
    covered = np.mean([row["low"] <= truth <= row["high"] for row in found])
    assert covered >= 0.89
    assert np.mean([np.isfinite(row["high"]) for row in found]) > 0.8


def test_weights_that_repeat_rows_do_not_make_the_interval_surer():
    """Weight 3 for everyone is the same sample, and the same interval; each row three times is not."""
    case = people(np.random.default_rng(3), 2000)
    once, heavy = between(case).frame(), between(case, sample_weight=np.full(2000, 3.0)).frame()
    np.testing.assert_allclose(heavy[["price", "low", "high"]], once[["price", "low", "high"]])
    thrice = between({name: np.tile(column, 3) for name, column in case.items()}).frame()
    assert (thrice["high"] - thrice["low"]).item() < (once["high"] - once["low"]).item()


def test_too_few_rows_give_no_interval_and_say_so():
    found = between(people(np.random.default_rng(7), 60))
    row = found.frame().loc[0]
    assert row["gap_after"] < row["gap_before"]
    assert (row["low"], row["high"]) == (-np.inf, np.inf)
    assert "too few rows to be sure" in str(found)


def test_a_gap_that_grows_has_no_price():
    case = people(np.random.default_rng(0), 4000)
    found = between(case | {"before": case["after"], "after": case["before"]})
    assert np.isnan(found.frame()["price"].item())
    assert str(found) == "The gap in demographic parity by sex does not shrink, so there is no price."


def test_steps_along_a_front_follow_its_convex_hull():
    """The third point lies above the line from the second to the last."""
    found = price(front((60, 500), (160, 300), (300, 250), (350, 100))).frame()
    assert found["gap"].unique().tolist() == ["demographic_parity[a]"]
    steps = found[found["part"] == "step"]
    assert steps[["from", "to"]].to_numpy().tolist() == [[0, 1], [1, 3]]
    np.testing.assert_allclose(steps["price"], [0.01 * 0.1 / 0.2, 0.01 * 0.19 / 0.2])
    whole = found[found["part"] == "whole"]
    assert whole[["from", "to"]].to_numpy().tolist() == [[0, 3]]
    np.testing.assert_allclose(whole["price"], 0.01 * 0.29 / 0.4)


@pytest.mark.parametrize("seed", range(5))
def test_prices_never_fall_and_no_point_lies_below_the_steps(seed):
    rng = np.random.default_rng(seed)
    gaps = rng.integers(50, 550, 30)
    errors = (600 - gaps) // 2 + rng.integers(0, 100, 30)
    made = front(*zip(errors.tolist(), gaps.tolist(), strict=True))
    steps = price(made).frame().query("part == 'step'")
    assert len(steps) > 1
    assert steps["price"].is_monotonic_increasing
    removed = steps["gap_before"] - steps["gap_after"]
    assert (removed[:-1] >= 0.01 - 1e-9).all()
    assert steps["to"].tolist()[:-1] == steps["from"].tolist()[1:]
    corners = made.values[[steps["from"].iloc[0], *steps["to"]]][::-1]
    line = np.interp(made.values[:, 1], corners[:, 1], corners[:, 0])
    assert (made.values[:, 0] >= line - steps["price"].max()).all()  # a step may pass a corner less than 0.01 away


def test_constant_models_are_left_out_unless_allowed():
    made = front((60, 500), (160, 300), constants=(0,))
    assert price(made).frame()["to"].tolist() == [1]
    assert price(made, allow_constant=True).frame()["to"].tolist() == [2, 1, 2]


def test_each_gap_of_a_front_has_steps_of_its_own(rng):
    y, features = rng.integers(0, 2, 300), {"sex": rng.choice(["F", "M"], 300), "age": rng.choice(["o", "y"], 300)}
    models = np.where(rng.random((40, 300)) < 0.3, rng.integers(0, 2, (40, 300)), y).astype(bool)
    tallies = Counter.of(y, read_groups(features))(models)
    made = Front(tuple(map(Point, tallies)), ((DEMOGRAPHIC_PARITY, "sex"), (EQUAL_OPPORTUNITY, "age")))
    found = price(made).frame()
    for i, (name, part) in enumerate(found.groupby("gap", sort=False), start=1):
        assert name == made.columns[i]
        np.testing.assert_allclose(part["gap_after"], made.values[part["to"], i])
        np.testing.assert_allclose(part["error_after"], made.values[part["to"], 0])
        assert part["gap_after"].min() == pytest.approx(made.values[:, i].min(), abs=1e-12)


def test_counts_alone_give_wider_intervals_than_decisions(rng):
    """Models that mostly agree: what counts do not tell is taken as independent, which is the careful side."""
    case = people(rng, 3000)
    counter = Counter.of(case["y_true"], read_groups({SEX: case["sex"]}))
    before, after = counter(np.stack([case["before"], case["after"]]).astype(bool))
    counted = _price_step(flows_from_tallies(before, after, {SEX: (0, 1)}), (DEMOGRAPHIC_PARITY, SEX), 0.95)
    known = between(case).frame().loc[0]
    assert counted["price"] == pytest.approx(known["price"])
    assert counted["low"] < known["low"] < known["high"] < counted["high"]


def test_a_sentence_tells_the_price_in_wrong_decisions():
    told = price(front((60, 500), (160, 300))).sentences()
    assert told[0].startswith(
        "The gap in demographic parity by a shrinks from 0.500 to 0.300. Each 0.01 of it costs 5.0 more wrong "
        "decisions in 1,000 (95% interval: "
    )


def test_a_front_of_one_point_has_no_steps():
    found = price(front((60, 500)))
    assert found.frame().empty
    assert found.sentences() == []
    assert str(found) == "No point has a smaller gap than the most accurate one."


@pytest.mark.parametrize("confidence", [95, 0, 1, float("nan")])
def test_confidence_must_be_a_share(confidence):
    with pytest.raises(ValueError, match="`confidence` must lie between 0 and 1"):
        between(people(np.random.default_rng(0), 100), confidence=confidence)
    with pytest.raises(ValueError, match="`confidence` must lie between 0 and 1"):
        price(front((60, 500), (160, 300)), confidence=confidence)


def test_a_price_needs_labels():
    with pytest.raises(ValueError, match="Pass them as `y_true`"):
        price_between([1, 0], [1, 1], y_true=None, sensitive_features=["a", "b"])


ODD = {
    "one group": ([0, 1, 1, 0], [0, 1, 0, 0], ["a"] * 4),
    "groups of one row": ([0, 1], [1, 0], ["a", "b"]),
    "a group of one row": ([0, 1] * 20, [1] * 3 + [0] * 37, ["a"] * 39 + ["b"]),
    "all-zero predictions": ([0, 1] * 10, [0] * 20, ["a", "b"] * 10),
    "nobody's group is known": ([0, 1, 1, 0], [0, 1, 0, 0], [float("nan")] * 4),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_input_has_a_defined_result(case):
    y, after, features = ODD[case]
    notions = [DEMOGRAPHIC_PARITY, EQUALIZED_ODDS, PREDICTIVE_PARITY]
    found = price_between(y, after, y_true=y, sensitive_features=features, notions=notions)
    steps = found.frame()
    assert steps[["low", "high"]].notna().all(axis=None)
    assert (steps["price"].notna() == (steps["gap_after"] < steps["gap_before"])).all()  # and none is a silent 0
    told = who_pays(y, after, y_true=y, sensitive_features=features, notions=notions).sentences()
    for sentence in [*found.sentences(), *told]:
        assert "nan" not in sentence
        assert sentence[0].isupper()
        assert sentence.endswith(".")
