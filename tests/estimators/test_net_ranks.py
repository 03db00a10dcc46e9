"""`fit` by two real processes: one front, and the one that a single process finds."""

import re

import numpy as np
import pandas as pd
import pytest
import torch
from rank_fits import FITS, WEIGHT, fit, fit_stream, fits, left_alone, refusals
from small_fits import X, assert_same

from started_ranks import as_rank, on_ranks, processes, said

pytestmark = pytest.mark.usefixtures("loopback")


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    return on_ranks(fits, tmp_path_factory.mktemp("ranks"))


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    return on_ranks(refusals, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", FITS)
def test_two_ranks_find_the_front_of_one(name, together):
    """But for rounding: ranks add in another order, so that a person at a threshold may be decided otherwise."""
    alone = fit(name)
    assert len(alone.front_) >= 2
    assert not alone.front_.is_constant.all()
    for found in (rank[name] for rank in together):
        pd.testing.assert_frame_equal(found.history_, alone.history_, atol=1e-3, rtol=1e-3)
        assert found.front_.hypervolume(1) == pytest.approx(alone.front_.hypervolume(1), abs=0.01)
        ours, theirs = _by_snapshot(found), _by_snapshot(alone)
        snapshots = ours.keys() & theirs.keys()
        assert len(snapshots) >= len(theirs) / 2
        for snapshot in snapshots:
            one, other = found.at(ours[snapshot]), alone.at(theirs[snapshot])
            np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-3)
            _assert_same_counts(one.front_[ours[snapshot]], other.front_[theirs[snapshot]])


def _by_snapshot(model):
    """Return the rows of the front by member and step, but for snapshots with several thresholds."""
    snapshots = [(point.member, point.step) for point in model.front_]
    return {snapshot: row for row, snapshot in enumerate(snapshots) if snapshots.count(snapshot) == 1}


def _assert_same_counts(one, other):
    for ours, theirs in ((one.valid, other.valid), (one.calibration, other.calibration)):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert (ours.squares is None) == (theirs.squares is None)
            for attribute, counts in ours.counts.items():
                np.testing.assert_allclose(counts, theirs.counts[attribute], atol=WEIGHT.max())  # a person or so


@pytest.mark.parametrize("name", [*FITS, "drawn", "continued", "streamed"])
def test_ranks_agree_bit_for_bit_whatever_is_drawn(name, together):
    first, second = (rank[name] for rank in together)
    assert_same(first, second)
    pd.testing.assert_frame_equal(first.history_, second.history_, check_exact=True)


def test_a_fit_that_is_continued_extends_the_front(together):
    assert together[0]["continued"].history_["epoch"].max() == 2
    pd.testing.assert_frame_equal(
        together[0]["continued"].front_.frame(), together[0]["preferences"].front_.frame(), check_exact=True
    )


def test_ranks_read_pieces_of_their_own_and_hold_back_the_rows_that_one_process_does(together):
    alone, _ = fit_stream()
    held_back = [_rows(rank["streamed"]) for rank in together]
    assert held_back == [_rows(alone)] * 2
    assert [set(rank["pieces"]) for rank in together] == [{0, 2}, {1, 3}]
    assert [len(rank["pieces"]) for rank in together] == [2 * (1 + 3)] * 2  # a pass to look at them, and three epochs
    for rank in together:
        assert abs(rank["streamed"].front_.values[:, 0].min() - alone.front_.values[:, 0].min()) < 0.05


def _rows(model):
    """Return how many rows of each group and label were held back."""
    tp, fp, fn, tn = model.front_.points[0].valid.counts["group"].T
    return (tp + fn).tolist(), (fp + tn).tolist()


def test_a_portfolio_of_networks_can_be_shared(together):
    frames = [rank["portfolio"].front_.frame() for rank in together]
    pd.testing.assert_frame_equal(*frames, check_exact=True)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rows", "All ranks must be given the same number of rows: found 600, 590. Pass the same data"),
        ("order", "All ranks must be given the same rows: found "),
        ("epochs", "All ranks must be given the same number of epochs: found 3, 4. Pass the same data and settings"),
        ("portfolio", "All ranks must be given the same "),
        ("BatchNorm", "found BatchNorm1d that keeps statistics of the rows it sees. Use LayerNorm"),
        ("statistics", "must treat each row by itself: found one that keeps statistics"),
    ],
    ids=lambda part: part.split()[0],
)
def test_what_ranks_cannot_share_is_told_to_all_of_them(name, words, refused):
    assert words in refused[0][name]
    assert refused[0][name] == refused[1][name]


def test_an_interrupt_of_one_rank_ends_the_others(tmp_path):
    with processes(as_rank, 2, left_alone, tmp_path) as ranks:
        pass
    assert [rank.exitcode for rank in ranks] == [0, 1]
    assert said(tmp_path)[1].splitlines()[-1] == "KeyboardInterrupt"
    told = torch.load(tmp_path / "0.pt")
    assert re.fullmatch(r"A rank was lost \(.*127\.0\.0\.1.*\)\.", told)
