"""`mamofair check`: what a table holds, and what to look at before training."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair.cli._console import warnings_as_notes
from mamofair.cli._options import (
    AsJson,
    Decimal,
    Drop,
    Encoding,
    ExcludeLabel,
    Favorable,
    Header,
    Missing,
    Sensitive,
    Separator,
    Sheet,
    Target,
    UnusedSeed,
)
from mamofair.cli._train_options import TrainOptions, one_or_several

if TYPE_CHECKING:
    from mamofair.tables import DataCheck

__all__ = ["check", "check_data"]

_MOST = 1_000_000  # rows of a folder that are checked; more would take long and find the same
_ROW = 500  # bytes of a row while a column is checked


def check(
    data: Annotated[
        str,
        typer.Argument(
            metavar="TABLE", help="A CSV, Parquet or Excel file, a folder of Parquet files, or a data set: adult, …"
        ),
    ],
    target: Target = None,
    favorable: Favorable = None,
    exclude_label: ExcludeLabel = None,
    sensitive: Sensitive = None,
    drop: Drop = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="A column that says which rows belong together, such as those of one person: groups are also counted "
            "in units. Not a feature."
        ),
    ] = None,
    min_group: Annotated[int, typer.Option(min=1, help="Name groups with fewer rows or units.")] = 30,
    within: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="The limit on gaps that you want: which groups are too small for it is said."),
    ] = None,
    notion: Annotated[
        list[str] | None, typer.Option(help="What --within is a limit on: demographic_parity, … Repeatable.")
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
    """Check a table before training: what is used, what is not, and what to look at.

    Dates, ids, numbers in text, spellings, rare labels, small groups,
    duplicated rows, near-copies of the target, and columns that reveal a
    sensitive attribute are named. Nothing is changed. The exit code is 0
    whatever is found. With --within, it says which limit the groups are
    large enough for, which are too small, and what would help.

    Example: mamofair check loans.csv --target approved --favorable yes
    --sensitive gender --sensitive age:25,60 --within 0.05
    """
    columns = tuple(sensitive or ()), tuple(drop or ())
    options = TrainOptions(data, target, one_or_several(favorable), *columns, min_group=min_group, unit=unit)
    with warnings_as_notes():
        options = replace(
            options,
            sep=sep,
            decimal=decimal,
            encoding=encoding,
            sheet=sheet,
            header=header,
            exclude_label=tuple(exclude_label or ()),
            missing=tuple(missing or ()),
        )
        result = check_data(options, within, notion)
    typer.echo(json.dumps({"table": data} | result.to_json()) if as_json else str(result))


def check_data(options: TrainOptions, within: float | None = None, notions: Sequence[str] | None = None) -> "DataCheck":
    """Return the check of a file, or of a data set, with the columns of these options, and of a limit on gaps."""
    import pandas as pd

    from mamofair.cli._row_options import row_columns
    from mamofair.cli._streamed import BUDGET, is_streamed
    from mamofair.datasets import CATALOG
    from mamofair.streaming.blocks import as_bytes
    from mamofair.streaming.source import open_folder
    from mamofair.tables import check
    from mamofair.tables.data_check import Finding

    source: Any = options.data
    name, target, favorable, sensitive = None, options.target, options.favorable, list(options.sensitive)
    if options.data in CATALOG:
        data = CATALOG[options.data].load()
        source = pd.concat([data.X, data.sensitive, data.y], axis=1)
        name, target, sensitive = data.name, str(data.y.name), sensitive or [str(one) for one in data.sensitive]
        favorable = str(data.favorable) if favorable is None else favorable
    columns, rows = row_columns(options), None
    if options.data not in CATALOG and is_streamed(options):
        most = min(_MOST, as_bytes(options.memory or BUDGET) // _ROW)
        folder, rows = open_folder(options.data, most, options.drop)
        source = replace(folder, file_format=options.file_format)
    unit = columns.pop("--unit", None)
    result = check(
        source,
        target=target,
        favorable=favorable,
        sensitive_features=sensitive,
        drop=[*options.drop, *columns.values()],
        min_group=options.min_group,
        unit=unit,
        within=within,
        notions=notions or "demographic_parity",
        file_format=options.file_format,
    )
    if rows is not None and result.rows < rows:
        sample = Finding("", "sample", f"{result.rows:,} of {rows:,} rows were checked, at random")
        result = replace(result, findings=(sample, *result.findings))
    return result if name is None else replace(result, name=name)
