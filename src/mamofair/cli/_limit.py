"""The line behind a front: what fairness must cost on this data, whatever the model; an estimate."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from mamofair.cli._asked import Asked
from mamofair.cli._data import Data
from mamofair.cli._notes import note
from mamofair.limits import frontier

_MOST_ROWS = 20_000  # more tell little, and take long


def estimate(asked: Asked, data: Data, rest: np.ndarray) -> pd.DataFrame | None:
    """Return the estimated limit, if it is wanted, from rows to learn from; a note says why there is none."""
    if not asked.limit:
        return None
    note("Estimating how good any model could be (`--no-limit` leaves that out).")
    rows = np.sort(np.random.default_rng(asked.seed).permutation(rest)[:_MOST_ROWS])
    options = {"crossed": asked.crossed, "favorable": data.favorable, "random_state": asked.seed}
    try:
        X, y, people = data.X.iloc[rows], data.y[rows], data.sensitive.iloc[rows]
        best = frontier(X, y, sensitive_features=people, notions=list(asked.notion), **options)
    except ValueError as error:  # notions it has no rule for, groups it has too few rows of
        note(f"There is no estimated limit: {error}")
    except KeyboardInterrupt:
        note("The estimated limit is left out.")
    else:
        return best.frame()
    return None


def least_error(limit: pd.DataFrame, gaps: Mapping[str, float]) -> float:
    """Return the error below which no model with such gaps can be expected.

    >>> line = pd.DataFrame({"criterion": "dp[sex]", "gap": [0.0, 0.1], "error": [0.2, 0.1]})
    >>> least_error(line, {"dp[sex]": 0.05})
    0.15
    """
    lines = {name: limit[limit["criterion"] == name] for name in gaps if name in set(limit["criterion"])}
    return round(max(float(np.interp(gaps[name], line["gap"], line["error"])) for name, line in lines.items()), 6)
