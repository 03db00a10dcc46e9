"""Guesses at how printed numbers were made, tested on splits that none of them was found on.

A reading that was found after several tries fits by luck if enough are tried. So each guess was written down first and
then run on fresh splits (from number 10 on); the page shows what came out, whatever it was.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from mamofair.experiments import table_adult, table_adult_race_sex, table_celeba, table_compas, table_dutch
from mamofair.experiments._compare import Comparison
from mamofair.experiments._methods import METHODS
from mamofair.experiments._readings import Reading, chosen_by_linmap, front_by_ratios, last_epoch
from mamofair.experiments._run import Record
from mamofair.experiments._spec import Table

_DDP, _DEO = ("demographic_parity",), ("equal_opportunity",)

#: The first split that no reading was chosen on.
FRESH = 10


@dataclass(frozen=True)
class Hypothesis:
    """A guess: what is run, keeping every epoch, and how its records are read.

    `table` names the methods and tasks; its printed cells are what readings are compared with.
    """

    statement: str
    table: Table
    readings: Mapping[str, Callable[[Table, Record], Reading]]

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return self.table.name

    @property
    def title(self) -> str:
        """Its heading."""
        return self.table.title

    def compared(self, records: Sequence[Record]) -> Iterator[tuple[str, Comparison]]:
        """Yield every reading of every method beside print, cell by cell."""
        for reading, read in self.readings.items():
            values = pd.DataFrame([{"method": record["method"], **read(self.table, record)} for record in records])
            for name, own in values.groupby("method", sort=False):
                method = METHODS[str(name)]
                for column in own.columns.drop("method"):
                    found, printed = own[column].dropna(), self.table.printed[method.printed_as][column]
                    if len(found):
                        measured = float(found.mean()), float(found.std()), len(found)
                        yield reading, Comparison(method, column, *measured, printed)


def _dutch(with_sex: bool) -> Hypothesis:
    table = replace(
        table_dutch.TABLE,
        name=f"hypothesis-dutch{'-with-sex' if with_sex else ''}",
        title=f"Dutch with ordinal codes{', sex among the features' if with_sex else ''}",
        data="dutch-ordinal",
        methods=("MF1", "Unc"),
        epochs=100,
        with_attribute=with_sex,
    )
    return Hypothesis(
        "Print used the ordinal codes of Dutch, scaled to [−1, 1], instead of one column a category.",
        table,
        {"35 epochs": partial(chosen_by_linmap, epochs=35), "100 epochs": chosen_by_linmap},
    )


HYPOTHESES = (
    Hypothesis(
        "The code with its own batches, learning rate and dropout, and no floor, gives the printed row.",
        replace(
            table_compas.TABLE,
            name="hypothesis-compas",
            title="COMPAS, MF1 as its code ran, 30 splits",
            methods=("MF1 code",),
            tasks=(_DDP,),
            repetitions=30,
        ),
        {"LINMAP": chosen_by_linmap},
    ),
    Hypothesis(
        "The table of hypervolumes has gaps as ratios, on validation rows, without snapshots that decide all alike.",
        replace(
            table_adult_race_sex.TABLE,
            name="hypothesis-adult-fronts",
            title="Adult: hypervolume and spacing by ratios",
            methods=("M-MAMO-fair", "M-MAMO-fair code", "Sum of losses", "Unconstrained"),
        ),
        {
            "archived on differences": partial(front_by_ratios, archived_on_ratios=False),
            "archived on ratios": partial(front_by_ratios, archived_on_ratios=True),
        },
    ),
    Hypothesis(
        "The unconstrained row of Adult, DEO, is the last epoch of training.",
        replace(
            table_adult.TABLE,
            name="hypothesis-adult-last",
            title="Adult, the unconstrained model at its last epoch",
            methods=("Unc",),
            tasks=(_DEO,),
        ),
        {"last epoch": last_epoch, "LINMAP": chosen_by_linmap},
    ),
    _dutch(with_sex=False),
    _dutch(with_sex=True),
    Hypothesis(
        "The joint row of CelebA was trained for 100 epochs, as on COMPAS.",
        replace(
            table_celeba.TABLE,
            name="hypothesis-celeba",
            title="CelebA, MF2 with 100 epochs",
            methods=("MF2", "MF2 code"),
            epochs=100,
        ),
        {"35 epochs": partial(chosen_by_linmap, epochs=35), "100 epochs": chosen_by_linmap},
    ),
)
