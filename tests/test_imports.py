"""Packages stand in one order, in which each imports only from those before it, and a class name has one meaning."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import textsignal

SOURCE = Path(textsignal.__file__).parent
#: Packages and modules of textsignal, each of which imports only from those before it.
ORDER = [
    *("arrays", "errors", "palette", "checks", "stored_values"),
    *("families", "compute", "data", "datasets", "text", "training", "estimators", "reading", "insight"),
    *("evaluation", "uncertainty", "report", "plots", "storage"),
    *("streaming", "model", "topic_model", "loading", "workflow", "cli", "__main__"),
]
FILES = sorted(file for file in SOURCE.rglob("*.py") if file.parent != SOURCE or file.name != "__init__.py")


def imported_by(source: str) -> set[str]:
    """Return the packages of ours that a source imports from, inside functions and for type checkers too."""
    packages = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            packages |= {name.split(".")[1] for name in inner if name.startswith("textsignal.")}
        elif isinstance(node, ast.Import):
            packages |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("textsignal.")}
    return packages - {"__version__"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_package_imports_only_from_those_before_it(file):
    own = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    for package in imported_by(file.read_text(encoding="utf-8")) - {own}:
        assert ORDER.index(package) < ORDER.index(own)


def test_imports_are_found_wherever_they_stand():
    source = "import textsignal.cli\nfrom textsignal import storage\ndef f():\n    from textsignal.text import spans\n"
    assert imported_by(source) == {"cli", "storage", "text"}


def test_no_class_name_is_defined_twice():
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in FILES]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("name", textsignal.__all__)
def test_every_public_name_is_there(name):
    assert getattr(textsignal, name) is not None
    assert name in dir(textsignal)
