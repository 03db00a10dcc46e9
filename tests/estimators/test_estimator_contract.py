"""Every estimator keeps the contract."""

import estimator_contract
import pytest

CHECKS = [name for name in dir(estimator_contract) if name.startswith("check_")]


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("estimator", estimator_contract.ESTIMATORS)
@pytest.mark.parametrize("check", CHECKS)
def test_estimators_keep_the_contract(check, estimator):
    getattr(estimator_contract, check)(estimator_contract.ESTIMATORS[estimator])
