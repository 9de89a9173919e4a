"""Stored models: numbers in safetensors, everything else in JSON. Loading executes nothing.

A model is a folder of two files. `model.json` holds settings, terms and the checksums of both files, so that a
truncated or altered model is detected; `arrays.safetensors` holds the numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from textsignal.arrays import Vector
from textsignal.compute.engines.local import DEVICES
from textsignal.data.covariates.design import Design
from textsignal.data.write import file_names
from textsignal.errors import InputError, OutputError, StorageError, one_line, shown
from textsignal.estimators import GLMNMF, JBNMF, TopicEstimator
from textsignal.families import FAMILIES, Family
from textsignal.insight.naming import Naming
from textsignal.reading.classes import ClassReader
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.options import PARTS
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.reading.words import has_no_pairs
from textsignal.stored_values import (
    LARGEST_WHOLE,
    SMALLEST,
    Checker,
    Label,
    Number,
    declarations,
    is_text,
    read_json,
    rule,
    stored_fields,
)
from textsignal.text.tokenise import language_name
from textsignal.text.vectorise import LONGEST_TERM, TextVectorizer
from textsignal.training.fitted import FittedTopics
from textsignal.training.start import INITS

FORMAT = "textsignal model"
#: 6: every value is declared, and nothing else is read.
FORMAT_VERSION = 6
SETTINGS_FILE, ARRAYS_FILE = "model.json", "arrays.safetensors"
ESTIMATORS: dict[str, type[TopicEstimator]] = {"GLMNMF": GLMNMF, "JBNMF": JBNMF}
#: Upper bound on training documents: a larger number is damage.
MOST_DOCUMENTS = 10**12
#: Bounds of inverse document frequencies, whose logarithms are those of numbers of documents.
LEAST_IDF, MOST_IDF = 1e-6, 1e6
#: The smallest sum of a topic above 0, by the precision of texts.
LEAST_SUM = {"float32": 1e-30, "float64": SMALLEST}
#: The smallest smoothing above 0, in steps of rounding.
SMALLEST_PARTS = 100
#: Upper bounds of counts in options, and of threads.
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


#: Values of one of several classes, which are stored with their names.
NAMED: dict[Any, dict[str, type]] = {Family: FAMILIES, EstimatorOptions: ESTIMATOR_OPTIONS}
#: Names in model.json that are about the file.
ABOUT = ("format", "format_version", "textsignal_version")
#: Errors of values that no check foresees.
DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True)
class StoredModel:
    """Contents of a stored model.

    options : of the model, except its parts; given : names of the parts that its user gave.
    reader : all that was fitted.
    """

    options: dict[str, Any]
    given: list[str]
    reader: Reader
    labels: list[str | None]
    n_documents: int
    naming: Naming
    design: Design | None = None


@dataclass(frozen=True)
class StoredVectorizer:
    """A fitted vectorizer as it is stored; own_tokenizer : True if its tokenizer is its user's."""

    params: VectorizerOptions
    own_tokenizer: bool
    n_documents: int = field(metadata=rule(least=1, most=MOST_DOCUMENTS))
    terms: list[str] = field(metadata=rule(shape=("terms",), distinct=True, any_text=True))
    idf: Vector = field(metadata=rule(shape=("terms",), least=LEAST_IDF, most=MOST_IDF))


@dataclass(frozen=True)
class StoredEstimator:
    """A fitted estimator as it is stored."""

    params: EstimatorOptions
    fitted: FittedTopics


@dataclass(frozen=True)
class StoredMatrix:
    """A `MatrixReader` as it is stored."""

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
    """Contents of model.json except the reader and the covariates."""

    options: ModelOptions
    given: list[str] = field(metadata=rule(choices=PARTS, distinct=True))
    labels: list[str | None] = field(metadata=rule(shape=("topics",)))
    n_documents: int = field(metadata=rule(least=1, most=MOST_DOCUMENTS))
    naming: Naming


#: Stored readers, by their names.
READERS: dict[str, type[Any]] = {"themes": ThemeReader, "classes": ClassReader, "matrix": StoredMatrix}
#: All dataclasses of stored models. Their type hints are text, which is evaluated here: loading evaluates nothing.
DECLARED = [*dict.fromkeys(kind for root in (StoredHead, *READERS.values()) for kind in declarations(root, NAMED))]


