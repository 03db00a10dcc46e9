"""Training for the command line: with checkpoints and progress, then measured on test rows."""

import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from mamofair.cli._check_table import check_data
from mamofair.cli._console import print_note
from mamofair.cli._data import data_name
from mamofair.cli._distributed import Job
from mamofair.cli._saved_run import ROWS
from mamofair.cli._stream_split import StreamSplit
from mamofair.cli._table_split import TableSplit
from mamofair.cli._test_rows import print_split
from mamofair.cli._train_options import TrainOptions
from mamofair.datasets import CATALOG
from mamofair.estimators import FairClassifier
from mamofair.estimators.progress import watch
from mamofair.performance import Cost
from mamofair.runs import (
    Run,
    checkpoint_files,
    checkpointed,
    describe_rows,
    restore_checkpoint,
    versions,
    write_checkpoint,
)
from mamofair.selection import ClosestToIdeal, MostAccurateWithin, Selection
from mamofair.streaming import Stream
from mamofair.tables import Table

__all__ = ["run_training"]


def run_training(
    options: TrainOptions,
    data: Table | Stream,
    estimator: FairClassifier,
    out: Path,
    job: Job,
    *,
    resume: bool,
    show_check: bool,
) -> tuple[Run, bool, pd.DataFrame]:
    """Train with checkpoints in `out`, and test; return the run, whether Ctrl-C interrupted it, and some features.

    Test rows are set apart first: the encoder and the estimator never see them. Of several ranks, all train, and only
    rank 0 continues after that.
    """
    if job.ranks.size > 1 and options.model != "net":
        if job.ranks.rank:
            raise typer.Exit(2)  # rank 0 says why
        raise ValueError(f"`--model {options.model}` trains in one process: drop torchrun, or use `--model net`.")
    rows = StreamSplit(options, data) if isinstance(data, Stream) else TableSplit.of(options, data)
    absolute = options.data if options.data in CATALOG else str(Path(options.data).resolve())
    begun = {"asked": options.to_json() | {"data": absolute}, "out": str(out), "data checksum": data.checksum}
    begun |= {"said": options.data, "versions": versions()}
    is_first = job.ranks.rank == 0
    writes_anew, before = is_first and not resume, checkpoint_files(out)
    if writes_anew:
        print_split(rows.split, rows.sizes)
        write_checkpoint(estimator, begun, out)  # from here on, --resume can continue whatever is killed
    try:
        fitting = rows.fitting(estimator)  # refuses what cannot be learned from, in one line
        checked = _check(options, show_check) if is_first else None
        kept = checkpointed(fitting, begun, out) if is_first else fitting
        interrupted = _follow(kept, estimator.search_.learner.rounds, job, out)
    except (ValueError, TypeError, ImportError):  # --resume would fail in the same way
        if writes_anew and not hasattr(estimator, "front_"):
            restore_checkpoint(out, before)
        raise
    job.leave()
    if not hasattr(estimator, "front_"):
        print_note(f"Interrupted before any model was trained. To start again: mamofair train --resume {out}")
        raise KeyboardInterrupt
    certificate = _certificate(estimator)
    estimator, stand_in = _with_valid_selection(estimator.with_encoder(rows.encoder))
    tallies, scores = rows.measure_test(estimator)
    groups = {name: tuple(map(str, values)) for name, values in estimator.front_.groups.items()}
    settings = _settings(options, data.checksum, rows, estimator, out) | {
        "interrupted": interrupted,
        "ranks": job.ranks.size,
    }
    settings |= {"certificate": certificate, "stand_in": stand_in, **describe_rows(estimator)}
    settings["arbitrariness"] = None
    if options.arbitrariness and not interrupted:
        settings["arbitrariness"] = rows.measure_arbitrariness(estimator)
    settings |= {"not_measured": rows.not_measured}
    settings["data"] |= {"check": checked, "profile": rows.profile()}
    settings["data"] |= {"small_groups": rows.measure_small_groups(estimator)}
    settings["data"] |= {"intersections": rows.count_intersections(estimator)}
    settings["data"] |= {"parts": {**estimator.search_.sizes, "test": rows.sizes[1]}}
    limit = None if interrupted else rows.estimate_limit(estimator)
    return Run(estimator, settings, groups, tuple(tallies), limit, tuple(scores)), interrupted, rows.example(ROWS)


