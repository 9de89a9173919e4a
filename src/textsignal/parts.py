"""What a TextResponseModel is made of, as its options say: an estimator and a vectorizer."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from textsignal.errors import InputError, StorageError
from textsignal.estimators import GLMNMF, TopicEstimator
from textsignal.families import Family
from textsignal.text.vectorise import TextVectorizer

#: Terms of the default vectorizer. The paper's 500 lose skill on every set we measured.
MAX_RAW_TERMS, MAX_TERMS = 5000, 2000
#: Topics where nobody says how many.
N_TOPICS = 10
#: Parts that a user may give.
PARTS = ("vectorizer", "estimator")
#: Options of a model that its estimator, or its vectorizer, has too.
ESTIMATOR_OPTIONS = (
    "n_topics",
    "family",
    "supervision",
    "training",
    "word_residual",
    "levels",
    "random_state",
    "n_jobs",
)
VECTORIZER_OPTIONS = ("max_terms", "ngram_range", "stop_words")


class Options(Protocol):
    """The options of a TextResponseModel."""

    n_topics: int | None
    family: str | Family
    supervision: float
    training: str
    word_residual: bool
    levels: ArrayLike | None
    max_terms: int | None
    ngram_range: tuple[int, int]
    stop_words: str | Iterable[str] | None
    vectorizer: TextVectorizer | None
    estimator: TopicEstimator | None
    random_state: Any
    n_jobs: int | None


def new_estimator(options: Options) -> TopicEstimator:
    """The estimator that is given, or the one that the options describe; not fitted."""
    if options.estimator is not None:
        return clone(options.estimator)
    return GLMNMF(
        N_TOPICS if options.n_topics is None else options.n_topics,
        family=options.family,
        training=options.training,
        supervision=options.supervision,
        word_residual=options.word_residual,
        levels=options.levels,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
    )


def new_vectorizer(options: Options) -> TextVectorizer:
    """The vectorizer that is given, or the one that the options describe; not fitted."""
    if options.vectorizer is not None:
        return clone(options.vectorizer)
    max_terms = MAX_TERMS if options.max_terms is None else options.max_terms
    return TextVectorizer(
        max(MAX_RAW_TERMS, max_terms) if isinstance(max_terms, int) else max_terms,
        max_terms,
        stop_words=options.stop_words,
        ngram_range=options.ngram_range,
        weighting=new_estimator(options).weighting,
    )


def check(options: Options) -> None:
    """Raise where a part is not ours, or where an option says other than the part that is given beside it."""
    _check_part(options, "estimator", (TopicEstimator,), "a GLMNMF or JBNMF", ESTIMATOR_OPTIONS)
    advice = "a TextVectorizer, with a tokenizer of your own if need be, or fit GLMNMF to another vectorizer's matrix"
    _check_part(options, "vectorizer", (TextVectorizer,), advice, VECTORIZER_OPTIONS)


def check_stored(path: object, options: Iterable[str], given: Iterable[str]) -> None:
    """Raise where the stored model at `path` names an option, or a part, that a model does not have."""
    unknown = {*options} - {*ESTIMATOR_OPTIONS, *VECTORIZER_OPTIONS} | {*given} - {*PARTS}
    if unknown:
        raise StorageError(
            f"{path} does not hold what a model must (no model has {', '.join(map(repr, sorted(unknown)))}); "
            "save the model again"
        )


def _check_part(options: Options, name: str, kinds: tuple[type, ...], advice: str, names: Iterable[str]) -> None:
    part = getattr(options, name)
    if part is None:
        return
    if not isinstance(part, kinds):
        raise InputError(f"{name}={part!r} cannot be used here; give {advice}")
    defaults = inspect.signature(type(options)).parameters
    for option in names:
        value, own = getattr(options, option), getattr(part, option, None)
        if not _same(value, defaults[option].default) and not _same(value, own):
            raise InputError(
                f"{option}={value!r} and {name}={part!r} contradict each other; give {option} to the {name} alone"
            )


def _same(one: object, other: object) -> bool:
    return one is other or bool(np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object)))
