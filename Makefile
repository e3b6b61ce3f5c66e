# Two commands do all the set-up on a fresh machine: `make run` and `make test`. `make help` lists the rest.
# Debian or Ubuntu with Python 3.11 or newer, a C/C++ compiler and cmake; what is missing is named.

PYTHON ?= python3
# PyPI's plain torch for Linux is a CUDA build of several GB. TORCH_INDEX=URL takes it from PyTorch's CPU index (README).
TORCH_INDEX ?=

VENV := .venv
# What llama.cpp is built for: cpu (this processor), cuda (NVIDIA), rocm (AMD), vulkan (any). Unset: as it is now.
# Another value builds it again; settings need no change.
BUILT := $(firstword $(patsubst $(VENV)/.llama-%,%,$(wildcard $(VENV)/.llama-*)))
GPU ?= $(or $(firstword $(subst -, ,$(BUILT))),cpu)
BIN := $(VENV)/bin
TEST_MODELS := .cache/models
# The environment is made again only when what goes into it changes; contents count, not file times.
LLAMA := $(shell sed -n 's/.*"\(llama-cpp-python==[^"]*\)".*/\1/p' pyproject.toml)
LLAMA_STAMP := $(VENV)/.llama-$(GPU)-$(lastword $(subst ==, ,$(LLAMA)))
CMAKE_cuda := -DGGML_CUDA=on
CMAKE_rocm := -DGGML_HIP=on
CMAKE_vulkan := -DGGML_VULKAN=on
INPUTS := $(shell cat pyproject.toml | sha256sum | cut -c1-16)
RUN_STAMP := $(VENV)/.installed-run-$(INPUTS)
DEV_STAMP := $(VENV)/.installed-dev-$(INPUTS)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TORCH_FROM := $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

.DEFAULT_GOAL := help
.PHONY: help run demo test soak chaos redteam check format clean preflight gpu-tools run-models test-models

help:
	@echo "make run    set up, fetch the models, start the daemon, open the screen   (first time: 10 to 20 minutes)"
	@echo "         GPU=cuda|rocm|vulkan builds llama.cpp for a graphics card, GPU=cpu takes that back"
	@echo "make demo   the same without a screen: reads examples/, asks two questions, prints the answers"
	@echo "make test   set up for development and run every test                     (first time: 10 to 20 minutes)"
	@echo "make soak   a random walk of 5,000 requests on the engine, and what it left behind      (half an hour)"
	@echo "make chaos  100 rounds of kills, damaged files and full disks, and whether all came right  (20 to 30 minutes;"
	@echo "         as root also on a disk of its own that fills up; SEED=n repeats a run)"
	@echo "make redteam  asks about poisoned documents, and whether any of them was obeyed (MODEL=name; minutes)"
	@echo "make check  format, lint, types and tests: what CI runs"
	@echo "make format rewrite the code in the house's format"
	@echo "make clean  remove what was made here: the environment, caches, the demo's home (not your documents)"

run: $(RUN_STAMP) run-models
	@$(BIN)/appliance status > /dev/null 2>&1 || $(BIN)/appliance serve --detach
	@$(BIN)/appliance tui

demo: $(RUN_STAMP) run-models
	@$(BIN)/python examples/demo.py

test: $(DEV_STAMP) test-models
	$(BIN)/python -m pytest

