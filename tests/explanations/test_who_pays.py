"""Who pays: against loops over people, on cases made by hand, and what must hold for any two models."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mamofair._rows.groups import read_groups
from mamofair.explanations import who_pays, who_pays_on_front
from mamofair.fronts import Counter, Front, Point
from mamofair.metrics import gap
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, FN, NOTIONS, TP, Notion, Rate

PEOPLE = {"F": "women", "M": "men", "X": "others"}


def decisions(**groups: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return groups and decisions: for each group the number of favorable decisions, and of people."""
    who = np.repeat(list(groups), [rows for _, rows in groups.values()])
    decided = np.concatenate([np.arange(rows) < favorably for favorably, rows in groups.values()])
    return who, decided.astype(int)


def explain(before: dict, after: dict, **options):
    who, first = decisions(**before)
    _, second = decisions(**after)
    return who_pays(first, second, sensitive_features={"sex": who}, **options)


@st.composite
def two_models(draw) -> dict:
    rows = draw(st.integers(2, 40))
    column = st.lists(st.integers(0, 1), min_size=rows, max_size=rows).map(np.array)
    sex = draw(st.lists(st.sampled_from(["F", "M", "X"]), min_size=rows, max_size=rows))
    return {"before": draw(column), "after": draw(column), "y_true": draw(column), "sensitive_features": {"sex": sex}}


@settings(max_examples=20)
@given(two_models())
def test_numbers_are_those_of_a_loop_over_people(case):
    frame = who_pays(**case).frame()
    sex = case["sensitive_features"]["sex"]
    for row in frame.to_dict("records"):
        found = dict.fromkeys(("rows", "before", "after", "gained", "lost"), 0)
        for own, y, u, v in zip(sex, case["y_true"], case["before"], case["after"], strict=True):
            if row["group"] in ("everyone", own) and row["label"] in ("all", ["unfavorable", "favorable"][y]):
                found["rows"] += 1
                found["before"] += u
                found["after"] += v
                found["gained"] += v > u
                found["lost"] += v < u
        assert {name: row[name] for name in found} == found
        assert row["net"] == found["after"] - found["before"]
        if found["rows"]:
            assert row["net_share"] == pytest.approx(row["net"] / found["rows"])


@settings(max_examples=20)
@given(two_models(), st.sampled_from(NOTIONS))
def test_gaps_are_those_of_the_metrics(case, notion):
    found = who_pays(**case, notions=notion).gaps()
    for moment in ("before", "after"):
        truth = gap(case["y_true"], case[moment], notion=notion, sensitive_features=case["sensitive_features"])
        np.testing.assert_allclose(found[moment].max(skipna=False), truth, atol=1e-12)


@settings(max_examples=20)
@given(two_models())
def test_swapping_the_models_negates_what_happens(case):
    swapped = case | {"before": case["after"], "after": case["before"]}
    there, back = who_pays(**case), who_pays(**swapped)
    one, other = there.frame(), back.frame()
    for name, opposite in (("before", "after"), ("gained", "lost")):
        pd.testing.assert_series_equal(one[name], other[opposite], check_names=False)
    np.testing.assert_allclose(one["net"], -other["net"])
    np.testing.assert_array_equal(there.gaps()["before"], back.gaps()["after"])
    assert not (there.gaps()["levelling_down"].eq(True) & back.gaps()["levelling_down"].eq(True)).any()


@settings(max_examples=20)
@given(two_models())
def test_nobody_pays_between_a_model_and_itself(case):
    found = who_pays(**case | {"after": case["before"]}, notions=["dp", "accuracy_parity"])
    assert not found.frame()[["net", "gained", "lost"]].to_numpy().any()
    assert not found.gaps()["levelling_down"].eq(True).any()
    assert found.sentences()[0] == "No decision changes: nobody gains and nobody pays."
    assert "stays at" in found.sentences()[1]


@settings(max_examples=20)
@given(two_models())
def test_levelling_down_is_a_gap_that_shrinks_by_losses_alone(case):
    """With two groups: the gap shrank, the better-off group fell, and the other one did not rise."""
    case["sensitive_features"] = {"sex": np.where(np.array(case["sensitive_features"]["sex"]) == "F", "F", "M")}
    found = who_pays(**case)
    rates = found.rates().set_index("group")
    [row] = found.gaps().to_dict("records")
    if len(rates) < 2:
        assert row["levelling_down"] is None
        return
    top = rates["before"].idxmax()
    other = next(group for group in rates.index if group != top)
    fell = rates.loc[top, "after"] < rates.loc[top, "before"]
    rose = rates.loc[other, "after"] > rates.loc[other, "before"]
    shrank = row["after"] < row["before"] - 1e-12
    assert row["levelling_down"] == (shrank and fell and not rose)


