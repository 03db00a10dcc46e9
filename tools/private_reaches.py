"""Count reaches into private attributes of other objects, and private imports across packages.

    python tools/private_reaches.py            # lists them

A private attribute is named only inside its own class: `self._x` and `cls._x` are fine, `other._x` is not, unless the
other object is of the same class (annotated with it, or made by `copy(self)`). An import is private if it names an
underscored module of another package, or an underscored name.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "src" / "mamofair"
_SELF = {"self", "cls"}
_PUBLIC = {"_replace", "_asdict", "_fields"}  # of named tuples, which have the underscore only to keep out of the way


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text())))


def _classes(nodes: tuple[ast.AST, ...]) -> dict[ast.AST, set[str]]:
    """Return, for each node inside a class, the private names that the class itself defines or sets."""
    owners: dict[ast.AST, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            inside = tuple(ast.walk(node))
            own = {n.attr for n in inside if isinstance(n, ast.Attribute) and _is_self(n.value)}
            own |= {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            own |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
            owners |= dict.fromkeys(inside, own)
    return owners


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in _SELF


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _PUBLIC


def reaches(path: Path) -> Iterator[str]:
    """Yield where a file names a private attribute of an object that is not its own."""
    nodes = _nodes(path)
    owners = _classes(nodes)
    modules = {alias.asname or alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    for node in nodes:
        if not isinstance(node, ast.Attribute) or not _is_private(node.attr) or _is_self(node.value):
            continue
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "super":
            continue
        if isinstance(node.value, ast.Name) and node.value.id in modules:
            continue
        if node.attr in owners.get(node, set()):  # another object of the same class
            continue
        yield f"{path.name if ROOT not in path.parents else path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


def private_imports(path: Path) -> Iterator[str]:
    """Yield what a file imports that is private in another package."""
    package = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for node in _nodes(path):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("mamofair."):
            continue
        _, top, *inner = (node.module or "").split(".")
        names = [alias.name for alias in node.names]
        if top != package and (any(map(_is_private, inner)) or any(map(_is_private, names))):
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.module} import {', '.join(names)}"


def count() -> tuple[list[str], list[str]]:
    """Return all reaches and all private imports of the package."""
    files = sorted(ROOT.rglob("*.py"))
    return [found for path in files for found in reaches(path)], [i for path in files for i in private_imports(path)]


if __name__ == "__main__":
    attributes, imports = count()
    print(*attributes, *imports, sep="\n")
    print(f"{len(attributes)} private attributes of other objects, {len(imports)} private imports", file=sys.stderr)
