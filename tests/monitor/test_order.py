"""Files whose order says how they were written, not when decisions were made."""

import numpy as np
import pandas as pd

from mamofair.monitor import Monitor

SEX = {"sex": ["F", "M"]}


def decisions(rows=4000, gap=0.3, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], rows)
    decided = rng.random(rows) < np.where(sex == "M", 0.3 + gap, 0.3)
    return pd.DataFrame({"sex": sex, "decided": decided, "y": (rng.random(rows) < 0.5).astype(float)})


def watch(table, monitor=None, **more):
    monitor = Monitor.of(0.1, attributes=SEX) if monitor is None else monitor
    return monitor.update(table["decided"], sensitive_features=table[["sex"]], **more)


def test_a_file_that_is_sorted_by_group_is_as_good_as_any():
    table = decisions()
    in_order = table.sort_values("sex", kind="stable", ignore_index=True)
    for rows in (table, in_order):
        assert watch(rows).answer.status == "exceeded"
        assert watch(rows, ids=rows.index).answer.status == "exceeded"
        assert watch(rows, times=np.zeros(len(rows))).answer.status == "exceeded"  # one day, without ids


def test_labels_that_are_sorted_by_group_are_as_good_as_any():
    table = decisions()
    monitor = Monitor.of(0.1, attributes=SEX, notions="tpr")
    waiting = watch(table, monitor, ids=table.index)
    labels = table.sort_values("sex", kind="stable")
    assert waiting.label(labels.index, labels["y"]).answer.status == "exceeded"


def test_a_file_of_men_and_then_one_of_women_gives_its_reason():
    table = decisions()
    men, women = (table[table["sex"] == sex] for sex in "MF")
    answer = watch(women, watch(men)).answer
    assert answer.status == "not yet known"
    [said] = [sentence for sentence in answer.sentences() if "demographic_parity" in sentence]
    assert f"not yet known for F and M: {len(women):,} rows of F and {len(men):,} of M came one after the other" in said
    assert "Give files that have rows of both groups or, if times overlap, name their column" in said


def test_groups_that_are_too_few_are_named_with_their_rows_and_the_others_are_within():
    rng = np.random.default_rng(0)
    sex = rng.choice(["F", "M", "X", "D"], 20_000, p=[0.497, 0.497, 0.004, 0.002])
    decided = rng.random(20_000) < 0.3
    [gap] = Monitor.of(0.1, attributes=["sex"]).update(decided, sensitive_features={"sex": sex}).answer.gaps
    assert gap.status == "not yet known"
    few = ", ".join(f"{group} ({(sex == group).sum()} rows)" for group in "XD")
    assert f"not yet known for {few}: too few decisions so far. All other groups are within." in gap.sentence()
