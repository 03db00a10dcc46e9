"""A trial: something is called, and what it answers is compared with what is right; and how refusals are judged."""

import linecache
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import mamofair
from campaigns._harness import Result
from campaigns._oracles import Refusal

_OURS = str(Path(mamofair.__file__).parent)
_ALLOWED = (ValueError, TypeError, OSError, ImportError)
_LONGEST = 500


@dataclass(frozen=True, eq=False)
class Trial:
    """A call, and what is right.

    Parameters
    ----------
    kind
        What is tried.
    call
        Calls the library.
    check
        Takes the answer and returns what is wrong with it, or nothing.
    right
        A `Refusal` where there is no right answer.
    is_plain
        Whether the input is such that it must not be refused.
    shown
        What somebody needs to know of the input.
    """

    kind: str
    call: Callable[[], Any]
    check: Callable[[Any], str | None]
    right: Any = None
    is_plain: bool = False
    shown: Any = field(default_factory=lambda: MappingProxyType({}))

    def run(self) -> Result:
        """Call it, and judge what comes of it."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", RuntimeWarning)  # a number that numpy warns of is not to be relied on
                answer = self.call()
        except Exception as error:
            problem = foreign(error)
            if problem is None and self.is_plain:
                problem = f"refused what is right: {error}"
            return Result(self.kind, "refused") if problem is None else self._wrong(problem)
        if isinstance(self.right, Refusal):
            return self._wrong(f"answered {answer!r} where {self.right.why}")
        problem = self.check(answer)
        return Result(self.kind, "right") if problem is None else self._wrong(problem)

    def _wrong(self, problem: str) -> Result:
        shown = ", ".join(f"{name}={value!r}"[:200] for name, value in dict(self.shown).items())
        return Result(self.kind, "wrong", " ".join(f"{problem[:600]}; {shown}".split())[:1500])


def foreign(error: Exception) -> str | None:
    """Return why an exception is none of our sentences, if so: another type, of others, long, or several lines."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(_OURS)]
    last = frames[-1]
    where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "outside"
    told = f"{type(error).__name__}: {error} ({where})"
    if not isinstance(error, _ALLOWED):
        return f"not a type we raise: {told}"
    if not own or own[-1] is not last or "raise" not in linecache.getline(last.filename, last.lineno or 0):
        return f"not in our words: {told}"
    if "\n" in str(error):
        return f"several lines: {told}"
    return f"{len(str(error))} characters: {told}" if len(str(error)) > _LONGEST else None
