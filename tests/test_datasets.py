"""Laws of the simulated data: what is planted is what the data show."""

import re
import tracemalloc

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.metrics import r2_score

from textsignal.datasets import SimulatedCorpus, SyntheticReviews, simulate_corpus, synthetic_reviews
from textsignal.errors import InputError


@pytest.fixture(scope="module")
def corpus() -> SimulatedCorpus:
    return simulate_corpus(n_documents=3000, n_terms=200, random_state=3)


@pytest.fixture(scope="module")
def reviews() -> SyntheticReviews:
    return synthetic_reviews(n=4000, seed=1)


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


class TestSimulateCorpus:
    @settings(deadline=None, max_examples=40)
    @given(
        n_documents=st.integers(1, 40),
        n_terms=st.integers(1, 60),
        n_topics=st.integers(1, 6),
        n_levels=st.integers(2, 11),
        sparsity=st.floats(1e-6, 1e3),
        random_state=st.integers(0, 2**32),
    )
    def test_shapes_and_ranges(self, n_documents, n_terms, n_topics, n_levels, sparsity, random_state):
        corpus = simulate_corpus(
            n_documents,
            n_terms,
            n_topics,
            n_levels=n_levels,
            topic_sparsity=sparsity,
            term_sparsity=sparsity,
            random_state=random_state,
        )
        assert corpus.counts.shape == (n_documents, n_terms)
        assert corpus.weights.shape == (n_documents, n_topics)
        assert corpus.topics.shape == (n_topics, n_terms)
        assert corpus.effects.shape == (n_topics,)
        assert corpus.ratings.shape == corpus.probability.shape == (n_documents,)
        assert len(set(corpus.terms)) == n_terms
        np.testing.assert_allclose(corpus.weights.sum(axis=1), 1)
        np.testing.assert_allclose(corpus.topics.sum(axis=1), 1)
        assert set(corpus.ratings) <= set(range(1, n_levels + 1))

    @pytest.mark.parametrize("sparsity", [1e-4, 0.01, 0.05])
    def test_sparse_rows_never_vanish(self, sparsity):
        for seed in range(200):
            corpus = simulate_corpus(5, 2000, 5, term_sparsity=sparsity, topic_sparsity=sparsity, random_state=seed)
            for rows in (corpus.weights, corpus.topics):
                assert (rows >= 0).all()
                np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)

    def test_lengths_are_poisson(self, corpus):
        lengths = corpus.counts.sum(axis=1)
        assert lengths.mean() == pytest.approx(30, abs=5 * np.sqrt(30 / len(lengths)))
        assert lengths.var() == pytest.approx(30, rel=0.15)

    def test_counts_are_multinomial_given_the_truth(self):
        # Pearson's statistic of each document is about its degrees of freedom, terms - 1, on average.
        corpus = simulate_corpus(3000, 20, 4, term_sparsity=5, topic_sparsity=0.5)
        expected = corpus.counts.sum(axis=1)[:, None] * (corpus.weights @ corpus.topics)
        pearson = ((corpus.counts.toarray() - expected) ** 2 / expected).sum(axis=1)
        standard_error = pearson.std() / np.sqrt(len(pearson))
        assert pearson.mean() == pytest.approx(19, abs=5 * standard_error)

    def test_terms_outside_a_topic_never_occur(self, corpus):
        documents, terms = corpus.counts.nonzero()
        assert ((corpus.weights @ corpus.topics)[documents, terms] > 0).all()

    def test_ratings_follow_the_probability(self, corpus):
        np.testing.assert_allclose(corpus.probability, 1 / (1 + np.exp(-corpus.weights @ corpus.effects)))
        residual = corpus.ratings - corpus.expected_ratings
        variance = 4 * corpus.probability * (1 - corpus.probability)
        assert abs(residual.sum()) < 5 * np.sqrt(variance.sum())
        assert np.mean(residual**2) == pytest.approx(variance.mean(), rel=0.1)

    def test_ceiling_is_the_r2_of_the_truth(self, corpus):
        rows = np.arange(100, 400)
        truth = 1 + 4 * corpus.probability
        assert corpus.ceiling() == pytest.approx(r2_score(corpus.ratings, truth))
        assert corpus.ceiling(rows) == pytest.approx(r2_score(corpus.ratings[rows], truth[rows]))
        mask = np.isin(np.arange(3000), rows)
        assert corpus.ceiling(mask) == corpus.ceiling(rows) == corpus.ceiling(slice(100, 400))

    def test_no_effects_no_signal(self):
        corpus = simulate_corpus(500, 50, effect_sd=0)
        assert (corpus.probability == 0.5).all()
        assert corpus.ceiling() <= 0

    def test_ceiling_needs_ratings_that_differ(self, corpus):
        with pytest.raises(InputError, match="rows"):
            corpus.ceiling([0])
        with pytest.raises(InputError, match="rows"):
            corpus.ceiling([])

    def test_texts_hold_the_counts(self, corpus):
        texts = corpus.texts()
        column = {term: j for j, term in enumerate(corpus.terms)}
        for document in (0, 1, 1500, 2999):
            counted = np.bincount([column[word] for word in texts[document].split()], minlength=200)
            np.testing.assert_array_equal(counted, corpus.counts[[document]].toarray()[0])

    def test_empty_documents_are_kept(self):
        corpus = simulate_corpus(200, 20, mean_length=0.5)
        empty = corpus.counts.sum(axis=1) == 0
        assert empty.any()
        assert [text == "" for text in corpus.texts()] == empty.tolist()

    def test_same_seed_same_bits(self):
        one, same, other = (simulate_corpus(200, 50, random_state=seed) for seed in (7, 7, 8))
        np.testing.assert_array_equal(one.counts.toarray(), same.counts.toarray())
        np.testing.assert_array_equal(one.ratings, same.ratings)
        np.testing.assert_array_equal(one.topics, same.topics)
        assert not np.array_equal(one.counts.toarray(), other.counts.toarray())

    def test_text_does_not_depend_on_the_response(self):
        weak, strong = (
            simulate_corpus(200, 50, effect_sd=0.1),
            simulate_corpus(200, 50, effect_sd=3, n_levels=9),
        )
        np.testing.assert_array_equal(weak.counts.toarray(), strong.counts.toarray())

    def test_memory_is_that_of_the_tokens(self):
        tracemalloc.start()
        simulate_corpus(n_documents=20_000, n_terms=5000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.1 * 20_000 * 5000 * 8

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            ("n_documents", 0),
            ("n_terms", 2.5),
            ("n_topics", True),
            ("n_levels", 1),
            ("mean_length", 0),
            ("mean_length", np.inf),
            ("topic_sparsity", -1),
            ("term_sparsity", np.nan),
            ("term_sparsity", 1.7e308),
            ("effect_sd", -0.1),
            ("effect_sd", "2"),
            ("random_state", -1),
            ("random_state", "seed"),
        ],
    )
    def test_bad_arguments_are_named(self, argument, value):
        with pytest.raises(InputError, match=f"{argument} must be .* got {re.escape(repr(value))}"):
            simulate_corpus(**{"n_documents": 10, "n_terms": 10, argument: value})


