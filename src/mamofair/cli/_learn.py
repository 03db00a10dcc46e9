"""Training for the command line: an estimator as asked for, followed on the screen, tested on rows held back."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

import mamofair
from mamofair._descent.ranks import Ranks
from mamofair._messages import quote
from mamofair.cli._asked import Asked
from mamofair.cli._data import Data
from mamofair.cli._notes import note
from mamofair.cli._parts import Parts
from mamofair.cli._ranks import Job
from mamofair.cli._streamed import StreamedData, is_streamed
from mamofair.datasets import CATALOG
from mamofair.estimators import FairClassifier, FairNetClassifier
from mamofair.estimators.progress import watch
from mamofair.notions import as_notion, require_gap
from mamofair.runs import (
    Run,
    checkpoint_files,
    checkpointed,
    restore_checkpoint,
    versions,
    write_checkpoint,
)
from mamofair.selection import ClosestToIdeal, MostAccurateWithin, Selection

MODELS = {
    "net": "FairNetClassifier",
    "boosting": "FairBoostingClassifier",
    "plugin": "FairPlugInClassifier",
    "portfolio": "FairPortfolioClassifier",
}


#: Of the network in a portfolio: on Adult 15, its own default, trains ten epochs more, and all of the network's points
#: that reach the portfolio's front are of the first five.
_PATIENCE = 5

#: What is trained unless asked otherwise; where it cannot be, a network.
DEFAULT, ELSEWHERE = "portfolio", "net"


def with_model(asked: Asked, ranks: Ranks) -> Asked:
    """Return what was asked for, with the model that suits the rows, ranks and device if none was named."""
    if asked.model is not None:
        return asked
    streamed = asked.data not in CATALOG and is_streamed(asked)
    return replace(asked, model=ELSEWHERE if streamed or ranks.size > 1 or asked.device != "cpu" else DEFAULT)


def make_estimator(asked: Asked, favorable: Any) -> FairClassifier:
    """Return the estimator asked for, not fitted."""
    if asked.model not in MODELS:
        raise ValueError(f"`--model` must be one of {', '.join(MODELS)}: found {quote(asked.model)}.")
    kind = getattr(mamofair, MODELS[asked.model], None)
    if kind is None:
        raise ValueError(f"This version of mamofair has no {asked.model}: update it, or use `--model net`.")
    parameters = {
        "notions": [as_notion(name).name for name in asked.notion],
        "crossed": asked.crossed,
        "favorable": favorable,
        "selection": _selection(asked),
        "validation_fraction": asked.validation_fraction,
        "calibration_fraction": asked.calibration_fraction,
        "random_state": asked.seed,
    }
    if asked.model == "portfolio":
        parameters["estimators"] = _estimators(asked)
    elif asked.model == "plugin" and asked.epochs is not None:
        raise ValueError("`--epochs` means nothing to plugin: leave it out.")
    parameters |= _length(asked.model, asked.epochs)
    if asked.device != "cpu":
        if asked.model != "net":
            raise ValueError(f"`--device` means nothing to {asked.model}, which learns on the CPU: leave it out.")
        parameters["device"] = asked.device
    return kind(**parameters)  # type: ignore[no-any-return]


def _length(model: str, epochs: int | None) -> dict[str, Any]:
    """Return the parameter that says how long to train, if that was asked for and the model has one."""
    names = {"net": "epochs", "boosting": "n_estimators"}
    return {names[model]: epochs} if model in names and epochs is not None else {}


def _estimators(asked: Asked) -> list[tuple[str, FairClassifier]]:
    """Return the estimators of a portfolio.

    The plug-in has no rule for notions that are conditioned on the prediction: the others do without it.
    """
    ruled = not any(as_notion(name).conditions_on_prediction for name in asked.notion)
    kinds = {name: getattr(mamofair, MODELS[name]) for name in ("net", "boosting", "plugin")[: 3 if ruled else 2]}
    own = {"net": {"patience": _PATIENCE}}
    return [(name, kind(**own.get(name, {}), **_length(name, asked.epochs))) for name, kind in kinds.items()]


def _selection(asked: Asked) -> Selection:
    if asked.within is None:
        if asked.confidence is not None:
            raise ValueError("`--confidence` must come with `--within`: found no bound to be confident of.")
        return ClosestToIdeal()
    require_gap(asked.within, "`--within`")
    if asked.confidence is None:
        return MostAccurateWithin(asked.within)
    if not asked.calibration_fraction > 0:
        raise ValueError("`--confidence` needs rows of its own: add `--calibration-fraction 0.2`, for example.")
    return MostAccurateWithin(asked.within, asked.confidence)


def learn(
    asked: Asked, data: Data | StreamedData, estimator: FairClassifier, out: Path, job: Job, resumes: bool
) -> tuple[Run, bool]:
    """Train, with checkpoints in `out`, and test; return the run, and whether it was cut short by Ctrl-C.

    Test rows are set apart before anything looks at them. The encoder and the estimator see the others only. Of several
    ranks, all train, and rank 0 alone does the rest: the others end here.
    """
    if job.ranks.size > 1 and not isinstance(estimator, FairNetClassifier):
        if job.ranks.rank:
            raise typer.Exit(2)  # rank 0 says why
        raise ValueError(f"`--model {asked.model}` trains in one process: leave torchrun out, or use `--model net`.")
    parts = data if isinstance(data, StreamedData) else Parts.of(asked, data)
    absolute = asked.data if asked.data in CATALOG else str(Path(asked.data).resolve())
    begun = {"asked": asked.plain() | {"data": absolute}, "out": str(out), "data checksum": data.checksum}
    begun |= {"said": asked.data, "versions": versions()}
    is_first = job.ranks.rank == 0
    writes_anew, before = is_first and not resumes, checkpoint_files(out)
    if writes_anew:
        write_checkpoint(estimator, begun, out)  # from here on, whatever kills this can be mended by --resume
    try:
        fitting = parts.fitting(estimator)
        kept = checkpointed(fitting, begun, out) if is_first else fitting
        interrupted = _follow(kept, estimator.search_.learner.rounds, job, out)
    except (ValueError, TypeError, ImportError):  # what was asked for cannot be had, nor by --resume
        if writes_anew and not hasattr(estimator, "front_"):
            restore_checkpoint(out, before)
        raise
    job.leave()
    if not hasattr(estimator, "front_"):
        note(f"Interrupted before anything was found. mamofair train --resume {out} begins again.")
        raise KeyboardInterrupt
    estimator = _choose(estimator.with_encoder(parts.encoder))
    tallies = parts.tested(estimator)
    groups = {name: tuple(map(str, values)) for name, values in estimator.front_.groups.items()}
    settings = _settings(asked, data, estimator, out) | {"interrupted": interrupted, "ranks": job.ranks.size}
    settings["data"] |= {"parts": _sizes(estimator, *parts.sizes)}
    limit = None if interrupted else parts.limit()
    return Run(estimator, settings, groups, tuple(tallies), limit), interrupted


def _follow(fitting: Iterator[FairClassifier], total: int | None, job: Job, out: Path) -> bool:
    """Let it train, watched; return whether it was interrupted."""
    try:
        try:
            for _ in watch(fitting, total, verbose=1):
                pass
        except ConnectionError as error:
            if not job.is_interrupted:
                raise ConnectionError(
                    f"{error} mamofair train --resume {out} goes on, with any number of ranks."
                ) from error
            return True
    except KeyboardInterrupt:  # in the handler above as well: where a rank is interrupted, mostly all of them are
        job.interrupt()
        return True
    return False


def _choose(estimator: FairClassifier) -> FairClassifier:
    """Return the estimator with a selection that finds a point: what was asked for, or else the closest to ideal."""
    try:
        estimator.selected_  # noqa: B018  # raises if there is none
        return estimator
    except ValueError as error:
        note(f"{error} The point closest to no error and no gap is chosen instead.")
        return estimator.with_selection(ClosestToIdeal())


def _sizes(estimator: FairClassifier, learned: int, test: int) -> dict[str, int]:
    """Return how many rows went where; the counts of the first point tell how many were held back."""
    point = estimator.front_.points[0]
    valid = round(point.valid.overall.sum())
    calibration = 0 if point.calibration is None else round(point.calibration.overall.sum())
    train = learned - calibration - (valid if valid + calibration < learned else 0)  # else each row did both, in folds
    return {"train": train, "validation": valid, "calibration": calibration, "test": test}


def _settings(asked: Asked, data: Data | StreamedData, estimator: FairClassifier, out: Path) -> dict[str, Any]:
    plain = {
        name: value if isinstance(value, str | int | float | bool | None) or name == "notions" else repr(value)
        for name, value in estimator.get_params(deep=False).items()
    }
    return {
        "command": asked.command(str(out)),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": {"name": data.name, "rows": data.rows, "checksum": data.checksum, "groups": data.groups()},
        "target": data.target,
        "favorable": data.favorable,
        "sensitive": data.attributes,
        "notions": plain["notions"],
        "model": asked.model,
        "parameters": plain,
        "within": asked.within,
        "within_reached": None if asked.within is None else isinstance(estimator.selection, MostAccurateWithin),
        "seed": asked.seed,
        "versions": versions(),
    }
