"""What a choice within limits is worth: the true error and gaps of chosen models, in worlds whose truth is known.

    python bench/choice.py fit FOLDER/now [--learners default] [--efforts fast] [--rows 1000 5000 15000] [--draws 10]
    PYTHONPATH=OLDER/src python bench/choice.py fit FOLDER/before
    python bench/choice.py table FOLDER [--out docs/results/choice.md]

`fit` trains models on draws of each world (`bench/worlds.py`) and keeps, for every point of their fronts, its counts
and what is true of it, on 60,000 fresh rows; with an older version of the code on the path, that of its fronts. `table`
applies rules of choice (`bench/choice_rules.py`) to the fronts of every subfolder, for draws that all of them have.

"loss" is the true error above that of the oracle, the most accurate point of all fronts of a draw whose true gaps keep
the limit, plus what the largest true gap between groups of at least 100 people exceeds the limit by. "over" is the
share of draws in which that is more than .01, "worse" the share in which one decision for everyone has a smaller true
error. "optimism" is how much larger the true value is than the counted one, for the error of the most accurate point
and for the largest gap, on average over a front's points. "supports" is the share of gaps for which the true gap is
at most the limit that the rows are said to support.
"""

import argparse
import pickle
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from worlds import WORLDS, World

from mamofair import (
    FairBoostingClassifier,
    FairNetClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
)
from mamofair._rows.groups import read_groups
from mamofair.fronts import Counter, Front, Point, Tally

FRESH = 60_000
LIMITS = (0.05, 0.10)
LEARNERS = {
    "default": lambda notions, effort, **given: FairPortfolioClassifier(notions=notions, effort=effort, **given),
    "plugin": lambda notions, effort, **given: FairPlugInClassifier(notions=notions, effort=effort, **given),
    "boosting": lambda notions, effort, **given: FairBoostingClassifier(notions=notions, **given),
    "net": lambda notions, effort, **given: FairNetClassifier(notions=notions, **given),
}


@dataclass(frozen=True, eq=False)
class Fit:
    """A front, what is true of its points, and how many rows each group had."""

    world: str
    rows: int
    draw: int
    learner: str
    effort: str
    front: Front
    truth: list[Tally]
    sizes: dict[str, dict[str, int]]
    seconds: float


def fit(world: World, rows: int, draw: int, learner: str, effort: str) -> Fit:
    """Train on one draw, and measure every point of the front on fresh rows."""
    sample = world.draw(rows, np.random.default_rng([world.seed, rows, draw]))
    fresh = world.draw_evenly(FRESH, np.random.default_rng([world.seed, draw, 1]))
    model = LEARNERS[learner](list(world.notions), effort, performance=world.performance, random_state=draw)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(sample.X, sample.y, sensitive_features=dict(sample.groups), units=sample.units)
    seconds = time.process_time() - begun
    truth = Counter.of(fresh.y, read_groups(dict(fresh.groups)), fresh.weight)(model.decide_all(fresh.X))
    points = tuple(Point(point.valid, model=point.model) for point in model.front_)
    front = replace(model.front_, points=points)
    people = np.arange(len(sample.y)) if sample.units is None else sample.units
    sizes = {
        name: {group: len(np.unique(people[column == group])) for group in np.unique(column).tolist()}
        for name, column in sample.groups.items()
    }
    return Fit(world.name, rows, draw, learner, effort, front, truth, sizes, seconds)


def read_fits(folder: Path) -> Iterator[dict[str, Fit]]:
    """Yield the fits of one draw by the subfolder that they are in, for draws that all of them have."""
    kinds = sorted(path for path in folder.iterdir() if path.is_dir())
    for name in sorted(set.intersection(*({path.name for path in kind.glob("*.pickle")} for kind in kinds))):
        yield {kind.name: pickle.loads((kind / name).read_bytes()) for kind in kinds}


