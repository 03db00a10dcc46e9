import subprocess
import sys

OPTIONAL = {"lightgbm", "fairlearn", "fairret", "oxonfair", "cvxpy", "matplotlib", "altair", "jinja2", "typer", "onnx"}


def said(code: str) -> list[str]:
    """Return the words that a program prints in a process of its own, where nothing else has been imported."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_import_loads_no_optional_package():
    loaded = said("import sys, mamofair; print(*{name.partition('.')[0] for name in sys.modules})")
    assert "numpy" in loaded
    assert not OPTIONAL & set(loaded)


def test_the_namespace_has_what_is_meant_and_our_modules_and_no_more():
    code = "import sys, mamofair; print(*{n for n in dir(mamofair) if f'mamofair.{n}' not in sys.modules})"
    meant = said("import mamofair; print(*(n for n in mamofair.__all__ if n not in ('explanations', 'metrics')))")
    assert {name for name in said(code) if not name.startswith("_")} == {n for n in meant if not n.startswith("_")}
