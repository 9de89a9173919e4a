"""What a page needs to predict by itself: the tokenizer, the terms, the topics and the effects, as JSON."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from textsignal.inference import MAX_ITER
from textsignal.kernels.reference import EPSILON, FIRST_STEPS, MOST_OF_THE_WAY
from textsignal.report.values.data import Browser, FittedModel, Floats
from textsignal.text import markup, tokenise
from textsignal.topics.effects import CentredEffects

#: Families that the page knows.
FAMILIES = ("binomial",)


def browser_model(model: FittedModel, centred: CentredEffects) -> Browser:
    """The fitted model as JSON, every number of it in double precision; or why the page cannot have it."""
    vectorizer, estimator = model.vectorizer_, model.estimator_
    if vectorizer.tokenizer is not None:
        return Browser(None, "The model was fitted with a tokenizer of its user's own, which runs in Python alone.")
    if estimator.family_.name not in FAMILIES:
        return Browser(None, f"The page cannot compute the {estimator.family_.name} family; Python can.")
    topics = np.asarray(estimator.components_, dtype=np.float64)
    return Browser(
        {
            "markup": _markup() if vectorizer.strip_markup else [],
            "tokenizer": _tokenizer(),
            "stopWords": sorted(tokenise.stop_words(vectorizer.stop_words)),
            "ngrams": [int(n) for n in vectorizer.ngram_range],
            "terms": [str(term) for term in vectorizer.terms_],
            "idf": _numbers(vectorizer.idf_) if vectorizer.weighting == "tfidf" else None,
            "rowNorm": vectorizer.row_norm,
            "unitRows": estimator.inference.unit_rows,
            "smoothing": float(estimator.inference.smoothing),
            "tol": float(estimator.inference.tol),
            "maxSteps": MAX_ITER,
            "firstSteps": FIRST_STEPS,
            "mostOfTheWay": MOST_OF_THE_WAY,
            "epsilon": EPSILON,
            "topics": _numbers(topics.T),
            "meanWeights": np.asarray(estimator.mean_weights_, dtype=float).tolist(),
            "wordEffects": _numbers(estimator.word_effects_) if np.any(estimator.word_effects_) else None,
            "effects": np.asarray(estimator.coef_, dtype=float).tolist(),
            "intercept": float(estimator.intercept_),
            "centre": centred.centre,
            "family": {"name": estimator.family_.name} | estimator.family_.settings(),
        },
        "",
    )


def _markup() -> list[dict[str, str | None]]:
    """What is taken out of a text before it is read, in this order, and what takes its place: None for a character."""
    steps = [(markup.ENTITY, None), *markup.REPLACEMENTS]
    return [{"pattern": pattern, "by": by} for pattern, by in steps]


def _tokenizer() -> dict[str, Any]:
    r"""The tokenizer's patterns as JavaScript writes them.

    There `\w` and `\b` know only ASCII, and no quantifier is possessive: ours are for speed alone.
    """
    letter = r"\p{L}\p{N}_"
    token = tokenise.TOKEN.pattern.replace("*+", "*").replace(r"s\b", r"s(?!\w)")
    return {
        "token": token.replace(r"[\w", f"[{letter}").replace(r"\w", f"[{letter}]"),
        "odd": tokenise.ODD.pattern,
        "replaced": tokenise.REPLACED,
    }


def _numbers(values: Floats) -> str:
    """Doubles, little end first, in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")
