"""Scripts outside the package import only what the package has: a refactoring must not break one unnoticed."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(
    path for folder in ("bench", "campaigns", "examples", "tools") for path in (ROOT / folder).glob("*.py")
)


def imported_names(path: Path) -> set[tuple[str, str]]:
    """Return the modules of the package that a script imports from, with the names it takes."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in nodes if (node.module or "").split(".")[0] == "mamofair"]
    return {(node.module, alias.name) for node in ours for alias in node.names}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_script_finds_everything_it_imports(path):
    missing = [
        (module, name)
        for module, name in sorted(imported_names(path))
        if not hasattr(import_module(module), name) and find_spec(f"{module}.{name}") is None
    ]
    assert missing == []
