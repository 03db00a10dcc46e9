"""Options that several commands share: one meaning, one help text."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "MAX_SEED",
    "AsJson",
    "Crossed",
    "Decimal",
    "Drop",
    "Encoding",
    "ExcludeLabel",
    "Favorable",
    "Header",
    "Margin",
    "Missing",
    "Names",
    "Notion",
    "Point",
    "Quick",
    "RunFolder",
    "Sensitive",
    "Separator",
    "Sheet",
    "Strata",
    "Target",
    "UnusedSeed",
    "Weight",
    "WithinLimit",
]

Names: TypeAlias = list[str] | None

#: The largest seed that numpy's older generators accept.
MAX_SEED = 2**32 - 1

Target = Annotated[str | None, typer.Option(help="The column to predict.")]
Favorable = Annotated[
    Names,
    typer.Option(
        help="The target value that counts as the favorable outcome. Needed unless the target is 0/1, −1/1 or boolean. "
        "Repeatable: all other values are unfavorable."
    ),
]
Sensitive = Annotated[Names, typer.Option(help="A sensitive attribute; `age:25,60` bins a number. Repeatable.")]
Strata = Annotated[
    str | None,
    typer.Option(
        "--strata", help="The column of strata: notions such as conditional_dp compare groups within its values."
    ),
]
Drop = Annotated[Names, typer.Option(help="A column to exclude from the features. Repeatable.")]
Weight = Annotated[str | None, typer.Option("--weight", help="A column of sample weights: how much each row counts.")]
Notion = Annotated[
    Names,
    typer.Option(
        "--notion",
        help="A fairness notion: demographic_parity (default), equal_opportunity, equalized_odds, … Repeatable.",
    ),
]
Crossed = Annotated[
    bool, typer.Option("--crossed", help="Also compare the intersections of all attributes, such as sex and race.")
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, as `mamofair train` writes it.")]
Point = Annotated[int | None, typer.Option("--point", help="A row of the run's front.csv; the chosen one by default.")]
WithinLimit = Annotated[
    float | None,
    typer.Option("--within", help="Instead of `--point`: the most accurate model whose gaps are all at most this."),
]
Margin = Annotated[
    float,
    typer.Option("--margin", help="How many standard errors gaps must be below `--within`; 0 takes gaps as measured."),
]
Performance = Annotated[
    str, typer.Option(help="What counts besides gaps: error, or balanced_error, where both labels count the same.")
]
MistakeCost = Annotated[
    str | None,
    typer.Option("--cost", metavar="fp=1,fn=5", help="What mistakes cost, instead of `--performance`; also tp and tn."),
]
SelectRate = Annotated[
    str | None,
    typer.Option(
        "--select-rate",
        metavar="SHARE",
        help="The share of people who can get the favorable outcome: 0.1 is a maximum, 0.09,0.11 a range.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option("--sep", help="The separator of a CSV file, such as ';' or tab; detected by default."),
]
Decimal = Annotated[
    str | None, typer.Option("--decimal", help="The decimal mark of a CSV file, . or ,; detected by default.")
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="The encoding of a CSV file, such as cp1252; detected by default."),
]
Sheet = Annotated[
    str | None,
    typer.Option("--sheet", help="The sheet of an Excel file, by name or number; the first by default."),
]
Header = Annotated[
    int | None,
    typer.Option(
        "--header",
        min=1,
        help="The row of an Excel sheet with the names of the columns; the first that is not blank by default.",
    ),
]
ExcludeLabel = Annotated[
    Names,
    typer.Option(
        "--exclude-label", help="Leave out rows with this target value, such as withdrawn applications. Repeatable."
    ),
]
Missing = Annotated[
    Names,
    typer.Option(
        "--missing",
        metavar="WORD",
        help="A word that means unknown in the target, sensitive attributes, units, ids and strata, such as NA; none "
        "says that such words are values. Repeatable. Empty cells are unknown in any case.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Use little data and few epochs, to check that everything works.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]

#: Every command accepts a seed, so that a script can pass one to all.
UnusedSeed = Annotated[
    int, typer.Option("--seed", min=0, max=MAX_SEED, help="Random seed; has no effect here, accepted for scripts.")
]
