"""`mamofair watch`: decisions as they arrive, and whether their gaps have left a limit."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import PATH, quote, quote_some
from mamofair.cli._checks import require_writable
from mamofair.cli._console import print_note, print_sentence, warnings_as_notes
from mamofair.cli._options import (
    AsJson,
    Decimal,
    Encoding,
    Header,
    Missing,
    Point,
    RunFolder,
    Separator,
    Sheet,
    UnusedSeed,
)
from mamofair.tables.file_format import FileFormat

if TYPE_CHECKING:
    from mamofair.cli._watched_table import WatchedColumns, WatchedTable
    from mamofair.monitor import Monitor, WatchAnswer
    from mamofair.runs import Run

__all__ = ["watch"]

_CONFIDENCE, _DRIFT = 0.95, 0.05


def watch(
    run: RunFolder,
    table: Annotated[
        Path | None,
        typer.Argument(
            help="A CSV, Parquet or Excel file of new decisions with the sensitive columns and, if known, labels; "
            "these may also come later, by id. Without a table, the answer so far is shown."
        ),
    ] = None,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The JSON file that stores the watch; required.")
    ] = None,
    limit: Annotated[
        float | None, typer.Option(help="The largest acceptable gap. Fixed when the watch begins.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="The chance of a false alarm is at most 1 − this; 0.95 by default. Fixed when the watch begins."
        ),
    ] = None,
    drift: Annotated[
        float | None,
        typer.Option(
            help="How far shares and base rates of groups may be from those of validation rows; 0.05 by default. Fixed "
            "when the watch begins."
        ),
    ] = None,
    prediction: Annotated[str | None, typer.Option(help="The column of decisions; `prediction` by default.")] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", help="The column that identifies a decision: it counts once, and its label may come later."
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="The column of times: dates or increasing numbers. Without it, the rows of a file count in random "
            "order, as made at about the same time."
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="The column that says whom a decision is about, if there may be several about the same person: each "
            "person is tested once."
        ),
    ] = None,
    all_groups: Annotated[
        bool,
        typer.Option(
            "--all-groups", help="Also compare groups that training left out as too small. Fixed when the watch begins."
        ),
    ] = False,
    point: Point = None,
    new: Annotated[bool, typer.Option("--new", help="Begin a new watch in place of the previous one.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page with charts that opens in any browser.")
    ] = None,
    prometheus: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write metrics as text for Prometheus.")
    ] = None,
    gate: Annotated[
        bool,
        typer.Option("--gate/--no-gate", help="Exit with code 0 if within so far, 3 if exceeded, 4 if not yet known."),
    ] = True,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    missing: Missing = None,
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Watch decisions as they arrive: within so far, exceeded since …, or not yet known.

    Look as often as you like: the chance of ever raising a false alarm is
    at most 1 − confidence. An id counts once, labels may come later, and
    the state is one small file (with another one for ids beside it). If
    a limit is exceeded, other points of the run's front are named.

    Example: mamofair watch runs/loans decided.csv --limit 0.05 --state
    watch.json --id case --time day --html watch.html
    """
    from mamofair.cli._differences import print_differences, read_differences
    from mamofair.cli._labelled_rows import as_run_reads
    from mamofair.cli._watch_switch import describe_switch, find_others
    from mamofair.monitor import own_state, save_monitor
    from mamofair.runs import load_run, replaced_file

    if state is None:
        raise ValueError("`--state` is missing: name the file that keeps the watch, as in `--state watch.json`.")
    for option, path in (("--state", state), ("--html", html), ("--prometheus", prometheus)):
        if path is not None:
            require_writable(path, option, file=True)
    given = {"prediction": prediction, "id": id_column, "time": time, "unit": unit}
    requested = {"limit": limit, "confidence": confidence, "drift": drift, "point": point}
    requested |= {"all_groups": all_groups or None}
    with warnings_as_notes():
        loaded = load_run(run)
        with own_state(state):
            monitor, notes, columns = _find_watch(state, loaded, requested, given, new)
            given_format = FileFormat(sep, decimal, encoding, missing=missing, sheet=sheet, header=header)
            before, file_format = monitor.rows, as_run_reads(loaded.settings, given_format)
            read = None if table is None else _read(table, loaded, columns, file_format, monitor.ledger.reading)
            monitor = monitor if read is None else read.add_to(monitor)
            notes["others"] = find_others(monitor, loaded, notes, read, file_format)
            save_monitor(monitor, state, notes)
        if table is not None:
            print_differences(table, read_differences(loaded, table, file_format))
    answer = monitor.answer
    switch = [] if notes["others"] is None else describe_switch(run, notes["others"])
    if prometheus is not None:
        from mamofair.monitor import to_prometheus

        with replaced_file(prometheus) as file:
            file.write(to_prometheus(answer).encode())
    if html is not None:
        from mamofair.report import write_watch

        write_watch(monitor, html, title=str(loaded.settings["data"].get("name", run.name)), switch=switch)
    _print(run, state, answer, notes, monitor.rows - before, switch, as_json)
    if gate:
        raise typer.Exit(answer.exit_code)


