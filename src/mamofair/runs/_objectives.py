"""The user's own losses and metrics: a run stores only their names, which is enough for predictions."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from mamofair import objectives
from mamofair.objectives import CustomObjective

__all__ = ["NamedFunction", "has_functions", "name_functions"]

_FUNCTIONS = ("loss", "metric", "change")


@dataclass(frozen=True)
class NamedFunction:
    """A placeholder for the user's own loss or metric in a loaded estimator.

    The estimator predicts as before. To continue training, pass its objectives: `load(run, objectives=[...])`.
    """

    name: str

    def __call__(self, *given: Any) -> Any:
        """Raise a `ValueError` that says how to pass the function."""
        raise ValueError(
            f"`objectives` must hold functions to train with: of {self.name[:200]!r}, the run has kept only the "
            "name. Pass the objectives again: load(run, objectives=[...])."
        )


def name_functions(given: Any) -> Any:
    """Return custom objectives with a name in the place of each loss and metric that is not ours."""
    return [
        replace(
            objective,
            **{
                part.name: _named(getattr(objective, part.name))
                for part in fields(objective)
                if part.name in _FUNCTIONS
            },
        )
        for objective in given
    ] or given


def has_functions(given: Any) -> bool:
    """Return whether custom objectives can be measured: those of a loaded run may be mere names."""
    return not any(
        isinstance(getattr(objective, part, None), NamedFunction) for objective in given for part in _FUNCTIONS
    )


def _named(function: Any) -> Any:
    kind = type(function)
    ours = getattr(objectives, kind.__name__, None) is kind and is_dataclass(kind) and kind is not CustomObjective
    if function is None or kind is NamedFunction or ours:
        return function
    named = function if hasattr(function, "__qualname__") else kind  # a function, or an object
    return NamedFunction(f"{named.__module__}.{named.__qualname__}")
