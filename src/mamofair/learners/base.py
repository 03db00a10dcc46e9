"""What finds points: a learner, one kind of model, which a search asks for candidates."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from jaxtyping import Float

from mamofair.fronts import Archive, Point
from mamofair.learners.changes import refuse_in_streams
from mamofair.learners.rows import Parts, Rows, hold_back
from mamofair.learners.task import Task

__all__ = ["Candidates", "Learner"]

Kind = TypeVar("Kind", bound="Learner")


@dataclass(frozen=True, eq=False)
class Candidates:
    """Points that were just measured, and records of how they came about.

    `keep` copies what an accepted point needs; `complete` ends an epoch or a round.
    """

    points: list[Point]
    records: list[dict[str, Any]] = field(default_factory=list)
    keep: Callable[[Point], Point] | None = None
    complete: bool = True


@dataclass(eq=False, kw_only=True)
class Learner(ABC):
    """One kind of model: how it reads features, finds points, and scores rows for them. Abstract.

    A subclass is a dataclass. Its constructor's fields are parameters, by the names that its estimator has for them;
    what is learned goes into fields with `init=False`, which `STATE` names.

    Parameters
    ----------
    patience : int or None
        After how many rounds in which the front does not grow a search ends; None never ends early.
    warm_start : bool
        Whether a second `fit` continues the first one.
    """

    patience: int | None = None
    warm_start: bool = False

    #: What is learned, by the names of the fields: whether a value that comes from a file can be it.
    STATE: ClassVar[Mapping[str, Callable[[Any], bool]]] = {}
    #: Whether the history tells how the front's hypervolume grows.
    notes_growth: ClassVar[bool] = False

    @classmethod
    def of(cls: type[Kind], estimator: Any, **given: Any) -> Kind:
        """Return the learner with the parameters of an estimator, but for those that are given."""
        names = [part.name for part in fields(cls) if part.init and part.name not in given]
        return cls(**{name: getattr(estimator, name) for name in names if hasattr(estimator, name)}, **given)

    @abstractmethod
    def read(self, estimator: Any, X: Any, reset: bool) -> Any:
        """Check features as scikit-learn does, in the name of an estimator, and return them as this kind takes them."""

    def read_more(self, estimator: Any, X: Any) -> Any:
        """Return the features of more rows as `read` has returned those to train on."""
        return self.read(estimator, X, reset=False)

    @abstractmethod
    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Train, and yield points measured on the rows that are held back; the archive holds what was found so far."""

    @abstractmethod
    def scores(self, points: Sequence[Point], X: Any) -> Float[np.ndarray, "points n"]:
        """Return the score that each point gives each row, positive where the decision is favorable.

        Any number of threads may ask at once.
        """

    @property
    def rounds(self) -> int | None:
        """How many rounds a search has at the most, if that is known."""
        return None

    @property
    def folds(self) -> int | None:
        """The number of folds that measure points, for learners that train a model for each point."""
        return None

    @property
    def custom(self) -> tuple[str, ...]:
        """The names of objectives of the user's own, which this kind measures beside performance and gaps."""
        return ()

    def measure_custom(self, points: Sequence[Point], rows: Rows) -> list[dict[str, float]]:
        """Return what these objectives measure for each point on some rows, by name; nothing, if there are none."""
        return []

    @property
    def can_resume(self) -> bool:
        """Whether training goes on from `state_dict`; else it starts again, with the same seed."""
        return False

    def draw_seed(self, seed: int) -> int:
        """Return the seed to use, given one that was drawn: processes that train together must agree on it."""
        return seed

    def split(self, rows: Rows, fractions: tuple[Any, float], rng: np.random.Generator) -> Parts:
        """Divide rows into parts: validation rows and calibration rows of these fractions, the others to train on."""
        if self.folds is not None:
            return Parts(rows, rows, rows[:0])
        return Parts(*hold_back(rows, fractions, rng))

    def check_stream(self) -> None:
        """Raise a `ValueError` if this kind cannot learn from a stream."""
        if self.folds is not None:
            raise ValueError(f"`cv` must be None to train from a stream: found {self.folds}. Hold rows back instead.")
        refuse_in_streams(getattr(self, "objectives", ()))

    def takes_text(self, notions: Any) -> bool:
        """Whether this kind takes columns of text as they are, for these notions."""
        return False

    def read_stream(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return the features of some rows of a stream as numbers."""
        return np.asarray(self.read(estimator, X, reset=reset))

    def needs_validation(self, notions: Any) -> bool:
        """Whether rows of a stream must be held back to measure points, for these notions."""
        return True

    def take_stream(self, parts: Parts, seed: int) -> Parts:
        """Return the parts of a stream as this kind learns from them."""
        return parts

    def for_fold(self: Kind, whole: Rows, part: Rows) -> Kind:
        """Return a learner that trains on a part of the rows, in step with this one on the whole."""
        return copy(self)

    def resume(self, earlier: Any, *, anew: bool) -> None:
        """Take up what an earlier learner of this kind has learned; `anew` trains as many rounds again."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Return what was learned: plain values, arrays, tensors and frozen dataclasses."""
        return {name: value for name in self.STATE if (value := getattr(self, name)) is not None}

    def load_state_dict(self, state: Mapping[str, Any], features: int) -> None:
        """Take what `state_dict` returned, of a model with so many features; a `ValueError` if it makes no sense."""
        for name, value in state.items():
            setattr(self, name, value)

    def is_sound(self, task: Task, features: int, names: Sequence[str]) -> bool:
        """Whether what was learned is all there, finite, and fits together, and these features, with names or none."""
        return False

    def fits(self, point: Point) -> bool:
        """Whether a point's state is one that this model can predict with."""
        return False