def _find_watch(
    state: Path, run: "Run", requested: dict[str, Any], given: dict[str, str | None], new: bool
) -> tuple["Monitor", dict[str, Any], "WatchedColumns"]:
    """Return the watch of a state file, or a new one; its notes; and the columns that it reads."""
    from mamofair.cli._labelled_rows import list_left_out
    from mamofair.cli._watched_table import WatchedColumns
    from mamofair.monitor import Monitor, load_monitor

    if "target" not in run.settings or "command" not in run.settings:
        raise ValueError(
            "The run must have been written by `mamofair train`: this one has no record of the table's columns. Use "
            "`mamofair.monitor.Monitor` in Python."
        )
    checksum, number = run.settings["checksum"], 0
    if state.exists():
        monitor, notes = load_monitor(state)
        if missing := {"run", "number", "point", "columns", "limit", "confidence", "drift"} - {*notes}:
            raise ValueError(
                f"{quote(str(state), PATH)} must have been written by `mamofair watch`: found a state without "
                f"{quote_some(sorted(missing))}. Name another file."
            )
        number = int(notes["number"])
        if not new:
            _require_same(notes, {"run": checksum} | requested | given)
            return monitor, notes, WatchedColumns(**notes["columns"])
    if requested["limit"] is None:
        raise ValueError("`--limit` is missing: name the largest acceptable gap, as in `--limit 0.05`.")
    model = run.estimator
    row = model.selected_ if requested["point"] is None else requested["point"]
    if not 0 <= row < len(model.front_):
        raise ValueError(f"`--point` must be a row of front.csv, from 0 to {len(model.front_) - 1}: found {row}.")
    settings = {
        "limit": requested["limit"],
        "confidence": _CONFIDENCE if requested["confidence"] is None else requested["confidence"],
        "drift": _DRIFT if requested["drift"] is None else requested["drift"],
    }
    monitor = Monitor.of_front(
        *(model.front_, row, settings["limit"]),
        confidence=settings["confidence"],
        drift=settings["drift"],
        favorable=1,  # decisions and labels are read as 1 where they are favorable, whatever the run's labels are
        left_out=None if requested["all_groups"] else list_left_out(run),
    )
    columns = {name: value for name, value in given.items() if value is not None}
    if number:
        print_note(f"This is watch {number + 1} of this file, and begins without rows. Each may raise a false alarm.")
    notes = settings | {"run": checksum, "point": int(row), "number": number + 1, "columns": columns}
    notes["all_groups"] = bool(requested["all_groups"])
    _note_units_of_training(run, columns)
    return monitor, notes, WatchedColumns(**columns)


def _note_units_of_training(run: "Run", columns: dict[str, str]) -> None:
    """Say so if the run was trained with units and the watch has none."""
    from mamofair.cli._labelled_rows import row_column_options

    trained = row_column_options(run.settings).get("--unit")
    if trained is not None and "unit" not in columns:
        print_note(
            f"The run was trained with `--unit {trained}`, because several rows may be about the same person. A watch "
            f"of such rows raises false alarms: begin it with `--unit {trained}`, unless each person comes only once."
        )


def _require_same(notes: dict[str, Any], given: dict[str, Any]) -> None:
    """Raise a `ValueError` if a watch is not the one that was begun."""
    advice = "Add `--new` to begin a new watch."
    if notes["run"] != given["run"]:
        raise ValueError(f"The watch belongs to another run, or the run was retrained since. {advice}")
    columns = {"prediction": "prediction", **dict.fromkeys(("id", "time", "unit"))}
    kept = {"all_groups": False, **notes, **columns, **notes["columns"]}
    for name, value in given.items():
        if value is not None and kept[name] != value:
            option = name.replace("_", "-")
            before = {None: "not given", False: "not given"}.get(kept[name], kept[name])
            raise ValueError(f"`--{option}` was {before} when the watch began: found {value}. {advice}")


def _read(table: Path, run: "Run", columns: "WatchedColumns", file_format: FileFormat, ids_as: str) -> "WatchedTable":
    from mamofair.cli._checksums import is_training_table
    from mamofair.cli._watched_table import read_watched_table

    if is_training_table(table, run.settings):
        raise ValueError(
            f"Decisions to watch must be new: {quote(table.name, PATH)} is the table that the run was trained with."
        )
    return read_watched_table(table, run, columns, file_format, ids_as)


def _print(
    run: Path,
    state: Path,
    answer: "WatchAnswer",
    notes: dict[str, Any],
    counted: int,
    switch: list[str],
    as_json: bool,
) -> None:
    if as_json:
        document = {"run": str(run), "state": str(state), "new_rows": counted, "point": notes["point"]}
        document |= {"watch": notes["number"], "limit": notes["limit"]} | answer.to_json()
        typer.echo(json.dumps(document | {"others": notes["others"], "switch": switch}))
        return
    print_sentence(f"{answer.status.capitalize()}.")
    for sentence in (*answer.sentences(), *switch):
        print_sentence(sentence)
