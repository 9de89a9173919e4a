"""Dependencies point one way (DESIGN section 3)."""

import ast
from pathlib import Path

import pytest

import textsignal

SOURCE = Path(textsignal.__file__).parent
#: A module imports from layers above it in this list and from its own package, and from nothing else of ours.
LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(layer.split())
    for layer in (
        "errors palette canvas _review_aspects",
        "families kernels text evaluate explain evidence revise validation outputs cloud",
        "datasets",  # reads published files with the readers of text
        "engines",
        "inference",
        "training",
        "estimators",
        "storage explanation curation report",
        "pipeline",
        "analysis effects search",
        "studies plots screen",
        "cli",
        "__main__",
    )
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
FILES = sorted(file for file in SOURCE.rglob("*.py") if file != SOURCE / "__init__.py")


def home_of(module: str) -> str:
    """Top-level part of a module's name: textsignal.training.joint -> training."""
    return module.split(".")[1]


def name_of(file: Path) -> str:
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_by(source: str) -> set[str]:
    """Names of our own modules that a source imports anywhere, inside functions and for type checkers too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            inside = node.module in ("textsignal", "textsignal.kernels")
            found |= {f"{node.module}.{alias.name}" for alias in node.names} if inside else {node.module}
    return {name for name in found if name.split(".")[0] == "textsignal"}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_module_imports_only_from_layers_below_it(file):
    own = home_of(name_of(file))
    assert own in RANK, f"{own} has no layer yet: say where it stands in LAYERS"
    for module in imported_by(file.read_text(encoding="utf-8")):
        home = home_of(module)
        assert home in RANK, f"{name_of(file)} imports {module}, which is no module with a layer"
        assert home == own or RANK[home] < RANK[own], f"{name_of(file)} must not import {module}"


def test_the_reference_kernels_know_of_no_other():
    modules = imported_by((SOURCE / "kernels" / "reference.py").read_text(encoding="utf-8"))
    assert not {
        module for module in modules if module.startswith(("textsignal.kernels.compiled", "textsignal.kernels.lanes"))
    }


def test_imports_are_found_wherever_they_stand():
    source = (
        "import textsignal.cli\n"
        "from textsignal import storage\n"
        "def f():\n    from textsignal.training.joint import Joint\n"
        "import numpy\n"
    )
    assert imported_by(source) == {"textsignal.cli", "textsignal.storage", "textsignal.training.joint"}


@pytest.mark.parametrize("name", textsignal.__all__)
def test_every_public_name_is_there(name):
    assert getattr(textsignal, name) is not None
    assert name in dir(textsignal)
