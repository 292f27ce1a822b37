# Every development command. `make` alone lists them. Needs Python 3.11 or later and make, nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
# Groups of tests start in the order of tests/conftest.py, which has the slow ones first.
DIST   ?= -n 2 --dist loadgroup --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: \
  bench \
  bench-billion \
  bench-estimates \
  bench-evaluate \
  bench-membership \
  bench-nation \
  bench-noise \
  bench-own-files \
  bench-planning \
  bench-reading \
  bench-spark \
  bench-synth \
  check \
  clean \
  demo \
  dist \
  docs \
  format \
  help \
  lock \
  mutants \
  site \
  study \
  test \
  test-all \
  test-cluster \
  test-lowest \
  verify-nation

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# uv, where present, installs the same locked versions faster, compiled as pip does: else, where Python may not write
# compiled files, every process compiles what it imports.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "SafeTab needs Python 3.11 or later; say which: make PYTHON=python3.12 $@"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing $(1) into $(VENV) ..."
	@if command -v uv >/dev/null 2>&1; then \
	  VIRTUAL_ENV=$(VENV) uv pip install --quiet --compile-bytecode --require-hashes -r $(1) && \
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

demo: $(VENV)/.run ## install, make a synthetic town, check it, tabulate it, show the result and report on it
	@rm -rf $(DEMO) && mkdir -p build
	@echo && echo "== safetab synth: an invented town" && $(BIN)/safetab synth $(DEMO) --like town
	@echo && echo "== safetab check: what will be released" && $(BIN)/safetab check $(DEMO)/params $(DEMO)/data
	@echo && echo "== safetab tabulate: from records to private tables" && \
	  $(BIN)/safetab tabulate $(DEMO)/params $(DEMO)/data $(DEMO)/out
	@echo && echo "== safetab view: what everybody may see" && $(BIN)/safetab view $(DEMO)/out
	@echo && echo "== safetab report: the same as a page with pictures" && $(BIN)/safetab report $(DEMO)/out $(DEMO)/report.html
	@echo "Open it in a browser; it needs no network. The tables are in $(DEMO)/out."
	@echo && echo "To go on:" && echo "  source $(VENV)/bin/activate" && \
	  echo "  safetab view $(DEMO)/out --find german" && echo "  safetab --help"

# Compiled here, as the installed packages are: some tests start many processes, and where Python may not write compiled
# files each of them would compile what it imports. pytest keeps what it makes of the tests, which takes it long.
test: $(VENV)/.dev ## install what the tests need and run them
	@$(BIN)/python -m compileall -q src tests tools
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(DIST) -q

test-all: $(VENV)/.dev ## all tests in their long profile, and the branches of src/ that they run
	@rm -rf build/coverage && mkdir -p build/coverage
	@$(BIN)/python -m coverage run -m pytest $(DIST) -q --long
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report

mutants: $(VENV)/.dev ## plant mistakes in a copy of the code; the tests must catch every one
	@$(BIN)/python -m tools.mutants

# The tests of what other packages do for SafeTab: files, engines, keys, noise, pictures.
LOWEST_TESTS ?= tests/golden tests/unit/files tests/unit/estimates tests/unit/params tests/unit/reading \
  tests/unit/verifying tests/cli/test_commands.py

# The lowest versions import pandas where it is installed, which costs a start some time and changes no result.
NOT_LOWEST := --deselect tests/unit/files/test_arrow.py::test_pandas_is_not_imported

test-lowest: ## the lowest versions that pyproject.toml allows, and the tests that matter to them (needs uv)
	@rm -rf build/lowest && mkdir -p build
	@uv pip compile --quiet --no-header --no-emit-index-url --python-version 3.11 --resolution lowest-direct \
	  pyproject.toml --extra report --extra crosscheck -o build/lowest.txt
	@uv venv --quiet --python 3.11 build/lowest
	@VIRTUAL_ENV=build/lowest uv pip install --quiet -r build/lowest.txt \
	  'pytest>=8.3,<9.2' 'pytest-xdist>=3.6' 'hypothesis>=6.120' hatchling editables pandas polars
	@VIRTUAL_ENV=build/lowest uv pip install --quiet --no-build-isolation --no-deps -e .
	@build/lowest/bin/python -m pytest $(DIST) -q -p no:cacheprovider $(LOWEST_TESTS) $(NOT_LOWEST)

