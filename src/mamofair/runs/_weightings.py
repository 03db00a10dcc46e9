"""Weightings of other libraries: a run stores only their names, which is enough for predictions."""

from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Float

from mamofair import descent
from mamofair._torch import Tensor
from mamofair.descent import Member


@dataclass(frozen=True)
class NamedWeighting:
    """A placeholder for a foreign weighting, such as one of TorchJD, in a loaded estimator.

    The estimator predicts as before. To continue training, pass its members: `load(run, members=[...])`.
    """

    name: str

    def __call__(self, gramian: Float[Tensor, "k k"], /) -> Float[Tensor, " k"]:
        """Raise a `ValueError` that says how to pass the weighting."""
        raise ValueError(
            f"`members` must hold weightings to train with: of {self.name[:200]!r}, the run has kept only the "
            "name. Pass the members again: load(run, members=[...])."
        )


def name_foreign(members: Any) -> Any:
    """Return members with a placeholder for each foreign weighting."""
    return [_named(member) for member in members] if isinstance(members, list | tuple) else members


def _named(member: Any) -> Any:
    if isinstance(member, Member):
        return replace(member, weighting=_named(member.weighting))
    kind = type(member)
    if kind is NamedWeighting or getattr(descent, kind.__name__, None) is kind or not callable(member):
        return member
    named = member if hasattr(member, "__qualname__") else kind  # a function, or an object
    return NamedWeighting(f"{named.__module__}.{named.__qualname__}")
