"""Documents that were given to a model, and what it reads in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from textsignal.estimators import Predictions


@dataclass(frozen=True, eq=False)
class Observed:
    """Documents as they were given, counted.

    texts : (documents,); X : (documents, terms) as the vectorizer gives it.
    responses : (documents,) NaN where there is none.
    sample_weight : how often each document counts, or None for once.
    """

    texts: Sequence[str]
    X: sp.csr_array
    responses: NDArray[np.float64]
    sample_weight: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class Reading:
    """Texts as a fitted model reads them: tokenised once, inferred once.

    texts : the documents; n_words : (documents,) words in each; X : (documents, terms) CSR as the vectorizer gives it;
    predictions : what the model says of them.
    """

    texts: Sequence[str]
    n_words: NDArray[np.int64]
    X: sp.csr_array
    predictions: Predictions


def read_counted(texts: Sequence[str], X: sp.csr_array, predictions: Predictions) -> Reading:
    """Put together what is known of texts."""
    return Reading(texts, np.array([len(text.split()) for text in texts], dtype=np.int64), X, predictions)


def joined(parts: Sequence[Reading], rows: Sequence[NDArray[np.int64]]) -> Reading:
    """One reading of several, the documents of each part at its `rows`.

    Examples
    --------
    >>> from textsignal import TextResponseModel
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(200, seed=1)
    >>> model = TextResponseModel(n_topics=4).fit(reviews.texts, reviews.ratings)
    >>> parts = [model.read(reviews.texts[1:]), model.read(reviews.texts[:1])]
    >>> whole = joined(parts, [np.arange(1, 200), np.array([0])])
    >>> list(whole.texts) == reviews.texts
    True
    """
    order = np.argsort(np.concatenate(rows), kind="stable")
    texts = [text for part in parts for text in part.texts]
    return Reading(
        texts=[texts[i] for i in order],
        n_words=np.concatenate([part.n_words for part in parts])[order],
        X=sp.csr_array(sp.vstack([part.X for part in parts], format="csr")[order]),
        predictions=Predictions.joined([part.predictions for part in parts], order),
    )
