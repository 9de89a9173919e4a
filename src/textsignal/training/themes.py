"""Themes: topics learnt from sentences, nearly independent of the response.

    x_u ~ w_u H under KL, from word vectors of the corpus;      p_uk = w_uk / sum_k w_uk

x_u counts the content terms of sentence u. Term j counts freq_j^.25 / (1 + (t_j / rms t)^2 / 2): frequent subjects are
themes, and words that carry tone are uninformative about them. With several responses the square is their mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu import themes as gpu_themes
from textsignal.compute.kernels import Rows, pad
from textsignal.families import Family
from textsignal.stored_values import SMALLEST, rule
from textsignal.training.corpus import Corpus
from textsignal.training.inference import Inference
from textsignal.training.joint import JointSettings, NoStep, TextAlone, train_joint, unit_topics
from textsignal.training.start import weights_for
from textsignal.training.word_vectors import TRIES, clustered_topics, seed_terms

#: How much more frequent terms count, and how much less those with tone.
FREQUENCY_POWER, TONE_WEIGHT = 0.25, 0.5
#: Iterations of KL-NMF from the clusters. More of them let themes drift to what is frequent, and apart.
ITERATIONS = 3
#: How near the best weights of a sentence must come.
SENTENCE_TOL = 1e-3
#: The largest share in a stored model, which rounding may have taken above 1.
MOST_SHARE = 1.001


@dataclass(frozen=True)
class Themes:
    """Topics of sentences.

    topics : (themes, terms) shares of terms, each summing to 1, of weighted counts.
    term_weights : (terms,) what an occurrence of a term counts.
    prevalence : (themes,) share of all text; where a document without a content term is placed.
    """

    topics: Vector = field(metadata=rule(shape=("topics", "terms"), least=0, most=MOST_SHARE, filled=True))
    term_weights: Vector = field(metadata=rule(shape=("terms",), least=SMALLEST))
    prevalence: Vector = field(metadata=rule(shape=("topics",), least=0, most=MOST_SHARE, filled=True))

    @property
    def inference(self) -> Inference:
        """Inference of the weights of sentences."""
        return Inference(self.topics, tol=SENTENCE_TOL)

    def place(self, units: sp.csr_array, documents: NDArray[np.int64], n_documents: int, compute: Compute) -> Vector:
        """(sentences, themes) share of every sentence in each theme; rows sum to 1.

        A sentence without a content term is about what its document is about; a document without any is placed by
        the prevalence.

        units : (sentences, terms) counts; documents : (sentences,) the document of each.
        """
        weights = self.weights(units, compute)
        in_document = np.zeros((n_documents, weights.shape[1]))
        np.add.at(in_document, documents, weights)
        document = shares_of(in_document, self.prevalence)
        return shares_of(weights, document[documents])

    def weights(self, units: sp.csr_array, compute: Compute) -> Vector:
        """(sentences, themes) weights; 0 for a sentence without a content term."""
        return np.asarray(self.inference.weights(weighted(units, self.term_weights), compute).weights, dtype=float)


def shares_of(weights: Vector, otherwise: Vector) -> Vector:
    """Rows of weights brought to a sum of 1; `otherwise` where a row has none."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), otherwise)


def weighted(units: sp.csr_array, term_weights: Vector) -> sp.csr_array:
    """Counts times what each term counts."""
    return sp.csr_array((units.data * term_weights[units.indices], units.indices, units.indptr), shape=units.shape)


def term_weights(frequency: Vector, tones: Vector) -> Vector:
    """(terms,) what an occurrence counts, 1 on average; frequency : (terms,); tones : (responses, terms)."""
    sizes = [(tone, np.sqrt(np.mean(tone**2))) for tone in tones]
    strength = [(tone / rms) ** 2 if rms > 0 else np.zeros_like(tone) for tone, rms in sizes]
    weights = np.maximum(frequency, 1) ** FREQUENCY_POWER / (1 + TONE_WEIGHT * np.mean(strength, axis=0))
    weights /= np.average(weights, weights=frequency)
    return weights


def fit_themes(
    units: sp.csr_array,
    vectors: Vector,
    terms: Sequence[str],
    weight: Vector,
    tones: Vector,
    n_themes: int,
    seed: int,
    family: Family,
    compute: Compute,
    seed_words: Mapping[str, Sequence[str]] | None = None,
    tries: int = TRIES,
) -> Themes:
    """Learn themes.

    units : (sentences, terms) counts; vectors : (terms, dimensions) of the terms; weight : (sentences,) how often each
    sentence counts; tones : (responses, terms) effects of the terms; family : of a response, which is not looked at;
    tries : clusterings that the start is the best of.
    """
    frequency = np.asarray(units.T @ weight, dtype=float)
    each = term_weights(frequency, tones)
    seeds = seed_terms(seed_words or {}, terms)
    start = clustered_topics(vectors, frequency * each, n_themes, seed, compute.engine, seeds, tries)
    return _learnt(start, each, units, weight, family, ITERATIONS, compute)


def refit_themes(themes: Themes, units: sp.csr_array, weight: Vector, family: Family, compute: Compute) -> Themes:
    """Themes moved a little towards what other weights (sentences,) make of the texts; terms count as before."""
    return _learnt(themes.topics, themes.term_weights, units, weight, family, 1, compute)


def _learnt(
    start: Array, each: Vector, units: sp.csr_array, weight: Vector, family: Family, iterations: int, compute: Compute
) -> Themes:
    """Iterations of KL-NMF from topics (themes, terms); each : (terms,) what an occurrence counts."""
    text = np.diff(units.indptr) > 0
    X = weighted(units, each)[text]
    if compute.kernels is gpu:
        return _learnt_on_card(start, each, X, weight[text], iterations)
    corpus = Corpus(X, np.full(int(text.sum()), np.nan), weight[text])
    settings = JointSettings(0.0, 0.0, TextAlone(), NoStep(), iterations, 0.0)
    fitted = train_joint(
        corpus, family, start, weights_for(corpus, start, compute), settings, compute, lambda iteration, losses: False
    )
    topics: Array = unit_topics(fitted.topics)
    assert fitted.weights is not None
    mass = fitted.topics.sum(axis=1)
    prevalence = np.asarray((fitted.weights * mass).T @ weight[text], dtype=float)
    return Themes(np.asarray(topics, dtype=float), each, prevalence / prevalence.sum())


def _learnt_on_card(start: Array, each: Vector, X: sp.csr_array, weight: Vector, iterations: int) -> Themes:
    """Run KL-NMF on a GPU; X : (sentences, terms) weighted counts."""
    sentences = gpu_themes.CardSentences.of(Rows.of(X, 0, X.shape[0]), X.shape[1], weight)
    learnt = gpu_themes.learn_themes(sentences, pad(start.T, gpu, np.dtype(np.float32)), iterations)
    topics, prevalence = (
        learnt.HT.get().T[: len(start)].astype(float),
        learnt.prevalence.get()[: len(start)].astype(float),
    )
    return Themes(topics / topics.sum(axis=1, keepdims=True), each, prevalence / prevalence.sum())
