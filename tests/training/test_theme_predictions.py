"""Prediction alone says what a whole reading of the texts says, which is its specification."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.datasets import synthetic_reviews
from textsignal.model import TextResponseModel
from textsignal.reading.observed import observe
from textsignal.text import prediction
from textsignal.text.tokens import Sentences
from textsignal.training import theme_model
from textsignal.training.theme_model import ThemePredictor, count_units, read_together
from textsignal.training.themes import weighted

REVIEWS = synthetic_reviews(250, seed=4)
ODD = [
    *("", "???", "zxqv", "not", "not. clean", "never again, never again never again!", "The the the."),
    *("room " * 200, "not clean not clean. " * 40, "Clean. " * 3 + "\n\nnot very clean, no.", REVIEWS.texts[0] * 7),
]
WORDS = [*sorted({word for text in REVIEWS.texts[:20] for word in text.split()}), "not", "never", ".", "zx", "\n"]


@pytest.fixture(scope="module")
def reader():
    return TextResponseModel(n_themes=11, n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings).reader_


def assert_same(reader, texts):
    tokens = reader.tokenise(texts)
    observed = observe(tokens, np.full(len(tokens), np.nan))
    expected, found = reader.read(observed).predictions, reader.predictions(tokens)
    np.testing.assert_array_equal(found.eta, expected.eta)
    np.testing.assert_array_equal(found.shares, expected.shares)
    np.testing.assert_array_equal(found.unknown, expected.unknown)


def test_predictions_are_those_of_a_reading(reader):
    assert_same(reader, REVIEWS.texts)
    assert_same(reader, ODD)
    assert reader.predictions(reader.tokenise([])).eta.shape == (0,)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, len(WORDS) - 1), max_size=30), min_size=1, max_size=6))
def test_predictions_of_any_words_are_those_of_a_reading(reader, words):
    assert_same(reader, [" ".join(WORDS[j] for j in each) for each in words])


def test_several_tones_are_read_at_once(reader):
    fitted, texts = reader.fitted, reader.tokenise([*REVIEWS.texts[:50], *ODD])
    tones = [fitted.tone, fitted.tone[::-1].copy(), np.ones_like(fitted.tone)]
    predictor = ThemePredictor.of(fitted)
    with local_compute(1) as compute:
        found = predictor.read(texts, tones, compute)
        alone = [predictor.read(texts, [tone], compute).tones[0] for tone in tones]
        (whole,) = read_together([fitted], texts, compute)
    np.testing.assert_array_equal(found.tones, alone)
    np.testing.assert_array_equal(found.tones[0], whole.tone)


def test_bits_depend_neither_on_threads_nor_on_blocks(reader, monkeypatch):
    texts = reader.tokenise([*ODD, *REVIEWS.texts])
    expected = reader.predictions(texts).eta
    for n_jobs, block in ((1, 7), (2, 1), (2, 64)):
        monkeypatch.setattr(theme_model, "BLOCK", block)
        np.testing.assert_array_equal(replace(reader, n_jobs=n_jobs).predictions(texts).eta, expected)


def test_content_terms_are_counted_as_in_the_matrix(reader):
    fitted, texts = reader.fitted, reader.tokenise([*REVIEWS.texts[:80], *ODD])
    sentences = Sentences(texts.sentence_ends, texts.indptr, texts.codes, texts.under, texts.negated)
    words = ThemePredictor.of(fitted).of_words(texts.words)
    known = np.zeros(len(texts), dtype=bool)
    found = prediction.read_terms(sentences, 0, len(texts), words, fitted.themes.term_weights, known)
    expected = weighted(count_units(texts, fitted.terms, LocalEngine()), fitted.themes.term_weights)
    for mine, theirs in zip(found, (expected.indptr, expected.indices, expected.data), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_lexicon_without_phrases_finds_none():
    model = TextResponseModel(n_themes=2, n_jobs=1).fit(["room.", "staff.", "clean.", "dirty."] * 3, [1, 2, 3, 1] * 3)
    assert_same(model.reader_, ["room staff", "clean", "dirty. room"])