def test_sentences_of_a_case_made_by_hand():
    found = explain({"F": (300, 1000), "M": (480, 1000)}, {"F": (338, 1000), "M": (459, 1000)})
    assert found.sentences(PEOPLE) == [
        "The decision changes for 59 of 2,000 people: 38 get a favorable one, 21 lose it.",
        "Of 1,000 women, 38 more are decided favorably; of 1,000 men, 21 fewer.",
        "The gap shrinks from 0.180 to 0.121, mostly because women gained.",
    ]


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({"F": (2, 10), "M": (6, 10)}, {"F": (2, 10), "M": (3, 10)}, "only because men lost (levelling down)"),
        ({"F": (2, 10), "M": (6, 10)}, {"F": (1, 10), "M": (3, 10)}, "only because men lost more (levelling down)"),
        ({"F": (2, 10), "M": (6, 10)}, {"F": (5, 10), "M": (6, 10)}, "only because women gained"),
        ({"F": (2, 10), "M": (6, 10)}, {"F": (3, 10), "M": (4, 10)}, "mostly because men lost"),
        ({"F": (2, 10), "M": (6, 10)}, {"F": (4, 10), "M": (5, 10)}, "mostly because women gained"),
        (
            {"F": (2, 10), "M": (6, 10)},
            {"F": (3, 10), "M": (5, 10)},
            "about equally because women gained and because men",
        ),
        ({"F": (2, 10), "M": (6, 10)}, {"F": (1, 10), "M": (6, 10)}, "The gap grows from 0.400 to 0.500."),
        ({"F": (2, 10), "M": (6, 10)}, {"F": (1, 10), "M": (5, 10)}, "The gap stays at 0.400."),
        ({"F": (4, 10), "M": (6, 10)}, {"F": (2, 10), "M": (1, 10)}, "only because men lost more (levelling down)"),
        ({"F": (2, 10), "M": (6, 10)}, {"F": (8, 10), "M": (7, 10)}, "only because women gained more."),
        (
            {"F": (2, 10), "M": (8, 10), "X": (8, 10)},
            {"F": (2, 10), "M": (5, 10), "X": (6, 10)},
            "shrinks from 0.600 to 0.400, only because men and others lost (levelling down)",
        ),
        (  # the gain of those in the middle closes nothing
            {"F": (2, 10), "M": (9, 10), "X": (5, 10)},
            {"F": (2, 10), "M": (7, 10), "X": (6, 10)},
            "shrinks from 0.700 to 0.500, only because men lost (levelling down)",
        ),
    ],
)
def test_a_gap_is_said_to_shrink_for_the_right_reason(before, after, sentence):
    found = explain(before, after)
    assert sentence in found.sentences(PEOPLE)[-1]
    assert found.gaps()["levelling_down"].item() == ("levelling down" in sentence)


def test_one_person_is_and_several_are():
    told = explain({"F": (10, 1000), "M": (3, 1000)}, {"F": (11, 1000), "M": (3, 1000)}).sentences(PEOPLE)
    assert told[0] == "The decision changes for 1 of 2,000 people: 1 gets a favorable one, 0 lose it."
    assert told[1] == "Of 1,000 women, 1 more is decided favorably; of 1,000 men, as many as before."


def test_people_without_a_noun_are_described():
    told = explain({"F": (1, 2), "M": (1, 2)}, {"F": (2, 2), "M": (1, 2)}).sentences()
    assert told[1].startswith(
        "Of 1,000 people whose sex is F, 500 more are decided favorably; of 1,000 people whose sex"
    )


def test_conditions_are_said_in_words():
    who, first = decisions(F=(2, 10), M=(6, 10))
    _, second = decisions(F=(3, 10), M=(6, 10))
    options = {"y_true": np.ones(20, dtype=int), "sensitive_features": {"sex": who}, "notions": "fnr"}
    told = who_pays(first, second, **options).sentences(PEOPLE)
    assert told[1] == "The share of wrong decisions shrinks from 0.600 to 0.550."
    assert told[2] == (
        "Of 1,000 women whose true outcome is favorable, 100 fewer are decided unfavorably; "
        "of 1,000 men whose true outcome is favorable, as many as before."
    )
    assert told[3] == "The gap shrinks from 0.400 to 0.300, only because women gained."


def test_a_gap_that_cannot_be_compared_is_said_not_to_be():
    y, who = [1, 1, 0, 0], {"sex": ["F", "F", "M", "M"]}
    told = who_pays([1, 0, 0, 1], [1, 1, 0, 1], y_true=y, sensitive_features=who, notions="tpr").sentences(PEOPLE)
    assert told[-2].endswith("of 1,000 men whose true outcome is favorable, nothing can be said, as there are none.")
    assert told[-1] == "The gap is undefined, as fewer than two groups have such people."


