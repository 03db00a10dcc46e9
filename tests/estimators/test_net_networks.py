"""`network=` any module: normalisation, dropout, unused and frozen parameters, images, sequences, tokens."""

import numpy as np
import pytest
import torch
from small_fits import GROUP, X, Y, assert_same, small
from torch import nn

from mamofair import Fixed, Member, MinNorm

N = len(X)
LABEL = Y.to_numpy()


class Frozen(nn.Module):
    def __init__(self, n_features: int):
        super().__init__()
        self.features = nn.Linear(n_features, 16).requires_grad_(False)
        self.unused = nn.Linear(3, 3)
        self.last = nn.Linear(16, 1)

    def forward(self, x):
        return self.last(torch.relu(self.features(x))).squeeze()  # no axis is left of a single row


class Tokens(nn.Module):
    def __init__(self, length: int):
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.place = nn.Parameter(torch.zeros(length, 8))
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.last = nn.Linear(8, 1)

    def forward(self, x):
        return self.last(self.encoder(self.embedding(x) + self.place).mean(1))


class Recurrent(nn.Module):
    def __init__(self, length: int):
        super().__init__()
        self.layer, self.last = nn.GRU(3, 6, batch_first=True), nn.Linear(6, 1)

    def forward(self, x):
        return self.last(self.layer(x)[0][:, -1]).squeeze(-1)


class Tied(nn.Module):
    def __init__(self, n_features: int):
        super().__init__()
        self.one, self.two, self.last = nn.Linear(n_features, 4), nn.Linear(4, 4), nn.Linear(4, 1)
        self.three = nn.Linear(4, 4)
        self.three.weight = self.two.weight

    def forward(self, x):
        return self.last(torch.tanh(self.three(torch.tanh(self.two(torch.tanh(self.one(x)))))))


def normalised(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))


def convolutional(channels: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(channels, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 1)
    )


def lazy(_: int) -> nn.Module:
    return nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.LazyLinear(1))


def images() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 2, 6, 6)) + 1.5 * LABEL[:, None, None, None]


def sequences() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, 4, 3)) + LABEL[:, None, None]


def tokens() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 15, size=(N, 5)) + 12 * LABEL[:, None]


CASES = {
    "BatchNorm and dropout": (normalised, X.to_numpy(), {}),
    "frozen and unused": (Frozen, X.to_numpy(), {}),
    "tied": (Tied, X.to_numpy(), {}),
    "lazy": (lazy, X.to_numpy(), {}),
    "convolution": (convolutional, images(), {}),
    "recurrent": (Recurrent, sequences(), {}),
    "transformer on tokens": (Tokens, tokens(), {"standardize": False}),
}


MIXED = [MinNorm(), Member(Fixed((1, 1)), seed=1)]


@pytest.mark.parametrize(
    ("case", "members"),
    [*((case, 2) for case in CASES), *((case, MIXED) for case in ("BatchNorm and dropout", "tied", "convolution"))],
)
def test_any_module_trains_predicts_and_repeats(case, members):
    network, features, settings = CASES[case]
    settings = settings | {"network": network, "members": members, "epochs": 3, "learning_rate": 0.05}
    state = torch.get_rng_state()
    model = small(**settings).fit(features, LABEL, sensitive_features=GROUP)
    assert torch.equal(torch.get_rng_state(), state)
    assert model.n_features_in_ == features.shape[1]
    scores = model.decision_function(features)
    assert scores.shape == (N,)
    np.testing.assert_allclose(model.decision_function(features[:1]), scores[:1], atol=1e-5)
    assert model.at(0).score(features, LABEL) > 0.7
    once = settings | {"epochs": 1}
    assert_same(*(small(**once).fit(features, LABEL, sensitive_features=GROUP) for _ in range(2)))


def test_normalisation_predicts_with_the_statistics_of_its_own_point():
    model = small(network=normalised).fit(X, Y, sensitive_features=GROUP)
    for i, point in enumerate(model.front_.points):
        alone = normalised(2).eval()
        alone.load_state_dict(point.state)
        scaled = (X - X.mean()) / X.std()
        expected = alone(torch.tensor(scaled.to_numpy(), dtype=torch.float32)).detach().numpy()[:, 0]
        ours = model.at(i).decision_function(X)
        assert np.corrcoef(ours, expected)[0, 1] > 0.99  # up to the scaling, which is that of the training rows


