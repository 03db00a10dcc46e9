"""The training loop, against loops written out in plain torch, in double precision."""

import numpy as np
import pytest
import torch
from torch import nn

from mamofair._descent import gramians
from mamofair._descent.measuring import decisions
from mamofair._descent.networks import MLP, Average, Population
from mamofair._descent.training import epochs, isolated
from mamofair._rows.batches import Batch, chunks, in_memory
from mamofair._rows.groups import read_groups
from mamofair.descent import Fixed, Member, MinNorm, initial_scales
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY
from mamofair.objectives import CrossEntropy, Gap

OBJECTIVES = (CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "sex"), Gap(EQUAL_OPPORTUNITY, "sex"))
PREFERENCES = (Fixed((1, 0, 0)), Fixed((1, 0.5, 0.2)), Fixed((1, 2, 2)))


def normalised(n_features: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(n_features, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Dropout(0.3), nn.Linear(6, 1), nn.Flatten(0)
    )


def rows(n: int = 90) -> Batch:
    """People of whom one group is favored by the features that matter."""
    rng = np.random.default_rng(0)
    sex, y = rng.integers(0, 2, n), rng.integers(0, 2, n)
    X = np.column_stack([y + 0.7 * sex, rng.normal(size=n), sex]) + 0.3 * rng.normal(size=(n, 3))
    return Batch.of(torch.from_numpy(X), y, read_groups({"sex": sex}).memberships(y))


def population_of(recipe=MLP((8,), 0.2), seeds=(0,)) -> Population:
    networks = []
    for seed in seeds:
        with isolated(seed):
            networks.append(recipe(3).double())
    return Population(networks)


def train(
    population: Population,
    weightings,
    objectives=OBJECTIVES,
    *,
    span=range(3),
    batch_size=30,
    optimizer=None,
    average=None,
    **settings,
):
    optimizer = optimizer or torch.optim.Adam(population.parameters, lr=0.02)
    average = average or Average(population, 0.0)
    feed = in_memory(rows(), batch_size)
    return list(epochs(population, objectives, feed, weightings, optimizer, average, span=span, **settings))


def assert_same_state(one: Population, i: int, other: Population, j: int) -> None:
    for name, tensor in one.state(i).items():
        torch.testing.assert_close(tensor, other.state(j)[name], atol=1e-9, rtol=1e-7)


@pytest.mark.parametrize("recipe", [MLP((8,), 0.3), normalised], ids=["stacked", "one after another"])
@pytest.mark.parametrize(
    "weightings", [PREFERENCES, (MinNorm(), MinNorm()), (Fixed((1, 2, 2)), MinNorm())], ids=["fixed", "common", "mixed"]
)
def test_member_of_a_population_trains_as_it_would_alone(recipe, weightings):
    together = population_of(recipe, seeds=range(len(weightings)))
    start = together.state(0)
    seen = train(together, weightings, seed=5)
    for i, weighting in enumerate(weightings):
        alone = population_of(recipe, seeds=[i])
        train(alone, [weighting], seed=5)
        assert_same_state(together, i, alone, 0)
    assert all((tensor != start[name]).any() for name, tensor in together.state(0).items())
    assert (
        torch.stack([snapshot.weights for snapshot in seen]).amax(0) > 0.01
    ).sum() >= 2  # several weights are active


@pytest.mark.parametrize(
    "recipe", [MLP((8,), 0.0), lambda n: nn.Sequential(nn.Linear(n, 4), nn.Tanh(), nn.Linear(4, 1))]
)
def test_step_of_a_preference_is_a_step_of_plain_training_on_the_weighted_sum(recipe):
    batch, population = rows(), population_of(recipe)
    with isolated(0):
        plain = recipe(3).double()
    preference = Fixed((1, 0.5, 0.2))
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.5)
    train(population, [preference], batch_size=90, optimizer=torch.optim.SGD(population.parameters, lr=0.5))
    for _ in range(3):
        logits = plain(batch.x).reshape(-1)
        losses = [objective(logits, batch) for objective in OBJECTIVES]
        optimizer.zero_grad()
        sum(weight * loss for weight, loss in zip(preference.weights, losses, strict=True)).backward()
        optimizer.step()
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(population.state(0)[name], parameter.detach())


