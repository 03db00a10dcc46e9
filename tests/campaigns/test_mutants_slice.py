"""Mutants of a toy package with a known fate, and what the harness makes of our own modules."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns._collected_tests import CollectedTests
from campaigns._equivalent import EQUIVALENT
from campaigns._harness import Record
from campaigns._line_tests import LineTests, read_line_tests
from campaigns._mutant_runner import ROOT, Runner
from campaigns._mutations import mutate, mutations

from campaigns import mutants

MODULE = '''"""A toy."""

NOTHING = 0
IDLE = 7


def share(part: float, whole: float) -> float:
    """Return a share.

    >>> share(1, 2)
    0.5
    """
    if whole <= NOTHING:
        raise ValueError("There must be something to share.")
    return part / whole


def idle(number: int) -> int:
    return number + 1
'''
TESTS = """from toy.parts import share


def test_share_of_all_is_one():
    assert share(3, 3) == share(1, 1) == 1
"""
MORE_TESTS = """import time

import pytest
from toy.parts import idle

def test_nothing():
    pass


def test_slow():
    began = time.process_time()
    while time.process_time() < began + 60:
        pass


@pytest.fixture
def two():
    return 2


def test_idle(two):
    assert idle(1) == two
"""
ORDERED_TESTS = """SEEN = []


def test_first():
    SEEN.append(1)


def test_second():
    assert SEEN
