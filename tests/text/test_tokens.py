"""Texts with their words as numbers, whole or cut into sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from textsignal import TextVectorizer
from textsignal.errors import InputError
from textsignal.text.cleaning import without_markup
from textsignal.text.features import count_terms
from textsignal.text.tokenise import words
from textsignal.text.tokens import read_sentences, tokenised

TEXTS = st.lists(
    st.lists(st.sampled_from(["the", "room", "was", "not", "clean", "clean's", "a", "😀"]), max_size=12).map(" ".join)
)


def by_scikit_learn(stop_words, lengths, **options):
    def analyse(text):
        return [word for word in words(text) if word not in stop_words]

    span = (lengths[0], lengths[-1])
    return CountVectorizer(tokenizer=analyse, token_pattern=None, lowercase=False, ngram_range=span, **options)


@given(texts=TEXTS, lengths=st.sampled_from([range(1, 2), range(1, 3), range(2, 4), range(3, 4)]))
def test_counts_are_those_of_scikit_learn(texts, lengths):
    stop_words = frozenset(["the", "was"])
    counts, terms = count_terms(tokenised(texts), stop_words, lengths)
    known = by_scikit_learn(stop_words, lengths, vocabulary={term: j for j, term in enumerate(terms)} or ["none"])
    expected = known.transform(texts) if texts else np.zeros((0, len(terms)))
    assert terms == sorted(terms)
    assert counts.has_sorted_indices
    assert np.array_equal(counts.toarray(), expected.toarray()[:, : len(terms)] if texts else expected)
    if terms:
        peer = by_scikit_learn(stop_words, lengths).fit(texts)
        assert terms == peer.get_feature_names_out().tolist()


@given(texts=TEXTS, seed=st.integers(0, 99))
def test_some_of_the_texts_are_what_they_would_be_alone(texts, seed):
    tokens = tokenised(texts)
    rows = np.random.default_rng(seed).permutation(len(texts))[: len(texts) // 2]
    part, alone = tokens.at(rows), tokenised([texts[i] for i in rows])
    assert [part.words[code] for code in part.codes] == [alone.words[code] for code in alone.codes]
    assert np.array_equal(part.indptr, alone.indptr)
    assert list(part.texts) == list(alone.texts)


def test_terms_of_a_part_are_learnt_from_that_part_alone():
    tokens = tokenised(["clean room", "noisy street"])
    vectorizer = TextVectorizer().fit(tokens.at(np.array([0])))
    assert vectorizer.terms_.tolist() == ["clean", "room"]


def test_a_text_is_tokenised_once_however_often_it_is_used():
    calls = []

    def counting(text):
        calls.append(text)
        return text.split()

    vectorizer = TextVectorizer(tokenizer=counting, ngram_range=(1, 2))
    tokens = vectorizer.tokenise(["clean room", "noisy room"])
    direct = TextVectorizer(tokenizer=str.split, ngram_range=(1, 2)).fit_transform(["clean room", "noisy room"])
    assert (vectorizer.fit_transform(tokens) != direct).nnz == 0
    vectorizer.transform(tokens)
    assert calls == ["clean room", "noisy room"]


def test_texts_of_another_tokenizer_are_refused():
    with pytest.raises(InputError, match="another tokenizer"):
        TextVectorizer(tokenizer=str.split).fit(tokenised(["clean room"]))


def test_copies_are_texts_of_the_same_words():
    texts = ["A clean room", "noisy", "a CLEAN room!", "", "", "room clean"]
    assert tokenised(texts).first_copies().tolist() == [0, 1, 0, 3, 4, 5]


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
