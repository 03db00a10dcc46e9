"""Base class of learners, which give a search its candidates."""

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
    """New points with their counts, and records for the history.

    `keep` copies what an accepted point needs; `complete` ends an epoch or a round.

    >>> import numpy as np
    >>> from mamofair.fronts import Tally
    >>> Candidates([Point(Tally({"": np.array([[60.0, 20, 20, 100]])}))], records=[{"step": 1}]).complete
    True
    """

    points: list[Point]
    records: list[dict[str, Any]] = field(default_factory=list)
    keep: Callable[[Point], Point] | None = None
    complete: bool = True


@dataclass(eq=False, kw_only=True)
class Learner(ABC):
    """One kind of model: how it reads features, finds points, and scores rows for them. Abstract.

    A subclass is a dataclass. The fields of its constructor are parameters, with the same names as in its estimator;
    learned values are fields with `init=False`, listed in `STATE`.

    Parameters
    ----------
    patience : int or None
        The number of rounds without growth of the front after which a search stops; None never stops early.
    warm_start : bool
        Whether a second `fit` continues the first one.

    Examples
    --------
    >>> from mamofair import FairPlugInClassifier
    >>> learner = FairPlugInClassifier(effort="fast").new_learner()
    >>> isinstance(learner, Learner), learner.effort
    (True, 'fast')
    """

    patience: int | None = None
    warm_start: bool = False

    #: The learned fields, each with a check of values that come from a file.
    STATE: ClassVar[Mapping[str, Callable[[Any], bool]]] = {}
    #: Whether the history records the growth of the front's hypervolume.
    notes_growth: ClassVar[bool] = False

    @classmethod
    def of(cls: type[Kind], estimator: Any, **given: Any) -> Kind:
        """Return the learner with an estimator's parameters, except for those given."""
        names = [part.name for part in fields(cls) if part.init and part.name not in given]
        return cls(**{name: getattr(estimator, name) for name in names if hasattr(estimator, name)}, **given)

    @abstractmethod
    def read(self, estimator: Any, X: Any, reset: bool) -> Any:
        """Check features as scikit-learn does, and return them in the form that this learner takes."""

    def read_more(self, estimator: Any, X: Any) -> Any:
        """Return the features of more rows in the same form."""
        return self.read(estimator, X, reset=False)

    @abstractmethod
    def candidates(self, task: Task, parts: Parts, archive: Archive) -> Iterator[Candidates]:
        """Train, and yield points measured on the held-out rows; the archive holds the points so far."""

    @abstractmethod
    def scores(self, points: Sequence[Point], X: Any) -> Float[np.ndarray, "points n"]:
        """Return the score that each point gives each row, positive where the decision is favorable.

        It must be thread-safe.
        """

    @property
    def rounds(self) -> int | None:
        """The largest number of rounds of a search, if known."""
        return None

    @property
    def folds(self) -> int | None:
        """The number of folds that measure points, for learners that train a model for each point."""
        return None

    @property
    def calibration(self) -> dict[str, Any]:
        """How well labels and groups were known before their probabilities were corrected, if there are any."""
        return {}

    @property
    def custom(self) -> tuple[str, ...]:
        """The names of custom objectives, which this learner measures besides performance and gaps."""
        return ()

    def measure_custom(self, points: Sequence[Point], rows: Rows) -> list[dict[str, float]]:
        """Return the custom metrics of each point on some rows, by name; empty if there are none."""
        return []

    @property
    def can_resume(self) -> bool:
        """Whether training can resume from `state_dict`; otherwise it restarts with the same seed."""
        return False

    def draw_seed(self, seed: int) -> int:
        """Return the seed to use, given a drawn one: processes that train together must agree on it."""
        return seed

    def split(self, rows: Rows, fractions: tuple[Any, float], rng: np.random.Generator) -> Parts:
        """Split rows into training, validation and calibration rows, with these fractions of the latter two."""
        if self.folds is not None:
            return Parts(rows, rows, rows[:0])
        return Parts(*hold_back(rows, fractions, rng))

    def check_stream(self) -> None:
        """Raise a `ValueError` if this learner cannot train from a stream."""
        if self.folds is not None:
            raise ValueError(f"`cv` must be None to train from a stream: found {self.folds}. Hold rows back instead.")
        refuse_in_streams(getattr(self, "objectives", ()))

    def takes_text(self, notions: Any) -> bool:
        """Whether this learner takes text columns without encoding, for these notions."""
        return False

    def read_stream(self, estimator: Any, X: Any, reset: bool) -> np.ndarray:
        """Return the features of some rows of a stream as numbers."""
        return np.asarray(self.read(estimator, X, reset=reset))

    def needs_validation(self, notions: Any) -> bool:
        """Whether rows of a stream must be held out to measure points, for these notions."""
        return True

    def take_stream(self, parts: Parts, seed: int) -> Parts:
        """Return the parts of a stream in the form that this learner trains on."""
        return parts

    def for_fold(self: Kind, whole: Rows, part: Rows) -> Kind:
        """Return a learner that trains on a part of the rows, in step with this one, which trains on all."""
        return copy(self)

    def resume(self, earlier: Any, *, anew: bool) -> None:
        """Continue from an earlier learner of this kind; `anew` trains as many rounds again."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Return the learned values: plain values, arrays, tensors and frozen dataclasses."""
        return {name: value for name in self.STATE if (value := getattr(self, name)) is not None}

    def load_state_dict(self, state: Mapping[str, Any], features: int) -> None:
        """Restore what `state_dict` returned, for a model with this many features; a `ValueError` if it is invalid."""
        for name, value in state.items():
            setattr(self, name, value)

    def is_sound(self, task: Task, features: int, names: Sequence[str]) -> bool:
        """Whether the learned values are complete, finite and consistent with each other and with these features."""
        return False

    def fits(self, point: Point) -> bool:
        """Whether this model can predict with a point's state."""
        return False
