"""The catalog of data sets, by their names on the command line."""

from collections.abc import Callable
from dataclasses import dataclass

from mamofair.datasets import _celeba, _compas, _dutch
from mamofair.datasets._adult import load_adult
from mamofair.datasets._base import Dataset
from mamofair.datasets._celeba import fetch_celeba
from mamofair.datasets._compas import load_compas
from mamofair.datasets._dutch import fetch_dutch
from mamofair.datasets._files import DataFile, find
from mamofair.datasets._toy import make_toy


@dataclass(frozen=True)
class Entry:
    """What is known about a data set before it is read.

    >>> CATALOG["compas"].rows
    6167

    Parameters
    ----------
    load : callable
        A function that returns the data set.
    rows : int
        The number of rows.
    license : str
        Its terms.
    files : tuple
        The files it can be read from, if it is not bundled; one is enough.
    """

    load: Callable[[], Dataset]
    rows: int
    license: str
    files: tuple[DataFile, ...] = ()

    @property
    def at_hand(self) -> bool:
        """Whether it can be read without a download."""
        return not self.files or any(find(file) is not None for file in self.files)


#: Every data set by its name.
CATALOG = {
    "adult": Entry(load_adult, 48_842, "CC BY 4.0"),
    "compas": Entry(load_compas, 6_167, _compas.TERMS),
    "dutch": Entry(fetch_dutch, 60_420, _dutch.TERMS, (_dutch.FILE,)),
    "celeba": Entry(fetch_celeba, 202_599, _celeba.TERMS, (_celeba.LIST, _celeba.TABLE)),
    "toy": Entry(make_toy, 600, "Apache-2.0"),
}
