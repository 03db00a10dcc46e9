"""Saving a model to a folder: `mamofair.save`, the counterpart of `mamofair.load`."""

from pathlib import Path
from typing import Any

from mamofair.estimators import FairClassifier
from mamofair.runs._run import Run
from mamofair.runs._save import save as save_run

__all__ = ["save"]


def save(model: Any, folder: str | Path, *, overwrite: bool = False) -> Path:
    """Write a fitted estimator into a run folder, without pickle; return the folder.

    `mamofair.load` restores it with the same front, selection and predictions, bit for bit. `mamofair report` and
    `mamofair export` work with the folder. `mamofair predict` needs the encoder of a table, which models from `mamofair
    train` or `with_encoder` have.

    Parameters
    ----------
    model : FairClassifier
        The fitted estimator. If a part of it cannot be written without pickle, an error names it, and nothing changes.
    folder
        The run folder. Other files in it stay.
    overwrite
        Whether to replace an existing run, atomically. Otherwise it raises a `FileExistsError`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mamofair import FairPlugInClassifier, load
    >>> from mamofair.datasets import make_toy
    >>> toy = make_toy()
    >>> model = FairPlugInClassifier(effort="fast", random_state=0)
    >>> model = model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    >>> with TemporaryDirectory() as folder:
    ...     again = load(save(model, folder))
    >>> bool((again.predict_proba(toy.X) == model.predict_proba(toy.X)).all())
    True
    """
    return save_run(Run.of(_require_model(model)), folder, overwrite=overwrite)


def _require_model(model: Any) -> FairClassifier:
    if not isinstance(model, FairClassifier):
        raise ValueError(
            f"`model` must be one of mamofair's estimators: found {type(model).__name__}. Save the last step of a "
            "pipeline, or the pipeline with skops (docs/python.md)."
        )
    return model
