PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The sessions are defined in noxfile.py; with --no-venv they run in .venv.
NOX := PATH="$(abspath $(BIN)):$$PATH" $(BIN)/nox --no-venv -s

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test lint format coverage lowest package browser api bench bench-quick experiments experiments-quick docs clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.installed-cli ## Fit the digits, write a report and draw digits.png
	$(BIN)/python examples/digits.py
	$(BIN)/rskpca demo

test: $(VENV)/.installed-dev ## Run the tests and the docstring examples
	$(NOX) tests

lint: $(VENV)/.installed-dev ## Check style, types, layers, docstrings, spelling and workflows
	$(NOX) lint

format: $(VENV)/.installed-dev ## Reformat the code
	$(BIN)/ruff check --fix --exit-zero --quiet .
	$(BIN)/ruff format .

coverage: $(VENV)/.installed-dev ## Measure branch coverage
	$(NOX) coverage

lowest: $(VENV)/.installed-dev ## Run the tests of the library with the lowest dependencies
	$(BIN)/nox -s lowest

package: $(VENV)/.installed-dev ## Build, check, install and try the wheel and the sdist
	$(BIN)/nox -s package

browser: ## Install Chromium with apt, for the tests that open reports; needs root
	command -v chromium > /dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium)

api: $(VENV)/.installed-dev ## Record the public API after a deliberate change
	$(BIN)/python tools/public_api.py --write

bench: $(VENV)/.installed-cli ## Run the benchmarks
	$(BIN)/python -m benchmarks

bench-quick: $(VENV)/.installed-cli ## Run the benchmarks on small data
	$(BIN)/python -m benchmarks --quick

experiments: $(VENV)/.installed-plot ## Recompute the paper's figures, tables and claims
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments

experiments-quick: $(VENV)/.installed-plot ## Run the experiments on small data
	OMP_NUM_THREADS=1 $(BIN)/python -m experiments --quick

docs: $(VENV)/.installed-dev ## Build the documentation, and treat warnings as errors
	$(NOX) docs
	@echo "open docs/_build/html/index.html"

clean: ## Remove caches and build products, but keep the virtual environment
	rm -rf build dist .nox .coverage .coverage.* .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache digits.png rskpca-demo experiments/quick experiments/partial docs/_build docs/api.rst docs/gallery docs/generated
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

# The stamp file .installed-X marks that extra X of the current pyproject.toml is installed.
$(VENV)/.installed-%: pyproject.toml
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e ".[$*]"
	touch $@
