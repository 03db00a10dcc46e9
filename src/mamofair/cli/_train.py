"""`mamofair train`: from a table to a run folder with the whole front."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair.cli._asked import Asked
from mamofair.cli._notes import note, noted_warnings
from mamofair.cli._options import MOST_SEED, AsJson, Crossed, Drop, Favorable, Notion, Sensitive, Target

if TYPE_CHECKING:
    from mamofair.cli._ranks import Job
    from mamofair.runs import Run


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
    within: Annotated[float | None, typer.Option(help="Choose the most accurate model with gaps up to this.")] = None,
    confidence: Annotated[float | None, typer.Option(help="How sure to be of `--within`, such as 0.95.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="portfolio (all of the others, and the best of each; the default), net, boosting or plugin. Rows that "
            "are not all in memory, several processes and `--device` need net, and have it by default."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder; runs/NAME by default.")] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="How long to train: epochs of a network, trees of boosting.")
    ] = None,
    test_fraction: Annotated[
        float, typer.Option(help="The share of rows to test on; nothing is chosen by them.")
    ] = 0.25,
    validation_fraction: Annotated[float, typer.Option(help="The share of the others to choose by.")] = 0.25,
    calibration_fraction: Annotated[float, typer.Option(help="The share of the others that `--confidence` needs.")] = 0,
    limit: Annotated[bool, typer.Option(help="Whether to estimate the best that any model could do.")] = True,
    device: Annotated[str, typer.Option(help="Where to train a network: cpu or cuda.")] = "cpu",
    memory: Annotated[
        str | None, typer.Option(help="Read Parquet a piece at a time, within this memory; 2GB for a folder.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="Of all that is random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier run in the same folder.")] = False,
    resume: Annotated[
        Path | None,
        typer.Option(help="Finish the training of this run, which was killed: net goes on, other models start again."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Learn classifiers that are accurate and fair: the whole trade-off between the two.

    A quarter of the rows is set apart first, and only to report on. Ctrl-C keeps what was found so far. Several
    processes train a network together: torchrun --nproc-per-node 4 -m mamofair train …

    Example: mamofair train loans.csv --target approved --favorable yes --sensitive gender --sensitive age:25,60
    --notion demographic_parity --notion equal_opportunity --within 0.05 --out runs/loans
    """
    if (data is None) == (resume is None):
        raise ValueError("Give either a file or data set to train on, or a run to go on with: `--resume RUN`.")
    asked = Asked(
        data=data or "",
        target=target,
        favorable=favorable,
        sensitive=tuple(sensitive or ()),
        drop=tuple(drop or ()),
        notion=tuple(notion or ("demographic_parity",)),
        crossed=crossed,
        within=within,
        confidence=confidence,
        model=model,
        epochs=epochs,
        test_fraction=test_fraction,
        validation_fraction=validation_fraction,
        calibration_fraction=calibration_fraction,
        limit=limit,
        device=device,
        memory=memory,
        seed=seed,
    )
    if resume is not None and (
        given := [*asked.options(), *(["--out"] if out else []), *(["--force"] if force else [])]
    ):
        raise ValueError(f"`--resume` goes on with the options that training began with: leave out {given[0]}.")
    from mamofair.cli._ranks import joined

    with noted_warnings(), joined() as job, ExitStack() as held:
        if resume is not None:
            run, folder, interrupted = _resumed(resume, job, held)
        else:
            run, folder, interrupted = _begun(asked, out, force, job, held)
        report = _save(run, folder, interrupted)
    _tell(run, folder, report, interrupted, as_json)


