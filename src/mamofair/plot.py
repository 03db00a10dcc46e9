"""Pictures of fronts, from plain frames. Only drawing needs matplotlib: `pip install "mamofair[report]"`."""

from typing import Any

import pandas as pd

_BLUE, _ORANGE, _GRAY, _GREEN = (
    "#0072B2",
    "#D55E00",
    "#999999",
    "#009E73",
)  # told apart by color-blind people, too (Okabe and Ito)


def plot_front(
    frame: pd.DataFrame, *, selected: int | None = None, limit: pd.DataFrame | None = None, axes: Any = None
) -> Any:
    """Draw error against each gap, a panel a gap, and return the matplotlib figure.

    Parameters
    ----------
    frame
        A table as `Front.frame()` gives it: `error`, and columns named `notion[attribute]`.
    selected
        The row to point out in every panel.
    limit
        A table as `limits.frontier(…).frame()` gives it: `criterion`, `gap`, `error`, `low` and `high`, drawn behind.
    axes
        As many matplotlib axes as gaps, to draw into; by default a new figure.
    """
    gaps = [name for name in frame.columns if "[" in str(name)]
    panels = _new_axes(len(gaps)) if axes is None else list(pd.Series([axes]).explode())
    for panel, name in zip(panels, gaps, strict=True):
        if limit is not None:
            _draw_limit(panel, limit[limit["criterion"] == name])
        best = frame.sort_values([name, "error"])
        outline = best[best["error"] <= best["error"].cummin()]  # what is best for this gap alone
        panel.plot(outline[name], outline["error"], drawstyle="steps-post", color=_GRAY, linewidth=1, zorder=1)
        panel.scatter(frame[name], frame["error"], s=18, color=_BLUE, label="points of the front", zorder=2)
        if selected is not None:
            point = frame.iloc[selected]
            panel.scatter(point[name], point["error"], s=110, marker="*", color=_ORANGE, label="selected", zorder=3)
        panel.set_xlabel(f"gap: {str(name).replace('_', ' ').replace('[', ' [')}")
        panel.grid(alpha=0.3)
        panel.set_xlim(left=0)
    panels[0].set_ylabel("error")
    panels[-1].legend(frameon=False)
    return panels[0].figure


def _draw_limit(panel: Any, line: pd.DataFrame) -> None:
    panel.fill_between(line["gap"], line["low"], line["high"], color=_GREEN, alpha=0.15, linewidth=0, zorder=0)
    panel.plot(line["gap"], line["error"], color=_GREEN, linestyle="--", label="estimated limit", zorder=0)


def new_figure(width: float, height: float) -> Any:
    """Return an empty matplotlib figure of that size in inches, which pyplot knows nothing of."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('Plots need matplotlib: pip install "mamofair[report]"') from error
    return Figure(figsize=(width, height), layout="constrained")


def _new_axes(count: int) -> list[Any]:
    return list(new_figure(4.5 * count, 3.4).subplots(1, count, sharey=True, squeeze=False)[0])
