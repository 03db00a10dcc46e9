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

from mamofair.estimators._state import continued, continued_stream, steps_left
from mamofair.runs._checkpoint import checkpointed, drop_checkpoint, read_checkpoint, write_checkpoint
from mamofair.runs._onnx import to_onnx
from mamofair.runs._run import Run, versions
from mamofair.runs._save import CHECKPOINT, load, load_run, require_place, save

__all__ = [
    "CHECKPOINT",
    "Run",
    "checkpointed",
    "continued",
    "continued_stream",
    "drop_checkpoint",
    "load",
    "load_run",
    "read_checkpoint",
    "require_place",
    "save",
    "steps_left",
    "to_onnx",
    "versions",
    "write_checkpoint",
]