class TestSyntheticReviews:
    def test_shapes(self, reviews):
        n_aspects = len(reviews.aspects)
        assert len(reviews.texts) == len(reviews.ratings) == len(reviews.probability) == 4000
        assert reviews.mentions.shape == (4000, n_aspects)
        assert reviews.mentions.dtype == bool
        assert set(reviews.ratings) == {1, 2, 3, 4, 5}
        sizes = reviews.mentions.sum(axis=1)
        assert (sizes.min(), sizes.max()) == (1, 5)

    def test_frame_has_review_and_rating(self, reviews):
        frame = reviews.to_frame()
        assert frame.columns.tolist() == ["review", "rating"]
        assert frame["review"].tolist() == reviews.texts
        np.testing.assert_array_equal(frame["rating"], reviews.ratings)

    def test_reviews_read_like_reviews(self, reviews):
        lengths = [len(words_of(text)) for text in reviews.texts]
        assert min(lengths) >= 25
        assert max(lengths) <= 120
        assert len(set(reviews.texts)) > 0.99 * len(reviews.texts)
        for text in reviews.texts:
            assert not re.search(r"[{}]|  |\ba [aeio]|\ban [^aeiouh]", text), text
            assert all(sentence[0].isupper() for sentence in re.findall(r"(?:^|[.!] )(\w)", text)), text

    def test_most_ratings_are_high_and_the_ceiling_is_moderate(self, reviews):
        assert 0.6 < np.mean(reviews.ratings >= 4) < 0.75
        assert 0.6 < reviews.ceiling() < 0.75
        assert reviews.ceiling() == pytest.approx(r2_score(reviews.ratings, reviews.expected_ratings))

    def test_shares_are_met(self, reviews):
        shares = np.array([aspect.share for aspect in reviews.aspects])
        error = np.sqrt(shares * (1 - shares) / len(reviews.texts))
        assert (np.abs(reviews.mentions.mean(axis=0) - shares) < 4 * error).all()

    def test_planted_effects_are_visible(self, reviews):
        successes = np.column_stack([reviews.ratings - 1, 5 - reviews.ratings])
        design = sm.add_constant(reviews.mentions.astype(float))
        fit = sm.GLM(successes, design, family=sm.families.Binomial()).fit()
        for aspect, estimate, error in zip(reviews.aspects, fit.params[1:], fit.bse[1:], strict=True):
            if aspect.effect:
                assert np.sign(aspect.effect) * estimate > 5 * error, aspect.name
            else:
                assert abs(estimate) < 0.2, aspect.name

    def test_aspects_differ_in_kind(self, reviews):
        rare = [aspect for aspect in reviews.aspects if aspect.share < 0.1]
        common = [aspect for aspect in reviews.aspects if aspect.share >= 0.1]
        assert any(aspect.effect == 0 for aspect in common)
        assert {np.sign(aspect.effect) for aspect in common} == {-1, 0, 1}
        assert {np.sign(aspect.effect) for aspect in rare} == {-1, 1}
        assert min(abs(a.effect) for a in rare) > max(abs(a.effect) for a in common)

    def test_aspects_have_a_vocabulary(self, reviews):
        for aspect in reviews.aspects:
            phrases = [re.sub(r"\{\w+\}", " ", sentence) for sentence in aspect.sentences]
            phrases += [word for options in aspect.words.values() for word in options]
            content = set(words_of(" ".join(phrases))) - ENGLISH_STOP_WORDS
            assert len(content) >= 25, aspect.name
            slots = {slot for sentence in aspect.sentences for slot in re.findall(r"\{(\w+)\}", sentence)}
            assert slots == set(aspect.words), aspect.name

    def test_keywords_identify_their_aspect(self, reviews):
        bags = [set(words_of(text)) for text in reviews.texts]
        for aspect, mentioned in zip(reviews.aspects, reviews.mentions.T, strict=True):
            for keyword in aspect.keywords:
                present = np.array([keyword in bag for bag in bags])
                assert present[mentioned].mean() > 0.05, keyword
                assert present[~mentioned].mean() < 0.02, keyword
            any_keyword = np.array([not bag.isdisjoint(aspect.keywords) for bag in bags])
            assert any_keyword[mentioned].mean() > 0.9, aspect.name

    def test_same_seed_same_reviews(self):
        one, same, other = (synthetic_reviews(n=30, seed=seed) for seed in (4, 4, 5))
        assert one.texts == same.texts
        np.testing.assert_array_equal(one.ratings, same.ratings)
        np.testing.assert_array_equal(one.mentions, same.mentions)
        assert one.texts != other.texts

    @pytest.mark.parametrize(("argument", "value"), [("n", 0), ("n", 1.5), ("n", "ten"), ("seed", -3)])
    def test_bad_arguments_are_named(self, argument, value):
        with pytest.raises(InputError, match=f"{argument} must be .* got {re.escape(repr(value))}"):
            synthetic_reviews(**{argument: value})
