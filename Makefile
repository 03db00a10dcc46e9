# Two commands for a newcomer: `make demo` and `make test`. Each sets up all it needs in .venv.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of tests start a process: without compiled modules each of them would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test shapes test-kernels test-wheel test-lowest durations check docs campaign system clean

# The main job on the bundled Adult data: prints a table and where the page to look at is.
demo: .venv/installed
	$(BIN)/mamofair train adult --sensitive sex --sensitive race --notion demographic_parity --out runs/adult --force

# One thread each: two test processes fill two cores, and threads that wait for each other would take minutes.
# It ends with a line for each reason why tests were not run.
test: check shapes
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

# Types and shapes checked at run time make a fit several times slower, so only the tests of the mathematics run with that,
# and of each one case (tests/shape_checks.py has the exceptions); in one process, since each would import all with checks.
shapes: .venv/developer
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n0 -p tests.shape_checks \
	  --jaxtyping-packages="mamofair,beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))" \
	  $(addprefix tests/,descent objectives fronts learners explanations rows) \
	  $(addprefix tests/test_,relaxations.py notions.py contracts.py)

# The numerical tests with the kernels of other processors; TESTS="src tests docs README.md CONTRIBUTING.md" for all of them.
test-kernels: .venv/developer
	$(BIN)/python tools/kernel_tests.py $(TESTS)

# The wheel, in an empty environment outside the clone: the README's examples run.
test-wheel: .venv/developer
	$(BIN)/python tools/check_wheel.py

# CPU seconds of every test, into tests/DURATIONS.md.
durations: .venv/developer
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --cpu-times

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

# $(call install,FOLDER,CONSTRAINTS,EXTRAS): into a virtual environment. One whose installation was interrupted has no
# `installed` and is made anew. Warnings of pip, as of extra places to look for packages, are not a newcomer's business.
define install
	@test -e $1/installed || rm -rf $1
	@echo "Installing mamofair[$3] into $1: a minute or two."
	@$(PYTHON) -m venv $1
	@rm -f $1/installed $1/developer
	@$1/bin/python -m pip install --quiet --quiet --constraint $2 --editable ".[$3]"
	@touch $1/installed
endef

.venv/installed: pyproject.toml constraints.txt
	$(call install,.venv,constraints.txt,report)

.venv/developer: pyproject.toml constraints.txt
	$(call install,.venv,constraints.txt,dev)
	@touch $@

.venv-lowest/developer: pyproject.toml constraints-lowest.txt
	$(call install,.venv-lowest,constraints-lowest.txt,dev)
	@touch $@

# A peer that needs numpy 1, and so an environment of its own.
.venv-error-parity/installed: bench/error_parity.txt
	$(PYTHON) -m venv .venv-error-parity
	.venv-error-parity/bin/python -m pip install --quiet --requirement $<
	@touch $@

clean:
	rm -rf .venv .venv-lowest .venv-error-parity .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache docs/_build docs/api docs/gallery
