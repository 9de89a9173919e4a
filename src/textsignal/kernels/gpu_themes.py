"""Themes of sentences that all lie on the card: KL-NMF, weights of sentences, and what documents say about each theme.

In single precision. Iterations are those of `training.joint` with the text alone; formulas stand in `reference`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from textsignal.kernels import Rows, gpu
from textsignal.kernels.gpu_code import blocks, cupy, function
from textsignal.kernels.reference import EPSILON

#: Sentences whose sums are taken in one table: enough to pay for adding it up, few enough for fine whole numbers.
CHUNK = 1 << 16
#: Threads of a block that has a multiprocessor and its shared memory for itself.
WIDE = 512
#: Sums of a chunk stay below this.
LARGEST = 2**30
#: Multiplicative steps that give weights to start from; how near the best weights of a sentence must come, in how many.
START_STEPS, TOL, MAX_ITER = 5, 1e-3, 500


@dataclass(frozen=True)
class Sentences:
    """Sentences on the card.

    rows : (sentences, terms) weighted counts; weight : (sentences,) how often each counts, or None for once.
    unit : (terms,) powers of 2: sums over terms are counted in whole numbers of 1 / unit.
    """

    rows: Rows
    weight: Any
    unit: Any

    @classmethod
    def of(cls, rows: Rows, n_terms: int, weight: Any = None) -> Sentences:
        """Put sentences on the card."""
        cp = cupy()
        indptr, indices, data = cp.asarray(rows.indptr), cp.asarray(rows.indices), cp.asarray(rows.data, np.float32)
        often = None if weight is None else cp.asarray(weight, np.float32)
        return cls(Rows(indptr, indices, data), often, _units(indptr, indices, data, often, n_terms))


def _units(indptr: Any, indices: Any, data: Any, weight: Any, n_terms: int) -> Any:
    """(terms,) powers of 2 with which no chunk's sum overflows: it is at most a term's nonzeros times its largest."""
    cp = cupy()
    most, largest = cp.ones(n_terms, np.int64), cp.zeros(n_terms, np.float32)
    n = len(indptr) - 1
    edges = indptr[cp.minimum(cp.arange(0, n + CHUNK, CHUNK), n)].get()
    for first, last in pairwise(edges):
        most = cp.maximum(most, cp.bincount(indices[first:last], minlength=n_terms))
    cp.maximum.at(largest, indices, data)
    top = largest * (1 if weight is None else weight.max())
    bound = most * cp.where(top > 0, top, 1).astype(np.float64)
    return cp.exp2(cp.floor(cp.log2(LARGEST / bound))).astype(np.float32)


@dataclass(frozen=True)
class ThemeSums:
    """products : (terms, topics) H^T times its pull; mass : (topics,) of the weights; log_loss : NaN if not asked."""

    products: Any
    mass: Any
    log_loss: float


def theme_step(sentences: Sentences, W: Any, HT: Any, *, moving: bool = True, loss: bool = False) -> ThemeSums:
    """Move the weights (sentences, topics) in place, if `moving`, and give the sums at them. Both in one pass."""
    cp, rows, n_topics = cupy(), sentences.rows, HT.shape[1]
    n, n_chunks = len(W), -(-len(W) // CHUNK)
    mass = HT.sum(axis=0)
    per_mass = cp.where(mass > 0, 1 / cp.where(mass > 0, mass, 1), 0).astype(np.float32)
    sums, masses = cp.zeros(HT.shape, np.int64), cp.empty((n_chunks, n_topics), np.float32)
    losses = cp.empty(n_chunks) if loss else None
    defined = {"REAL": "float", "REAL_BYTES": 4, "TOPICS": n_topics, "THREADS": WIDE}
    step = function("theme_step", "gpu_documents.cu", "gpu_themes.cu", **defined)
    attributes = cp.cuda.Device().attributes
    room = attributes["MaxSharedMemoryPerBlockOptin"] - step.shared_size_bytes
    fits = room // (4 * n_topics)
    for first in range(0, len(HT), fits):
        count = min(fits, len(HT) - first)
        table = np.int32(first), np.int32(count)
        step.max_dynamic_shared_size_bytes = room
        given = (
            *(rows.indptr, rows.indices, rows.data, sentences.weight),
            *(np.int64(n), np.int32(CHUNK), np.int32(n_chunks), HT, per_mass, sentences.unit, *table),
            *(np.int32(moving and first == 0), W, sums, masses, losses),
        )
        grid = (min(n_chunks, attributes["MultiProcessorCount"]),)
        step(grid, (WIDE,), given, shared_mem=count * 4 * n_topics)
    products = (sums / sentences.unit[:, None].astype(np.float64)).astype(np.float32)
    log_loss = float("nan") if losses is None else -float(losses.sum())
    return ThemeSums(products, masses.sum(axis=0, dtype=np.float64).astype(np.float32), log_loss)


def learn_themes(sentences: Sentences, HT: Any, iterations: int) -> tuple[Any, Any]:
    """Iterations of KL-NMF from topics (terms, padded topics): (terms, topics) and (sentences, topics) on the card."""
    HT = cupy().asarray(HT, np.float32)
    W = first_weights(sentences.rows, HT)
    gpu.infer(sentences.rows, HT, W, 0.0, 0.0, START_STEPS)
    sums = theme_step(sentences, W, HT, moving=False)
    for _ in range(iterations):
        HT = sums.products / (sums.mass + EPSILON)
        sums = theme_step(sentences, W, HT)
    return HT, W


def first_weights(rows: Rows, HT: Any) -> Any:
    """(sentences, topics) a sentence's total in equal parts."""
    cp, mass = cupy(), HT.sum(axis=0)
    ends = cp.concatenate([cp.zeros(1), cp.cumsum(rows.data, dtype=np.float64)])
    totals = (ends[rows.indptr[1:]] - ends[rows.indptr[:-1]]).astype(np.float32)
    alive = mass > 0
    share = cp.where(alive, 1 / cp.where(alive, mass, 1), 0) / max(1, int(alive.sum()))
    return totals[:, None] * share.astype(np.float32)


def infer_themes(rows: Rows, HT: Any, tol: float = TOL, max_iter: int = MAX_ITER) -> Any:
    """(sentences, topics) best weights of sentences on the card under topics (terms, padded topics)."""
    W = first_weights(rows, HT)
    gpu.infer(rows, HT, W, 0.0, tol, max_iter)
    return W


@dataclass(frozen=True)
class Placed:
    """tone : (documents, topics) of what each says about each theme; shares : (documents, topics) of its words."""

    tone: Any
    shares: Any


def place(W: Any, ends: Any, words: Any, sentence_tone: Any, prevalence: Any) -> Placed:
    """Turn weights of sentences into their shares of themes, in place, and sum them up by document.

    ends : (documents + 1,) where each document's sentences begin; words, sentence_tone : (sentences,).
    prevalence : (topics,) where a document without any content term is placed.
    """
    cp, n = cupy(), len(ends) - 1
    tone, shares = cp.empty((n, W.shape[1]), np.float32), cp.empty((n, W.shape[1]), np.float32)
    defined = {"REAL": "float", "REAL_BYTES": 4, "TOPICS": W.shape[1], "THREADS": WIDE}
    given = (ends, np.int64(n), words, sentence_tone, prevalence, W, tone, shares)
    function("place", "gpu_documents.cu", "gpu_themes.cu", **defined)(*blocks(n, 4), given)
    return Placed(tone, shares)
