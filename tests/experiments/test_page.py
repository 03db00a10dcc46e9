"""The verdict of each cell, and the page that says so."""

from dataclasses import replace

import pytest

from mamofair.experiments import EXPERIMENTS, METHODS, Reproduction, run
from mamofair.experiments._compare import Comparison, compared, frame
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


def test_a_difference_is_told_in_a_sentence():
    records = [record("MF1", "demographic_parity", 0.0, 0.46, i, constant=True) for i in range(2)]
    text = section(replace(COMPAS, methods=("MF1",)), records)
    assert "MF1, DDP: beside print, fairer (-0.040) and less accurate (+0.140): another place on the trade-off." in text
    assert "a constant classifier in 2 of 2 runs" in text
    assert "0 of 2 printed cells agree" in text


def test_rows_taken_over_from_others_get_no_verdict():
    text = section(replace(COMPAS, methods=("SFa",)), [record("SFa", "demographic_parity", 0.2, 0.3)])
    assert "taken over from Lohaus et al.: no verdict" in text


def test_methods_that_are_told_the_attribute_are_marked():
    text = section(replace(COMPAS, methods=("TO",)), [record("TO", "demographic_parity", 0.2, 0.3)])
    assert "| TO\\* | 0.200 | 0.300 | – | – |" in text


def test_the_page_has_a_section_for_each_table_with_records_and_each_figure():
    records = [record("Con", "demographic_parity", 0.0, 0.46)]
    text = page([(COMPAS, records), (EXPERIMENTS["table-adult"], [])], [("A picture", "paper/a.png")], "command")
    assert "`table-compas`, 1 split" in text
    assert "table-adult" not in text
    assert "![A picture](paper/a.png)" in text


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


def test_a_figure_of_tables_is_drawn_from_their_records(tmp_path):
    table = replace(COMPAS, methods=("Zaf", "Con", "Unc"))
    figure = replace(EXPERIMENTS["figure-single-fairness"], tables=(COMPAS,), methods=table.methods)
    outcome = Reproduction(tmp_path, range(2), quick=True)(figure)
    assert {path.suffix for path in outcome.files} == {".png", ".svg"}
    assert all(path.stat().st_size > 1000 for path in outcome.files)
    assert len(list(run(table, tmp_path / "paper", repetitions=range(2), quick=True))) == 12
