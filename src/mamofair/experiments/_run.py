"""Run a table: one record per method, task and split, appended to a file of JSON lines as it is produced.

Existing records are not run again, so an interrupted run continues. Splits are numbered; the number is the
seed of the split and of the method. Choices are made on validation rows; test rows are measured afterwards.
"""

import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import joblib

from mamofair.experiments._fronts import fronts
from mamofair.experiments._job import Job, Record, calm, draw_sample, seconds, settings
from mamofair.experiments._methods import METHODS
from mamofair.experiments._side_by_side import tasks, train
from mamofair.experiments._spec import Table
from mamofair.fronts import Archive, Front, Point, Tally
from mamofair.notions import as_notion

_PACKAGES = ("mamofair", "numpy", "torch", "scikit-learn", "lightgbm", "fairlearn", "fairret", "oxonfair")


def jobs(table: Table, repetitions: Sequence[int], quick: bool = False) -> list[Job]:
    """Return all jobs, split by split, so that an interrupted run has complete splits."""
    return [
        Job(table, name, notions, repetition, quick)
        for repetition in repetitions
        for name in table.methods
        for notions in tasks(table, METHODS[name])
    ]


def run(
    table: Table, folder: Path, *, repetitions: Sequence[int] | None = None, quick: bool = False, n_jobs: int = 1
) -> Iterator[Record]:
    """Yield the records of a table: those in its file in `folder`, then new ones, which are appended.

    Parameters
    ----------
    table : Table
        What to run.
    folder : Path
        Where `<name>.jsonl` is, or will be.
    repetitions : sequence of int, optional
        The splits; by default as many as the table has, from 0.
    quick : bool
        Whether to use few rows and epochs, as a smoke test. Such records are kept separate.
    n_jobs : int
        How many processes; with `joblib.parallel_config(backend="dask")` or "ray" around it, workers of a cluster.
    """
    wanted = jobs(table, range(table.repetitions) if repetitions is None else repetitions, quick)
    yield from complete(folder / f"{table.name}.jsonl", wanted, carry_out, n_jobs)


@runtime_checkable
class Keyed(Protocol):
    """A job whose record begins with its key."""

    @property
    def key(self) -> dict[str, Any]:
        """The values that identify its record in a file."""
        ...


J = TypeVar("J", bound=Keyed)


def complete(path: Path, wanted: Sequence[J], act: Callable[[J], Record], n_jobs: int) -> Iterator[Record]:
    """Yield the wanted records in a file, then new ones, which are appended to it."""
    known = {_identity(record, wanted[0].key): record for record in read(path)} if wanted else {}
    missing = []
    for job in wanted:
        if (identity := _identity(job.key, job.key)) in known:
            yield known[identity]
        else:
            missing.append(job)
    if not missing:
        return
    _require_packages(path.stem, [job.method for job in missing if isinstance(job, Job)])
    path.parent.mkdir(parents=True, exist_ok=True)
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    with path.open("a", encoding="utf-8") as file:
        for record in parallel(joblib.delayed(act)(job) for job in missing):
            file.write(json.dumps(record) + "\n")
            file.flush()
            yield record


def _require_packages(name: str, methods: Sequence[str]) -> None:
    """Raise an `ImportError` early if some method could not be run later."""
    needed = dict.fromkeys(package for method in methods for package in METHODS[method].needs)
    if absent := [package for package in needed if find_spec(package) is None]:
        raise ImportError(
            f'{name} compares with methods that need {", ".join(absent)}: pip install "mamofair[baselines]"'
        )


def read(path: Path) -> list[Record]:
    """Return the records of a file; an incomplete last line, left by a killed run, is removed.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.jsonl"
    ...     with path.open("w") as file:
    ...         print('{"method": "MF1", "split": 0}', file=file)
    ...         print('{"method": "MF', end="", file=file)  # killed here
    ...     read(path)
    [{'method': 'MF1', 'split': 0}]
    """
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        path.write_bytes(whole)
    return [json.loads(line) for line in whole.splitlines()]


def _identity(record: Record, names: Iterable[str]) -> str:
    return json.dumps([record[name] for name in names])


def carry_out(job: Job) -> Record:
    """Fit one method on one split and return its record."""
    act = _follow if job.table.every_epoch else _choose
    return {"table": job.table.name, **job.key, "seed": job.repetition, **act(job), "versions": versions()}


def _follow(job: Job) -> Record:
    """Train, and count the decisions of every epoch, from which any archive and choice can be computed."""
    training, path = train(job)
    test = path.measure(draw_sample(job.table, job.repetition, job.quick), range(len(path.valid)))
    return training.times | _counted({"validation": path.valid, "test": test})


def _choose(job: Job) -> Record:
    """Train, and measure the chosen point, or the front, and every point's counts."""
    find = _find_front if METHODS[job.method].weighting is None else _find_published_front
    front, selected, test, times = find(job)
    parts = {"validation": [point.valid for point in front.points], "test": test}
    chosen = parts["validation"][selected]
    record = times | {"points": len(front), "constant": chosen.is_constant, "validation": _values(chosen, front)}
    if job.table.whole_front:
        record |= {"fronts": fronts(parts, front.criteria)}
    else:
        record |= {"test": _values(test[selected], front)}
    return record | {"selected": selected} | _counted(parts)


Found = tuple[Front, int, list[Tally], dict[str, float]]


def _find_front(job: Job) -> Found:
    """Return the front that a method finds, the point it chooses, counts on test rows, and seconds."""
    method, sample = METHODS[job.method], draw_sample(job.table, job.repetition, job.quick)
    model, test = method.make(settings(job, sample)), sample.rows.test
    rows = (sample.X[test], sample.people.iloc[test]) if method.told else sample.X[test]
    with calm():
        with seconds() as times:
            model.fit(**sample.given)
        decided = model.decide_all(rows)
    return model.front_, model.selected_, sample.counter(test)(decided), times


def _find_published_front(job: Job) -> Found:
    """Return the same for a published method, which is trained along with others and archived here."""
    training, path = train(job)
    sample = draw_sample(job.table, job.repetition, job.quick)
    criteria = [(as_notion(notion), name) for name in job.table.attributes for notion in job.notions]
    archive = Archive(criteria)
    for epoch, tally in enumerate(path.valid):
        archive.add_all([Point(tally, step=epoch)])
    front = archive.front()
    rule = METHODS[job.method].rule or training.model.selection
    with calm():
        selected = rule(front)
    return front, selected, path.measure(sample, [point.step for point in front.points]), training.times


def _counted(parts: Mapping[str, Sequence[Tally]]) -> Record:
    """Return TP, FP, FN and TN of each group, from which any reading of a front can be computed."""

    def plain(tally: Tally) -> dict[str, list[list[int]]]:
        return {name: table.astype(int).tolist() for name, table in tally.counts.items()}

    return {"counts": {part: list(map(plain, tallies)) for part, tallies in parts.items()}}


def _values(tally: Tally, front: Front) -> dict[str, float]:
    values = [tally.error, *(tally.gap(*criterion) for criterion in front.criteria)]
    return dict(zip(front.columns, values, strict=True))


@lru_cache
def versions() -> dict[str, str]:
    """Return the versions of the packages that a record depends on."""
    packages = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:  # an optional one
            continue
    return packages
