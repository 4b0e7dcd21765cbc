# Both commands do all their own set-up: `make demo` (base install) and `make test` (everything the tests need).
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# Where the environment forbids it, every process that a test starts would compile the whole package again.
export PYTHONDONTWRITEBYTECODE :=
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Several processes share the cores: threads in each of them would wait for one another.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 POLARS_MAX_THREADS=1 $(BIN)/python -m pytest
# What a command prints, in one piece when it has ended: it runs beside another.
aside = @said=$$(mktemp); failed=0; $(1) > $$said 2>&1 || failed=1; cat $$said; rm -f $$said; exit $$failed

.PHONY: demo test test-rooms test-pages test-slow check lowest wheel docs lint types format bench clean chromium

demo: .venv/.base
	$(BIN)/likewise demo demo

# Lint, then the tests; types and, one after another, the tests in a browser, which mostly wait, run beside them.
test: .venv/.test lint chromium
	@$(MAKE) --no-print-directory --keep-going -j 3 test-rooms types test-pages

test-rooms: .venv/.test
	$(PYTEST) --ignore tests/browser -m "not slow" -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-pages: .venv/.test
	$(call aside,$(PYTEST) tests/browser -m "not slow")

test-slow: .venv/.test chromium
	$(BIN)/python -m pytest -m slow

# What changed since the last commit (or since BASE=main): lint, then types beside the quick tests of those packages.
check: .venv/.test lint
	@said=$$(mktemp); $(BIN)/mypy > $$said 2>&1 & types=$$!; failed=0; tests="$$($(BIN)/python tests/changed.py $(BASE))"; \
	if [ -n "$$tests" ]; then echo "$$tests"; $(PYTEST) \
	-m "not slow and not browser and not heavy" -k "not postgresql" -n 2 --dist loadfile $$tests || failed=1; \
	else echo "no package changed"; fi; wait $$types || failed=1; cat $$said; rm -f $$said; exit $$failed

# The lowest versions that pyproject.toml allows, in an environment of their own, and the tests of the core with them;
# old versions warn of things that newer ones have mended.
lowest: .venv/bin/python
	$(BIN)/python -m venv .venv-lowest
	$(BIN)/python tests/lowest.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-lowest/lowest.txt -e '.[core-test]'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -m "not slow and not browser" -W ignore \
	-n auto --maxprocesses 4 --dist loadfile $$($(BIN)/python tests/lowest.py tests)

wheel: .venv/.test
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

# The site of documentation in site/index.html; a warning fails it.
docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

lint: .venv/.test
	$(BIN)/ruff check src tests benchmarks docs
	$(BIN)/ruff format --check src tests benchmarks docs

types: .venv/.test
	$(call aside,$(BIN)/mypy)

format: .venv/.test
	$(BIN)/ruff check --fix src tests benchmarks docs
	$(BIN)/ruff format src tests benchmarks docs

bench: .venv/.bench
	$(BIN)/python -m benchmarks

chromium:
	@sh tests/browser/install_chromium.sh

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "likewise needs Python 3.11 or newer; none was found"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "likewise needs Python 3.11 or newer; $(PYTHON) is older (set PYTHON=...)"; exit 2; }
	$(PYTHON) -m venv .venv

.venv/.base: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e .
	@touch $@

.venv/.docs: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e '.[docs]'
	@touch $@ .venv/.base

.venv/.test: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e '.[test]'
	@touch $@ .venv/.docs .venv/.base

.venv/.bench: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e '.[bench]'
	@touch $@ .venv/.test .venv/.base

clean:
	rm -rf .venv .venv-lowest demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