def evaluate(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return what rules lead to, how optimistic fronts are, and what their rows are said to support."""
    from choice_rules import RULES, Truth, choices, optimism, support  # which older versions, with `fit`, do not know

    chosen, optimistic, supported = [], [], []
    for fits in read_fits(folder):
        any_fit = next(iter(fits.values()))
        tag = {name: getattr(any_fit, name) for name in ("world", "rows", "draw", "learner", "effort")}
        fronts = {kind: (one.front, Truth.of(one.front, one.truth, one.sizes)) for kind, one in fits.items()}
        chosen += [tag | outcome for outcome in choices(fronts, LIMITS, RULES)]
        for kind, (front, truth) in fronts.items():
            known = tag | {"front": kind, "seconds": fits[kind].seconds}
            optimistic.append(known | optimism(front, truth, fits[kind].sizes))
            supported += [known | found for found in support(front, truth)]
    return pd.DataFrame(chosen), pd.DataFrame(optimistic), pd.DataFrame(supported)


def summarize(folder: Path) -> str:
    """Return Markdown tables: of rules, of worlds, and of what fronts say of themselves."""
    chosen, optimistic, supported = evaluate(folder)
    chosen["over"] = chosen["excess"] > 0.01
    figures = {
        "loss": ("loss", "mean"),
        "loss, 90 %": ("loss", lambda values: values.quantile(0.9)),
        "true error": ("error", "mean"),
        "over": ("over", "mean"),
        "excess of all groups, 90 %": ("excess of all", lambda values: values.quantile(0.9)),
        "worse": ("worse", "mean"),
        "draws": ("draw", "size"),
    }
    few = {name: figures[name] for name in ("loss", "true error", "over", "worse", "draws")}
    main = chosen[chosen["front"].eq(chosen["rule"])]  # what users of either version got
    honest = optimistic.groupby(["learner", "effort", "front"])[["first", "gap", "seconds"]].mean()
    honest.columns = ["optimism, error", "optimism, largest gap", "CPU seconds"]
    cover = supported.groupby(["learner", "effort", "front"]).agg(
        supports=("covers", "mean"), limit=("limit", "mean"), gaps=("covers", "size")
    )
    default = chosen[chosen["learner"].eq("default")]
    of_worlds = main.groupby(["learner", "effort", "limit", "world", "rule"], sort=False).agg(**few)
    of_sizes = main.groupby(["learner", "effort", "limit", "rows", "rule"], sort=False).agg(**few)
    parts = [
        "## Rules\n\nThe default learner, all worlds and sizes.\n\n"
        + markdown(default.groupby(["effort", "limit", "front", "rule"], sort=False).agg(**figures)),
        "## Worlds\n\n" + markdown(of_worlds),
        "## Sizes\n\n" + markdown(of_sizes),
        "## What fronts say of themselves\n\n" + markdown(honest.join(cover)),
    ]
    return "\n\n".join(parts)


def markdown(table: pd.DataFrame) -> str:
    """Return a Markdown table of figures, with the index as its first columns."""
    frame = table.reset_index()
    lines = [f"| {' | '.join(map(str, frame.columns))} |", "|---" * len(frame.columns) + "|"]
    for row in frame.itertuples(index=False):
        cells = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["fit", "table"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS))
    parser.add_argument("--learners", nargs="+", default=["default"])
    parser.add_argument("--efforts", nargs="+", default=["fast"])
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000, 5_000, 15_000])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=100, help="the first draw; the rule was settled on 0 to 5")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.action == "table":
        page = summarize(given.folder)
        print(page)
        if given.out is not None:
            given.out.write_text(f"{written_by_hand(given.out)}\n\n{page}\n")
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    kinds = (given.rows, given.worlds, given.learners, given.efforts)
    for draw, (rows, world, learner, effort) in product(range(given.first, given.first + given.draws), product(*kinds)):
        path = given.folder / f"{world}-{rows}-{draw}-{learner}-{effort}.pickle".replace(" ", "_")
        if not path.exists():
            done = fit(WORLDS[world], rows, draw, learner, effort)
            path.write_bytes(pickle.dumps(done))
            print(path.stem, len(done.front), f"{done.seconds:.1f} s", flush=True)


def written_by_hand(page: Path) -> str:
    """Return what stands above the tables of a page."""
    text = page.read_text() if page.is_file() else "# A choice you can use"
    return text.partition("\n## Rules")[0].rstrip()


if __name__ == "__main__":
    main()
