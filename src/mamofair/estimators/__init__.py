"""Classifiers with scikit-learn's interface that find a whole front.

>>> from sklearn.linear_model import LogisticRegression
>>> from mamofair.datasets import make_toy
>>> from mamofair.estimators import FairClassifier, FairPlugInClassifier
>>> toy, model = make_toy(), FairPlugInClassifier(LogisticRegression(), effort="fast", random_state=0)
>>> model = model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
>>> isinstance(model, FairClassifier), list(model.front_.frame())
(True, ['error', 'demographic_parity[group]'])
"""

import lazy_loader as _lazy

# Networks need torch, which takes seconds to import, and the other kinds do not.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
