"""Scripts outside the package import only what the package has: a refactoring must not break one unnoticed."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(
    path for folder in ("bench", "campaigns", "examples", "tools") for path in (ROOT / folder).glob("*.py")
)


def imported_names(path: Path) -> set[tuple[str, str]]:
    """Return the modules of the package that a script imports from, with the names it takes."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in nodes if (node.module or "").split(".")[0] == "mamofair"]
    return {(node.module, alias.name) for node in ours for alias in node.names}


def test_scripts_find_everything_they_import():
    imported = [(path.name, *names) for path in SCRIPTS for names in sorted(imported_names(path))]
    assert len(imported) > len(SCRIPTS) > 50
    missing = [
        (script, module, name)
        for script, module, name in imported
        if not hasattr(import_module(module), name) and find_spec(f"{module}.{name}") is None
    ]
    assert missing == []
