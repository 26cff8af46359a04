# Everything a developer types. The set-up itself is in tools/bootstrap.py.

PYTHON ?= python3
PY := .venv/bin/python
SBT := tools/sbt

# The jars are made again when one of these is newer; folders are in the list to notice deletions.
JARS := python/evenkeel/jars/.staged
JAR_SOURCES := build.sbt pyproject.toml project/build.properties project/plugins.sbt \
  $(shell find scala/core/src scala/spark/src scala/bench/src)

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-routers demo-stream test test-scala test-python lint lint-python fmt bench \
  bench-all bench-splitting bench-aggregator bench-panes bench-table bench-stream soak paper build wheel docs clean distclean
.DELETE_ON_ERROR:

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-17s\033[0m %s\n", $$1, $$2 }' Makefile

setup: ## Make .venv, install the pinned packages, fetch sbt (all other targets do it too)
	@command -v $(PYTHON) > /dev/null || { echo "$(PYTHON) is not on the PATH. Install Python 3.10 or \
	newer, or name it: make setup PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) tools/bootstrap.py

demo: build ## Real flights, plain Spark and Evenkeel side by side: tables and out/demo.png
	@$(PY) -m evenkeel demo

demo-routers: build ## Simulate all routers on a skewed word stream: a table and out/routers.png
	@$(PY) -m evenkeel demo-routers

demo-stream: build ## A stream whose hot keys change: live bars per state partition (about 90 s)
	@$(PY) -m evenkeel demo-stream

test: lint-python ## Linters, Scala tests, jars, Python tests
	$(SBT) lint test stageJars
	$(PY) -m pytest

test-scala: setup ## Scala tests only
	$(SBT) test

test-python: build ## Python tests only
	$(PY) -m pytest

lint: lint-python ## Check formatting and types: scalafmt, scalafix, ruff, mypy
	$(SBT) lint

lint-python: setup
	@$(PY) -m ruff format --check
	@$(PY) -m ruff check
	@$(PY) -m mypy

fmt: setup ## Format and fix Scala and Python
	@$(PY) -m ruff check --fix --exit-zero
	@$(PY) -m ruff format
	$(SBT) fmt

bench: setup ## Run the JMH benchmarks and write docs/benchmarks/core.md (about 20 minutes)
	@mkdir -p out
	$(SBT) "bench/Jmh/run -prof gc -rf json -rff $(CURDIR)/out/jmh.json $(JMH)"
	$(PY) tools/bench_table.py out/jmh.json docs/benchmarks/core.md

soak: export EVENKEEL_SEED ?= $(shell date +%Y%m%d)
soak: setup ## Random queries, halted streams, a long stream (hours; EVENKEEL_SEED, _QUERIES, _CRASHES, _BATCHES)
	EVENKEEL_QUERIES=$${EVENKEEL_QUERIES:-2000} EVENKEEL_WAYS=36 $(SBT) "spark/testOnly *DifferentialSuite"
	EVENKEEL_MATRIX=all $(SBT) "spark/testOnly *OperatorMatrixSuite *TypedOperatorSuite"
	EVENKEEL_MATRIX=all $(SBT) "spark/testOnly *.HaltSuite *SinkSuite *CommandCrashSuite *SetBackSuite *ThereAndBackSuite"
	EVENKEEL_CRASHES=$${EVENKEEL_CRASHES:-200} $(SBT) "spark/testOnly *RandomHaltSuite"
	EVENKEEL_BATCHES=$${EVENKEEL_BATCHES:-500} $(SBT) "spark/testOnly *LongRunSuite"

bench-all: bench bench-splitting bench-aggregator bench-panes bench-table bench-stream ## All benchmarks, one after the other (hours)

bench-splitting: build ## Measure key splitting and write docs/benchmarks/splitting.md (30 minutes)
	$(PY) tools/bench_splitting.py docs/benchmarks/splitting.md $(BENCH)

bench-aggregator: build ## Measure the Python aggregate and write docs/benchmarks/aggregator.md (40 minutes)
	rm -f out/aggregator.json
	$(PY) tools/bench_aggregator.py docs/benchmarks/aggregator.md $(BENCH)

bench-panes: build ## Sliding windows against plain Spark, into docs/benchmarks/panes.md (hours)
	$(PY) tools/bench_panes.py

bench-table: build ## Compare routing by table and online in Spark: docs/benchmarks/table-online.md
	$(PY) tools/bench_table_online.py docs/benchmarks/table-online.md

bench-stream: build ## Streams whose state moves beside plain Spark: docs/benchmarks/streaming.md (an hour)
	$(PY) tools/bench_stream.py docs/benchmarks/streaming.md $(BENCH)

paper: build ## Regenerate the papers' tables and plots in docs/paper
	$(PY) tools/paper.py

build: $(JARS) ## Build the jars into the Python package

$(JARS): $(JAR_SOURCES) | setup
	$(SBT) stageJars

wheel: build ## Build the Python wheel, jars included, into dist
	$(PY) -m build --wheel --no-isolation --outdir dist

docs: setup ## Build the documentation site into site
	@$(PYTHON) tools/bootstrap.py docs
	.venv/bin/zensical build --clean

clean: ## Remove what was built; keep the set-up
	rm -rf target project/target project/project scala/*/target python/evenkeel/jars out dist site
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find python tools tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove the set-up as well: the next command starts from nothing
	rm -rf .venv .tools
