"""Experiments as data: what to run, and what the paper printed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: A mean and its standard deviation over splits, as the paper printed them.
Cell = tuple[float, float]

#: What the paper calls its data sets.
DATA = {"adult": "Adult", "compas": "COMPAS", "dutch": "Dutch", "celeba": "CelebA"}

#: What the paper calls the gaps of its two notions.
SHORT = {"demographic_parity": "DDP", "equal_opportunity": "DEO"}


@dataclass(frozen=True)
class Table:
    """A table of the paper: methods on one data set, over random splits.

    Parameters
    ----------
    name, title : str
        Its name on the command line, and its heading.
    data : str
        The data set, by the name that `mamofair.datasets` knows it by.
    attributes : tuple of str
        Whose gaps count.
    tasks : tuple of tuples of str
        The notions of each task. A method is trained for each task, a joint method once for all of their notions.
    methods : tuple of str
        Names in `METHODS`, a row each.
    printed : mapping of str to mapping of str to Cell
        What the paper has for a method, by column: `DDP`, `DDP error`, `DEO`, `DEO error`, `HV`, `SP`.
    epochs, batch_size : int
        Of the published setting.
    code_learning_rate : float
        The learning rate of the paper's script.
    with_attribute : bool
        Whether the sensitive attributes are among the features.
    whole_front : bool
        Whether fronts are compared (hypervolume and spacing) rather than the points chosen from them.
    every_epoch : bool
        Whether records have the counts of every epoch, rather than of the front: published networks only.
    repetitions : int
        How many splits; the paper has ten.
    """

    name: str
    title: str
    data: str
    attributes: tuple[str, ...]
    tasks: tuple[tuple[str, ...], ...]
    methods: tuple[str, ...]
    printed: Mapping[str, Mapping[str, Cell]] = field(hash=False)
    epochs: int
    batch_size: int
    code_learning_rate: float = 0.01
    with_attribute: bool = True
    whole_front: bool = False
    every_epoch: bool = False
    repetitions: int = 10

    @property
    def notions(self) -> tuple[str, ...]:
        """The notions of all tasks."""
        return tuple(dict.fromkeys(notion for task in self.tasks for notion in task))


@dataclass(frozen=True)
class Figure:
    """A figure of the paper; `draw` takes a frame of the records of its `tables` and `methods`, if it has any.

    `note` is what the page says below it.

    >>> from mamofair.experiments import EXPERIMENTS
    >>> [figure.name for figure in EXPERIMENTS.values() if isinstance(figure, Figure)]
    ['figure-relaxations', 'figure-toy', 'figure-single-fairness', 'figure-descent']
    """

    name: str
    title: str
    draw: Callable[..., Any]
    tables: tuple[Table, ...] = ()
    methods: tuple[str, ...] = ()
    note: str = ""
