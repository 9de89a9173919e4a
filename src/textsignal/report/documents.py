"""One pass over the documents of a report, in batches: what the model and the baselines say of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.report.data import FittedModel, Progress, Vector
from textsignal.report.skill import Baseline, fit_baselines

#: Documents that are read at a time, and training documents that baselines are fitted on at most.
BATCH, BASELINE_DOCUMENTS = 5_000, 20_000
#: Fewest training documents that baselines are fitted on.
FEWEST = 10


@dataclass(frozen=True)
class Documents:
    """What is known of every document, in a few numbers each.

    responses : (documents,), NaN where there is none.
    held_out, unknown : (documents,) whether training has not seen it; whether it has no known term.
    shares : (documents, topics) share of each topic in the weight.
    eta, mean : (documents,) linear predictor and expected response.
    words, known : (documents,) number of words; number of different known terms.
    baselines : name -> (documents,) predictions.
    in_documents : (terms,) number of documents that hold each term.
    """

    responses: Vector
    held_out: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    shares: NDArray[np.float32]
    eta: Vector
    mean: Vector
    words: NDArray[np.int64]
    known: NDArray[np.int64]
    baselines: dict[str, Vector]
    in_documents: NDArray[np.int64]

    @property
    def leader(self) -> NDArray[np.int64]:
        """(documents,) each document's topic of most weight; -1 for a document with no known term."""
        return np.where(self.unknown, -1, self.shares.argmax(axis=1))


def read_documents(
    model: FittedModel,
    texts: Sequence[str],
    responses: Vector,
    held_out: NDArray[np.bool_],
    progress: Progress | None = None,
) -> Documents:
    """Read texts in batches; memory beyond the result is one batch and the baselines' sample."""
    n, n_topics = len(texts), len(model.estimator_.components_)
    baselines = _baselines(model, texts, responses, held_out)
    mass = model.estimator_.components_.sum(axis=1)
    shares = np.empty((n, n_topics), dtype=np.float32)
    eta, unknown = np.empty(n), np.empty(n, dtype=bool)
    words, known = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    predicted = {baseline.name: np.empty(n) for baseline in baselines}
    in_documents = np.zeros(len(model.vectorizer_.terms_), dtype=np.int64)
    for start in range(0, n, BATCH):
        rows = slice(start, min(start + BATCH, n))
        X = sp.csr_array(model.vectorizer_.transform(texts[rows]))
        said = model.estimator_.predictions(X)
        weights = said.weights * mass
        shares[rows] = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        eta[rows], unknown[rows] = said.eta, said.unknown
        words[rows] = [len(text.split()) for text in texts[rows]]
        known[rows] = np.diff(X.indptr)
        in_documents += np.bincount(X.indices, minlength=in_documents.size)
        for baseline in baselines:
            predicted[baseline.name][rows] = baseline.predict(model.estimator_.inference.rows(X))
        if progress is not None:
            progress(rows.stop, n)
    mean = model.estimator_.family_.mean(eta)
    return Documents(responses, held_out, unknown, shares, eta, mean, words, known, predicted, in_documents)


def _baselines(
    model: FittedModel, texts: Sequence[str], responses: Vector, held_out: NDArray[np.bool_]
) -> list[Baseline]:
    """Baselines fitted to the training documents, or to a sample of them."""
    rows = np.flatnonzero(~held_out & ~np.isnan(responses))
    if rows.size < FEWEST:
        return []
    if rows.size > BASELINE_DOCUMENTS:
        rows = np.sort(np.random.default_rng(0).choice(rows, BASELINE_DOCUMENTS, replace=False))
    X = sp.csr_array(model.vectorizer_.transform([texts[row] for row in rows.tolist()]))
    return fit_baselines(model.estimator_.inference.rows(X), responses[rows])
