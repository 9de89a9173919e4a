"""textsignal: topics that explain the text and the number beside it.

Public names are imported when first used, so that the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textsignal import datasets, errors, evaluate, plots, studies
    from textsignal.estimators import GLMNMF, JBNMF
    from textsignal.explanation import Explanation
    from textsignal.families import Binomial
    from textsignal.inference import infer_weights
    from textsignal.pipeline import TextResponseModel, load
    from textsignal.text.read import read_table
    from textsignal.text.vectorise import TextVectorizer

__version__ = "0.1.0.dev0"

__all__ = [
    "GLMNMF",
    "JBNMF",
    "Binomial",
    "Explanation",
    "TextResponseModel",
    "TextVectorizer",
    "datasets",
    "errors",
    "evaluate",
    "infer_weights",
    "load",
    "plots",
    "read_table",
    "studies",
]

_HOMES = {
    "GLMNMF": "estimators",
    "JBNMF": "estimators",
    "Binomial": "families",
    "Explanation": "explanation",
    "TextResponseModel": "pipeline",
    "TextVectorizer": "text.vectorise",
    "infer_weights": "inference",
    "load": "pipeline",
    "read_table": "text.read",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'textsignal' has no attribute {name!r}")
    home = importlib.import_module(f"textsignal.{_HOMES.get(name, name)}")
    return getattr(home, name) if name in _HOMES else home


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
