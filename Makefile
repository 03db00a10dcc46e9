# Two commands for a newcomer: `make demo` and `make test`. Each sets up all it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test check bench-quality bench-speed system clean

# The main job on the bundled Adult data: prints the result and where it wrote the front.
demo: .venv/installed
	$(BIN)/python examples/adult.py runs/adult

test: check
	$(BIN)/pytest

# Fastest first: what a typo breaks is said in seconds.
check: .venv/developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Minutes each; they write the tables in docs/results/.
bench-quality: .venv/developer
	$(BIN)/python bench/quality.py --out docs/results/quality.md

bench-speed: .venv/developer
	$(BIN)/python bench/speed.py --out docs/results/speed.md

# Machine packages, for .ci/run. None so far.
system:
	@true

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[report]"
	@touch $@

.venv/developer: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@ .venv/installed

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
