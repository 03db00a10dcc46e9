"""How other tools store estimators: pickle, copy, joblib, skops, and MLflow with either."""

import copyreg
from typing import Any

__all__ = ["Portable"]

_FILES = "mamofair files"


class Portable:
    """Mixin of all estimators: skops stores them as the files of a run folder, and pickle like any other object.

    skops calls `__getstate__`, and could not store tensors and boosters otherwise; pickle and copy call `__reduce__`
    first, and keep everything, including the user's own networks and functions, which our files cannot hold.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self),), super().__getstate__()  # type: ignore[attr-defined]

    def __getstate__(self: Any) -> dict[str, Any]:
        from mamofair.runs.portable import to_state  # an exception from the layers, listed in pyproject.toml

        return {_FILES: to_state(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if _FILES not in state:
            super().__setstate__(state)  # type: ignore[misc]
            return
        from mamofair.runs.portable import from_state

        estimator = from_state(state[_FILES])
        if type(estimator) is not type(self):
            raise ValueError(
                f"The state of a {type(self).__name__} must be of that type: found a {type(estimator).__name__}. Copy "
                "it again, or write it again."
            )
        self.__dict__.update(vars(estimator))
