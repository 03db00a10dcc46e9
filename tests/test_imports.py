import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules

import pytest

OPTIONAL = {"lightgbm", "fairlearn", "fairret", "oxonfair", "cvxpy", "matplotlib", "altair", "jinja2", "typer", "onnx"}


def said(code: str) -> list[str]:
    """Return the words that a program prints in a process of its own, where nothing else has been imported."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_no_optional_package_is_loaded_and_torch_only_when_it_is_used():
    code = "import sys, mamofair; {}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    before, after = set(said(code.format("import mamofair.cli"))), set(said(code.format("mamofair.FairNetClassifier")))
    assert "typer" in before
    assert not {"torch", "sklearn", "scipy", "pandas"} & before
    assert "torch" in after
    assert not OPTIONAL & after


def test_every_name_is_there_when_it_is_used_and_needs_no_optional_package():
    names = said("import mamofair; print(*dir(mamofair))")
    assert {"FairNetClassifier", "audit", "load", "metrics", "datasets"} <= set(names)
    without = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL})); del sys"
    shown = "from mamofair import *; print(*(name for name in dir() if name[0] != '_'))"
    assert said(f"{without}; {shown}") == sorted(names)
    assert said("import mamofair; print(mamofair.__version__)") == [version("mamofair")]


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
