"""Stored models: numbers in safetensors, everything else in JSON. Loading executes nothing.

A model is a folder of two files. `model.json` holds settings, terms and the checksums of both files, so that a
truncated or altered model is told apart from a good one; `arrays.safetensors` holds the numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from textsignal.arrays import Vector
from textsignal.covariates.design import Design
from textsignal.errors import InputError, OutputError, StorageError
from textsignal.estimators import GLMNMF, JBNMF, TopicEstimator
from textsignal.families import FAMILIES, Family
from textsignal.plain import as_plain
from textsignal.readers.base import Reader
from textsignal.readers.classes import ClassReader
from textsignal.readers.matrix import MatrixReader
from textsignal.readers.themes import ThemeReader
from textsignal.stored_values import checked, checked_array, checked_list
from textsignal.text.tokenise import language_name
from textsignal.text.vectorise import TextVectorizer
from textsignal.topics.naming import Naming
from textsignal.training.fitted import FittedTopics

FORMAT = "textsignal model"
#: 4: names of the response, and documents that were shown after the fit.
FORMAT_VERSION = 5
SETTINGS_FILE, ARRAYS_FILE = "model.json", "arrays.safetensors"
ESTIMATORS: dict[str, type[TopicEstimator]] = {"GLMNMF": GLMNMF, "JBNMF": JBNMF}
#: Readers of themes, by what they are called.
READERS: dict[str, type[ThemeReader] | type[ClassReader]] = {"themes": ThemeReader, "classes": ClassReader}
#: More training documents than anybody has: a larger number is damage.
MOST_DOCUMENTS = 10**12
#: What is stored as JSON, by its type; everything else that is not a value of its own is an array.
PLAIN = (bool, int, float, str)
#: An array that need not be there.
OPTIONAL_ARRAY = Vector | None
#: One number, or several where a document has several linear predictors.
NUMBER_OR_ARRAY = float | Vector
#: Lists of strings, by the depth of lists within lists.
LISTS: dict[Any, int] = {Sequence[str]: 1, list[str]: 1, list[list[str]]: 2}


@dataclass(frozen=True)
class Parts:
    """What a stored model consists of.

    options : the model's own, its parts aside; given : names of the parts that its user gave.
    reader : what was fitted.
    """

    options: dict[str, Any]
    given: list[str]
    reader: Reader
    labels: list[str | None]
    n_documents: int
    naming: Naming
    design: Design | None = None


def write_model(model: Parts, folder: Path) -> None:
    """Write the two files of a model into `folder`."""
    arrays = save_arrays({name: np.ascontiguousarray(values) for name, values in _arrays(model).items()})
    settings = as_plain(_settings(model)) | {"arrays_sha256": hashlib.sha256(arrays).hexdigest()}
    settings["sha256"] = _digest(settings)
    try:
        (folder / ARRAYS_FILE).write_bytes(arrays)
        text = json.dumps(settings, indent=1, ensure_ascii=False, sort_keys=True)
        (folder / SETTINGS_FILE).write_text(text + "\n", encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise OutputError(f"cannot write the model: {error.strerror or error}") from error


def read_model(folder: Path, tokenizer: Callable[[str], list[str]] | None) -> Parts:
    """Read the two files of a model; `tokenizer` is needed where the model was fitted with its user's own."""
    settings = _read_settings(folder)
    arrays = _read_arrays(folder, settings.get("arrays_sha256"))
    try:
        vectorizer = settings["reader"].get("vectorizer", {})
        lacks_tokenizer = vectorizer.get("own_tokenizer") and tokenizer is None
        parts = None if lacks_tokenizer else _rebuild(settings, arrays, tokenizer)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise StorageError(f"{folder} does not hold what a model must ({error!r}); save the model again") from error
    if parts is None:
        raise InputError(
            "this model was fitted with its user's own tokenizer, which is not stored; give it: "
            "load(path, tokenizer=...)"
        )
    return parts


def _settings(model: Parts) -> dict[str, Any]:
    reader = model.reader
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "textsignal_version": version("textsignal"),
        "n_documents": model.n_documents,
        "labels": list(model.labels),
        "naming": _plain_part(model.naming),
        "options": {name: _plain_option(value) for name, value in model.options.items()},
        "given": model.given,
        "reader": _reader_settings(reader),
        "covariates": None if model.design is None else model.design.plain(),
    }


