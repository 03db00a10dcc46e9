"""A run that was just written: loaded again, so that no training ends well whose run cannot be used."""

import warnings
from pathlib import Path

import pandas as pd

from mamofair._messages import PATH, cut, quote
from mamofair.runs import Run, load_run

__all__ = ["ROWS", "require_usable"]

ROWS = 10  # that are predicted


def require_usable(run: Run, folder: Path, features: pd.DataFrame) -> None:
    """Raise a `ValueError` unless the run in a folder can be loaded and decides some rows as the trained one does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever trained has seen them
            loaded = load_run(folder).estimator.decision_function(features)
            expected = run.estimator.decision_function(features)
    except Exception as error:
        raise ValueError(_message(folder, f"loading it failed ({cut(str(error), PATH).rstrip('.')})")) from error
    if ((loaded > 0) != (expected > 0)).any():
        raise ValueError(_message(folder, f"it decides {len(features)} training rows in another way"))


def _message(folder: Path, reason: str) -> str:
    return (
        f"The run in {quote(str(folder), PATH)} was written, but cannot be used: {reason}. Please report this, "
        "and look for extreme or unusual values in the features."
    )
