"""Pages of the reference: one for each public module, with all names that it exports, and one for the commands.

They are written to docs/api/ before Sphinx looks for pages, and git ignores them: what a module exports is the source.
"""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import typer
from typer.cli import get_docs_for_click

__all__ = ["MODULES", "find", "has_example", "homes", "is_in_module_example", "members", "pages", "setup"]

# In the order in which a reader meets them. A name that several modules export has its page with the first one.
MODULES = {
    "Models": ["estimators", "performance", "selection", "fronts"],
    "What is fair, and is it?": ["notions", "metrics", "explanations", "arbitrariness", "alternatives", "limits"],
    "Tables, runs and reports": ["tables", "datasets", "streaming", "runs", "monitor", "report", "plot"],
    "Training": ["objectives", "relaxations", "descent", "learners"],
    "Research": ["baselines", "experiments"],
    "Everything at once": [""],
}
INDEX = """API reference
=============

Everything public, by module. The names that most people need can be imported from :doc:`mamofair` itself. Estimators
follow scikit-learn's conventions; every function takes ``sensitive_features`` by keyword. Commands have
:doc:`a page of their own <commands>`.
"""


def _import(name: str) -> Any:
    return importlib.import_module(f"mamofair.{name}".rstrip("."))


def find(full: str) -> Any:
    """Return what has a full name: a module, a name in one, or a member of a class.

    >>> find("mamofair.fronts.Front.frame").__name__
    'frame'
    """
    parts = full.split(".")
    value: Any = importlib.import_module(parts[0])
    for part in parts[1:]:
        value = getattr(value, part)
    return value


def homes() -> dict[str, str]:
    """Return the full name of everything public, and the full name under which it is documented.

    >>> homes()["mamofair.Cost"]
    'mamofair.performance.Cost'
    """
    documented: dict[int, str] = {}
    found = {}
    for module in (module for part in MODULES.values() for module in part):
        for name in _import(module).__all__:
            value = getattr(_import(module), name)
            full = ".".join(["mamofair", *filter(None, [module]), name])
            if inspect.ismodule(value):
                documented[id(value)] = value.__name__
            found[full] = documented.setdefault(id(value), full)
    return found


def members(full: str) -> list[str]:
    """Return the full names of an object and, for a class, of its own public methods and properties.

    >>> members("mamofair.performance.Cost")[:2]
    ['mamofair.performance.Cost', 'mamofair.performance.Cost.prices']
    """
    value = find(full)
    own = vars(value).items() if inspect.isclass(value) else ()
    kinds = (classmethod, staticmethod, property)
    return [full] + [
        f"{full}.{name}"
        for name, found in own
        if not name.startswith("_") and (getattr(found, "__name__", "") == name or isinstance(found, kinds))
    ]


def has_example(full: str) -> bool:
    """Return whether the page of a name shows an example: in its docstring, or in that of a method of its own."""
    return any(">>> " in (inspect.getdoc(find(name)) or "") for name in members(full))


def is_in_module_example(full: str) -> bool:
    """Return whether the docstring of a name's module shows how to use it.

    >>> is_in_module_example("mamofair.runs.load_run")
    True
    """
    module, _, name = full.rpartition(".")
    code = re.findall(r"(?m)^(?:>>>|\.\.\.) (.*)$", inspect.getdoc(find(module)) or "")
    return any(re.search(rf"\b{name}\b", line) for line in code)


def pages() -> dict[str, str]:
    """Return the text of each page, by its file's name."""
    text = {"index.rst": INDEX, "commands.md": _commands()}
    for part, modules in MODULES.items():
        titles = [f"mamofair.{module}".rstrip(".") for module in modules]
        summaries = [f"- :doc:`{title}`: {_summary(module)}" for title, module in zip(titles, modules, strict=True)]
        toctree = ["", ".. toctree::", "   :hidden:", "", *(f"   {title}" for title in titles), ""]
        text["index.rst"] += "\n".join(["", part, "-" * len(part), "", *summaries, *toctree])
        text |= {f"{title}.rst": _module(module) for title, module in zip(titles, modules, strict=True)}
    text["index.rst"] += "\n.. toctree::\n   :hidden:\n\n   commands\n"
    return text