def _kind(reader: Reader) -> str:
    """What a reader of themes is called: of one response, or of classes."""
    return next(kind for kind, types in READERS.items() if isinstance(reader, types))


def _reader_settings(reader: Reader) -> dict[str, Any]:
    if not isinstance(reader, MatrixReader):
        return {_kind(reader): _plain_part(reader)}
    vectorizer, estimator = reader.vectorizer, reader.estimator
    if type(estimator) not in ESTIMATORS.values():
        raise InputError(f"a {type(estimator).__name__} cannot be stored; only {' and '.join(ESTIMATORS)} can")
    return {
        "vectorizer": {
            "params": _params_but("tokenizer", vectorizer),
            "own_tokenizer": vectorizer.tokenizer is not None,
            "n_documents": vectorizer.n_documents_,
            "terms": [str(term) for term in vectorizer.terms_],
        },
        "estimator": {
            "class": type(estimator).__name__,
            "params": _params_but("family", estimator),
            "fitted": _plain_part(estimator.fitted_),
        },
    }


def _arrays(model: Parts) -> dict[str, np.ndarray]:
    reader = model.reader
    if not isinstance(reader, MatrixReader):
        return _array_part(reader, _kind(reader))
    fitted = _array_part(reader.estimator.fitted_, "fitted")
    return {"idf": reader.vectorizer.idf_, "coherence": reader.coherence} | fitted


def _stored(value: Any) -> list[Field]:
    return [field for field in fields(value) if field.metadata.get("stored", True)]


def _plain_part(value: Any) -> dict[str, Any]:
    """What JSON holds of a dataclass: its numbers, strings and inner values, by the names of its fields."""
    part: dict[str, Any] = {}
    for field in _stored(value):
        inner = getattr(value, field.name)
        if hasattr(inner, "settings"):
            part[field.name] = _plain_option(inner)
        elif is_dataclass(inner):
            part[field.name] = _plain_part(inner)
        elif isinstance(inner, tuple) and inner and is_dataclass(inner[0]):
            part[field.name] = [_plain_part(each) for each in inner]
        elif not isinstance(inner, np.ndarray):
            part[field.name] = inner
    return part


def _plain_option(value: Any) -> Any:
    """An option; a family is its name and settings."""
    return {"name": value.name} | value.settings() if hasattr(value, "settings") else value


def _array_part(value: Any, path: str) -> dict[str, np.ndarray]:
    """The arrays of a dataclass and of its inner values, by their paths."""
    part: dict[str, np.ndarray] = {}
    for field in _stored(value):
        inner = getattr(value, field.name)
        if isinstance(inner, np.ndarray):
            part[f"{path}.{field.name}"] = inner
        elif is_dataclass(inner):
            part |= _array_part(inner, f"{path}.{field.name}")
        elif isinstance(inner, tuple) and inner and is_dataclass(inner[0]):
            for number, each in enumerate(inner):
                part |= _array_part(each, f"{path}.{field.name}.{number}")
    return part


def _rebuild_value(kind: Any, plain: dict[str, Any], arrays: dict[str, np.ndarray], path: str) -> Any:
    """A dataclass from its two parts; every field must be there and be of its type."""
    types = _types(kind)
    values: dict[str, Any] = {}
    for field in _stored(kind):
        name, hint = field.name, types[field.name]
        if hint == OPTIONAL_ARRAY:
            values[name] = checked_array(f"{path}.{name}", arrays) if f"{path}.{name}" in arrays else None
        elif hint == NUMBER_OR_ARRAY and f"{path}.{name}" in arrays:
            values[name] = checked_array(f"{path}.{name}", arrays)
        elif hint == NUMBER_OR_ARRAY:
            values[name] = checked(name, plain[name], float)
        elif field.metadata.get("later") and name not in plain:
            values[name] = field.default
        elif hint is Family:
            values[name] = _rebuild_family(plain[name])
        elif is_dataclass(hint):
            values[name] = _rebuild_value(hint, plain[name], arrays, f"{path}.{name}")
        elif get_args(hint)[-1:] == (...,):
            parts = enumerate(plain[name])
            each = [_rebuild_value(get_args(hint)[0], part, arrays, f"{path}.{name}.{n}") for n, part in parts]
            values[name] = tuple(each)
        elif hint in PLAIN:
            values[name] = checked(name, plain[name], hint)
        elif hint == str | None:
            values[name] = None if plain[name] is None else checked(name, plain[name], str)
        elif hint in LISTS:
            values[name] = checked_list(name, plain[name], LISTS[hint])
        else:
            values[name] = checked_array(f"{path}.{name}", arrays, _dtypes(hint))
    return kind(**values)


