"""At the end, one line for each reason why tests were not run: nobody shall take what was skipped for passed.

A reason may start with a kind of tests, as "browser: no Chromium found; `make system` installs it" does.
"""

from collections import Counter

import pytest


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    for reason, number in reasons.most_common():
        terminalreporter.write_line(tell(reason, number), yellow=True)


def tell(reason: str, number: int) -> str:
    """Return the line for a reason.

    >>> tell("browser: no Chromium found; `make system` installs it", 60)
    '60 browser tests were not run: no Chromium found; `make system` installs it'
    >>> tell("the peak of memory is read from /proc", 1)
    '1 test was not run: the peak of memory is read from /proc'
    """
    kind, colon, why = reason.partition(": ")
    if not colon or not kind.isalpha():
        kind, why = "", reason
    tests = "test was" if number == 1 else "tests were"
    return f"{number} {kind} {tests} not run: {why}".replace("  ", " ")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    where = report.longrepr
    said = where[2] if isinstance(where, tuple) else str(where)
    return said.removeprefix("Skipped: ")
