"""Documents that were given to a model, and what it reads in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.estimators import Predictions
from textsignal.text.tokens import TokenisedTexts
from textsignal.text.units import SentenceTexts
from textsignal.training.theme_model import ThemeReading

#: Texts with their words, as one kind of model or the other takes them.
Tokens = TokenisedTexts | SentenceTexts


@dataclass(frozen=True, eq=False)
class Observed:
    """Documents as they were given.

    responses : (documents,) NaN where there is none.
    sample_weight : how often each document counts, or None for once.
    """

    tokens: Tokens
    responses: NDArray[np.float64]
    sample_weight: ArrayLike | None = None

    @property
    def texts(self) -> Sequence[str]:
        """(documents,) the texts."""
        return self.tokens.texts

    @property
    def weight(self) -> Vector:
        """(documents,) how often each counts."""
        given = self.sample_weight
        return np.ones(len(self.tokens)) if given is None else np.asarray(given, dtype=float)


@dataclass(frozen=True, eq=False)
class Reading:
    """Texts as a fitted model reads them: tokenised once, inferred once.

    texts : the documents; n_words : (documents,) words in each; X : (documents, terms) CSR of the model's terms.
    predictions : what the model says of them.
    contributions : (documents, topics) what each topic adds to the linear predictor.
    spoken : (documents, topics) whether a document speaks of a topic.
    sentences : what a model of themes reads in their sentences; None for other models.
    """

    texts: Sequence[str]
    n_words: NDArray[np.int64]
    X: sp.csr_array
    predictions: Predictions
    contributions: Vector
    spoken: NDArray[np.bool_]
    sentences: ThemeReading | None = None
