"""A table of applicants, drawn at random."""

import numpy as np
import pandas as pd


def applicants(rows: int, seed: int = 0) -> pd.DataFrame:
    """Return people of whom men with an income are approved more often; of each kind of column there is one."""
    rng = np.random.default_rng(seed)
    gender, race = rng.choice(["f", "m"], rows), rng.choice(["a", "b", "c"], rows)
    income = rng.normal(3 + (gender == "m"), 1, rows).round(2)
    approved = income + rng.normal(0, 0.7, rows) > 3.5
    return pd.DataFrame(
        {
            "income": np.where(rng.random(rows) < 0.1, np.nan, income),
            "age": rng.integers(18, 80, rows),
            "owner": rng.choice(["true", "false"], rows),
            "married": rng.choice(["true", "false", ""], rows),
            "job": rng.choice(["clerk", "nurse", "01", ""], rows, p=[0.5, 0.3, 0.1, 0.1]),
            "gender": gender,
            "race": race,
            "approved": np.where(approved, "yes", "no"),
        }
    )


COLUMNS = ("--target", "approved", "--favorable", "yes", "--sensitive", "gender")
#: The network, with few epochs, where the model is not the point: others take seconds.
ASKED = (*COLUMNS, "--no-limit", "--model", "net")
