"""Tables for `mamofair watch`: a lender's cases of last year, those of two months, and their labels, which come later.

    python tools/watching_tables.py [FOLDER]

From the tenth of February on, a new form asks women for their income after tax: the model is the same, and what it
reads is not.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

FEBRUARY = 31  # days after the first of January


def draw_cases(rows: int, seed: int, days: tuple[int, int] | None = None, change: int = 40) -> pd.DataFrame:
    """Return cases with their true labels; those of `days` have an id and a day, and the new form from a day on."""
    rng = np.random.default_rng(seed)
    gender = rng.choice(["f", "m"], rows, p=[0.4, 0.6])
    income = rng.normal(np.where(gender == "m", 3.4, 2.7), 1.0)
    part_time = rng.random(rows) < np.where(gender == "m", 0.1, 0.6)
    debt = rng.normal(1.0, 0.5, rows).clip(0)
    repaid = income - debt + rng.normal(0, 0.8, rows) > 2.0
    cases = pd.DataFrame({"income": income, "debt": debt, "part_time": np.where(part_time, "yes", "no")})
    cases = cases.assign(gender=gender, repaid=np.where(repaid, "yes", "no"))
    if days is not None:
        day = np.sort(rng.integers(*days, rows))
        cases["income"] = np.where((gender == "f") & (day >= change), 0.87 * income, income)
        cases["day"] = (pd.Timestamp("2026-01-01") + pd.to_timedelta(day, unit="D")).strftime("%Y-%m-%d")
        cases["case"] = [f"{seed}-{i}" for i in range(rows)]
    return cases.round(2)


def write_tables(folder: Path, rows: int = 8000) -> None:
    """Write loans.csv to train with, january.csv and february.csv without labels, and labels.csv."""
    draw_cases(rows, seed=0).to_csv(folder / "loans.csv", index=False)
    months = {
        "january": draw_cases(rows, seed=1, days=(0, FEBRUARY)),
        "february": draw_cases(rows, seed=2, days=(FEBRUARY, 59)),
    }
    for name, cases in months.items():
        cases.drop(columns="repaid").to_csv(folder / f"{name}.csv", index=False)
    pd.concat(months.values())[["case", "repaid"]].to_csv(folder / "labels.csv", index=False)


if __name__ == "__main__":
    write_tables(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
