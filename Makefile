# Every target sets up what it needs: a virtual environment in .venv, made anew only when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-generic fuzz chromium check bench bench-gpu skill themes responses inference reproduction screenshots clean

demo: $(READY)
	$(BIN)/textsignal demo -o demo --force

# Compiled Python is kept, also where the shell says not to: tests start many processes, and each would compile it anew.
test: export PYTHONDONTWRITEBYTECODE =
# There is a worker for each core already: more threads of BLAS would only wait for each other, and burn time doing so.
test: export OMP_NUM_THREADS = 1
test: $(READY) chromium
	$(BIN)/python -m pytest -n auto --dist worksteal -q

# The suite as on another processor: numba, NumPy and OpenBLAS without the wide vectors of this one, so that sums are
# added in another order. No test may hinge on last digits.
test-generic: export NUMBA_CPU_NAME = generic
test-generic: export NPY_DISABLE_CPU_FEATURES = X86_V3 X86_V4 AVX512_ICL AVX512_SPR
test-generic: export OPENBLAS_CORETYPE = Nehalem
test-generic: test

# The tests of tests/fuzz on random cases, again and again: make fuzz MINUTES=60
MINUTES ?= 60
fuzz: export OMP_NUM_THREADS = 1
fuzz: $(READY)
	@end=$$(( $$(date +%s) + 60 * $(MINUTES) )); while [ $$(date +%s) -lt $$end ]; do \
		$(BIN)/python -m pytest tests/fuzz -n auto -q --hypothesis-profile=fuzz || exit 1; done

# The browser that tests of the report run in: one that is there, the system's package, or Playwright's download.
chromium: $(READY)
	@$(BIN)/python tests/chromium.py

# Pictures of the demo, and of reports of three sets of reviews that lie beside the repository.
screenshots: $(READY) chromium
	$(BIN)/python docs/screenshots.py

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python benchmarks/kernels.py

# Themes and tone on a graphics card: PYTHON is one that has CuPy, and torch for the peers.
bench-gpu:
	PYTHONPATH=src $(PYTHON) benchmarks/gpu.py $(GPU)

# Our skill beside other packages' on review sets that are not in this repository: make skill SKILL="--data FOLDER"
skill: $(VENV)/.bench
	$(BIN)/python benchmarks/skill.py $(SKILL)

# Themes and tone beside other topic models, on the same sets: make themes THEMES="--data FOLDER"
themes: $(VENV)/.bench
	$(BIN)/python benchmarks/themes.py $(THEMES)

# Probabilities of responses, on the same sets: make responses RESPONSES="--data FOLDER"
responses: $(READY)
	$(BIN)/python benchmarks/responses.py $(RESPONSES)

# Whether intervals hold: make inference INFERENCE="--data FOLDER"
inference: $(READY)
	$(BIN)/python benchmarks/inference.py $(INFERENCE)

# The paper's studies on review sets that are not in this repository: make reproduction DATA=FOLDER
# One study, or small grids, into reproduction/results: make reproduction QUICK=1 STUDY=simulation
DATA ?= ../shared/data
STUDY ?= all
REVIEWS = --reviews tripadvisor=$(DATA)/hotel_reviews_10k.csv.gz --reviews hotel=$(DATA)/hotel_reviews_long_10k.csv.gz \
	--reviews fast-food=$(DATA)/short_reviews_10k.csv.gz --reviews cafe=$(DATA)/google_local_4k.csv.gz
reproduction: $(READY)
ifeq ($(STUDY)$(QUICK),all)
	@touch docs/reproduction/cells.jsonl # marks the folder as ours, so that its tables may be replaced
	$(BIN)/python -m reproduction all -o docs/reproduction --page docs/reproduction.md $(REVIEWS)
else
	$(BIN)/python -m reproduction $(STUDY) $(if $(QUICK),--quick) $(if $(filter-out simulation,$(STUDY)),$(REVIEWS))
endif

$(VENV)/.bench: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "textsignal needs Python 3.11 or newer; give one with: make PYTHON=/path/to/python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) demo