def test_step_of_common_descent_is_min_norm_of_the_scaled_gradients():
    batch, population = rows(), population_of(MLP((8,), 0.0))
    with isolated(0):
        plain = MLP((8,), 0.0)(3).double()
    parameters = list(plain.parameters())
    scales = initial_scales(torch.stack([objective(plain(batch.x), batch) for objective in OBJECTIVES]))
    found = train(population, [MinNorm()], batch_size=90, optimizer=torch.optim.SGD(population.parameters, lr=0.5))
    for snapshot in found:
        losses = [objective(plain(batch.x), batch) for objective in OBJECTIVES]
        grads = [
            torch.cat([part.flatten() for part in torch.autograd.grad(loss / scale, parameters, retain_graph=True)])
            for loss, scale in zip(losses, scales, strict=True)
        ]
        J = torch.stack(grads)
        weights = MinNorm()(J @ J.T)
        torch.testing.assert_close(snapshot.weights[:, 0], weights)
        torch.testing.assert_close(snapshot.values[:, 0], torch.stack(losses).detach())
        step = torch.split(0.5 * weights @ J, [parameter.numel() for parameter in parameters])
        with torch.no_grad():
            for parameter, part in zip(parameters, step, strict=True):
                parameter -= part.reshape(parameter.shape)
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(population.state(0)[name], parameter.detach())
    assert ((found[-1].weights > 0) & (found[-1].weights < 1)).sum() >= 2


def wide(n_features: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(n_features, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1)
    )


@pytest.mark.parametrize("recipe", [MLP((256, 256), 0.3), wide], ids=["stacked", "one after another"])
@pytest.mark.parametrize("weightings", [(MinNorm(),), (MinNorm(), Fixed((1, 2, 2)), MinNorm())], ids=["one", "three"])
def test_wide_networks_train_without_their_jacobian_as_they_would_with_it(recipe, weightings, monkeypatch):
    seeds = range(len(weightings))
    without, with_it = population_of(recipe, seeds), population_of(recipe, seeds)
    assert without.traced(rows(30).x)[1].layers(len(OBJECTIVES))
    ours, seen = ([], []), []
    for population, found in zip((without, with_it), ours, strict=True):
        optimizer = torch.optim.SGD(population.parameters, lr=0.3)
        found += train(population, weightings, optimizer=optimizer, average=Average(population, 0.5))
        seen.append(decisions(population, rows().x))
        monkeypatch.setattr(gramians, "_SMALL", 10**9)
    assert not with_it.traced(rows(30).x)[1].layers(len(OBJECTIVES))
    for one, other in zip(*ours, strict=True):
        torch.testing.assert_close(one.weights, other.weights, atol=1e-8, rtol=0)
        if one.cosines is not None:
            torch.testing.assert_close(one.cosines, other.cosines, atol=1e-8, rtol=0)
    for i in seeds:
        assert_same_state(without, i, with_it, i)
    assert max((snapshot.weights[:, 0] > 0.01).sum() for snapshot in ours[0]) >= 2
    assert all(0 < decided.mean() < 1 for decided in seen)


def rowwise(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 6), nn.LayerNorm(6), nn.Tanh(), nn.Linear(6, 1))


@pytest.mark.parametrize("recipe", [MLP((8,), 0.0), rowwise], ids=["stacked", "one after another"])
@pytest.mark.parametrize(
    "weightings", [PREFERENCES, (MinNorm(), MinNorm()), (Fixed((1, 2, 2)), MinNorm())], ids=["fixed", "common", "mixed"]
)
def test_steps_in_pieces_are_steps_of_the_whole_batch(recipe, weightings):
    whole, pieces = (population_of(recipe, range(len(weightings))) for _ in range(2))
    pieces.micro_batch = 7
    seen = [
        train(population, weightings, optimizer=torch.optim.SGD(population.parameters, lr=0.3), seed=5)
        for population in (whole, pieces)
    ]
    for one, other in zip(*seen, strict=True):
        torch.testing.assert_close(one.weights, other.weights, rtol=0, atol=1e-12)
        torch.testing.assert_close(one.values, other.values, rtol=0, atol=1e-12)
    for i in range(len(weightings)):
        for name, tensor in whole.state(i).items():
            torch.testing.assert_close(tensor, pieces.state(i)[name], rtol=0, atol=1e-12)
    assert max((snapshot.weights[:, -1] > 0.01).sum() for snapshot in seen[0]) >= 2
    assert 0 < decisions(whole, rows().x).mean() < 1


