"""Training from batches: the same as from rows in memory, but for which rows are held back."""

import numpy as np
import pandas as pd
import pytest
import torch

from mamofair import FairNetClassifier, Fixed, MinNorm
from mamofair._descent.ranks import ALONE
from mamofair._rows.groups import read_groups
from mamofair.baselines import FairretClassifier
from mamofair.datasets import make_toy
from mamofair.estimators._reading import draw_seed
from mamofair.learners import Parts
from mamofair.runs import checkpointed, read_checkpoint, write_checkpoint
from mamofair.selection import MostAccurateWithin
from mamofair.streaming.blocks import as_bytes, places_of, read_block
from mamofair.streaming.holdout import StreamedRows
from run_fits import assert_same, net

TOYS = [make_toy(random_state=seed) for seed in range(2)]
X, Y, GROUP = (
    pd.concat(parts, ignore_index=True) for parts in zip(*((t.X, t.y, t.sensitive) for t in TOYS), strict=True)
)
AGE = pd.Series(np.random.default_rng(1).choice(["old", "young", None], len(X)), name="age", dtype=object)
PEOPLE = GROUP.assign(age=AGE)
WEIGHT = np.random.default_rng(2).choice([0.0, 0.5, 2.0], len(X))


def cut(size: int, *parts: object) -> list[tuple[object, ...]]:
    """Rows in batches."""
    return [tuple(part[i : i + size] for part in parts) for i in range(0, len(X), size)]


def fitted_in_memory(model: FairNetClassifier, people=GROUP, weight=None) -> FairNetClassifier:
    """The same fit with all rows in memory, and those held back that a stream holds back."""

    learner = model.new_learner()

    def split(rows, fractions, rng):
        block = read_block((X, Y, people, weight), lambda X, reset: learner.read(model, X, reset))
        places, (share, more) = places_of(block, draw_seed(model.random_state)), np.cumsum(fractions)
        return Parts(rows[places >= more], rows[places < share], rows[(places >= share) & (places < more)])

    learner.split, model.new_learner = split, lambda: learner
    model.fit(X, Y, sensitive_features=people, sample_weight=weight)
    del learner.split, model.new_learner
    return model


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"members": [MinNorm(), Fixed((1, 1))], "calibration_fraction": 0.1},
        {"standardize": False, "batch_size": 1},
        {"notions": ["dp", "eopp"], "crossed": True},
    ],
    ids=["default", "scales", "as they are", "crossed"],
)
def test_one_batch_in_a_buffer_that_holds_it_trains_the_very_same_networks(options):
    people = PEOPLE if "crossed" in options else GROUP
    given = {"epochs": 1 if "batch_size" in options else 2, "pieces": 0} | options  # knots take all rows
    streamed = net(**given).fit_stream([(X, Y, people)])
    in_memory = fitted_in_memory(net(**given), people)
    assert_same(streamed, in_memory)
    assert streamed.front_.groups == in_memory.front_.groups


def test_weights_count_as_in_memory_and_rows_without_weight_do_not():
    streamed = net().fit_stream([(X, Y, GROUP, WEIGHT)])
    assert_same(streamed, fitted_in_memory(net(pieces=0), weight=WEIGHT))
    assert streamed.front_.points[0].valid.squares is not None
    with_nothing = [(X, Y, GROUP, WEIGHT), (X[:5], Y[:5], GROUP[:5], np.zeros(5))]
    assert_same(net().fit_stream(with_nothing), streamed)


def test_many_batches_hold_the_same_rows_back_and_find_as_good_a_front():
    whole, parts = net(epochs=8).fit_stream([(X, Y, GROUP)]), net(epochs=8).fit_stream(cut(150, X, Y, GROUP))
    counts = [model.front_.points[0].valid.counts["group"].sum(axis=1) for model in (whole, parts)]
    assert counts[0].tolist() == counts[1].tolist()
    np.testing.assert_allclose(whole.search_.learner.scaling.center, parts.search_.learner.scaling.center, rtol=1e-12)
    volumes = [model.front_.hypervolume([0.5, 1.0]) for model in (whole, parts)]
    assert volumes[0] == pytest.approx(volumes[1], rel=0.05)
    assert whole.search_.reference == parts.search_.reference


def test_labels_and_frames_of_any_kind_are_taken():
    named = pd.Series(np.where(Y == 1, "yes", "no"))
    frames = cut(500, X.set_axis(["a", "b"], axis=1), named, GROUP)
    model = net(epochs=1, favorable="no").fit_stream(frames)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert set(model.predict(frames[0][0])) <= {"no", "yes"}


