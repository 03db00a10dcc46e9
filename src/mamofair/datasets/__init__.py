"""The paper's data sets: Adult and COMPAS are bundled, Dutch and CelebA must be provided, the toy is generated.

>>> from mamofair.datasets import load_compas, split
>>> compas = load_compas()
>>> X, y, sensitive = compas.design()
>>> X.shape
(6167, 402)
>>> train, validation, test = split(compas, seed=0)
>>> len(train), len(validation), len(test)
(3000, 2000, 1167)
"""

from mamofair.datasets._adult import load_adult
from mamofair.datasets._base import Dataset
from mamofair.datasets._catalog import CATALOG, Entry
from mamofair.datasets._celeba import fetch_celeba
from mamofair.datasets._compas import load_compas
from mamofair.datasets._dutch import fetch_dutch
from mamofair.datasets._split import Split, split
from mamofair.datasets._toy import make_toy

__all__ = [
    "CATALOG",
    "Dataset",
    "Entry",
    "Split",
    "fetch_celeba",
    "fetch_dutch",
    "load_adult",
    "load_compas",
    "make_toy",
    "split",
]
