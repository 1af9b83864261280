# Two commands for a newcomer: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= demo
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo test quick check docs bench sbom clean
.DEFAULT_GOAL := help

help: ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Lookalike needs Python 3.11 or later; this is %d.%d. Name one: make PYTHON=python3.12 ..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-demo: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Lookalike without extras into $(VENV) (under 1 GB, about a minute, once)"
	$(PIP) --no-compile -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Lookalike and its checks into $(VENV) (PyTorch is among them: 6 GB, some minutes, once)"
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.installed-demo

demo: $(VENV)/.installed-demo ## the whole loop on a generated catalog, into ./demo
	$(BIN)/lookalike demo --workspace $(DEMO)

# Python compiles a module when it first loads it, and keeps it: the demo needs a third of what is installed, and
# tests start thousands of processes.
demo test quick: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.installed-dev ## everything, a browser included
	sh scripts/system.sh
	$(BIN)/python -m pytest -n auto --dist worksteal

quick: $(VENV)/.installed-dev ## the tests that take under a minute together
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not slow and not browser and not real'

check: $(VENV)/.installed-dev ## linters, strict types, the import contract
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[docs]'
	@touch $@

docs: $(VENV)/.installed-docs ## the documentation site, into build/site
	$(BIN)/python docs/_site/build.py build/site
	@echo "Open build/site/index.html"

bench: $(VENV)/.installed-dev ## speed and memory as ratios to their limits
	$(BIN)/python benchmarks/ranks.py
	$(BIN)/python benchmarks/intervals.py
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/device.py
	$(BIN)/python benchmarks/embed.py
	$(BIN)/python benchmarks/positiveness.py
	$(BIN)/python benchmarks/sampling.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/status.py
	$(BIN)/python benchmarks/studio.py
	$(BIN)/python benchmarks/duplicates.py
	$(BIN)/python benchmarks/losses.py
	$(BIN)/python benchmarks/finetune.py
	$(BIN)/python benchmarks/networks.py
	$(BIN)/python benchmarks/adaptation.py
	$(BIN)/python benchmarks/team.py
	$(BIN)/python benchmarks/judge.py
	$(BIN)/python benchmarks/map.py
	$(BIN)/python benchmarks/explore.py --images 2000
	$(BIN)/python benchmarks/serve_load.py --pairs 2000

sbom: $(VENV)/.installed-demo ## licences of all installed dependencies, and build/sbom.json
	sh scripts/sbom.sh $(VENV) build

clean: ## remove the environment, the demo and the site
	rm -rf $(VENV) $(DEMO) build
