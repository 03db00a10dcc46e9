"""Arbitrariness: shares of decisions that flip, checked against worlds where they are known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression

from examples_of_points import front
from mamofair import FairNetClassifier, FairPlugInClassifier, arbitrariness
from mamofair._rows.groups import read_groups
from mamofair.arbitrariness import Arbitrariness, _match, _table
from mamofair.datasets import make_toy
from tiny_fits import TINY_FITS

TOY = make_toy()
LINEAR = FairPlugInClassifier(LogisticRegression(), cv=2, max_points=20, random_state=0)


def test_shares_are_those_of_pairs_of_models_by_hand(rng):
    scores = rng.normal(size=(4, 3, 50))
    people = read_groups(pd.Series(np.resize(["a", "b", None], 50), name="x"))
    table = _table(scores, people)
    inside = people.codes[:, 0] == 1
    pairs = [(i, j) for i in range(4) for j in range(i)]
    for point in range(3):
        flips = [np.mean((scores[i, point] > 0) != (scores[j, point] > 0)) for i, j in pairs]
        assert table["flips"][point] == pytest.approx(np.mean(flips))
        own = [np.mean((scores[i, point, inside] > 0) != (scores[j, point, inside] > 0)) for i, j in pairs]
        assert table["flips[x=b]"][point] == pytest.approx(np.mean(own))
        halves = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
        means = [[scores[list(side), point].sum(axis=0) > 0 for side in sides] for sides in halves]
        assert table["averaged"][point] == pytest.approx(np.mean([a != b for a, b in means]))


def test_models_that_agree_flip_nothing():
    scores = np.ones((4, 2, 5))
    assert (_table(scores, read_groups(["a", "b", "a", "b", "a"])) == 0).all(axis=None)


def test_copies_are_compared_at_points_with_the_same_gaps():
    ours, theirs = front((100, 300), (150, 200), (220, 50)), front((110, 310), (120, 290), (140, 210), (200, 100))
    rows = [theirs.values[row, 0] for row in _match(theirs, ours)]
    assert rows == [0.12, 0.2, 0.2]  # the last one exceeds 50 least


@TINY_FITS
def test_a_stable_learner_flips_less_than_one_that_guesses():
    stable = clone(LINEAR)
    noisy = clone(LINEAR).set_params(estimator=_Guess(), group_estimator=LogisticRegression())
    flips = []
    for model in (stable, noisy):
        model.fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)
        luck = arbitrariness.arbitrariness(model, TOY.X, TOY.y, sensitive_features=TOY.sensitive, random_state=0)
        assert len(luck.frame()) == len(model.front_)
        flips.append(luck.frame()["flips"][0])
    assert flips[0] < 0.1 < 0.2 < flips[1]


class _Guess(ClassifierMixin, BaseEstimator):
    """Gives everyone a random probability that follows from its features and the rows it was fitted to."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.direction_ = np.random.default_rng(int(1000 * np.abs(np.asarray(X)).sum()) % 2**31).normal(size=X.shape[1])
        return self

    def predict_proba(self, X):
        positive = np.modf(np.abs(np.asarray(X) @ self.direction_) * 97)[0]
        return np.column_stack([1 - positive, positive])


@TINY_FITS
def test_networks_and_models_that_are_told_the_attribute(rng):
    for model in (FairNetClassifier(epochs=1, members=2), clone(LINEAR).set_params(aware=True)):
        model.set_params(random_state=0).fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)
        luck = arbitrariness.arbitrariness(model, TOY.X, TOY.y, sensitive_features=TOY.sensitive, random_state=0)
        assert luck.rows == 150
        assert luck.frame().notna().all(axis=None)
        sentence = luck.sentence(0)
        assert sentence.startswith("Trained on another half of the rows, the model at row 0 would decide differently")


def test_small_groups_of_the_model_are_not_warned_of_again():
    people = TOY.sensitive.assign(group=TOY.sensitive["group"].astype(object))
    people.iloc[:40] = "rare"
    model = clone(LINEAR).set_params(min_group=50)
    with pytest.warns(UserWarning, match="'rare' \\(40\\)"):
        model.fit(TOY.X, TOY.y, sensitive_features=people)
    luck = arbitrariness.arbitrariness(model, TOY.X, TOY.y, sensitive_features=people, random_state=0)
    assert not any("rare" in name for name in luck.frame())


def test_ties_go_to_the_point_with_the_fewest_flips():
    ours = front((100, 300), (101, 290), (109, 100))
    luck = Arbitrariness(pd.DataFrame({"flips": [0.3, 0.2, 0.1]}), 10)
    assert luck.break_tie(ours, 0) == 1
    assert luck.break_tie(ours, 0, tolerance=0.0) == 0
    assert luck.break_tie(ours, 0, tolerance=0.01) == 2
    assert luck.break_tie(ours, 2) == 2
