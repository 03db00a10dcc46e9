"""Models of folds, fitted by the workers of a Dask cluster: each reads the files and keeps its own copy."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import uuid4

from mamofair._messages import quote
from mamofair.learners.plugin.posterior import PosteriorLearner
from mamofair.learners.plugin.posterior_model import PosteriorModel
from mamofair.learners.stored import StoredRows
from mamofair.streaming.rows import StreamedRows

__all__ = ["Cluster", "connect"]

_PATIENCE = 10.0  # seconds between checks for remaining workers
_TIMEOUT = 10.0  # seconds to wait for a scheduler
_COPIES: dict[str, StoredRows] = {}  # on a worker, its training rows
_LOCK = Lock()


@dataclass(frozen=True, eq=False)
class Cluster:
    """Fits models on workers. The files must have the same paths there, and mamofair the same version.

    If a worker dies, Dask gives its jobs to others. A `ConnectionError` is raised if there are none, or if a job kills
    every worker that tries it.
    """

    address: Any
    rows: StreamedRows
    seed: int

    def __call__(
        self, learner: PosteriorLearner, folds: int, share: float
    ) -> tuple[PosteriorModel, list[PosteriorModel]]:
        """Return the model of all rows, and for each fold the model of the other folds."""
        copy = uuid4().hex
        with connect(self.address) as client:
            try:
                whole, *models = self._fit(client, copy, learner, range(-1, folds), folds, share)
                if whole.constant:  # what is constant in the final model must be constant in each fold
                    fold_learner = learner.with_constant(whole.constant)
                    models = self._fit(client, copy, fold_learner, range(folds), folds, share)
            finally:
                client.run(_forget, copy, on_error="ignore")
        return whole, models

    def _fit(
        self, client: Any, copy: str, learner: PosteriorLearner, which: range, folds: int, share: float
    ) -> list[PosteriorModel]:
        from distributed import KilledWorker

        job = self.rows, self.seed, learner
        jobs = [client.submit(_fit_fold, job, copy, fold, folds, share, pure=False) for fold in which]
        try:
            _wait(client, jobs)
            return list(client.gather(jobs))
        except KilledWorker as error:
            raise ConnectionError(
                f"Dask's workers died one after another over a job ({str(error)[:120]}): give them more memory, or "
                "set `memory` lower, and train again."
            ) from None
        finally:
            client.cancel(jobs)


def _wait(client: Any, jobs: list[Any]) -> None:
    """Wait for jobs as long as there are workers."""
    from distributed import wait

    while True:
        try:
            wait(jobs, timeout=_PATIENCE)
            return
        except TimeoutError:
            if not client.nthreads():  # `scheduler_info` now and then lists no workers, although there are some
                raise ConnectionError(
                    "A Dask cluster must have workers: all are gone. Start some, and train again."
                ) from None


@contextmanager
def connect(cluster: Any) -> Iterator[Any]:
    """Yield a client of a cluster, given one, or the address of a scheduler such as tcp://host:8786."""
    try:
        from distributed import Client
    except ImportError:
        raise ImportError('A cluster needs Dask, which is not installed. Run pip install "mamofair[dask]".') from None
    if not isinstance(cluster, str):
        yield cluster
        return
    try:
        client = Client(cluster, timeout=_TIMEOUT)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"There must be a Dask scheduler at {quote(cluster)}: {str(error)[:200]}.") from None
    with client:
        yield client


def _fit_fold(job: tuple[StreamedRows, int, PosteriorLearner], copy: str, fold: int, folds: int, share: float) -> Any:
    """On a worker: copy the rows to its disk, once, and fit models to those that are not in the fold."""
    rows, seed, learner = job
    with _LOCK:
        if copy not in _COPIES:
            _COPIES[copy] = rows.stored(seed)
    return learner.fit(_COPIES[copy].others(fold, folds, share))


def _forget(copy: str) -> None:
    """On a worker: free the disk."""
    _COPIES.pop(copy, None)
