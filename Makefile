# The commands of this repository. Each sets up what it needs in $(VENV) first, and does so again only when pyproject.toml changed.
#
#   make demo     judge an honest kernel and four cheats on this machine
#   make test     the test suite
#   make check    everything that CI runs
#
# PYTHON=python3.12 picks the interpreter, EXTRAS=dev,llm the optional dependencies, ARGS="tests/unit -k wire" goes to pytest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
HAS_GPU := $(wildcard /dev/nvidia0)$(shell command -v nvidia-smi)
EXTRAS ?= dev$(if $(HAS_GPU),$(comma)gpu)
TORCH ?= torch==2.13.0
ARGS ?=

comma := ,
BIN := $(VENV)/bin
UV := $(shell command -v uv)
INSTALL := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet)
# torch finds ninja on PATH when it compiles a candidate's extension.
ACTIVATE := PATH="$(abspath $(BIN)):$$PATH"
READY := $(VENV)/.ready-$(subst $(comma),-,$(EXTRAS))

.PHONY: help setup demo test lint format types contracts lock-check wheel-check check

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -7

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
	  echo "KernelGuard needs Python 3.10 or later, which $(PYTHON) is not; name another with: make PYTHON=python3.12" >&2; exit 2; }
	if [ ! -x $(BIN)/python ]; then
	  $(if $(UV),$(UV) venv --quiet --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV)) || {
	    rm -rf $(VENV); echo "No environment could be made: install uv, or the venv module of $(PYTHON) (python3-venv)" >&2; exit 2; }
	fi
	if ! $(BIN)/python -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'; then
	  echo "Installing $(TORCH)$(if $(HAS_GPU),, (no GPU seen: a CPU build is enough; README says how to get one with pip))"
	  $(if $(UV),$(if $(HAS_GPU),,$(INSTALL) --torch-backend=cpu "$(TORCH)" || ))$(INSTALL) "$(TORCH)"
	fi
	echo "Installing kernelguard-bench[$(EXTRAS)] into $(VENV)"
	$(INSTALL) -e '.[$(EXTRAS)]'
	touch $@

demo: $(READY)
	@$(ACTIVATE) kernelguard demo

test: $(READY)
	@$(ACTIVATE) python -m pytest $(ARGS)

lint: $(READY)
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY)
	@$(BIN)/mypy

contracts: $(READY)
	@$(BIN)/lint-imports

lock-check: $(READY)
	@$(BIN)/uv lock --check
	$(BIN)/uv sync --locked --dry-run --quiet

wheel-check: $(READY)
	@.ci/wheel-check $(BIN)/python

check:
	@.ci/run