@pytest.mark.parametrize("weightings", [PREFERENCES, (MinNorm(), MinNorm())], ids=["fixed", "common"])
def test_training_in_two_parts_is_training_in_one(weightings):
    once, twice = (population_of(seeds=range(len(weightings))) for _ in range(2))
    whole = train(once, weightings, span=range(4), average=Average(once, 0.9))
    optimizer, average = torch.optim.Adam(twice.parameters, lr=0.02), Average(twice, 0.9)
    parts = [
        snapshot
        for span in (range(2), range(2, 4))
        for snapshot in train(twice, weightings, span=span, optimizer=optimizer, average=average)
    ]
    for i in range(once.size):
        assert all(torch.equal(tensor, twice.state(i)[name]) for name, tensor in once.state(i).items())
    assert [(part.epoch, part.step) for part in parts] == [(part.epoch, part.step) for part in whole]
    assert all(torch.equal(part.values, one.values) for part, one in zip(parts, whole, strict=True))


def test_seed_decides_everything_that_is_drawn():
    runs = []
    for seed, before in ((1, 10), (1, 20), (2, 10)):
        population = population_of()
        torch.manual_seed(before)  # of the caller: must not matter
        train(population, PREFERENCES[:1], seed=seed)
        runs.append(population.state(0)["layers.0.weight"])
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])


def test_random_state_and_threads_of_the_caller_are_untouched_also_between_snapshots():
    torch.manual_seed(3)
    state, threads, population = torch.get_rng_state(), torch.get_num_threads(), population_of(normalised)
    assert torch.equal(torch.get_rng_state(), state)
    optimizer = torch.optim.Adam(population.parameters)
    torch.set_num_threads(2)
    try:
        for _ in epochs(
            population,
            OBJECTIVES,
            in_memory(rows(), 30),
            [MinNorm()],
            optimizer,
            Average(population, 0.5),
            span=range(2),
        ):
            decisions(population, rows().x)
            assert torch.equal(torch.get_rng_state(), state)
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_isolation_ends_when_something_fails():
    torch.manual_seed(3)
    state, threads = torch.get_rng_state(), torch.get_num_threads()

    def fail():
        torch.rand(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), isolated(7):
        fail()
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    with isolated(7, 1):
        first = torch.rand(3)
    with isolated(7, 1):
        assert torch.equal(torch.rand(3), first)
    with isolated(7, 2):
        assert not torch.equal(torch.rand(3), first)


@pytest.mark.parametrize(("snapshots", "steps"), [(1, [3, 6]), (2, [1, 3, 4, 6]), (9, [1, 2, 3, 4, 5, 6])])
def test_snapshots_are_spread_over_the_epoch_and_end_it(snapshots, steps):
    found = train(population_of(), PREFERENCES[:1], span=range(2), snapshots=snapshots)
    assert [snapshot.step for snapshot in found] == steps
    assert [snapshot.step for snapshot in found if snapshot.ends_epoch] == [3, 6]
    assert [snapshot.epoch for snapshot in found if snapshot.ends_epoch] == [0, 1]


def test_batches_are_of_nearly_equal_size():
    """90 rows in batches of 40 at most: three of 30, not 40, 40 and 10."""
    sizes = []

    class Counts(nn.Module):
        def __init__(self, n_features):
            super().__init__()
            self.layer = nn.Linear(n_features, 1)

        def forward(self, x):
            sizes.append(len(x))
            return self.layer(x)

    train(population_of(Counts), PREFERENCES[:1], span=range(1), batch_size=40)
    assert set(sizes) == {30}


def test_records_name_the_objectives_and_hold_their_means():
    found = train(population_of(seeds=(0, 1)), PREFERENCES[:2], span=range(1), snapshots=1)[0]
    names = [str(objective) for objective in OBJECTIVES]
    records = found.records(names)
    assert [(record["epoch"], record["step"], record["member"]) for record in records] == [(0, 3, 0), (0, 3, 1)]
    for i, (record, preference) in enumerate(zip(records, PREFERENCES, strict=False)):
        assert [record[name] for name in names] == found.values[:, i].tolist()
        assert [record[f"weight of {name}"] for name in names] == pytest.approx(list(preference.weights))
        assert -1 <= record["cosine of cross_entropy and demographic_parity[sex]"] <= 1


def test_cosines_are_found_each_epoch_by_common_descent_and_every_third_one_with_fixed_weights():
    weightings = {MinNorm(): [0, 1, 2, 3, 4], Fixed((1, 1, 1)): [0, 3]}
    for weighting, expected in weightings.items():
        found = train(population_of(), [weighting], span=range(5), snapshots=2)
        assert [snapshot.epoch for snapshot in found if snapshot.cosines is not None] == expected


