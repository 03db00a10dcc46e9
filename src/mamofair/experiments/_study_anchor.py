"""Whether the anchor is a knob of the trade-off: the figure and the page of `study-anchor`."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from mamofair.experiments._canvas import BLUE, VERMILLION, canvas
from mamofair.experiments._markdown import table
from mamofair.experiments._study import SETTING, TITLES, add_names

_COLORS = {"Tanh": BLUE, "Sigmoid": VERMILLION}
_NAMES = {"Tanh": "HTR, c = 3", "Sigmoid": "σ(3·f)"}
_PUBLISHED = 0.1
_STRONG = 0.5  # from which rank correlation on


def draw(frame: pd.DataFrame) -> Any:
    """Return the figure: the chosen point as λ grows, and the quality of the front."""
    frame = add_names(frame)
    figure = canvas(12.0, 6.4)
    cells = figure.add_gridspec(2, 4)
    for i, panel in enumerate(TITLES.values()):
        plane, quality = figure.add_subplot(cells[0, i]), figure.add_subplot(cells[1, i])
        for kind, group in frame[frame["panel"] == panel].groupby("kind", sort=False):
            means = group.groupby("anchor")[["error", "gap", "HVt"]].mean()
            color = _COLORS[str(kind)]
            sizes = [20 + 22 * place for place in range(len(means))]
            plane.plot(means["gap"], means["error"], color=color, linewidth=1, alpha=0.6)
            plane.scatter(means["gap"], means["error"], s=sizes, color=color, edgecolors="white", zorder=3)
            quality.plot(means.index, means["HVt"], marker="o", markersize=4, color=color)
        plane.set_title(panel, fontsize=10)
        plane.set_xlabel("gap")
        quality.set_xscale("log")
        quality.axvline(_PUBLISHED, color="black", linestyle="dotted", linewidth=1)
        quality.set_xlabel("λ")
        if i == 0:
            plane.set_ylabel("error")
            quality.set_ylabel("HVt")
        for axes in (plane, quality):
            axes.grid(alpha=0.25)
            axes.tick_params(labelsize=8)
    _legend(figure)
    return figure


def _legend(figure: Any) -> None:
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], color=color, marker="o", label=_NAMES[kind]) for kind, color in _COLORS.items()]
    entries.append(Line2D([], [], color="black", linestyle="dotted", label="the paper's λ = 0.1"))
    entries.append(Line2D([], [], color="none", label="larger marks: larger λ"))
    figure.legend(handles=entries, loc="outside lower center", ncols=4, frameon=False, fontsize=10)


def describe(frame: pd.DataFrame) -> str:
    """Return the page."""
    frame = add_names(frame)
    head = f"""\
# Is the anchor a knob of the trade-off?

The paper's fairness objective is |relaxed gap| + λ·cross-entropy. It calls λ its most important hyperparameter and uses
0.1 everywhere. If λ is a knob, turning it up should make the chosen model more accurate and less fair. Made by
`mamofair reproduce study-anchor`; records: [`study-anchor.jsonl`](paper/study-anchor.jsonl).

{SETTING.format(splits=frame["repetition"].nunique())}

This page has single runs only: members with fixed weights have no anchor.

![The chosen point and the quality of fronts against λ](paper/study-anchor.png)

Means over both data sets, both notions and all splits, of the point that LINMAP picks on validation rows.
"""
    return "\n".join([head, *table(_rows(frame)), "", "## What follows", "", *_findings(frame), ""])


def _rows(frame: pd.DataFrame) -> Iterator[list[str]]:
    yield ["relaxation", "λ", "error", "gap", "HVt", "points on the front", "constant chosen"]
    for (kind, anchor), group in frame.sort_values("anchor").groupby(["kind", "anchor"]):
        means = [f"{group[name].mean():.3f}" for name in ("error", "gap", "HVt")]
        constants = f"{group['constant'].sum()} of {len(group)}"
        yield [_NAMES[str(kind)], f"{anchor:g}", *means, f"{group['points'].mean():.1f}", constants]


def _findings(frame: pd.DataFrame) -> Iterator[str]:
    """Yield whether error falls and the gap grows with λ, panel by panel, which λ is best, and what to do."""
    turns = []
    for kind, part in frame.groupby("kind", sort=False):
        panels = []
        for panel, group in part.groupby("panel", sort=False):
            ranks = group[["anchor", "error", "gap"]].rank().corr()["anchor"]
            panels.append(f"{panel} {ranks['error']:+.2f} and {ranks['gap']:+.2f}")
            turns.append(ranks["error"] < -_STRONG and ranks["gap"] > _STRONG)
        yield f"- {_NAMES[str(kind)]}: rank correlation of λ with the error and with the gap: {'; '.join(panels)}."
        yield f"- {_NAMES[str(kind)]}: {_best(part)}"
    yield (
        f"- **Verdict.** Turning λ up lowers the error and widens the gap, both with rank correlations beyond "
        f"{_STRONG:g}, in {sum(turns)} of {len(turns)} cases. "
        + (
            "That is a knob."
            if 2 * sum(turns) > len(turns)
            else "So λ is not a knob. To move along the front, change the preferences or the selection."
        )
    )


def _best(part: pd.DataFrame) -> str:
    """Return which λ has the best fronts, beside the paper's."""
    values = part.pivot_table(index=["panel", "repetition"], columns="anchor", values="HVt").dropna()
    means = values.mean()
    best = max(means.index, key=means.__getitem__)
    lead = values[best] - values[_PUBLISHED]
    margin = 2 * lead.std() / len(lead) ** 0.5
    return (
        f"the best front on average is at λ = {best:g}, HVt {means[best]:.3f}; the paper's 0.1 has "
        f"{means[_PUBLISHED]:.3f}, a difference of {lead.mean():.3f} ± {margin:.3f} (two standard errors of "
        f"{len(lead)} paired differences)."
    )