soak: $(DEV_STAMP) test-models
	$(BIN)/python -m appliance.ops.soak $(TEST_MODELS)/smollm2-135m-instruct/*.gguf --requests 5000

chaos: $(DEV_STAMP) test-models
	$(BIN)/python -m tests.chaos --rounds 100 $(if $(SEED),--seed $(SEED))

redteam: $(DEV_STAMP) test-models
	$(BIN)/python -m tests.redteam $(if $(MODEL),--model $(MODEL)) $(if $(MODELS),--models $(MODELS))

check: $(DEV_STAMP) test-models
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

format: $(DEV_STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	@-$(BIN)/appliance --home .demo stop > /dev/null 2>&1
	rm -rf $(VENV) .cache .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

preflight:
	@command -v $(PYTHON) > /dev/null || { echo "python3 is missing: sudo apt-get install python3 python3-venv python3-dev"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) --version) is too old, 3.11 is the least: sudo apt-get install python3.11 python3.11-venv python3.11-dev, then make PYTHON=python3.11 …"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2> /dev/null || { echo "Python's venv is missing: sudo apt-get install python3-venv"; exit 1; }
	@{ command -v cc && command -v c++; } > /dev/null || { echo "a C/C++ compiler is missing: sudo apt-get install build-essential"; exit 1; }
	@command -v cmake > /dev/null || { echo "cmake is missing: sudo apt-get install cmake"; exit 1; }
	@free=$$(df -Pk . | awk 'NR==2 {print int($$4/1048576)}'); [ $$free -ge 6 ] || { echo "$$free GB free here, 6 are needed for building and models: make room, or clone to another disk"; exit 1; }

# Named before anything is built: a GPU build without its toolkit fails after minutes, in the middle of cmake's talk.
gpu-tools:
	@case "$(GPU)" in \
	cpu) ;; \
	cuda) command -v nvcc > /dev/null || { echo "GPU=cuda: nvcc is missing: install NVIDIA's CUDA toolkit (sudo apt-get install nvidia-cuda-toolkit, or developer.nvidia.com/cuda-downloads) and put its bin folder into PATH"; exit 1; } ;; \
	rocm) command -v hipcc > /dev/null || { echo "GPU=rocm: hipcc is missing: install AMD's ROCm (sudo apt-get install hipcc libhipblas-dev librocblas-dev, or rocm.docs.amd.com) and put /opt/rocm/bin into PATH"; exit 1; } ;; \
	vulkan) command -v glslc > /dev/null || { echo "GPU=vulkan: glslc is missing: sudo apt-get install glslc"; exit 1; }; \
		for header in vulkan/vulkan.h spirv/unified1/spirv.hpp; do echo "#include <$$header>" | c++ $${VULKAN_SDK:+-I"$$VULKAN_SDK/include"} -E -x c++ - > /dev/null 2>&1 || { echo "GPU=vulkan: the header $$header is missing: sudo apt-get install libvulkan-dev spirv-headers"; exit 1; }; done ;; \
	*) echo "GPU=$(GPU): there are cpu, cuda, rocm and vulkan"; exit 1 ;; \
	esac

$(VENV)/bin/python: | preflight
	@echo "── making $(VENV) (a few seconds)"
	@$(PYTHON) -m venv $(VENV)

# pip's cache of wheels knows nothing of CMAKE_ARGS: builds for a GPU neither take from it nor leave anything in it.
$(LLAMA_STAMP): | gpu-tools $(VENV)/bin/python
ifeq ($(GPU),cpu)
	@set -- $(VENV)/.llama-*; [ ! -e "$$1" ] || { echo "── installing llama-cpp-python for the CPU"; $(PIP_INSTALL) --force-reinstall --no-deps '$(LLAMA)'; }
else
	@echo "── compiling llama-cpp-python for $(GPU) (10 to 40 minutes)"
	@CMAKE_ARGS="$(CMAKE_$(GPU)) $$CMAKE_ARGS" $(PIP_INSTALL) --force-reinstall --no-deps --no-cache-dir --no-binary llama-cpp-python '$(LLAMA)'
endif
	@rm -f $(VENV)/.llama-*
	@touch $@

$(RUN_STAMP): | $(LLAMA_STAMP) $(VENV)/bin/python
	@[ -e $(DEV_STAMP) ] || { echo "── installing; llama-cpp-python is compiled the first time (6 minutes on 2 cores, then pip keeps the wheel)"; $(PIP_INSTALL) -e . ; }
	@touch $@

$(DEV_STAMP): | $(LLAMA_STAMP) $(VENV)/bin/python
	@echo "── installing for development, with torch to compile the embedder (1.5 GB; llama-cpp-python: 6 minutes the first time)"
	@$(PIP_INSTALL) $(TORCH_FROM) -e '.[compile,dev,examples]'
	@touch $@

# The embedder is compiled where torch is: in this environment if it has it, else in a throw-away one.
run-models: $(RUN_STAMP)
	@echo "── models (1.3 GB the first time; then nothing)"
	@$(BIN)/appliance model pull --default --compile-apart --torch-index "$(TORCH_INDEX)"

test-models: export APPLIANCE_MODELS__FOLDER := $(TEST_MODELS)
test-models: $(DEV_STAMP)
	@$(BIN)/appliance model pull smollm2-135m-instruct all-minilm-l6-v2
