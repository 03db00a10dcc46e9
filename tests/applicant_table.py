"""A small table that the tests of tables and streams share."""

import pandas as pd


def applicants() -> pd.DataFrame:
    """Forty people whose columns are all as they should be."""
    return pd.DataFrame(
        {
            "age": range(20, 60),
            "pay": [0.5, 1.5, None, 2.5] * 10,
            "job": ["clerk", "nurse", None, "clerk"] * 10,
            "sex": ["female", "male"] * 20,
            "hired": ["no", "yes", "yes", "no"] * 10,
        }
    )
