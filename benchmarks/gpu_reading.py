"""Reading of texts on the card, once themes are learnt: tone, places of sentences, and their sums by document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textsignal.compute.gpu import blocks, cupy, function
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu.themes import first_weights
from textsignal.compute.gpu.tone import FITS, FOLDS, CardTexts, Steps, walk
from textsignal.compute.kernels import Rows

#: How near the best weights of a sentence must come, in how many steps.
TOL, MAX_ITER = 1e-3, 1000


def infer_themes(rows: Rows, HT: Any, tol: float = TOL, max_iter: int = MAX_ITER) -> Any:
    """(sentences, topics) best weights of sentences on the card under topics (terms, padded topics)."""
    W = first_weights(rows, HT)
    gpu.infer(rows, HT, W, 0.0, tol, max_iter)
    return W


@dataclass(frozen=True)
class Placed:
    """tone : (documents, topics) tone about each theme; shares : (documents, topics) of its words."""

    tone: Any
    shares: Any


def place(W: Any, ends: Any, words: Any, sentence_tone: Any, prevalence: Any) -> Placed:
    """Turn weights of sentences into their shares of themes, in place, and sum them up by document.

    ends : (documents + 1,) where each document's sentences begin; words, sentence_tone : (sentences,).
    prevalence : (topics,) where a document without any content term is placed.
    """
    cp, n = cupy(), len(ends) - 1
    tone, shares = cp.empty((n, W.shape[1]), np.float32), cp.empty((n, W.shape[1]), np.float32)
    given = (ends, np.int64(n), words, sentence_tone, prevalence, W, tone, shares)
    _code("place", W.shape[1])(*blocks(n, 4), given)
    return Placed(tone, shares)


def document_keys(X: Rows) -> Any:
    """(documents,) a number for each document's features; as `training.draws.document_keys`."""
    cp, n = cupy(), X.n_documents
    keys = cp.empty(n, np.uint64)
    _code("document_keys")(*blocks(n, 8), (X.indptr, X.indices, np.int64(n), keys))
    return keys


def fit_tone(documents: CardTexts, n_features: int, steps: Steps, slope: str, constant: float, passes: int) -> Any:
    """(features + 1, FITS) effects of features in each fit, the constant last, on the card.

    slope : the derivative of the loss, in CUDA, of y and eta; constant : where the constant starts.
    """
    cp = cupy()
    effects, squares = cp.zeros((n_features + 1, FITS), np.float32), cp.ones((n_features + 1, FITS), np.float32)
    effects[-1] = constant
    for number in range(passes):
        walk(documents, steps, slope, number, effects, squares)
    return effects


def sentence_tone(occurrences: Rows, documents: Any, effects: Any, folds: Any = None) -> Any:
    """(sentences,) sum of what occurrences carry times their effects.

    occurrences : (sentences, features) what each carries; documents : (sentences,) int32 the document of each.
    folds : (documents,) int32 the fit that has not seen each; None for the fit of all.
    """
    cp, n = cupy(), occurrences.n_documents
    tone = cp.empty(n, np.float32)
    given = (*occurrences, np.int64(n), documents, folds, np.int32(FOLDS), effects, tone)
    _code("sentence_tone")(*blocks(n, 8), given)
    return tone


def _code(name: str, n_topics: int = 8) -> Any:
    macros = {"REAL": "float", "REAL_BYTES": 4, "TOPICS": n_topics, "SLOPE(y, eta)": "(eta) - (y)"}
    return function(name, "documents.cu", "tone.cu", str(Path(__file__).with_suffix(".cu")), **macros)
