"""Dependencies point one way (DESIGN section 3), module by module."""

import ast
import re
from pathlib import Path

import pytest

import textsignal

SOURCE = Path(textsignal.__file__).parent
#: A module imports from layers above it in this list, and from modules of its own entry. An entry is a module, or a
#: package with all that has no entry of its own.
LAYERS: tuple[tuple[str, ...], ...] = tuple(
    tuple(layer.split())
    for layer in (
        "arrays errors plain kernels.compiling",
        "stored_json",
        "stored_values",
        "kernels.counting kernels.splitting",
        "kernels.reading",
        "families",
        "covariates",
        "checks evaluate kernels text figures.palette figures.canvas tables.files tables.lines",
        "tables.separator tables.rows tables.write stored_responses topics.naming",
        "figures.cloud figures.search kernels.reference kernels.lanes tables.write_batches",
        "topics.effects topics.table topics.documents topics.beside topics.ranges",
        "kernels.loops kernels.gpu_code",
        "tables.read kernels.compiled kernels.gpu kernels.gpu_tone baselines engines",
        "text.counts text.shards kernels.gpu_themes",
        "text.merged",
        "text.content text.features",
        "topics.findings",
        "datasets tables.batch_files",
        "engines.local tables.batches",
        "engines.dask",
        "tables.cells",
        "inference",
        "training.corpus training.lengths training.loop training.draws",
        "uncertainty.covariance",
        "training.glm training.word_effects training.distinct",
        "training.covariate_effects training.coefficient_steps training.tone_blocks training.tone_on_card",
        "training.tone",
        "training.fitted",
        "training.joint",
        "training.start",
        "training",
        "estimators",
        "topics",
        "readers",
        "uncertainty",
        "topics.conditional topics.trusted stored_options",
        "topics.revise topics.growing storage",
        "topics.speaking",
        "parts",
        "streaming",
        "report.values",
        "report.page",
        "report.reporting",
        "model",
        "uncertainty.search_cells",
        "uncertainty.search_file",
        "uncertainty.search",
        "comparison.folds comparison.scores comparison.wording",
        "comparison.methods comparison.results",
        "comparison",
        "several",
        "loading",
        "tables.covariates",
        "tables.used",
        "figures.plots tables.analyse",
        "tables.analyse_source tables.sampled",
        "tables.apply tables.several tables.search tables.compare",
        "tables.classes tables.checks tables.stream",
        "cli.console cli.options cli.models",
        "cli.screen",
        "cli.fit_source",
        "cli.sampled",
        "cli.demo cli.fit cli.predict cli.topics cli.drivers cli.check cli.explain cli.report cli.search cli.effects",
        "cli.compare",
        "cli",
        "__main__",
    )
)
RANK = {entry: rank for rank, layer in enumerate(LAYERS) for entry in layer}
FILES = sorted(file for file in SOURCE.rglob("*.py") if file != SOURCE / "__init__.py")


def name_of(file: Path) -> str:
    """training/joint.py -> training.joint, training/__init__.py -> training."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(file) for file in FILES}
#: Packages of ours whose own file holds nothing but a docstring: they may be named by anybody.
EMPTY = {name_of(file) for file in FILES if len(ast.parse(file.read_text(encoding="utf-8")).body) == 1}


def entry_of(module: str) -> str:
    """The longest entry of `LAYERS` that is the module or a package around it."""
    parts = module.split(".")
    candidates = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    found = next((candidate for candidate in candidates if candidate in RANK), None)
    assert found, f"{module} has no layer yet: say where it stands in LAYERS"
    return found


def imported_by(source: str) -> set[tuple[str, str]]:
    """(module, name) of all that a source imports of ours, inside functions and for type checkers too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = inner.removeprefix("textsignal.") in NAMES
                found.add((inner, "") if is_module else (str(node.module), alias.name))
    return {
        (module.removeprefix("textsignal."), name) for module, name in found if module.split(".")[0] == "textsignal"
    }


@pytest.mark.parametrize("file", [file for file in FILES if name_of(file) not in EMPTY], ids=name_of)
def test_a_module_imports_only_from_layers_below_it(file):
    own = entry_of(name_of(file))
    for module, _ in imported_by(file.read_text(encoding="utf-8")):
        if module in EMPTY or module == "textsignal":
            continue
        other = entry_of(module)
        assert other == own or RANK[other] < RANK[own], f"{name_of(file)} must not import {module}"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_no_module_imports_a_private_name_of_another_package(file):
    package = name_of(file).rpartition(".")[0]
    for module, name in imported_by(file.read_text(encoding="utf-8")):
        private = re.search(r"(^|\.)_(?!_)", f"{module}.{name}")
        assert not private or module.startswith(package or "?"), f"{name_of(file)} imports {module}.{name}"


def test_every_entry_is_a_module():
    assert set(RANK) <= NAMES


def test_imports_are_found_wherever_they_stand():
    source = (
        "import textsignal.cli\n"
        "from textsignal import storage\n"
        "def f():\n    from textsignal.training.joint import Joint\n"
        "import numpy\n"
    )
    assert imported_by(source) == {("cli", ""), ("storage", ""), ("training.joint", "Joint")}


@pytest.mark.parametrize("name", textsignal.__all__)
def test_every_public_name_is_there(name):
    assert getattr(textsignal, name) is not None
    assert name in dir(textsignal)