def _dtypes(hint: Any) -> tuple[type, ...]:
    """The types of numbers that an array may hold, as its field's own type says; either float by default."""
    (inner,) = get_args(get_args(hint)[1]) if len(get_args(hint)) > 1 else (None,)
    return (inner,) if isinstance(inner, type) and not issubclass(inner, np.floating) else (np.float32, np.float64)


@cache
def _types(kind: Any) -> dict[str, Any]:
    """The types of a dataclass' fields, as its own source says."""
    return get_type_hints(kind)


def _rebuild(
    settings: dict[str, Any], arrays: dict[str, np.ndarray], tokenizer: Callable[[str], list[str]] | None
) -> Parts:
    stored = settings["reader"]
    kind = next((kind for kind in READERS if kind in stored), "")
    reader = _rebuild_themes(kind, stored[kind], arrays) if kind else _rebuild_matrix(stored, arrays, tokenizer)
    labels = _checked_labels(settings["labels"], len(reader.coherence))
    options = {name: _rebuild_option(name, value) for name, value in settings["options"].items()}
    n_documents, given = _checked_count(settings["n_documents"]), checked_list("given", settings["given"], 1)
    if given and kind:
        raise ValueError(f"a model of themes is not given {' or '.join(given)}")
    naming = _rebuild_value(Naming, settings["naming"], {}, "naming")
    return Parts(options, given, reader, labels, n_documents, naming, _rebuild_design(settings, reader))


def _rebuild_design(settings: dict[str, Any], reader: Reader) -> Design | None:
    """How covariates become numbers; None where there are none, as in models before there were any."""
    stored = settings.get("covariates")
    design = None if stored is None else Design.of_plain(stored)
    names = () if design is None else design.names
    for effects, errors in (each.covariates for each in _each_of(reader)):
        if not len(names) == len(effects) == len(errors):
            raise ValueError(f"there are {len(names)} covariates, {len(effects)} effects, {len(errors)} errors of them")
    return design


def _each_of(reader: Reader) -> Sequence[Reader]:
    """The readers of classes; itself where it has none."""
    return reader.readers if isinstance(reader, ClassReader) else (reader,)


def _rebuild_themes(kind: str, stored: dict[str, Any], arrays: dict[str, np.ndarray]) -> ThemeReader | ClassReader:
    reader: ThemeReader | ClassReader = _rebuild_value(READERS[kind], stored, arrays, kind)
    for each in _each_of(reader):
        assert isinstance(each, ThemeReader)
        each.fitted.check()
        each.words.check(each.fitted.n_themes)
        _check_coherence(each.coherence, *each.profiles.shape)
        if each.fitted.language is not None and language_name(each.fitted.language) != each.fitted.language:
            raise ValueError(f"language={each.fitted.language!r} is not the name of a language")
    if isinstance(reader, ClassReader):
        reader.check()
    return reader


def _rebuild_matrix(
    settings: dict[str, Any], arrays: dict[str, np.ndarray], tokenizer: Callable[[str], list[str]] | None
) -> MatrixReader:
    stored = settings["vectorizer"]
    estimator = _rebuild_estimator(settings["estimator"], arrays)
    n_topics, n_terms = estimator.components_.shape
    if len(stored["terms"]) != n_terms:
        raise ValueError(f"there are {len(stored['terms'])} terms, and topics have {n_terms}")
    idf, coherence = (checked_array(name, arrays) for name in ("idf", "coherence"))
    if idf.shape != (n_terms,) or not np.all(np.isfinite(idf)):
        raise ValueError(f"idf must hold {n_terms} finite numbers, one for each term")
    _check_coherence(coherence, n_topics, n_terms)
    params = stored["params"] | {"tokenizer": tokenizer}
    vectorizer = TextVectorizer.restore(params, stored["terms"], idf.tolist(), _checked_count(stored["n_documents"]))
    return MatrixReader(vectorizer, estimator, coherence)


