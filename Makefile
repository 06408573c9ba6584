# Everything a developer or a newcomer types. Only Python 3.11+ and make are needed beforehand.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python
READY  := $(VENV)/ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench soak lock clean

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## create .venv with everything in it

# One shell, so that a set-up that fails half way leaves no .venv that looks ready.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "polycast needs Python 3.11 or newer; say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(VENV)/bin/polycast compile
	@touch $(READY)

demo: $(READY) ## the main job, from publication to delivery, on a small network
	@$(RUN) examples/demo.py

test: $(READY) ## the whole test suite
	$(RUN) -m pytest -n 2 --dist loadfile

check: $(READY) ## format, lint, types, and the import rule
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache

bench: $(READY) ## every benchmark: the measured figure beside its goal
	@set -e; for file in benchmarks/bench_*.py; do $(RUN) -m $$(echo $${file%.py} | tr / .); done

soak: $(READY) ## long random runs (about half an hour)
	$(RUN) -m pytest -m soak --timeout 3600

lock: ## write requirements.lock anew, from the newest versions that pyproject.toml admits
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet --editable '.[figures,topologies,dev]'
	.venv-lock/bin/python -m pip freeze --exclude-editable > requirements.lock
	rm -rf .venv-lock

clean: ## remove all that make made
	rm -rf $(VENV) .venv-lock build dist out .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