dist: $(VENV)/.dev ## build the sdist and the wheel, and beside it a list of its parts (CycloneDX)
	@test -x build/dist-tools/bin/cyclonedx-py || { $(PYTHON) -m venv build/dist-tools && \
	  build/dist-tools/bin/python -m pip --disable-pip-version-check install -qq --require-hashes \
	  -r requirements/dist.lock; }
	@$(BIN)/python -m tools.dist build/dist-tools/bin/cyclonedx-py

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

docs: $(VENV)/.dev ## regenerate the reference pages and the pictures
	@$(BIN)/python -m tools.reference
	@$(BIN)/python -m tools.licences
	@$(BIN)/python -m tools.estimate_pictures
	@$(BIN)/python -m tools.readme_picture
	@$(BIN)/python -m tools.reading_pictures

site: $(VENV)/.dev ## build the documentation as a site in build/site; every warning is an error
	@$(BIN)/python -m tools.site

bench: $(VENV)/.dev ## tabulate 2, 5 and 20 million persons beside one plain GROUP BY
	@$(BIN)/python -m benchmarks.tabulate

bench-nation: $(VENV)/.dev ## tabulate the United States and Puerto Rico beside one plain GROUP BY
	@$(BIN)/python -m benchmarks.nation

bench-billion: $(VENV)/.dev ## tabulate the nation four times over as different states: time, memory, disk
	@$(BIN)/python -m benchmarks.billion

verify-nation: $(VENV)/.dev ## compare the nation's totals, noise off, with plain sums
	@$(BIN)/python -m benchmarks.nation verify

bench-estimates: $(VENV)/.dev ## what estimates add to a tabulation
	@$(BIN)/python -m benchmarks.estimates

bench-evaluate: $(VENV)/.dev ## what an evaluation with 20 trials costs, beside one tabulation
	@$(BIN)/python -m benchmarks.evaluate

bench-membership: $(VENV)/.dev ## code sets per second through membership
	@$(BIN)/python -m benchmarks.membership

bench-noise: $(VENV)/.dev ## nanoseconds per noise draw, and the ratio to OpenDP
	@$(BIN)/python -m benchmarks.noise

bench-own-files: $(VENV)/.dev ## 5 million persons as quoted text and as tables in memory, beside plain text and Parquet
	@$(BIN)/python -m benchmarks.own_files

bench-planning: $(VENV)/.dev ## CPU time of one change to a plan, with the production parameters
	@$(BIN)/python -m benchmarks.planning

bench-reading: $(VENV)/.dev ## seconds that questions about a release take (OUT=folder, else a state is made)
	@$(BIN)/python -m benchmarks.reading $(OUT)

bench-synth: $(VENV)/.dev ## synthetic persons per second, memory and bytes
	@$(BIN)/python -m benchmarks.synth

bench-spark: $(VENV)/.dev ## both engines on one and ten million persons: Spark's overhead, the driver's memory
	@$(BIN)/python -m benchmarks.spark

study: $(VENV)/.dev ## how much detail budgets, thresholds and stages give: docs/studies anew, some minutes
	@$(BIN)/python -m studies.granularity

# What the tests need is resolved first: some of it does not go with the newest of what the demo needs.
lock: ## resolve the lock files anew (needs uv)
	@uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 pyproject.toml --group build --group dev -o requirements/dev.lock $(LOCKFLAGS)
	@uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 pyproject.toml --extra report --group build \
	  -c requirements/dev.lock -o requirements/run.lock $(LOCKFLAGS)
	@uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	  --python-version 3.11 --group dist -c requirements/dev.lock -o requirements/dist.lock $(LOCKFLAGS)

clean: ## remove the virtual environment and caches
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
