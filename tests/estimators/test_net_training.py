"""How `fit` runs: step by step, side by side, until it is stopped, and on again."""

import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import torch
from small_fits import GROUP, X, Y, assert_same, fitted, small, two_attributes
from torch import nn

import forked
from mamofair import MLP, Fixed, Member, MinNorm, rays
from mamofair.learners.growth import growth
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS


def fit(model, **more):
    return model.fit(X, Y, sensitive_features=GROUP, **more)


# --- step by step


def test_fitting_yields_the_estimator_usable_so_far():
    model, volumes = small(epochs=4), []
    for epoch, same in enumerate(model.fitting(X, Y, sensitive_features=GROUP), start=1):
        assert same is model
        assert model.predict(X).shape == (600,)
        assert model.history_["epoch"].max() == epoch - 1
        assert model.history_["hypervolume"].notna().sum() == 3 * epoch
        volumes.append(model.front_.hypervolume(1.0))
    assert len(volumes) == 4
    assert volumes == sorted(volumes)
    assert_same(model, fitted(epochs=4))


def test_fitting_can_be_left_at_any_time_and_taken_up_again():
    model = small(epochs=4, warm_start=True)
    for done, _ in enumerate(model.fitting(X, Y, sensitive_features=GROUP), start=1):
        if done == 2:
            break
    assert_same(model, fitted(epochs=2))
    model.set_params(epochs=2)
    assert_same(fit(model), fitted(epochs=4))


def test_fitting_checks_what_it_is_given_at_once():
    with pytest.raises(ValueError, match="sensitive_features"):
        small().fitting(X, Y)


def test_points_say_where_they_come_from():
    model = fitted(members=4, epochs=6)
    steps = set(model.history_["step"])
    for point in model.front_.points:
        assert 0 <= point.member < 4
        assert point.step in steps
        assert {"layers.0.weight", "layers.1.bias"} <= set(point.state)


def test_states_on_the_front_are_not_touched_by_later_training():
    model, kept = small(epochs=6), {}
    for _ in model.fitting(X, Y, sensitive_features=GROUP):
        for point in model.front_.points:
            state = {name: tensor.clone() for name, tensor in point.state.items()}
            before = kept.setdefault((point.member, point.step, float(state["layers.1.bias"])), state)
            assert all(torch.equal(tensor, before[name]) for name, tensor in point.state.items())
    assert len(kept) > len(model.front_)


@pytest.mark.parametrize("snapshots", [1, 2, 5])
def test_members_are_measured_so_many_times_an_epoch(snapshots):
    history = fitted(epochs=2, snapshots=snapshots).history_
    assert len(history) == 2 * snapshots * 3
    assert history.groupby("epoch")["step"].nunique().tolist() == [snapshots] * 2


# --- members


def test_members_are_preferences_from_accurate_to_fair():
    history = fitted(members=5, epochs=25, patience=None).history_
    last = history[history["epoch"] == 24].groupby("member")[["cross_entropy", "demographic_parity[group]"]].mean()
    assert last["cross_entropy"].iloc[0] < last["cross_entropy"].iloc[-1]
    assert last["demographic_parity[group]"].iloc[0] > last["demographic_parity[group]"].iloc[-1]


def test_number_of_members_means_that_many_rays():
    assert_same(fitted(members=4), fitted(members=rays(2, 4)))
    assert_same(fitted(members=np.int64(4)), fitted(members=tuple(rays(2, 4))))


@pytest.mark.parametrize(
    "members",
    [[MinNorm()], [Fixed((1, 1)), MinNorm()], [MinNorm(), Member(MinNorm(), seed=1), Fixed((3, 1))]],
    ids=["single", "mixed", "mixed seeds"],
)
def test_any_weightings_train_side_by_side(members):
    model = fitted(members=members)
    assert model.history_["member"].nunique() == len(members)
    weights = model.history_[["weight of cross_entropy", "weight of demographic_parity[group]"]].to_numpy()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
    assert ((weights > 0.01) & (weights < 0.99)).any()


