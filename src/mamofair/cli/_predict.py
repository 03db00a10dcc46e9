"""`mamofair predict`: predictions for new rows, batch by batch, so that files may be larger than memory."""

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import PATH, quote
from mamofair.cli._checks import require_writable
from mamofair.cli._checksums import is_training_table
from mamofair.cli._console import print_note, warnings_as_notes
from mamofair.cli._deferred import collect_later, defer
from mamofair.cli._gate import Gate, MaxUnknown, PolicyFile, leave_by_gate, open_gate
from mamofair.cli._options import (
    Decimal,
    Encoding,
    Header,
    Margin,
    Missing,
    Point,
    RunFolder,
    SelectRate,
    Separator,
    Sheet,
    UnusedSeed,
    WithinLimit,
)
from mamofair.tables.file_format import FileFormat

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from mamofair.estimators import FairClassifier
    from mamofair.runs import Run

__all__ = ["load_model", "predict"]

_SUFFIXES = (".csv", ".parquet", ".xlsx")
_OUT = (
    "The CSV file to write, or Parquet or Excel if the table is, or a new folder if it is one; - prints CSV. In CSV, "
    "text that a spreadsheet would run as a formula (it starts with =, +, -, @ or a tab) gets a leading apostrophe, "
    "which mamofair removes when it reads the file; numbers do not."
)


def predict(
    run: RunFolder,
    table: Annotated[
        Path,
        typer.Argument(help="A CSV, Parquet or Excel file, or a folder of Parquet files; unknown columns are ignored."),
    ],
    point: Point = None,
    within: WithinLimit = None,
    margin: Margin = 1.0,
    select_rate: SelectRate = None,
    out: Annotated[str, typer.Option("--out", "-o", help=_OUT)] = "-",
    gate: Gate = False,
    policy: PolicyFile = None,
    max_unknown: MaxUnknown = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    missing: Missing = None,
    seed: UnusedSeed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as one JSON document.")] = False,
) -> None:
    """Predict new rows: copy a table and add the columns `prediction` and `score`.

    The sensitive attributes are not needed. The score is that of the
    favorable outcome, from 0 to 1; above ½ the prediction is favorable.

    Example: mamofair predict runs/loans new.csv --within 0.03 -o
    decided.csv
    """
    _require_output(out, table, as_json)
    for unused in ("scipy.stats", "numpy.f2py"):
        defer(unused)
    if table.is_dir() and (gate or policy is not None):
        raise ValueError("A gate needs one table: found a folder. Predict it first, then run `mamofair audit --gate`.")
    required = open_gate(gate, policy, max_unknown=max_unknown)
    file_format = FileFormat(sep, decimal, encoding, missing=missing, sheet=sheet, header=header)
    with warnings_as_notes():
        with collect_later():
            loaded, model = _load(run, point, within, margin, select_rate, measured=gate or required is not None)
        _require_encoder(model, run)
        trained_on = is_training_table(table, loaded.settings)
        if trained_on:
            print_note(
                f"{table.name} is the table that the run was trained with: on its training rows, a model's error "
                "and gaps can be far from those on new rows. See report.html for test rows, or train with `--test`."
            )
        from mamofair.cli._differences import count_rows, find_differences, print_differences

        counts, count = count_rows(loaded)
        decided = _write_table(model, table, file_format, out, count)
        differences = find_differences(loaded, counts, table, file_format)
        print_differences(table, differences)
        rows, favorable = len(decided), int(decided.sum())
        result = {"rows": rows, "favorable": favorable, "label": model.favorable_, "point": model.selected_, "out": out}
        result["differences"] = [one.to_json() for one in differences]
        assessment = None
        if gate or required is not None:
            from mamofair.cli._assess_predictions import assess_predictions

            judged_by = within, required, file_format
            assessment = assess_predictions(
                *(loaded, model, table, decided, *judged_by), trained_on=trained_on, max_unknown=max_unknown
            )
            result["gate"] = assessment.to_json() | ({"trained_on": True} if trained_on else {})
    if as_json:
        typer.echo(json.dumps(result))
    elif out != "-":
        typer.echo(
            f"Point {result['point']} predicts the favorable outcome `{result['label']}` for {favorable:,} of {rows:,} "
            f"rows: {out}"
        )
    leave_by_gate(assessment)


def _require_encoder(model: "FairClassifier", run: Path) -> None:
    if model.encoder_ is None:
        raise ValueError(
            f"The run must have been written by `mamofair train`: {quote(str(run), PATH)} has no encoder for tables. "
            "Use `mamofair.load` in Python."
        )


