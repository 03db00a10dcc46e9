"""Runs the contracts over everything exported: a new notion or relaxation is tested the moment it is listed."""

import pytest

from contracts import (
    RELAXATIONS,
    SELECTIONS,
    WEIGHTINGS,
    check_notion,
    check_relaxation,
    check_selection,
    check_weighting,
)
from mamofair import descent, selection
from mamofair.notions import NOTIONS, ratio


@pytest.mark.parametrize("notion", [*NOTIONS, *map(ratio, NOTIONS)], ids=lambda notion: notion.name)
def test_notion_keeps_the_contract(notion):
    check_notion(notion)


@pytest.mark.parametrize("relaxation", RELAXATIONS, ids=str)
def test_relaxation_keeps_the_contract(relaxation):
    check_relaxation(relaxation)


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
def test_weighting_keeps_the_contract(weighting):
    check_weighting(weighting)


@pytest.mark.parametrize("rule", SELECTIONS, ids=str)
def test_selection_keeps_the_contract(rule):
    check_selection(rule)


def test_every_exported_weighting_and_selection_has_an_instance_here():
    classes = {type(value).__name__ for value in (*WEIGHTINGS, *SELECTIONS)}
    exported = {name for module in (descent, selection) for name in module.__all__ if name[0].isupper()}
    others = {"Member", "Weighting", "Selection", "Choice", "LeftOutGroup", "Support", "Answer", "Plan", "Question"}
    assert exported - others == classes
