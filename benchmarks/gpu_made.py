"""Reviews made on the card: sentences about planted themes, ratings from planted tone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textsignal.compute.gpu.code import blocks, cupy
from textsignal.compute.kernels import Rows

N_TERMS, N_FEATURES, N_THEMES, N_PADDED = 3_000, 200_000, 14, 16
#: Of the linear predictor: the constant, the size of effects, and the share of features that have one.
CONSTANT, TONE_SIZE, TONE_SHARE = 0.8, 2.5, 0.3


@dataclass(frozen=True)
class Reviews:
    """All on the card.

    units : (sentences, terms) counts; features : (documents, features) roots of counts.
    words : (sentences, features) what each occurrence carries of its document.
    ends : (documents + 1,) where each document's sentences begin; documents, n_words : (sentences,).
    eta, y : (documents,) the true linear predictor, and stars from 0 to 4.
    topics : (themes, terms) the true themes.
    """

    units: Rows
    features: Rows
    words: Rows
    ends: Any
    documents: Any
    n_words: Any
    eta: Any
    y: Any
    topics: np.ndarray


def planted_topics(seed: int) -> np.ndarray:
    """(themes, terms) shares of terms by Zipf's law; each term is mostly of one theme."""
    rng = np.random.default_rng(seed)
    frequency = 1 / (10 + np.arange(N_TERMS))
    own = rng.permuted(np.arange(N_TERMS) % N_THEMES) == np.arange(N_THEMES)[:, None]
    topics = frequency * np.where(own, 1.0, 0.02 * rng.lognormal(size=(N_THEMES, N_TERMS)))
    return topics / topics.sum(axis=1, keepdims=True)


def make_reviews(n: int, seed: int = 0) -> Reviews:
    cp = cupy()
    topics = planted_topics(seed)
    rng = np.random.default_rng(seed + 1)
    tone = TONE_SIZE * rng.normal(size=N_FEATURES) * (rng.random(N_FEATURES) < TONE_SHARE)
    given = np.uint64(seed), np.int64(n), cp.asarray(np.cumsum(topics, axis=1), dtype=np.float32)
    sizes = cp.empty((4, n), np.int64)
    grid = blocks(n, 1, 128)
    _code("measure")(*grid, (*given, sizes))
    ends = cp.zeros((4, n + 1), np.int64)
    for row, size in zip(ends, sizes, strict=True):
        cp.cumsum(size, out=row[1:])
    n_units, n_features, n_terms, n_words = (int(last) for last in ends[:, -1])
    del sizes
    units = cp.empty(n_units + 1, np.int64), cp.empty(n_terms, np.int32), cp.empty(n_terms, np.float32)
    features = cp.empty(n_features, np.int32), cp.empty(n_features, np.float32)
    words = cp.empty(n_units + 1, np.int64), cp.empty(n_words, np.int32), cp.empty(n_words, np.float32)
    of_units = cp.empty(n_units, np.int32), cp.empty(n_units, np.float32)
    responses = cp.empty(n, np.float32), cp.empty(n, np.float32)
    planted = cp.asarray(tone, dtype=np.float32), np.float32(CONSTANT)
    _code("write")(*grid, (*given, *planted, ends, *units, *features, *words, *of_units, *responses))
    first, second = ends[0].copy(), ends[1].copy()
    return Reviews(Rows(*units), Rows(second, *features), Rows(*words), first, *of_units, *responses, topics)


def _code(name: str) -> Any:
    sizes = {"THEMES": N_THEMES, "N_TERMS": N_TERMS, "N_FEATURES": N_FEATURES}
    macros = "".join(f"#define {macro} {size}\n" for macro, size in sizes.items())
    code = macros + Path(__file__).with_suffix(".cu").read_text(encoding="utf-8")
    return cupy().RawModule(code=code, options=("-std=c++17",)).get_function(name)
