"""The reference: all that is public is in it, with an example, in docstrings that numpydoc reads."""

import importlib
import inspect
import pkgutil
import re

import reference
from numpydoc.validate import validate

import mamofair

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


def faults(name: str) -> list[str]:
    """Return what is wrong with the docstring of a public name."""
    text = inspect.getdoc(reference.find(name))
    if not text:
        return [f"{name}: There is no docstring."]
    checked = {"PR01"} if "Parameters\n-------" in text else set()
    return [f"{name}: {fault}" for code, fault in validate(name)["errors"] if code not in UNCHECKED - checked]


def test_docstrings_are_valid():
    assert len(OBJECTS) > 100
    assert [fault for full in OBJECTS for name in reference.members(full) for fault in faults(name)] == []


def test_every_public_name_has_an_example():
    """With a doctest of its own or in that of its module."""
    assert [full for full in OBJECTS if not (reference.has_example(full) or reference.is_in_module_example(full))] == []


def test_examples_of_other_names_do_not_count():
    assert not reference.has_example("mamofair.runs.load_run")
    assert reference.has_example("mamofair.notions.Notion")
    assert not reference.is_in_module_example("mamofair.metrics.CustomValue")
