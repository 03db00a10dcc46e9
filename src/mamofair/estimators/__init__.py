"""Classifiers with scikit-learn's interface that find a whole front."""

import lazy_loader as _lazy

# Networks need torch, which takes seconds to import, and the other kinds do not.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
