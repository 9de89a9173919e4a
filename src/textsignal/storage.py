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
    n_documents: int


def write_model(model: Parts, folder: Path) -> None:
    """Write the two files of a model into `folder`."""
    arrays = save_arrays({name: np.ascontiguousarray(values) for name, values in _arrays(model).items()})
    settings = _settings(model) | {"arrays_sha256": hashlib.sha256(arrays).hexdigest()}
    settings["sha256"] = _digest(settings)
    try:
        (folder / ARRAYS_FILE).write_bytes(arrays)
        text = json.dumps(settings, indent=1, ensure_ascii=False, sort_keys=True)
        (folder / SETTINGS_FILE).write_text(text + "\n", encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise OutputError(f"cannot write the model to {folder}: {error.strerror or error}") from error


def read_model(folder: Path, tokenizer: Callable[[str], list[str]] | None) -> Parts:
    """Read the two files of a model; `tokenizer` is needed where the model was fitted with its user's own."""
    settings = _read_settings(folder)
    arrays = _read_arrays(folder, settings["arrays_sha256"])
    try:
        return _rebuild(settings, arrays, tokenizer)
    except (KeyError, TypeError) as error:
        raise StorageError(f"{folder} lacks {error} that a model must have; save the model again") from error


def _settings(model: Parts) -> dict[str, Any]:
    vectorizer, estimator = model.vectorizer, model.estimator
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "textsignal_version": version("textsignal"),
        "n_documents": model.n_documents,
        "vectorizer": {
            "params": _plain(vectorizer.get_params() | {"tokenizer": None}),
            "own_tokenizer": vectorizer.tokenizer is not None,
            "n_documents": vectorizer.n_documents_,
            "terms": [str(term) for term in vectorizer.terms_],
        },
        "estimator": {
            "class": type(estimator).__name__,
            "params": _plain(estimator.get_params() | {"family": None}),
            "family": {"name": estimator.family_.name} | estimator.family_.settings(),
            "stop_reason": estimator.stop_reason_,
            "n_iter": estimator.n_iter_,
            "alpha": estimator.alpha_,
            "intercept": estimator.intercept_,
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
        "coherence": model.coherence,
        **trace,
    }


def _rebuild(
    settings: dict[str, Any], arrays: dict[str, np.ndarray], tokenizer: Callable[[str], list[str]] | None
) -> Parts:
    stored = settings["vectorizer"]
    if stored["own_tokenizer"] and tokenizer is None:
        raise InputError(
            "this model was fitted with its user's own tokenizer, which is not stored; give it: "
            "load(path, tokenizer=...)"
        )
    params = stored["params"] | {"tokenizer": tokenizer}
    idf = arrays["idf"].tolist()
    vectorizer = TextVectorizer.restore(params, stored["terms"], idf, stored["n_documents"])
    estimator = _rebuild_estimator(settings["estimator"], arrays)
    estimator.n_features_in_ = len(stored["terms"])
    return Parts(vectorizer, estimator, arrays["coherence"], settings["n_documents"])


def _rebuild_estimator(stored: dict[str, Any], arrays: dict[str, np.ndarray]) -> TopicEstimator:
    family = _rebuild_family(stored["family"])
    params = stored["params"]
    if "family" in params:
        params = params | {"family": family}
    estimator = ESTIMATORS[stored["class"]](**params)
    estimator.family_, estimator.levels_ = family, family.levels
    estimator.components_, estimator.coef_ = arrays["topics"], arrays["effects"]
    estimator.mean_weights_ = arrays["mean_weights"]
    estimator.intercept_, estimator.alpha_ = stored["intercept"], stored["alpha"]
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
    file = folder / SETTINGS_FILE
    try:
        settings = json.loads(file.read_text(encoding="utf-8", errors="surrogatepass"))
    except FileNotFoundError:
        raise StorageError(f"{folder} holds no model: {SETTINGS_FILE} is missing") from None
    except (OSError, ValueError) as error:
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


def _read_arrays(folder: Path, expected: str) -> dict[str, np.ndarray]:
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


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as JSON holds them. A random generator cannot be stored and becomes None: the fit is done."""
    return {name: _plain_value(value) for name, value in params.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value).name
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, np.ndarray | tuple | list):
        return np.asarray(value).tolist()
    return value.item() if isinstance(value, np.generic) else value