def test_weighting_of_ones_own_is_asked_at_every_step():
    asked = []

    def even(gramian):
        asked.append(gramian.shape)
        return gramian.new_full((len(gramian),), 1 / len(gramian))

    model = fitted(members=[even], notions=["dp", "tpr"], epochs=2)
    assert asked == [(3, 3)] * 2 * 6  # epochs, steps
    assert (model.history_["weight of cross_entropy"] - 1 / 3).abs().max() < 1e-6


def test_members_of_the_same_seed_start_alike_and_of_another_do_not():
    first = fitted(members=[Fixed((1, 1)), Fixed((1, 1)), Member(Fixed((1, 1)), seed=1)], epochs=1, snapshots=1)
    values = first.history_["cross_entropy"]
    assert values[0] == pytest.approx(values[1])
    assert values[0] != pytest.approx(values[2], abs=1e-6)


@pytest.mark.parametrize(
    "network",
    [MLP((8,), 0.2), lambda n: nn.Sequential(nn.Linear(n, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))],
    ids=["stacked", "any module"],
)
def test_member_of_a_population_is_what_it_would_be_alone(network):
    """In single precision, so that the values drift apart a little; equality in double is a test of `epochs`."""
    members = [Fixed((1, 0.2)), Member(Fixed((1, 1)), seed=3), Member(Fixed((1, 3)), seed=1)]
    settings = {"network": network, "epochs": 2, "learning_rate": 0.003}
    together = fitted(members=members, **settings).history_.set_index("member")
    for i, member in enumerate(members):
        alone = fitted(members=[member], **settings).history_
        for column in ("cross_entropy", "demographic_parity[group]"):
            np.testing.assert_allclose(together.loc[i, column], alone[column], atol=1e-3)


def test_several_attributes_and_notions_have_an_objective_each():
    model = small(notions=["dp", "eodds"], epochs=2).fit(X, Y, sensitive_features=two_attributes())
    assert len(model.front_.columns) == 5
    assert all(column in model.history_ for column in model.front_.columns[1:])


# --- until it is stopped


def test_training_stops_when_the_front_has_hardly_grown_for_as_long_as_patience():
    model, fronts = small(epochs=300, patience=3, batch_size=600, snapshots=1), []
    for _ in model.fitting(X, Y, sensitive_features=GROUP):
        fronts.append(model.front_.values)
    grown = [growth(then, now, model.search_.reference) for then, now in zip(fronts, fronts[3:], strict=False)]
    assert 3 < len(fronts) < 300
    assert all(each >= 0.003 for each in grown[:-1])
    assert grown[-1] < 0.003


def test_training_in_two_parts_runs_out_of_patience_where_one_does():
    whole = fitted(epochs=300, patience=3, batch_size=600, snapshots=1)
    last = int(whole.history_["epoch"].max())
    parts = fitted(epochs=last - 1, patience=3, batch_size=600, snapshots=1, warm_start=True)
    assert_same(fit(pickle.loads(pickle.dumps(parts)).set_params(epochs=300)), whole)
    assert len(parts.search_.past) == 4


def test_without_patience_training_runs_to_its_end():
    model = fitted(epochs=30, patience=None, batch_size=600, snapshots=1, learning_rate=1e-9)
    assert model.history_["epoch"].nunique() == 30
    assert fitted(epochs=30, patience=2, batch_size=600, learning_rate=1e-9).history_["epoch"].nunique() < 30


@dataclass(frozen=True)
class Interrupts:
    """A weighting that is interrupted when it is asked for the `after`th time."""

    after: int

    def __call__(self, gramian):
        left = calls.pop() if calls else self.after
        calls.append(left - 1)
        if left <= 0:
            raise KeyboardInterrupt
        return gramian.new_full((len(gramian),), 1 / len(gramian))


