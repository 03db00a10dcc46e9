"""Which tests run a line of code, and how long each of them takes.

coverage.py records it once for each file of tests. What a fixture runs counts for all tests of its file: only the first
one that asks for a shared fixture is seen to run it. A line is known by its text, so that a record outlasts changes of
other lines. Of a test that takes long, only what it runs in its first second is known.
"""

import json
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from types import FrameType
from typing import Any

import coverage
import pytest
from coverage import Coverage

from campaigns._harness import RECORDS

_TEST_SECONDS = 1.0  # of the processor, while lines are recorded: a test that takes longer is slow, and ended there
_COVERAGE = str(Path(coverage.__file__).parent)


class Recorder:
    """A plug-in of pytest that records lines and processor seconds of each test.

    Parameters
    ----------
    package
        The folder of the code whose lines count.
    """

    def __init__(self, package: Path):
        self._package, self._seconds = package, dict[str, float]()
        self._coverage = Coverage(data_file=None, config_file=False, include=[f"{package}/*"], messages=False)
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])  # a module without examples
        self._began = 0.0
        signal.signal(signal.SIGVTALRM, _skip)
        self._coverage.start()

    def pytest_runtest_setup(self, item: Any) -> None:
        self._began = _processor_seconds()
        self._coverage.switch_context(_file_of(item.nodeid))

    def pytest_runtest_call(self, item: Any) -> None:
        self._coverage.switch_context(item.nodeid)
        signal.setitimer(signal.ITIMER_VIRTUAL, _TEST_SECONDS)

    def pytest_runtest_teardown(self, item: Any) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self._coverage.switch_context(_file_of(item.nodeid))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self._seconds[report.nodeid] = _processor_seconds() - self._began

    def write(self, path: Path) -> None:
        """Write what was recorded."""
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for file in data.measured_files():
            module = Path(file).relative_to(self._package).as_posix()
            source = ["", *Path(file).read_text().splitlines()]
            for number, contexts in data.contexts_by_lineno(file).items():
                if number < len(source):  # an empty file has a first line, too
                    lines[module][source[number].strip()] += filter(None, contexts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"seconds": self._seconds, "lines": lines}))


@dataclass(frozen=True)
class LineTests:
    """The tests of each line of some modules, by module and text, and the processor seconds of each test."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, set[str]]]

    def choose(self, module: str, lines: Iterable[str], budget: float) -> tuple[str, ...]:
        """Return tests worth so many seconds: those that run the lines, then others of the same files, quick first.

        Lines that no test is seen to run have all tests of their module.
        """
        running = self._tests(self._contexts(module, lines))
        beside = self._tests({_file_of(test) for test in running}) - running
        return tuple(self._affordable([*sorted(running, key=self._cost), *sorted(beside, key=self._cost)], budget))

    def slow(self, module: str, lines: Iterable[str]) -> tuple[str, ...]:
        """Return the slow tests that run the lines in their first second, or else the module."""
        return tuple(
            sorted(test for test in self._contexts(module, lines) if "::" in test and test not in self.seconds)
        )

    def _contexts(self, module: str, lines: Iterable[str]) -> set[str]:
        known = self.lines.get(module, {})
        return set().union(*(known.get(line, ()) for line in lines)) or set().union(*known.values())

    def _tests(self, contexts: set[str]) -> set[str]:
        return {test for test in self.seconds if test in contexts or _file_of(test) in contexts}

    def _cost(self, test: str) -> tuple[float, str]:
        return self.seconds[test], test

    def _affordable(self, tests: list[str], budget: float) -> Iterator[str]:
        spent = 0.0
        for test in tests:
            spent += self.seconds[test]
            if spent > budget:
                return
            yield test


def read_line_tests(paths: Iterable[Path]) -> LineTests:
    """Return what was recorded of all files of tests."""
    seconds: dict[str, float] = {}
    lines: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in paths:
        recorded = json.loads(path.read_text())
        seconds |= recorded["seconds"]
        for module, tests in recorded["lines"].items():
            for line, contexts in tests.items():
                lines[module][line].update(contexts)
    return LineTests(seconds, {module: dict(tests) for module, tests in lines.items()})


def record_path(test_file: Path) -> Path:
    """Return where the record of a file of tests is, as these tests are now."""
    return RECORDS / "lines" / f"{test_file.stem}-{sha256(test_file.read_bytes()).hexdigest()[:16]}.json"


def _skip(_: int, frame: FrameType | None) -> None:
    if frame and frame.f_code.co_filename.startswith(_COVERAGE):  # it may hold its lock, which nobody would give back
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
        return
    pytest.skip(f"takes more than {_TEST_SECONDS:g} seconds")


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _processor_seconds() -> float:
    usages = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
