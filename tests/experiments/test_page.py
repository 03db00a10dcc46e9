"""The verdict of each cell, and the page that says so."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from mamofair.experiments import EXPERIMENTS, METHODS, Reproduction, Table, _methods, read, run
from mamofair.experiments._claims import CLAIMS, least_loss
from mamofair.experiments._compare import Comparison, compared, frame
from mamofair.experiments._counting import printed_cells
from mamofair.experiments._evidence import Evidence, printed
from mamofair.experiments._page import page, section

COMPAS = EXPERIMENTS["table-compas"]


def cell(mean, std, printed):
    return Comparison(METHODS["MF1"], "DDP", mean, std, 10, printed)


@pytest.mark.parametrize(
    ("mean", "std", "printed", "agrees"),
    [
        (0.10, 0.00, (0.09, 0.01), True),  # within the paper's deviation
        (0.12, 0.03, (0.09, 0.00), True),  # within ours
        (0.094, 0.0, (0.09, 0.0), True),  # within the paper's rounding
        (0.12, 0.01, (0.09, 0.01), False),
        (0.09, float("nan"), (0.09, 0.0), True),  # one run has no deviation
        (0.50, 0.00, None, True),  # nothing was printed
    ],
)
def test_a_cell_agrees_within_one_deviation_of_either(mean, std, printed, agrees):
    assert cell(mean, std, printed).agrees is agrees


def record(method, notion, gap, error, repetition=0, constant=False):
    test = {"error": error, f"{notion}[race]": gap}
    return {"method": method, "notions": [notion], "repetition": repetition, "test": test, "constant": constant}


def test_means_and_deviations_are_over_repetitions():
    records = [record("MF1", "demographic_parity", gap, 0.3, i) for i, gap in enumerate((0.02, 0.04, 0.06))]
    gap, error = compared(replace(COMPAS, methods=("MF1",)), records)
    assert (gap.column, gap.mean, gap.std, gap.runs) == ("DDP", pytest.approx(0.04), pytest.approx(0.02), 3)
    assert (error.column, error.mean, error.printed) == ("DDP error", pytest.approx(0.3), (0.32, 0.01))


def test_a_printed_cell_is_counted_once_whatever_the_number_of_readings():
    table = replace(COMPAS, methods=("MF1", "MF1 code", "SFa"))
    records = [
        *(record("MF1", "demographic_parity", 0.20, 0.46, i, constant=True) for i in range(2)),
        *(record("MF1 code", "demographic_parity", 0.15, 0.32, i) for i in range(2)),
        *(record("SFa", "demographic_parity", 0.2, 0.3, i) for i in range(2)),
    ]
    own = [cell for cell in printed_cells([(table, records)]) if not cell.taken_over]
    assert [(cell.row, cell.column, len(cell.readings), cell.agrees) for cell in own] == [
        ("MF1", "DDP", 2, False),
        ("MF1", "DDP error", 2, True),
    ]
    assert own[0].best[0] == "MF1 code"
    text = section(table, records)
    assert "MF1, DDP: no reading gives 0.04; the nearest is 0.150 ± 0.000 (MF1 code), above it." in text
    assert "SFa, DDP" not in text  # taken over from others: no verdict
    assert "MF1 chose a constant classifier in 2 of 2 runs." in text
    assert "1 of 4 printed cells agree" in text


def test_a_quick_page_says_what_it_used_and_judges_nothing():
    records = [record("MF1", "demographic_parity", 0.2, 0.46)]
    text = page([(COMPAS, records)], [], "command", quick=True)
    assert "600 training, 300 validation and 600 test rows, at most 10 epochs and two splits" in text
    assert "printed cells agree" not in text
    assert "10,000" not in text


@pytest.fixture(scope="module")
def known():
    """The committed records of all tables."""
    folder = Path(__file__).parents[2] / "docs" / "results" / "paper"
    tables = [experiment for experiment in EXPERIMENTS.values() if isinstance(experiment, Table)]
    return [(table, read(folder / f"{table.name}.jsonl")) for table in tables]


def test_the_paper_has_112_cells_of_points_and_12_of_fronts(known):
    points, fronts = printed_cells(known), printed_cells(known, whole_front=True)
    assert (len(points), len(fronts)) == (112, 12)
    assert sum(cell.taken_over for cell in points) == 48


def test_every_claim_has_a_verdict_by_print_and_by_records(known):
    text = page(known, [], "command")
    assert all(claim.text in text for claim in CLAIMS)
    tables = [table for table, _ in known if not table.name.endswith("with-sex")]
    by_print = {claim.text: claim.judge(printed(tables)).verdict for claim in CLAIMS}
    assert by_print["S-MAMO-fair always loses the least accuracy of all methods"] == "does not hold"  # CelebA, Zafar
    assert by_print["on COMPAS M-MAMO-fair does well by DEO but not by DDP"] == "holds"


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ([0.1, 0.1, 0.1], [0.2, 0.21, 0.2], "holds"),
        ([0.3, 0.3, 0.3], [0.2, 0.21, 0.2], "does not hold"),
        ([0.1, 0.3, 0.2], [0.2, 0.2, 0.2], "cannot be told"),
    ],
)
def test_the_least_loss_of_accuracy_is_judged_by_paired_differences(ours, theirs, verdict):
    rows = [
        {"data": "adult", "notion": "demographic_parity", "method": method, "split": i, "error": error, "gap": 0.1}
        for method, errors in (("MF1", ours), ("SFa", theirs))
        for i, error in enumerate(errors)
    ]
    evidence = Evidence(pd.DataFrame(rows), pd.DataFrame(), baselines=("SFa",))
    assert least_loss(evidence).verdict == verdict


def test_methods_that_are_told_the_attribute_are_marked():
    text = section(replace(COMPAS, methods=("TO",)), [record("TO", "demographic_parity", 0.2, 0.3)])
    assert "| TO\\* | 0.200 | 0.300 | – | – |" in text


def test_the_page_has_a_section_for_each_table_with_records_and_each_figure():
    records = [record("Con", "demographic_parity", 0.0, 0.46)]
    text = page(
        [(COMPAS, records), (EXPERIMENTS["table-adult"], [])], [("A picture", "paper/a.png", "A note.")], "command"
    )
    assert "`table-compas`, 1 split" in text
    assert "## Adult" not in text
    assert "Without records, so that nothing is said of them here: `table-adult`." in text
    assert "![A picture](paper/a.png)\n\nA note." in text


def test_the_frame_of_a_figure_has_gap_and_error_in_a_row():
    found = frame(replace(COMPAS, methods=("TO",)), [record("TO", "equal_opportunity", 0.2, 0.3)])
    [row] = found.to_dict("records")
    assert (row["data"], row["notion"], row["told"], row["gap"], row["error"]) == (
        "compas",
        "equal_opportunity",
        True,
        0.2,
        0.3,
    )


def test_a_data_set_that_is_not_at_hand_is_skipped_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("MAMOFAIR_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    outcome = Reproduction(tmp_path, range(1), quick=True)(EXPERIMENTS["table-dutch"])
    assert "table-dutch is skipped" in str(outcome)
    assert "dutch" in outcome.plain()["skipped"].lower()


def test_a_figure_of_tables_is_drawn_from_their_records(tmp_path, monkeypatch):
    monkeypatch.setattr(_methods, "QUICK_EPOCHS", 1)
    table = replace(COMPAS, methods=("Zaf", "Con", "Unc"))
    figure = replace(EXPERIMENTS["figure-single-fairness"], tables=(COMPAS,), methods=table.methods)
    outcome = Reproduction(tmp_path, range(1), quick=True)(figure)
    assert {path.suffix for path in outcome.files} == {".png", ".svg"}
    assert all(path.stat().st_size > 1000 for path in outcome.files)
    assert len(list(run(table, tmp_path / "paper", repetitions=range(1), quick=True))) == 6