calls: list[int] = []


@pytest.fixture(autouse=True)
def no_calls_yet():
    calls.clear()


def test_interruption_leaves_a_usable_estimator_with_the_front_so_far():
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    model = small(members=[Interrupts(after=16)], epochs=50)
    with pytest.warns(UserWarning, match="interrupted"):
        assert fit(model) is model
    assert model.history_["epoch"].max() == 2  # six steps an epoch
    assert model.predict(X).shape == (600,)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert_same(pickle.loads(pickle.dumps(model)), model)


def test_interruption_before_anything_was_found_is_not_swallowed():
    model = small(members=[Interrupts(after=0)])
    with pytest.raises(KeyboardInterrupt):
        fit(model)
    assert not hasattr(model, "front_")


def test_interruption_of_a_second_fit_does_not_bring_back_the_first():
    model = fitted()
    with pytest.raises(KeyboardInterrupt):
        fit(model.set_params(members=[Interrupts(after=0)]))
    assert not hasattr(model, "front_")


@pytest.mark.parametrize("members", [2, [MinNorm()]], ids=str)
def test_divergence_stops_with_the_objective_and_the_step(members):
    model = small(members=members, learning_rate=1e30)
    with pytest.raises(FloatingPointError, match=r"cross_entropy of member 0 was not finite at step [1-9]\..*learning"):
        fit(model)


def test_divergence_keeps_the_front_so_far():
    class Breaks(nn.Module):
        """After some steps its logits are not finite any more."""

        def __init__(self, n_features):
            super().__init__()
            self.layer = nn.Linear(n_features, 1)
            self.steps = 0

        def forward(self, x):
            self.steps += self.training
            return self.layer(x) * (torch.nan if self.training and self.steps > 8 else 1)

    model = small(members=[Fixed((1, 1))], network=Breaks)
    with pytest.raises(FloatingPointError, match=r"cross_entropy of member 0 was not finite at step [789]\."):
        fit(model)
    assert model.predict_proba(X).shape == (600, 2)
    assert np.isfinite(model.predict_proba(X)).all()


def test_parameters_that_are_lost_never_reach_the_front():
    """With one step a snapshot, parameters can be lost before any loss is: they would look constant, and fair."""
    model = small(learning_rate=3e38, batch_size=600, averaging=0.0, snapshots=6)
    with pytest.raises(FloatingPointError, match=r"parameter layers\.\d\.weight was not finite after step 1"):
        fit(model)
    assert not hasattr(model, "front_")


def test_huge_features_that_are_not_scaled_are_an_error_that_names_them():
    with pytest.raises(FloatingPointError, match="huge values in X"):
        small(standardize=False).fit(X * 1e39, Y, sensitive_features=GROUP)


# --- and on again


@pytest.mark.parametrize("members", [3, [MinNorm()], [MinNorm(), Fixed((1, 2))]], ids=str)
@pytest.mark.parametrize("saved", [False, True], ids=["in memory", "pickled"])
def test_training_in_two_parts_is_training_in_one(members, saved):
    model = fitted(members=members, epochs=2, warm_start=True)
    model = fit(pickle.loads(pickle.dumps(model)) if saved else model)
    whole = fitted(members=members, epochs=4)
    assert_same(model, whole)
    pd.testing.assert_frame_equal(model.history_, whole.history_, check_exact=True)
    assert model.history_["epoch"].unique().tolist() == [0, 1, 2, 3]


def test_warm_start_holds_the_same_rows_back_also_without_a_random_state():
    """Otherwise rows that were trained on would be measured on."""
    fingerprint = np.random.default_rng(0).random(600)  # weights whose sum tells which rows are held back
    model = small(epochs=1, warm_start=True, random_state=None)
    held_back = {fit(model, sample_weight=fingerprint).front_.points[0].valid.overall.sum() for _ in range(3)}
    assert len({round(weight, 6) for weight in held_back}) == 1
    assert model.history_["step"].is_monotonic_increasing