def _check(options: TrainOptions, show: bool) -> dict[str, Any]:
    """Check the table, and print what was found; return it as plain JSON."""
    result = check_data(options)
    if show:
        typer.echo(str(result), err=True)
    return result.to_json()


def _follow(fitting: Iterator[FairClassifier], total: int | None, job: Job, out: Path) -> bool:
    """Train to the end and show progress; return whether Ctrl-C came first."""
    try:
        try:
            for _ in watch(fitting, total, verbose=1):
                pass
        except ConnectionError as error:
            if not job.is_interrupted:
                then = "To continue, with any number of ranks" if job.ranks.size > 1 else "With the same options"
                raise ConnectionError(f"{error} {then}: mamofair train --resume {out}") from error
            return True
    except KeyboardInterrupt:  # outside of the handler above: Ctrl-C mostly reaches all ranks, and may come during it
        job.interrupt()
        return True
    return False


def _certificate(estimator: FairClassifier) -> dict[str, Any] | None:
    """Return the answer of a choice with confidence, as plain JSON."""
    rule = estimator.selection
    if not isinstance(rule, MostAccurateWithin) or rule.confidence is None:
        return None
    answer = rule.answer(estimator.front_)
    return {"status": answer.status, "confidence": rule.confidence, "limits": answer.limits, "message": answer.message}


def _with_valid_selection(estimator: FairClassifier) -> tuple[FairClassifier, str | None]:
    """Return the estimator, with another selection if no point meets its own, and why it is a stand-in."""
    try:
        return estimator, estimator.selection_note_  # raises if there is no point
    except ValueError as error:
        reason = str(error)
    for rule, description in _stand_ins(estimator.selection):
        with suppress(ValueError), warnings.catch_warnings():  # no point meets this one, either
            warnings.simplefilter("ignore", UserWarning)  # the reason says it
            chosen = estimator.with_selection(rule)
            return chosen, " ".join(
                filter(None, [reason, f"{description} was chosen instead.", chosen.selection_note_])
            )
    raise ValueError(reason)


def _stand_ins(rule: Selection) -> Iterator[tuple[Selection, str]]:
    """Yield selections that ask for less and less, and what they choose."""
    if isinstance(rule, MostAccurateWithin) and rule.confidence is not None:
        yield replace(rule, confidence=None), "The best point within the limits on validation rows"
    closest = "The point closest to zero error and zero gaps"
    yield ClosestToIdeal(select_rate=getattr(rule, "select_rate", None)), closest
    yield ClosestToIdeal(), closest


def _format_value(value: Any) -> str:
    return str(value) if isinstance(value, Cost) else repr(value)


def _settings(
    options: TrainOptions,
    checksum: str,
    rows: TableSplit | StreamSplit,
    estimator: FairClassifier,
    out: Path,
) -> dict[str, Any]:
    parameters = {
        name: value if isinstance(value, str | int | float | bool | None) or name == "notions" else _format_value(value)
        for name, value in estimator.get_params(deep=False).items()
    }
    return {
        "command": options.command(str(out)),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {
            "name": data_name(options),
            "rows": sum(rows.sizes),
            "checksum": checksum,
            "groups": rows.group_sizes(),
            "reading": options.reads,
            "split": dict(rows.split),
            "weight": options.weight,
            "excluded_labels": list(options.exclude_label),
            "target_values": rows.target_values,
        },
        **rows.columns,
        "notions": parameters["notions"],
        "performance": str(estimator.front_.performance),
        "select_rate": options.select_rate,
        "model": options.model,
        "parameters": parameters,
        "within": options.within,
        "fairest_within": options.fairest_within,
        "seed": options.seed,
        "versions": versions(),
    }
