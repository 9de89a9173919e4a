"""Texts cut into sentences and words, and words under a negation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal.text.markup import without_markup
from textsignal.text.tokenise import words
from textsignal.text.tokens import read_sentences


def negated(text, language="english"):
    read = read_sentences([text], language)
    return [read.words[code] for code in read.codes[read.negated]]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The room was not very clean today", "english", ["very", "clean", "today"]),
        ("not clean, but quiet", "english", ["clean"]),
        ("Not clean. Quiet.", "english", ["clean"]),
        ("It wasn't clean", "english", ["clean"]),
        ("nothing to complain about", "english", ["complain"]),
        ("no, never again", "english", ["again"]),
        ("clean and quiet", "english", []),
        ("clean, not - clean", "english", []),
        ("- not - clean", "english", []),
        ("Das Zimmer war nicht sauber", "german", ["sauber"]),
        ("Kein Frühstück und keine Handtücher", "german", ["frühstück", "keine", "handtücher"]),
        ("La chambre n'était pas propre", "french", ["pas", "propre"]),
        ("No estaba limpio", "spanish", ["limpio"]),
        ("Non era pulito", "italian", ["pulito"]),
        ("Niet schoon", "dutch", ["schoon"]),
        ("Não estava limpo", "portuguese", ["limpo"]),
        ("not clean", "klingon", []),
    ],
)
def test_words_after_a_negation_stand_under_it(text, language, expected):
    assert negated(text, language) == expected


@given(st.lists(st.text(alphabet="ab .,!-n'toé´™\n", max_size=40), max_size=5))
def test_words_are_those_of_the_sentences(texts):
    read = read_sentences(texts)
    sentences = [read.texts[d][start:end] for d, (start, end) in zip(read.documents, read.spans, strict=True)]
    parts = np.split(read.codes, read.indptr[1:-1]) if sentences else []
    assert [[read.words[code] for code in part] for part in parts] == [words(sentence) for sentence in sentences]
    assert list(read.words) == list(dict.fromkeys(read.words[code] for code in read.codes))


def test_sentences_know_their_document_and_where_they_stand():
    read = read_sentences(["Clean room. Nice!", "", "One"])
    assert read.documents.tolist() == [0, 0, 2]
    assert [read.texts[d][start:end] for d, (start, end) in zip(read.documents, read.spans, strict=True)] == [
        "Clean room.",
        "Nice!",
        "One",
    ]
    assert read.n_words.tolist() == [3, 0, 1]


def test_texts_are_cleaned_once_and_counted():
    read = read_sentences(["<b>Clean</b>", "room"], clean=without_markup)
    assert list(read.texts) == ["Clean", "room"]
    assert read.n_cleaned == 1


@given(st.lists(st.text(alphabet="ab .!n'to", max_size=30), max_size=8), st.integers(0, 99))
def test_some_texts_are_what_they_would_be_alone(texts, seed):
    read = read_sentences(texts)
    rows = np.random.default_rng(seed).permutation(len(texts))[: len(texts) // 2 + 1]
    part, alone = read.at(rows), read_sentences([texts[i] for i in rows])
    assert [part.words[code] for code in part.codes] == [alone.words[code] for code in alone.codes]
    for name in ("documents", "spans", "indptr", "under", "negated"):
        np.testing.assert_array_equal(getattr(part, name), getattr(alone, name))


def test_copies_have_the_same_words_in_the_same_order():
    assert read_sentences(["A clean room.", "a clean ROOM", "room clean", "", ""]).first_copies().tolist() == [
        *(0, 0, 2, 3, 4),
    ]
