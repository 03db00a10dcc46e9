"""Whether the tests would notice if the code were wrong.

Each case makes one deliberate error in a module that a guarantee depends on (certificates, intervals, selections,
fronts, the plug-in rule and its thresholds, metrics, run folders): a reversed comparison, a bound or a constant off by
one, a plus turned into a minus, `and` for `or`, minimum for maximum, two arguments swapped, one left out, a check or a
statement removed. Then tests run in a separate process: those that execute the line, as coverage.py recorded once, then
others of the same files, the quick ones first, up to ten seconds of the processor in all; where none of these notices,
up to a minute, and up to 15 tests that take more than a second each. If a test fails or hangs, the mutant is
**killed**; a mutant that **survived** shows what these tests do not cover. Some errors have no observable effect; they
are listed as **equivalent**, with the reason, in `campaigns/_equivalent.py`. The goal is that at least 95 % of the
others are killed.

A surviving mutant is tried again once a test has been written for it (`--again`), so the share after that is higher
than it would be for new mutants. The share at the first try is not. The first tries of these 400 stopped after ten
seconds of quick tests and six slow ones, or, for the first 28, after the quick ones; only repeats had the minute.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from campaigns._collected_tests import NOT_IN_MEMORY, CollectedTests
from campaigns._equivalent import EQUIVALENT
from campaigns._harness import Record, Result
from campaigns._line_tests import LineTests, read_line_tests, record_path
from campaigns._mutant_runner import NO_TESTS, NOT_FOUND, ROOT, Runner
from campaigns._mutations import Mutation, mutate, mutations
from campaigns._survivors import SURVIVED
from campaigns._test_server import Run

CASES = 400
ALARMS = ("survived",)
BATCHES = (0, 150)  # where batches of seeds begin: tests for survivors of one were written before the next was tried

_PACKAGE = ROOT / "src" / "mamofair"

#: What carries promises: modules, and folders of modules.
MODULES = (
    *(f"_stats/{name}.py" for name in ("certificates", "intervals", "simultaneous")),
    *(f"learners/plugin/{name}.py" for name in ("multipliers", "thresholds")),
    *("selection", "fronts", "metrics", "runs"),
)
#: Tests that may kill a mutant: files, and folders of files.
TESTS = (
    *(f"stats/test_{name}.py" for name in ("certificates", "certificate_levels", "intervals", "ratios_of_groups")),
    *("stats/test_simultaneous.py", "selection", "fronts", "metrics", "runs", "test_edges.py", "test_contracts.py"),
    *(f"learners/test_{name}.py" for name in ("joint_bounds", "plugin", "thresholds")),
    *(f"cli/test_{name}.py" for name in ("audit_command", "predict_command")),
    *("test_conditional_notions.py", "test_ratio_notions.py", "rows/test_units.py", "estimators/test_small_groups.py"),
    *(f"report/test_{name}.py" for name in ("model_reports", "judged_runs", "report_custom")),
)
_BUDGET, _FRESH_BUDGET = 10.0, 4.0  # processor seconds of tests: in memory, and with everything imported anew
_LAST_BUDGET, _SLOW = 60.0, 15  # where none of these noticed: seconds, and tests of more than one second


@dataclass(frozen=True)
class Mutant:
    """A mutation of a module."""

    module: str
    mutation: Mutation

    @property
    def key(self) -> str:
        """What names the mutant for as long as its code stands."""
        return f"{self.module}: {self.mutation.key}"


@cache
def mutants() -> tuple[Mutant, ...]:
    """Return all mutants in an order by chance: by a hash of what is changed, so that it lasts as code changes."""
    found = [
        Mutant(path.relative_to(_PACKAGE).as_posix(), mutation)
        for path in _modules()
        for mutation in mutations(path.read_text())
    ]
    return tuple(sorted(found, key=lambda mutant: sha256(mutant.key.encode()).digest()))


def case(seed: int) -> Result:
    """Return whether the tests notice one of the mutants."""
    mutant = mutants()[seed]
    kind = mutant.module.partition("/")[0].strip("_")
    reason = EQUIVALENT.get(mutant.module, {}).get(mutant.mutation.key)
    if reason is not None:
        return Result(kind, "equivalent", f"{mutant.key} ({reason})")
    source = (_PACKAGE / mutant.module).read_text()
    outcome, failed = fate(mutant, source, _line_tests(), _collected(), _runner)
    return Result(kind, outcome, f"{mutant.key} ({failed})" if failed else mutant.key)


def prepare() -> None:
    """Record which tests run which lines, of all files of tests that have no record or have changed since."""
    missing = [path for path in _test_files() if not record_path(path).is_file()]
    for i, path in enumerate(missing):
        print(f"\rrecording {path.stem}, {len(missing) - i} left", end="\033[K", flush=True)
        found = _collected().test(path.relative_to(ROOT).as_posix(), record_path(path))
        if found.code:
            raise ValueError(f"Tests must pass without a mutation: found that {found.failed or path} fails.")
    if missing:
        print()


def fate(
    mutant: Mutant, source: str, known: LineTests, collected: CollectedTests, runner: Callable[[], Runner]
) -> tuple[str, str]:
    """Return "killed" or "survived", and the test that failed, which passes without the change.

    What a function does is changed in memory, where tests have been `collected`; else a `runner` imports all anew.
    """
    changed, lines = mutate(source, mutant.mutation.number), source.splitlines()
    texts = [lines[number - 1].strip() for number in mutant.mutation.lines]
    first = known.choose(mutant.module, texts, _BUDGET)
    found = collected.run(mutant.module, changed, first)
    if found.code in (0, NO_TESTS):
        others = (test for test in known.choose(mutant.module, texts, _LAST_BUDGET) if test not in first)
        late = collected.run(mutant.module, changed, (*others, *known.slow(mutant.module, texts)[:_SLOW]))
        found = late if late.failed else found  # not if one was stopped, which may take as long without the change
    if found.code == NOT_IN_MEMORY:
        found = _run_anew(runner(), mutant.module, changed, known.choose(mutant.module, texts, _FRESH_BUDGET))
    elif found.failed and collected.test((found.failed,)).code:
        raise ValueError(f"Tests must pass without a mutation: found that {found.failed} alone fails. Mend it first.")
    return ("survived" if found.code in (0, NO_TESTS) else "killed"), found.failed


def _run_anew(runner: Runner, module: str, source: str, tests: tuple[str, ...]) -> Run:
    """Return how tests go where everything is imported anew; the module's own examples are those of its copy."""
    own = str(runner.package / module)
    tests = (own, *(test for test in tests if not test.partition("::")[0].endswith(f"/{module}")))
    found = runner.run(module, source, tests)
    if found.code == NOT_FOUND and not found.failed:  # the change gave tests other names
        found = runner.run(module, source, tuple({test.partition("::")[0]: None for test in tests}))
    return found