def _summary(module: str) -> str:
    return (inspect.getdoc(_import(module)) or "").splitlines()[0]


def _module(module: str) -> str:
    title = f"mamofair.{module}".rstrip(".")
    lines = [title, "=" * len(title), "", f".. automodule:: {title}", "", f".. currentmodule:: {title}", ""]
    where = homes()
    names = {name: getattr(_import(module), name) for name in sorted(_import(module).__all__, key=str.lower)}
    here = {
        name: value
        for name, value in names.items()
        if where[f"{title}.{name}"] == f"{title}.{name}" and not inspect.ismodule(value)
    }
    classes = [name for name, value in here.items() if inspect.isclass(value)]
    functions = [name for name, value in here.items() if inspect.isfunction(value)]
    for heading, members in (("Classes", classes), ("Functions", functions)):
        if members:
            table = [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
            lines += [heading, "-" * len(heading), "", *table, *(f"   {name}" for name in members), ""]
    constants = {name: value for name, value in here.items() if name not in classes and name not in functions}
    if constants:
        lines += ["Constants", "---------", ""]
        for name, value in constants.items():
            lines += [f".. py:data:: {name}", "", f"   ``{_describe(value)}``", ""]
    elsewhere = [where[f"{title}.{name}"] for name in names if name not in here]
    if elsewhere:
        lines += ["Also here", "---------", "", *(f"- {_link(full)}" for full in elsewhere), ""]
    return "\n".join(lines)


def _describe(value: object) -> str:
    text = repr(value) if isinstance(value, str) or type(value).__str__ is object.__str__ else str(value)
    return text if len(text) <= 110 else text[:110].rsplit(" ", 1)[0] + " …"


def _link(full: str) -> str:
    is_module = inspect.ismodule(getattr(importlib.import_module("mamofair"), full.removeprefix("mamofair."), None))
    return f":doc:`{full}`" if is_module else f":py:obj:`{full}`"


def _commands() -> str:
    command = typer.main.get_command(_import("cli").app)
    with typer.Context(command, info_name="mamofair") as context:
        text = get_docs_for_click(obj=command, ctx=context, name="mamofair")
    for name, one in command.commands.items():  # typer cuts the list's summaries short
        text = re.sub(rf"(?m)^\* `{name}`: .*$", f"* `{name}`: {(one.help or '').splitlines()[0]}", text)
    return text.replace("# `mamofair`", "# Commands", 1)


def _write(app: Any, config: Any) -> None:
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged page is not read again
            path.write_text(text, encoding="utf-8")


def _skip(app: Any, what: str, name: str, member: object, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn and torch document: methods of every estimator, and the default of `optimizer`."""
    request = name == "set_output" or (name.startswith("set_") and name.endswith("_request"))
    return True if request or (getattr(member, "__module__", None) or "").startswith(("sklearn.", "torch.")) else None


def _link_example(app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """Lead from a page without an example to that of its module, if it has one."""
    if name in homes().values() and what in ("class", "function") and not has_example(name):
        lines += ["", ".. rubric:: Examples", "", f"See the examples of :doc:`/api/{name.rpartition('.')[0]}`.", ""]


def _forget_builtins(app: Any, env: Any) -> None:
    """Leave modules without a source out of the list of sources, which would link to pages that do not exist."""
    modules = getattr(env, "_viewcode_modules", {})
    for name in [name for name, found in modules.items() if not found]:
        del modules[name]


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", _write)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _link_example, priority=900)  # after numpydoc
    app.connect("env-updated", _forget_builtins)
    return {"parallel_read_safe": True}
