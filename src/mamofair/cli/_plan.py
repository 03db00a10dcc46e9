"""`mamofair plan`: how many rows of whom a certificate needs, before anything is trained."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair.cli._console import print_sentence, print_table, warnings_as_notes
from mamofair.cli._options import (
    AsJson,
    Decimal,
    Encoding,
    ExcludeLabel,
    Favorable,
    Header,
    Missing,
    Notion,
    Sensitive,
    Separator,
    Sheet,
    Target,
    UnusedSeed,
)
from mamofair.tables.file_format import FileFormat

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.selection import Plan
    from mamofair.tables import Table

__all__ = ["plan"]


def plan(
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TABLE]", help="A CSV, Parquet or Excel file; without one, show the rows that two groups need."
        ),
    ] = None,
    target: Target = None,
    favorable: Favorable = None,
    exclude_label: ExcludeLabel = None,
    sensitive: Sensitive = None,
    notion: Notion = None,
    within: Annotated[float, typer.Option(help="The largest acceptable gap.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="Confidence that gaps are within the limit.")] = 0.95,
    chance: Annotated[float, typer.Option(help="The chance that a model without any gap is certified.")] = 0.65,
    rate: Annotated[float, typer.Option(help="Without a table: the rate to expect in both groups.")] = 0.5,
    min_group: Annotated[
        int, typer.Option(min=1, help="Leave groups with fewer rows out of the plan; they are listed.")
    ] = 30,
    unit: Annotated[
        str | None, typer.Option(help="Refused: certificates count independent rows, not those of one person.")
    ] = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    missing: Missing = None,
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Show how many rows of which groups are needed to certify a limit on gaps.

    The plan depends only on the counts of groups and labels. `mamofair train
    --calibration-fraction plan` reserves such rows.

    Example: mamofair plan loans.csv --target approved --favorable yes
    --sensitive gender --notion equal_opportunity --within 0.05
    --confidence 0.9
    """
    from mamofair.selection import plan_calibration, rows_needed
    from mamofair.tables import read_labels_and_groups

    file_format = FileFormat(sep, decimal, encoding, missing=missing, sheet=sheet, header=header)
    if unit is not None:
        raise ValueError(
            f"A certificate counts independent rows, and rows with the same {unit} may depend on each other: leave "
            "`--unit` out, and plan and train with a table that has one row of each."
        )
    if table is None:
        given = {"--target": target, "--sensitive": sensitive, "--favorable": favorable, "--notion": notion}
        if stray := [name for name, value in given.items() if value]:
            raise ValueError(f"`{stray[0]}` needs a table: name a file, or leave it out.")
        rows = rows_needed(within, confidence, rate=rate, chance=chance)
        _print_rows(rows, within, confidence, chance, rate, as_json)
        return
    if target is None:
        raise ValueError(f"`--target` is missing: name the column of {table.name} to predict.")
    if exclude_label:
        file_format = replace(file_format, excluded=(target, tuple(exclude_label)))
    with warnings_as_notes():
        people = read_labels_and_groups(table, target, favorable, sensitive or [], file_format=file_format)
        notions = notion or ["demographic_parity"]
        result = plan_calibration(
            people.y,
            sensitive_features=_without_small_groups(people, notions, min_group),
            limit=within,
            confidence=confidence,
            notions=notions,
            favorable=1,
            chance=chance,
        )
    if as_json:
        typer.echo(
            json.dumps({"table": str(table), "rows": result.rows, "held_back": result.held_back} | _plain(result))
        )
        return
    frame = result.frame()
    words = frame["label"].map({0: "unfavorable", 1: "favorable"}).fillna("any")
    lines = [[str(cell) for cell in row] for row in frame.assign(label=words).itertuples(index=False)]
    print_table([["gap", "group", "label", "needed", "available"], *lines])
    print_sentence(result.message)


def _without_small_groups(people: "Table", notions: list[str], least: int) -> "pd.DataFrame":
    """Return the sensitive columns, where groups that training would leave out of the gaps are unknown."""
    from mamofair._rows.groups import read_groups
    from mamofair.learners.small_groups import find_small_groups, warn_of_small_groups
    from mamofair.learners.task import read_notions

    groups = read_groups(people.sensitive)
    small = find_small_groups(groups, people.y.to_numpy(), read_notions(notions, groups.names), least)
    warn_of_small_groups(small, least)
    table: pd.DataFrame = people.sensitive
    return table.assign(**{name: table[name].mask(table[name].isin([*counts])) for name, counts in small.items()})


def _plain(result: "Plan") -> dict[str, Any]:
    frame = result.frame()
    needs = frame.astype(object).where(frame.notna(), None).to_dict("records")
    left_out = {name: {str(group): n for group, n in counts.items()} for name, counts in result.left_out.items()}
    return {"confidence": result.confidence, "chance": result.chance, "needs": needs, "left_out": left_out}


def _print_rows(rows: int, within: float, confidence: float, chance: float, rate: float, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"rows": rows, "within": within, "confidence": confidence, "chance": chance}))
        return
    print_sentence(
        f"To certify a gap of at most {within:g} with {100 * confidence:g} % confidence, each of two groups needs "
        f"about {rows:,} rows under the condition of the rate: all rows for demographic parity, those with a favorable "
        f"label for equal opportunity. With rates near {rate:g}, a model without any gap is then certified with a "
        f"chance of about {100 * chance:.0f} %."
    )
