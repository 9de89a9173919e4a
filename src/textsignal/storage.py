"""Stored models: numbers in safetensors, everything else in JSON. Loading executes nothing.

A model is a folder of two files. `model.json` holds settings, terms and the checksums of both files, so that a
truncated or altered model is told apart from a good one; `arrays.safetensors` holds the numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from textsignal.errors import InputError, OutputError, StorageError
from textsignal.estimators import GLMNMF, JBNMF, TopicEstimator
from textsignal.families import FAMILIES, Family
from textsignal.text.vectorise import TextVectorizer

FORMAT = "textsignal model"
FORMAT_VERSION = 1
SETTINGS_FILE, ARRAYS_FILE = "model.json", "arrays.safetensors"
ESTIMATORS: dict[str, type[TopicEstimator]] = {"GLMNMF": GLMNMF, "JBNMF": JBNMF}
TRACE = ("text_loss", "response_loss", "penalty", "objective")


@dataclass(frozen=True)
class Parts:
    """What a stored model consists of, all of it fitted."""

    vectorizer: TextVectorizer
    estimator: TopicEstimator
    coherence: np.ndarray
    labels: list[str | None]
    n_documents: int


def write_model(model: Parts, folder: Path) -> None:
    """Write the two files of a model into `folder`."""
    arrays = save_arrays({name: np.ascontiguousarray(values) for name, values in _arrays(model).items()})
    settings = _plain(_settings(model)) | {"arrays_sha256": hashlib.sha256(arrays).hexdigest()}
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
    if settings.get("vectorizer", {}).get("own_tokenizer") and tokenizer is None:
        raise InputError(
            "this model was fitted with its user's own tokenizer, which is not stored; give it: "
            "load(path, tokenizer=...)"
        )
    try:
        return _rebuild(settings, arrays, tokenizer)
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{folder} does not hold what a model must ({error!r}); save the model again") from error


def _settings(model: Parts) -> dict[str, Any]:
    vectorizer, estimator = model.vectorizer, model.estimator
    if type(estimator) not in ESTIMATORS.values():
        raise InputError(f"a {type(estimator).__name__} cannot be stored; only {' and '.join(ESTIMATORS)} can")
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "textsignal_version": version("textsignal"),
        "n_documents": model.n_documents,
        "labels": list(model.labels),
        "vectorizer": {
            "params": _params_but("tokenizer", vectorizer),
            "own_tokenizer": vectorizer.tokenizer is not None,
            "n_documents": vectorizer.n_documents_,
            "terms": [str(term) for term in vectorizer.terms_],
        },
        "estimator": {
            "class": type(estimator).__name__,
            "params": _params_but("family", estimator),
            "family": {"name": estimator.family_.name} | estimator.family_.settings(),
            "stop_reason": estimator.stop_reason_,
            "n_iter": estimator.n_iter_,
            "alpha": estimator.alpha_,
            "intercept": estimator.intercept_,
            "smoothing": estimator.smoothing_,
        },
    }


def _arrays(model: Parts) -> dict[str, np.ndarray]:
    estimator = model.estimator
    trace = {f"trace.{name}": estimator.trace_[name].to_numpy() for name in TRACE}
    return {
        "idf": model.vectorizer.idf_,
        "topics": estimator.components_,
        "effects": estimator.coef_,
        "mean_weights": estimator.mean_weights_,
        "word_effects": estimator.word_effects_,
        "coherence": model.coherence,
        **trace,
    }


def _rebuild(
    settings: dict[str, Any], arrays: dict[str, np.ndarray], tokenizer: Callable[[str], list[str]] | None
) -> Parts:
    stored = settings["vectorizer"]
    _check_shapes(arrays, len(stored["terms"]))
    params = stored["params"] | {"tokenizer": tokenizer}
    idf = arrays["idf"].tolist()
    vectorizer = TextVectorizer.restore(params, stored["terms"], idf, stored["n_documents"])
    estimator = _rebuild_estimator(settings["estimator"], arrays)
    estimator.n_features_in_ = len(stored["terms"])
    labels = _checked_labels(settings["labels"], len(arrays["topics"]))
    return Parts(vectorizer, estimator, arrays["coherence"], labels, settings["n_documents"])


def _checked_labels(labels: list[str | None], n_topics: int) -> list[str | None]:
    """Labels, one a topic, each a string or None."""
    if len(labels) != n_topics or not all(label is None or isinstance(label, str) for label in labels):
        raise ValueError(f"labels must be {n_topics}, each a string or null")
    return labels


def _check_shapes(arrays: dict[str, np.ndarray], n_terms: int) -> None:
    """Raise unless the arrays fit together: compiled kernels trust them."""
    n_topics = len(arrays["topics"])
    shapes = {"idf": (n_terms,), "word_effects": (n_terms,), "topics": (n_topics, n_terms)}
    shapes |= dict.fromkeys(["effects", "mean_weights", "coherence"], (n_topics,))
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape}; it must be {shape}")


def _rebuild_estimator(stored: dict[str, Any], arrays: dict[str, np.ndarray]) -> TopicEstimator:
    family = _rebuild_family(stored["family"])
    estimator = ESTIMATORS[stored["class"]](**stored["params"])
    if "family" in estimator.get_params():
        estimator.set_params(family=family)
    estimator.family_, estimator.levels_ = family, family.levels
    estimator.components_, estimator.coef_ = arrays["topics"], arrays["effects"]
    estimator.mean_weights_, estimator.word_effects_ = arrays["mean_weights"], arrays["word_effects"]
    estimator.intercept_, estimator.alpha_ = stored["intercept"], stored["alpha"]
    estimator.smoothing_ = stored["smoothing"]
    estimator.n_iter_, estimator.stop_reason_ = stored["n_iter"], stored["stop_reason"]
    estimator.converged_ = stored["stop_reason"] == "converged"
    estimator.trace_ = pd.DataFrame({name: arrays[f"trace.{name}"] for name in TRACE}).rename_axis("iteration")
    estimator.objective_ = estimator.trace_["objective"].to_numpy()[1:]
    return estimator


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
        raise StorageError(f"{file} is no {FORMAT}")
    version = settings.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise StorageError(
            f"{folder} has model format {version}, and this textsignal reads up to {FORMAT_VERSION}; "
            "use a newer textsignal"
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
    except SafetensorError as error:
        raise StorageError(f"{file} cannot be read: {error}") from error


def _digest(settings: dict[str, Any]) -> str:
    text = json.dumps(settings, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _params_but(other: str, part: TextVectorizer | TopicEstimator) -> dict[str, Any]:
    """The parameters of a part, but one that is stored otherwise or not at all."""
    return {name: value for name, value in part.get_params().items() if name != other}


def _plain(value: Any) -> Any:
    """A value as JSON holds it. A random generator cannot be stored and becomes None: the fit is done."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
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
        return [_plain(inner) for inner in value]
    return value.item() if isinstance(value, np.generic) else value
