"""Counts of shards together: exact up to a limit, and with an error that is known above it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal.compute.engines.local import LocalEngine
from textsignal.text.features import MergedCounts, count_texts, learn_features, parts_of_pairs
from textsignal.text.tokens import read_sentences

WORDS = ("room", "clean", "not", "noisy", "bed", "😀", "staff", ".", *(f"word{n}" for n in range(8)))
documents = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=30)
cuts = st.lists(st.integers(1, 7), min_size=1)


def counted(texts):
    """Words and pairs by their names, and in how many documents each stands."""
    tokens = read_sentences(texts, n_jobs=1)
    return tokens.words, count_texts(tokens, LocalEngine())


def merged(texts, sizes, **limits):
    """Counts merged from shards of these sizes, repeated."""
    found, start, number = MergedCounts(**limits), 0, 0
    while start < len(texts):
        stop = start + sizes[number % len(sizes)]
        found.add(*counted(texts[start:stop]))
        start, number = stop, number + 1
    return found


def by_name(words, counts):
    first, second, under = parts_of_pairs(counts.pairs)
    pairs = zip(first.tolist(), second.tolist(), under.tolist(), counts.in_documents.tolist(), strict=True)
    return dict(zip(words, counts.documents.tolist(), strict=True)) | {
        (words[a], words[b], under): number for a, b, under, number in pairs
    }


@settings(max_examples=40, deadline=None)
@given(documents, cuts)
def test_counts_of_shards_are_those_of_all_texts(texts, sizes):
    found, (words, whole) = merged(texts, sizes), counted(texts)
    assert found.words == list(words)
    assert found.error == 0
    assert by_name(found.words, found.counts) == by_name(words, whole)
    for name in ("documents", "plain", "negated", "occurrences"):
        assert np.array_equal(getattr(found.counts, name), getattr(whole, name)), name


@settings(max_examples=40, deadline=None)
@given(documents, cuts, st.integers(2, 12), st.integers(2, 12))
def test_above_the_limit_counts_are_too_small_by_the_error_at_most(texts, sizes, most_words, most_pairs):
    limits = {"most_words": most_words, "most_pairs": most_pairs}
    apart, middle = MergedCounts(**limits), len(texts) // 2
    for part in (texts[:middle], texts[middle:]):
        own = merged(part, sizes, **limits)
        apart.add(own.words, own.counts, own.error)
    true = by_name(*counted(texts))
    for found in (merged(texts, sizes, **limits), apart):
        kept = by_name(found.words, found.counts)
        assert len(found.words) <= most_words
        assert len(found.counts.pairs) <= most_pairs
        for name, number in kept.items():
            assert number <= true[name] <= number + found.error
        assert {name for name, number in true.items() if number > found.error} <= kept.keys()


def test_words_and_counts_belong_together_whichever_is_asked_for_first():
    texts = ["clean room", "clean room", "noisy bed", "six other words stand here too"]
    one, two = (merged(texts, [1], most_words=4, most_pairs=4) for _ in range(2))
    words, counts = one.words, one.counts
    other_counts, other_words = two.counts, two.words
    assert by_name(words, counts) == by_name(other_words, other_counts)
    assert one.error > 0


@pytest.mark.parametrize("sizes", [[100], [1], [7, 2]])
def test_features_are_those_of_all_texts(sizes):
    texts = [f"The room was {word} clean. Noisy {word}!" for word in ("not", "very", "so", "not")] * 5
    found, (words, whole) = merged(texts, sizes), counted(texts)
    one, two = learn_features(found.words, found.counts, 2, phrases=True), learn_features(words, whole, 2, phrases=True)
    assert list(one.names) == list(two.names)
    assert np.array_equal(one.kinds, two.kinds)
    assert np.array_equal(one.sizes, two.sizes)
