"""The CPU time of every test, its processes included; `make durations` writes the table `tests/DURATIONS.md`.

The table also says in which order files are run: the longest first, so that all processes end at about the same time.
"""

import os
import re
import time
from collections import Counter
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("DURATIONS.md")
_STARTED = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", action="store_true", help=f"Write the CPU time of every test to {TABLE.name}.")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.pluginmanager.has_plugin("randomly") or not TABLE.exists():
        return
    files = re.findall(r"^\| [\d.]+ \| \d+ \| (\S+) \|$", TABLE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    place = {name: i for i, name in enumerate(files)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    if item.config.getoption("--cpu-times"):
        item.stash[_STARTED] = _cpu_seconds()
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "teardown" and _STARTED in item.stash:
        # Less than none, where a browser has ended: nobody waits for its processes, so that their time is lost.
        report.user_properties.append(("cpu seconds", max(0.0, _cpu_seconds() - item.stash[_STARTED])))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    seconds = {
        report.nodeid: value
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "cpu seconds" and report.when == "teardown"
    }
    if seconds:
        TABLE.write_text(_table(seconds), encoding="utf-8")
        terminalreporter.write_line(f"{TABLE.name}: {sum(seconds.values()):.0f} CPU seconds of {len(seconds):,} tests")


def _table(seconds: Mapping[str, float]) -> str:
    """Return the page: files from a CPU second on, and the tests that take the longest."""
    files, tests = Counter[str](), Counter[str]()
    for test, value in seconds.items():
        file = test.partition("::")[0]
        files[file] += value
        tests[file] += 1
    long = [(file, value) for file, value in files.most_common() if value >= 1]
    rest = len(files) - len(long), sum(files.values()) - sum(value for _, value in long)
    lines = [
        "# How long the tests take",
        "",
        "CPU seconds, with those of the processes that a test starts and of the fixtures that are made for it.",
        "Written by `make durations`; files are run in this order.",
        "",
        f"{len(seconds):,} tests take {sum(seconds.values()):.0f} CPU seconds. "
        f"The {rest[0]} files that are not listed take {rest[1]:.0f} of them.",
        "",
        "| CPU seconds | tests | file |",
        "|---|---|---|",
        *(f"| {value:.1f} | {tests[file]} | {file} |" for file, value in long),
        "",
        "| CPU seconds | test |",
        "|---|---|",
        *(f"| {value:.1f} | `{test}` |" for test, value in Counter(seconds).most_common(25)),
    ]
    return "\n".join([*lines, ""])


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all that it started, whether they have ended or not."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system + sum(map(_of_process, _children("self")))


def _of_process(pid: str) -> float:
    """Return the CPU seconds of a process and of those it started; 0 where it has just ended, or outside Linux."""
    try:
        fields = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # user, system, and both of children that have ended
    return own + sum(map(_of_process, _children(pid)))


def _children(pid: str) -> list[str]:
    try:
        return [child for path in Path("/proc", pid, "task").glob("*/children") for child in path.read_text().split()]
    except OSError:
        return []
