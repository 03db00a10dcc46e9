"""Progress of `fitting`: a bar above a drawing of the growing front on a terminal, else plain lines; and Ctrl-C.

rich is imported only where something is drawn: every estimator imports this file, even to predict.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mamofair._descent.ranks import Ranks
from mamofair._messages import quote, warn_user
from mamofair.fronts import Front
from mamofair.learners.usefulness import rare_label_sentence
from mamofair.selection import MostAccurateWithin

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

T = TypeVar("T")

_LIMITS = (1.0, 0.2, 0.1, 0.05, 0.02, 0.01)  # on the largest gap
_WIDTH = 40  # of the drawing, in characters
_WAYS = "Use performance='balanced_error', or say what mistakes cost, such as performance=Cost({})."


def watch(fitting: Iterator[T], total: int | None, verbose: int, console: "Console | None" = None) -> Iterator[T]:
    """Yield what `fitting` yields, an estimator ready to use; with `verbose`, rank 0 shows how its front grows."""
    if not verbose or Ranks.present().rank:
        yield from fitting
        return
    from rich.console import Console

    console = console or Console(stderr=True)
    yield from (_draw_lines if console.is_interactive else _print_lines)(fitting, total, console)


def _print_lines(fitting: Iterator[T], total: int | None, console: "Console") -> Iterator[T]:
    def show() -> None:
        of = f" of {total}" if total else ""
        note = f" The favorable outcome is {quote(estimator.favorable_)}." if done == 1 else ""  # type: ignore[attr-defined]
        line = f"Step {done}{of}: {describe(estimator)}{note}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    done = 0
    for done, estimator in enumerate(fitting, start=1):
        if done & (done - 1) == 0:  # 1, 2, 4, 8, …
            show()
        yield estimator
    if done & (done - 1):  # and the last, wherever it ends
        show()


def _draw_lines(fitting: Iterator[T], total: int | None, console: "Console") -> Iterator[T]:
    from rich.console import Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console)
    task = bar.add_task("training", total=total)
    with Live(bar, console=console) as live:
        for done, estimator in enumerate(fitting, start=1):
            bar.update(task, completed=done)
            live.update(Group(bar, draw(estimator)))
            yield estimator


def least_errors(front: Front) -> dict[float, float]:
    """Return the error of what would be chosen within each limit on the gaps; NaN where nothing is safely within it."""
    choices = {limit: MostAccurateWithin(limit).choose(front) for limit in _LIMITS}
    return {
        limit: float(front.values[one.row, 0]) if one.note is None else float("nan") for limit, one in choices.items()
    }


def finish(estimator: T, fitting: Iterator[Any]) -> T:
    """Train an estimator to the end, or until Ctrl-C, which keeps the front found so far."""
    owner: Any = estimator
    search = owner.search_  # what `fitting` carries out
    try:
        for _ in watch(fitting, search.learner.rounds, owner.verbose):
            pass
    except KeyboardInterrupt:
        if not len(search.archive) or Ranks.present().size > 1:  # other ranks wait for this one, which must end
            raise
        warn_user("Training was interrupted: the front has the points found so far.")
    rare = rare_label_sentence(owner.front_, _WAYS)
    if rare is not None and search.task.select_rate is None:
        warn_user(rare)
    with suppress(ValueError):  # if there is nothing to choose, predictions say so
        if owner.selection_note_ is not None:
            warn_user(owner.selection_note_)
    return estimator


def describe(estimator: Any) -> str:
    """Return a sentence on how many models were found so far, and on what would be chosen of them."""
    front = estimator.front_
    errors = {limit: error for limit, error in least_errors(front).items() if not np.isnan(error)}
    tightest = {f"{error:.3f}": limit for limit, error in errors.items()}  # of limits that cost the same, the last
    figures = [
        f"{error} {'without a limit' if limit == _LIMITS[0] else f'with gaps ≤ {limit:g}'}"
        for error, limit in tightest.items()
    ]
    unmet = "".join(f"; none is safely within {limit:g} yet" for limit in _LIMITS[len(errors) :][:1] if errors)
    models = f"{len(front)} model{'' if len(front) == 1 else 's'}"
    if not figures:
        return f"{models}; none is better than one decision for everyone yet."
    name = front.performance.name.replace("_", " ").capitalize()
    return f"{models}. {name} of the best choice on validation rows: {', '.join(figures)}{unmet}."


def draw(estimator: Any) -> "Table":
    """Return the front found so far as a few lines of text: error grows to the right, gaps shrink downwards."""
    from rich.table import Table
    from rich.text import Text

    errors = least_errors(estimator.front_)
    known = [error for error in errors.values() if not np.isnan(error)]
    low, high = min(known, default=0), max(known, default=1)
    caption = Text(f"{_head(estimator)}, on validation rows", "table.caption")  # as text: labels may look like markup
    table = Table("gaps up to", estimator.front_.performance.name, box=None, caption=caption, caption_justify="left")
    table.add_column(min_width=_WIDTH + 1)
    for limit, error in errors.items():
        mark = "" if np.isnan(error) else " " * round(_WIDTH * (error - low) / max(high - low, 1e-9)) + "●"
        table.add_row(f"{limit:g}", _figure(error), mark)
    return table


def _head(estimator: Any) -> str:
    return f"favorable {quote(estimator.favorable_)}, {len(estimator.front_)} points"


def favorable_note(estimator: Any) -> str:
    """Return a comment that names the favorable outcome, for an estimator's repr; empty before it is fitted."""
    return f"  # the favorable outcome is {quote(estimator.favorable_)}" if "front_" in vars(estimator) else ""


def _figure(error: float) -> str:
    return "–" if np.isnan(error) else f"{error:.3f}"