def write_model(model: StoredModel, folder: Path) -> None:
    """Write the two files of a model into `folder`."""
    reader = _stored_reader(model.reader)
    kind = next(kind for kind, types in READERS.items() if isinstance(reader, types))
    arrays = save_arrays({name: np.ascontiguousarray(values) for name, values in array_part(reader, kind).items()})
    design = None if model.design is None else model.design.plain()
    head = {
        "options": {name: _plain(value) for name, value in model.options.items() if name != "formula"},
        "given": model.given,
        "labels": list(model.labels),
        "n_documents": model.n_documents,
        "naming": plain_part(model.naming),
    }
    about = {"format": FORMAT, "format_version": FORMAT_VERSION, "textsignal_version": version("textsignal")}
    settings = as_plain(about | head | {"reader": {kind: plain_part(reader)}, "covariates": design})
    settings["arrays_sha256"] = hashlib.sha256(arrays).hexdigest()
    settings["sha256"] = _digest(settings)
    try:
        (folder / ARRAYS_FILE).write_bytes(arrays)
        text = json.dumps(settings, indent=1, ensure_ascii=False, sort_keys=True)
        (folder / SETTINGS_FILE).write_text(text + "\n", encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise OutputError(f"cannot write the model: {error.strerror or error}") from error


def read_model(folder: Path, tokenizer: Callable[[str], list[str]] | None) -> StoredModel:
    """Read the two files of a model; `tokenizer` is required if the model was fitted with its user's own."""
    settings = _read_settings(folder)
    arrays = _read_arrays(folder, settings.pop("arrays_sha256", None))
    try:
        parts = _rebuild(settings, arrays, tokenizer)
    except DAMAGE as error:
        reason = one_line(error if isinstance(error, ValueError) else ValueError(repr(error)))
        raise StorageError(f"{folder} does not hold what a model must ({reason}); save the model again") from error
    if parts is None:
        raise InputError(
            "this model was fitted with its user's own tokenizer, which is not stored; give it: "
            "load(path, tokenizer=...)"
        )
    return parts


def _stored_reader(reader: Reader) -> Any:
    """A reader as it is stored."""
    if not isinstance(reader, MatrixReader):
        return reader
    vectorizer, estimator = reader.vectorizer, reader.estimator
    name = type(estimator).__name__
    if type(estimator) not in ESTIMATORS.values():
        raise InputError(f"a {name} cannot be stored; only {' and '.join(ESTIMATORS)} can")
    params = as_plain(vectorizer.get_params())
    own_tokenizer = params.pop("tokenizer") is not None
    options = {each.name: as_plain(getattr(estimator, each.name)) for each in fields(ESTIMATOR_OPTIONS[name])}
    terms = [str(term) for term in vectorizer.terms_]
    return StoredMatrix(
        StoredVectorizer(VectorizerOptions(**params), own_tokenizer, vectorizer.n_documents_, terms, vectorizer.idf_),
        StoredEstimator(ESTIMATOR_OPTIONS[name](**options), estimator.fitted_),
        reader.coherence,
    )


def plain_part(value: Any) -> dict[str, Any]:
    """The part of a dataclass that JSON holds: its numbers, strings and inner values, by the names of its fields."""
    inner = {each.name: getattr(value, each.name) for each in stored_fields(value)}
    return {name: _plain(each) for name, each in inner.items() if not isinstance(each, np.ndarray)}


def _plain(value: Any) -> Any:
    name = next((name for kinds in NAMED.values() for name, kind in kinds.items() if type(value) is kind), None)
    if name is not None:
        return {"name": name} | plain_part(value)
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        return [plain_part(each) for each in value]
    return plain_part(value) if is_dataclass(value) else value


def array_part(value: Any, path: str) -> dict[str, np.ndarray]:
    """The arrays of a dataclass and of its inner values, by their paths."""
    part: dict[str, np.ndarray] = {}
    for each in stored_fields(value):
        inner, name = getattr(value, each.name), f"{path}.{each.name}"
        if isinstance(inner, np.ndarray):
            part[name] = inner
        elif is_dataclass(inner):
            part |= array_part(inner, name)
        elif isinstance(inner, tuple) and inner and is_dataclass(inner[0]):
            for number, item in enumerate(inner):
                part |= array_part(item, f"{name}.{number}")
    return part


def _rebuild(
    settings: dict[str, Any], arrays: dict[str, np.ndarray], tokenizer: Callable[[str], list[str]] | None
) -> StoredModel | None:
    """Rebuild a model; None if it needs a tokenizer that is not given."""
    checker = Checker(arrays, NAMED)
    design = _rebuild_design(settings.pop("covariates"))
    checker.sizes["covariates"] = 0 if design is None else len(design.names)
    ((kind, stored),) = _only("reader", settings.pop("reader"))
    head: StoredHead = checker.part(StoredHead, settings, "model")
    reader = checker.part(READERS[kind], stored, kind)
    checker.finish()
    if kind == "matrix":
        if reader.vectorizer.own_tokenizer and tokenizer is None:
            return None
        reader = _rebuild_matrix(reader, tokenizer)
    elif head.given:
        raise ValueError(f"a model of themes is not given {' or '.join(head.given)}")
    options = {each.name: getattr(head.options, each.name) for each in fields(head.options)}
    options["formula"] = None if design is None or design.formula is None else str(design.formula)
    return StoredModel(options, head.given, reader, head.labels, head.n_documents, head.naming, design)


def _only(name: str, stored: Any) -> Sequence[tuple[str, Any]]:
    """The name of a stored reader, and the reader."""
    if not isinstance(stored, dict) or len(stored) != 1 or not stored.keys() <= READERS.keys():
        raise ValueError(f"{name} is {shown(stored)}; it must be one of {', '.join(READERS)}")
    return list(stored.items())


def _rebuild_design(stored: Any) -> Design | None:
    """The design of covariates; None if there are none."""
    if stored is None:
        return None
    inner = [stored]
    while inner:
        value = inner.pop()
        if isinstance(value, str) and not is_text(value):
            raise ValueError("covariates hold half of a surrogate pair, which is not a character")
        inner += [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return Design.of_plain(stored)


def _rebuild_matrix(stored: StoredMatrix, tokenizer: Callable[[str], list[str]] | None) -> MatrixReader:
    params = {each.name: getattr(stored.vectorizer.params, each.name) for each in fields(VectorizerOptions)}
    terms, idf = stored.vectorizer.terms, stored.vectorizer.idf.tolist()
    vectorizer = TextVectorizer.restore(params | {"tokenizer": tokenizer}, terms, idf, stored.vectorizer.n_documents)
    options, fitted = stored.estimator.params, stored.estimator.fitted
    name = next(name for name, kind in ESTIMATOR_OPTIONS.items() if isinstance(options, kind))
    given = {each.name: getattr(options, each.name) for each in fields(ESTIMATOR_OPTIONS[name])}
    estimator = ESTIMATORS[name](**given)
    if "family" in estimator.get_params():
        estimator.set_params(family=fitted.family)
    estimator.fitted_, estimator.n_features_in_ = fitted, fitted.topics.shape[1]
    return MatrixReader(vectorizer, estimator, stored.coherence)


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
    version = settings.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        older = type(version) is int and version < FORMAT_VERSION
        remedy = "fit the model again" if older else "use a newer textsignal"
        raise StorageError(
            f"{folder} has model format {shown(version)}, and this textsignal reads format {FORMAT_VERSION}; {remedy}"
        )
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


def as_plain(value: Any) -> Any:
    """A value as JSON holds it. A random generator cannot be stored and becomes None: the fit is done."""
    if isinstance(value, dict):
        return {name: as_plain(inner) for name, inner in value.items()}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value).name
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, np.ndarray | pd.Series | pd.Index):
        return value.tolist()
    if isinstance(value, tuple | list | range):
        return [as_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value


NAMES_FORMAT, NAMES_VERSION = "textsignal responses", 1


NAMES_FILE = "responses.json"


#: The most responses of a stored model.
MOST_RESPONSES = 10_000


def is_of_several(folder: Path) -> bool:
    """True if a folder holds a model of several responses."""
    return (folder / NAMES_FILE).is_file()


def write_names(names: Sequence[str], folder: Path) -> dict[str, Path]:
    """Write the names of the responses; return the folder of each."""
    inner = dict(zip(names, file_names(names), strict=True))
    content = {"format": NAMES_FORMAT, "format_version": NAMES_VERSION, "responses": inner}
    try:
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (folder / NAMES_FILE).write_text(text + "\n", encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise OutputError(f"cannot write the model: {error.strerror or error}") from error
    return {name: folder / place for name, place in inner.items()}


def read_names(folder: Path) -> dict[str, str]:
    """Read the names of the responses, in their order, with the folder of each."""
    file = folder / NAMES_FILE
    content = read_json(file)
    if not isinstance(content, dict) or content.get("format") != NAMES_FORMAT:
        raise StorageError(f"{file} is not of {NAMES_FORMAT}")
    version = content.get("format_version")
    if type(version) is not int or version != NAMES_VERSION:
        raise StorageError(f"{file} has format {shown(version)}; this textsignal reads {NAMES_VERSION}")
    inner = content.get("responses")
    if not isinstance(inner, dict) or not all(map(is_text, inner)) or not 0 < len(inner) <= MOST_RESPONSES:
        raise StorageError(f"{file} does not name its responses; save the model again")
    if list(inner.values()) != file_names(inner):
        raise StorageError(f"{file} names other folders than those of its responses; save the model again")
    return inner