def test_warm_start_extends_the_front_and_never_worsens_it():
    model = fitted(epochs=2, warm_start=True)
    for _ in range(3):
        old = model.front_.values
        fit(model)
        for row in old:
            assert (model.front_.values <= row).all(axis=1).any()


def test_training_a_copy_on_leaves_the_original_as_it_is():
    model = fitted(epochs=2, warm_start=True)
    history, scores = model.history_, model.decision_function(X)
    fit(model.at(0))
    fit(model.with_selection(model.selection))
    pd.testing.assert_frame_equal(model.history_, history)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    assert_same(fit(model), fitted(epochs=4))


def test_warm_start_takes_a_new_learning_rate_and_new_patience():
    model = fitted(epochs=50, patience=2, warm_start=True, batch_size=600, learning_rate=1e-9)
    stopped = model.history_["epoch"].max()
    assert stopped < 49
    fit(model.set_params(learning_rate=0.02))
    assert model.history_["epoch"].max() >= stopped + 2
    assert model.history_["cross_entropy"].iloc[-1] < model.history_["cross_entropy"].iloc[0] - 0.005


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"members": 4}, "as many members: found 4 after 3"),
        ({"notions": "tpr"}, "same labels, groups, notions"),
        ({"favorable": 0}, "same labels, groups, notions"),
    ],
    ids=str,
)
def test_warm_start_refuses_what_it_cannot_continue_and_stays_as_it_is(change, words):
    model = fitted(warm_start=True)
    before = model.predict(X)
    with pytest.raises(ValueError, match=words):
        fit(model.set_params(**change))
    np.testing.assert_array_equal(model.predict(X), before)


def test_warm_start_refuses_other_data():
    model = fitted(warm_start=True)
    with pytest.raises(ValueError, match="feature names"):
        model.fit(X.assign(x3=0.0), Y, sensitive_features=GROUP)
    with pytest.raises(ValueError, match="same labels"):
        model.fit(X, 2 * Y - 1, sensitive_features=GROUP)
    with pytest.raises(ValueError, match="same labels, groups"):
        model.fit(X, Y, sensitive_features=two_attributes())


# --- and says so

PROGRAM = """
from mamofair import FairNetClassifier
from mamofair.datasets import make_toy
toy = make_toy()
FairNetClassifier(members=2, epochs=3, random_state=0, verbose=1).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
"""


def test_progress_is_plain_lines_on_stderr_when_piped():
    done = forked.run(exec, PROGRAM, {})
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"Step {done} of 3" for done in (1, 2, 3)]
    assert all("Error of the best choice on validation rows: 0." in line for line in lines)


def test_nothing_is_printed_unless_asked_for(capfd):
    fitted()
    assert capfd.readouterr() == ("", "")
    fitted(verbose=1)
    out, err = capfd.readouterr()
    assert not out
    assert "Error of the best choice on validation rows" in err


def test_common_descent_of_two_members_trains_each_as_it_would_alone():
    """With the optimizer that the estimator really uses."""
    both = fitted(members=[Member(MinNorm(), seed=0), Member(MinNorm(), seed=1)], epochs=4).history_
    alone = fitted(members=[Member(MinNorm(), seed=1)], epochs=4).history_
    second = both[both["member"] == 1]["cross_entropy"].to_numpy()
    np.testing.assert_allclose(second, alone["cross_entropy"].to_numpy(), rtol=1e-3)


def test_warm_start_after_a_fit_that_failed_starts_anew():
    model = small(warm_start=True, members="x")
    with pytest.raises(ValueError, match="`members` must be"):
        model.fit(X, Y, sensitive_features=GROUP)
    model.set_params(members=2).fit(X, Y, sensitive_features=GROUP)
    assert model.history_["epoch"].min() == 0
