"""The three answers, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from mamofair import FairNetClassifier, find_alternative
from mamofair.datasets import make_toy
from mamofair.metrics import error, gap

TOY, NEW = make_toy(), make_toy(random_state=1)
GROUP = (NEW.sensitive["group"] == "unprotected").astype(int)
LINE = (NEW.X["x2"] > 1.5).astype(int)


@pytest.fixture(scope="module")
def model():
    notions = ["demographic_parity", "equal_opportunity"]
    return FairNetClassifier(notions=notions, epochs=10, random_state=0).fit(
        TOY.X, TOY.y, sensitive_features=TOY.sensitive
    )


def ask(model, incumbent, rows=600, **options):
    given = {"X": NEW.X[:rows], "y": NEW.y[:rows], "sensitive_features": NEW.sensitive[:rows]} | options
    return find_alternative(model, incumbent=incumbent, **given)


def test_an_unfair_and_inaccurate_incumbent_has_an_alternative(model):
    answer = ask(model, GROUP)
    assert (answer.status, answer.row) == ("found", answer.tested)
    assert answer.gap.high < 0
    assert answer.error.high <= answer.margin
    chosen = model.at(answer.row)
    assert answer.people.flows.errors()[1] == pytest.approx(error(NEW.y, chosen.predict(NEW.X)))
    assert f"Row {answer.row} is an alternative" in str(answer)


def test_perfect_decisions_have_none(model):
    answer = ask(model, NEW.y)
    assert (answer.status, answer.row) == ("none found", None)
    assert f"None found among the {answer.models} models tried" in str(answer)


def test_a_few_rows_cannot_tell(model):
    answer = ask(model, LINE[:200], rows=200)
    assert (answer.status, answer.row) == ("cannot be told", None)
    assert "Cannot be told with these rows" in str(answer)
    assert answer.rows_to_tell is None or 200 < answer.rows_to_tell < 30_000


def test_more_rows_and_a_larger_margin_tell_more(model):
    """The same people ten times over are no more evidence, but show what more people like them would be."""
    many = {"X": NEW.X, "y": NEW.y, "sensitive_features": NEW.sensitive}
    many = {name: pd.concat([part] * 10, ignore_index=True) for name, part in many.items()}
    answer = ask(model, pd.concat([LINE] * 10, ignore_index=True), margin=0.05, **many)
    assert answer.status == "found"


def test_numbers_are_those_of_the_metrics(model):
    """On all rows, test rows and picking rows together."""
    answer = ask(model, LINE)
    assert (answer.picking_rows, answer.test_rows) == (300, 300)
    people = answer.people.frame()
    everyone = people[(people["attribute"] == "everyone") & (people["label"] == "all")].iloc[0]
    predicted = model.at(answer.tested).predict(NEW.X)
    assert everyone["gained"] == ((predicted == 1) & (LINE == 0)).sum()
    assert everyone["lost"] == ((predicted == 0) & (LINE == 1)).sum()
    before = gap(NEW.y, LINE, sensitive_features=NEW.sensitive, notion="demographic_parity")
    assert answer.people.gaps()["before"].tolist() == pytest.approx([before])


def test_an_incumbent_may_be_a_model_and_decisions_have_any_order_of_types(model):
    incumbent = LogisticRegression().fit(TOY.X, TOY.y)
    by_model, by_decisions = ask(model, incumbent), ask(model, incumbent.predict(NEW.X).astype(float).tolist())
    assert str(by_model) == str(by_decisions)


def test_the_gap_asked_for_must_fall_and_the_others_are_shown(model):
    answer = ask(model, GROUP, notion="tpr")
    assert answer.criterion == "equal_opportunity[group]"
    assert list(answer.gaps) == ["demographic_parity[group]", "equal_opportunity[group]"]
    assert list(answer.frame().index) == ["error", *answer.gaps]
    assert "demographic_parity[group] goes from" in str(answer)


def test_the_answer_is_plain_json_and_the_same_for_the_same_seed(model):
    one, again, other = (ask(model, LINE, random_state=seed).to_json() for seed in (3, 3, 4))
    assert json.loads(json.dumps(one, allow_nan=False)) == again
    assert one["changes"] != other["changes"]


def test_constant_points_are_no_alternatives(model):
    assert ask(model, GROUP).models == (~model.front_.is_constant).sum()


@pytest.mark.parametrize(
    ("incumbent", "options", "message"),
    [
        (LINE[:7], {}, "`incumbent` must have one decision per row: found 7 for 600 rows"),
        (
            LINE.map({0: "no", 1: "yes"}),
            {},
            "`incumbent` must have the labels .*, 0 and 1: found 'no'",
        ),
        (LINE * 0.7, {}, "If these are scores, compare them with a threshold"),
        (LINE.where(LINE.index > 2), {}, "`incumbent` must have no missing value: found 3 of 600"),
        (LINE, {"y": NEW.y[:9]}, "`incumbent` must have one decision per row: found 600 for 9"),
        (LINE, {"y": NEW.y + 1}, "`y` must have the labels that the model knows, 0 and 1: found 2"),
        (LINE, {"X": NEW.X[:9]}, "`X` must have one row per label: found 9 for 600"),
        (LINE, {"sensitive_features": NEW.sensitive[:9]}, "`sensitive_features` must have one row per sample: found 9"),
        (
            LINE,
            {"sensitive_features": {"group": ["x"] * 600}},
            "must have 30 rows .*: found 0 of 'protected'",
        ),
        (LINE, {"margin": 5}, "`margin` must be a number from 0 to less than 1.* 5 % is 0.05"),
        (LINE, {"margin": -0.1}, "`margin` must be a number from 0"),
        (LINE, {"confidence": 95}, "`confidence` must lie between 0.5 and 1.* 95 % is 0.95"),
        (LINE, {"confidence": 0.5}, "`confidence` must lie between 0.5 and 1"),
        (LINE, {"notion": "fpr"}, "must be one of the front's: found 'predictive_equality'. It has demographic_parity"),
        (LINE, {"attribute": "age"}, "must be one of the front's: found 'age'"),
    ],
)
def test_bad_input_is_one_sentence(model, incumbent, options, message):
    with pytest.raises(ValueError, match=message):
        ask(model, incumbent, **options)


def test_too_few_rows_are_refused_with_their_number(model):
    with pytest.raises(ValueError, match=r"At least two groups of 'group' must have 30 rows .*: found \d+ of"):
        ask(model, LINE[:40], rows=40)


def test_small_groups_are_left_out_by_name():
    rng = np.random.default_rng(0)
    group = np.where(rng.random(600) < 0.3, "other", TOY.sensitive["group"].to_numpy())
    model = FairNetClassifier(epochs=3, random_state=0).fit(TOY.X, TOY.y, sensitive_features={"group": group})
    few = np.where((group == "other") & (np.arange(600) > 60), None, group)
    with pytest.warns(
        UserWarning, match=r"Groups of 'group' with fewer than 30 rows .* left out of its gaps: 'other' \(\d+\)"
    ):
        answer = ask(model, LINE, sensitive_features={"group": few})
    assert "other" not in set(answer.people.frame()["group"])
