"""Training on more rows than fit in memory: Parquet files, or batches from elsewhere.

>>> from mamofair import FairNetClassifier
>>> from mamofair.streaming import stream
>>> rows = stream("data/", "approved", favorable="yes", sensitive=["sex"], memory="2GB")  # doctest: +SKIP
>>> model = FairNetClassifier().fit_stream(rows)  # doctest: +SKIP
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
