"""Options that several commands have: one meaning, one help."""

from typing import Annotated, TypeAlias

import typer

Many: TypeAlias = list[str] | None

Target = Annotated[str | None, typer.Option(help="The column to predict.")]
Favorable = Annotated[
    str | None,
    typer.Option(
        help="The target value that counts as the favorable outcome; needed unless the target is 0/1, −1/1 or boolean."
    ),
]
Sensitive = Annotated[Many, typer.Option(help="A column that says who a person is; bins: age:25,60. Repeat.")]
Drop = Annotated[Many, typer.Option(help="A column that is no feature. Repeat.")]
Notion = Annotated[
    Many,
    typer.Option(
        "--notion",
        help="What must be equal: demographic_parity (default), equal_opportunity, equalized_odds, … Repeat.",
    ),
]
Crossed = Annotated[bool, typer.Option("--crossed", help="Also compare the crossing of all attributes.")]
PointOf = Annotated[int | None, typer.Option("--point", help="Which row of front.csv; by default the chosen one.")]
WithinOf = Annotated[float | None, typer.Option("--within", help="Or the most accurate one with gaps up to this.")]
#: The largest seed that numpy's older generators take.
MOST_SEED = 2**32 - 1
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]

#: Every command takes a seed, so that a script may pass one to all.
IdleSeed = Annotated[
    int, typer.Option("--seed", min=0, max=MOST_SEED, help="Nothing here is random; accepted for scripts.")
]
