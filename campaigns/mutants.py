"""Whether the tests would notice if the code were wrong.

Each case makes one deliberate error in a module that a guarantee depends on (certificates, intervals, selections,
fronts, the plug-in rule and its thresholds, metrics, run folders): a reversed comparison, a bound or a constant off by
one, a plus turned into a minus, `and` for `or`, minimum for maximum, two arguments swapped, one left out, a check or a
statement removed. Then it runs the tests of that module in a separate process. If a test fails or hangs, the mutant is
**killed**; a mutant that **survived** shows what no test covers. Some errors have no observable effect; they are listed
as **equivalent**, with the reason, in `campaigns/_equivalent.py`. The goal is that at least 95 % of the others are
killed.

A surviving mutant is tried again once a test has been written for it. The share below is the one after that, so it is
higher than it would be for new mutants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from campaigns._equivalent import EQUIVALENT
from campaigns._harness import Record, Result
from campaigns._mutant_runner import NO_TESTS, ROOT, Runner
from campaigns._mutations import Mutation, mutate, mutations

CASES = 400
ALARMS = ("survived",)

_PACKAGE = ROOT / "src" / "mamofair"

_FOLDERS = tuple(
    f"runs/test_{name}.py" for name in ("untrusted_folders", "nonsense_in_runs", "save_and_load", "sizes_of_runs")
)

#: Which tests look at a module, or at all modules of a folder: the first entry that fits, the quickest test first.
TESTS: dict[str, tuple[str, ...]] = {
    "_stats/certificates.py": (
        "stats/test_certificates.py",
        "stats/test_certificate_levels.py",
        "selection/test_certified.py",
    ),
    "_stats/intervals.py": (
        "test_edges.py",
        "stats/test_ratios_of_groups.py",
        "stats/test_intervals.py",
        "metrics",
        "stats/test_certificates.py",
    ),
    "_stats/simultaneous.py": (
        "stats/test_simultaneous.py",
        "stats/test_ratios_of_groups.py",
        "stats/test_intervals.py",
    ),
    "selection/_rules.py": ("selection/test_selection.py", "selection/test_closest_to_ideal.py", "test_contracts.py"),
    "selection/_rows.py": (
        "selection/test_selection.py",
        "selection/test_closest_to_ideal.py",
        "test_contracts.py",
        "selection/test_certified.py",
    ),
    "selection/_within.py": ("selection/test_selection.py", "selection/test_certified.py"),
    "selection": (
        "selection/test_pairs_of_groups.py",
        "selection/test_selection.py",
        "selection/test_certified.py",
        "test_contracts.py",
    ),
    "fronts/_hypervolume.py": ("fronts/test_kept_points.py", "fronts/test_fronts.py"),
    "fronts": (
        "fronts/test_fronts.py",
        "fronts/test_kept_points.py",
        "metrics/test_rates.py",
        "estimators/test_crossfit.py",
    ),
    "learners/plugin/multipliers.py": (
        "test_edges.py",
        "learners/test_joint_bounds.py",
        "learners/test_plugin.py",
        "estimators/test_plugin_estimator.py",
    ),
    "learners/plugin/thresholds.py": ("learners/test_thresholds.py", "estimators/test_plugin_estimator.py"),
    "metrics/_rates.py": ("metrics/test_rates.py", "metrics/test_audit.py"),
    "metrics": ("test_edges.py", "metrics", "cli/test_audit_command.py"),
    "runs/_onnx.py": ("cli/test_predict_command.py",),
    "runs/_csv.py": ("cli/test_predict_command.py", "runs/test_killed_runs.py"),
    "runs/_values.py": (*_FOLDERS, "runs/test_everything_exported.py", "runs/test_crafted_boosters.py"),
    "runs/_weightings.py": ("runs/test_everything_exported.py",),
    "runs/_estimator_files.py": _FOLDERS,
    "runs/_boosters.py": ("runs/test_crafted_boosters.py", "runs/test_save_and_load.py"),
    "runs/_checkpoint.py": ("runs/test_killed_runs.py", "runs/test_folder_locks.py"),
    "runs/_locks.py": ("runs/test_folder_locks.py", "runs/test_killed_runs.py"),
    "runs": (*_FOLDERS, "runs/test_killed_runs.py", "runs/test_folder_locks.py", "cli/test_every_command.py"),
}


@dataclass(frozen=True)
class Mutant:
    """A mutation of a module."""

    module: str
    mutation: Mutation

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that are to kill it, beside the module's own examples."""
        fitting = [tests for name, tests in TESTS.items() if self.module == name or self.module.startswith(f"{name}/")]
        return tuple(str(ROOT / "tests" / test) for test in fitting[0])

    @property
    def key(self) -> str:
        """What names the mutant for as long as its code stands."""
        return f"{self.module}: {self.mutation.key}"


@cache
def mutants() -> tuple[Mutant, ...]:
    """Return all mutants in an order by chance: by a hash of what is changed, so that it lasts as code changes."""
    own = _PACKAGE.rglob
    modules = sorted({path for name in TESTS for path in own(name if name.endswith(".py") else f"{name}/*.py")})
    found = [
        Mutant(path.relative_to(_PACKAGE).as_posix(), mutation)
        for path in modules
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
    outcome, failed = fate(_runner(), mutant.module, mutate(source, mutant.mutation.number), mutant.tests)
    return Result(kind, outcome, f"{mutant.key} ({failed})" if failed else mutant.key)


def fate(runner: Runner, module: str, source: str, tests: tuple[str, ...]) -> tuple[str, str]:
    """Return "killed" or "survived" for a changed module, and the test that failed, which passes without the change."""
    own = str(runner.package / module)
    found = runner.run(module, source, (own, *tests))
    failed = f"{own}{found.failed}" if found.failed.startswith("::") else found.failed  # an example of the module
    if failed:
        _require_pass(runner, failed)
    return ("killed" if found.code else "survived"), found.failed


@cache
def _runner() -> Runner:
    """Return this process's own: a job of the campaign has one for all of its cases."""
    return Runner()


@cache
def _require_pass(runner: Runner, test: str) -> None:
    if runner.test((test,)).code not in (0, NO_TESTS):
        raise ValueError(f"Tests must pass without a mutation: found that {test} fails. Mend it first.")


def summary(records: Sequence[Record]) -> str:
    """Return the share of mutants that were killed."""
    killed, survived = (sum(record.outcome == outcome for record in records) for outcome in ("killed", "survived"))
    if not killed + survived:
        return "No mutant has been tried yet."
    share = killed / (killed + survived)
    return (
        f"Killed: {killed} of {killed + survived} mutants that are not equivalent, {share:.1%}; the goal is 95 %. "
        f"The code has {len(mutants()):,} mutants in all."
    )
