"""textsignal: topics that explain the text and the number beside it.

Public names are imported when first used, so that the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textsignal import datasets, errors, evaluate
    from textsignal.comparison.compare import compare
    from textsignal.estimators import GLMNMF, JBNMF
    from textsignal.families import Binomial
    from textsignal.figures import plots
    from textsignal.inference import infer_weights
    from textsignal.loading import load
    from textsignal.model import TextResponseModel
    from textsignal.several import TextResponsesModel
    from textsignal.tables.batches import read_batches
    from textsignal.tables.read import read_table
    from textsignal.tables.sampled import sample_rows
    from textsignal.tables.stream import predict_batches, predict_file
    from textsignal.text.vectorise import TextVectorizer
    from textsignal.topics.explanation import Explanation
    from textsignal.uncertainty.checks import Check
    from textsignal.uncertainty.effect_table import EffectTable
    from textsignal.uncertainty.search import Search, search

__version__ = "0.1.0.dev0"

__all__ = [
    "GLMNMF",
    "JBNMF",
    "Binomial",
    "Check",
    "EffectTable",
    "Explanation",
    "Search",
    "TextResponseModel",
    "TextResponsesModel",
    "TextVectorizer",
    "compare",
    "datasets",
    "errors",
    "evaluate",
    "infer_weights",
    "load",
    "plots",
    "predict_batches",
    "predict_file",
    "read_batches",
    "read_table",
    "sample_rows",
    "search",
]

_HOMES = {
    "GLMNMF": "estimators",
    "JBNMF": "estimators",
    "Binomial": "families",
    "Check": "uncertainty.checks",
    "EffectTable": "uncertainty.effect_table",
    "Explanation": "topics.explanation",
    "Search": "uncertainty.search",
    "TextResponseModel": "model",
    "TextResponsesModel": "several",
    "TextVectorizer": "text.vectorise",
    "compare": "comparison.compare",
    "infer_weights": "inference",
    "load": "loading",
    "predict_batches": "tables.stream",
    "predict_file": "tables.stream",
    "read_batches": "tables.batches",
    "read_table": "tables.read",
    "sample_rows": "tables.sampled",
    "search": "uncertainty.search",
}
#: Public modules that do not lie where their name says.
_MODULES = {"plots": "figures.plots"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'textsignal' has no attribute {name!r}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"textsignal.{_HOMES[name]}"), name)
    return importlib.import_module(f"textsignal.{_MODULES.get(name, name)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
