"""Stored models for tests: what they say, byte by byte, and how somebody would tamper with them."""

import hashlib
import json

import numpy as np
import pytest

from textsignal import load, storage
from textsignal.datasets import synthetic_reviews
from textsignal.errors import StorageError

NEW = [*synthetic_reviews(40, seed=3).texts, "", "xylophone", "😀", "Das Frühstück war großartig."]


def bits(model, texts=NEW):
    """Everything a model says of texts, byte by byte."""
    found = model.predictions(texts)
    parts = (found.weights, found.eta, found.mean, found.level(), found.probabilities, found.unknown)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def error_of(folder, **options):
    """The one line that says why a model cannot be loaded."""
    with pytest.raises(StorageError) as caught:
        load(folder, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(folder) in message
    return message


def sign(folder, settings):
    """Write settings with a checksum that is right, as somebody with bad intent would."""
    settings.pop("sha256", None)
    settings["arrays_sha256"] = hashlib.sha256((folder / storage.ARRAYS_FILE).read_bytes()).hexdigest()
    settings["sha256"] = storage._digest(settings)
    (folder / storage.SETTINGS_FILE).write_text(json.dumps(settings))


def settings_of(folder):
    return json.loads((folder / storage.SETTINGS_FILE).read_text(encoding="utf-8"))
