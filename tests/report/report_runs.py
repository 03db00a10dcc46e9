"""Runs for tests of the page: decisions drawn at random, measured exactly, and no model behind them."""

from copy import deepcopy
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from mamofair._rows.groups import read_groups
from mamofair.estimators import FairClassifier
from mamofair.fronts import Counter, Front, Point
from mamofair.metrics import summarize_scores
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS, column
from mamofair.runs import Run

EVIL = "<script>alert(1)</script>"
EVIL_ATTRIBUTE = """"><img src=x onerror="alert(2)">['\\].{{3}}\u2028"""


class Measured(FairClassifier):
    """A fitted estimator that cannot predict."""

    notions = "demographic_parity"

    def new_learner(self):
        raise NotImplementedError


def make_run(
    points: int = 40,
    *,
    attributes: tuple[str, ...] = ("sex", "race"),
    names: tuple[str, ...] = ("a", "b"),
    notions: tuple = (DEMOGRAPHIC_PARITY,),
    test: bool = True,
    rows: int = 600,
    models: tuple[str, ...] = ("",),
    selection: Any = None,
    scores: bool = True,
    favorable: str = "yes",
    empty: bool = False,
    custom: str = "",
    **settings: Any,
) -> Run:
    """Return a run whose points trade the gaps of each attribute for error, found by the models in turn.

    If `empty`, the first group of each attribute has no test rows. With `custom`, points have a measure of the user's
    own, `effort`, on these rows: "validation" alone, or "test" as well.
    """
    criteria = tuple((notion, attribute) for attribute in attributes for notion in notions)
    found, scored = deepcopy(_draw(points, attributes, names, rows, test))  # tests change them
    order = Front(tuple(Point(tally, member=i) for i, tally in enumerate(found[0])), criteria)
    model = Measured()
    origin = [{"member": i % 4, "step": 10 * i, "model": models[i % len(models)]} for i in range(points)]
    own = [{"effort": 0.1 + i / points} if custom else {} for i in range(points)]
    parts = zip(order.points, origin, own, strict=True)
    kept = tuple(Point(point.valid, **where, custom=effort) for point, where, effort in parts)
    model.front_ = Front(kept, criteria, custom=("effort",) if custom else ())
    efforts = tuple({"effort": one["effort"] + 0.05} for one in own) if custom == "test" else ()
    records = [
        record | ({"model": name} if name else {})
        for place, name in enumerate(models)
        for record in history(10 * points * (place + 1), criteria)
    ]
    model._chosen, model.favorable_ = None, favorable
    model.classes_ = np.array(["no", "yes"] if favorable in ("no", "yes") else ["0", "1"])
    model.selection = selection or model.selection
    model.search_ = SimpleNamespace(history=records)
    data = {"name": "loans", "rows": 2 * rows, "checksum": "c0ffee", "parts": {"validation": rows, "test": rows}}
    data["groups"] = {name: {group: {"rows": 10, "positives": 4} for group in names} for name in attributes}
    base = {"created": "2026-01-31", "data": data, "target": "approved", "favorable": favorable, "within": None}
    tests, summaries = (tuple(part[point.member] for point in order.points) for part in (found[-1], scored))
    for tally in tests if empty else ():
        for name in attributes:
            tally.counts[name][0] = 0
    line = pd.DataFrame({"criterion": column(*criteria[0]), "gap": [0.0, 0.1, 0.3], "error": [0.2, 0.15, 0.1]})
    line = line.assign(more_rows=line["error"] - 0.01)
    groups = dict.fromkeys(attributes, names)
    measured = tests if test else (), line, summaries if test and scores else (), efforts
    return Run(model, base | settings, groups, *measured)


@cache  # most tests ask for the same
def _draw(points, attributes, names, rows, test):
    """Return the tallies of each part, validation and test rows, and what scores are like on the last."""
    rng = np.random.default_rng(0)
    bias = rng.random((points, len(attributes))) * 0.5
    bias[0] = 0.5
    parts = [_decide(rng, bias, attributes, names, rows) for _ in range(2 if test else 1)]
    y, groups, logits = parts[-1]
    found = [Counter.of(y.astype(int), groups)(logits > 0) for y, groups, logits in parts]
    return found, [summarize_scores(own, y, groups) for own in logits]


def _decide(rng, bias, attributes, names, rows):
    codes = rng.integers(0, len(names), (rows, len(attributes)))
    merit = rng.normal(size=rows)
    y = merit + 0.8 * (codes == 0).sum(axis=1) + rng.normal(size=rows) > 0.5
    fair = 0.8 * (bias / 0.5) @ (codes.T == 0)  # at full bias as good as can be, without it blind to groups
    people = pd.DataFrame({name: np.array(names)[code] for name, code in zip(attributes, codes.T, strict=True)})
    return y, read_groups(people), merit + fair - (0.5 + 0.3 * bias.mean(axis=1)[:, None])


def history(last: int, criteria) -> list[dict[str, float]]:
    names = ["cross_entropy", *(column(*criterion) for criterion in criteria)]
    records = []
    for step in range(0, last, 10):
        for member in range(3):
            values = {name: 1 / (1 + step + member + i) for i, name in enumerate(names)}
            weights = {f"weight of {name}": 1 / len(names) for name in names}
            records.append({"epoch": step // 10, "step": step, "member": member} | values | weights)
            records[-1]["hypervolume"] = 1 - 1 / (2 + step)
    return records


LARGE = {"points": 300, "notions": (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY)}  # five objectives
PORTFOLIO = {"points": 6, "models": ("net", "boosting")}
TWO_RATES = {"points": 5, "attributes": ("sex",), "notions": (EQUALIZED_ODDS,), "names": ("a", "b", "c")}
HOSTILE = {"points": 6, "attributes": (EVIL_ATTRIBUTE, "sex"), "names": (EVIL, "</script><b>"), "target": EVIL}
