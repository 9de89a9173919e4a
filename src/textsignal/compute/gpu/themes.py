"""Themes of sentences that all lie on the card: `training.joint` with the text alone, in single precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from textsignal.compute.gpu import blocks, cupy, function
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.kernels import Rows
from textsignal.compute.kernels.reference import EPSILON

#: Most sentences summed in one table: enough to pay for adding it up, few enough for fine whole numbers.
CHUNK = 1 << 16
#: Whole numbers stay below these: sums of a chunk, and what one nonzero adds.
LARGEST, LARGEST_PART = 2.0**31, 2.0**21
#: Values are rounded up to whole numbers of 1 / FINE where sums of them are bounded: these too add up in any order.
FINE = 1024
#: Multiplicative steps that give weights to start from.
START_STEPS = 5


@dataclass(frozen=True)
class CardSentences:
    """Sentences on the card: in the given order, and as `theme_step` needs them, ordered by length in each chunk.

    rows : (sentences, terms) weighted counts; chunk : sentences whose sums are taken together.
    order : (sentences,) the sentence at each position; weight : (sentences,) in this order, None for 1.
    nonzeros : (nonzeros, 2) term and value, both int32; starts : (chunks,) start of each chunk in them.
    spans : (sentences, 2) start of each sentence in its chunk, and its number of nonzeros.
    unit : a power of 2; sums over terms are counted in whole numbers of 1 / unit.
    """

    rows: Rows
    chunk: int
    order: Any
    starts: Any
    spans: Any
    nonzeros: Any
    weight: Any
    unit: float

    @classmethod
    def of(cls, rows: Rows, n_terms: int, weight: Any = None) -> CardSentences:
        """Put sentences on the card; weight : (sentences,), in the order of the rows."""
        cp, n = cupy(), rows.n_documents
        rows = Rows(cp.asarray(rows.indptr), cp.asarray(rows.indices), cp.asarray(rows.data, np.float32))
        often = None if weight is None else cp.asarray(weight, np.float32)
        # As many chunks for one multiprocessor as for another.
        rounds = -(-n // (CHUNK * _n_multiprocessors()))
        chunk = max(1, -(-n // (max(1, rounds) * _n_multiprocessors())))
        lengths = cp.diff(rows.indptr)
        longest = int(lengths.max()) + 1 if n else 1
        order = cp.argsort(cp.arange(n) // chunk * longest + lengths, kind="stable")
        ends = cp.zeros(n + 1, np.int64)
        cp.cumsum(lengths[order], out=ends[1:])
        spans, nonzeros = cp.empty((n, 2), np.int32), cp.empty((len(rows.indices), 2), np.int32)
        given = (order, *rows, np.int64(n), np.int32(chunk), ends, spans, nonzeros)
        _code("sort_sentences", 8)(*blocks(n, 4), given)
        most_often = 1.0 if often is None else max(1.0, float(often.max()))
        unit = _unit(rows, n_terms, chunk) / 2.0 ** np.ceil(np.log2(most_often))
        starts = ends[:-1:chunk].copy()
        return cls(rows, chunk, order, starts, spans, nonzeros, None if often is None else often[order], unit)


def _unit(rows: Rows, n_terms: int, chunk: int) -> float:
    """The largest power of 2 with which no sum of a term over a chunk overflows."""
    cp, n = cupy(), rows.n_documents
    most = cp.zeros((max(1, -(-n // chunk)), n_terms), np.uint64)
    _code("chunk_sums", 8)(
        *blocks(n, 4), (*rows, np.int64(n), np.int32(chunk), np.int64(n_terms), np.float32(FINE), most)
    )
    largest = float(rows.data.max()) if len(rows.data) else 1.0
    return float(2 ** np.floor(np.log2(min(LARGEST * FINE / max(1.0, float(most.max())), LARGEST_PART / largest))))


def _n_multiprocessors() -> int:
    return int(cupy().cuda.Device().attributes["MultiProcessorCount"])


@dataclass(frozen=True)
class ThemeSums:
    """products : (terms, topics) H^T times its pull; mass : (topics,) of the weights; log_loss : NaN if not asked."""

    products: Any
    mass: Any
    log_loss: float


def theme_step(sentences: CardSentences, W: Any, HT: Any, *, moving: bool = True, loss: bool = False) -> ThemeSums:
    """Move the weights in place, if `moving`, and give the sums at them: both in one pass over the text.

    W : (sentences, topics) float32, in the order of `sentences.order`; HT : (terms, topics) float32.
    """
    cp, n_topics, n, n_chunks = cupy(), HT.shape[1], len(W), -(-len(W) // sentences.chunk)
    mass = HT.sum(axis=0)
    per_mass = cp.where(mass > 0, 1 / cp.where(mass > 0, mass, 1), 0).astype(np.float32)
    behind = cp.concatenate([HT, cp.zeros((1, n_topics), np.float32)])
    sums, masses = cp.zeros(HT.shape, np.int64), cp.empty((n_chunks, n_topics), np.float32)
    losses = cp.empty(n_chunks) if loss else None
    step = _code("theme_step", n_topics, loss)
    room = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"] - step.shared_size_bytes
    step.max_dynamic_shared_size_bytes = room
    # A vocabulary that is too large for one table takes several passes, of which the first moves the weights.
    fits = room // (4 * n_topics) - 1
    for first in range(0, len(HT), fits):
        count = min(fits, len(HT) - first)
        text = sentences.starts, sentences.spans, sentences.nonzeros, sentences.weight, np.int64(n)
        given = (
            *(*text, np.int32(sentences.chunk), np.int32(n_chunks), behind, np.int32(len(HT)), per_mass),
            *(np.float32(sentences.unit), np.int32(first), np.int32(count), np.int32(moving and first == 0)),
            *(W, sums, masses, losses),
        )
        grid, block = (min(n_chunks, _n_multiprocessors()),), (_threads(n_topics),)
        step(grid, block, given, shared_mem=(count + 1) * 4 * n_topics)
    products = (sums / sentences.unit).astype(np.float32)
    log_loss = float("nan") if losses is None else -float(losses.sum())
    return ThemeSums(products, masses.sum(axis=0, dtype=np.float64).astype(np.float32), log_loss)


@dataclass(frozen=True)
class LearntThemes:
    """HT : (terms, topics), each topic summing to 1; prevalence : (topics,) share of all text. Both on the card."""

    HT: Any
    prevalence: Any


def learn_themes(sentences: CardSentences, HT: Any, iterations: int) -> LearntThemes:
    """Run KL-NMF from initial topics (terms, padded topics)."""
    HT = cupy().asarray(HT, np.float32)
    W = first_weights(sentences.rows, HT)
    gpu.infer(sentences.rows, HT, W, 0.0, 0.0, START_STEPS)
    W = W[sentences.order]
    sums = theme_step(sentences, W, HT, moving=False)
    for _ in range(iterations):
        HT = sums.products / (sums.mass + EPSILON)
        sums = theme_step(sentences, W, HT)
    mass = HT.sum(axis=0)
    prevalence = mass * sums.mass
    return LearntThemes(HT / cupy().where(mass > 0, mass, 1), prevalence / prevalence.sum())


def first_weights(rows: Rows, HT: Any) -> Any:
    """(sentences, topics) a sentence's total in equal parts."""
    cp, mass = cupy(), HT.sum(axis=0)
    ends = cp.concatenate([cp.zeros(1), cp.cumsum(rows.data, dtype=np.float64)])
    totals = (ends[rows.indptr[1:]] - ends[rows.indptr[:-1]]).astype(np.float32)
    alive = mass > 0
    share = cp.where(alive, 1 / cp.where(alive, mass, 1), 0) / max(1, int(alive.sum()))
    return totals[:, None] * share.astype(np.float32)


def _threads(n_topics: int) -> int:
    """Threads of a block that has a multiprocessor to itself: the most that the registers allow."""
    return 1024 if n_topics <= 16 else 512


def _code(name: str, n_topics: int, loss: bool = False) -> Any:
    precision = {"REAL": "float", "REAL_BYTES": 4, "TOPICS": n_topics}
    files = "documents.cu", "themes.cu"
    return function(name, *files, **precision, THREADS=_threads(n_topics), LOSS=int(loss))
