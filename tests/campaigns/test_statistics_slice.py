"""A slice of the campaign: true gaps are true, audits cover, certificates hold, and too many misses are noticed."""

import numpy as np
import pytest
from campaigns._harness import Record
from campaigns._worlds import LEANINGS, World

from campaigns import _page, statistics
from mamofair.metrics import gap


def records(designs, seeds):
    """A record for each seed, designs taking turns."""
    results = [designs[seed % len(designs)].run(seed) for seed in seeds]
    return [Record(one.kind, one.outcome, one.detail, seed) for seed, one in enumerate(results)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaning", LEANINGS)
def test_gap_of_a_world_is_that_of_very_many_people(leaning, weighted, rng):
    world, decisions = World.of(leaning, 3, weighted), World.scores() > 0.5
    cell, y, group = world.draw(rng, (20_000,) * 3)
    for notion in ("demographic_parity", "equal_opportunity", "predictive_parity"):
        measured = gap(
            y, decisions[cell].astype(int), sensitive_features=group, notion=notion, sample_weight=world.weight[cell]
        )
        assert measured == pytest.approx(world.gap(notion, decisions), abs=0.03)


def test_audits_cover_as_often_as_promised_and_miss_at_times():
    found = records(statistics.COVERAGES, range(40, 120))
    missed = [one for one in found if one.outcome == "missed"]
    assert 1 <= len(missed) <= 0.05 * len(found)
    assert not [verdict for verdict in statistics.verdicts(found) if verdict.word == "broken"]


def test_audits_of_half_the_confidence_miss_far_more_often(monkeypatch):
    monkeypatch.setattr(statistics, "_CONFIDENCE", 0.5)
    found = records([one for one in statistics.COVERAGES if one.leaning == "groups spread"], range(60))
    assert np.mean([one.outcome == "missed" for one in found]) > 0.1


def test_choices_with_confidence_keep_their_limits_and_those_as_measured_do_not_always():
    certified, *_, weighted = [one for one in statistics.CHOICES if one.model == "boosting" and not one.large]
    [as_measured] = [one for one in statistics.CHOICES if one.model == "boosting" and not one.confident]
    found = {kind: records([kind], range(count)) for kind, count in ((certified, 2), (weighted, 5), (as_measured, 6))}
    outcomes = {kind: [one.outcome for one in ours] for kind, ours in found.items()}
    assert set(outcomes[certified]) <= {"kept", "no answer"}
    assert outcomes[weighted].count("broken") <= 2
    assert {"kept", "no answer"} <= {*outcomes[certified], *outcomes[weighted]}
    assert outcomes[as_measured].count("broken") >= 2


def test_cases_take_turns_over_all_designs():
    kinds = {statistics.design_of(seed) for seed in range(10 * len(statistics.COVERAGES))}
    assert kinds == {*statistics.COVERAGES, *statistics.CHOICES}
    assert statistics.case(1).kind == str(statistics.design_of(1))


@pytest.mark.parametrize(
    ("broken", "tried", "word"), [(0, 10, "kept"), (8, 100, "kept"), (20, 100, "broken"), (100, 100, "broken")]
)
def test_promise_counts_as_broken_only_beyond_chance(broken, tried, word):
    kind = str(statistics.COVERAGES[0])
    found = [Record(kind, "missed" if i < broken else "covered", "", i) for i in range(tried)]
    [verdict] = statistics.verdicts(found)
    assert (verdict.broken, verdict.tried, verdict.word) == (broken, tried, word)
    low, high = verdict.interval
    assert low <= broken / tried <= high


def test_page_has_the_table_of_promises_below_the_counts(monkeypatch):
    kinds = [str(design) for design in (statistics.COVERAGES[0], statistics.CHOICES[1])]
    found = [Record(kind, outcome, "", 0) for kind in kinds for outcome in ("missed", "covered")]
    monkeypatch.setattr(_page, "read_records", lambda _: found)
    text = _page.page(["statistics"])
    assert statistics.summary(found) in text
    assert f"| {kinds[0]} | 0.5000 | " in text
    assert "nothing promised" in text
