"""Stored models: a folder of numbers in safetensors, and of everything else in JSON. Loading executes nothing.

Checksums of both files are stored, so that a truncated or altered model is detected.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from textsignal.arrays import Vector
from textsignal.compute.engines.local import DEVICES
from textsignal.data.covariates.design import Design
from textsignal.errors import InputError, OutputError, StorageError, one_line, shown
from textsignal.estimators import GLMNMF, JBNMF, TopicEstimator
from textsignal.families import FAMILIES, Family
from textsignal.insight.naming import Naming
from textsignal.reading.options import ResponseScale
from textsignal.reading.several import ClassReader, Reader, ResponseReader
from textsignal.reading.themes import ThemeReader
from textsignal.reading.words import has_no_pairs, n_labelled
from textsignal.stored_values import (
    LARGEST_WHOLE,
    SMALLEST,
    Checker,
    Label,
    Number,
    declarations,
    read_json,
    rule,
    stored_fields,
)
from textsignal.text.lexicon import lexicon_of
from textsignal.text.tokenise import language_name
from textsignal.text.vectorise import LONGEST_TERM, TextVectorizer
from textsignal.training.fitted import FittedTopics
from textsignal.training.start import INITS

Tokenizer: TypeAlias = Callable[[str], list[str]]
#: 8: clauses, overall verdicts and judgement.
FORMAT, FORMAT_VERSION = "textsignal model", 8
SETTINGS_FILE, ARRAYS_FILE = "model.json", "arrays.safetensors"
ESTIMATORS: dict[str, type[TopicEstimator]] = {"GLMNMF": GLMNMF, "JBNMF": JBNMF}
#: Bounds of inverse document frequencies, which are logarithms of numbers of texts.
LEAST_IDF, MOST_IDF = 1e-6, 1e6
#: The smallest sum of a topic above 0, by the precision of texts; the smallest smoothing above 0, in steps of rounding.
LEAST_SUM, SMALLEST_PARTS = {"float32": 1e-30, "float64": SMALLEST}, 100
#: Upper bounds of training texts, of counts in options, and of threads.
MOST_TEXTS, MOST, MOST_THREADS = 10**12, 10**9, 1024


def is_language(value: Any) -> bool:
    """True if stop words are a list, or the name of a language with a stop list."""
    try:
        return not isinstance(value, str) or bool(language_name(value))
    except InputError:
        return False


def is_lexicon(value: Any) -> bool:
    """True if it can be the `lexicon` of a model."""
    try:
        lexicon_of(value, None)
    except InputError:
        return False
    return True


COUNT, AMOUNT = rule(least=1, most=MOST), rule(least=0)
LEVELS = rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE)
SEED = rule(least=0, most=2**32 - 1)
THREADS = rule(least=-MOST_THREADS, most=MOST_THREADS, accepts=bool)
WORDS_OF_TERM = rule(least=1, most=LONGEST_TERM)


@dataclass(frozen=True)
class ModelOptions:
    """Options of a `TextResponseModel`, apart from its scales, and its formula, which is in the covariates."""

    n_themes: int | str | None = field(metadata=rule(least=1, most=MOST, choices=("auto",)))
    language: str | None = field(metadata=rule(accepts=is_language))
    seed_words: dict[str, list[str]] | None
    max_terms: int | None = field(metadata=COUNT)
    stop_words: str | tuple[str, ...] | None = field(metadata=rule(accepts=lambda it: it == "auto" or is_language(it)))
    lexicon: str | dict[str, Number] | None = field(metadata=rule(accepts=is_lexicon))
    neutral: Number | None = field(metadata=AMOUNT)
    missing: str = field(metadata=rule(choices=("error", "drop")))
    random_state: int | None = field(metadata=SEED)
    n_jobs: int | None = field(metadata=THREADS)
    device: str = field(metadata=rule(choices=tuple(DEVICES)))


@dataclass(frozen=True)
class StoredScale:
    """The requested family and levels of a response."""

    family: str | Family = field(metadata=rule(choices=("auto", *FAMILIES)))
    levels: tuple[Label, ...] | None = field(metadata=LEVELS)


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


@dataclass(frozen=True)
class EstimatorOptions:
    """Options of every estimator except its family."""

    n_topics: int = field(metadata=rule(shape=("topics",)))
    max_iter: int = field(metadata=COUNT)
    tol: Number | None = field(metadata=AMOUNT)
    init: str = field(metadata=rule(choices=INITS))
    n_init: int = field(metadata=COUNT)
    levels: tuple[Label, ...] | None = field(metadata=LEVELS)
    random_state: int | None = field(metadata=SEED)
    n_jobs: int | None = field(metadata=THREADS)


@dataclass(frozen=True)
class GLMNMFOptions(EstimatorOptions):
    """Options of a `GLMNMF`."""

    training: str = field(metadata=rule(choices=("joint", "predictive")))
    supervision: Number = field(metadata=AMOUNT)
    penalty: Number | None = field(metadata=AMOUNT)
    fit_intercept: bool
    smoothing: Number = field(metadata=AMOUNT)
    thinning: Number = field(metadata=AMOUNT)
    max_epochs: int = field(metadata=COUNT)
    batch_size: int = field(metadata=COUNT)
    word_residual: bool


@dataclass(frozen=True)
class JBNMFOptions(EstimatorOptions):
    """Options of a `JBNMF`."""

    alpha: Number = field(metadata=AMOUNT)
    lam: Number = field(metadata=AMOUNT)
    gamma: Number | str = field(metadata=rule(least=0, choices=("adaptive",)))
    coefficient_step: str = field(metadata=rule(choices=("newton", "gradient")))
    learning_rate: Number | None = field(metadata=AMOUNT)


ESTIMATOR_OPTIONS: dict[str, type[Any]] = {"GLMNMF": GLMNMFOptions, "JBNMF": JBNMFOptions}
#: Values of one of several classes, which are stored with their names.
NAMED: dict[Any, dict[str, type]] = {Family: FAMILIES, EstimatorOptions: ESTIMATOR_OPTIONS}
#: Names in model.json that are about the file.
ABOUT = ("format", "format_version", "textsignal_version")
#: Errors of values that no check foresees.
DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class StoredModel:
    """Contents of a stored model of themes; options : without family and levels, which are in `scales`."""

    options: dict[str, Any]
    scales: list[ResponseScale]
    reader: Reader
    labels: list[str | None]
    n_texts: int
    namings: tuple[Naming, ...]
    design: Design | None = None


@dataclass(frozen=True)
class TopicParts:
    """Fitted parts of a model of topics."""

    vectorizer: TextVectorizer
    estimator: TopicEstimator
    coherence: Vector


@dataclass(frozen=True)
class StoredVectorizer:
    """A fitted vectorizer as it is stored; own_tokenizer : True if its tokenizer is its user's."""

    params: VectorizerOptions
    own_tokenizer: bool
    n_documents: int = field(metadata=rule(least=1, most=MOST_TEXTS))
    terms: list[str] = field(metadata=rule(shape=("terms",), distinct=True, any_text=True))
    idf: Vector = field(metadata=rule(shape=("terms",), least=LEAST_IDF, most=MOST_IDF))


