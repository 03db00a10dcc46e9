"""What other rows would change: an estimate of what more of them bring, and decisions that flip with others."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from mamofair.arbitrariness import arbitrariness
from mamofair.cli._console import print_note
from mamofair.cli._models import takes_tables
from mamofair.cli._train_options import TrainOptions
from mamofair.estimators import FairClassifier
from mamofair.limits import frontier
from mamofair.tables import Table

__all__ = ["LIMIT_ROWS", "estimate_limit", "measure_arbitrariness"]

#: For the estimated limit where a quick rule is compared with; more rows change little and take long.
LIMIT_ROWS = 20_000


def estimate_limit(
    options: TrainOptions, estimator: FairClassifier, read: Callable[[], Table], rows: int
) -> pd.DataFrame | None:
    """Return the best trade-off found, and what more rows may bring; print why, if there is none.

    `read` returns the training rows, or a sample of these `rows`. Where a network or boosting was trained, a quick
    plug-in rule is what it is compared with.
    """
    if not options.limit:
        return None
    if options.strata is not None or options.unit is not None:
        where = "with units" if options.strata is None else "for gaps within strata"
        print_note(f"What more rows may bring is not estimated {where}.")
        return None
    print_note("Estimating what more rows may bring (`--no-limit` skips this).")
    more: dict[str, Any] = {"crossed": options.crossed, "random_state": options.seed, "effort": options.effort}
    more |= {"performance": estimator.performance, "selection": estimator.selection, "min_group": estimator.min_group}
    more |= {"model": estimator, "rows": rows}
    try:
        train = read()
        if not takes_tables(options):
            order = np.random.default_rng(options.seed).permutation(len(train))
            train = train[np.sort(order[:LIMIT_ROWS])]
            more |= {"model": None, "rows": None, "effort": "fast"}
        more |= {"sensitive_features": train.sensitive, "sample_weight": train.weight, "favorable": train.favorable}
        return frontier(train.X, train.decode_labels(), notions=list(options.notion), **more).frame()
    except ValueError as error:  # a notion without a rule, or a group with too few rows
        print_note(f"What more rows may bring cannot be estimated: {error}")
    except KeyboardInterrupt:
        print_note("Skipped the estimate of what more rows may bring.")
    return None


def measure_arbitrariness(options: TrainOptions, estimator: FairClassifier, train: Table) -> dict[str, Any] | None:
    """Return how many decisions of each point would flip with other rows to learn from."""
    print_note("Measuring how many decisions flip with other training rows.")
    X, y, people = train.X, train.decode_labels(), train.sensitive
    try:
        luck = arbitrariness(estimator, X, y, sensitive_features=people, random_state=options.seed)
    except KeyboardInterrupt:
        print_note("Skipped the measurement of flips.")
        return None
    table = luck.frame().round(6)
    sentences = [luck.sentence(row) for row in range(len(table))]
    return {"rows": luck.rows, "table": table.to_dict("list"), "sentences": sentences}
