import subprocess
import sys
from types import ModuleType

import mamofair

OPTIONAL = {"lightgbm", "fairlearn", "fairret", "oxonfair", "cvxpy", "matplotlib", "altair", "jinja2", "typer", "onnx"}


def test_import_loads_no_optional_package():
    code = "import sys, mamofair; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "numpy" in loaded
    assert not OPTIONAL & set(loaded)


def test_the_namespace_has_what_is_meant_and_our_modules_and_no_more():
    shown = {name: getattr(mamofair, name) for name in dir(mamofair) if not name.startswith("_")}
    modules = {name for name, value in shown.items() if isinstance(value, ModuleType)}
    assert set(shown) - modules == set(mamofair.__all__) - modules - {"__version__"}
    assert all(shown[name].__name__ == f"mamofair.{name}" for name in modules)
