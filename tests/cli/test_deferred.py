import subprocess
import sys

import pytest

BEFORE = "import sys; from mamofair.cli._deferred import defer; defer('scipy.stats'); import sklearn.base\n"
IS_THERE = "'scipy.stats._stats_py' in sys.modules"


def run(code):
    subprocess.run([sys.executable, "-W", "error", "-c", BEFORE + code], check=True, timeout=300)


def test_scikit_learn_does_not_execute_what_is_deferred():
    run(f"import scipy.stats, scipy; assert not {IS_THERE}; assert scipy.stats is sys.modules['scipy.stats']")


@pytest.mark.parametrize(
    "use",
    [
        "from scipy.stats import norm; assert norm.cdf(0) == 0.5",
        "import scipy; assert scipy.stats.norm.cdf(0) == 0.5",
        "from scipy.stats.qmc import Halton; assert len(Halton(2).random(3)) == 3",
        "import scipy.stats._stats_py",
        "from sklearn.utils.fixes import _mode; assert _mode([1, 2, 2])[0] == 2",
        "from threading import Thread; import scipy.stats; found = []\n"
        "work = [Thread(target=lambda: found.append(scipy.stats.norm.cdf(0))) for _ in range(8)]\n"
        "[one.start() for one in work], [one.join() for one in work]; assert found == [0.5] * 8",
    ],
)
def test_what_is_deferred_works_as_soon_as_it_is_used(use):
    run(f"{use}\nassert {IS_THERE}; import types; assert type(sys.modules['scipy.stats']) is types.ModuleType")


def test_names_that_do_not_exist_are_the_usual_error():
    run("import scipy.stats\ntry: scipy.stats.nothing\nexcept AttributeError as error: assert error.name == 'nothing'")


def test_what_was_imported_before_stays_and_unknown_names_are_ignored():
    run("import scipy.special as own; defer('scipy.special'); assert own is sys.modules['scipy.special']")
    run("defer('scipy.nothing_like_this'); assert 'scipy.nothing_like_this' not in sys.modules")
