from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mamofair.datasets import load_adult, load_compas, make_toy, split


def test_the_sizes_are_the_papers():
    assert [len(part) for part in split(load_adult(), seed=0)] == [10_000, 5_000, 33_842]
    assert [len(part) for part in split(load_compas(), seed=0)] == [3_000, 2_000, 1_167]


def test_a_seed_gives_the_same_rows_everywhere():
    compas = load_compas()
    plain, stratified = split(compas, seed=0), split(compas, seed=0, stratify=True)
    assert [list(part[:4]) for part in plain] == [
        [4703, 1966, 227, 2189],
        [5117, 1461, 3286, 3154],
        [3079, 514, 5316, 1908],
    ]
    assert [list(part[:4]) for part in stratified] == [
        [4703, 227, 1966, 2957],
        [4647, 3703, 2849, 1037],
        [1632, 1135, 698, 2954],
    ]


def test_another_seed_gives_other_rows():
    toy = make_toy()
    assert not np.array_equal(split(toy, seed=0).train, split(toy, seed=1).train)


def test_stratified_parts_have_the_shares_of_the_whole():
    adult = load_adult()
    strata = pd.Series(list(zip(adult.y, adult.sensitive["sex"], adult.sensitive["race"], strict=True)))
    share = strata.value_counts(normalize=True)
    for part in split(adult, seed=5, stratify=True):
        rows = strata.iloc[part].value_counts()
        assert (rows - share * len(part)).abs().max() <= 2  # each of two borders may cost a row


def test_a_lone_person_is_not_always_in_the_same_part():
    toy = make_toy()
    toy.sensitive.loc[17, "group"] = "alone"
    where = {next(i for i, part in enumerate(split(toy, seed, stratify=True)) if 17 in part) for seed in range(30)}
    assert where == {0, 1, 2}


def test_unknown_groups_are_a_stratum_of_their_own():
    toy = make_toy()
    toy.sensitive.loc[:99, "group"] = None
    train = split(toy, seed=0, stratify=True).train
    assert (train < 100).sum() in range(48, 53)


def test_sizes_that_leave_no_test_rows_are_refused():
    toy = replace(make_toy(), split_sizes=(400, 200))
    with pytest.raises(ValueError, match=r"found \(400, 200\) for 600 rows"):
        split(toy, seed=0)
