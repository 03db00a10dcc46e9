"""Processes that run tests: one that has done what is slow answers requests, and forks for each of them."""

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings

_SECONDS = 20  # of the processor, for one test: those that are chosen take a few
_LONGEST = 1800  # on the clock, for all of them, if one sleeps for ever
_CRASHED = 70  # the exit code of a run that raised an exception, or lost its parent


@dataclass(frozen=True)
class Run:
    """How tests went: pytest's exit code (negative: the signal that ended it), and the first test that failed."""

    code: int
    failed: str


class Client:
    """Starts a module as a server of requests, in a folder for its files."""

    def __init__(self, module: str, folder: Path, *arguments: str, root: Path, paths: list[Path]):
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "OMP_NUM_THREADS": "1",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", module, str(folder), *arguments]
        self._folder = folder
        self._process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request: Any) -> Run:
        """Return the answer to one request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise OSError("The process that runs tests must go on: found that it has ended.")
        run = Run(**json.loads(answer))
        if run.code == _CRASHED:
            raise OSError(f"Tests must pass or fail: found neither. {(self._folder / 'said.txt').read_text()[-2000:]}")
        return run

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@dataclass(frozen=True)
class Channel:
    """The server's end: requests come from stdin, answers go to what was stdout, and what code prints to stderr."""

    folder: Path
    answers: Any

    @classmethod
    def open(cls, folder: Path) -> "Channel":
        """Take stdout, before anything prints."""
        answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        return cls(folder, answers)

    @property
    def watch(self) -> "Watch":
        """What notes a test that fails."""
        return Watch(self.folder / "failed.txt", os.getpid())

    def serve(self, work: Callable[..., int]) -> None:
        """Answer each request by the exit code of work in a child."""
        for line in sys.stdin:
            (self.folder / "failed.txt").write_text("")
            code = _in_a_child(self.folder / "said.txt", partial(work, **json.loads(line)))
            failed = (self.folder / "failed.txt").read_text()
            self.answers.write(json.dumps({"code": code, "failed": failed}) + "\n")
            self.answers.flush()


def _in_a_child(log: Path, work: Callable[[], int]) -> int:
    """Return the exit code of work in a process group of its own, all of which has ended on return."""
    child = os.fork()
    if child == 0:
        _run(log, work)
    deadline, parent = time.monotonic() + _LONGEST, os.getppid()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        lost = os.getppid() != parent
        if ended or lost or time.monotonic() > deadline:
            _end_group(child)
        if lost:
            os._exit(1)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)


def _end_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return  # nobody is left of it


def _run(log: Path, work: Callable[[], int]) -> None:
    """Do the work with all that is printed in a file, and end the process."""
    code = _CRASHED
    try:
        os.setpgid(0, 0)
        said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        code = work()
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


@dataclass(frozen=True)
class Watch:
    """A plug-in of pytest that ends the process if a test takes far too long, and notes which one fails first."""

    path: Path
    parent: int

    def pytest_sessionstart(self) -> None:
        usual = settings.get_profile(settings.get_current_profile_name())
        phases = (Phase.explicit, Phase.generate)  # one failure is enough: it need not be made small
        settings.register_profile("mutants", usual, phases=phases)
        settings.load_profile("mutants")

    def pytest_runtest_logstart(self) -> None:
        if os.getppid() != self.parent:  # which was killed
            os._exit(_CRASHED)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # a signal that ends the process

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._note(report)

    def pytest_collectreport(self, report: Any) -> None:
        self._note(report)

    def _note(self, report: Any) -> None:
        if report.failed and not self.path.read_text():
            self.path.write_text(report.nodeid)


def pytest_options(folder: Path) -> Iterator[str]:
    """Yield what pytest is started with."""
    settings_file = next(name for name in ("pytest.ini", "pyproject.toml") if Path(name).is_file())
    yield from ("-x", "-q", "-n0", "--tb=line", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestWarning")
    yield from (f"--rootdir={Path.cwd()}", f"--config-file={settings_file}", f"--basetemp={folder / 'files'}")
