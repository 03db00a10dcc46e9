"""From the options of `mamofair train` to an estimator."""

from dataclasses import replace
from typing import Any

import mamofair
from mamofair._descent.ranks import Ranks
from mamofair._messages import quote
from mamofair.cli._streamed import is_streamed
from mamofair.cli._train_options import TrainOptions
from mamofair.datasets import CATALOG
from mamofair.estimators import FairClassifier
from mamofair.notions import as_notion, require_gap
from mamofair.selection import ClosestToIdeal, MostAccurateWithin, Selection

__all__ = ["MODELS", "make_estimator", "with_default_model"]

MODELS = {
    "net": "FairNetClassifier",
    "boosting": "FairBoostingClassifier",
    "plugin": "FairPlugInClassifier",
    "portfolio": "FairPortfolioClassifier",
}

#: The patience of a portfolio's network. On Adult its own default, 15, trains ten epochs more, but every point of the
#: network on the portfolio's front comes from the first five.
_PATIENCE = 5


def with_default_model(options: TrainOptions, ranks: Ranks) -> TrainOptions:
    """Return the options with a model: a portfolio by default, a network where only a network can be trained."""
    if options.model is not None:
        return options
    streamed = options.data not in CATALOG and is_streamed(options)
    return replace(options, model="net" if streamed or ranks.size > 1 or options.device != "cpu" else "portfolio")


def make_estimator(options: TrainOptions, favorable: Any) -> FairClassifier:
    """Return the unfitted estimator that the options describe."""
    if options.model not in MODELS:
        raise ValueError(f"`--model` must be one of {', '.join(MODELS)}: found {quote(options.model)}.")
    kind = getattr(mamofair, MODELS[options.model], None)
    if kind is None:
        raise ValueError(f"This version of mamofair has no {options.model}: update it, or use `--model net`.")
    parameters = {
        "notions": [as_notion(name).name for name in options.notion],
        "crossed": options.crossed,
        "favorable": favorable,
        "selection": _make_selection(options),
        "validation_fraction": options.validation_fraction,
        "calibration_fraction": options.calibration_fraction,
        "random_state": options.seed,
    }
    if options.model == "portfolio":
        parameters["estimators"] = _make_portfolio(options)
    elif options.model == "plugin" and options.epochs is not None:
        raise ValueError("`--epochs` has no effect on plugin: leave it out.")
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


def _make_portfolio(options: TrainOptions) -> list[tuple[str, FairClassifier]]:
    """Return the estimators of a portfolio; the plug-in has no rule for notions that condition on the prediction."""
    has_rule = not any(as_notion(name).conditions_on_prediction for name in options.notion)
    kinds = {name: getattr(mamofair, MODELS[name]) for name in ("net", "boosting", "plugin")[: 3 if has_rule else 2]}
    own = {"net": {"patience": _PATIENCE}}
    return [
        (name, kind(**own.get(name, {}), **_length_parameter(name, options.epochs))) for name, kind in kinds.items()
    ]


def _make_selection(options: TrainOptions) -> Selection:
    if options.within is None:
        if options.confidence is not None:
            raise ValueError("`--confidence` needs a limit on the gaps: add `--within 0.05`, for example.")
        return ClosestToIdeal()
    require_gap(options.within, "`--within`")
    if options.confidence is None:
        return MostAccurateWithin(options.within)
    if not options.calibration_fraction > 0:
        raise ValueError("`--confidence` needs calibration rows: add `--calibration-fraction 0.2`, for example.")
    return MostAccurateWithin(options.within, options.confidence)
