"""Runs the cases of a campaign within a budget of minutes, and goes on where an earlier run stopped."""

import json
import time
from collections.abc import Callable, Container, Iterator
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path

RECORDS = Path(__file__).parent / "records"


@dataclass(frozen=True)
class Result:
    """What came of one case.

    Parameters
    ----------
    kind
        What was tried, such as "gap" or "kill during train": a row of the table.
    outcome
        What happened, such as "right", "refused" or "wrong": a column of the table.
    detail
        What somebody needs to find the cause, in one line.
    """

    kind: str
    outcome: str
    detail: str = ""


@dataclass(frozen=True)
class Record(Result):
    """A result with the seed that repeats it, and the outcome of the first try of that seed."""

    seed: int = -1
    first: str = ""


def read_records(name: str) -> list[Record]:
    """Return the latest record of each case that was tried; a last line that was cut short does not count."""
    path = RECORDS / f"{name}.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.is_file() else []
    latest: dict[int, Record] = {}
    for record in (Record(**json.loads(line)) for line in lines):
        first = latest[record.seed].first if record.seed in latest else record.outcome
        latest[record.seed] = replace(record, first=first)
    return list(latest.values())


def run(
    name: str,
    case: Callable[[int], Result],
    *,
    cases: int,
    minutes: float,
    jobs: int,
    again: Container[str] = (),
) -> Iterator[Record]:
    """Try the cases that have no record yet or an outcome to try again, write a record of each, and yield it.

    Every job is a process of its own, so that a case may change global state; `spawn` keeps threads of the parent,
    such as torch's, out of it.
    """
    tried = {record.seed for record in read_records(name) if record.outcome not in again}
    left = [seed for seed in range(cases) if seed not in tried]
    deadline = time.monotonic() + 60 * minutes
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{name}.jsonl"
    whole = path.read_bytes()[: path.read_bytes().rfind(b"\n") + 1] if path.is_file() else b""
    path.write_bytes(whole)
    with path.open("a") as file, get_context("spawn").Pool(jobs) as pool:
        for seed, result in pool.imap_unordered(_Numbered(case), left):
            record = Record(**asdict(result), seed=seed)
            file.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")
            file.flush()
            yield record
            if time.monotonic() > deadline:
                return  # leaving the pool ends what is under way


@dataclass(frozen=True)
class _Numbered:
    """A case that returns its seed with the result: results come in any order."""

    case: Callable[[int], Result]

    def __call__(self, seed: int) -> tuple[int, Result]:
        return seed, self.case(seed)
