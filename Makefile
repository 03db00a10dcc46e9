# Two commands for a newcomer: `make demo` and `make test`. Each sets up all it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of tests start a process: without compiled modules each of them would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test shapes test-lowest check docs campaign system clean

# The main job on the bundled Adult data: prints a table and where the page to look at is.
demo: .venv/installed
	$(BIN)/mamofair train adult --sensitive sex --sensitive race --notion demographic_parity --out runs/adult --force

# One thread each: two test processes fill two cores, and threads that wait for each other would take minutes.
test: check
	OMP_NUM_THREADS=1 $(BIN)/pytest
	$(MAKE) shapes

# Types and shapes checked at run time make a fit several times slower, so only the tests of the mathematics run with that.
# The peak of memory is that of a process of its own, where nothing is checked.
shapes: .venv/developer
	OMP_NUM_THREADS=1 $(BIN)/pytest --hypothesis-profile=shapes \
	  --jaxtyping-packages="mamofair,beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))" \
	  $(addprefix tests/,descent objectives fronts learners explanations rows) \
	  $(addprefix tests/test_,relaxations.py notions.py contracts.py) -k "not takes_little_memory_beside_it"

# The same tests with the oldest versions that pyproject.toml admits.
test-lowest: .venv-lowest/developer
	OMP_NUM_THREADS=1 .venv-lowest/bin/pytest

# Fastest first: what a typo breaks is said in seconds.
check: .venv/developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, into docs/_build/html: offline, warnings are errors, and every internal link leads somewhere.
# From nothing each time: pages of names and examples that are gone would stay.
docs: .venv/developer
	rm -rf docs/_build docs/api docs/gallery
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html

# Any script of bench/ by its name (`make bench-speed`); it writes its page in docs/results/. Minutes each, some an hour.
bench-%: bench/%.py .venv/developer
	OMP_NUM_THREADS=1 $(BIN)/python $< $(BENCH_OPTIONS) --out docs/results/$*.md

# One of its peers needs an environment of its own.
bench-default: .venv-error-parity/installed

# Hours: tries to break every promise, goes on where an earlier run stopped, and writes docs/results/reliability.md.
campaign: .venv/developer
	OMP_NUM_THREADS=1 $(BIN)/python -m campaigns all --minutes $(or $(MINUTES),60)
	$(BIN)/python -m campaigns page

# What the tests need of the machine: a browser for the report's page.
system:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  sudo=$$(command -v sudo || true); $$sudo apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; }

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[report]"
	@touch $@

.venv/developer: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@ .venv/installed

.venv-lowest/developer: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --constraint constraints-lowest.txt --editable ".[dev]"
	@touch $@

# A peer that needs numpy 1, and so an environment of its own.
.venv-error-parity/installed: bench/error_parity.txt
	$(PYTHON) -m venv .venv-error-parity
	.venv-error-parity/bin/python -m pip install --quiet --requirement $<
	@touch $@

clean:
	rm -rf .venv .venv-lowest .venv-error-parity .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache docs/_build docs/api docs/gallery
