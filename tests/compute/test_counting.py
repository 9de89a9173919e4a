"""Loops that count, against what NumPy finds by sorting."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from textsignal.compute.counting import count_pairs, count_words, number_keys
from textsignal.text.tokens import Sentences

#: Keys that fall into few slots, and any others.
KEYS = st.lists(st.one_of(st.integers(-1, 9), st.integers(0, 2**62)), max_size=40)
#: Sentences of words, each with whether it stands under a negation; and the document of each, ascending.
SENTENCES = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=6)), max_size=8
).map(lambda found: sorted(found, key=lambda sentence: sentence[0]))


def columns_of(sentences):
    """Sentences as the loops take them; words under a negation are negated."""
    words = [word for _, sentence in sentences for word in sentence]
    codes, under = np.array(words, dtype=np.int64).reshape(-1, 2).T
    indptr = np.cumsum([0, *(len(sentence) for _, sentence in sentences)])
    ends = np.searchsorted([d for d, _ in sentences], np.arange(5))
    return Sentences(
        ends, indptr, codes.astype(np.int32), under.astype(bool), under.astype(bool), np.zeros(len(indptr) - 1, np.int8)
    )


@given(SENTENCES)
def test_every_document_of_a_word_counts_once(sentences):
    texts = columns_of(sentences)
    found = count_words(texts, 5)
    for kind, kinds in enumerate(({False, True}, {False}, {True})):
        holding = [
            {d for d, words in sentences for code, under in words if code == k and under in kinds} for k in range(5)
        ]
        assert found[kind].tolist() == [len(held) for held in holding]
    assert found[3].tolist() == np.bincount(texts.codes, minlength=5).tolist()


@given(SENTENCES)
def test_every_document_of_a_pair_counts_once(sentences):
    holding = {}
    for document, words in sentences:
        for (one, below), (two, too) in pairwise(words):
            holding.setdefault(2**32 * one + 2 * two + (below and too), set()).add(document)
    pairs, counts = count_pairs(columns_of(sentences))
    assert dict(zip(pairs.tolist(), counts.tolist(), strict=True)) == {
        pair: len(held) for pair, held in holding.items()
    }


@given(KEYS)
def test_keys_are_numbered_as_they_come(keys):
    distinct, numbers = number_keys(np.array(keys, dtype=np.int64))
    assert distinct.tolist() == list(dict.fromkeys(keys))
    assert distinct[numbers].tolist() == keys
