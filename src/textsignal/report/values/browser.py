"""What a page needs to predict by itself, as JSON: how texts are read, and the fitted model."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from textsignal.compute.kernels.reference import EPSILON, FIRST_STEPS, MOST_OF_THE_WAY
from textsignal.families import Family
from textsignal.insight.explanation import SAME
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.browse_data import Browser
from textsignal.report.values.browser_themes import themes_model
from textsignal.report.values.data import Floats
from textsignal.report.values.patterns import javascript
from textsignal.text import markup, tokenise
from textsignal.training.inference import MAX_ITER, Inference

#: Families that the page knows.
FAMILIES = (
    *("binomial", "beta-binomial", "adjacent-categories", "stereotype", "ordinal", "bernoulli"),
    *("poisson", "negative-binomial", "gaussian"),
)


def browser_model(reader: Reader, added: float = 0.0) -> Browser:
    """The fitted model as JSON, of average covariates; or why the page cannot have it.

    added : the mean offset.
    """
    if reader.family.name not in FAMILIES:
        return Browser(None, f"The page cannot compute the {reader.family.name} family; Python can.")
    if isinstance(reader, ThemeReader):
        inference = reader.fitted.themes.inference
        return Browser(_common(reader.family, inference, strip_markup=True) | themes_model(reader.fitted, added), "")
    assert isinstance(reader, MatrixReader)
    if reader.vectorizer.tokenizer is not None:
        return Browser(None, "The model was fitted with a tokenizer of its user's own, which runs in Python alone.")
    inference = reader.estimator.inference
    common = _common(reader.family, inference, strip_markup=reader.vectorizer.strip_markup)
    return Browser(common | _topics_model(reader, added), "")


def _common(family: Family, inference: Inference, *, strip_markup: bool) -> dict[str, Any]:
    """How words, weights and responses are found."""
    fallback = np.zeros(len(inference.topics)) if inference.fallback is None else inference.fallback
    return {
        "family": {"name": family.name} | family.settings() | _levels(family),
        "markup": _markup() if strip_markup else [],
        "tokenizer": {
            "token": javascript(tokenise.TOKEN.pattern),
            "odd": tokenise.ODD.pattern,
            "replaced": tokenise.REPLACED,
        },
        "smoothing": float(inference.smoothing),
        "tol": float(inference.tol),
        "fallback": np.asarray(fallback, dtype=float).tolist(),
        "maxSteps": MAX_ITER,
        "firstSteps": FIRST_STEPS,
        "mostOfTheWay": MOST_OF_THE_WAY,
        "epsilon": EPSILON,
        "same": SAME,
    }


def _levels(family: Family) -> dict[str, Any]:
    """Levels that may be text by the numbers that stand for them."""
    return {name: family.numbers.tolist() for name in ("labels", "values") if name in family.settings()}


def _topics_model(reader: MatrixReader, added: float) -> dict[str, Any]:
    """Topics on a matrix: terms, topics and effects."""
    vectorizer, estimator = reader.vectorizer, reader.estimator
    return {
        "kind": "topics",
        "stopWords": sorted(tokenise.stop_words(vectorizer.stop_words)),
        "ngrams": [int(n) for n in vectorizer.ngram_range],
        "terms": [str(term) for term in vectorizer.terms_],
        "idf": _numbers(vectorizer.idf_) if vectorizer.weighting == "tfidf" else None,
        "rowNorm": vectorizer.row_norm,
        "unitRows": estimator.inference.unit_rows,
        "topics": _numbers(np.asarray(estimator.components_, dtype=np.float64).T),
        "wordEffects": _numbers(estimator.word_effects_) if np.any(estimator.word_effects_) else None,
        "effects": np.asarray(estimator.coef_, dtype=float).tolist(),
        "intercept": float(estimator.intercept_) + added,
        "centre": estimator.centred_effects.centre,
    }


def _markup() -> list[dict[str, str | None]]:
    """What is taken out of a text before it is read, in this order, and what takes its place: None for a character."""
    steps = [(markup.ENTITY, None), *markup.REPLACEMENTS]
    return [{"pattern": pattern, "by": by} for pattern, by in steps]


def _numbers(values: Floats) -> str:
    """Doubles, little end first, in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")
