"""Offsets of logits: each snapshot is several points, and each of them predicts what was measured."""

import numpy as np
import onnxruntime
import pytest
import torch
from small_fits import X, Y, assert_same, fitted, small, two_attributes
from torch import nn

from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter
from mamofair.runs import Run, load, save, to_onnx

LAST = "layers.1.bias"
HELD_BACK = np.arange(len(X)) % 3 == 0
NONE: tuple[float, ...] = ()


def wide(**parameters):
    """Return a fit with two gaps, of which many points are kept."""
    return small(epochs=4, max_points=500, **parameters).fit(X, Y, sensitive_features=two_attributes())


def recount(model, groups, weight=None):
    """Return the counts of each point, from what it predicts for the rows that were held back."""
    rows = read_groups(groups[HELD_BACK]).as_in(read_groups(groups))
    counter = Counter.of(np.asarray(Y)[HELD_BACK], rows, None if weight is None else weight[HELD_BACK])
    return counter(model.decide_all(X[HELD_BACK]))


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weighted rows"])
def test_every_point_predicts_what_was_measured(weighted):
    groups = two_attributes(unknown=20)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X)) if weighted else None
    model = small(epochs=4, validation_fraction=HELD_BACK).fit(X, Y, sensitive_features=groups, sample_weight=weight)
    assert len({(point.member, point.step) for point in model.front_}) < len(model.front_)
    for point, tally in zip(model.front_, recount(model, groups, weight), strict=True):
        for name, table in point.valid.counts.items():
            np.testing.assert_allclose(tally.counts[name], table, atol=1e-9)


def test_every_point_is_saved_and_exported_as_it_predicts(tmp_path):
    model = fitted(epochs=4)
    again = load(save(Run(model, {}, model.search_.task.groups), tmp_path / "run"))
    np.testing.assert_array_equal(again.decide_all(X), model.decide_all(X))
    for i, decided in enumerate(model.decide_all(X)):
        session = onnxruntime.InferenceSession(to_onnx(model.at(i)), providers=["CPUExecutionProvider"])
        [predicted] = session.run(["prediction"], {"X": X.to_numpy()})
        np.testing.assert_array_equal(predicted == model.favorable_, decided)


def test_points_of_a_snapshot_differ_by_their_offsets_alone():
    offsets = (-0.4, 0.2, 0.7)
    states = {}
    for point in wide(offsets=offsets).front_:
        states.setdefault((point.member, point.step), []).append(point.state)
    assert max(map(len, states.values())) > 1
    between = {round(one - other, 5) for one in (0, *offsets) for other in (0, *offsets)}
    for first, *others in states.values():
        for other in others:
            assert round(float(other[LAST] - first[LAST]), 5) in between
            assert all(torch.equal(other[name], first[name]) for name in first if name != LAST)


def test_offsets_only_add_to_the_front():
    without, front = wide(offsets=NONE).front_, wide().front_
    assert front.hypervolume(1) > without.hypervolume(1)
    for row in without.values:
        assert (front.values <= row).all(axis=1).any()


def test_an_offset_of_nothing_is_none():
    assert_same(fitted(offsets=[0.0]), fitted(offsets=NONE))


def test_networks_of_ones_own_are_measured_as_they_are():
    def recipe(n_features):
        return nn.Sequential(nn.Linear(n_features, 1), nn.Flatten(0))

    assert_same(fitted(network=recipe), fitted(network=recipe, offsets=NONE))


def test_cross_fitted_points_have_offsets_as_well():
    model, without = fitted(cv=2), fitted(cv=2, offsets=NONE)
    assert model.front_.hypervolume(1) > without.front_.hypervolume(1)
    assert all(point.valid.overall.sum() == len(X) for point in model.front_)


def test_training_does_not_depend_on_offsets():
    one, other = (fitted(offsets=offsets, patience=None).history_ for offsets in (NONE, (-1.0, 1.0)))
    assert one.drop(columns="hypervolume").equals(other.drop(columns="hypervolume"))
    assert (one["hypervolume"].dropna() <= other["hypervolume"].dropna()).all()
