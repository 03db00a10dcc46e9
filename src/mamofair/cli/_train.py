"""`mamofair train`: from a table to a run folder with the whole front."""

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import quote
from mamofair.cli._console import print_note, warnings_as_notes
from mamofair.cli._options import (
    MAX_SEED,
    AsJson,
    Crossed,
    Drop,
    Favorable,
    Margin,
    MistakeCost,
    Notion,
    Performance,
    SelectRate,
    Sensitive,
    Strata,
    Target,
)
from mamofair.cli._train_options import TrainOptions

if TYPE_CHECKING:
    from mamofair.cli._distributed import Job
    from mamofair.estimators import FairClassifier
    from mamofair.runs import Run

__all__ = ["train"]


def train(
    data: Annotated[
        str | None, typer.Argument(help="A CSV or Parquet file, a folder of Parquet files, or a data set: adult, …")
    ] = None,
    target: Target = None,
    favorable: Favorable = None,
    sensitive: Sensitive = None,
    drop: Drop = None,
    notion: Notion = None,
    crossed: Crossed = False,
    performance: Performance = "error",
    cost: MistakeCost = None,
    strata: Strata = None,
    within: Annotated[
        float | None,
        typer.Option(help="Choose the most accurate model whose gaps between groups are all at most this."),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Confidence that `--within` also holds for new rows, such as 0.95. Needs `--calibration-fraction` or "
            "`--unlabelled`."
        ),
    ] = None,
    margin: Margin = 1.0,
    select_rate: SelectRate = None,
    min_group: Annotated[
        int, typer.Option(min=1, help="Leave groups with fewer rows out of the gaps; they are named.")
    ] = 30,
    model: Annotated[
        str,
        typer.Option(
            help="auto (what suits the data best: plugin, except for notions such as predictive parity), net (a neural "
            "network), boosting (LightGBM) or plugin (a rule on predicted probabilities). Data larger than memory, "
            "several processes and `--device` need net, which is what auto means there."
        ),
    ] = "auto",
    effort: Annotated[
        str, typer.Option(help="How much work to put into auto or plugin: fast, balanced or best.")
    ] = "balanced",
    out: Annotated[Path | None, typer.Option(help="The run folder to write; runs/NAME by default.")] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Length of training: epochs of a network, trees of boosting.")
    ] = None,
    test_fraction: Annotated[
        float, typer.Option(help="Fraction of the rows used for testing only; no choice depends on them.")
    ] = 0.25,
    validation_fraction: Annotated[
        float,
        typer.Option(
            help="Fraction of the remaining rows used for model selection; auto and plugin use all, in folds."
        ),
    ] = 0.25,
    calibration_fraction: Annotated[
        str,
        typer.Option(
            metavar="FRACTION|plan",
            help="Fraction of the remaining rows reserved for `--confidence`; `plan` reserves those that count most.",
        ),
    ] = "0",
    unlabelled: Annotated[
        Path | None,
        typer.Option(help="A table of more rows, without labels, that `--confidence` may use: for demographic parity."),
    ] = None,
    limit: Annotated[
        bool, typer.Option(help="Compare with the best trade-off found, and estimate what more rows may bring.")
    ] = True,
    arbitrariness: Annotated[
        bool,
        typer.Option(
            "--arbitrariness",
            help="Also measure how many decisions flip with other training rows, by training on four random halves.",
        ),
    ] = False,
    device: Annotated[str, typer.Option(help="Device to train a network on: cpu or cuda.")] = "cpu",
    memory: Annotated[
        str | None,
        typer.Option(help="Stream Parquet files within this much memory, such as 500MB; 2GB for folders."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier run in the same folder.")] = False,
    resume: Annotated[
        Path | None,
        typer.Option(help="Finish this interrupted run: net continues where it stopped, other models start again."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train classifiers that are accurate and fair, and save the whole trade-off between the two.

    A quarter of the rows is set apart first and used for testing only.
    Ctrl-C keeps the models found so far. To train a network in several
    processes, run: torchrun --nproc-per-node 4 -m mamofair train …

    Example: mamofair train loans.csv --target approved --favorable yes
    --sensitive gender --sensitive age:25,60 --notion demographic_parity
    --notion equal_opportunity --within 0.05 --out runs/loans
    """
    if (data is None) == (resume is None):
        raise ValueError("Give either data to train on or a run to continue: `--resume RUN`.")
    options = TrainOptions(
        data=data or "",
        target=target,
        favorable=favorable,
        sensitive=tuple(sensitive or ()),
        drop=tuple(drop or ()),
        notion=tuple(notion or ("demographic_parity",)),
        crossed=crossed,
        performance=performance,
        cost=cost,
        strata=strata,
        within=within,
        confidence=confidence,
        margin=margin,
        select_rate=select_rate,
        min_group=min_group,
        model=model,
        effort=effort,
        epochs=epochs,
        test_fraction=test_fraction,
        validation_fraction=validation_fraction,
        calibration_fraction=_read_fraction(calibration_fraction),
        unlabelled=None if unlabelled is None else str(unlabelled),
        limit=limit,
        arbitrariness=arbitrariness,
        device=device,
        memory=memory,
        seed=seed,
    )
    given = [*options.arguments(), *(["--out"] if out else []), *(["--force"] if force else [])]
    if resume is not None and given:
        raise ValueError(f"`--resume` takes its options from the interrupted run: leave out {given[0]}.")
    from mamofair.cli._distributed import join_ranks

    with warnings_as_notes(), join_ranks() as job, ExitStack() as lock:
        if resume is not None:
            run, folder, interrupted = _resume(resume, job, lock)
        else:
            run, folder, interrupted = _start(options, out, force, job, lock)
        report = _save(run, folder, interrupted)
    _print_result(run, folder, report, interrupted, as_json)


def _read_fraction(text: str) -> float | str:
    """Return a number, or "plan"."""
    try:
        return "plan" if text == "plan" else float(text)
    except ValueError:
        raise ValueError(f"`--calibration-fraction` must be a number or plan: found {quote(text)}.") from None


def _start(
    options: TrainOptions, out: Path | None, force: bool, job: "Job", lock: ExitStack
) -> tuple["Run", Path, bool]:
    """Train from the beginning. Rank 0 checks everything, columns first, before rows are read.

    Rank 0, which alone writes, holds the folder's lock from here on, until `lock` is closed.
    """
    from mamofair.cli._checks import require_fraction, require_writable
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
        lock.enter_context(own_folder(folder))
        _require_free(folder, force)
        if reason is not None:
            print_note(f"For {reason}, `--model auto` means a network, `--model net`.")

    job.ranks.broadcast(check)
    data = open_data(options, job.ranks)
    estimator = make_estimator(options, data.favorable)
    run, interrupted = run_training(options, data, estimator, folder, job, resume=False)
    return run, folder, interrupted


def _require_free(folder: Path, force: bool) -> None:
    from mamofair.runs import holds_run, is_resumable, require_place

    require_place(folder)
    if force or not (holds_run(folder) or is_resumable(folder)):
        return
    finish = f", `--resume {folder}` to finish it" if is_resumable(folder) else ""
    raise FileExistsError(
        f"{str(folder)!r} already contains a run: add `--force` to replace it{finish}, or choose another folder."
    )


def _resume(folder: Path, job: "Job", lock: ExitStack) -> tuple["Run", Path, bool]:
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
    data = open_data(options, job.ranks)
    if data.checksum != begun["data checksum"]:
        raise ValueError(f"{begun['said']} must not change during training: it has changed. Train again.")
    as_typed = TrainOptions.from_json(begun["asked"] | {"data": begun["said"]})
    options = as_typed if Path(as_typed.data).exists() else options
    run, interrupted = run_training(options, data, estimator, folder, job, resume=True)
    return run, folder, interrupted


def _save(run: "Run", folder: Path, interrupted: bool) -> Path | None:
    """Save the run with its report; return the path of the report, or None if there is none."""
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
    return written[0] if written else None


def _print_result(run: "Run", folder: Path, report: Path | None, interrupted: bool, as_json: bool) -> None:
    from mamofair.cli._console import print_sentence
    from mamofair.cli._summary import print_summary, summarize

    if interrupted:
        then = "continue" if run.estimator.search_.learner.can_resume else "start again with the same seed"
        print_note(
            f"Interrupted: the run contains the models found so far. To {then}: mamofair train --resume {folder}"
        )
    summary: dict[str, Any] = summarize(run)
    if as_json:
        head = {"run": str(folder), "report": None if report is None else str(report), "interrupted": interrupted}
        names = ("favorable", "model", "seed", "within", "within_reached")
        typer.echo(json.dumps(head | {name: run.settings[name] for name in names} | summary))
        return
    print_summary(summary)
    print_sentence(f"The favorable outcome is `{run.settings['favorable']}`.")
    typer.echo(f"Run: {folder}")
    if report is not None:
        typer.echo(f"Report: {report}")
