"""Texts as a fitted model reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.estimators import Predictions


@dataclass(frozen=True)
class Reading:
    """Texts as a fitted model reads them: tokenised once, inferred once.

    texts : the documents.
    n_words : (documents,) words in each.
    X : (documents, terms) CSR as the vectorizer gives it.
    predictions : what the model says of them.
    """

    texts: Sequence[str]
    n_words: NDArray[np.int64]
    X: sp.csr_array
    predictions: Predictions
