"""Runs: a fitted estimator with what a person needs to judge it, in a folder without pickle.

>>> from tempfile import TemporaryDirectory
>>> from mamofair import FairNetClassifier
>>> from mamofair.datasets import make_toy
>>> toy = make_toy()
>>> model = FairNetClassifier(epochs=2, random_state=0).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
>>> with TemporaryDirectory() as folder:
...     again = load(save(Run(model, {}, {"group": ("protected", "unprotected")}), folder))
>>> bool((again.predict(toy.X) == model.predict(toy.X)).all())
True
"""

from mamofair.runs._alternatives import read_alternatives, save_alternatives
from mamofair.runs._checkpoint import (
    checkpoint_files,
    checkpointed,
    read_checkpoint,
    restore_checkpoint,
    write_checkpoint,
)
from mamofair.runs._judge import assess_run, describe_near_constant, judge
from mamofair.runs._locks import own_folder, replaced_file
from mamofair.runs._onnx import to_onnx
from mamofair.runs._questions import StoredQuestion, read_question, write_question
from mamofair.runs._run import Run, versions
from mamofair.runs._save import holds_run, is_current, is_resumable, load, load_run, require_place, save
from mamofair.runs._test_rows import measure_test

__all__ = [
    "Run",
    "StoredQuestion",
    "assess_run",
    "checkpoint_files",
    "checkpointed",
    "describe_near_constant",
    "holds_run",
    "is_current",
    "is_resumable",
    "judge",
    "load",
    "load_run",
    "measure_test",
    "own_folder",
    "read_alternatives",
    "read_checkpoint",
    "read_question",
    "replaced_file",
    "require_place",
    "restore_checkpoint",
    "save",
    "save_alternatives",
    "to_onnx",
    "versions",
    "write_checkpoint",
    "write_question",
]
