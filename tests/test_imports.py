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


def test_every_name_is_there_when_it_is_used_and_neither_it_nor_a_fit_needs_an_optional_package():
    installed, *names = said("import mamofair; print(mamofair.__version__, *dir(mamofair))")
    assert installed == version("mamofair")
    assert {"FairNetClassifier", "audit", "load", "metrics", "datasets"} <= set(names)
    fit = "FairNetClassifier(epochs=1, members=2).fit(toy.X, toy.y, sensitive_features=toy.sensitive).predict(toy.X)"
    start = "import sys; from mamofair import FairNetClassifier; from mamofair.datasets import make_toy"
    fitted = f"{start}; toy = make_toy(); {fit}; print(*sys.modules, ':')"
    without = f"sys.modules.update(dict.fromkeys({OPTIONAL})); del sys, FairNetClassifier, make_toy, toy"
    shown = "from mamofair import *; print(*(name for name in dir() if name[0] != '_'))"
    words = said(f"{fitted}; {without}; {shown}")  # in one process: torch takes seconds to import
    end = words.index(":")
    modules = set(words[:end])
    assert "torch.nn" in modules
    assert not (OPTIONAL | {"torch._dynamo"}) & modules
    assert words[end + 1 :] == sorted(names)


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


def modules_after_predicting(runs, tmp_path):
    """Return what a process has imported that predicts a row of runs by the command line, and then loads them."""
    applicants(1).to_csv(tmp_path / "one.csv", index=False)
    lines = ["import sys, mamofair", "from mamofair.cli._predict import predict"]
    for run in runs:
        asked = f"['mamofair', 'predict', {str(run)!r}, {str(tmp_path / 'one.csv')!r}, '-o', {str(run) + '.csv'!r}]"
        lines += [f"sys.argv = {asked}", "from mamofair.cli import main", "try: main()", "except SystemExit as end:"]
        lines += ["    assert not end.code", f"mamofair.load({str(run)!r})"]
    modules = said("\n".join([*lines, "print('\\n:', *sys.modules)"]))
    assert all(len(pd.read_csv(f"{run}.csv")) == 1 for run in runs)
    return set(modules)


def test_trees_predict_without_torch_and_skops(tmp_path):
    runs = [run_of(make(), tmp_path / name) for name, make in TREES.items()]
    modules = modules_after_predicting(runs, tmp_path)
    assert {"pandas", "sklearn.base", "mamofair.learners.loaded_booster"} <= modules
    assert not (SLOW | HEAVY) & modules


def test_trees_are_trained_by_the_command_without_torch_and_skops(tmp_path):
    applicants(120).to_csv(tmp_path / "loans.csv", index=False)
    asked = f"train {tmp_path}/loans.csv --target approved --favorable yes --sensitive gender --effort fast"
    lines = [f"import sys; sys.argv = ['mamofair', *{asked.split()}, '--out', {str(tmp_path / 'run')!r}]"]
    lines += ["from mamofair.cli import main", "try: main()", "except SystemExit as end: assert not end.code"]
    modules = set(said("\n".join([*lines, "print('\\n:', *sys.modules)"])))
    assert "lightgbm" in modules
    assert (tmp_path / "run" / "report.html").exists()
    assert not {"torch", "skops", "dask"} & modules


def test_networks_predict_without_an_optimizer_and_lightgbm(tmp_path):
    net = mamofair.FairNetClassifier(epochs=1, members=2, **WAYS)
    modules = modules_after_predicting([run_of(net, tmp_path / "net")], tmp_path)
    assert "torch" in modules
    assert not (SLOW - {"torch"} | HEAVY | {"torch._dynamo"}) & modules


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