def test_frozen_parameters_stay_as_the_recipe_made_them():
    made = []

    def recipe(n_features: int) -> nn.Module:
        made.append(Frozen(n_features))
        return made[-1]

    model = small(network=recipe, epochs=1).fit(X, Y, sensitive_features=GROUP)
    assert len(made) == 1  # members of the same seed share it
    for point in model.front_.points:
        torch.testing.assert_close(point.state["features.weight"], made[0].features.weight)
        assert not torch.equal(point.state["last.weight"], made[0].last.weight)


def test_integers_stay_integers_for_embeddings_if_they_are_not_standardised():
    with pytest.raises(ValueError, match="standardize=False"):
        small(network=Tokens).fit(tokens(), Y, sensitive_features=GROUP)


def softmax(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 2), nn.Softmax(dim=1))


@pytest.mark.parametrize(
    ("recipe", "advice"),
    [
        (lambda n: nn.Linear(n, 2), "second logit minus the first"),
        (softmax, "second logit minus the first"),
        (lambda n: nn.Sequential(nn.Linear(n, 1), nn.Sigmoid()), "Leave the last layer out"),
        (lambda n: nn.Linear(n, 1).requires_grad_(False), "parameters to train"),
        (lambda n: nn.Linear(n + 1, 1), r"rows of shape \(2\)"),
        (lambda n: nn.LSTM(n, 1), "tuple"),
    ],
    ids=["two logits", "softmax", "sigmoid", "frozen", "another width", "tuple"],
)
def test_modules_that_do_not_return_a_logit_are_refused_with_advice(recipe, advice):
    model = small(network=recipe)
    with pytest.raises(ValueError, match=advice):
        model.fit(X, Y, sensitive_features=GROUP)
    assert not hasattr(model, "front_")


def test_module_itself_is_refused_because_members_need_one_each():
    with pytest.raises(ValueError, match="callable that takes the number of features"):
        small(network=nn.Linear(2, 1)).fit(X, Y, sensitive_features=GROUP)


class Sizes(nn.Module):
    """Remembers the most rows it was given."""

    most = 0

    def __init__(self, n_features: int):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_features, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, x):
        Sizes.most = max(Sizes.most, len(x))
        return self.layers(x)


@pytest.mark.parametrize("members", [3, [MinNorm()]], ids=["fixed", "common"])
def test_micro_batches_are_never_exceeded_and_the_front_is_that_of_whole_batches(members, monkeypatch):
    models = [small(network=Sizes, members=members, epochs=2, micro_batch=rows) for rows in (None, 32)]
    for model, most in zip(models, (100, 32), strict=True):
        monkeypatch.setattr(Sizes, "most", 0)
        model.fit(X, Y, sensitive_features=GROUP).predict(X)
        assert (Sizes.most > most) == (model is models[0])  # whole, held-back rows are predicted together
    histories = [model.history_.to_numpy(float) for model in models]
    np.testing.assert_allclose(*histories, rtol=0.02, atol=0.02)  # float32, and Adam
    assert 0 < models[1].predict(X).mean() < 1


def test_micro_batches_can_be_turned_on_when_training_goes_on():
    model = small(network=Sizes, epochs=1, warm_start=True).fit(X, Y, sensitive_features=GROUP)
    model.set_params(micro_batch=16)
    Sizes.most = 0
    model.fit(X, Y, sensitive_features=GROUP)
    assert Sizes.most == 16


def test_micro_batches_are_refused_where_rows_mix():
    with pytest.raises(ValueError, match="`micro_batch` must be None for networks that mix rows"):
        small(network=normalised, micro_batch=16).fit(X, Y, sensitive_features=GROUP)


class Halved(nn.Module):
    def __init__(self, n_features: int):
        super().__init__()
        self.inside = nn.Sequential(nn.Linear(n_features, 8), nn.SiLU(), nn.Linear(8, 1))

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.inside(x)


@pytest.mark.parametrize("members", [2, [MinNorm()]], ids=["rays", "common descent"])
def test_a_module_that_computes_in_half_precision_trains_as_in_full(members):
    class Full(Halved):
        def forward(self, x):
            return self.inside(x)

    half, full = (
        small(network=kind, members=members, epochs=2).fit(X, Y, sensitive_features=GROUP) for kind in (Halved, Full)
    )
    losses = [model.history_["cross_entropy"].to_numpy() for model in (half, full)]
    np.testing.assert_allclose(*losses, rtol=0.02)  # bfloat16 has three digits