def test_a_rate_of_ones_own_has_no_better_and_no_flag():
    own = Notion("hits", (Rate(TP), Rate(FN)))
    who, first = decisions(F=(2, 10), M=(6, 10))
    found = who_pays(first, 0 * first, y_true=np.ones(20, int), sensitive_features={"sex": who}, notions=own)
    assert found.gaps()["levelling_down"].tolist() == [None, None]
    assert "P(ŷ=1, y=1) changes" in str(found)


def test_several_notions_and_attributes_are_told_apart():
    features = {"sex": ["F", "M"] * 4, "age": ["old"] * 4 + ["young"] * 4}
    y = [1, 1, 0, 0] * 2
    found = who_pays(y, y[::-1], y_true=y, sensitive_features=features, notions=["dp", "eodds"])
    assert len(found.gaps()) == 2 * (1 + 2)
    assert sum("The gap in equalized odds by age (of P(ŷ=1 | y=0))" in one for one in found.sentences()) == 1


def test_labels_of_any_type_weights_and_unknown_groups():
    before, after = ["no", "yes", "no", "no"], ["yes", "yes", "no", "yes"]
    features = pd.Series(["F", "M", "F", None], name="sex")
    found = who_pays(before, after, sensitive_features=features, favorable="yes", sample_weight=[2, 1, 1, 1.5])
    frame = found.frame().set_index("group")
    assert frame.loc["F", ["rows", "gained"]].tolist() == [3.0, 2.0]
    assert frame.loc["everyone", ["rows", "gained"]].tolist() == [5.5, 3.5]
    assert str(found).startswith("The decision changes for 3.5 of 5.5 people")


def test_bad_input_is_refused_in_a_sentence():
    features = ["F", "F", "M"]
    with pytest.raises(ValueError, match="equal_opportunity needs labels"):
        who_pays([1, 0, 1], [1, 1, 1], sensitive_features=features, notions="tpr")
    with pytest.raises(ValueError, match=r"`after` must have one row per decision: found 2 for 3"):
        who_pays([1, 0, 1], [1, 1], sensitive_features=features)
    with pytest.raises(ValueError, match="at least one notion"):
        who_pays([1, 0, 1], [1, 1, 1], sensitive_features=features, notions=[])
    with pytest.raises(ValueError, match=r"found 3 .* compare them with a threshold first"):
        who_pays([1, 0, 1], [0.3, 0, 1], sensitive_features=features)
    with pytest.raises(ValueError, match="no missing value"):
        who_pays([1, 0, 1], [1, 1, np.nan], sensitive_features=features)


def measured(models: np.ndarray, y: np.ndarray, features, weight=None) -> Front:
    tallies = Counter.of(y, read_groups(features), weight)(models.astype(bool))
    criteria = ((DEMOGRAPHIC_PARITY, "sex"), (EQUAL_OPPORTUNITY, "sex"))
    return Front(tuple(Point(tally, step=i) for i, tally in enumerate(tallies)), criteria)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_of_a_front_tell_the_same_net_changes_as_decisions(rng, weighted):
    y, models = rng.integers(0, 2, 200), rng.integers(0, 2, (2, 200))
    features = {"sex": [*rng.choice(["F", "M"], 195), *[None] * 5]}
    weight = rng.uniform(0.5, 2, 200) if weighted else None
    front = measured(models, y, features, weight)
    first, second = (models[point.step] for point in front.points)
    notions = [DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY]
    options = {"y_true": y, "sensitive_features": features, "sample_weight": weight, "notions": notions}
    known, counted = who_pays(first, second, **options), who_pays_on_front(front, 0, 1, sensitive_features=features)
    unpaired = ["gained", "lost"]
    pd.testing.assert_frame_equal(known.frame().drop(columns=unpaired), counted.frame().drop(columns=unpaired))
    assert counted.frame()[unpaired].isna().to_numpy().all()
    pd.testing.assert_frame_equal(known.gaps(), counted.gaps())
    assert known.sentences()[1:] == counted.sentences()[1:]
    for attribute, factors in known.flows.factors.items():
        np.testing.assert_allclose(counted.flows.factors[attribute], factors)


def test_points_must_be_of_the_same_rows_and_groups(rng):
    y, features = rng.integers(0, 2, 50), {"sex": rng.choice(["F", "M"], 50)}
    front = measured(rng.integers(0, 2, (2, 50)), y, features)
    with pytest.raises(ValueError, match="must have the groups of `fit`: found 3"):
        who_pays_on_front(front, 0, 1, sensitive_features={"sex": ["F", "M", "X"] * 3})
    with pytest.raises(ValueError, match="'sex' is missing"):
        who_pays_on_front(front, 0, 1, sensitive_features={"race": ["A", "B"]})
    other = measured(rng.integers(0, 2, (1, 40)), y[:40], {"sex": features["sex"][:40]})
    with pytest.raises(ValueError, match="same rows"):
        who_pays_on_front(Front((front.points[0], other.points[0]), front.criteria), 0, 1, sensitive_features=features)