def prepared(batches, memory: int, **options) -> tuple[StreamedRows, set[float], set[float]]:
    _, parts = net(**options).start_stream(batches, memory)
    train, valid, calibration = parts.train, parts.valid, parts.calibration
    return train, set(valid.X[:, 0].tolist()), set(calibration.X[:, 0].tolist())


def test_rows_held_back_do_not_depend_on_batches_or_their_order():
    order = np.random.default_rng(0).permutation(len(X))
    moved = (part.iloc[order] for part in (X, Y, GROUP))
    one, other = prepared(cut(300, X, Y, GROUP), 10**9), prepared(cut(170, *moved), 10**9)
    assert one[1:] == other[1:]
    assert 0.2 * len(X) < len(one[1]) < 0.3 * len(X)
    assert prepared(cut(300, X, Y, GROUP), 10**9, random_state=1)[1] != one[1]


def test_little_memory_holds_fewer_rows_back_and_trains_on_the_others():
    order = np.random.default_rng(0).permutation(len(X))
    moved = (part.iloc[order] for part in (X, Y, GROUP))
    everything, usual, _ = prepared(cut(300, X, Y, GROUP), 10**9, calibration_fraction=0.1)
    with pytest.warns(UserWarning, match=r"rows are held back, instead of 35%, to stay within `memory`"):
        train, few, sure = prepared(cut(300, X, Y, GROUP), 40_000, calibration_fraction=0.1)
    with pytest.warns(UserWarning, match="to stay within"):
        again, same, surely = prepared(cut(60, *moved), 40_000, calibration_fraction=0.1)
    assert (few, sure) == (same, surely)
    assert few < usual
    assert 20 < len(few) < 40_000 / 4 / 60
    assert len(train) + len(few) + len(sure) == len(X)
    assert train.stats.census.cells == again.stats.census.cells
    np.testing.assert_allclose(train.scaling(8).scale, again.scaling(8).scale, rtol=1e-12)
    batches = train.feed(lambda X, device: torch.tensor(X), 100, ALONE, device="cpu").batches(0)
    assert sum(map(len, batches)) == len(train) > len(everything)


def test_rows_that_are_all_alike_cannot_be_held_back_by_content():
    alike = [tuple(pd.concat([part[:1]] * 1200) for part in (X, Y, GROUP))]
    few = (np.round(X), Y, GROUP)
    with pytest.warns(UserWarning, match="too many are alike"):
        net(epochs=1).fit_stream([few, *alike])
    net(epochs=1).fit_stream([(X, Y, GROUP), (*alike[0], None, np.arange(1200, dtype=np.uint64))])


class Interrupted(list):
    """Batches whose reading is interrupted in some pass."""

    def __init__(self, batches, at: int):
        super().__init__(batches)
        self.passes, self.at = 0, at

    def __iter__(self):
        self.passes += 1
        if self.passes == self.at:
            raise KeyboardInterrupt
        return super().__iter__()


def test_an_interrupted_fit_keeps_what_it_found():
    with pytest.warns(UserWarning, match="interrupted"):
        model = net(epochs=5).fit_stream(Interrupted(cut(300, X, Y, GROUP), at=4))
    assert model.search_.learner.training.epoch == 2
    assert len(model.front_) >= 1
    with pytest.raises(KeyboardInterrupt):  # nothing was found so far
        net(epochs=5).fit_stream(Interrupted(cut(300, X, Y, GROUP), at=1))


@pytest.mark.parametrize("members", [3, [MinNorm(), Fixed((1, 1))]], ids=["fixed", "min-norm"])
def test_a_fit_that_goes_on_from_its_checkpoints_is_the_same_bit_for_bit(members, tmp_path):
    batches = cut(300, X, Y, GROUP)
    whole = net(epochs=3, members=members).fit_stream(batches)
    estimator = net(epochs=3, members=members)
    write_checkpoint(estimator, {}, tmp_path)
    ends = False
    while not ends:  # one epoch at a time, each from the last one's checkpoint
        estimator, _ = read_checkpoint(tmp_path)
        ends = next(checkpointed(estimator.resume_stream(batches), {}, tmp_path, seconds=0), None) is None
    assert_same(estimator, whole)


def test_a_warm_start_goes_on_with_the_same_rows():
    batches = cut(300, X, Y, GROUP)
    model = net(epochs=1, warm_start=True)
    assert_same(model.fit_stream(batches).fit_stream(batches), net(epochs=2).fit_stream(batches))
    with pytest.raises(ValueError, match="the same labels, groups, notions"):
        model.fit_stream(cut(300, X, Y, PEOPLE))


