"""`mamofair predict`: predictions for new rows, batch by batch, so that files may be larger than memory."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mamofair._messages import PATH, quote
from mamofair.cli._checks import require_writable
from mamofair.cli._console import print_note, warnings_as_notes
from mamofair.cli._options import Margin, Point, RunFolder, SelectRate, UnusedSeed, WithinLimit

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.estimators import FairClassifier

__all__ = ["load_model", "predict"]

_ADDED = ("prediction", "score")
_OUT = (
    "The CSV file to write; - prints it. Text that a spreadsheet would run as a formula (it starts with =, +, -, @ or "
    "a tab) gets a leading apostrophe; numbers do not."
)


def predict(
    run: RunFolder,
    table: Annotated[
        Path, typer.Argument(help="A CSV or Parquet file; the model ignores columns that it does not know.")
    ],
    point: Point = None,
    within: WithinLimit = None,
    margin: Margin = 1.0,
    select_rate: SelectRate = None,
    out: Annotated[str, typer.Option("--out", "-o", help=_OUT)] = "-",
    seed: UnusedSeed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as one JSON document.")] = False,
) -> None:
    """Predict new rows: copy a table and add the columns `prediction` and `score`.

    The sensitive attributes are not needed. The score is that of the
    favorable outcome, from 0 to 1; above ½ the prediction is favorable.

    Example: mamofair predict runs/loans new.csv --within 0.03 -o
    decided.csv
    """
    if as_json and out == "-":
        raise ValueError("`--json` needs a file for the predictions: add `-o decided.csv`.")
    if out != "-" and not out.lower().endswith(".csv"):
        raise ValueError(f"`--out` must be a .csv file: found {quote(out)}.")
    if Path(out).resolve() == table.resolve():
        raise ValueError(f"`--out` must not overwrite the input table: found {quote(out)} for both.")
    if out != "-":
        require_writable(Path(out), file=True)
    model = load_model(run, point, within, margin, select_rate)
    if model.encoder_ is None:
        raise ValueError(
            f"The run must have been written by `mamofair train`: {quote(str(run), PATH)} has no encoder for tables. "
            "Use `mamofair.load` in Python."
        )
    with _open_output(out) as file:
        rows, favorable = _write_predictions(model, table, file)
    result = {"rows": rows, "favorable": favorable, "label": model.favorable_, "point": model.selected_, "out": out}
    if as_json:
        typer.echo(json.dumps(result))
    elif out != "-":
        typer.echo(
            f"Point {result['point']} predicts the favorable outcome `{result['label']}` for {favorable:,} of {rows:,} "
            f"rows: {out}"
        )


def load_model(
    run: Path, point: int | None, within: float | None, margin: float = 1.0, select_rate: str | None = None
) -> "FairClassifier":
    """Return a run's model: at a point, at the most accurate point within limits, or as chosen in training."""
    from mamofair import MostAccurateWithin
    from mamofair.cli._performance import read_rate
    from mamofair.notions import require_gap
    from mamofair.runs import load_run

    rate = read_rate(select_rate)
    if point is not None and not (within is None and rate is None):
        raise ValueError("Give either `--point` or limits (`--within`, `--select-rate`), not both.")
    if within is not None:
        require_gap(within, "`--within`")
    loaded = load_run(run)
    model, settings = loaded.estimator, loaded.settings
    if point is not None:
        if not 0 <= point < len(model.front_):
            raise ValueError(f"`--point` must be a row of front.csv, from 0 to {len(model.front_) - 1}: found {point}.")
        return model.at(point)
    if within is not None or rate is not None:
        rate = getattr(model.selection, "select_rate", None) if rate is None else rate
        rule: Any = model.selection if within is None else MostAccurateWithin(within, margin=margin)
        with warnings_as_notes():
            return model.with_selection(replace(rule, select_rate=rate))
    if settings.get("within_reached") is False:
        print_note(
            f"No model in {quote(str(run), PATH)} was shown to have gaps of at most {settings['within']:g}, as asked "
            f"for. Point {model.selected_}, the closest to zero error and zero gaps, is used instead; choose another "
            "with `--point` or `--within`."
        )
    return model


def _write_predictions(model: "FairClassifier", table: Path, file: Any) -> tuple[int, int]:
    """Write rows with predictions; return the number of rows, and of favorable predictions."""
    import numpy as np
    from scipy.special import expit

    from mamofair.tables import read_batches
    from mamofair.tables.formulas import safe_csv

    rows = favorable = 0
    places, sign = ((1, 0), 1) if model.classes_[1] == model.favorable_ else ((0, 1), -1)
    batches = read_batches(table, model.encoder_)
    for whole, features in batches if file is sys.stdout else _show_progress(batches):
        if taken := [name for name in _ADDED if name in whole]:
            raise ValueError(f"{table.name} already has a column {quote(taken[0])}: rename or remove it.")
        scores = sign * model.decision_function(features)
        whole["prediction"] = model.classes_[np.where(scores > 0, *places)]
        whole["score"] = expit(scores)
        file.write(safe_csv(whole, header=not rows))
        rows, favorable = rows + len(whole), favorable + int((scores > 0).sum())
    return rows, favorable


def _show_progress(batches: Iterator[tuple["pd.DataFrame", Any]]) -> Iterator[tuple["pd.DataFrame", Any]]:
    """Yield the batches, and count their rows on a terminal; the total is not known before the end."""
    rows = 0
    with Console(stderr=True).status("reading") as status:
        for whole, features in batches:
            yield whole, features
            rows += len(whole)
            status.update(f"{rows:,} rows predicted")


@contextmanager
def _open_output(out: str) -> Iterator[Any]:
    """Open stdout, or a file that appears under its name once it is complete."""
    if out == "-":
        yield sys.stdout
        return
    from mamofair.runs._locks import replaced_file

    with replaced_file(Path(out)) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()  # flushes it; `replaced_file` closes the file