"""
SETTINGS = "[pytest]\naddopts = --doctest-modules\n"


@pytest.fixture(scope="module", autouse=True)
def few_plugins() -> Iterator[None]:
    """Let processes load no plug-in of pytest but the one whose options they are given: all take half a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.setenv("PYTEST_PLUGINS", "xdist.plugin")
        yield


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    files = {
        "src/toy/__init__.py": "",
        "src/toy/parts.py": MODULE,
        "test_parts.py": TESTS,
        "pytest.ini": SETTINGS,
        "test_more.py": MORE_TESTS,
        "test_ordered.py": ORDERED_TESTS,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def runner(toy: Path) -> Iterator[Runner]:
    own = Runner(toy / "src" / "toy", toy, slow=())
    yield own
    own.close()


@pytest.fixture(scope="module")
def collected(toy: Path) -> Iterator[CollectedTests]:
    own = CollectedTests([toy / "src" / "toy", *sorted(toy.glob("test_*.py"))], toy / "src" / "toy", toy)
    yield own
    own.close()


@pytest.fixture(scope="module")
def known(toy: Path, collected: CollectedTests) -> LineTests:
    paths = [toy / f"{name}.json" for name in ("parts", "more", "examples")]
    for path, name in zip(paths, ("test_parts.py", "test_more.py", "src/toy/parts.py"), strict=True):
        assert collected.test(name, path).code == 0
    return read_line_tests(paths)


def test_mutants_that_a_test_looks_at_are_killed_and_others_survive(toy, runner, collected, known):
    """By an example, or by a test, of what functions do or of a constant; and what nobody looks at survives."""
    wanted = {
        "return part * whole": "killed",
        "if whole > NOTHING:": "killed",
        "return number - 1": "killed",
        "raise ValueError('There must be something to share.')": "survived",
        "NOTHING = 1": "killed",
        "IDLE = 8": "survived",
    }
    fates = {}
    for mutation in mutations(MODULE):
        name = mutation.before if mutation.after == "pass" else mutation.after
        if name in wanted:
            mutant = mutants.Mutant("parts.py", mutation)
            fates[name], failed = mutants.fate(mutant, MODULE, known, collected, lambda: runner)
            assert bool(failed) == (fates[name] == "killed")
    assert fates == wanted
    assert (toy / "src" / "toy" / "parts.py").read_text() == MODULE


def test_a_test_that_fails_alone_kills_nothing(runner, collected):
    [mutation] = [mutation for mutation in mutations(MODULE) if mutation.after == "return part * whole"]
    only = LineTests({"test_ordered.py::test_second": 0.1}, {"parts.py": {"": {"test_ordered.py"}}})
    with pytest.raises(ValueError, match=r"found that test_ordered\.py::test_second alone fails"):
        mutants.fate(mutants.Mutant("parts.py", mutation), MODULE, only, collected, lambda: runner)


def test_tests_that_a_change_renames_run_by_their_file(runner):
    changed = MODULE.replace("part / whole", "2 * part / whole")
    run = mutants._run_anew(runner, "parts.py", changed, ("test_parts.py::test_of_another_name",))
    assert (run.code > 0, run.failed) == (True, "::toy.parts.share")


def test_a_line_has_the_tests_that_run_it_and_then_others_of_the_file(known):
    tests = {f"test_more.py::test_{name}" for name in ("idle", "nothing")}
    assert set(known.seconds) == {
        "test_parts.py::test_share_of_all_is_one",
        "src/toy/parts.py::toy.parts.share",
        *tests,
    }
    idle = known.choose("parts.py", ["return number + 1"], budget=100)
    assert idle[0] == "test_more.py::test_idle"
    assert set(idle) == tests
    assert known.choose("parts.py", ["return number + 1"], budget=known.seconds[idle[0]]) == idle[:1]
    assert set(known.choose("parts.py", ["no such line"], budget=100)) == {*known.seconds}


def test_a_mutation_knows_the_lines_that_run_it():
    source = "LIMIT = 1\n\n\ndef f(x=2):\n    if (\n        x > 3\n    ):\n        return max(\n            x, 4)\n"
    lines = {mutation.kind + mutation.after: mutation.lines for mutation in mutations(source)}
    assert lines["constantLIMIT = 2"] == ()
    assert lines["constantdef f(x=3):"] == (5, 6, 7, 8, 9)
    assert lines["comparisonif x >= 3:"] == (5, 6, 7)
    assert lines["return valuereturn None"] == lines["functionreturn min(x, 4)"] == (8, 9)


def test_a_mutation_changes_one_thing_and_no_words():
    found = mutations(MODULE)
    assert len({mutation.key for mutation in found}) == len(found)
    for mutation in found:
        source = mutate(MODULE, mutation.number)
        assert ast.get_docstring(ast.parse(source)) == "A toy."
        assert source != ast.unparse(ast.parse(MODULE))
    assert {mutation.kind for mutation in found} >= {
        "comparison",
        "arithmetic",
        "constant",
        "return value",
        "statement",
    }
    with pytest.raises(ValueError, match=f"must be one of {len(found)}"):
        mutate(MODULE, len(found))


def test_every_module_that_carries_a_promise_has_mutants_and_tests():
    modules = {mutant.module for mutant in mutants.mutants()}
    assert modules >= {"_stats/certificates.py", "_stats/intervals.py", "fronts/_archive.py", "runs/_values.py"}
    assert modules >= {"selection/_pairs.py", "metrics/_audit.py", "learners/plugin/multipliers.py"}
    assert all((ROOT / "tests" / test).exists() for test in mutants.TESTS)
    assert len(mutants.mutants()) > mutants.CASES


def test_mutants_that_are_called_equivalent_exist():
    """An entry whose code has changed must be looked at again."""
    known = {(mutant.module, mutant.mutation.key) for mutant in mutants.mutants()}
    listed = {(module, key) for module, reasons in EQUIVALENT.items() for key in reasons}
    assert not listed - known
    assert all(reason.strip() for reasons in EQUIVALENT.values() for reason in reasons.values())


def test_summary_tells_first_tries_from_what_was_mended():
    tries = [("killed", "killed")] * 17 + [("survived", "killed")] * 2 + [("survived", "survived")]
    tries += [("survived", "equivalent")] * 5
    records = [
        Record("intervals", now, seed=mutants.BATCHES[1] + i, first=first) for i, (first, now) in enumerate(tries)
    ]
    said = mutants.summary([Record("intervals", "survived", seed=0, first="survived"), *records])
    assert f"| first try, seeds 0 to {mutants.BATCHES[1] - 1} | 0 | 1 | 0.0% |" in said
    assert "| 17 | 20 | 85.0% |" in said
    assert "| after tests were written for survivors, and more were tried | 19 | 21 | 90.5% |" in said
    assert mutants.summary([]) == "No mutant has been tried yet."
