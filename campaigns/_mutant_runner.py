"""Runs tests on a package with one module changed on disk, imported anew for each run.

The package is copied once into a folder of the job's own, where modules are changed, so that the working tree stays
as it is. The process that forks has imported what is slow.
"""

import os
import shutil
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from campaigns._test_server import Channel, Client, Run, pytest_options

ROOT = Path(__file__).parents[1]
SLOW = ("xdist", "jaxtyping", "beartype", "numpy", "pandas", "pyarrow", "polars", "narwhals")
SLOW += ("scipy.stats", "scipy.optimize", "sklearn.ensemble", "sklearn.linear_model", "sklearn.pipeline")
SLOW += ("sklearn.model_selection", "sklearn.utils.estimator_checks", "skops.io", "moocore", "lightgbm", "torch")
SLOW += ("torch.func", "torch.distributed", "safetensors.torch", "fairlearn.metrics", "typer.testing", "rich.progress")
NOT_FOUND, NO_TESTS = 4, 5  # pytest's exit codes where it did not find a test by its name, and where there is none


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
        folder = Path(self._folder.name)
        self.package = folder / "src" / package.name
        shutil.copytree(package, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self._original, self._writes = package, 0
        self._client = Client(__name__, folder, *slow, root=root, paths=[self.package.parent, ROOT])

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
        return self._client.ask(tests=tests)

    def _write(self, path: Path, source: str) -> None:
        """Write a module with a time of its own: else compiled code of another mutant might pass for it."""
        path.write_text(source)
        self._writes += 1
        os.utime(path, (self._writes, self._writes))

    def close(self) -> None:
        """End the process, and remove the copy."""
        self._client.close()
        self._folder.cleanup()


def _serve(folder: Path, slow: list[str]) -> None:
    channel = Channel.open(folder)
    for name in slow:
        if find_spec(name.partition(".")[0]):
            import_module(name)
    watch = channel.watch

    def work(tests: list[str]) -> int:
        watch.pytest_runtest_logstart()  # an import may never end, too
        return int(pytest.main([*pytest_options(folder), *tests], plugins=[watch]))

    channel.serve(work)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), sys.argv[2:])