@dataclass(frozen=True)
class StoredEstimator:
    """A fitted estimator as it is stored."""

    params: EstimatorOptions
    fitted: FittedTopics


@dataclass(frozen=True)
class StoredTopics:
    """A `TopicModel` as it is stored."""

    vectorizer: StoredVectorizer
    estimator: StoredEstimator
    coherence: Vector = field(metadata=rule(shape=("topics",), missing=has_no_pairs))

    def check(self) -> None:
        """Raise ValueError if weights of texts would be beyond the largest numbers: they are over sums of topics."""
        precision = np.dtype(self.vectorizer.params.dtype)
        sums = self.estimator.fitted.topics.astype(precision).sum(axis=1)
        if np.any((sums > 0) & (sums < LEAST_SUM[precision.name])):
            raise ValueError("a topic has a sum that is not 0, and too small to divide by")
        if 0 < self.estimator.fitted.smoothing < SMALLEST_PARTS * np.finfo(precision).eps:
            raise ValueError(f"smoothing is {self.estimator.fitted.smoothing:g}, which rounding loses")


@dataclass(frozen=True)
class StoredHead:
    """Contents of model.json except the reader, for a model of themes."""

    options: ModelOptions
    scales: tuple[StoredScale, ...] = field(metadata=rule(shape=("responses",)))
    labels: list[str | None] = field(metadata=rule(shape=(n_labelled,)))
    n_texts: int = field(metadata=rule(least=1, most=MOST_TEXTS))
    namings: tuple[Naming, ...] = field(metadata=rule(shape=("responses",)))
    covariates: Design | None


#: Stored readers, by their names; one of topics has no head.
READERS: dict[str, type[Any]] = {
    "themes": ThemeReader,
    "responses": ResponseReader,
    "classes": ClassReader,
    "topics": StoredTopics,
}
#: All dataclasses of stored models. Their type hints are text, which is evaluated here: loading evaluates nothing.
DECLARED = [*dict.fromkeys(kind for root in (StoredHead, *READERS.values()) for kind in declarations(root, NAMED))]


