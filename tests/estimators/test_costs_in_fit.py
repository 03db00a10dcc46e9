"""Performance and capacity through `fit`, for every kind of learner."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

from known_posteriors import World
from mamofair import (
    Cost,
    FairBoostingClassifier,
    FairNetClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
    MostAccurateWithin,
    find_alternative,
    load,
)
from mamofair.arbitrariness import arbitrariness
from mamofair.baselines import ConstantClassifier, CotterClassifier, ExponentiatedGradientClassifier, ZafarClassifier
from mamofair.learners.plugin.evidence import Evidence
from mamofair.learners.plugin.multipliers import Contrasts
from mamofair.metrics import gap
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.runs import Run, save
from tiny_fits import TINY_FITS

pytestmark = pytest.mark.usefixtures("short_search")

KINDS = {
    "plugin": FairPlugInClassifier(effort="fast", random_state=0),
    "aware": FairPlugInClassifier(effort="fast", aware=True, random_state=0),
    "boosting": FairBoostingClassifier(n_estimators=15, members=4, random_state=0),
    "net": FairNetClassifier(epochs=4, members=4, random_state=0),
    "portfolio": FairPortfolioClassifier(effort="fast", random_state=0),
}


def people(n=900, intercept=1.5):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    X = np.column_stack([rng.normal(size=(n, 2)), group + rng.normal(size=n)])
    chance = 1 / (1 + np.exp(intercept - 1.5 * X[:, 0] - 0.7 * X[:, 2]))
    return X, (rng.random(n) < chance).astype(int), group


X, Y, GROUP = people()


def fit(kind, **parameters):
    return clone(KINDS[kind]).set_params(**parameters).fit(X, Y, sensitive_features=GROUP)


@cache
def fit_plain(kind):
    return fit(kind)


def decide(model, i):
    told = {"sensitive_features": GROUP} if getattr(model, "aware", False) else {}
    return model.at(i).predict(X, **told)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cost_with_equal_prices_is_the_error(kind):
    error, cost = fit_plain(kind), fit(kind, performance=Cost(fp=2, fn=2))
    assert np.array_equal(error.front_.values, cost.front_.values)
    assert (error.front_.columns[0], cost.front_.columns[0]) == ("error", "cost")
    assert np.array_equal(decide(error, 0), decide(cost, 0))


@pytest.mark.parametrize("kind", KINDS)
def test_dear_misses_are_avoided(kind):
    """The cheapest point costs less than the most accurate one at the same price, and selects more people."""
    price = Cost(fp=1, fn=10)
    plain, dear = fit_plain(kind), fit(kind, performance=price)
    cost = [price(model.front_[0].valid.overall) for model in (plain, dear)]
    assert cost[1] < 0.8 * cost[0]
    assert dear.front_.columns[0] == "cost"
    assert (np.diff(dear.front_.values[:, 0]) >= 0).all()
    assert dear.front_[0].valid.positive_share > plain.front_[0].valid.positive_share + 0.1
    assert decide(dear, 0).mean() > decide(plain, 0).mean() + 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_a_capacity_is_met_on_the_rows_that_choose(kind):
    model = fit(kind, selection=MostAccurateWithin(1.0, select_rate=0.1, margin=0))
    shares = [point.valid.positive_share for point in model.front_]
    assert max(shares) <= 0.1
    assert shares[model.selected_] > 0.05  # as far as it goes: every place that is left free costs hits
    within = fit(kind, selection=MostAccurateWithin(1.0, select_rate=(0.4, 0.5), margin=0))
    assert all(0.4 <= point.valid.positive_share <= 0.5 for point in within.front_)


@pytest.mark.parametrize("kind", ["plugin", "aware", "boosting", "net"])
def test_points_decide_as_they_were_counted_after_saving(kind, tmp_path):
    """Whatever moved the thresholds is part of the run; here without folds, so that rows can be told apart."""
    held_back = np.arange(len(X)) % 3 == 0
    free = {} if kind in ("boosting", "net") else {"cv": None}
    choice = MostAccurateWithin(1.0, select_rate=(0.1, 0.2), margin=0, performance="balanced_error")
    model = fit(kind, selection=choice, performance=Cost(fp=1, fn=4), validation_fraction=held_back, **free)
    save(Run(model, {}, {}, ()), tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.selection == choice
    assert again.front_.performance == Cost(fp=1, fn=4)
    for i in {0, len(model.front_) - 1, model.selected_}:
        decided = decide(again, i)
        assert np.array_equal(decided, decide(model, i))
        assert decided[held_back].mean() == pytest.approx(model.front_[i].valid.positive_share)
        found = gap(Y[held_back], decided[held_back], sensitive_features=GROUP[held_back], notion="dp")
        assert found == pytest.approx(model.front_.values[i, 1])


@pytest.mark.parametrize("notion", [DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY], ids=lambda notion: notion.name)
@pytest.mark.parametrize("cost", [Cost(fp=1, fn=5), Cost(fp=3, fn=1, tn=1), Cost(balanced=True)], ids=str)
def test_the_plug_in_rule_is_the_cheapest_of_all(notion, cost):
    """Against all 2⁸ rules on eight atoms: cost + λ·difference is least where each row is decided by itself."""
    world = World.random(8, 2, seed=3)
    rows = world.rows
    y, weight, first = rows["y"].to_numpy(), rows["weight"].to_numpy(), np.unique(rows["x"], return_index=True)[1]
    positive = np.average(y, weights=weight)
    mistakes = cost.mistakes(positive)
    contrasts = Contrasts.of([(notion, "a")], y, world.groups, weight, mistakes)
    evidence = Evidence(contrasts.gain(world.beliefs.positive), contrasts.terms(world.beliefs), None, mistakes)
    unit = mistakes[1] / (cost([0, 0, positive, 1 - positive]) - cost([positive, 0, 0, 1 - positive])) * positive

    def measure(decided):
        yes = decided[rows["x"].to_numpy()]
        cells = [weight[(yes == d) & (y == label)].sum() for d, label in ((1, 1), (1, 0), (0, 1), (0, 0))]
        signed = contrasts.offset + (weight / weight.sum() * yes) @ contrasts.terms(world.beliefs)
        return float(cost(cells)) * unit, signed

    every = [measure(np.array(rule)) for rule in product([False, True], repeat=8)]
    for multiplier in np.linspace(-1, 1, 11):
        [score] = evidence.scores([{"multipliers": np.array([multiplier])}])
        own, difference = measure(score[first] > 0)
        best = min(value + float(multiplier * other[0]) for value, other in every)
        assert own + float(multiplier * difference[0]) <= best + 1e-9


@TINY_FITS
def test_a_front_of_error_where_a_label_is_rare_is_called_useless():
    rare = people(intercept=5.5)
    model = FairPlugInClassifier(effort="fast", random_state=0)
    with pytest.warns(UserWarning, match=r"Only \d\.\d% of rows have the favorable label.*balanced_error.*Cost\(fp=1"):
        model.fit(rare[0], rare[1], sensitive_features=rare[2])
    model.set_params(performance="balanced_error").fit(rare[0], rare[1], sensitive_features=rare[2])
    assert model.front_.values[0, 0] < 0.4


def test_other_words_for_performance_are_refused():
    with pytest.raises(ValueError, match="`performance` must be 'error', 'balanced_error' or a cost"):
        fit("plugin", performance="auc")


def test_a_share_that_cannot_be_met_is_approached():
    """Weights that sum up with rounding do not lose the points at the bound, and no offset of trees selects 99.99 %."""
    model = clone(KINDS["plugin"]).set_params(selection=MostAccurateWithin(1.0, select_rate=(0.3, 0.3), margin=0))
    model.fit(X, Y, sensitive_features=GROUP, sample_weight=np.full(len(X), 0.1))
    assert model.front_[model.selected_].valid.positive_share == pytest.approx(0.3)
    far = fit("boosting", selection=MostAccurateWithin(1.0, select_rate=(0.9999, 0.99991), margin=0))
    assert len({point.valid.positive_share for point in far.front_}) == 1
    assert far.front_[0].valid.positive_share > 0.9


def test_copies_of_a_model_have_its_capacity():
    model = fit("plugin", selection=MostAccurateWithin(1.0, select_rate=0.05, margin=0))
    found = arbitrariness(model, X, Y, sensitive_features=GROUP, random_state=0)
    assert found.frame()["flips"].max() <= 0.1  # two models that select a twentieth each


@pytest.mark.parametrize("peer", [CotterClassifier, ExponentiatedGradientClassifier, ZafarClassifier])
def test_methods_that_know_the_error_only_say_so(peer):
    with pytest.raises(ValueError, match="`performance` must be 'error', the only one"):
        peer(performance="balanced_error").fit(X, Y, sensitive_features=GROUP)
    with pytest.raises(ValueError, match="`selection` must be a rule without `select_rate`"):
        peer(selection=MostAccurateWithin(0.1, select_rate=0.1)).fit(X, Y, sensitive_features=GROUP)


@TINY_FITS
def test_the_constant_classifier_takes_the_cheaper_constant():
    dear = ConstantClassifier(performance=Cost(fp=1, fn=9)).fit(X, Y, sensitive_features=GROUP)
    positive = float(Y.mean())
    assert dear.predict(X).all()
    assert dear.front_.values[0, 0] == pytest.approx(Cost(fp=1, fn=9).of_best_constant(positive), abs=0.01)
    assert not ConstantClassifier().fit(X, Y, sensitive_features=GROUP).predict(X).any()


def test_alternatives_are_compared_by_the_cost_of_the_front():
    price = Cost(fp=1, fn=9)
    model = fit("plugin", performance=price)
    answer = find_alternative(model, X, Y, sensitive_features=GROUP, incumbent=np.zeros(len(Y), dtype=int), margin=0.1)
    assert answer.performance == "cost"
    assert next(iter(answer.frame().index)) == "cost"
    assert answer.error.after < answer.error.before == pytest.approx(float(Y.mean()), abs=0.02)  # misses everyone
    assert "The cost goes from" in str(answer)
