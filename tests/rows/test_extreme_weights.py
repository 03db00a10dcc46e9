"""Weights of any size: only their ratios matter."""

import numpy as np
import pytest

from mamofair import FairPlugInClassifier, audit
from mamofair._rows.labels import as_weights
from mamofair.datasets import make_toy

TOY = make_toy()


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("size", [1e80, 1e-30, 1e-90])
def test_huge_and_tiny_weights_are_ratios(size):
    weight = np.where(np.arange(len(TOY.y)) % 2, 1.0, 3.0)
    given = {"sensitive_features": TOY.sensitive}
    plain, ours = (audit(TOY.y, TOY.y == 1, **given, sample_weight=w).frame() for w in (weight / 3, size * weight))
    np.testing.assert_allclose(ours[["gap", "low", "high"]], plain[["gap", "low", "high"]], atol=1e-9)
    model = FairPlugInClassifier(effort="fast", cv=None, random_state=0)
    fronts = [model.fit(TOY.X, TOY.y, **given, sample_weight=w).front_.values for w in (weight / 3, size * weight)]
    np.testing.assert_allclose(*fronts, atol=1e-9)


def test_plain_weights_and_those_of_some_rows_are_left_as_they_are():
    assert as_weights([2.0, 1e5], 2).tolist() == [2.0, 1e5]
    assert as_weights([2e8, 1e8], 2).tolist() == [1.0, 0.5]
    assert as_weights([2e8, 1e8], 2, rescale=False).tolist() == [2e8, 1e8]


def test_where_nobody_is_selected_the_ratio_of_rates_is_1_as_for_the_notion():
    sex = ["f", "m"] * 100
    frame = audit(None, np.zeros(200), sensitive_features=sex, notions="demographic_parity_ratio", favorable=1)
    assert frame.ratios()["ratio"].tolist() == [1.0]
    assert frame.frame()["gap"].tolist() == [0.0]
