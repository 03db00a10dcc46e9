"""Mutants of a toy package with a known fate, and what the harness makes of our own modules."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns._equivalent import EQUIVALENT
from campaigns._harness import Record
from campaigns._mutant_runner import ROOT, Runner
from campaigns._mutations import mutate, mutations

from campaigns import mutants

MODULE = '''"""A toy."""


def share(part: float, whole: float) -> float:
    """Return a share.

    >>> share(1, 2)
    0.5
    """
    if whole <= 0:
        raise ValueError("There must be something to share.")
    return part / whole


def idle(number: int) -> int:
    return number + 1
'''
TESTS = """from toy.parts import share


def test_share_of_all_is_one():
    assert share(3, 3) == 1
"""
SETTINGS = "[pytest]\naddopts = --doctest-modules\n"


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    files = {"toy/__init__.py": "", "toy/parts.py": MODULE, "test_parts.py": TESTS, "pytest.ini": SETTINGS}
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def runner(toy: Path) -> Iterator[Runner]:
    own = Runner(toy / "toy", toy, slow=("pytest", "xdist.plugin", "jaxtyping", "hypothesis"))
    yield own
    own.close()


def test_mutants_that_a_test_looks_at_are_killed_and_others_survive(toy, runner):
    """By an example, or by a test; and what nobody looks at survives."""
    wanted = {
        "return part * whole": "killed",
        "if whole > 0:": "killed",
        "return number - 1": "survived",
        "raise ValueError('There must be something to share.')": "survived",
    }
    found = {}
    for mutation in mutations(MODULE):
        name = mutation.before if mutation.after == "pass" else mutation.after
        if name in wanted:
            source = mutate(MODULE, mutation.number)
            found[name], _ = mutants.fate(runner, "parts.py", source, (str(toy / "test_parts.py"),))
    assert found == wanted
    assert (toy / "toy" / "parts.py").read_text() == MODULE


def test_a_test_that_fails_without_a_mutation_kills_nothing(toy, runner):
    (toy / "test_wrong.py").write_text("def test_wrong():\n    assert False\n")
    with pytest.raises(ValueError, match=r"must pass without a mutation: found that test_wrong\.py::test_wrong"):
        mutants.fate(runner, "parts.py", MODULE, (str(toy / "test_wrong.py"),))


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
    assert all((ROOT / "tests" / test).exists() for tests in mutants.TESTS.values() for test in tests)
    assert len(mutants.mutants()) > mutants.CASES


def test_mutants_that_are_called_equivalent_exist():
    """An entry whose code has changed must be looked at again."""
    known = {(mutant.module, mutant.mutation.key) for mutant in mutants.mutants()}
    listed = {(module, key) for module, reasons in EQUIVALENT.items() for key in reasons}
    assert not listed - known
    assert all(reason.strip() for reasons in EQUIVALENT.values() for reason in reasons.values())


def test_summary_counts_what_is_not_equivalent():
    outcomes = ["killed"] * 19 + ["survived"] + ["equivalent"] * 5
    said = mutants.summary([Record("intervals", outcome, seed=i) for i, outcome in enumerate(outcomes)])
    assert said.startswith("Killed: 19 of 20 mutants that are not equivalent, 95.0%; the goal is 95 %.")
    assert mutants.summary([]) == "No mutant has been tried yet."
