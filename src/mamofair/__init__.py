"""Accurate and fair classifiers for several attributes and notions at once: the whole trade-off, not just one model.

>>> from mamofair import FairNetClassifier, MostAccurateWithin
>>> from mamofair.datasets import make_toy
>>> toy = make_toy()
>>> model = FairNetClassifier(epochs=5, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
>>> fairer = model.with_selection(MostAccurateWithin(0.1))  # another point of the front, without training again
"""

import lazy_loader as _lazy

# torch, scikit-learn and scipy take seconds to import: `__init__.pyi` says where names are found when they are used.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

__version__ = "0.2.0"
