"""The reference: all that is public is in it, with an example, in docstrings that numpydoc reads."""

import importlib
import inspect
import pkgutil
import re
import typing
from pathlib import Path

import pytest
import reference
from numpydoc.validate import validate

import mamofair

ROOT = Path(__file__).parents[2]
HOMES = reference.homes()
# Public names of the package's own, each where it is documented.
VALUES = {full: reference.find(full) for full in sorted(set(HOMES.values()))}
OBJECTS = {full: value for full, value in VALUES.items() if inspect.isclass(value) or inspect.isfunction(value)}
# What is left out, and why.
UNCHECKED = {
    "ES01",  # one good sentence can be enough
    "EX01",  # asked for below, also without a heading
    "SA01",  # text links to what it names
    "PR03",  # keyword-only parameters are grouped by meaning
    "PR04",  # annotations have the types
    "PR01",  # asked for below: all parameters, or none where their names say it
    "RT01",  # the first line says what is returned
    "YD01",
}


def members(full, value):
    """Return the full names of an object and, for a class, of its own public methods and properties."""
    own = vars(value).items() if inspect.isclass(value) else ()
    kinds = (classmethod, staticmethod, property)
    return [full] + [
        f"{full}.{name}"
        for name, found in own
        if not name.startswith("_") and (getattr(found, "__name__", "") == name or isinstance(found, kinds))
    ]


def test_every_public_module_is_in_the_reference():
    modules = {module.name for module in pkgutil.iter_modules(mamofair.__path__) if not module.name.startswith("_")}
    assert modules - {"cli"} == {name for part in reference.MODULES.values() for name in part if name}


def test_every_public_name_is_on_the_page_of_its_module_or_links_to_the_one_it_is_on():
    pages = reference.pages()
    for full, home in HOMES.items():
        module, _, name = full.rpartition(".")
        assert home in pages[f"{module}.rst"] or re.search(rf"\b{name}\b", pages[f"{module}.rst"]), full


def test_nothing_private_is_in_the_reference():
    assert not [full for full in HOMES if any(part.startswith("_") for part in full.split("."))]


def test_every_command_is_on_the_page_of_commands():
    commands = importlib.import_module("mamofair.cli").app.registered_commands
    page = reference.pages()["commands.md"]
    for command in commands:
        name = command.name or command.callback.__name__.strip("_").replace("_", "-")
        assert f"## `mamofair {name}`" in page


@pytest.mark.parametrize("full", OBJECTS)
def test_docstrings_are_valid(full):
    for name in members(full, OBJECTS[full]):
        value = reference.find(name)
        errors = dict(validate(name)["errors"]) if inspect.getdoc(value) else {"GL08": "There is no docstring."}
        has_parameters = "Parameters\n-------" in (inspect.getdoc(value) or "")
        checked = {code for code in errors if code not in UNCHECKED or (code == "PR01" and has_parameters)}
        assert not checked, f"{name}: {[errors[code] for code in checked]}"


def examples():
    """Return the code of all doctests and of the gallery."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "src").rglob("*.py")]
    lines = [re.findall(r"(?m)^\s*(?:>>>|\.\.\.) (.*)$", path.read_text(encoding="utf-8")) for path in pages]
    scripts = [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")]
    return "\n".join([*(line for found in lines for line in found), *scripts])


def test_every_public_name_has_an_example():
    """In its own docstring, in another doctest or example, or as what a function with an example returns.

    An interface has the examples of what implements it.
    """
    code = examples()
    imported = set(re.findall(r"\w+", "\n".join(re.findall(r"import (.*)", code))))

    def is_shown(full, value):
        name = full.rpartition(".")[2]
        ending = r"\b" if inspect.isclass(value) else r"\("
        used = re.search(rf"(?<![\w.]){name}{ending}", code) or re.search(rf"{full.split('.')[-2]}\.{name}\(", code)
        return ">>> " in (inspect.getdoc(value) or "") or name in imported or used

    shown = {full for full, value in OBJECTS.items() if is_shown(full, value)}
    returned = set()
    for full in shown:
        if inspect.isfunction(OBJECTS[full]):
            found = typing.get_type_hints(OBJECTS[full]).get("return")
            returned |= {id(part) for part in (found, *typing.get_args(found))}
    missing = {full: value for full, value in OBJECTS.items() if full not in shown and id(value) not in returned}
    bare = [full for full, value in missing.items() if not getattr(value, "_is_protocol", False)]
    assert not bare, f"show how to use {', '.join(bare)}: with a doctest of its own, or in that of its module"
