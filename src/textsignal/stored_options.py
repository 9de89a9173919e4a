"""Options as a stored model holds them: types and bounds, declared once for models, vectorizers and estimators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from textsignal.compute.engines.local import DEVICES
from textsignal.errors import InputError
from textsignal.families import FAMILIES, Family
from textsignal.stored_values import LARGEST_WHOLE, Label, Number, rule
from textsignal.text.tokenise import language_name
from textsignal.text.vectorise import LONGEST_TERM
from textsignal.training.start import INITS

#: More than any option that counts something, and more threads than a machine has.
MOST, MOST_THREADS = 10**9, 1024


def is_language(value: Any) -> bool:
    """True if stop words are a list, or named by a language that there are stop words for."""
    try:
        return not isinstance(value, str) or bool(language_name(value))
    except InputError:
        return False


COUNT = rule(least=1, most=MOST)
AMOUNT = rule(least=0)
LEVELS = rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE)
SEED = rule(least=0, most=2**32 - 1)
THREADS = rule(least=-MOST_THREADS, most=MOST_THREADS, accepts=bool)
WORDS_OF_TERM = rule(least=1, most=LONGEST_TERM)


@dataclass(frozen=True)
class ModelOptions:
    """Options of a `TextResponseModel`, apart from the parts that it was given and its formula.

    The formula is stored as a tree, with what was learnt of covariates.
    """

    n_topics: int | str | None = field(metadata=rule(least=1, most=MOST, choices=("auto",)))
    family: str | Family = field(metadata=rule(choices=("auto", *FAMILIES)))
    training: str | None = field(metadata=rule(choices=("themes", "predictive", "joint")))
    language: str | None = field(metadata=rule(accepts=is_language))
    seed_words: dict[str, list[str]] | None
    levels: tuple[Label, ...] | None = field(metadata=LEVELS)
    max_terms: int | None = field(metadata=COUNT)
    stop_words: str | tuple[str, ...] | None = field(
        metadata=rule(accepts=lambda value: value == "auto" or is_language(value))
    )
    supervision: Number = field(metadata=AMOUNT)
    word_residual: bool
    ngram_range: tuple[int, int] = field(metadata=WORDS_OF_TERM)
    missing: str = field(metadata=rule(choices=("error", "drop")))
    random_state: int | None = field(metadata=SEED)
    n_jobs: int | None = field(metadata=THREADS)
    device: str = field(metadata=rule(choices=tuple(DEVICES)))


@dataclass(frozen=True)
class VectorizerOptions:
    """Options of a `TextVectorizer`, apart from its tokenizer."""

    max_raw_terms: int | None = field(metadata=COUNT)
    max_terms: int | None = field(metadata=COUNT)
    stop_words: str | tuple[str, ...] | None = field(metadata=rule(accepts=is_language))
    ngram_range: tuple[int, int] = field(metadata=WORDS_OF_TERM)
    min_df: Number = field(metadata=rule(least=0, most=MOST))
    max_df: Number = field(metadata=rule(least=0, most=MOST))
    weighting: str = field(metadata=rule(choices=("tfidf", "count")))
    row_norm: str | None = field(metadata=rule(choices=("l1", "l2")))
    strip_markup: bool
    sparse_output: bool
    dtype: str = field(metadata=rule(choices=("float64", "float32")))


class EstimatorOptions(Protocol):
    """Options of an estimator, apart from its family."""

    n_topics: int


@dataclass(frozen=True)
class GLMNMFOptions:
    """Options of a `GLMNMF`."""

    n_topics: int = field(metadata=rule(shape=("topics",)))
    training: str = field(metadata=rule(choices=("joint", "predictive")))
    supervision: Number = field(metadata=AMOUNT)
    penalty: Number | None = field(metadata=AMOUNT)
    fit_intercept: bool
    smoothing: Number = field(metadata=AMOUNT)
    thinning: Number = field(metadata=AMOUNT)
    max_epochs: int = field(metadata=COUNT)
    batch_size: int = field(metadata=COUNT)
    word_residual: bool
    max_iter: int = field(metadata=COUNT)
    tol: Number | None = field(metadata=AMOUNT)
    init: str = field(metadata=rule(choices=INITS))
    n_init: int = field(metadata=COUNT)
    levels: tuple[Label, ...] | None = field(metadata=LEVELS)
    random_state: int | None = field(metadata=SEED)
    n_jobs: int | None = field(metadata=THREADS)


@dataclass(frozen=True)
class JBNMFOptions:
    """Options of a `JBNMF`."""

    n_topics: int = field(metadata=rule(shape=("topics",)))
    alpha: Number = field(metadata=AMOUNT)
    lam: Number = field(metadata=AMOUNT)
    gamma: Number | str = field(metadata=rule(least=0, choices=("adaptive",)))
    max_iter: int = field(metadata=COUNT)
    tol: Number | None = field(metadata=AMOUNT)
    coefficient_step: str = field(metadata=rule(choices=("newton", "gradient")))
    learning_rate: Number | None = field(metadata=AMOUNT)
    init: str = field(metadata=rule(choices=INITS))
    n_init: int = field(metadata=COUNT)
    levels: tuple[Label, ...] | None = field(metadata=LEVELS)
    random_state: int | None = field(metadata=SEED)
    n_jobs: int | None = field(metadata=THREADS)


#: Options of estimators, by the names of their classes.
ESTIMATOR_OPTIONS: dict[str, type[Any]] = {"GLMNMF": GLMNMFOptions, "JBNMF": JBNMFOptions}
