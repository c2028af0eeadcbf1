# make demo and make test do all their own set-up; see docs/development.md.

PYTHON ?= python3.11
# Where torch comes from. PyPI's wheel for Linux is the CUDA one; set this to the address of another package
# index (for example the one with PyTorch's CPU builds) to take a smaller one.
TORCH_INDEX ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.finray-setup
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --no-input
TORCH := $(shell grep '^torch==' requirements.lock)
LANGCHAIN := benchmarks/.venv-langchain
LANGCHAIN_PIP := $(LANGCHAIN)/bin/python -m pip --disable-pip-version-check --quiet --no-input
# What to index in the benchmark: a folder of PDF filings; empty, some are generated.
FILINGS ?=

.PHONY: help setup demo test test-slow lint types check docs lock bench-index clean

help:
	@echo "make demo       build .venv, index a small corpus of fictional filings, answer and score questions"
	@echo "make test       the everyday tests (under ten minutes)"
	@echo "make test-slow  the rest: minutes-long tests, clusters, real filings"
	@echo "make check      ruff, mypy, generated docs, locked requirements"
	@echo "make docs       regenerate docs/cli.md and docs/methods.md"
	@echo "make lock       write requirements*.lock from what .venv holds"
	@echo "make setup      build .venv only"
	@echo "make bench-index [FILINGS=folder]  time the index job beside LangChain + Chroma, and beside its encoder alone"

setup: $(STAMP)

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON) here; install it or say make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make virtual environments; on Debian: apt install python3.11-venv" >&2; exit 1; }

# torch goes first and with its own requirements, which differ between CPU and CUDA builds. Everything else is
# pinned, so pip need not resolve anything: --no-deps saves minutes and cannot drift.
$(STAMP): requirements.lock requirements-dev.lock pyproject.toml | $(BIN)/python
	@echo "installing $(TORCH) (the first time this takes a while)"
	@$(PIP) install $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH)
	@echo "installing the locked requirements"
	@$(PIP) install --no-deps -r requirements.lock -r requirements-dev.lock
	@$(PIP) install --no-deps -e .
	@touch $@

demo: setup
	$(BIN)/finray demo

test: setup
	$(BIN)/python -m pytest -m "not slow" --cov --cov-report=term

test-slow: setup
	$(BIN)/python -m pytest -m slow

lint: setup
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

check: lint types
	$(BIN)/python tools/generate_docs.py --check
	$(BIN)/python tools/lock.py --check

docs: setup
	$(BIN)/python tools/generate_docs.py

lock: setup
	$(BIN)/python tools/lock.py

# LangChain has an environment of its own, beside .venv and without any of finray.
$(LANGCHAIN)/.finray-setup: benchmarks/requirements-langchain.txt | $(STAMP)
	@echo "building $(LANGCHAIN)"
	@$(PYTHON) -m venv $(LANGCHAIN)
	@$(LANGCHAIN_PIP) install $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH)
	@$(LANGCHAIN_PIP) install --no-deps -r benchmarks/requirements-langchain.txt
	@touch $@

bench-index: setup $(LANGCHAIN)/.finray-setup
	$(BIN)/python benchmarks/index_speed.py $(if $(FILINGS),"$(FILINGS)")

clean:
	rm -rf .coverage coverage.xml .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
