"""`mamofair alternatives`: a model of a run that is no less accurate than the decisions in use today, and fairer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import PATH, quote
from mamofair.cli._checksums import sha256_of
from mamofair.cli._console import print_note, print_sentence, print_table, warnings_as_notes
from mamofair.cli._options import MAX_SEED, AsJson, Decimal, Encoding, Header, Missing, RunFolder, Separator, Sheet
from mamofair.tables.file_format import FileFormat

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from mamofair.alternatives import Alternative
    from mamofair.runs import Run

__all__ = ["alternatives"]


def alternatives(
    run: RunFolder,
    incumbent: Annotated[
        Path,
        typer.Option(
            metavar="TABLE",
            help="A CSV, Parquet or Excel file with the run's columns, true labels, and the decisions in use today. "
            "Its rows must be new to the models; if it is the training file, only its test rows are used.",
        ),
    ],
    decision: Annotated[str, typer.Option(help="The column of today's decisions.")] = "decision",
    notion: Annotated[
        str | None, typer.Option(help="The notion whose gap must be smaller; the first of the run by default.")
    ] = None,
    attribute: Annotated[
        str | None, typer.Option(help="The sensitive attribute whose gap must be smaller; the first by default.")
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            help="How much larger the error, or the run's cost, may be. Your choice, to be made before you look."
        ),
    ] = 0.01,
    confidence: Annotated[float, typer.Option(help="Confidence level of both tests.")] = 0.95,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    missing: Missing = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed of the split into halves.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Look for a less discriminatory alternative to the decisions in use today.

    One model of the run is selected on half of the rows and tested on the
    other half: its error may be larger by at most the margin, and its gap
    must be smaller. The answer is one of: found, none found, cannot be told.
    It is saved as alternatives.json in the run folder. The exit code is 0
    whatever the answer.

    Example: mamofair alternatives runs/loans --incumbent decided.csv
    --decision approved_today --margin 0.005
    """
    from mamofair.alternatives import find_alternative
    from mamofair.runs import load_run

    file_format = FileFormat(sep, decimal, encoding, missing=missing, sheet=sheet, header=header)
    with warnings_as_notes():
        loaded = load_run(run)
    if loaded.estimator.encoder_ is None or not {"target", "command"} <= loaded.settings.keys():
        raise ValueError(
            f"The run must have been written by `mamofair train`: {quote(str(run), PATH)} has no record of the "
            "table's columns. Use `mamofair.find_alternative` in Python."
        )
    with warnings_as_notes():
        columns, people, features = _read(loaded, incumbent, decision, file_format)
        answer = find_alternative(
            loaded.estimator,
            features,
            columns[loaded.settings["target"]],
            sensitive_features=people,
            incumbent=columns[decision],
            notion=notion,
            attribute=attribute,
            margin=margin,
            confidence=confidence,
            random_state=seed,
        )
    document = {"incumbent": str(incumbent), "decision": decision, "seed": seed} | answer.to_json()
    saved = _save(document, run)
    if as_json:
        typer.echo(json.dumps({"run": str(run), "saved": saved} | document))
        return
    _print(answer)
    if saved is not None:
        typer.echo(f"Saved: {saved}; `mamofair report {run}` shows it on the report page.")


def _read(
    run: "Run", path: Path, decision: str, file_format: FileFormat
) -> tuple["pd.DataFrame", "pd.DataFrame", "pd.DataFrame"]:
    """Return true labels and decisions, the sensitive columns and the features of the rows that may be used."""
    import pandas as pd

    from mamofair.cli._labelled_rows import as_run_labels, as_run_reads, sensitive_options
    from mamofair.tables import open_source, read_new_rows
    from mamofair.tables.role_columns import read_labels

    target, file_format = str(run.settings["target"]), as_run_reads(run.settings, file_format)
    source = open_source(path, file_format)
    source.check([target, decision])
    if target == decision:
        raise ValueError(f"`--decision` must not be the column of true labels: found {quote(decision)}. Name another.")
    names = sensitive_options(run.settings)
    features, people = read_new_rows(path, run.estimator.encoder_, names, file_format=file_format)
    columns = read_labels(source, [target, decision])
    columns = pd.DataFrame({name: as_run_labels(run.settings, columns[name]) for name in columns})
    rows = _usable_rows(run.settings, path, columns[target], people, file_format)
    if rows is None:
        return columns, people, features
    return columns.iloc[rows], people.iloc[rows], features.iloc[rows]


def _usable_rows(
    settings: Mapping[str, Any], path: Path, labels: "pd.Series", people: "pd.DataFrame", file_format: FileFormat
) -> "np.ndarray | None":
    """Return the test rows of the run if the table is the one it was trained on; None if all rows are new."""
    from mamofair.cli._splits import strata_of
    from mamofair.cli._test_rows import find_test_rows

    if sha256_of(path) != settings["data"]["checksum"]:
        return None
    strata = strata_of(labels.to_numpy() == settings["favorable"], people)
    rows = find_test_rows(settings, path, strata, file_format)
    print_note(f"The run was trained on {path.name}: only its {len(rows):,} test rows are used.")
    return rows


def _save(document: Mapping[str, Any], run: Path) -> str | None:
    from mamofair.runs import save_alternatives

    try:
        return str(save_alternatives(document, run))
    except OSError as error:
        print_note(f"The answer was not saved: {error}")
        return None


def _print(answer: "Alternative") -> None:
    for sentence in answer.sentences():
        print_sentence(sentence)
    people = answer.people.frame()
    people = people[people["label"] == "all"]
    rows = zip(people["attribute"], people["group"], people["rows"], people["gained"], people["lost"], strict=True)
    table = [[f"{attribute}={group}", *(f"{number:,.0f}" for number in numbers)] for attribute, group, *numbers in rows]
    table[0][0] = "everyone"
    print_table([["", "rows", "gain a favorable decision", "lose it"], *table])
