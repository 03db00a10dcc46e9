# Two commands for a newcomer: `make demo` and `make test`. Each sets up all it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check system clean

demo: .venv/installed
	$(BIN)/python examples/relaxations.py

test: check
	$(BIN)/pytest

# Fastest first: what a typo breaks is said in seconds.
check: .venv/developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Machine packages, for .ci/run. None so far.
system:
	@true

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

.venv/developer: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@ .venv/installed

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
