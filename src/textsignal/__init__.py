"""textsignal: themes of texts, and what they have to do with a response.

Public names are imported when first used, so that the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textsignal import datasets, errors, plots
    from textsignal.data.read import read_table
    from textsignal.data.sample import sample_rows
    from textsignal.data.source import read_batches
    from textsignal.estimators import GLMNMF, JBNMF
    from textsignal.evaluation import metrics as evaluate
    from textsignal.families import Binomial
    from textsignal.insight.explanation import Explanation
    from textsignal.loading import load
    from textsignal.model import TextResponseModel
    from textsignal.text.vectorise import TextVectorizer
    from textsignal.topic_model import TopicModel
    from textsignal.training.inference import infer_weights
    from textsignal.uncertainty.checks import Check
    from textsignal.uncertainty.effects import EffectTable
    from textsignal.uncertainty.search import Search, search
    from textsignal.workflow.stream import predict_batches, predict_file
    from textsignal.workflow.studies import compare

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
    "TextVectorizer",
    "TopicModel",
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
    "EffectTable": "uncertainty.effects",
    "Explanation": "insight.explanation",
    "Search": "uncertainty.search",
    "TextResponseModel": "model",
    "TopicModel": "topic_model",
    "TextVectorizer": "text.vectorise",
    "compare": "workflow.studies",
    "infer_weights": "training.inference",
    "load": "loading",
    "predict_batches": "workflow.stream",
    "predict_file": "workflow.stream",
    "read_batches": "data.source",
    "read_table": "data.read",
    "sample_rows": "data.sample",
    "search": "uncertainty.search",
}
#: Public modules whose name differs from their location.
_MODULES = {"evaluate": "evaluation.metrics"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'textsignal' has no attribute {name!r}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"textsignal.{_HOMES[name]}"), name)
    return importlib.import_module(f"textsignal.{_MODULES.get(name, name)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
