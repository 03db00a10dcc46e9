"""What must hold for every data set, whoever adds it, and a machine that has none."""

import pickle

import numpy as np
import pandas as pd
import pytest

from mamofair.datasets import Dataset, split


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Return an empty folder; `$MAMOFAIR_DATA` is not set and the cache does not exist."""
    monkeypatch.delenv("MAMOFAIR_DATA", raising=False)
    monkeypatch.setattr("mamofair.datasets._files.cache_folder", lambda: tmp_path / "cache")
    return tmp_path


@pytest.fixture
def check_dataset():
    """Return the contract, a function of a data set."""

    def check(dataset: Dataset) -> None:
        check_frames(dataset)
        check_design(dataset)
        check_summary(dataset)
        check_split(dataset)
        assert pickle.loads(pickle.dumps(dataset)).X.equals(dataset.X)

    return check


def check_frames(dataset: Dataset) -> None:
    assert (
        list(dataset.X.index) == list(dataset.y.index) == list(dataset.sensitive.index) == list(range(len(dataset.y)))
    )
    assert not set(dataset.X) & set(dataset.sensitive)
    assert dataset.X.columns.is_unique
    assert not dataset.X.isna().all().any()
    assert set(dataset.y) == {0, 1}
    assert dataset.favorable in (0, 1)
    assert list(dataset.sensitive) == list(dataset.coded_as_one)
    for name, one in dataset.coded_as_one.items():
        assert pd.api.types.is_string_dtype(dataset.sensitive[name])
        assert one in set(dataset.sensitive[name])
        assert dataset.sensitive[name].nunique() >= 2
    assert all([dataset.source, dataset.license, dataset.citation, dataset.description])


def check_design(dataset: Dataset) -> None:
    X, y, sensitive = dataset.design()
    n = len(dataset.y)
    assert X.ndim == 2
    assert (X.shape[0], y.shape, sensitive.shape) == (n, (n,), (n, dataset.sensitive.shape[1]))
    assert np.isfinite(X).all()
    assert y.dtype == sensitive.dtype == np.int64
    np.testing.assert_array_equal(y, dataset.y)
    assert set(np.unique(sensitive)) == {0, 1}
    X[:], y[:], sensitive[:] = 0, 0, 0  # a caller may do as he likes with his arrays
    assert dataset.design()[0].any()
    assert dataset.design()[1].any()


def check_summary(dataset: Dataset) -> None:
    summary = str(dataset)
    for word in (dataset.name, f"{len(dataset.y):,} rows", dataset.license, dataset.source, f"{dataset.y.mean():.2%}"):
        assert word in summary
    for name in dataset.sensitive:
        for group, rate in dataset.y.groupby(dataset.sensitive[name]).mean().items():
            assert any(str(group) in line and f"{rate:.2%}" in line for line in summary.splitlines())


def check_split(dataset: Dataset) -> None:
    for stratify in (False, True):
        parts = split(dataset, seed=3, stratify=stratify)
        assert (len(parts.train), len(parts.validation)) == dataset.split_sizes
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(dataset.y)))
