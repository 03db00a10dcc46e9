"""`objectives=`: more columns of a front, trained with a loss and measured with a metric of the user's own."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import brier_score_loss

from mamofair import (
    ClosestToIdeal,
    FairBoostingClassifier,
    FairestWithin,
    FairNetClassifier,
    FairPortfolioClassifier,
    Fixed,
    Knee,
    MinNorm,
    MostAccurateWithin,
    Weighted,
    load,
)
from mamofair.datasets import make_toy
from mamofair.fronts import Archive
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.objectives import CustomObjective, Gap, SquaredError
from mamofair.performance import Cost
from mamofair.relaxations import Hard
from mamofair.report import write
from mamofair.runs import Run, load_run, save
from tiny_fits import TINY_FITS

pytestmark = pytest.mark.usefixtures("short_search")

TOY = make_toy()
X, Y, SEX = TOY.X, TOY.y, TOY.sensitive
DP, EO = "demographic_parity[group]", "equal_opportunity[group]"
MASK = np.arange(len(X)) % 3 == 0
GROUPS = {"group": ("protected", "unprotected")}


def size(logits, batch):
    return logits.abs().mean(-1) / 10


def brier(scores, rows):
    return brier_score_loss(rows.y, scores.sigmoid())


SIZE = CustomObjective("size", size)
BRIER = CustomObjective("brier", SquaredError(), brier)


def net(*objectives: CustomObjective, **given) -> FairNetClassifier:
    settings = {"members": 4, "epochs": 3, "random_state": 0, "validation_fraction": MASK} | given
    return FairNetClassifier(objectives=list(objectives), **settings)


def boosting(*objectives: CustomObjective, **given) -> FairBoostingClassifier:
    settings = {"members": 4, "n_estimators": 6, "random_state": 0, "validation_fraction": MASK} | given
    return FairBoostingClassifier(objectives=list(objectives), **settings)


def fit(model):
    return model.fit(X, Y, sensitive_features=SEX)


KINDS = pytest.mark.parametrize("kind", [net, boosting])


@pytest.fixture(scope="module", params=[net, boosting])
def model(request):
    return fit(request.param(BRIER, SIZE))


def test_each_objective_is_a_column_measured_on_the_rows_held_back(model):
    frame = model.front_.frame()
    assert list(frame.columns) == ["error", DP, "brier", "size"]
    scores = model.score_all(X[MASK])
    expected = [brier_score_loss(Y[MASK], 1 / (1 + np.exp(-own))) for own in scores]
    np.testing.assert_allclose(frame["brier"], expected, atol=1e-5)
    np.testing.assert_allclose(frame["size"], np.abs(scores).mean(axis=1) / 10, atol=1e-5)
    np.testing.assert_allclose(frame["error"], ((scores > 0) != Y[MASK].to_numpy()).mean(axis=1))


def test_the_archive_is_non_dominated_in_all_columns(model):
    values = model.front_.values
    for own in values:
        assert not ((values <= own).all(axis=1) & (values < own).any(axis=1)).any()
    assert (np.diff(values[:, 0]) >= 0).all()


def test_the_history_has_their_values_and_weights(model):
    history = model.history_
    weights = history[["weight of cross_entropy", f"weight of {DP}", "weight of brier", "weight of size"]]
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    assert (history["size"] >= 0).all()
    assert history["hypervolume"].dropna().is_monotonic_increasing
    assert model.search_.reference[1:] == [1.0, 1.0, 1.0]


@TINY_FITS
@pytest.mark.parametrize("weighting", [Fixed((1, 2, 1)), MinNorm()], ids=str)
def test_a_gap_with_the_exact_gap_as_its_metric_is_the_column_of_its_notion(weighting):
    """Asked for as a notion or as a custom objective, the same networks are trained and the same points are kept.

    Trees start where all rates are equal: there, autograd's rounding decides which group is ahead.
    """
    gap = CustomObjective("tpr", Gap(EQUAL_OPPORTUNITY, "group"), Gap(EQUAL_OPPORTUNITY, "group", Hard()))
    given = {"members": [weighting], "anchor": 0.0}
    notions = fit(net(notions=["demographic_parity", "equal_opportunity"], **given)).front_
    custom = fit(net(gap, **given)).front_
    np.testing.assert_allclose(custom.values, notions.values, atol=1e-6)
    assert (notions.columns, custom.columns) == (["error", DP, EO], ["error", DP, "tpr"])
    assert [point.step for point in custom] == [point.step for point in notions]


@KINDS
def test_an_objective_of_weight_0_changes_no_direction(kind):
    still = CustomObjective("still", lambda logits, batch: 0 * logits.sum(-1))
    plain = fit(kind(members=[Fixed((1, 1))]))
    with_it = fit(kind(still, members=[Fixed((1, 1, 0))]))
    with_size = fit(kind(SIZE, members=[Fixed((1, 1, 0))]))
    values = plain.front_.values
    np.testing.assert_array_equal(with_it.front_.values[:, :2], values)
    assert (with_it.front_.values[:, 2] == 0).all()
    for own in values:  # a third column keeps more points, never fewer
        assert (with_size.front_.values[:, :2] == own).all(axis=1).any()
    columns = ["cross_entropy", DP]
    np.testing.assert_array_equal(with_size.history_[columns], plain.history_[columns])


@KINDS
def test_training_makes_it_small(kind):
    without, with_it = (fit(kind(SIZE, members=[Fixed(w)])).front_ for w in ((1, 0, 0), (1, 0, 5)))
    assert with_it.values[:, 3 - 1].min() < without.values[:, 3 - 1].min()


def test_members_that_are_a_number_count_it(model):
    weights = model.history_.groupby("member")["weight of size"].last()
    assert weights.iloc[0] == 0
    assert (weights.iloc[1:] > 0).all()


def test_it_can_be_selected_by(model):
    front = model.front_
    sizes = front.frame()["size"]
    assert Weighted({"size": 1}, allow_constant=True)(front) == sizes.argmin()
    assert ClosestToIdeal(allow_constant=True)(front) == np.square(front.values).sum(axis=1).argmin()
    assert Knee()(front) in range(len(front))
    limit = float(sizes.median())
    rule = MostAccurateWithin({"size": limit, DP: 1.0}, allow_constant=True)
    assert rule(front) == np.flatnonzero(sizes <= limit)[0]
    assert MostAccurateWithin({"size": limit}, allow_constant=True)(front) == np.flatnonzero(sizes <= limit)[0]
    fairest = FairestWithin(1.0, margin=0, allow_constant=True)(front)
    assert front.frame()[DP][fairest] == front.frame()[DP].min()


def test_a_sentence_says_where_limits_on_it_cannot_be_kept(model):
    front = model.front_
    with pytest.warns(UserWarning, match=r"None of the .* within the limits .*: size .* \(limit 0\)"):
        MostAccurateWithin({"size": 0.0})(front)
    with pytest.raises(ValueError, match="A limit with confidence must be on a gap: found 'size'"):
        MostAccurateWithin({"size": 0.5}, 0.9)(front)
    with pytest.raises(ValueError, match="The front has no column 'sise'"):
        MostAccurateWithin({"sise": 0.5})(front)


def test_a_limit_for_all_gaps_does_not_count_for_it():
    front = fit(net(CustomObjective("large", lambda f, batch: 5 + 0 * f.sum(-1)))).front_
    assert MostAccurateWithin(1.0)(front) in range(len(front))


def test_it_is_saved_and_loaded_with_functions_known_by_name(model, tmp_path):
    again = load(save(Run(model, {}, GROUPS), tmp_path))
    np.testing.assert_array_equal(again.front_.values, model.front_.values)
    assert again.front_.columns == model.front_.columns
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert [own.name for own in again.objectives] == ["brier", "size"]
    assert again.objectives[0].loss == SquaredError()
    with pytest.raises(ValueError, match=r"the run has kept only the name\. Pass the objectives again: load\(run"):
        fit(again)
    given = load(tmp_path, objectives=[BRIER, SIZE])
    np.testing.assert_array_equal(fit(given).front_.values, model.front_.values)


def test_a_run_with_it_has_a_report(tmp_path):
    run = load_run(save(Run(fit(net(SIZE)), {"data": {}}, GROUPS), tmp_path))
    write(run, tmp_path / "page.html")
    assert "demographic parity" in (tmp_path / "page.html").read_text()


def test_it_is_pickled_and_cloned(model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.front_.values, model.front_.values)
    np.testing.assert_array_equal(fit(clone(model)).front_.values, model.front_.values)


def test_further_training_extends_the_front():
    model = fit(net(SIZE, warm_start=True))
    before = model.front_.values
    after = fit(model).front_.values
    for own in before:
        assert (after <= own).all(axis=1).any()
    with pytest.raises(
        ValueError, match="`warm_start` must continue with the same labels, groups, notions, costs and objectives"
    ):
        fit(model.set_params(objectives=[CustomObjective("other", size)]))


def test_features_reach_loss_and_metric_as_the_model_takes_them():
    seen = []

    def first(logits, batch):
        seen.append(batch.x.shape[1])
        return (logits * batch.x[:, 0]).square().mean(-1) / 100

    fit(net(CustomObjective("first", first), standardize=False, epochs=1))
    fit(boosting(CustomObjective("first", first), n_estimators=1))
    assert set(seen) == {X.shape[1]}


def test_streams_and_weights_train_with_it():
    half = len(X) // 2
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    parts = [(X[:half], Y[:half], SEX[:half], weight[:half]), (X[half:], Y[half:], SEX[half:], weight[half:])]
    model = net(BRIER, SIZE, validation_fraction=0.3, epochs=2).fit_stream(parts)
    assert model.front_.columns == ["error", DP, "brier", "size"]


def test_what_cannot_be_done_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"`cv` must be None with `objectives`.*found cv = 3"):
        fit(net(SIZE, cv=3))
    with pytest.raises(ValueError, match="`cv` must be None with `objectives`"):
        fit(boosting(SIZE, cv=2))
    with pytest.raises(ValueError, match="`objectives` must be a list of CustomObjective"):
        fit(net(SIZE, SIZE))
    with pytest.raises(ValueError, match="`objectives` must be a list of CustomObjective"):
        fit(net().set_params(objectives=[size]))
    with pytest.raises(ValueError, match="found 'price', the front's first column"):
        fit(net(CustomObjective("price", size), performance=Cost(fn=2, name="price")))
    with pytest.raises(ValueError, match="A portfolio measures only performance and gaps: found the objective 'size'"):
        fit(FairPortfolioClassifier([("net", net(SIZE))]))
    with pytest.raises(ValueError, match="each of 3 columns: found 2"):
        Archive([(DEMOGRAPHIC_PARITY, "a")], max_points=2, custom=["size"])


def test_without_it_nothing_is_stored(tmp_path):
    save(Run(fit(net(epochs=1)), {}, GROUPS), tmp_path)
    assert "custom" not in (tmp_path / "estimator.json").read_text()
