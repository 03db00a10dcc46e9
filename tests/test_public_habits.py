"""What other people's machines rely on: workflows, recipes and lower bounds say what `pyproject.toml` says."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import mamofair

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA_NAMES = {"torch": "pytorch"}


def lower_bounds(requirements):
    found = (re.match(r"([\w.-]+)>=([\d.]+)", requirement) for requirement in requirements)
    return {match[1]: match[2] for match in found if match}


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [("github-workflows", "workflows/*.yml"), ("github-issue-forms", "ISSUE_TEMPLATE/[!c]*.yml")],
)
def test_files_for_github_follow_its_schemas(schema, pattern):
    files = sorted((ROOT / ".github").glob(pattern))
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hooks_call_the_tools_of_make_check():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [repository["repo"] for repository in hooks] == ["local"]
    tools = {hook["entry"].split()[0].rpartition("/")[2] for hook in hooks[0]["hooks"]}
    check = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ncheck:")[1].split("\n\n")[0]
    assert tools == set(re.findall(r"\$\(BIN\)/([\w-]+)", check))


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    run = lower_bounds(line.replace(" ", "") for line in recipe["requirements"]["run"])
    python = PROJECT["requires-python"].removeprefix(">=")
    wanted = {CONDA_NAMES.get(name, name): bound for name, bound in lower_bounds(PROJECT["dependencies"]).items()}
    assert run == {"python": python, **wanted}


def test_every_place_names_the_same_version():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == citation["version"] == mamofair.__version__


def test_the_lowest_versions_that_are_tested_are_the_lower_bounds():
    extras = PROJECT["optional-dependencies"]
    bounds = lower_bounds(PROJECT["dependencies"])
    for extra in set(extras) - {"dev", "docs"}:
        bounds |= lower_bounds(extras[extra])
    lines = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    assert {name: pinned.get(name) for name in bounds} == bounds