def write_model(model: StoredModel, folder: Path) -> None:
    """Write the two files of a model of themes into `folder`."""
    options = as_plain({each.name: model.options[each.name] for each in fields(ModelOptions)})
    scales = [StoredScale(each.family, as_plain(each.levels)) for each in model.scales]
    head = {"labels": model.labels, "n_texts": model.n_texts, "namings": model.namings, "scales": scales}
    _write_parts(model.reader, {"options": options} | as_plain(head | {"covariates": model.design}), folder)


def write_topics(parts: TopicParts, folder: Path) -> None:
    """Write the two files of a model of topics into `folder`."""
    vectorizer, estimator = parts.vectorizer, parts.estimator
    name = type(estimator).__name__
    if type(estimator) not in ESTIMATORS.values():
        raise InputError(f"a {name} cannot be stored; only {' and '.join(ESTIMATORS)} can")
    params = as_plain(vectorizer.get_params())
    own_tokenizer = params.pop("tokenizer") is not None
    options = {each.name: as_plain(getattr(estimator, each.name)) for each in fields(ESTIMATOR_OPTIONS[name])}
    terms = [str(term) for term in vectorizer.terms_]
    asked = VectorizerOptions(**params)
    words = StoredVectorizer(asked, own_tokenizer, vectorizer.n_documents_, terms, vectorizer.idf_)
    fitted = StoredEstimator(ESTIMATOR_OPTIONS[name](**options), estimator.fitted_)
    _write_parts(StoredTopics(words, fitted, parts.coherence), {}, folder)


