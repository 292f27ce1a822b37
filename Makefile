# Every development command. `make` alone lists them. Needs Python 3.11 or later and make, nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
DIST   ?= -n 2 --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: \
  bench \
  bench-membership \
  bench-nation \
  bench-noise \
  bench-spark \
  bench-synth \
  check \
  clean \
  demo \
  docs \
  format \
  help \
  lock \
  mutants \
  test \
  test-all \
  test-cluster \
  verify-nation

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# uv, where present, installs the same locked versions faster.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "SafeTab needs Python 3.11 or later; say which: make PYTHON=python3.12 $@"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing $(1) into $(VENV) ..."
	@if command -v uv >/dev/null 2>&1; then \
	  VIRTUAL_ENV=$(VENV) uv pip install --quiet --require-hashes -r $(1) && \
	  VIRTUAL_ENV=$(VENV) uv pip install --quiet --no-build-isolation --no-deps -e . ; \
	else \
	  $(PIP) install -qq --require-hashes -r $(1) && \
	  $(PIP) install -qq --no-build-isolation --no-deps -e . ; \
	fi
	@touch $@
endef

$(VENV)/.run: requirements/run.lock pyproject.toml
	$(call install,requirements/run.lock)

$(VENV)/.dev: requirements/dev.lock pyproject.toml
	$(call install,requirements/dev.lock)
	@touch $(VENV)/.run

DEMO := build/demo

demo: $(VENV)/.run ## install, make a synthetic town, check it, tabulate it and show the result
	@rm -rf $(DEMO) && mkdir -p build
	@echo && echo "== safetab synth: an invented town" && $(BIN)/safetab synth $(DEMO) --like town
	@echo && echo "== safetab check: what will be released" && $(BIN)/safetab check $(DEMO)/params $(DEMO)/data
	@echo && echo "== safetab tabulate: from records to private tables" && \
	  $(BIN)/safetab tabulate $(DEMO)/params $(DEMO)/data $(DEMO)/out
	@echo && echo "== safetab view: what everybody may see" && $(BIN)/safetab view $(DEMO)/out
	@echo && echo "The tables are in $(DEMO)/out; the README says how to read them."

test: $(VENV)/.dev ## install what the tests need and run them
	@$(BIN)/python -m pytest $(DIST) -q

test-all: $(VENV)/.dev ## the tests, the long ones too
	@$(BIN)/python -m pytest $(DIST) -q --long

mutants: $(VENV)/.dev ## put known faults into a copy of the code; the tests must catch every one
	@$(BIN)/python -m tools.mutants

test-cluster: $(VENV)/.dev ## start a Spark cluster on this machine, kill parts of it, stop it
	@$(BIN)/python -m pytest -q --long tests/contract/test_cluster.py

check: $(VENV)/.dev ## format, lint, strict types, import rules
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.dev ## rewrite the code in the house format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: $(VENV)/.dev ## regenerate the reference pages
	@$(BIN)/python -m tools.reference

bench: $(VENV)/.dev ## tabulate 2, 5 and 20 million persons beside one plain GROUP BY
	@$(BIN)/python -m benchmarks.tabulate

bench-nation: $(VENV)/.dev ## tabulate the United States and Puerto Rico beside one plain GROUP BY
	@$(BIN)/python -m benchmarks.nation

verify-nation: $(VENV)/.dev ## compare the nation's totals, noise off, with plain sums
	@$(BIN)/python -m benchmarks.nation verify

bench-membership: $(VENV)/.dev ## code sets per second through membership
	@$(BIN)/python -m benchmarks.membership

bench-noise: $(VENV)/.dev ## nanoseconds per noise draw, and the ratio to OpenDP
	@$(BIN)/python -m benchmarks.noise

bench-synth: $(VENV)/.dev ## synthetic persons per second, memory and bytes
	@$(BIN)/python -m benchmarks.synth

bench-spark: $(VENV)/.dev ## both engines on one and ten million persons: Spark's overhead, the driver's memory
	@$(BIN)/python -m benchmarks.spark

lock: ## resolve the lock files anew (needs uv)
	@uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 pyproject.toml --group build -o requirements/run.lock $(LOCKFLAGS)
	@uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 pyproject.toml --group build --group dev \
	  -c requirements/run.lock -o requirements/dev.lock $(LOCKFLAGS)

clean: ## remove the virtual environment and caches
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
