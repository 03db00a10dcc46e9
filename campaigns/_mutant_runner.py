"""Runs tests on a package with one module changed: a process that has imported what is slow, and forks for each run.

The package is copied once into a folder of the job's own, where modules are changed, so that the working tree stays
as it is. A test may use a certain number of seconds of its processor, which others' load does not shorten.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SLOW = ("pytest", "xdist", "hypothesis", "jaxtyping", "beartype", "numpy", "pandas", "pyarrow", "polars", "narwhals")
SLOW += ("scipy.stats", "scipy.optimize", "sklearn.ensemble", "sklearn.linear_model", "sklearn.pipeline")
SLOW += ("sklearn.model_selection", "sklearn.utils.estimator_checks", "skops.io", "moocore", "lightgbm", "torch")
SLOW += ("torch.func", "torch.distributed", "safetensors.torch", "fairlearn.metrics", "typer.testing", "rich.progress")
_SECONDS = 60  # of the processor, for one test: our slowest takes a tenth of it
_LONGEST = 1800  # on the clock, for all of them, if one sleeps for ever
NO_TESTS = 5  # pytest's exit code where it found none
_CRASHED = 70  # the exit code of a run that pytest itself did not survive


@dataclass(frozen=True)
class Run:
    """How tests went: pytest's exit code (negative: the signal that ended it), and the first test that failed."""

    code: int
    failed: str


class Runner:
    """A process that runs tests, with a copy of the package.

    Parameters
    ----------
    package
        The package's folder; its parent takes the place of `src`.
    root
        Where tests are run, with the settings there.
    slow
        What to import once, for all runs; what is not installed is left out.
    """

    def __init__(self, package: Path = ROOT / "src" / "mamofair", root: Path = ROOT, slow: tuple[str, ...] = SLOW):
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self.package = Path(self._folder.name) / "src" / package.name
        shutil.copytree(package, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self._original, self._writes = package, 0
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self.package.parent), str(ROOT)]),
            "PYTHONPYCACHEPREFIX": str(Path(self._folder.name) / "compiled"),
            "OMP_NUM_THREADS": "1",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "campaigns._mutant_runner", self._folder.name, *slow]
        self._process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, module: str, source: str, tests: tuple[str, ...]) -> Run:
        """Return how tests go with a module's source in the place of its own."""
        path = self.package / module
        self._write(path, source)
        try:
            return self.test(tests)
        finally:
            self._write(path, (self._original / module).read_text())

    def test(self, tests: tuple[str, ...]) -> Run:
        """Return how tests go on the package as it is."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(tests) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise OSError("The process that runs tests must go on: found that it has ended.")
        return Run(**json.loads(answer))

    def _write(self, path: Path, source: str) -> None:
        """Write a module with a time of its own: else compiled code of another mutant might pass for it."""
        path.write_text(source)
        self._writes += 1
        os.utime(path, (self._writes, self._writes))

    def close(self) -> None:
        """End the process, and remove the copy."""
        self._process.communicate()
        self._folder.cleanup()


def _serve(folder: Path, slow: list[str]) -> None:
    """Answer each line of stdin, which names tests, with a line on stdout, which says how they went."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is imported may print
    for name in slow:
        if find_spec(name.partition(".")[0]):
            import_module(name)
    for line in sys.stdin:
        (folder / "failed.txt").write_text("")
        code = _in_a_child(folder, json.loads(line))
        answers.write(json.dumps({"code": code, "failed": (folder / "failed.txt").read_text()}) + "\n")
        answers.flush()


def _in_a_child(folder: Path, tests: list[str]) -> int:
    """Return the exit code of pytest in a process group of its own, all of which has ended on return."""
    child = os.fork()
    if child == 0:
        _test(folder, tests)
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


def _test(folder: Path, tests: list[str]) -> None:
    """Run pytest, and end the process."""
    os.setpgid(0, 0)
    log = os.open(folder / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = _CRASHED
    try:
        pytest = import_module("pytest")
        settings = next(name for name in ("pytest.ini", "pyproject.toml") if Path(name).is_file())
        places = [f"--rootdir={Path.cwd()}", f"--config-file={settings}", f"--basetemp={folder / 'files'}"]
        options = ["-x", "-q", "-n0", "--tb=line", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestWarning"]
        watch = _Watch(folder / "failed.txt", os.getppid())
        watch.pytest_runtest_logstart()  # an import may never end, too
        code = int(pytest.main([*options, *places, *tests], plugins=[watch]))
    finally:
        sys.stdout.flush()
        os._exit(code)


@dataclass(frozen=True)
class _Watch:
    """Ends the process if a test takes far too long, and notes which one fails."""

    path: Path
    parent: int

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


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), sys.argv[2:])
