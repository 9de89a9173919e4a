"""Words of a text and their positions in it, and stop words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from stop_words import AVAILABLE_LANGUAGES

from textsignal.errors import InputError
from textsignal.text.tokenise import NEGATIONS, located_words, normalise, stop_words, words
from textsignal.text.vectorise import TextVectorizer

any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates too


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Didn't like it, WASN’T clean", ["didn't", "like", "it", "wasn't", "clean"]),
        ("the hotel's pool, the HOTEL’S bar", ["the", "hotel", "pool", "the", "hotel", "bar"]),
        ("guests' rooms, 'quoted'", ["guests", "rooms", "quoted"]),
        ("did n't", ["did", "n't"]),
        ("I'm 5'4, rock'n'roll o´clock", ["i'm", "5'4", "rock'n'roll", "o'clock"]),
        ("a b a's 7", []),
        ("room 214, 24h, x_y", ["room", "214", "24h", "x_y"]),
        ("café cafe\u0301 ﬁne ＦＵＬＬ 𝗴𝗿𝗲𝗮𝘁", ["café", "café", "fine", "full", "great"]),
        ("Hilton™ №1 co\u00adoperate", ["hilton", "cooperate"]),
        ("İstanbul हिन्दी भाषा", ["i\u0307stanbul", "हिन्दी", "भाषा"]),
        ("شكرا جزيلا", ["شكرا", "جزيلا"]),
        ("部屋は良い。多", ["部屋は良い"]),
        ("ok👍🏽👍 ☹️☹ ❤️", ["ok", "👍", "👍", "☹", "☹", "❤"]),
        ("★★☆ ⭐", ["★", "★", "☆", "⭐"]),
        ("👩🏽‍🚀 🇫🇷🇩🇪", ["👩\u200d🚀", "🇫🇷", "🇩🇪"]),
        ("a\x00bc \ud83d de\x01", ["bc", "de"]),
        ("", []),
    ],
)
def test_words_of_a_text(text, expected):
    assert words(text) == expected


@given(any_text)
def test_no_text_breaks_words(text):
    found = words(text)
    assert all(word and word == word.strip() and len(word.split()) == 1 for word in found)
    "".join(found).encode()  # can always be stored


@given(st.text('aB7_éÀß .,-"\n\t?$'))
def test_words_without_apostrophes_are_those_of_scikit_learn(text):
    assert words(text) == CountVectorizer().build_analyzer()(text)


def test_a_million_words():
    assert len(words("room service " * 500_000)) == 1_000_000
    assert words("x" * 1_000_000) == ["x" * 1_000_000]
    assert len(words("a'" * 1_000_000)) == 1


def test_english_keeps_negations_and_intensifiers():
    english = stop_words("english")
    kept = ["not", "no", "never", "very", "but", "too", "back", "again", "nothing", "without", "more", "less"]
    assert not english.intersection(kept)
    assert not english.intersection(words("didn't wasn't can't won't isn't couldn't n't"))
    assert {"the", "and", "i'm", "it's", "they've", "would've"} <= english
    assert stop_words("en") == stop_words("English") == english


def test_english_is_scikit_learns_otherwise():
    assert len(ENGLISH_STOP_WORDS - stop_words("english")) == 28


@pytest.mark.parametrize("language", ["german", "German", "de"])
def test_other_languages_by_name_and_code(language):
    assert {"und", "der"} <= stop_words(language)


@pytest.mark.parametrize("language", AVAILABLE_LANGUAGES)
def test_no_stop_list_holds_a_negation(language):
    assert NEGATIONS[language]
    assert not stop_words(language) & NEGATIONS[language]
    assert not any(word.endswith("n't") for word in stop_words(language))
    assert all(normalise(word) == word for word in NEGATIONS[language])


@pytest.mark.parametrize(
    ("language", "good", "not_good"),
    [
        ("german", "das Zimmer war gut", "das Zimmer war nicht gut"),
        ("german", "ein Bett", "kein Bett"),
        ("french", "c'est propre", "ce n'est pas propre"),
        ("spanish", "con agua caliente", "sin agua caliente"),
        ("italian", "il letto era comodo", "il letto non era comodo"),
        ("dutch", "met ontbijt", "zonder ontbijt"),
        ("portuguese", "a cama é boa", "a cama não é boa"),
        ("russian", "чисто", "не чисто"),
        ("hebrew", "נקי", "לא נקי"),
    ],
)
def test_a_text_and_its_opposite_differ(language, good, not_good):
    vectorizer = TextVectorizer(stop_words=language).fit([good, not_good])
    rows = vectorizer.transform([good, not_good]).toarray()
    assert (rows[0] != rows[1]).any()


def test_a_list_whose_words_stand_in_quotation_marks_is_read():
    assert "אבל" in stop_words("hebrew")
    assert not any(set('",') & set(word) for word in stop_words("hebrew"))


def test_unknown_language_lists_the_known():
    with pytest.raises(InputError, match=r"no stop words for 'klingon'; there are lists for arabic, .*german"):
        stop_words("klingon")


def test_own_list_and_none():
    assert stop_words(word for word in ["The", "DIDN’T"]) == {"the", "didn't"}
    assert stop_words([]) == stop_words(None) == frozenset()


@pytest.mark.parametrize(("which", "message"), [(3, "a language, a list of words or None, not 3"), ([3], "holds 3")])
def test_what_is_no_list_is_named(which, message):
    with pytest.raises(InputError, match=message):
        stop_words(which)


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
