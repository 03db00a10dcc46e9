import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules

import pandas as pd
import pytest

import mamofair
from loan_table import applicants
from mamofair.tables import encoder

OPTIONAL = {"lightgbm", "fairlearn", "fairret", "oxonfair", "cvxpy", "matplotlib", "altair", "jinja2", "typer", "onnx"}
OPTIONAL |= {"onnxruntime", "dask", "distributed", "polars", "openpyxl"}


@cache
def said(code: str) -> list[str]:
    """Return the words that a program prints in a process of its own, where nothing else has been imported."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_the_command_line_starts_without_mathematics():
    modules = said("import sys, mamofair.cli; print(*sys.modules)")
    assert "typer" in modules
    assert not {"torch", "sklearn", "scipy", "pandas"} & set(modules)


#: What takes long to import, and is of no use to those who predict.
SLOW = {"torch", "skops", "matplotlib", "altair", "jinja2", "dask", "onnx", "sklearn.ensemble", "sklearn.linear_model"}
#: What takes a second of CPU time together: two of them are deferred, and LightGBM's library needs no package.
HEAVY = {"lightgbm", "scipy.stats._stats_py", "scipy.optimize", "scipy.spatial", "scipy.interpolate"}
HEAVY |= {"numpy.f2py.crackfortran", "mamofair.streaming.table"}
HEAVY |= {"sklearn.metrics", "sklearn.model_selection", "sklearn.preprocessing"}


@pytest.mark.parametrize("arguments", ["--version", "--help", "predict --help", "train --help"])
def test_help_imports_no_mathematics_and_no_more_of_rich_than_typer_does(arguments):
    asked = f"import sys; sys.argv = ['mamofair', *{arguments.split()}]; from mamofair.cli import main"
    modules = said(f"{asked}\ntry: main()\nexcept SystemExit: print('\\n:', *sys.modules)")
    assert modules[-1] not in (":", "")
    assert not (SLOW | {"numpy", "pandas", "sklearn", "scipy", "lightgbm", "jaxtyping"}) & set(modules)
    assert not {"rich.console", "rich.markdown"} & (set(modules) - set(said("import sys, typer; print(*sys.modules)")))


def run_of(estimator, folder):
    """Write the run of an estimator that takes loans as they come."""
    table = applicants(200)
    people = encoder("none" if estimator.__sklearn_tags__().input_tags.allow_nan else "median").fit(table[FEATURES])
    model = estimator.fit(people.transform(table[FEATURES]), table["approved"], sensitive_features=table["gender"])
    return mamofair.save(model.with_encoder(people), folder)


FEATURES = ["income", "age", "job"]
WAYS = {"random_state": 0, "favorable": "yes"}
TREES = {
    "plugin": lambda: mamofair.FairPlugInClassifier(effort="fast", cv=2, **WAYS),
    "boosting": lambda: mamofair.FairBoostingClassifier(members=2, n_estimators=3, **WAYS),
    "portfolio": lambda: mamofair.FairPortfolioClassifier([("plugin", TREES["plugin"]())], **WAYS),
}


PREDICTED_AND_TRAINED = """
import os, sys
import mamofair
from mamofair.cli import main
from mamofair.cli._predict import predict

def command(*words):
    sys.argv = ["mamofair", *words]
    try: main()
    except SystemExit as end: assert not end.code
    print("\\n:", *sys.modules)

def predicted(run):
    command("predict", run, "one.csv", "-o", run + ".csv")
    mamofair.load(run)
    sys.stdout.flush()

for run in {trees}:
    predicted(run)
if not os.fork():  # what is imported so far, it needs as well
    command("train", "loans.csv", *{columns}, "--effort", "fast", "--out", "trained")
    sys.stdout.flush()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
predicted("net")
print("\\n:", *sys.modules)

sys.modules.update(dict.fromkeys({optional}))  # as if they were not installed
toy = mamofair.datasets.make_toy()
model = mamofair.FairNetClassifier(epochs=1, members=2).fit(toy.X, toy.y, sensitive_features=toy.sensitive)
model.predict(toy.X)
print("\\n:", *(name for name, module in sys.modules.items() if module))
before = {{*globals()}}
from mamofair import *
print("\\n:", *(name for name in globals() if name not in before and name[0] != "_" and name != "before"))
"""


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> list[list[str]]:
    """Return what a process has imported after each of many steps, and at last the names that it has from `*`.

    One process for all of them: what most of them import takes seconds.
    """
    folder = tmp_path_factory.mktemp("imports")
    net = mamofair.FairNetClassifier(epochs=1, members=2, **WAYS)
    for name, estimator in {**{name: make() for name, make in TREES.items()}, "net": net}.items():
        run_of(estimator, folder / name)
    applicants(1).to_csv(folder / "one.csv", index=False)
    applicants(120).to_csv(folder / "loans.csv", index=False)
    columns = ["--target", "approved", "--favorable", "yes", "--sensitive", "gender"]
    code = PREDICTED_AND_TRAINED.format(columns=columns, trees=[*TREES], optional=OPTIONAL)
    alone = os.environ | {"OMP_NUM_THREADS": "1"}  # a process with threads must not be forked
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=folder, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(len(pd.read_csv(folder / f"{run}.csv")) == 1 for run in (*TREES, "net"))
    assert (folder / "trained" / "report.html").exists()
    return [part.split() for part in done.stdout.split("\n:")[1:]]


def test_trees_are_trained_by_the_command_without_torch_and_skops(words):
    modules = set(words[len(TREES)])
    assert "lightgbm" in modules
    assert not {"torch", "skops", "dask"} & modules


def test_trees_predict_without_torch_and_skops(words):
    modules = set(words[len(TREES) - 1])
    assert {"pandas", "sklearn.base", "mamofair.learners.loaded_booster"} <= modules
    assert not (SLOW | HEAVY) & modules


def test_networks_predict_without_an_optimizer_and_lightgbm(words):
    modules = set(words[len(TREES) + 2])
    assert "torch" in modules
    assert not (SLOW - {"torch"} | HEAVY | {"torch._dynamo"}) & modules


def test_every_name_is_there_when_it_is_used_and_neither_it_nor_a_fit_needs_an_optional_package(words):
    installed, *names = said("import mamofair; print(mamofair.__version__, *dir(mamofair))")
    assert installed == version("mamofair")
    assert {"FairNetClassifier", "audit", "load", "metrics", "datasets"} <= set(names)
    *_, modules, from_star = words
    assert "torch.nn" in modules
    assert not (OPTIONAL | {"torch._dynamo"}) & set(modules)
    assert sorted(from_star) == sorted(names)


WORDS = (
    "selection",
    "metrics",
    "explanations",
    "fronts",
    "_stats",
    "alternatives",
    "limits",
    "plot",
    "_html",
    "monitor",
)


@pytest.mark.parametrize("package", WORDS)
def test_every_module_lists_what_it_exports(package):
    root = import_module(f"mamofair.{package}")
    parts = [import_module(f"{root.__name__}.{part.name}") for part in iter_modules(getattr(root, "__path__", []))]
    for module in (root, *parts):
        assert [name for name in module.__all__ if not hasattr(module, name)] == [], module.__name__
