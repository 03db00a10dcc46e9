"""Plots of fronts and calibration, from plain frames. Drawing needs matplotlib: `pip install "mamofair[report]"`.

>>> import pandas as pd
>>> frame = pd.DataFrame({"error": [0.14, 0.16], "demographic_parity[sex]": [0.18, 0.02]})  # as `Front.frame()` is
>>> figure = plot_front(frame, selected=1)
>>> parallel = plot_parallel(frame)
>>> bins = {"attribute": "sex", "group": ["f", "m"], "score": 0.7, "rate": 0.6, "low": 0.5, "high": 0.7, "rows": 50}
>>> calibration = plot_calibration(pd.DataFrame(bins))
>>> new_figure(4, 3).get_size_inches().tolist()
[4.0, 3.0]
"""

from typing import Any

import pandas as pd

__all__ = ["new_figure", "plot_calibration", "plot_front", "plot_parallel"]

# Colors that color-blind people can distinguish (Okabe and Ito).
_BLUE, _ORANGE, _GREEN, _GRAY, _BLACK = "#0072B2", "#D55E00", "#009E73", "#999999", "#000000"
_COLORS = (_BLUE, _ORANGE, _GREEN, "#CC79A7", "#E69F00", "#56B4E9")


def plot_front(
    frame: pd.DataFrame,
    *,
    selected: int | None = None,
    intervals: pd.DataFrame | None = None,
    frontier: pd.DataFrame | None = None,
    ax: Any = None,
) -> Any:
    """Draw error against each gap and each objective of your own, one panel each, and return the matplotlib figure.

    Parameters
    ----------
    frame
        A table as `Front.frame()` gives it: `error`, columns named `notion[attribute]`, and custom objectives.
    selected
        The row to highlight.
    intervals
        A table as returned by `metrics.front_intervals`, to draw as error bars.
    frontier
        The best trade-off found: a table as returned by `limits.frontier(...).frame()`.
    ax
        Matplotlib axes to draw into, one per panel; by default those of a new figure.

    Examples
    --------
    >>> frame = pd.DataFrame({"error": [0.14, 0.16], "demographic_parity[sex]": [0.18, 0.02]})  # as `Front.frame()` is
    >>> figure = plot_front(frame, selected=1)
    """
    names, cost = _others(frame), str(frame.columns[0])
    panels = _new_axes(len(names)) if ax is None else list(pd.Series([ax]).explode())
    for panel, name in zip(panels, names, strict=True):
        best = frame.sort_values([name, cost])
        outline = best[best[cost] <= best[cost].cummin()]  # the best points for this gap alone
        panel.plot(outline[name], outline[cost], drawstyle="steps-post", color=_GRAY, linewidth=1, zorder=1)
        panel.scatter(frame[name], frame[cost], s=18, color=_BLUE, label="points of the front", zorder=2)
        if selected is not None:
            point = frame.iloc[selected]
            panel.scatter(point[name], point[cost], s=110, marker="*", color=_ORANGE, label="selected", zorder=3)
        if intervals is not None:
            _draw_bars(panel, frame, intervals, name)
        if frontier is not None:
            _draw_frontier(panel, frontier[frontier["criterion"] == name])
        panel.set_xlabel(f"gap: {_title(name)}" if "[" in name else _title(name))
        panel.grid(alpha=0.3)
        panel.set_xlim(left=0)
    panels[0].set_ylabel(_title(cost))
    panels[-1].legend(frameon=False)
    return panels[0].figure