def _write_parts(reader: Any, head: dict[str, Any], folder: Path) -> None:
    kind = next(kind for kind, types in READERS.items() if isinstance(reader, types))
    arrays = save_arrays({name: np.ascontiguousarray(values) for name, values in array_part(reader, kind).items()})
    settings: dict[str, Any] = dict(zip(ABOUT, (FORMAT, FORMAT_VERSION, version("textsignal")), strict=True))
    settings |= head | {"reader": {kind: as_plain(reader)}}
    settings["arrays_sha256"] = hashlib.sha256(arrays).hexdigest()
    settings["sha256"] = _digest(settings)
    text = json.dumps(settings, indent=1, ensure_ascii=False) + "\n"
    try:
        (folder / ARRAYS_FILE).write_bytes(arrays)
        (folder / SETTINGS_FILE).write_text(text, encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise OutputError(f"cannot write the model: {error.strerror or error}") from error


def read_model(folder: Path, tokenizer: Tokenizer | None) -> StoredModel | TopicParts:
    """Read the two files of a model; `tokenizer` is required if the model was fitted with its user's own."""
    settings = _read_settings(folder)
    arrays = _read_arrays(folder, settings.pop("arrays_sha256", None))
    try:
        parts = _rebuild(settings, arrays, tokenizer)
    except DAMAGE as error:
        reason = one_line(error if isinstance(error, ValueError) else ValueError(repr(error)))
        raise StorageError(f"{folder} does not hold what a model must ({reason}); save the model again") from error
    if parts is None:
        needed = "this model was fitted with its user's own tokenizer, which is not stored"
        raise InputError(f"{needed}; give it: load(path, tokenizer=...)")
    return parts


def array_part(value: Any, path: str) -> dict[str, np.ndarray]:
    """The arrays of a dataclass and of its inner values, by their paths."""
    if isinstance(value, np.ndarray):
        return {path: value}
    inner: dict[Any, Any] = _inner(value) if is_dataclass(value) else {}
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        inner = dict(enumerate(value))
    return {key: array for name, each in inner.items() for key, array in array_part(each, f"{path}.{name}").items()}


def _rebuild(
    settings: dict[str, Any], arrays: dict[str, np.ndarray], tokenizer: Tokenizer | None
) -> StoredModel | TopicParts | None:
    """Rebuild a model; return None if it needs a tokenizer and none is given."""
    checker = Checker(arrays, NAMED)
    readers = settings.pop("reader")
    if not isinstance(readers, dict) or len(readers) != 1 or not readers.keys() <= READERS.keys():
        raise ValueError(f"reader is {shown(readers)}; it must be one of {', '.join(READERS)}")
    ((kind, stored),) = readers.items()
    if kind == "topics":
        if settings:
            raise ValueError(f"a model of topics has {shown(min(settings))}, which is not known")
        columns = arrays.get("topics.estimator.fitted.covariates")
        checker.sizes["covariates"] = 0 if columns is None else columns.size
        topics: StoredTopics = checker.part(StoredTopics, stored, kind)
        checker.finish()
        return None if topics.vectorizer.own_tokenizer and tokenizer is None else _rebuild_topics(topics, tokenizer)
    head: StoredHead = checker.part(StoredHead, settings, "model")
    checker.sizes.setdefault("covariates", 0)
    reader = checker.part(READERS[kind], stored, kind)
    checker.finish()
    if kind != "responses" and len(head.namings) != 1:
        raise ValueError(f"model.namings has {len(head.namings)} items, but there is one response")
    options = vars(head.options) | {"formula": head.covariates and head.covariates.formula}
    scales = [ResponseScale(each.family, each.levels) for each in head.scales]
    return StoredModel(options, scales, reader, head.labels, head.n_texts, head.namings, head.covariates)


def _rebuild_topics(stored: StoredTopics, tokenizer: Tokenizer | None) -> TopicParts:
    words, options, fitted = stored.vectorizer, stored.estimator.params, stored.estimator.fitted
    params = vars(words.params) | {"tokenizer": tokenizer}
    vectorizer = TextVectorizer.restore(params, words.terms, words.idf.tolist(), words.n_documents)
    name = next(name for name, kind in ESTIMATOR_OPTIONS.items() if isinstance(options, kind))
    estimator = ESTIMATORS[name](**vars(options))
    if "family" in estimator.get_params():
        estimator.set_params(family=fitted.family)
    estimator.fitted_, estimator.n_features_in_ = fitted, fitted.topics.shape[1]
    return TopicParts(vectorizer, estimator, stored.coherence)


def _read_settings(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        raise StorageError(f"there is no model at {folder}")
    if not folder.is_dir():
        raise StorageError(f"{folder} is a file; a model is the folder that `textsignal fit` or `save` wrote")
    file = folder / SETTINGS_FILE
    if not file.exists():
        hint = f"; did you mean {folder / 'model'}?" if (folder / "model" / SETTINGS_FILE).exists() else ""
        raise StorageError(f"{folder} holds no model: {SETTINGS_FILE} is missing{hint}")
    settings = read_json(file)
    if not isinstance(settings, dict) or settings.get("format") != FORMAT:
        raise StorageError(f"{file} is not a {FORMAT}")
    stored = settings.get("format_version")
    if type(stored) is not int or stored != FORMAT_VERSION:
        remedy = "fit the model again" if type(stored) is int and stored < FORMAT_VERSION else "use a newer textsignal"
        known = f"this textsignal reads format {FORMAT_VERSION}"
        raise StorageError(f"{folder} has model format {shown(stored)}, and {known}; {remedy}")
    try:
        unaltered = settings.pop("sha256", None) == _digest(settings)
    except (RecursionError, MemoryError) as error:
        raise StorageError(f"{file} cannot be read ({one_line(error)}); save the model again") from error
    if not unaltered:
        raise StorageError(f"{file} was altered after it was saved (its checksum differs); save the model again")
    return {name: value for name, value in settings.items() if name not in ABOUT}


def _read_arrays(folder: Path, expected: object) -> dict[str, np.ndarray]:
    file = folder / ARRAYS_FILE
    try:
        content = file.read_bytes()
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise StorageError(f"{file} cannot be read: {reason}") from error
    if hashlib.sha256(content).hexdigest() != expected:
        raise StorageError(f"{file} is truncated or was altered (its checksum differs); save the model again")
    try:
        return dict(load_arrays(content))
    except (SafetensorError, *DAMAGE) as error:
        raise StorageError(f"{file} cannot be read: {one_line(error)}") from error


def _digest(settings: dict[str, Any]) -> str:
    text = json.dumps(settings, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _inner(value: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in stored_fields(value)}


def as_plain(value: Any) -> Any:
    """A value as JSON holds it: a dataclass without its arrays, and None for a random generator, as the fit is done."""
    if is_dataclass(value):
        names = [name for kinds in NAMED.values() for name, kind in kinds.items() if type(value) is kind]
        named = {"name": names[0]} if names else {}
        return named | {key: as_plain(each) for key, each in _inner(value).items() if not isinstance(each, np.ndarray)}
    if isinstance(value, Mapping):
        return {name: as_plain(inner) for name, inner in value.items()}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, np.ndarray | pd.Series | pd.Index):
        return value.tolist()
    if isinstance(value, tuple | list | range):
        return [as_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value
