"""The steps of `mamofair train`: start or resume, save the run with its report, and print the result."""

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mamofair.cli._console import print_note
from mamofair.cli._train_options import TrainOptions

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.cli._distributed import Job
    from mamofair.estimators import FairClassifier
    from mamofair.metrics import Assessment, Policy
    from mamofair.runs import Run

__all__ = ["assess_gate", "print_result", "resume_training", "save_run", "start_training"]


def start_training(
    options: TrainOptions, out: Path | None, force: bool, job: "Job", lock: ExitStack, *, show_check: bool
) -> tuple["Run", Path, bool, "pd.DataFrame"]:
    """Train from the beginning. Rank 0 checks everything, columns first, before rows are read.

    Rank 0, which alone writes, holds the folder's lock from here on, until `lock` is closed.
    """
    from mamofair.cli._checks import require_fraction, require_text, require_writable
    from mamofair.cli._data import check_columns, data_name, open_data
    from mamofair.cli._models import make_estimator, needs_network
    from mamofair.cli._training import run_training
    from mamofair.runs import own_folder

    reason = job.ranks.broadcast(lambda: needs_network(options, job.ranks))
    options = options if reason is None else replace(options, model="net")
    folder = Path("runs") / data_name(options) if out is None else out

    def check() -> None:
        check_columns(options)
        require_fraction(options.test_fraction, "`--test-fraction`")
        make_estimator(options, favorable=None).check_parameters(options.unlabelled is not None)
        require_writable(folder)
        for option, file in (("DATA", options.data), ("--test", options.test), ("--unlabelled", options.unlabelled)):
            require_text(str(file), option)  # the run records the command
        lock.enter_context(own_folder(folder))
        _require_free(folder, force)
        if reason is not None:
            print_note(f"For {reason}, `--model auto` means a network, `--model net`.")

    job.ranks.broadcast(check)
    data = open_data(options, job.ranks, show_check=show_check)
    estimator = make_estimator(options, data.favorable)
    run, interrupted, example = run_training(options, data, estimator, folder, job, resume=False, show_check=show_check)
    if options.test is not None:
        from mamofair.cli._differences import print_differences, read_differences

        print_differences(Path(options.test), read_differences(run, Path(options.test), options.file_format))
    return run, folder, interrupted, example


def _require_free(folder: Path, force: bool) -> None:
    from mamofair.runs import holds_run, is_resumable, require_place

    require_place(folder)
    if force or not (holds_run(folder) or is_resumable(folder)):
        return
    finish = f", `--resume {folder}` to finish it" if is_resumable(folder) else ""
    raise FileExistsError(
        f"{str(folder)!r} already contains a run: add `--force` to replace it{finish}, or choose another folder."
    )


def resume_training(folder: Path, job: "Job", lock: ExitStack) -> tuple["Run", Path, bool, "pd.DataFrame"]:
    """Continue an interrupted training with its own options."""
    from mamofair.cli._data import open_data
    from mamofair.cli._training import run_training
    from mamofair.runs import own_folder, read_checkpoint

    def read() -> tuple["FairClassifier", dict[str, Any]]:
        if folder.is_dir():
            lock.enter_context(own_folder(folder))
        return read_checkpoint(folder)

    estimator, begun = job.ranks.broadcast(read)
    options = TrainOptions.from_json(begun["asked"])
    data = open_data(options, job.ranks, show_check=False)
    if data.checksum != begun["data checksum"]:
        raise ValueError(f"{begun['said']} must not change during training: it has changed. Train again.")
    as_typed = TrainOptions.from_json(begun["asked"] | {"data": begun["said"]})
    options = as_typed if Path(as_typed.data).exists() else options
    run, interrupted, example = run_training(options, data, estimator, folder, job, resume=True, show_check=False)
    return run, folder, interrupted, example


def assess_gate(run: "Run", policy: "Policy | None") -> tuple["Run", "Assessment"]:
    """Assess a run by a policy or by its own limits; return the run with the outcome among its settings, and that."""
    from mamofair.runs import assess_run

    assessment = assess_run(run, policy)
    gate = {"headline": assessment.headline, **assessment.to_json()}
    return replace(run, settings={**run.settings, "gate": gate}), assessment


def save_run(run: "Run", folder: Path, interrupted: bool, example: "pd.DataFrame") -> Path | None:
    """Save the run with its report, and load it again; return the path of the report, or None if there is none."""
    from mamofair.cli._saved_run import require_usable
    from mamofair.runs import save

    written = []

    def write_report(run: "Run", path: Path) -> None:
        try:
            from mamofair import report

            report.write(run, path)
            written.append(folder / path.name)
        except ImportError:
            print_note('No report was written. To get one: pip install "mamofair[report]"')
        except Exception as error:  # whatever it is, a page is not worth the loss of a training
            print_note(f"No report was written: {type(error).__name__}: {error}")

    save(run, folder, write_report, resumable=interrupted)
    require_usable(run, folder, example)
    return written[0] if written else None


def print_result(
    run: "Run", folder: Path, report: Path | None, interrupted: bool, as_json: bool, gate: "Assessment | None" = None
) -> None:
    """Print the three points, the verdict and where the run is; or all of it as JSON."""
    from mamofair.cli._console import print_sentence
    from mamofair.cli._summary import print_summary, summarize

    if interrupted:
        then = "continue" if run.estimator.search_.learner.can_resume else "start again with the same seed"
        print_note(
            f"Interrupted: the run contains the models found so far. To {then}: mamofair train --resume {folder}"
        )
    summary: dict[str, Any] = summarize(run)
    if as_json:
        head: dict[str, Any] = {"run": str(folder), "report": None if report is None else str(report)}
        head |= {"interrupted": interrupted, "check": run.settings["data"]["check"]}
        head |= {} if gate is None else {"gate": gate.to_json()}
        names = ("favorable", "model", "seed", "within", "stand_in")
        typer.echo(json.dumps(head | {name: run.settings[name] for name in names} | summary))
        return
    print_summary(summary)
    print_sentence(f"The favorable outcome is `{run.settings['favorable']}`.")
    typer.echo(f"Run: {folder}")
    if report is not None:
        typer.echo(f"Report: {report}")
