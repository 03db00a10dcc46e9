import subprocess
import sys

OPTIONAL = {"lightgbm", "fairlearn", "fairret", "oxonfair", "cvxpy", "matplotlib", "altair", "jinja2", "typer", "onnx"}


def test_import_loads_no_optional_package():
    code = "import sys, mamofair; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "numpy" in loaded
    assert not OPTIONAL & set(loaded)