def _check_coherence(coherence: np.ndarray, n_topics: int, n_terms: int) -> None:
    """Raise unless there is a finite number for each topic; a single term has no pairs, so there it is none."""
    fits = np.isnan(coherence) if n_terms == 1 else np.isfinite(coherence)
    if coherence.shape != (n_topics,) or not fits.all():
        raise ValueError(f"coherence must hold {n_topics} finite numbers, one for each topic")


def _checked_labels(labels: list[str | None], n_topics: int) -> list[str | None]:
    """Labels, one for each topic, each a string or None."""
    if len(labels) != n_topics or not all(label is None or isinstance(label, str) for label in labels):
        raise ValueError(f"labels must be {n_topics}, each a string or null")
    return labels


def _checked_count(n_documents: Any) -> int:
    if not 1 <= checked("n_documents", n_documents, int) <= MOST_DOCUMENTS:
        raise ValueError(f"n_documents is {n_documents}, which no corpus has")
    return int(n_documents)


def _rebuild_estimator(stored: dict[str, Any], arrays: dict[str, np.ndarray]) -> TopicEstimator:
    fitted: FittedTopics = _rebuild_value(FittedTopics, stored["fitted"], arrays, "fitted")
    fitted.check()
    estimator = ESTIMATORS[stored["class"]](**stored["params"])
    if "family" in estimator.get_params():
        estimator.set_params(family=fitted.family)
    if estimator.n_topics != len(fitted.topics):
        raise ValueError(f"n_topics is {estimator.n_topics!r}, and there are {len(fitted.topics)} topics")
    estimator.fitted_, estimator.n_features_in_ = fitted, fitted.topics.shape[1]
    return estimator


def _rebuild_option(name: str, value: Any) -> Any:
    """An option as a model takes it: a family for its name and settings, a tuple for a list."""
    if isinstance(value, dict) and name == "family":
        return _rebuild_family(value)
    return tuple(value) if isinstance(value, list) else value


def _rebuild_family(stored: dict[str, Any]) -> Family:
    settings = {name: value for name, value in stored.items() if name != "name"}
    return FAMILIES[stored["name"]](**settings)


def _read_settings(folder: Path) -> dict[str, Any]:
    if not folder.exists():
        raise StorageError(f"there is no model at {folder}")
    if not folder.is_dir():
        raise StorageError(f"{folder} is a file; a model is the folder that `textsignal fit` or `save` wrote")
    file = folder / SETTINGS_FILE
    try:
        settings = json.loads(file.read_text(encoding="utf-8", errors="surrogatepass"))
    except FileNotFoundError:
        hint = f"; did you mean {folder / 'model'}?" if (folder / "model" / SETTINGS_FILE).exists() else ""
        raise StorageError(f"{folder} holds no model: {SETTINGS_FILE} is missing{hint}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StorageError(f"{file} cannot be read ({error}); it may be truncated: save the model again") from error
    if not isinstance(settings, dict) or settings.get("format") != FORMAT:
        raise StorageError(f"{file} is not a {FORMAT}")
    version = settings.get("format_version")
    if version != FORMAT_VERSION:
        older = isinstance(version, int) and version < FORMAT_VERSION
        remedy = "fit the model again" if older else "use a newer textsignal"
        raise StorageError(
            f"{folder} has model format {version}, and this textsignal reads format {FORMAT_VERSION}; {remedy}"
        )
    if settings.pop("sha256", None) != _digest(settings):
        raise StorageError(f"{file} was altered after it was saved (its checksum differs); save the model again")
    return settings


def _read_arrays(folder: Path, expected: str | None) -> dict[str, np.ndarray]:
    file = folder / ARRAYS_FILE
    try:
        content = file.read_bytes()
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror or error}") from error
    if hashlib.sha256(content).hexdigest() != expected:
        raise StorageError(f"{file} is truncated or was altered (its checksum differs); save the model again")
    try:
        return dict(load_arrays(content))
    except (SafetensorError, KeyError, ValueError, OverflowError) as error:
        raise StorageError(f"{file} cannot be read: {error}") from error


def _digest(settings: dict[str, Any]) -> str:
    text = json.dumps(settings, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _params_but(other: str, part: TextVectorizer | TopicEstimator) -> dict[str, Any]:
    """The parameters of a part, but one that is stored otherwise or not at all."""
    return {name: value for name, value in part.get_params().items() if name != other}
