"""Places of words: every word of a text stands where it is said to stand, in whatever encoding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal import TextVectorizer
from textsignal.text.tokenise import located_words, words

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates too
#: Characters whose normal form is shorter, longer, or depends on the neighbours.
odd_text = st.text("aé\u0301İſﬀ㎏Σ'’\u00ad\u0327\u200c가ᄀ\u1161\u11a8ｶﾞか\u3099한👍🏽\u200d🚀 ™℃ｱ\u0345\ufe0f")


@given(any_text | odd_text)
def test_located_words_are_the_words_in_their_order(text):
    tokens = located_words(text)
    assert [token.word for token in tokens] == words(text)
    for edges in ([token.start for token in tokens], [token.end for token in tokens]):
        assert edges == sorted(edges)
        assert all(0 <= edge <= len(text) for edge in edges)


@given(any_text | odd_text)
def test_the_place_of_a_word_holds_that_word(text):
    for token in located_words(text):
        # A capital sigma's small form depends on whether it ends the word.
        inside = [word.replace("ς", "σ") for word in words(text[token.start : token.end])]
        assert token.word.replace("ς", "σ") in inside


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("The Lobby,the BAR", ["The", "Lobby", "the", "BAR"]),
        ("cafe\u0301 co\u00adoperate ﬁne", ["cafe\u0301", "co\u00adoperate", "ﬁne"]),
        ("Wasn’t it? İstanbul", ["Wasn’t", "it", "İstanbul"]),
        ("ok👍🏽👍 ☹️", ["ok", "👍🏽", "👍", "☹️"]),
        ("", []),
    ],
)
def test_places_of_words(text, places):
    assert [text[token.start : token.end] for token in located_words(text)] == places


def test_words_of_any_tokenizer_are_looked_for():
    def stems(text):
        return [word.lower().removesuffix("s") for word in text.split()] + ["extra"]

    text = "Rooms room ROOMS bars"
    tokens = located_words(text, stems)
    assert [token.word for token in tokens] == stems(text)
    assert [text[token.start : token.end] for token in tokens] == ["Room", "room", "ROOM", "bar", ""]


@pytest.mark.parametrize(
    "options", [{}, {"ngram_range": (1, 3), "stop_words": None}, {"ngram_range": (2, 2)}, {"tokenizer": str.split}]
)
def test_located_terms_are_the_counts_of_the_vectorizer(options):
    texts = ["Clean room, not a clean bar. Clean!", "The bar was not clean", "Room service: no room", ""]
    vectorizer = TextVectorizer(weighting="count", sparse_output=False, max_terms=9, **options).fit(texts)
    for text, expected in zip(texts, vectorizer.transform(texts), strict=True):
        located = vectorizer.locate(text)
        columns = [term.column for term in located.terms]
        np.testing.assert_array_equal(np.bincount(columns, minlength=len(expected)), expected)
        for term in located.terms:
            assert " ".join(located.tokens[i].word for i in term.positions) == vectorizer.terms_[term.column]


def test_unknown_words_are_in_no_known_term():
    vectorizer = TextVectorizer(ngram_range=(2, 2), max_terms=1).fit(["room service", "room service", "clean bar"])
    assert vectorizer.terms_.tolist() == ["room service"]
    assert vectorizer.locate("Clean room service, clean xylophone.").unknown == ["clean", "xylophone"]
