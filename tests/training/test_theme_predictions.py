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
from textsignal.training import theme_model
from textsignal.training.theme_model import ThemePredictor, count_units, read_together

REVIEWS = synthetic_reviews(250, seed=4)
ODD = [
    *("", "???", "zxqv", "not", "not. clean", "never again, never again never again!", "The the the."),
    *("Lovely lobby, but the room smelled; never again", "It was clean. It was not, but staff were.", "Clean but"),
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
    assert found.shares.shape == (len(tokens), reader.fitted.n_themes + 1)


def test_predictions_are_those_of_a_reading(reader):
    assert_same(reader, REVIEWS.texts)
    assert_same(reader, ODD)
    assert reader.predictions(reader.tokenise([])).eta.shape == (0,)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, len(WORDS) - 1), max_size=30), min_size=1, max_size=6))
def test_predictions_of_any_words_are_those_of_a_reading(reader, words):
    assert_same(reader, [" ".join(WORDS[j] for j in each) for each in words])


def test_several_responses_are_read_at_once(reader):
    fitted, texts = reader.fitted, reader.tokenise([*REVIEWS.texts[:50], *ODD])
    words, backwards = fitted.words, fitted.words.tone[::-1].copy()
    of_responses = [
        words,
        replace(words, tone=backwards, judgement=-words.judgement, judged=0.0),
        replace(words, tone=np.ones_like(words.tone), spread=0.0),
    ]
    predictor, models = ThemePredictor.of(fitted), [replace(fitted, words=each) for each in of_responses]
    with local_compute(1) as compute:
        found = predictor.read(texts, of_responses, compute)
        alone = [predictor.read(texts, [each], compute).by_theme[0] for each in of_responses]
        whole = [reading.by_theme for reading in read_together(models, texts, compute)]
    for one, other, expected in zip(found.by_theme, alone, whole, strict=True):
        for name in ("tone", "shares", "evidence"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            np.testing.assert_array_equal(getattr(one, name), getattr(expected, name))


def test_places_of_clauses_are_themes_the_overall_verdict_or_none(reader):
    fitted, texts = reader.fitted, reader.tokenise([*REVIEWS.texts, *ODD])
    with local_compute(1) as compute:
        (reading,) = read_together([fitted], texts, compute)
    places = reading.clauses.places
    assert places.min() >= 0
    assert places.max() < fitted.n_places == fitted.n_themes + 2
    assert (places[np.diff(texts.indptr) == 0] == fitted.n_places - 1).all()


def test_bits_depend_neither_on_threads_nor_on_blocks(reader, monkeypatch):
    texts = reader.tokenise([*ODD, *REVIEWS.texts])
    expected = reader.predictions(texts).eta
    for n_jobs, block in ((1, 7), (2, 1), (2, 64)):
        monkeypatch.setattr(theme_model, "BLOCK", block)
        np.testing.assert_array_equal(replace(reader, n_jobs=n_jobs).predictions(texts).eta, expected)


def test_content_terms_are_counted_as_in_the_matrix(reader):
    fitted, texts = reader.fitted, reader.tokenise([*REVIEWS.texts[:80], *ODD])
    predictor = ThemePredictor.of(fitted)
    words = predictor.words[[predictor.numbers.get(word, -1) for word in texts.words]]
    known = np.zeros(len(texts), dtype=bool)
    found = prediction.read_terms(texts.between(0, len(texts)), 0, len(texts), words, known)
    expected = count_units(texts, fitted.terms, LocalEngine())
    for mine, theirs in zip(found, (expected.indptr, expected.indices, expected.data), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_lexicon_without_phrases_finds_none():
    model = TextResponseModel(n_themes=2, n_jobs=1).fit(["room.", "staff.", "clean.", "dirty."] * 3, [1, 2, 3, 1] * 3)
    assert_same(model.reader_, ["room staff", "clean", "dirty. room"])
