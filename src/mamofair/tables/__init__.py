"""Your own table: read it, encode it, and save the encoder without pickle.

>>> import pandas as pd
>>> from mamofair.tables import encoder, read_table
>>> people = pd.DataFrame({"age": [23, 35, 61], "sex": ["f", "m", "f"], "hired": [0, 1, 1]})
>>> X, y, sensitive = read_table(people, "hired", sensitive=["sex"])
>>> encoder().fit_transform(X).shape
(3, 1)

New rows are read with the encoder's columns, at once or in batches:

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from mamofair.tables import open_source, read_attributes, read_batches, read_encoder, read_labels_and_groups
>>> from mamofair.tables import read_new_rows, write_encoder
>>> fitted = read_encoder(write_encoder(encoder().fit(X)), "encoder.skops")
>>> with TemporaryDirectory() as folder:
...     path = Path(folder) / "new.csv"
...     people.to_csv(path, index=False)
...     print(open_source(path).names)
...     print(read_attributes(path, ["age:30"])["age"].tolist())
...     print(read_new_rows(path, fitted, ["sex"])[0].shape)
...     print([len(rows) for rows, _ in read_batches(path, fitted, rows=2)])
...     print(read_labels_and_groups(path, "hired", 1, ["sex"]).y.tolist())
('age', 'sex', 'hired')
['under 30', '30 and over', '30 and over']
(3, 1)
[2, 1]
[0, 1, 1]
"""

import lazy_loader as _lazy

# `mamofair audit` reads a table, and need not wait for the imports of the rest.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
