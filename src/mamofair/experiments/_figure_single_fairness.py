"""The paper's Figure 2: error against gap for all methods, a column for each data set, a row for each notion."""

from collections.abc import Collection
from typing import Any

import pandas as pd

from mamofair.experiments._canvas import BLACK, BLUE, GRAY, GREEN, ORANGE, PURPLE, SKY, VERMILLION, canvas
from mamofair.experiments._spec import DATA

#: Marker and color of each method, in order of appearance: no two share both, and few share either.
_COLORS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
_TITLES = {"demographic_parity": "|DDP|", "equal_opportunity": "|DEO|"}


def draw(
    frame: pd.DataFrame,
    *,
    ours: Collection[str] = ("MF1", "MF2", "mamofair"),
    unconstrained: str = "Unc last",
    constant: str = "Con",
) -> Any:
    """Return the figure.

    Parameters
    ----------
    frame
        A row for each data set, notion and method: `data`, `notion`, `method`, means `error` and `gap` over splits with
        deviations `error_std` and `gap_std`, and `told`, whether the method uses the attribute to predict. Panels,
        methods and legend follow the order of the rows; without rows there is no panel.
    ours
        The methods to emphasise.
    unconstrained
        The method whose error is the dotted line: an unconstrained model, not LINMAP's pick of its snapshots.
    constant
        The method that is far off: it is drawn at the upper edge with its error beside it, to leave room for the
        others.
    """
    if frame.empty:
        raise ValueError("The figure needs at least one row of results: found none.")
    data, notions = frame["data"].unique(), frame["notion"].unique()
    styles = _styles(frame, ours)
    figure = canvas(2 + 2.5 * len(data), 1.2 + 2.5 * len(notions))
    cells = figure.add_gridspec(len(notions), len(data))
    for (name, notion), part in frame.groupby(["data", "notion"], sort=False):
        row, column = list(notions).index(notion), list(data).index(name)
        panel = figure.add_subplot(cells[row, column])
        far = part["method"].eq(constant) & (part["method"].nunique() > 1)
        _draw_panel(panel, part[~far], styles, unconstrained)
        for _, record in part[far].iterrows():
            _draw_far(panel, record["gap"], record["error"], styles[constant])
        panel.set_xlabel(_TITLES.get(str(notion), str(notion).replace("_", " ")))
        panel.set_title(DATA.get(str(name), str(name)), fontsize=11)
        if column == 0:
            panel.set_ylabel("error")
    _legend(figure, frame, styles, unconstrained)
    return figure


def _styles(frame: pd.DataFrame, ours: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return marker, color, fill and size for each method."""
    aware = set(frame.loc[frame["told"], "method"]) if "told" in frame else set()
    styles = {}
    for i, method in enumerate(frame["method"].unique()):
        color, main = _COLORS[i % len(_COLORS)], method in ours
        styles[method] = {
            "marker": _MARKERS[i % len(_MARKERS)],
            "color": color,
            "markerfacecolor": "white" if method in aware else color,
            "markeredgecolor": BLACK if main else color,
            "markeredgewidth": 1.6,
            "markersize": 11 if main else 7.5,
            "zorder": 4 if main else 3,
        }
    return styles


def _draw_panel(panel: Any, part: pd.DataFrame, styles: dict[str, dict[str, Any]], unconstrained: str) -> None:
    for row in part.to_dict("records"):
        style = styles[row["method"]]
        spread = {"xerr": row["gap_std"], "yerr": row["error_std"], "elinewidth": 1.2, "ecolor": style["color"]}
        panel.errorbar(row["gap"], row["error"], linestyle="none", **spread, **style)
    for level in part.loc[part["method"] == unconstrained, "error"]:
        panel.axhline(level, color=GRAY, linestyle="dotted", linewidth=1.5, zorder=1)
    panel.set_xlim(left=min(-0.005, panel.get_xlim()[0]))
    panel.grid(alpha=0.25)
    panel.tick_params(labelsize=9)


def _draw_far(panel: Any, gap: float, error: float, style: dict[str, Any]) -> None:
    """Draw a method above the panel's range: where its gap is, at the edge, with its error as a number."""
    low, high = panel.get_ylim()
    panel.set_ylim(low, high + 0.12 * (high - low))
    place = {"xycoords": panel.get_xaxis_transform(), "textcoords": "offset points"}
    panel.plot(gap, 0.93, transform=panel.get_xaxis_transform(), linestyle="none", **style)
    panel.annotate(f"↑ {error:.2f}", (gap, 0.93), (8, 0), va="center", fontsize=9, **place)


def _legend(figure: Any, frame: pd.DataFrame, styles: dict[str, dict[str, Any]], unconstrained: str) -> None:
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], linestyle="none", label=method, **style) for method, style in styles.items()]
    if unconstrained in styles:
        entries.append(Line2D([], [], color=GRAY, linestyle="dotted", label=f"error of {unconstrained}"))
    if "told" in frame and frame["told"].any():
        open_mark: dict[str, Any] = {"marker": "o", "markerfacecolor": "white", "markersize": 7.5, "color": GRAY}
        entries.append(Line2D([], [], linestyle="none", label="open: told the attribute to predict", **open_mark))
    figure.legend(handles=entries, loc="outside lower center", ncols=min(len(entries), 6), frameon=False, fontsize=10)
