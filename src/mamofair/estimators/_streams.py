"""How estimators learn from rows that need not fit in memory; what reads them is imported then, not by predictions."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mamofair.estimators._reading import draw_seed, task_settings
from mamofair.estimators.progress import finish
from mamofair.learners import Learner, Parts, Search, Task
from mamofair.learners.stored import StoredRows
from mamofair.learners.task import read_notions

if TYPE_CHECKING:
    from mamofair.streaming.blocks import ReadX

__all__ = ["Streams"]

Kind = TypeVar("Kind", bound="Streams")


class Streams:
    """Mixin of all estimators: `fit` for streams."""

    def fit_stream(self: Kind, rows: Any, *, memory: int | str | None = None, dask: Any = None) -> Kind:
        """Fit to rows that need not fit in memory.

        One pass collects labels, groups and scales, and stores the held-out rows. Then networks read the rows again
        each epoch, shuffled in a buffer. The plug-in and boosting copy them to a temporary file, as numbers, and fit
        trees to that. The content of a row and `random_state` determine whether it is held back and which fold it is
        in: the same in every pass, whatever the order. Rows with the same content stay together.

        Parameters
        ----------
        rows
            An iterable that can be read repeatedly and yields batches (X, y, sensitive_features), optionally followed
            by sample_weight and keys (numbers that identify the content of a row); X holds numbers.
            `mamofair.streaming.stream` returns one that may also have text columns, and whose chunks are read in a
            different order each epoch.
        memory
            How much memory rows may take, such as "2GB"; by default `rows.memory`, or 2GB. Fewer rows are held back if
            they would take more than a quarter of it.
        dask
            A `distributed.Client`, or the address of a scheduler such as "tcp://host:8786": its workers fit the models
            of a plug-in. They read the rows themselves, so files must have the same paths on each worker.
        """
        return finish(self, self.fitting_stream(rows, memory=memory, dask=dask))

    def _fit_dask(self: Any, X: Any, y: Any, sensitive_features: Any, given: dict[str, Any]) -> Any:
        """Fit to Dask frames: written to files first, with a plug-in's models fitted by the current cluster."""
        from mamofair.streaming.dask_frames import current_client, written_stream

        if refused := [name for name, value in given.items() if value is not None]:
            raise ValueError(f"`{refused[0]}` must be left out with a Dask frame: streams do not support it.")
        cluster = None if self.new_learner().needs_validation(self.notions) else current_client()
        with written_stream(X, y, sensitive_features, self.favorable) as rows:
            return self.fit_stream(rows, dask=cluster)

    def fitting_stream(self: Kind, rows: Any, *, memory: int | str | None = None, dask: Any = None) -> Iterator[Kind]:
        """Fit to a stream step by step: yield this estimator, ready to use, after each epoch or round.

        The arguments are those of `fit_stream`.
        """
        search, parts = self.start_stream(rows, memory, dask=dask)
        return self._follow(search, parts)  # type: ignore[attr-defined, no-any-return]

    def resume_stream(self: Kind, rows: Any, dask: Any = None) -> Iterator[Kind]:
        """Resume an interrupted `fit_stream`, with the same result as an uninterrupted one."""
        return self._resume(partial(self.start_stream, rows, None, dask=dask))  # type: ignore[attr-defined, no-any-return]

    def start_stream(
        self: Any, rows: Any, memory: int | str | None, resumed: bool = False, dask: Any = None
    ) -> tuple[Search, Parts]:
        """Read and check all rows in one pass, as `start` does, and hold some out; the rest is streamed."""
        from mamofair.streaming.cluster import connect
        from mamofair.streaming.holdout import hold_out

        earlier = self._check_start(resumed)
        _refuse_strata(self.notions)
        if dask is not None:
            with connect(dask):  # says so now, not after the rows were read, if nobody answers
                pass
        if isinstance(self.calibration_fraction, str):
            raise ValueError("`calibration_fraction` must be a number to train from a stream: found 'plan'. Try 0.2.")
        learner = self._learner_after(earlier, resumed)
        learner.check_stream()
        rows, read = _reading(self, learner, rows, reset=earlier is None)
        valid = self.validation_fraction if learner.needs_validation(self.notions) else 0.0
        seed = learner.draw_seed(earlier.task.seed if earlier else draw_seed(self.random_state))
        held_out, common, bound = hold_out(
            rows,
            read,
            fractions=(valid, self.calibration_fraction),
            seed=seed,
            favorable=self.favorable,
            crossed=self.crossed,
            notions=self.notions,
            min_group=self.min_group,
            memory=memory,
            bound=earlier.bound if earlier else None,
        )
        task = Task.of(common.classes, common.groups, seed=seed, **task_settings(self), custom=learner.custom)
        parts = learner.take_stream(held_out, seed)
        parts = parts if dask is None else _fit_on_cluster(parts, held_out, dask, seed)
        search = self._open(task, learner, parts, earlier, common.small)
        search.bound, self.encoder_ = bound, getattr(rows, "encoder", None)
        return search, parts


def _refuse_strata(notions: Any) -> None:
    """Raise a `ValueError` for a notion within strata, before any row is read."""
    names = tuple(notions) if isinstance(notions, Mapping) else ("every attribute",)
    for notion in (one for notion_list in read_notions(notions, names).values() for one in notion_list):
        if notion.over is not None:
            raise ValueError(
                f"{notion.name} compares groups within strata, and rows of a stream have none. Use `fit`, or another "
                "notion."
            )


def _fit_on_cluster(parts: Parts, streamed: Parts, dask: Any, seed: int) -> Parts:
    """Return the parts for a plug-in whose models are fitted on a cluster."""
    from mamofair.streaming.cluster import Cluster
    from mamofair.streaming.rows import StreamedRows

    if not isinstance(parts.train, StoredRows) or not isinstance(parts.valid, StoredRows):
        raise ValueError(
            "A Dask cluster trains plug-in models, in folds: found another kind, or cv=None. Leave `dask` out; "
            "torchrun trains networks in several processes."
        )
    assert isinstance(streamed.train, StreamedRows)
    train = replace(parts.train, elsewhere=Cluster(dask, streamed.train, seed))
    return replace(parts, train=train, valid=train)


def _reading(estimator: Any, learner: Learner, rows: Any, reset: bool) -> tuple[Any, "ReadX"]:
    """Return rows in the learner's form, text as codes if it takes text, and the function that reads features."""
    from mamofair.streaming.table import Stream

    if learner.takes_text(estimator.notions) and isinstance(rows, Stream):
        learner.read(estimator, rows.as_codes().example, reset=reset)
        return rows.as_codes(), lambda X, reset: X

    def read(X: Any, first: bool) -> np.ndarray:
        return learner.read_stream(estimator, X, first and reset)

    return rows, read
