"""Decisions over days, drawn at random, with what comes along with them."""

from pathlib import Path

import numpy as np
import pandas as pd

from mamofair.monitor import Monitor, save_monitor


def decisions(rows: int = 3000, gap: float = 0.0, seed: int = 0, day: int = 0, rare: float = 0.0) -> pd.DataFrame:
    """Return decisions of ten days from a day on; men have the higher rate; a share of them is of a rare group."""
    rng = np.random.default_rng(seed)
    sex = np.where(rng.random(rows) < rare, "X", rng.choice(["F", "M"], rows))
    return pd.DataFrame(
        {
            "id": [f"{seed}-{i}" for i in range(rows)],
            "sex": sex,
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(day + np.sort(rng.integers(0, 10, rows)), unit="D"),
            "decided": rng.random(rows) < 0.3 + gap * (sex == "M"),
            "y": (rng.random(rows) < 0.4).astype(float),
        }
    )


def update(monitor: Monitor, table: pd.DataFrame, labels: bool = True) -> Monitor:
    return monitor.update(
        table["decided"],
        sensitive_features=table[["sex"]],
        y=table["y"] if labels else None,
        ids=table["id"],
        times=table["day"],
    )


def state(monitor: Monitor, folder: Path) -> str:
    """Return everything that a monitor keeps: its file, which holds a checksum of the one beside it."""
    save_monitor(monitor, folder / "state.json")
    return (folder / "state.json").read_text()