@cache
def _collected() -> CollectedTests:
    """Return this process's own: a job of the campaign has one for all of its cases."""
    folders = {path.parent: None for path in _modules()}
    return CollectedTests([*folders, *(path for path in _test_files() if path not in _modules())])


@cache
def _runner() -> Runner:
    return Runner()


@cache
def _line_tests() -> LineTests:
    return read_line_tests(record_path(path) for path in _test_files())


def _test_files() -> list[Path]:
    files = [path for name in TESTS for path in _python_files(ROOT / "tests" / name)]
    return [*_modules(), *(path for path in files if path.stem.startswith("test_"))]


def _modules() -> list[Path]:
    return [path for name in MODULES for path in _python_files(_PACKAGE / name)]


def _python_files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def explain(record: Record) -> str:
    """Return why a mutant survived, if it is known."""
    module, _, mutation = record.detail.partition(": ")
    reasons = SURVIVED.get(module, {})
    return next((f" ({reason})" for begin, reason in reasons.items() if mutation.startswith(begin)), "")


def summary(records: Sequence[Record]) -> str:
    """Return the shares of mutants that were killed: at the first try, for each batch, and by now."""
    real = [record for record in records if record.outcome != "equivalent"]
    if not real:
        return "No mutant has been tried yet."
    rows = [
        f"| first try, seeds {first:,} to {last - 1:,} | {_killed([record.first for record in batch])} |"
        for first, last in pairwise((*BATCHES, len(mutants())))
        if (batch := [record for record in real if first <= record.seed < last])
    ]
    lines = [
        "| mutants that are not equivalent | killed | of | share |",
        "|---|---:|---:|---:|",
        *rows,
        "| after tests were written for survivors, and more were tried "
        f"| {_killed([record.outcome for record in real])} |",
        f"\nThe goal is 95 %. The code has {len(mutants()):,} mutants in all.",
    ]
    return "\n".join(lines)


def _killed(outcomes: list[str]) -> str:
    killed = outcomes.count("killed")
    return f"{killed} | {len(outcomes)} | {killed / len(outcomes):.1%}"
