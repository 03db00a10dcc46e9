"""From the options of `mamofair train` to an estimator."""

from pathlib import Path
from typing import Any

import mamofair
from mamofair._descent.ranks import Ranks
from mamofair._messages import as_share, quote
from mamofair.cli._performance import read_performance, read_rate
from mamofair.cli._streamed import is_streamed
from mamofair.cli._train_options import TrainOptions
from mamofair.datasets import CATALOG
from mamofair.estimators import FairClassifier
from mamofair.notions import as_notion, require_gap
from mamofair.selection import ClosestToIdeal, FairestWithin, MostAccurateWithin, Selection

__all__ = ["MODELS", "make_estimator", "needs_network", "takes_tables"]

MODELS = {
    "auto": "FairPortfolioClassifier",
    "net": "FairNetClassifier",
    "boosting": "FairBoostingClassifier",
    "plugin": "FairPlugInClassifier",
}


def needs_network(options: TrainOptions, ranks: Ranks) -> str | None:
    """Return the reason why `auto` means a network here, or None if it means whatever suits the rows."""
    if options.model != "auto":
        return None
    if ranks.size > 1:
        return "several processes"
    return None if options.device == "cpu" else f"`--device {options.device}`"


def takes_tables(options: TrainOptions) -> bool:
    """Whether the model takes text and missing values as they are; else they are encoded as numbers."""
    has_rule = not any(as_notion(name).conditions_on_prediction for name in options.notion)
    return options.model == "plugin" or (options.model == "auto" and has_rule)


def make_estimator(options: TrainOptions, favorable: Any) -> FairClassifier:
    """Return the unfitted estimator that the options describe."""
    if options.model not in MODELS:
        raise ValueError(f"`--model` must be one of {', '.join(MODELS)}: found {quote(options.model)}.")
    kind = getattr(mamofair, MODELS[options.model], None)
    if kind is None:
        raise ValueError(f"This version of mamofair has no {options.model}: update it, or use `--model net`.")
    parameters = {
        "notions": [as_notion(name).name for name in options.notion],
        "performance": read_performance(options.performance, options.cost),
        "crossed": options.crossed,
        "favorable": favorable,
        "selection": _make_selection(options),
        "validation_fraction": options.validation_fraction,
        "calibration_fraction": options.calibration_fraction,
        "min_group": options.min_group,
        "random_state": options.seed,
    }
    if options.model in ("auto", "plugin"):
        parameters["effort"] = options.effort
        if options.epochs is not None:
            raise ValueError(f"`--epochs` has no effect on {options.model}: leave it out, or use `--effort`.")
    elif options.effort != TrainOptions.effort:
        raise ValueError(f"`--effort` has no effect on {options.model}: leave it out, or use `--epochs`.")
    parameters |= _length_parameter(options.model, options.epochs)
    if options.device != "cpu":
        if options.model != "net":
            raise ValueError(f"`--device` has no effect on {options.model}, which trains on the CPU: leave it out.")
        parameters["device"] = options.device
    return kind(**parameters)  # type: ignore[no-any-return]


def _length_parameter(model: str, epochs: int | None) -> dict[str, Any]:
    """Return the parameter for the length of training, if the option was given and the model has one."""
    names = {"net": "epochs", "boosting": "n_estimators"}
    return {names[model]: epochs} if model in names and epochs is not None else {}


def _make_selection(options: TrainOptions) -> Selection:
    if options.unlabelled is not None:
        _check_unlabelled(options)
    rate = read_rate(options.select_rate)
    if options.fairest_within is not None:
        return _make_fairest(options, rate)
    if options.within is None:
        if options.confidence is not None:
            raise ValueError("`--confidence` needs a limit on the gaps: add `--within 0.05`, for example.")
        return ClosestToIdeal(select_rate=rate)
    require_gap(options.within, "`--within`")
    if options.confidence is None:
        return MostAccurateWithin(options.within, margin=options.margin, select_rate=rate)
    if not options.calibration_fraction and options.unlabelled is None:
        raise ValueError(
            "`--confidence` needs calibration rows: add `--calibration-fraction 0.2`, for example, or `plan`."
        )
    return MostAccurateWithin(options.within, options.confidence, select_rate=rate)


def _make_fairest(options: TrainOptions, rate: Any) -> FairestWithin:
    limit = options.fairest_within
    assert limit is not None
    if options.within is not None or options.confidence is not None:
        raise ValueError(
            "`--fairest-within` limits the error, and `--within`, with or without `--confidence`, the gaps: choose one."
        )
    if not 0 <= limit <= 1:
        raise ValueError(f"`--fairest-within` must be an error from 0 to 1: found {limit:g}.{as_share(limit)}")
    return FairestWithin(limit, margin=options.margin, select_rate=rate)


def _check_unlabelled(options: TrainOptions) -> None:
    if options.confidence is None:
        raise ValueError("`--unlabelled` rows serve a choice with `--confidence`: add it, or leave them out.")
    if options.data not in CATALOG and is_streamed(options):
        raise ValueError("`--unlabelled` needs data that fit in memory: train on one table, or leave them out.")
    if not Path(str(options.unlabelled)).is_file():
        raise FileNotFoundError(f"No file is called {quote(options.unlabelled)}: check `--unlabelled`.")
