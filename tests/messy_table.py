"""A table as people have it: ids, dates, notes, money, blanks, spellings, a tiny group and few positives."""

from pathlib import Path

import numpy as np
import pandas as pd


def messy(rows: int = 1500, seed: int = 0, rare: bool = False) -> pd.DataFrame:
    """Return applicants whose columns are all text or numbers as spreadsheets hold them; `rare` means 3 % positives."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows).astype(object)
    sex[rng.choice(rows, 12, replace=False)] = "x"
    income = rng.lognormal(10.5 + 0.3 * (sex == "m"), 0.5, rows).round(2)
    merit = np.log(income) + rng.normal(0, 0.4, rows)
    approved = merit > np.quantile(merit, 0.97 if rare else 0.6)
    dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D")
    return pd.DataFrame(
        {
            "customer_id": np.arange(10_000, 10_000 + rows),
            "applied": dates.strftime("%d.%m.%Y"),
            "note": [f"Größe {i}, Müller" for i in rng.permutation(rows)],
            "income": income,
            "salary": [f"${amount:,.0f}" for amount in income],
            "rate": [f"{share} %" for share in rng.integers(1, 15, rows)],
            "city": rng.choice(["Köln", "köln ", "Paris", ""], rows),
            "title": np.where(rng.random(rows) < 0.03, "Dr", np.where(sex == "f", "Ms", "Mr")),
            "sex": sex,
            "age": rng.integers(18, 80, rows),
            "decided": np.where(approved, "A-17", "D-04"),
            "approved": np.where(approved, "yes", "no"),
        }
    )


def write_german(frame: pd.DataFrame, path: Path, encoding: str = "cp1252") -> None:
    """Write a table as a spreadsheet in Germany does: semicolons, decimal commas, and the encoding of Windows."""
    frame.to_csv(path, index=False, sep=";", decimal=",", encoding=encoding)