def _begun(asked: Asked, out: Path | None, force: bool, job: "Job", held: ExitStack) -> tuple["Run", Path, bool]:
    """Train anew; what can be wrong is looked at before rows are read, columns first, by rank 0 for all.

    Rank 0, which alone writes, holds the folder's lock from here on, for as long as `held` is open.
    """
    from mamofair.cli._data import check_columns, name_of, open_data
    from mamofair.cli._learn import learn, make_estimator, with_model
    from mamofair.cli._values import require_fraction, require_writable
    from mamofair.runs import own_folder

    asked = job.ranks.told(lambda: with_model(asked, job.ranks))
    folder = Path("runs") / name_of(asked) if out is None else out

    def looked_at() -> None:
        check_columns(asked)
        require_fraction(asked.test_fraction, "`--test-fraction`")
        make_estimator(asked, favorable=None).check_parameters()
        require_writable(folder)
        held.enter_context(own_folder(folder))
        _require_free(folder, force)

    job.ranks.told(looked_at)
    data = open_data(asked, job.ranks)
    run, interrupted = learn(asked, data, make_estimator(asked, data.favorable), folder, job, resumes=False)
    return run, folder, interrupted


def _require_free(folder: Path, force: bool) -> None:
    from mamofair.runs import holds_run, is_resumable, require_place

    require_place(folder)
    if force or not (holds_run(folder) or is_resumable(folder)):
        return
    goes_on = f", `--resume {folder}` to finish it" if is_resumable(folder) else ""
    raise FileExistsError(f"There is a run in {str(folder)!r}: add `--force` to replace it{goes_on}, or name another.")


def _resumed(folder: Path, job: "Job", held: ExitStack) -> tuple["Run", Path, bool]:
    """Go on where a training was killed; its options are those it was begun with."""
    from mamofair.cli._data import open_data
    from mamofair.cli._learn import learn
    from mamofair.estimators import FairClassifier
    from mamofair.runs import own_folder, read_checkpoint

    def opened() -> tuple[FairClassifier, dict[str, Any]]:
        if folder.is_dir():
            held.enter_context(own_folder(folder))
        return read_checkpoint(folder)

    estimator, begun = job.ranks.told(opened)
    asked = Asked.of(begun["asked"])
    data = open_data(asked, job.ranks)
    if data.checksum != begun["data checksum"]:
        raise ValueError(f"{begun['said']} must be what training began with: it has changed. Train again.")
    said = Asked.of(begun["asked"] | {"data": begun["said"]})
    asked = said if Path(said.data).exists() else asked
    run, interrupted = learn(asked, data, estimator, folder, job, resumes=True)
    return run, folder, interrupted


def _save(run: "Run", folder: Path, interrupted: bool) -> Path | None:
    """Save the run with its report, if reports can be written here; return the report's path."""
    from mamofair.runs import save

    written = []

    def page(run: "Run", path: Path) -> None:
        try:
            from mamofair import report

            report.write(run, path)
            written.append(folder / path.name)
        except ImportError:
            note('No report is written, for which more is needed: pip install "mamofair[report]".')
        except Exception as error:  # whatever it is, a page is not worth the loss of a training
            note(f"No report is written: {type(error).__name__}: {error}")

    save(run, folder, page, resumable=interrupted)
    return written[0] if written else None


def _tell(run: "Run", folder: Path, report: Path | None, interrupted: bool, as_json: bool) -> None:
    from mamofair.cli._outcome import outcome, show
    from mamofair.cli._screen import show_sentence

    if interrupted:
        then = "goes on" if run.estimator.search_.learner.can_resume else "starts again, with the same seed"
        note(f"Interrupted: the run holds the front found so far. mamofair train --resume {folder} {then}.")
    found: dict[str, Any] = outcome(run)
    if as_json:
        head = {"run": str(folder), "report": None if report is None else str(report), "interrupted": interrupted}
        names = ("favorable", "model", "seed", "within", "within_reached")
        typer.echo(json.dumps(head | {name: run.settings[name] for name in names} | found))
        return
    show(found)
    show_sentence(f"The favorable outcome is `{run.settings['favorable']}`.")
    typer.echo(f"Run: {folder}")
    if report is not None:
        typer.echo(f"Report: {report}")
