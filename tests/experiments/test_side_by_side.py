"""Published methods that are trained side by side: each as it would be alone, and each epoch as it was."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mamofair import FairNetClassifier
from mamofair.descent import Fixed, MinNorm
from mamofair.experiments import EXPERIMENTS, run
from mamofair.experiments._job import Job, draw_sample, settings
from mamofair.experiments._live import LiveNetworks
from mamofair.experiments._methods import METHODS
from mamofair.experiments._side_by_side import Some, train

COMPAS = EXPERIMENTS["table-compas"]
TEXT = replace(COMPAS, methods=("MF1", "MF2", "Unc", "Unc last"))


def test_a_weighting_of_some_objectives_leaves_the_others_out():
    gramian = torch.tensor([[1.0, 9.0, 0.0], [9.0, 99.0, 9.0], [0.0, 9.0, 3.0]])
    assert Some(MinNorm(), (0, 2))(gramian).tolist() == pytest.approx([0.75, 0, 0.25])


@pytest.mark.parametrize("method", ["MF1", "Unc"])
def test_a_member_trains_as_it_would_alone(method):
    notions = ("demographic_parity",)
    job = Job(TEXT, method, notions, 0, quick=True)
    sample = draw_sample(TEXT, 0, quick=True)
    _, path = train(job)
    alone, networks = METHODS[method].make(settings(job, sample)), LiveNetworks()
    members = [Fixed((1, 0))] if method == "Unc" else [MinNorm()]
    alone.set_params(members=members, optimizer=networks).fit(**sample.given)
    for mine, its in zip(networks.parameters, path.parameters[-1], strict=True):
        torch.testing.assert_close(mine.detach(), its, atol=1e-3, rtol=1e-2)


def test_live_networks_decide_as_the_estimator_predicts():
    sample, networks = draw_sample(COMPAS, 0, quick=True), LiveNetworks()
    model = FairNetClassifier.as_published(epochs=1, random_state=0, optimizer=networks).fit(**sample.given)
    [decided] = networks.decide(sample.X)
    assert len(model.front_) == 1
    assert np.mean(decided == (model.predict(sample.X) == 1)) > 0.999


def test_methods_that_differ_in_their_selection_are_trained_once(tmp_path):
    records = list(run(replace(COMPAS, methods=("Unc", "Unc last")), tmp_path, repetitions=[0], quick=True))
    assert len({record["cpu_seconds"] for record in records}) == 1
    by_name = {record["method"]: record for record in records if record["notions"] == ["equal_opportunity"]}
    assert by_name["Unc"]["counts"] == by_name["Unc last"]["counts"]
    assert by_name["Unc last"]["selected"] == 0  # the front is sorted by error


def test_a_sum_of_losses_alone_keeps_its_anchor():
    table = replace(EXPERIMENTS["table-compas-race-sex"], methods=("Sum of losses",))
    training, _ = train(Job(table, "Sum of losses", ("demographic_parity",), 0, quick=True))
    assert any(isinstance(member, MinNorm) for member in training.model.members)


def test_a_record_of_every_epoch_has_as_many_counts(tmp_path):
    table = replace(COMPAS, methods=("MF1 code",), every_epoch=True)
    for record in run(table, tmp_path, repetitions=[0], quick=True):
        assert [len(counts) for counts in record["counts"].values()] == [10, 10]