def plot_parallel(frame: pd.DataFrame, *, selected: int | None = None, ax: Any = None) -> Any:
    """Draw parallel coordinates, a line per point and an axis per objective, and return the matplotlib figure.

    Useful for three or more objectives; `plot_front` shows two at a time. Each axis runs from the best value to the
    worst. The black line is the most accurate point.

    Parameters
    ----------
    frame
        A table as returned by `Front.frame()`.
    selected
        The row to highlight.
    ax
        Matplotlib axes to draw into; by default those of a new figure.

    Examples
    --------
    >>> gaps = {"demographic_parity[sex]": [0.18, 0.02], "demographic_parity[race]": [0.1, 0.05]}
    >>> figure = plot_parallel(pd.DataFrame({"error": [0.14, 0.16], **gaps}), selected=1)
    """
    values = frame[[str(frame.columns[0]), *_others(frame)]]
    panel = new_figure(2.2 * values.shape[1], 3.4).subplots() if ax is None else ax
    low, span = values.min(), values.max() - values.min()
    places = ((values - low) / span.where(span > 0, 1)).reset_index(drop=True)
    panel.plot(places.T.to_numpy(), color=_BLUE, alpha=0.35, linewidth=1)
    panel.plot(places.loc[int(places.iloc[:, 0].argmin())].to_numpy(), color=_BLACK, label="most accurate")
    if selected is not None:
        panel.plot(places.loc[selected].to_numpy(), color=_ORANGE, linewidth=3, marker="o", label="selected")
    for i, name in enumerate(values.columns):
        panel.axvline(i, color=_GRAY, linewidth=0.8, zorder=0)
        panel.annotate(f"{values[name].max():.3f}", (i, 1.03), ha="center")
        panel.annotate(f"{low[name]:.3f}", (i, -0.03), ha="center", va="top")
    panel.set_xticks(range(values.shape[1]), [_title(name).replace(" [", "\n[") for name in values.columns])
    panel.set(yticks=[], ylim=(-0.12, 1.12))
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)
    panel.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return panel.figure


def plot_calibration(frame: pd.DataFrame, *, threshold: float | None = None, ax: Any = None) -> Any:
    """Draw observed rates against mean scores, one panel per attribute, and return the matplotlib figure.

    Each line is a group, with intervals for its rates; on the dashed diagonal, scores equal rates.

    Parameters
    ----------
    frame
        A table as returned by `Audit.calibration()`.
    threshold
        The score above which a decision is favorable, drawn as a vertical line.
    ax
        Matplotlib axes to draw into, one per attribute; by default those of a new figure.
    """
    attributes = [str(name) for name in frame["attribute"].unique() if name] or [""]
    panels = _new_axes(len(attributes)) if ax is None else list(pd.Series([ax]).explode())
    for panel, attribute in zip(panels, attributes, strict=True):
        panel.axline((0, 0), slope=1, color=_GRAY, linewidth=1, linestyle="--", zorder=1)
        if threshold is not None:
            panel.axvline(threshold, color=_BLACK, linewidth=1, linestyle=":", label="threshold", zorder=1)
        lines = frame[(frame["attribute"] == attribute) & (frame["rows"] > 0)].groupby("group", sort=False)
        for place, (group, line) in enumerate(lines):
            color = _COLORS[place % len(_COLORS)]
            panel.vlines(line["score"], line["low"], line["high"], color=color, alpha=0.4, linewidth=1.5, zorder=2)
            panel.plot(line["score"], line["rate"], color=color, marker="o", markersize=4, label=str(group), zorder=3)
        panel.set(xlabel="mean score", title=attribute, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        panel.grid(alpha=0.3)
        panel.legend(frameon=False)
    panels[0].set_ylabel("observed rate")
    return panels[0].figure


def _draw_bars(panel: Any, frame: pd.DataFrame, intervals: pd.DataFrame, name: str) -> None:
    style = {"color": _BLUE, "alpha": 0.25, "linewidth": 1, "zorder": 1}
    cost = str(frame.columns[0])
    if name in intervals:  # a measure of the user's own has none
        panel.hlines(frame[cost], intervals[name, "low"], intervals[name, "high"], **style)
    panel.vlines(frame[name], intervals[cost, "low"], intervals[cost, "high"], **style)


def _draw_frontier(panel: Any, line: pd.DataFrame) -> None:
    band = {"color": _GREEN, "alpha": 0.15, "linewidth": 0, "zorder": 0, "label": "with more rows, perhaps"}
    panel.fill_between(line["gap"], line["more_rows"], line["error"], **band)
    panel.plot(line["gap"], line["error"], color=_GREEN, linestyle="--", label="best found", zorder=0)


def _others(frame: pd.DataFrame) -> list[str]:
    """Return the columns beside the performance: gaps, and objectives of the user's own, but not names of models."""
    return [str(name) for name in frame.columns[1:] if pd.api.types.is_numeric_dtype(frame[name])]


def _title(name: str) -> str:
    return name.replace("_", " ").replace("[", " [")


def new_figure(width: float, height: float) -> Any:
    """Return an empty matplotlib figure of this size in inches, not managed by pyplot."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('Plots need matplotlib: pip install "mamofair[report]"') from error
    return Figure(figsize=(width, height), layout="constrained")


def _new_axes(count: int) -> list[Any]:
    return list(new_figure(4.5 * count, 3.4).subplots(1, count, sharey=True, squeeze=False)[0])
