"""scikit-learn's own checks, on all estimators."""

import pytest
from checked_defaults import ESTIMATORS, EXPECTED_FAILURES
from sklearn.utils.estimator_checks import check_estimator

from tiny_fits import TINY_FITS

pytestmark = TINY_FITS


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_keep_the_conventions_of_scikit_learn(name):
    results = check_estimator(ESTIMATORS[name](), expected_failed_checks=EXPECTED_FAILURES, on_skip=None, on_fail=None)
    assert {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"} == {}
    passed = [result["check_name"] for result in results if result["status"] == "passed"]
    assert len(passed) > 40
    if name == "LinearPlugIn":
        assert any("sparse" in check for check in passed)


def test_few_failures_are_expected():
    assert len(EXPECTED_FAILURES) <= 4
