"""textsignal: topics that explain the text and the number beside it."""

from textsignal import datasets, errors, evaluate
from textsignal.estimators import GLMNMF, JBNMF
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
    "TextResponseModel",
    "TextVectorizer",
    "datasets",
    "errors",
    "evaluate",
    "infer_weights",
    "load",
    "read_table",
]
