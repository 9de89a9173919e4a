"""The public names: all there, all documented, loaded when first used."""

import ast
import inspect
import subprocess
import sys
from dataclasses import is_dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

import textsignal as ts

PUBLIC = {name: getattr(ts, name) for name in ts.__all__}
MODULES = {name: thing for name, thing in PUBLIC.items() if inspect.ismodule(thing)}
CLASSES = {name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)}


def names_of(module):
    """What a module or package defines for its users: functions and classes without a leading underscore."""
    return {
        name: thing
        for name, thing in vars(module).items()
        if not name.startswith("_") and (getattr(thing, "__module__", None) or "").startswith(module.__name__)
    }


def members_of(cls):
    """Public methods and properties that textsignal itself defines on a class."""
    for owner in cls.__mro__:
        if owner.__module__.startswith("textsignal"):
            for name, member in vars(owner).items():
                if not name.startswith("_") and (callable(member) or isinstance(member, property | classmethod)):
                    yield f"{owner.__name__}.{name}", member


def test_dir_shows_the_public_names_and_no_other():
    assert dir(ts) == sorted([*ts.__all__, "__version__"])
    assert len(set(ts.__all__)) == len(ts.__all__)


@pytest.mark.parametrize("name", ts.__all__)
def test_every_public_name_can_be_imported(name):
    namespace = {}
    exec(f"from textsignal import {name}", namespace)
    assert namespace[name] is getattr(ts, name)


def test_a_star_import_gives_the_public_names():
    namespace = {}
    exec("from textsignal import *", namespace)
    assert set(ts.__all__) <= set(namespace)


def test_type_checkers_see_the_same_names():
    source = Path(ts.__file__).read_text(encoding="utf-8")
    block = next(node for node in ast.parse(source).body if isinstance(node, ast.If))
    seen = [alias.asname or alias.name for node in block.body for alias in node.names]
    assert sorted(seen) == sorted(ts.__all__)


@pytest.mark.parametrize("name", ["nothing", "pipeline_", "Gaussian_", "_secret"])
def test_an_unknown_name_is_an_attribute_error_that_names_it(name):
    with pytest.raises(AttributeError, match=f"module 'textsignal' has no attribute '{name}'"):
        getattr(ts, name)
    assert not hasattr(ts, name)


def test_importing_the_package_loads_nothing_heavy():
    script = "import sys, textsignal; print(sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "'textsignal'" in loaded
    for heavy in ("numpy", "pandas", "sklearn", "numba", "scipy", "typer", "matplotlib"):
        assert f"'{heavy}'" not in loaded


@pytest.mark.parametrize("name", ts.__all__)
def test_every_public_name_says_what_it_is(name):
    assert inspect.getdoc(PUBLIC[name])


@pytest.mark.parametrize("name", MODULES)
def test_everything_in_a_public_module_says_what_it_is(name):
    undocumented = [inner for inner, thing in names_of(MODULES[name]).items() if not inspect.getdoc(thing)]
    assert names_of(MODULES[name])
    assert undocumented == []


@pytest.mark.parametrize("cls", [*CLASSES.values(), *names_of(ts.datasets).values()], ids=lambda cls: cls.__name__)
def test_every_public_method_says_what_it_does(cls):
    members = dict(members_of(cls)) if inspect.isclass(cls) else {cls.__name__: cls}
    assert members or is_dataclass(cls)
    assert [name for name, member in members.items() if not inspect.getdoc(member)] == []


@pytest.mark.parametrize("name", ["TextResponseModel", "GLMNMF", "JBNMF", "TextVectorizer"])
def test_every_parameter_of_an_estimator_is_documented(name):
    documented = inspect.getdoc(PUBLIC[name])
    for parameter in inspect.signature(PUBLIC[name]).parameters:
        assert parameter in documented


def test_options_are_keywords():
    for name in ("TextResponseModel", "GLMNMF", "JBNMF", "TextVectorizer"):
        kinds = [parameter.kind for parameter in inspect.signature(PUBLIC[name]).parameters.values()]
        assert kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) <= 2


def test_errors_are_one_tree_that_standard_handlers_catch():
    classes = [each for each in names_of(ts.errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    assert all(issubclass(error, ts.errors.TextSignalError) for error in classes)
    assert issubclass(ts.errors.InputError, ValueError)
    assert issubclass(ts.errors.StorageError, ValueError)
    assert issubclass(ts.errors.OutputError, OSError)
    assert issubclass(ts.errors.TrainingError, ArithmeticError)


def test_the_version_is_the_one_that_is_installed():
    assert ts.__version__ == version("textsignal")
