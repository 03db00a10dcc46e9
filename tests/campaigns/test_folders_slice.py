"""A slice of the campaign of folders that somebody has tampered with."""

import os
import time
from collections import Counter
from pathlib import Path

import numpy as np

from campaigns import folders


def test_a_slice_of_the_campaign_finds_nothing_wrong_and_every_outcome():
    results = [folders.case(seed) for seed in (0, 1, 2, 4, 5, 8, 9, 12, 101)]
    outcomes = Counter(result.outcome for result in results)
    assert not [result for result in results if result.outcome in folders.ALARMS]
    assert set(outcomes) == {"same", "refused", "another model"}


def test_crashes_hangs_and_nonsense_would_be_noticed(tmp_path, monkeypatch):
    def judged(answer):
        monkeypatch.setattr(folders, "predict", answer)
        return folders._judge(*folders.ask_child(Path(tmp_path), None), [[0.5]], True)[0]

    monkeypatch.setattr(folders, "_SECONDS", 1)
    assert judged(lambda folder, rows: [[0.5]]) == "same"
    assert judged(lambda folder, rows: [[0.7]]) == "another model"
    assert judged(lambda folder, rows: [[float("nan")]]) == "wrong"
    assert judged(lambda folder, rows: [[[0.7]]]) == "wrong"
    assert judged(lambda folder, rows: {}["a"]) == "wrong"
    assert judged(lambda folder, rows: time.sleep(5)) == "wrong"
    assert judged(lambda folder, rows: os.kill(os.getpid(), 9)) == "wrong"
    assert judged(lambda folder, rows: np.zeros(2**32).tolist()) == "wrong"
    assert folders._judge("scores", [[0.7]], [[0.5]], False)[0] == "wrong"