def test_cosines_are_those_of_the_gradients_at_the_end_of_an_epoch():
    found = train(population_of(seeds=(0, 1)), PREFERENCES[:2], span=range(1), snapshots=3)
    assert [snapshot.cosines is not None for snapshot in found] == [False, False, True]
    cosines = found[-1].cosines
    assert cosines.shape == (2, 3, 3)
    assert (cosines.abs() <= 1 + 1e-9).all()
    torch.testing.assert_close(cosines.diagonal(dim1=1, dim2=2), torch.ones(2, 3, dtype=torch.float64))


class Unused(nn.Module):
    def __init__(self, n_features: int):
        super().__init__()
        self.layer, self.unused = nn.Linear(n_features, 1), nn.Linear(n_features, 1)
        self.frozen = nn.Parameter(torch.ones(n_features), requires_grad=False)

    def forward(self, x):
        return self.layer(x * self.frozen).squeeze()


@pytest.mark.parametrize("weighting", [Fixed((1, 1, 1)), MinNorm()], ids=str)
def test_unused_and_frozen_parameters_stay_as_they_are(weighting):
    population = population_of(Unused)
    before = population.state(0)
    train(population, [weighting])
    after = population.state(0)
    assert not torch.equal(after["layer.weight"], before["layer.weight"])
    for name in ("unused.weight", "unused.bias", "frozen"):
        assert torch.equal(after[name], before[name])


@pytest.mark.parametrize("weighting", [Fixed((1, 1, 1)), MinNorm()], ids=str)
def test_loss_that_is_not_finite_stops_training_and_is_named_with_its_step(weighting):
    population = population_of(seeds=(0, 1))
    optimizer = torch.optim.SGD(population.parameters, lr=1e200)
    words = r"cross_entropy of member [01] was not finite at step [1-5]\..*learning_rate"
    with pytest.raises(FloatingPointError, match=words):
        train(population, [weighting] * 2, optimizer=optimizer)


def test_fixed_members_need_as_many_weights_as_there_are_objectives():
    with pytest.raises(ValueError, match="one fixed weight per objective"):
        train(population_of(), [Fixed((1, 1))])


def test_decisions_are_the_signs_of_logits():
    population = population_of(normalised, seeds=(0, 1))
    decided = decisions(population, rows().x)
    population.train(False)
    np.testing.assert_array_equal(decided, population(rows().x).detach().numpy() > 0)
    assert 0 < decided.mean() < 1


def test_decisions_with_offsets_are_the_signs_of_logits_that_are_so_much_larger():
    population, offsets = population_of(normalised, seeds=(0, 1)), (0.0, -0.3, 0.2)
    decided = decisions(population, rows().x, offsets)
    logits = population(rows().x).detach().numpy()
    expected = [one + offset > 0 for one in logits for offset in offsets]
    np.testing.assert_array_equal(decided, expected)


def test_chunks_cover_every_row_once():
    for n in (1, 4096, 4097, 10_000):
        covered = np.concatenate([np.arange(n)[chunk] for chunk in chunks(n)])
        assert covered.tolist() == list(range(n))


def test_member_is_a_weighting_and_a_seed():
    assert Member(MinNorm()) == Member(MinNorm(), seed=0) != Member(MinNorm(), seed=1)


def test_separate_passes_without_dropout_are_the_same_step():
    ours = []
    for separate in (False, True):
        population = population_of(MLP((8,), 0.0))
        optimizer = torch.optim.SGD(population.parameters, lr=0.5)
        ours.append((train(population, [MinNorm()], optimizer=optimizer, separate_passes=separate), population))
    for one, other in zip(ours[0][0], ours[1][0], strict=True):
        torch.testing.assert_close(one.values, other.values)
        torch.testing.assert_close(one.weights, other.weights)
    torch.testing.assert_close(ours[0][1].state(0), ours[1][1].state(0))


def test_separate_passes_draw_a_dropout_mask_for_each_objective():
    """Twice the same objective: with one mask the gradients are equal, with two they are not."""
    twice = [OBJECTIVES[0], OBJECTIVES[0]]
    for separate in (False, True):
        population = population_of(MLP((64,), 0.5))
        snapshots = train(population, [MinNorm()], twice, separate_passes=separate)
        assert all((s.values[0] != s.values[1]).item() == separate for s in snapshots)
