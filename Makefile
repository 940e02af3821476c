# Everything is set up inside this checkout (.venv); nothing is installed elsewhere.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo inspector test test-real test-agents check bench bench-recall bench-prevention pictures docs
.PHONY: lock clean

help:  ## what each command does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

setup: $(STAMP)  ## make .venv with the locked versions (uv where present, else venv and pip)

$(STAMP): requirements/dev.txt pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh "$(PYTHON)"
	@touch $(STAMP)

demo: $(STAMP)  ## the whole way of a lesson, on bundled sample sessions, in a throwaway home
	@$(BIN)/python scripts/demo.py

test: $(STAMP)  ## the whole suite
	@$(BIN)/python -m pytest -n auto

test-real: $(STAMP)  ## the tests on a real Hindsight server and PostgreSQL (sets them up in .hindsight, once)
	@LESSONBOOK_TEST_SERVERS=1 $(BIN)/python -m pytest -n 0 tests/servers

inspector:  ## put the MCP inspector's command line into .inspector, for the tests with it (needs npm)
	@sh scripts/inspector.sh

test-agents: $(STAMP)  ## the real agents, installed into .realagents, offline against a scripted model (npm)
	@$(BIN)/python -m realagents
	@LESSONBOOK_TEST_AGENTS=all $(BIN)/python -m pytest -n 0 -v tests/agents

check: $(STAMP)  ## lint, types, import contracts, docs
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -n 0 tests/test_docs.py tests/test_house.py

bench: $(STAMP)  ## side-by-side timings against the peers; prints ratios
	@$(BIN)/python -m benchmarks

bench-recall: $(STAMP)  ## how well the bank finds what was asked for, on public sets (LESSONBOOK_RETRIEVAL)
	@$(BIN)/python -m benchmarks recall

bench-prevention: $(STAMP)  ## how many later mistakes the lessons of earlier sessions name (LESSONBOOK_HISTORIES)
	@$(BIN)/python -m benchmarks prevention

pictures: $(STAMP)  ## make the pictures of the documentation anew (needs Chromium)
	@LESSONBOOK_PICTURES=docs/pictures $(BIN)/python -m pytest -n 0 tests/hosts/web/test_for_everyone.py -k pictures

lock:  ## write requirements/dev.txt anew from pyproject.toml (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
	  --group dev --all-extras pyproject.toml -o requirements/dev.txt

clean:  ## remove everything that was set up here
	rm -rf .venv .demo .bench .hindsight .inspector .realagents .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf .import_linter_cache
