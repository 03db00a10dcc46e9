"""`mamofair train`: from a table to a run folder with the whole front."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from mamofair._messages import quote
from mamofair.cli._console import warnings_as_notes
from mamofair.cli._gate import Gate, PolicyFile, leave_by_gate, open_gate
from mamofair.cli._options import (
    MAX_SEED,
    AsJson,
    Crossed,
    Decimal,
    Drop,
    Encoding,
    ExcludeLabel,
    Favorable,
    Header,
    Margin,
    Missing,
    MistakeCost,
    Notion,
    Performance,
    SelectRate,
    Sensitive,
    Separator,
    Sheet,
    Strata,
    Target,
    Weight,
)
from mamofair.cli._train_options import TrainOptions, one_or_several

__all__ = ["train"]


def train(
    data: Annotated[
        str | None,
        typer.Argument(help="A CSV, Parquet or Excel file, a folder of Parquet files, or a data set: adult, …"),
    ] = None,
    target: Target = None,
    favorable: Favorable = None,
    exclude_label: ExcludeLabel = None,
    sensitive: Sensitive = None,
    drop: Drop = None,
    weight: Weight = None,
    test: Annotated[
        Path | None,
        typer.Option(help="A table to test on, with the same columns; all rows of the data are then for training."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="A column of dates or numbers: train on the past, and test on the last `--test-fraction`. Not a "
            "feature."
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="A column that says which rows belong together, such as those of one person: they are never divided "
            "between training and testing, and intervals count units, not rows. Not a feature."
        ),
    ] = None,
    notion: Notion = None,
    crossed: Crossed = False,
    performance: Performance = "error",
    cost: MistakeCost = None,
    strata: Strata = None,
    within: Annotated[
        float | None,
        typer.Option(help="Choose the most accurate model whose gaps between groups are all at most this."),
    ] = None,
    fairest_within: Annotated[
        float | None,
        typer.Option(help="Instead: choose the model with the smallest gaps whose error, or cost, is at most this."),
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
        int, typer.Option(min=1, help="Leave groups with fewer rows, or units, out of the gaps; they are listed.")
    ] = 30,
    model: Annotated[
        str,
        typer.Option(
            help="auto (what suits the data best: plugin, except for notions such as predictive parity), net (a neural "
            "network), boosting (LightGBM) or plugin (a rule on predicted probabilities). Several processes and "
            "`--device` need net, which is what auto means there."
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
        typer.Option(help="A table of more rows, without labels, that `--confidence` may use for demographic parity."),
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
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    missing: Missing = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Stream Parquet files within this much memory, such as 500MB; folders use 2GB by default."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            help="Fit the models of auto or plugin on a Dask cluster, given its scheduler, such as tcp://host:8786. "
            "Workers must see a folder of Parquet files under the same path."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier run in the same folder.")] = False,
    resume: Annotated[
        Path | None,
        typer.Option(help="Finish this interrupted run: net continues where it stopped, other models start again."),
    ] = None,
    gate: Gate = False,
    policy: PolicyFile = None,
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
        favorable=one_or_several(favorable),
        exclude_label=tuple(exclude_label or ()),
        sensitive=tuple(sensitive or ()),
        drop=tuple(drop or ()),
        weight=weight,
        test=None if test is None else str(test),
        time=time,
        unit=unit,
        notion=tuple(notion or ("demographic_parity",)),
        crossed=crossed,
        performance=performance,
        cost=cost,
        strata=strata,
        within=within,
        fairest_within=fairest_within,
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
        dask=dask,
        seed=seed,
        sep=sep,
        decimal=decimal,
        encoding=encoding,
        sheet=sheet,
        header=header,
        missing=tuple(missing or ()),
    )
    given = [*options.arguments(), *(["--out"] if out else []), *(["--force"] if force else [])]
    if resume is not None and given:
        raise ValueError(f"`--resume` takes its options from the interrupted run: leave out {given[0]}.")
    required = open_gate(gate, policy, has_limits=within is not None or resume is not None)
    from mamofair.cli._distributed import join_ranks
    from mamofair.cli._train_steps import assess_gate, print_result, resume_training, save_run, start_training

    with warnings_as_notes(), join_ranks() as job, ExitStack() as lock:
        if resume is not None:
            run, folder, interrupted, example = resume_training(resume, job, lock)
        else:
            run, folder, interrupted, example = start_training(options, out, force, job, lock, show_check=not as_json)
        run, assessment = assess_gate(run, required) if gate or required else (run, None)
        report = save_run(run, folder, interrupted, example)
    print_result(run, folder, report, interrupted, as_json, assessment)
    leave_by_gate(assessment)


def _read_fraction(text: str) -> float | str:
    """Return a number, or "plan"."""
    try:
        return "plan" if text == "plan" else float(text)
    except ValueError:
        raise ValueError(f"`--calibration-fraction` must be a number or plan: found {quote(text)}.") from None
