"""Hypotheses about how printed numbers were obtained, tested on fresh splits.

If enough readings are tried, some fit by chance. So each guess was written down first and then run on fresh splits
(from number 10 on); the page shows every outcome.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from mamofair.experiments import table_adult, table_adult_race_sex, table_celeba, table_compas, table_dutch
from mamofair.experiments._compare import Comparison
from mamofair.experiments._job import Record
from mamofair.experiments._methods import METHODS
from mamofair.experiments._readings import Reading, choose_by_linmap, measure_ratios, take_last_epoch
from mamofair.experiments._spec import Table

_DDP, _DEO = ("demographic_parity",), ("equal_opportunity",)

#: The first split that was not used to choose a reading.
FRESH = 10


@dataclass(frozen=True)
class Hypothesis:
    """A guess, and how it is tested.

    Parameters
    ----------
    statement : str
        The guess.
    found : str
        What suggested it.
    table : Table
        What is run, keeping every epoch. Its printed cells are what readings are compared with.
    readings : mapping of str to callable
        From the table and a record to values by column.
    """

    statement: str
    found: str
    table: Table
    readings: Mapping[str, Callable[[Table, Record], Reading]]

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.table.name

    @property
    def title(self) -> str:
        """Its heading."""
        return self.table.title

    def splits(self, runs: int) -> range:
        """Return fresh splits: as many as the table has for ten runs."""
        return range(FRESH, FRESH + max(1, runs * self.table.repetitions // 10))

    def compare(self, records: Sequence[Record]) -> Iterator[tuple[str, Comparison]]:
        """Yield every reading of every method beside the printed number, cell by cell."""
        for reading, read in self.readings.items():
            values = pd.DataFrame([{"method": record["method"], **read(self.table, record)} for record in records])
            for name, group in values.groupby("method", sort=False):
                method = METHODS[str(name)]
                for column in group.columns.drop("method"):
                    measured_values, printed = group[column].dropna(), self.table.printed[method.printed_as][column]
                    if len(measured_values):
                        measured = float(measured_values.mean()), float(measured_values.std()), len(measured_values)
                        yield reading, Comparison(method, str(column), *measured, printed)


def _dutch(with_sex: bool) -> Hypothesis:
    table = replace(
        table_dutch.TABLE,
        name=f"hypothesis-dutch{'-with-sex' if with_sex else ''}",
        title=f"Dutch with ordinal codes{', sex among the features' if with_sex else ''}",
        data="dutch-ordinal",
        methods=("MF1", "Unc"),
        epochs=100,
        with_attribute=with_sex,
        every_epoch=True,
    )
    return Hypothesis(
        "Print used the ordinal codes of Dutch, scaled to [−1, 1], instead of one column a category.",
        "The public notebook of Lohaus et al. has no loader for Dutch, and one-hot codes do not give print.",
        table,
        {"35 epochs": partial(choose_by_linmap, epochs=35), "100 epochs": choose_by_linmap},
    )


HYPOTHESES = (
    Hypothesis(
        "The code with its own batches, learning rate and dropout, and no floor, gives the printed row.",
        "A port of the code gave a gap of .089 ± .059, this library without a floor and at a learning rate of .005 "
        ".047 ± .043.",
        replace(
            table_compas.TABLE,
            name="hypothesis-compas",
            title="COMPAS, MF1 as its code ran",
            methods=("MF1 code",),
            tasks=(_DDP,),
            repetitions=30,
            every_epoch=True,
        ),
        {"LINMAP": choose_by_linmap},
    ),
    Hypothesis(
        "The table of hypervolumes has gaps as ratios, on validation rows, without epochs that decide all alike.",
        "Several readings were tried on splits 0 to 9. This one had unconstrained HV .280 ± .046 and SP .024, sum of "
        "losses .280 ± .026 and .020, near to print; M-MAMO-fair had .29 to .31 where print has .60.",
        replace(
            table_adult_race_sex.TABLE,
            name="hypothesis-adult-fronts",
            title="Adult: hypervolume and spacing by ratios",
            methods=("M-MAMO-fair", "M-MAMO-fair code", "Sum of losses", "Unconstrained"),
            every_epoch=True,
        ),
        {
            "archived on differences": partial(measure_ratios, archived_on_ratios=False),
            "archived on ratios": partial(measure_ratios, archived_on_ratios=True),
        },
    ),
    Hypothesis(
        "The unconstrained row of Adult, DEO, is the last epoch of training.",
        "LINMAP's choice is fairer than print, and the most accurate snapshot is, too.",
        replace(
            table_adult.TABLE,
            name="hypothesis-adult-last",
            title="Adult, the unconstrained model at its last epoch",
            methods=("Unc",),
            tasks=(_DEO,),
            every_epoch=True,
        ),
        {"last epoch": take_last_epoch, "LINMAP": choose_by_linmap},
    ),
    _dutch(with_sex=False),
    _dutch(with_sex=True),
    Hypothesis(
        "The joint row of CelebA was trained for 100 epochs, as on COMPAS.",
        "With 35 epochs, which are a guess, the joint row has wider gaps than print.",
        replace(
            table_celeba.TABLE,
            name="hypothesis-celeba",
            title="CelebA, MF2 with 100 epochs",
            methods=("MF2", "MF2 code"),
            epochs=100,
            every_epoch=True,
        ),
        {"35 epochs": partial(choose_by_linmap, epochs=35), "100 epochs": choose_by_linmap},
    ),
)