@pytest.mark.filterwarnings("ignore:.* rows are held back")
def test_a_warm_start_with_more_memory_holds_the_same_rows_back():
    batches = cut(300, X, Y, GROUP)
    model = net(epochs=1, warm_start=True).fit_stream(batches, memory="100kB")
    model.fit_stream(batches, memory="1GB")
    [held] = {point.valid.overall.sum() for point in model.front_.points}
    assert 0 < held < 0.2 * len(X)
    assert set(model.history_["epoch"]) == {0, 1}


def test_a_subclass_with_objectives_of_its_own_trains_from_a_stream():
    model = FairretClassifier(weights=[0, 1], epochs=1, random_state=0).fit_stream([(X, Y, GROUP)])
    assert "weight of fairret" in model.history_


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (iter([(X, Y, GROUP)]), {}, "iterated again and again.*found list_iterator"),
        (5, {}, "iterated again and again.*found int"),
        ([], {}, "There must be rows to train on: found none"),
        ([(X, Y)], {}, "must be .X, y, sensitive_features.*found 2 parts"),
        ([X], {}, "must be .X, y, sensitive_features.*found DataFrame"),
        ([(X, Y[:-1], GROUP)], {}, "found 1199 for 1200 samples"),
        ([(X, Y, GROUP[:-1])], {}, "`sensitive_features` must have one row per sample: found 1199"),
        ([(X, Y, GROUP), (X.iloc[:, :1], Y, GROUP)], {}, "Feature names seen at fit time, yet now missing"),
        ([(X.to_numpy(), Y, GROUP), (X.to_numpy()[:, :1], Y, GROUP)], {}, "X has 1 features, but .* is expecting 2"),
        ([(X, Y, GROUP), (X[:9] * np.nan, Y[:9], GROUP[:9])], {}, "X must have no NaN"),
        ([(X, Y * 0, GROUP)], {}, "two classes: found one class only"),
        ([(X, Y, GROUP), (X, Y + 1, GROUP)], {}, "`y` must have two labels: found 3"),
        ([(X, Y, pd.Series("a", range(len(X)), name="one"))], {}, "must have at least two groups"),
        ([(X, Y, GROUP), (X, Y, AGE)], {}, "same attributes"),
        ([(X, Y, np.where(Y == 1, "a", "b"))], {"notions": "eopp"}, "group 'b' of 'sensitive_0' has no row with y=1"),
        ([(X, Y, GROUP, WEIGHT), (X, Y, GROUP)], {}, "All batches of rows must have weights, or none of them"),
        ([(X, Y, GROUP)], {"cv": 2}, "`cv` must be None to train from a stream: found 2"),
        ([(X, Y, GROUP)], {"epochs": 0}, "`epochs` must be"),
        ([(X, Y, GROUP)], {"selection": MostAccurateWithin(0.1, 0.9)}, "set `calibration_fraction`; found 0"),
        ([(X[:2], Y[-2:], GROUP[:2]), (X[:1], Y[:1], GROUP[:1])], {}, "rows to train on and rows to measure on|two"),
    ],
)
def test_what_is_wrong_is_told_before_training(rows, options, message):
    with pytest.raises(ValueError, match=message):
        net(**options).fit_stream(rows)


class Changing(list):
    """Batches that are others from the second pass on."""

    def __init__(self, batches, later):
        super().__init__(batches)
        self.later, self.passes = later, 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__() if self.passes == 1 else iter(self.later)


@pytest.mark.parametrize(
    ("later", "message"),
    [
        ([(X[:-250], Y[:-250], GROUP[:-250])], "Rows must be the same each time they are read: found"),
        ([(X, Y + 1, GROUP)], "Labels must be the same in every pass: found a new one, 2"),
        ([(X, Y, GROUP.assign(group="new"))], "Groups must be known from `fit`: found 'new'"),
    ],
)
def test_rows_that_change_while_training_are_noticed(later, message):
    keys = np.arange(len(X), dtype=np.uint64)
    later = [(*batch, None, keys[: len(batch[0])]) for batch in later]
    with pytest.raises(ValueError, match=message):
        net().fit_stream(Changing([(X, Y, GROUP, None, keys)], later))


@pytest.mark.parametrize("memory", ["", "2 hours", "-1GB", "0", 0])
def test_an_amount_of_memory_must_be_one(memory):
    with pytest.raises(ValueError, match="such as 2GB or 500MB"):
        as_bytes(memory)


def test_amounts_of_memory():
    assert [as_bytes(text) for text in ("1.5 GB", "2GiB", "3k", "7")] == [1_500_000_000, 2 * 1024**3, 3000, 7]


def test_groups_are_those_of_all_rows_in_the_order_that_fit_has():
    model = net(epochs=1).fit_stream(cut(300, X, Y, PEOPLE))
    people = read_groups(PEOPLE)
    assert model.front_.groups == dict(zip(people.names, people.values, strict=True))
