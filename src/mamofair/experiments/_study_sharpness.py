"""How sharp a relaxation should be: the figure and the page of `study-sharpness`."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from mamofair.experiments._canvas import BLUE, GRAY, PURPLE, VERMILLION, canvas
from mamofair.experiments._markdown import table
from mamofair.experiments._study import SETTING, TITLES, add_names

_COLORS = {"Tanh": BLUE, "Sigmoid": VERMILLION, "Linear": GRAY, "ConvexConcave": PURPLE}
_NAMES = {"Tanh": "HTR, tanh(c·max(0, f))", "Sigmoid": "σ(c·f)", "Linear": "linear", "ConvexConcave": "convex-concave"}
_PROBES = {
    "distance": "|relaxed − exact gap|",
    "live": "share of live rows",
    "norm": "length of the gradient",
    "noise": "its variance between batches",
    "cosine": "cosine with accuracy's",
}
RECOMMENDATION = """\
- **Recommendation.** For a single run, use the two-sided σ(c·f) with c between 2 and 8; our default is 3. The paper's c
  = 3 is a good choice for HTR. From c = 16 on, few rows have a gradient, and the means of single runs are lower. In a
  population, neither the kind of relaxation nor c makes a visible difference here. Neighbouring values of c cannot be
  distinguished with so few splits: the standard errors above are over panels and c, not over many splits."""
_LOGARITHMIC = ("distance", "norm", "noise")


def draw(frame: pd.DataFrame) -> Any:
    """Return the figure: quality against sharpness in each panel of the paper, and below what gradients are like."""
    frame = add_names(frame)
    figure = canvas(12.0, 8.4)
    above, below = figure.subfigures(2, 1, height_ratios=(2, 1.15))
    panels = above.subplots(2, len(TITLES))
    for row, population in zip(panels, (False, True), strict=True):
        for axes, panel in zip(row, TITLES.values(), strict=True):
            part = frame[(frame["panel"] == panel) & (frame["population"] == population)]
            _draw_lines(axes, part, "HVt")
            axes.set_title(f"{panel}, {'population' if population else 'single run'}", fontsize=10)
        row[0].set_ylabel("HVt")
    for axes, (name, title) in zip(below.subplots(1, len(_PROBES)), _PROBES.items(), strict=True):
        _draw_lines(axes, frame[~frame["population"]], name)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("c")
        if name in _LOGARITHMIC:
            axes.set_yscale("log")
            axes.tick_params(axis="y", which="both", labelsize=7)
    _legend(below)
    return figure


def _draw_lines(axes: Any, part: pd.DataFrame, column: str) -> None:
    """Draw a line over c for relaxations that have one, and a level for those that do not."""
    for kind, group in part.groupby("kind", sort=False):
        means = group.groupby("c", dropna=False)[column].mean()
        if means.index.notna().all():
            axes.plot(means.index, means, marker="o", markersize=4, color=_COLORS[str(kind)])
        else:
            axes.axhline(means.mean(), color=_COLORS[str(kind)], linestyle="dashed", linewidth=1.3)
    axes.set_xscale("log", base=2)
    axes.set_xticks([0.5, 1, 2, 4, 8, 16, 32], ["½", "1", "2", "4", "8", "16", "32"])
    axes.grid(alpha=0.25)
    axes.tick_params(labelsize=8)


def _legend(figure: Any) -> None:
    from matplotlib.lines import Line2D

    entries = [
        Line2D([], [], color=color, label=_NAMES[kind], linestyle="solid" if kind in ("Tanh", "Sigmoid") else "dashed")
        for kind, color in _COLORS.items()
    ]
    figure.legend(handles=entries, loc="outside lower center", ncols=4, frameon=False, fontsize=10)


def describe(frame: pd.DataFrame) -> str:
    """Return the page."""
    frame = add_names(frame)
    splits = frame["repetition"].nunique()
    head = f"""\
# How sharp should a relaxation be?

The paper chooses c = 3 for its relaxation tanh(c·max(0, f)), says that a larger c is closer to the true gap but has a
worse gradient, and leaves "the impact of this constant c on the optimization process for various relaxations" open.
Made by `mamofair reproduce study-sharpness`; records: [`study-sharpness.jsonl`](paper/study-sharpness.jsonl).

{SETTING.format(splits=splits)}

![Quality and gradients against sharpness](paper/study-sharpness.png)

