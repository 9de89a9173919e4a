"""Texts with their words: tokenised once, counted as scikit-learn counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from textsignal import TextVectorizer
from textsignal.errors import InputError
from textsignal.text.counts import count_terms
from textsignal.text.tokenise import words
from textsignal.text.tokens import tokenised

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
