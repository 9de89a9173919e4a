"""One pass over the documents of a report, in batches: what the model and the baselines say of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.report.values.data import FittedModel, Progress, Vector
from textsignal.report.values.skill import fit_baselines

#: Documents that are read at a time, and training and held-out documents that baselines are compared on at most.
BATCH, COMPARED = 5_000, 20_000
#: Fewest training documents that baselines are fitted on.
FEWEST = 10


@dataclass(frozen=True)
class Documents:
    """What is known of every document, in a few numbers each.

    responses : (documents,), NaN where there is none.
    held_out, unknown : (documents,) whether training has not seen it; whether it has no known term.
    shares : (documents, topics) share of each topic in the weight.
    eta, mean : (documents,) linear predictor and expected response.
    beyond : (documents,) the part of eta that single words add beyond the topics.
    words, known : (documents,) number of words; number of different known terms.
    baselines : name -> (documents,) predictions; NaN for documents that they are not compared on.
    in_documents : (terms,) number of documents that hold each term.
    """

    responses: Vector
    held_out: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    shares: NDArray[np.float32]
    eta: Vector
    mean: Vector
    beyond: Vector
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
    """Read texts in batches; memory beyond the result is one batch and the terms of the baselines' documents."""
    n, n_topics = len(texts), len(model.estimator_.components_)
    mass = model.estimator_.components_.sum(axis=1)
    shares = np.empty((n, n_topics), dtype=np.float32)
    eta, beyond, unknown = np.empty(n), np.empty(n), np.empty(n, dtype=bool)
    words, known = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    in_documents = np.zeros(len(model.vectorizer_.terms_), dtype=np.int64)
    compared = _sample(~np.isnan(responses) & ~held_out) | _sample(~np.isnan(responses) & held_out)
    matrices = []
    for start in range(0, n, BATCH):
        rows = slice(start, min(start + BATCH, n))
        X = sp.csr_array(model.vectorizer_.transform(texts[rows]))
        said = model.estimator_.predictions(X)
        weights = said.weights * mass
        shares[rows] = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        eta[rows], beyond[rows], unknown[rows] = said.eta, said.beyond, said.unknown
        words[rows] = [len(text.split()) for text in texts[rows]]
        known[rows] = np.diff(X.indptr)
        in_documents += np.bincount(X.indices, minlength=in_documents.size)
        matrices.append(X[compared[rows]])
        if progress is not None:
            progress(rows.stop, n)
    mean = model.estimator_.family_.mean(eta)
    baselines = _baselines(model, sp.csr_array(sp.vstack(matrices)), responses, held_out, compared)
    return Documents(responses, held_out, unknown, shares, eta, mean, beyond, words, known, baselines, in_documents)


def _sample(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """At most COMPARED of these rows, at random."""
    chosen = np.flatnonzero(rows)
    if chosen.size > COMPARED:
        chosen = np.random.default_rng(0).choice(chosen, COMPARED, replace=False)
    return np.isin(np.arange(rows.size), chosen)


def _baselines(
    model: FittedModel, X: sp.csr_array, responses: Vector, held_out: NDArray[np.bool_], compared: NDArray[np.bool_]
) -> dict[str, Vector]:
    """Predictions of baselines fitted to the training documents among those compared, which are the rows of X."""
    training = ~held_out[compared]
    if training.sum() < FEWEST:
        return {}
    X = model.estimator_.inference.rows(X)
    predicted = {}
    for baseline in fit_baselines(X[training], responses[compared][training]):
        predicted[baseline.name] = np.full(responses.size, np.nan)
        predicted[baseline.name][compared] = baseline.predict(X)
    return predicted
