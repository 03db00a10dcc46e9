"""Guesses about printed numbers: on fresh splits, read as they say, judged by one rule."""

from dataclasses import replace

import pytest

from mamofair.experiments import EXPERIMENTS, METHODS, Hypothesis, Reproduction
from mamofair.experiments._compare import Comparison
from mamofair.experiments._hypothesis_page import describe, has_same_mean
from mamofair.experiments._readings import choose_by_linmap, measure_ratios, take_last_epoch
from mamofair.experiments.hypotheses import FRESH, HYPOTHESES

LAST = EXPERIMENTS["hypothesis-adult-last"]


def epoch(selected_men, selected_women, wrong):
    """Counts of 10 men and 10 women, all of whom deserve it but for some that are wrongly selected."""
    groups = [[selected, wrong, 10 - selected, 0] for selected in (selected_men, selected_women)]
    return {"": [[sum(cells) for cells in zip(*groups, strict=True)]], "sex": groups}


def record(*epochs, method="Unc", notions=("equal_opportunity",), repetition=FRESH):
    counts = {"validation": list(epochs), "test": list(epochs)}
    return {"method": method, "notions": list(notions), "repetition": repetition, "counts": counts}


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=lambda hypothesis: hypothesis.name)
def test_a_hypothesis_keeps_every_epoch_of_splits_that_no_table_has(hypothesis):
    assert hypothesis.table.every_epoch
    assert min(hypothesis.splits(10)) == FRESH
    assert len(hypothesis.splits(10)) == hypothesis.table.repetitions
    assert len(hypothesis.splits(1)) == hypothesis.table.repetitions // 10


def test_linmap_picks_the_epoch_nearest_to_the_origin_and_last_the_last():
    fair, unfair = epoch(8, 8, 0), epoch(10, 6, 0)
    assert choose_by_linmap(LAST.table, record(unfair, fair, unfair)) == pytest.approx({"DEO": 0, "DEO error": 0.2})
    assert take_last_epoch(LAST.table, record(fair, unfair)) == pytest.approx({"DEO": 0.4, "DEO error": 0.2})
    assert choose_by_linmap(LAST.table, record(unfair, fair), epochs=1)["DEO"] == pytest.approx(0.4)


def test_ratios_leave_out_epochs_that_decide_all_alike():
    table = replace(EXPERIMENTS["hypothesis-adult-fronts"].table, attributes=("sex",))
    nobody, some = epoch(0, 0, 0), epoch(10, 5, 0)
    found = measure_ratios(table, record(nobody, some, notions=("demographic_parity",)), archived_on_ratios=True)
    assert found == pytest.approx({"HV": 0.75 * 0.5})
    assert measure_ratios(table, record(nobody, notions=("demographic_parity",)), archived_on_ratios=True) == {}


@pytest.mark.parametrize(("women", "word"), [(10, "refuted"), (8, "exploratory")])
def test_a_verdict_follows_from_the_cells(women, word):  # print has a gap of .18 ± .03 and an error of .17
    text = describe(LAST, [record(epoch(10, women, 0), repetition=FRESH + i) for i in range(2)])
    assert f"last epoch: Unc **{word}**" in text
    assert LAST.statement in text
    assert "2 fresh splits" in text


def test_a_confirmed_reading_agrees_in_every_cell():
    table = replace(LAST.table, printed={"Unc": {"DEO": (0.4, 0.01), "DEO error": (0.2, 0.01)}})
    text = describe(replace(LAST, table=table), [record(epoch(10, 6, 0))])
    assert "last epoch: Unc **confirmed** (2 of 2 cells agree)" in text


def test_a_hypothesis_is_run_and_described_without_a_verdict_when_quick(tmp_path):
    reproduction = Reproduction(tmp_path, range(1), quick=True)
    outcome = reproduction(LAST)
    assert isinstance(outcome.experiment, Hypothesis)
    assert "**" not in str(outcome)
    assert {cell["reading"] for cell in outcome.plain()["cells"]} == set(LAST.readings)
    assert {found["repetition"] for found in outcome.records} == {FRESH}


def test_a_wide_deviation_over_many_splits_is_no_agreement():
    cell = Comparison(METHODS["MF1 code"], "DDP", 0.08, 0.048, 30, (0.04, 0.01))
    assert cell.agrees  # within a deviation, the rule of the tables
    assert not has_same_mean(cell)
    assert has_same_mean(replace(cell, mean=0.06))
