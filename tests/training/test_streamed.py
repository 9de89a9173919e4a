"""Documents in shards: tone of stored blocks is that of blocks in memory; samples and blocks keep their limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_tokens import assert_same_tokens

from textsignal.compute.engines.local import local_compute
from textsignal.compute.hashing import drawn
from textsignal.datasets import synthetic_reviews
from textsignal.errors import StorageError
from textsignal.families import as_family
from textsignal.text.features import count_texts, learn_features
from textsignal.text.shards import write_shard
from textsignal.text.tokens import read_sentences
from textsignal.training.streamed import Passing, Sample, StoredBlock, count_shards, in_blocks, stored_tone
from textsignal.training.tone import TONE_FOLDS, fit_tone

NOTHING = np.zeros(0, np.uint64)


@pytest.fixture(scope="module")
def reviews():
    return synthetic_reviews(300, seed=1)


def in_shards(reviews, size, folder, weight=None):
    """Shards of reviews, so many in each."""
    weight = np.ones(len(reviews.texts)) if weight is None else weight
    found = []
    for number, start in enumerate(range(0, len(reviews.texts), size)):
        rows = slice(start, start + size)
        texts = read_sentences(reviews.texts[rows], n_jobs=1)
        keys = np.arange(start, start + len(texts), dtype=np.uint64)
        found.append(folder / f"{number:06d}.shard")
        write_shard(texts, {"response": reviews.ratings[rows], "weight": weight[rows], "keys": keys}, found[-1])
    return found, [min(size, len(reviews.texts) - size * number) for number in range(len(found))]


def tones(reviews, folder, size, weight=None, without=NOTHING):
    """Features, and effects of all fits to shards."""
    family = as_family("binomial", (1, 5))
    with local_compute(1) as compute:
        shards, sizes = in_shards(reviews, size, folder, weight)
        merged = count_shards(shards, sizes, compute)
        features = learn_features(merged.words, merged.counts, 2, phrases=True)
        return features, stored_tone(shards, sizes, features, family, compute, without)


def in_memory(reviews, weight):
    texts = read_sentences(reviews.texts, n_jobs=1)
    family = as_family("binomial", (1, 5))
    with local_compute(1) as compute:
        features = learn_features(texts.words, count_texts(texts, compute.engine), 2, phrases=True)
        y = family.encode(np.asarray(reviews.ratings, dtype=float))
        return fit_tone(
            features.count([texts], compute.engine), features.sizes, y, weight, family.of_words, compute
        ).effects


@pytest.mark.parametrize("size", [300, 70, 1])
def test_tone_of_shards_in_one_block_is_that_of_texts_in_memory(reviews, tmp_path, size):
    if size == 1:
        reviews = synthetic_reviews(40, seed=2)
    weight = np.where(np.arange(len(reviews.texts)) % 7 == 0, 0.0, 1.0)
    _, effects = tones(reviews, tmp_path, size, weight)
    assert np.array_equal(effects[:, TONE_FOLDS], in_memory(reviews, weight))


def test_documents_that_are_left_out_are_those_of_weight_nothing(reviews, tmp_path):
    rows = np.arange(0, 300, 3)
    weight = np.ones(300)
    weight[rows] = 0
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    _, without = tones(reviews, tmp_path / "one", 80, without=rows.astype(np.uint64))
    _, weighted = tones(reviews, tmp_path / "two", 80, weight)
    assert np.array_equal(without, weighted)


def test_a_truncated_block_is_named(reviews, tmp_path):
    features, _ = tones(reviews, tmp_path, 300)
    path = tmp_path / "000000.block"
    assert StoredBlock(path, features.sizes).load().roots.shape[1] == len(features.names)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(StorageError, match=r"000000\.block is missing or damaged"):
        StoredBlock(path, features.sizes).load()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 200))
def test_blocks_hold_all_shards_once_and_in_order(sizes, most):
    blocks = in_blocks(range(len(sizes)), sizes, most)
    assert [number for block in blocks for number in block] == list(range(len(sizes)))
    assert all(blocks)
    # A shard at an edge may be in either block.
    assert all(sum(sizes[number] for number in block) <= most + max(sizes) for block in blocks)


def sampled(n_words, cuts, most_documents, most_words):
    """The sample of documents with so many words, offered in batches."""
    sample, start, number = Sample(most_documents, most_words), 0, 0
    texts = [f"text {row}" for row in range(len(n_words))]
    keys = np.arange(len(n_words), dtype=np.uint64) // 2  # copies are documents too
    while start < len(texts):
        stop = min(start + cuts[number % len(cuts)], len(texts))
        rows, ones = slice(start, stop), np.ones(stop - start)
        responses = np.arange(start, stop, dtype=float)
        numbers = np.arange(start, stop)
        draws, cells = drawn(keys[rows] + numbers.astype(np.uint64), 0), np.empty((len(numbers), 0), object)
        documents = Passing(draws, numbers, keys[rows], np.array(n_words[rows]), responses, ones, cells)
        sample.offer(read_sentences(texts[rows]).at, documents)
        n_sampled = sum(map(len, sample.parts))
        assert n_sampled == len(sample.documents.rows) <= most_documents
        assert n_sampled < 2 or sample.documents.n_words.sum() <= most_words
        start, number = stop, number + 1
    return sample


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=60),
    st.lists(st.integers(1, 20), min_size=1),
    st.integers(1, 40),
    st.integers(1, 600),
)
def test_a_sample_keeps_its_limits_and_is_the_same_in_any_batches(n_words, cuts, most_documents, most_words):
    one, two = (sampled(n_words, cut, most_documents, most_words) for cut in (cuts, [len(n_words)]))
    assert one.bound == two.bound
    documents = one.documents
    assert_same_tokens(one.tokens, read_sentences([f"text {row}" for row in documents.rows]))
    assert_same_tokens(two.tokens, one.tokens)
    assert documents.n_words.tolist() == [n_words[row] for row in documents.rows]
    assert documents.responses.tolist() == documents.rows.tolist()
    if len(n_words) <= most_documents and sum(n_words) <= most_words:
        assert len(one.tokens) == len(n_words)


def test_a_sample_is_of_all_documents_alike():
    """Of 2,000 documents about half are drawn, as many of the first as of the last, and of copies as of others."""
    rows = sampled([10] * 2000, [64], 1200, 10**9).documents.rows
    assert 0.75 * 1200 * 0.9 < len(rows) <= 1200
    share = len(rows) / 2000
    for part in (rows < 1000, rows % 2 == 0):
        assert abs(part.mean() - 0.5) < 4 * (0.25 * (1 - share) / len(rows)) ** 0.5