Means over both data sets, both notions and all splits; the probes are of single runs. *live* is the share of rows with
more than 1 % of the relaxation's steepest slope, *variance* the variance of the gradient between batches of 512 rows,
in units of the squared length of its mean, *cosine* its cosine with the gradient of the cross-entropy.
"""
    return "\n".join([head, *table(_rows(frame)), "", "## What follows", "", *_findings(frame), ""])


def _rows(frame: pd.DataFrame) -> Iterator[list[str]]:
    yield ["relaxation", "HVt, single run", "HVt, population", "distance", "live", "length", "variance", "cosine"]
    volumes = frame[frame["population"]].groupby("relaxation")["HVt"].mean()
    single = frame[~frame["population"]].sort_values(["kind", "c"], ascending=[False, True])
    for name, group in single.groupby("relaxation", sort=False):
        probes = [f"{group[column].mean():.3g}" for column in _PROBES if column != "cosine"]
        population = f"{volumes[name]:.3f}" if name in volumes else "–"
        yield [f"`{name}`", f"{group['HVt'].mean():.3f}", population, *probes, f"{group['cosine'].mean():+.2f}"]


def _findings(frame: pd.DataFrame) -> Iterator[str]:
    """Yield what the means say, with figures: the paper's sentence on c, the best c, and a recommendation."""
    single = frame[~frame["population"]]
    for kind in ("Tanh", "Sigmoid"):
        means = single[single["kind"] == kind].groupby("c")[["distance", "live", "noise"]].mean()
        low, high = means.iloc[0], means.iloc[-1]
        closer = "closer to" if high["distance"] < low["distance"] else "no closer to"
        ratio = high["noise"] / low["noise"]
        noisier = "noisier" if ratio > 1.5 else "less noisy" if ratio < 1 / 1.5 else "about as noisy"
        yield (
            f"- {_NAMES[kind]}: from c = {means.index[0]:g} to {means.index[-1]:g} the relaxed gap is {closer} the "
            f"exact one ({low['distance']:.3f} to {high['distance']:.3f}), its gradient {noisier} ({low['noise']:.2g} "
            f"to {high['noise']:.2g}), and {low['live']:.0%} to {high['live']:.0%} of the rows have one."
        )
    for population, what in ((False, "a single run"), (True, "a population")):
        part = frame[frame["population"] == population]
        yield from _best(part, what)
        yield _contrast(part, what)
    yield RECOMMENDATION


def _contrast(part: pd.DataFrame, what: str) -> str:
    """Return how far the two-sided relaxation is ahead at the same c, and how moderate c fare beside extreme ones."""
    values = part.pivot_table(index=["panel", "repetition", "c"], columns="kind", values="HVt").dropna(
        subset=["Sigmoid", "Tanh"]
    )
    lead = values["Sigmoid"] - values["Tanh"]
    margin = 2 * lead.std() / len(lead) ** 0.5
    c = values.index.get_level_values("c")
    bands = {"c ≤ 1": c <= 1, "2 ≤ c ≤ 8": (c >= 2) & (c <= 8), "c ≥ 16": c >= 16}
    means = {name: values[rows][["Tanh", "Sigmoid"]].mean() for name, rows in bands.items()}
    levels = "; ".join(f"{name} {mean['Tanh']:.3f} and {mean['Sigmoid']:.3f}" for name, mean in means.items())
    return (
        f"- {what.capitalize()}, at the same c: σ minus HTR {lead.mean():+.3f} ± {margin:.3f} (two standard errors of "
        f"{len(lead)} paired differences). Mean HVt of HTR and of σ: {levels}."
    )


def _best(part: pd.DataFrame, what: str) -> Iterator[str]:
    """Yield the best relaxation by mean HVt, those that are not clearly worse by paired differences, and the worst."""
    values = part.pivot_table(index=["panel", "repetition"], columns="relaxation", values="HVt", sort=False).dropna()
    means = values.mean()
    best, worst = (choose(values.columns, key=means.__getitem__) for choose in (max, min))
    lag = values.rsub(values[best], axis=0)
    error = lag.std() / len(lag) ** 0.5
    level = [f"`{name}`" for name in values if name != best and lag[name].mean() <= 2 * error[name]]
    others = f"; not clearly worse, by two standard errors of {len(lag)} paired differences: {', '.join(level)}"
    yield (
        f"- Best for {what}: `{best}`, HVt {means[best]:.3f}{others if level else ''}. Worst: `{worst}`, "
        f"{means[worst]:.3f}."
    )
