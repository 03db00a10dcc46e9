"""Your own table: read it, encode it, and save the encoder without pickle.

>>> import pandas as pd
>>> from mamofair.tables import encoder, read_table
>>> people = pd.DataFrame({"age": [23, 35, 61], "sex": ["f", "m", "f"], "hired": [0, 1, 1]})
>>> X, y, sensitive = read_table(people, "hired", sensitive=["sex"])
>>> encoder().fit_transform(X).shape
(3, 1)
"""

import lazy_loader as _lazy

# `mamofair audit` reads a table, and need not wait for the imports of the rest.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
