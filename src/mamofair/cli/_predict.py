"""`mamofair predict`: decisions for new rows, a batch at a time, so that files may be larger than memory."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mamofair._messages import PATH, quote
from mamofair.cli._notes import note
from mamofair.cli._options import IdleSeed, PointOf, WithinOf
from mamofair.cli._values import require_writable

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.estimators import FairClassifier

_ADDED = ("prediction", "score")
_OUT = (
    "Where to write CSV; - means to the screen. Text that a spreadsheet would run as a formula (it begins with =, +, "
    "-, @ or a tab) gets an apostrophe before it; numbers stay as they are."
)


def predict(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    table: Annotated[
        Path, typer.Argument(help="A CSV or Parquet file; columns that the run does not know are ignored.")
    ],
    point: PointOf = None,
    within: WithinOf = None,
    out: Annotated[str, typer.Option("--out", "-o", help=_OUT)] = "-",
    seed: IdleSeed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print how many were decided how, as JSON.")] = False,
) -> None:
    """Add the columns `prediction` and `score` to a table, whose sensitive columns are not needed.

    The score is that of the favorable outcome, from 0 to 1; above ½ the decision is favorable.

    Example: mamofair predict runs/loans new.csv --within 0.03 -o decided.csv
    """
    if as_json and out == "-":
        raise ValueError("`--json` needs a file for the predictions: add `-o decided.csv`.")
    if out != "-" and not out.lower().endswith(".csv"):
        raise ValueError(f"Predictions are written as CSV: name a .csv file, not {quote(out)}.")
    if Path(out).resolve() == table.resolve():
        raise ValueError(f"Predictions must not replace the table they are made for: found {quote(out)} for both.")
    if out != "-":
        require_writable(Path(out), file=True)
    model = opened_at(run, point, within)
    if model.encoder_ is None:
        raise ValueError(
            f"The run {quote(str(run), PATH)} must know how to read tables: it was not made by `mamofair train`."
        )
    with _opened(out) as file:
        rows, favorable = _decide(model, table, file)
    told = {"rows": rows, "favorable": favorable, "label": model.favorable_, "point": model.selected_, "out": out}
    if as_json:
        typer.echo(json.dumps(told))
    elif out != "-":
        typer.echo(
            f"{rows:,} rows, {favorable:,} of them with the favorable outcome `{told['label']}`, by point "
            f"{told['point']}: {out}"
        )


def opened_at(run: Path, point: int | None, within: float | None) -> "FairClassifier":
    """Return a run's model at a point, or at the most accurate one within a bound, or as it was chosen."""
    from mamofair import MostAccurateWithin
    from mamofair.notions import require_gap
    from mamofair.runs import load_run

    if point is not None and within is not None:
        raise ValueError("Give either `--point` or `--within`, not both.")
    if within is not None:
        require_gap(within, "`--within`")
    found = load_run(run)
    model, settings = found.estimator, found.settings
    if point is not None:
        if not 0 <= point < len(model.front_):
            raise ValueError(f"`--point` must be a row of front.csv, 0 to {len(model.front_) - 1}: found {point}.")
        return model.at(point)
    if within is not None:
        return model.with_selection(MostAccurateWithin(within))
    if settings.get("within_reached") is False:
        note(
            f"Nothing in {quote(str(run), PATH)} could be shown to keep the bound that was asked for, "
            f"{settings['within']:g}: point {model.selected_}, the closest to no error and no gap, stands in. Or name "
            "`--point` or `--within`."
        )
    return model


def _decide(model: "FairClassifier", table: Path, file: Any) -> tuple[int, int]:
    """Write the decided rows, and return how many there are, and how many of them favorable."""
    import numpy as np
    from scipy.special import expit

    from mamofair.tables import read_batches
    from mamofair.tables.formulas import safe_csv

    rows = favorable = 0
    batches = read_batches(table, model.encoder_)
    for whole, features in batches if file is sys.stdout else _shown(batches):
        if taken := [name for name in _ADDED if name in whole]:
            raise ValueError(f"{table.name} has a column {quote(taken[0])} already: rename or remove it.")
        scores = model.decision_function(features)
        scores = scores if model.search_.task.places == (1, 0) else -scores
        whole["prediction"] = model.classes_[np.where(scores > 0, *model.search_.task.places)]
        whole["score"] = expit(scores)
        file.write(safe_csv(whole, header=not rows))
        rows, favorable = rows + len(whole), favorable + int((scores > 0).sum())
    return rows, favorable


def _shown(batches: Iterator[tuple["pd.DataFrame", Any]]) -> Iterator[tuple["pd.DataFrame", Any]]:
    """Yield the batches, and on a terminal say how far they are; the end of the file is not known before."""
    rows = 0
    with Console(stderr=True).status("reading") as status:
        for whole, features in batches:
            yield whole, features
            rows += len(whole)
            status.update(f"{rows:,} rows decided")


@contextmanager
def _opened(out: str) -> Iterator[Any]:
    """Open a file that appears under its name when it is whole, or the screen."""
    if out == "-":
        yield sys.stdout
        return
    from mamofair.runs._locks import replaced_file

    with replaced_file(Path(out)) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()  # flushes it; the file is closed by who opened it
