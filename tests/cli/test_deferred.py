"""What is deferred is executed when it is used, not before."""

import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator
from importlib import import_module
from threading import Thread
from types import ModuleType

import pytest

from mamofair.cli._deferred import collect_later, defer

FILES = {
    "__init__.py": "",
    "stats/__init__.py": "from parcel.stats._norm import norm\n",
    "stats/_norm.py": "import parcel.stats, time\n\ntime.sleep(0.01)\nnorm = 0.5\n",  # asks while it is imported
    "stats/qmc.py": "points = 3\n",
}


@pytest.fixture
def parcel(tmp_path, monkeypatch) -> Iterator[ModuleType]:
    """A package whose submodule `stats` is deferred."""
    for name, text in FILES.items():
        path = tmp_path / "parcel" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    defer("parcel.stats")
    yield import_module("parcel")
    for name in [name for name in sys.modules if name.partition(".")[0] == "parcel"]:
        del sys.modules[name]


def is_executed() -> bool:
    return "parcel.stats._norm" in sys.modules


def of_a_name(parcel):
    from parcel.stats import norm

    assert norm == 0.5


def of_the_parents_attribute(parcel):
    assert parcel.stats.norm == 0.5


def of_a_submodule(parcel):
    from parcel.stats.qmc import points

    assert points == 3


def of_threads(parcel):
    found: list[float] = []
    threads = [Thread(target=lambda: found.append(parcel.stats.norm)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0.5] * 8


@pytest.mark.parametrize("use", [of_a_name, of_the_parents_attribute, of_a_submodule, of_threads])
def test_what_is_deferred_works_as_soon_as_it_is_used(use, parcel):
    import parcel.stats as deferred

    assert parcel.stats is deferred is sys.modules["parcel.stats"]
    assert not is_executed()
    use(parcel)
    assert is_executed()
    import parcel.stats as whole

    assert whole is parcel.stats is sys.modules["parcel.stats"]
    assert whole.__spec__
    assert whole.__file__


def test_names_that_do_not_exist_are_the_usual_error(parcel):
    with pytest.raises(AttributeError) as caught:
        parcel.stats.nothing  # noqa: B018  # it is found, or not
    assert caught.value.name == "nothing"


def test_what_was_imported_before_stays(parcel):
    import parcel.stats.qmc as own

    defer("parcel.stats.qmc")
    assert own is sys.modules["parcel.stats.qmc"]


SCIKIT_LEARN = """
import sys
from mamofair.cli._deferred import defer
defer("scipy.stats")
import sklearn.base, scipy.stats, scipy
assert "scipy.stats._stats_py" not in sys.modules
assert scipy.stats is sys.modules["scipy.stats"]
from sklearn.utils.fixes import _mode
assert _mode([1, 2, 2])[0] == 2
import scipy.stats
assert "scipy.stats._stats_py" in sys.modules and scipy.stats.norm.cdf(0) == 0.5
from scipy.stats.qmc import Halton
assert len(Halton(2).random(3)) == 3
"""


def test_scikit_learn_does_not_execute_what_is_deferred_before_it_uses_it():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCIKIT_LEARN], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


class Node:
    """Part of a cycle that only the search for garbage can free."""

    def __init__(self):
        self.itself = self


def test_garbage_is_collected_later_but_not_never():
    with collect_later():
        assert not gc.isenabled()
        garbage = weakref.ref(Node())
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert garbage() is None
