"""The tables of the page about watching."""

import runpy
from pathlib import Path

import pandas as pd

TABLES = Path(__file__).parents[1] / "tools" / "watching_tables.py"


def test_the_tables_of_a_watch_change_for_women_on_the_tenth_of_february(tmp_path):
    runpy.run_path(str(TABLES))["write_tables"](tmp_path, rows=4000)
    february, labels = pd.read_csv(tmp_path / "february.csv"), pd.read_csv(tmp_path / "labels.csv")
    late = february[february["day"] >= "2026-02-10"]
    women = {name: rows["income"].mean() for name, rows in late.groupby("gender")}
    before = february[february["day"] < "2026-02-10"].groupby("gender")["income"].mean()
    assert women["f"] < 0.92 * before["f"]
    assert abs(women["m"] / before["m"] - 1) < 0.04
    assert "repaid" not in february
    assert len(labels) == 8000
