import pytest

from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier


@pytest.fixture(autouse=True)
def constructors_only_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """As outside of tests: whatever is given is stored, and `fit` checks it. (Here beartype would check it at once.)"""
    for estimator in (FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier):
        monkeypatch.setattr(estimator.__init__, "__no_type_check__", True, raising=False)