def _require_output(out: str, table: Path, as_json: bool) -> None:
    """Raise an error, before anything is read, if predictions cannot be written."""
    if as_json and out == "-":
        raise ValueError("`--json` needs a file for the predictions: add `-o decided.csv`.")
    if table.is_dir():
        _require_new_folder(Path(out))
        return
    if out != "-" and not out.lower().endswith(_SUFFIXES):
        raise ValueError(f"`--out` must be a .csv, .parquet or .xlsx file: found {quote(out)}.")
    suffix = Path(out).suffix.lower()
    if suffix in (".parquet", ".xlsx") and table.suffix.lower() != suffix:
        raise ValueError(
            f"`--out` must be a .csv file, or of the type of the table: found {quote(out)} for {quote(table.name)}."
        )
    if Path(out).resolve() == table.resolve():
        raise ValueError(f"`--out` must not overwrite the input table: found {quote(out)} for both.")
    if out != "-":
        require_writable(Path(out), file=True)


def _require_new_folder(out: Path) -> None:
    """Raise an error unless `out` names a folder that holds nothing yet: files of two predictions must not mix."""
    if out.suffix or str(out) == "-":
        raise ValueError(f"`--out` must be a folder, as the table is one: found {quote(str(out))}. Add `-o decided`.")
    require_writable(out)
    if out.is_dir() and any(out.iterdir()):
        raise FileExistsError(f"`--out` must be a new or empty folder: {quote(str(out), PATH)} has files already.")


def load_model(
    run: Path, point: int | None, within: float | None, margin: float = 1.0, select_rate: str | None = None
) -> "FairClassifier":
    """Return a run's model: at a point, at the most accurate point within limits, or as chosen in training."""
    return _load(run, point, within, margin, select_rate, measured=False)[1]


def _load(
    run: Path, point: int | None, within: float | None, margin: float, select_rate: str | None, *, measured: bool
) -> tuple["Run", "FairClassifier"]:
    """Return a run and its model. What training chose is not warned of where the user has chosen.

    The run has its test rows' counts only if they are needed, with `measured`.
    """
    from mamofair import MostAccurateWithin
    from mamofair.cli._performance import read_rate
    from mamofair.notions import require_gap
    from mamofair.runs import load_run

    rate = read_rate(select_rate)
    if point is not None and not (within is None and rate is None):
        raise ValueError("Give either `--point` or limits (`--within`, `--select-rate`), not both.")
    if within is not None:
        require_gap(within, "`--within`")
    with warnings.catch_warnings():
        if not (point is None and within is None and rate is None):
            warnings.simplefilter("ignore", UserWarning)
        loaded = load_run(run, measured=measured)
    model, settings = loaded.estimator, loaded.settings
    if point is not None:
        if not 0 <= point < len(model.front_):
            raise ValueError(f"`--point` must be a row of front.csv, from 0 to {len(model.front_) - 1}: found {point}.")
        return loaded, model.at(point)
    if within is not None or rate is not None:
        rate = getattr(model.selection, "select_rate", None) if rate is None else rate
        rule: Any = model.selection if within is None else MostAccurateWithin(within, margin=margin)
        return loaded, model.with_selection(replace(rule, select_rate=rate))
    _print_stand_in(run, model, settings)
    return loaded, model


def _print_stand_in(run: Path, model: "FairClassifier", settings: Mapping[str, Any]) -> None:
    """Say why training chose another point than it was asked for, if it did."""
    if settings.get("stand_in") is not None:
        print_note(
            f"{settings['stand_in']} It is point {model.selected_}; choose another with `--point` or `--within`."
        )
    elif settings.get("within_reached") is False:  # as older runs say it
        print_note(
            f"No model in {quote(str(run), PATH)} was shown to have gaps of at most {settings['within']:g}, as asked "
            f"for. Point {model.selected_}, the closest to zero error and zero gaps, is used instead; choose another "
            "with `--point` or `--within`."
        )


def _write_table(
    model: "FairClassifier", table: Path, file_format: FileFormat, out: str, count: "Callable[[pd.DataFrame], None]"
) -> "np.ndarray":
    """Write rows with predictions in the format that the name of the file asks for; return which are favorable."""
    if table.is_dir():
        from mamofair.cli._predict_parquet import write_folder

        return write_folder(model, table, Path(out), count)
    if out.lower().endswith(".parquet"):
        from mamofair.cli._predict_parquet import write_parquet
        from mamofair.runs import replaced_file

        with replaced_file(Path(out)) as binary:
            return write_parquet(model, table, binary, count)
    from mamofair.cli._predict_rows import predict_rows, write_csv, write_excel
    from mamofair.tables import read_batches

    batches = read_batches(table, model.encoder_, file_format=file_format)
    decided = predict_rows(model, table.name, batches if out == "-" else _show_progress(batches), count)
    if out.lower().endswith(".xlsx"):
        from mamofair.runs import replaced_file

        with replaced_file(Path(out)) as binary:
            return write_excel(decided, binary)
    with _open_output(out) as file:
        return write_csv(decided, file)


def _show_progress(batches: Iterator[tuple["pd.DataFrame", Any]]) -> Iterator[tuple["pd.DataFrame", Any]]:
    """Yield the batches, and count their rows on a terminal; the total is not known before the end."""
    from rich.console import Console

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
    from mamofair.runs import replaced_file

    with replaced_file(Path(out)) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()  # flushes it; `replaced_file` closes the file
