# `make demo` and `make test` need nothing but Python >= 3.10: they make .venv and install into it, once.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed

.PHONY: help demo test lint bench clean
help:
	@echo "make demo   fit the bundled data, print the summary, draw a picture"
	@echo "make test   lint, then all tests"
	@echo "make lint   ruff and codespell"
	@echo "make bench  the benchmark scripts, to be run by hand"
	@echo "make clean  remove what builds and tests left behind (.venv stays)"

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "isocal needs Python 3.10 or later; $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo not installed)." >&2; \
	  echo "Install one (Debian, Ubuntu: sudo apt-get install python3 python3-venv; or python.org)," >&2; \
	  echo "or name another: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv $(VENV)' failed: this Python comes without a working venv module." >&2; \
	  echo "Install it (Debian, Ubuntu: sudo apt-get install python3-venv; conda: conda install python)," >&2; \
	  echo "or name another Python >= 3.10: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }

# Order-only: the stamp is as old as the last install; the interpreter's own date says nothing.
$(STAMP): setup.cfg pyproject.toml | $(PY)
	@echo "Installing isocal and its test tools into $(VENV) (once, a minute or so) ..."
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

demo: $(STAMP)
	@$(PY) vignettes/demo.py

lint: $(STAMP)
	$(PY) -m ruff check .
	$(PY) -m codespell_lib .

test: lint
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(PY) -m pytest -n 2  # one core a worker

bench: $(STAMP)
	@echo "Run by hand, after $(PY) -m pip install -e '.[bench]':"
	@for f in benchmarks/*.py; do [ -e "$$f" ] && echo "  $(PY) $$f"; done; true

clean:
	rm -rf build dist ./*.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
