"""What is deferred is executed when it is used, not before.

Each program has a process of its own, forked from one that has imported scikit-learn, and what `scipy.stats` itself
imports: seconds each, saved.
"""

import gc
import subprocess
import sys
import weakref

import pytest

from mamofair.cli._deferred import collect_later

SERVER = """
import os, sys, warnings
from mamofair.cli._deferred import defer
defer("scipy.stats")
import sklearn.base
import scipy.integrate, scipy.interpolate, scipy.ndimage, scipy.optimize, scipy.spatial, scipy.sparse.csgraph

for line in sys.stdin:
    with warnings.catch_warnings(action="ignore"):  # of threads, which a child has none of
        child = os.fork()
    if not child:
        exec(eval(line), {"sys": sys, "defer": defer})
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""
IS_THERE = "'scipy.stats._stats_py' in sys.modules"
IS_WHOLE = f"assert {IS_THERE}; import scipy.stats as s, scipy; assert s is scipy.stats and s.__spec__ and s.__file__"
UNUSED = f"import scipy.stats, scipy; assert not {IS_THERE}; assert scipy.stats is sys.modules['scipy.stats']"
USES = [
    "from scipy.stats import norm; assert norm.cdf(0) == 0.5",
    "import scipy; assert scipy.stats.norm.cdf(0) == 0.5",
    "from scipy.stats.qmc import Halton; assert len(Halton(2).random(3)) == 3",
    "import scipy.stats._stats_py",
    "from sklearn.utils.fixes import _mode; assert _mode([1, 2, 2])[0] == 2",
    "from threading import Thread; import scipy.stats; found = []\n"
    "work = [Thread(target=lambda: found.append(scipy.stats.norm.cdf(0))) for _ in range(8)]\n"
    "[one.start() for one in work], [one.join() for one in work]; assert found == [0.5] * 8",
]
WRONG_NAME = (
    "import scipy.stats\n"
    "try: scipy.stats.nothing\n"
    "except AttributeError as error: assert error.name == 'nothing'\n"
    "else: raise AssertionError"
)
IMPORTED_BEFORE = "import scipy.special as own; defer('scipy.special'); assert own is sys.modules['scipy.special']"
FAILING = "assert False"


@pytest.fixture(scope="module")
def ends() -> dict[str, str]:
    """The status with which each program ended, and what all of them said."""
    programs = [UNUSED, *(f"{use}\n{IS_WHOLE}" for use in USES), WRONG_NAME, IMPORTED_BEFORE, FAILING]
    command, lines = [sys.executable, "-W", "error", "-c", SERVER], "\n".join(map(repr, programs))
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, timeout=300)
    return dict(zip(programs, done.stdout.split(), strict=True)) | {"said": done.stderr}


def test_a_program_that_fails_would_be_noticed(ends):
    assert ends[FAILING] != "0"


def test_scikit_learn_does_not_execute_what_is_deferred(ends):
    assert ends[UNUSED] == "0", ends["said"]


@pytest.mark.parametrize("use", USES)
def test_what_is_deferred_works_as_soon_as_it_is_used(use, ends):
    assert ends[f"{use}\n{IS_WHOLE}"] == "0", ends["said"]


def test_names_that_do_not_exist_are_the_usual_error(ends):
    assert ends[WRONG_NAME] == "0", ends["said"]


def test_what_was_imported_before_stays(ends):
    assert ends[IMPORTED_BEFORE] == "0", ends["said"]


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
