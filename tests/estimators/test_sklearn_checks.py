"""scikit-learn's own checks, on all estimators as they are constructed by default."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier
from mamofair.estimators import FairClassifier


def parity(X):
    """Return groups to predict by, which must depend on nothing but the row: checks give rows in any order."""
    try:
        table = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
        first = np.nan_to_num(table.reshape(len(table), -1)[:, 0])
    except (TypeError, ValueError):  # what no estimator takes either
        return np.zeros(1, dtype=int)
    return np.floor(first * 1000).astype(int) % 2


class WithGroups(FairClassifier):
    """An estimator for checks that know neither groups, here even and odd rows, nor what is favorable of 1 and 2."""

    def fitting(self, X, y, *, sensitive_features=None, sample_weight=None):
        if sensitive_features is None:
            sensitive_features = np.arange(np.asarray(y).size) % 2
        return super().fitting(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight)

    def _agree(self, classes, groups):
        if classes.dtype.kind not in "iuf":
            return super()._agree(classes, groups)
        self.favorable, asked = classes.max(), self.favorable
        try:
            super()._agree(classes, groups)
        finally:
            self.favorable = asked


class Net(WithGroups, FairNetClassifier):
    pass


class Boosting(WithGroups, FairBoostingClassifier):
    pass


class PlugIn(WithGroups, FairPlugInClassifier):
    pass


class Portfolio(WithGroups, FairPortfolioClassifier):
    pass


class AwarePlugIn(PlugIn):
    """The same, told groups at prediction, too."""

    def predict(self, X, *, sensitive_features=None):
        return super().predict(X, sensitive_features=parity(X) if sensitive_features is None else sensitive_features)

    def decision_function(self, X, *, sensitive_features=None):
        told = parity(X) if sensitive_features is None else sensitive_features
        return super().decision_function(X, sensitive_features=told)


_AT_RANDOM = "rows are held back at random, so that twice the weight is a repeated row on average only"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": _AT_RANDOM,
    "check_sample_weight_equivalence_on_sparse_data": _AT_RANDOM,
    "check_classifiers_classes": "labels that are texts need `favorable`: the alphabet must not decide",
}


def checks(*estimators, about=""):
    """Return scikit-learn's decorator with its list of checks written out: pytest 9 warns of generators."""
    mark = parametrize_with_checks(list(estimators), expected_failed_checks=lambda _: EXPECTED_FAILURES)
    names, values = mark.args
    # A check that is expected to fail is wrapped in a parameter set.
    wanted = [each for each in values if about in str(each)]
    return pytest.mark.parametrize(names, wanted, **mark.kwargs)


@checks(Net(), Boosting(), PlugIn(), Portfolio(), AwarePlugIn(aware=True))
def test_estimators_keep_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@checks(PlugIn(LogisticRegression(), cv=2), about="sparse")
def test_plug_in_takes_sparse_rows_if_its_estimator_does(estimator, check):
    check(estimator)


def test_few_failures_are_expected():
    assert len(EXPECTED_FAILURES) <= 4
