"""Rows without labels certify demographic parity, and change nothing else."""

import numpy as np
import pandas as pd
import pytest

from mamofair import FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier, MostAccurateWithin
from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter

pytestmark = pytest.mark.usefixtures("short_search")

RULE = MostAccurateWithin(0.1, confidence=0.9)
KINDS = {
    "net": lambda **own: FairNetClassifier(epochs=3, members=3, random_state=0, **own),
    "plugin": lambda **own: FairPlugInClassifier(effort="fast", cv=2, random_state=0, **own),
    "aware": lambda **own: FairPlugInClassifier(effort="fast", cv=2, aware=True, random_state=0, **own),
    "portfolio": lambda **own: FairPortfolioClassifier(effort="fast", random_state=0, **own),
}


def table(n, seed, share=0.4, shift=0.0):
    rng = np.random.default_rng(seed)
    sex = rng.random(n) < share
    X = pd.DataFrame(rng.normal(size=(n, 2)) + 0.5 * sex[:, None] + shift, columns=["a", "b"])
    y = (X["a"].to_numpy() + rng.normal(size=n) > 0.5).astype(int)
    return X, y, pd.DataFrame({"sex": np.where(sex, "F", "M")})


@pytest.mark.parametrize(("kind", "fraction"), [("net", 0.0), ("plugin", 0.2), ("aware", 0.0), ("portfolio", 0.2)])
def test_they_are_counted_where_no_label_is_needed(kind, fraction):
    (X, y, people), (more, _, others) = table(800, 0), table(900, 1)
    given = {"notions": ["dp", "tpr"], "calibration_fraction": fraction}
    plain = KINDS[kind](**given).fit(X, y, sensitive_features=people)
    model = KINDS[kind](**given).fit(X, y, sensitive_features=people, unlabelled=(more, others))
    np.testing.assert_array_equal(model.front_.values, plain.front_.values)
    decided = model.decide_all((more, others) if kind == "aware" else more)
    alone = Counter.of(np.zeros(len(more)), read_groups(others))(decided)
    for point, before, own in zip(model.front_, plain.front_, alone, strict=True):
        labelled = before.calibration.counts if before.calibration else {"sex": np.zeros((2, 4)), "": np.zeros((1, 4))}
        counts = point.calibration.counts
        np.testing.assert_array_equal(counts["demographic_parity[sex]"], labelled["sex"] + own.counts["sex"])
        np.testing.assert_array_equal(counts["sex"], labelled["sex"])
        np.testing.assert_array_equal(counts[""], labelled[""])


def test_they_make_an_answer_possible():
    (X, y, people), (more, _, others) = table(600, 0), table(8000, 1)
    model = KINDS["plugin"](selection=RULE, calibration_fraction=0.2).fit(X, y, sensitive_features=people)
    assert RULE.answer(model.front_).status == "not enough data"
    model = KINDS["plugin"](selection=RULE).fit(X, y, sensitive_features=people, unlabelled=(more, others))
    assert RULE.answer(model.front_).status == "certified"


def test_a_plan_holds_back_fewer_rows_with_them():
    (X, y, people), (more, _, others) = table(2000, 0), table(8000, 1)
    model = KINDS["plugin"](selection=RULE, calibration_fraction="plan")
    model.fit(X, y, sensitive_features=people, unlabelled=(more, others))
    assert model.search_.sizes["calibration"] == 0


def test_another_population_is_warned_of():
    X, y, people = table(2000, 0)
    model = KINDS["plugin"](selection=RULE)
    more, _, others = table(4000, 1, share=0.6)
    with pytest.warns(UserWarning, match=r"found other shares of 'sex', 'F' \d\d.\d% and 5|6\d.\d%"):
        model.fit(X, y, sensitive_features=people, unlabelled=(more, others))
    more, _, others = table(4000, 1, shift=0.5)
    with pytest.warns(
        UserWarning,
        match=r"the most accurate point selects \d+.\d% of '[FM]' among them, and \d+.\d% among the validation",
    ):
        model.fit(X, y, sensitive_features=people, unlabelled=(more, others))


def test_the_same_population_is_not_warned_of():
    for seed in range(5):  # a warning would be an error
        X, y, people = table(500, seed)
        more, _, others = table(1000, 100 + seed)
        KINDS["plugin"](selection=RULE).fit(X, y, sensitive_features=people, unlabelled=(more, others))


@pytest.mark.parametrize(
    ("notions", "unlabelled", "words"),
    [
        ("dp", lambda X, p: X, "must be a pair of features and sensitive features: found DataFrame"),
        ("tpr", lambda X, p: (X, p), r"such as demographic parity: found equal_opportunity\[sex\]. Leave them out"),
        ("dp", lambda X, p: (X[["a"]], p), "`unlabelled` must have the features of X: Feature names .*: - b$"),
        ("dp", lambda X, p: (X, p.iloc[:5]), "`unlabelled` must have .* for each of its rows: found 5 of 400"),
        ("dp", lambda X, p: (X, p.rename(columns={"sex": "x"})), "must have the attribute 'sex' as in `fit`"),
    ],
)
@pytest.mark.parametrize("kind", ["plugin", "net"])
def test_rows_of_another_kind_are_refused_in_one_sentence(kind, notions, unlabelled, words):
    X, y, people = table(400, 0)
    with pytest.raises(ValueError, match=words) as error:
        KINDS[kind](notions=notions).fit(X, y, sensitive_features=people, unlabelled=unlabelled(X, people))
    assert "\n" not in str(error.value)
