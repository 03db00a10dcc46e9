"""Learners and the search: a search asks a learner, one kind of model, for candidates and keeps the best.

>>> import numpy as np
>>> from sklearn.linear_model import LogisticRegression
>>> from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier
>>> from mamofair.datasets import make_toy
>>> from mamofair.learners import BoostingLearner, NetworkLearner, Parts, PlugInLearner, Rows, Search, Task
>>> from mamofair.notions import DEMOGRAPHIC_PARITY
>>> from mamofair.objectives import read_groups
>>> toy, model = make_toy(), FairPlugInClassifier(LogisticRegression(), effort="fast")
>>> groups = read_groups(toy.sensitive)
>>> task = Task(np.array([0, 1]), 1, {"group": groups.values[0]}, {"group": (DEMOGRAPHIC_PARITY,)}, seed=0)
>>> learner = PlugInLearner.of(model)
>>> others = NetworkLearner.of(FairNetClassifier()), BoostingLearner.of(FairBoostingClassifier())
>>> rows = Rows(learner.read(model, toy.X, reset=True), toy.y.to_numpy(), groups, weight=None)
>>> parts = learner.split(rows, (0.25, 0.0), np.random.default_rng(0))
>>> isinstance(parts, Parts)  # train, valid, calibration
True
>>> *_, front = Search.start(task, learner, max_points=200).run(parts)
>>> front.columns
['error', 'demographic_parity[group]']
"""

import lazy_loader as _lazy

# Networks need torch, which takes seconds to import, and the other kinds do not.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
