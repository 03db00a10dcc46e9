"""From the history of a training to lines that can be drawn."""

from typing import Any

import numpy as np
import pandas as pd

from mamofair.explanations import conflict
from mamofair.report._titles import title

__all__ = ["summarize_training"]

_MAX_STEPS = 120  # more would not show in a chart
_WEIGHT = "weight of "


def summarize_training(history: pd.DataFrame) -> dict[str, Any]:
    """Return objectives, weights and hypervolume over time, and sentences about conflicts between objectives.

    Lines are rows of (step, name, low, middle, high): the smallest, the median and the largest value over the members
    that are trained side by side. They are empty for models that are not trained step by step. Of a portfolio, `model`
    names the first model that is, whose lines these are.
    """
    model = ""
    if "model" in history.columns:
        model, history = _first_trained(history)
    names = [str(name).removeprefix(_WEIGHT) for name in history.columns if str(name).startswith(_WEIGHT)]
    if not names or "step" not in history.columns or history.empty:
        return {"model": model, "objectives": [], "weights": [], "hypervolume": [], "told": []}
    thinned = _thin(history)
    volumes = history[["step", "hypervolume"]].dropna() if "hypervolume" in history.columns else pd.DataFrame()
    measured = any(str(name).startswith("cosine of ") for name in history.columns)
    return {
        "model": model,
        "objectives": _lines(thinned, names, names),
        "weights": _lines(thinned, [_WEIGHT + name for name in names], names),
        "hypervolume": _thin(volumes).drop_duplicates("step").to_numpy() if len(volumes) else [],
        "told": conflict(history).sentences() if measured else [],
    }


def _first_trained(history: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    weights = history.filter(like=_WEIGHT)
    trained = history[weights.notna().all(axis=1)] if weights.shape[1] else history.iloc[:0]
    model = str(trained["model"].iloc[0]) if len(trained) else ""
    return model, trained[trained["model"] == model]


def _thin(history: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of at most `_MAX_STEPS` evenly spread steps, including the first and the last."""
    steps = history["step"].unique()
    kept = np.unique(np.linspace(0, len(steps) - 1, _MAX_STEPS).round().astype(int))
    return history[history["step"].isin(steps[kept])]


def _lines(history: pd.DataFrame, columns: list[str], names: list[str]) -> list[list[Any]]:
    by_step = history.groupby("step")[columns]
    low, middle, high = by_step.min(), by_step.median(), by_step.max()
    return [
        [step, title(name), low.at[step, column], middle.at[step, column], high.at[step, column]]
        for column, name in zip(columns, names, strict=True)
        for step in middle.index
    ]
