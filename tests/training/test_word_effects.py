"""Laws of word effects: a guide that is distrusted where it explains nothing, and what words add beyond the topics."""

import numpy as np
import pytest
import scipy.sparse as sp

import textsignal as ts
from textsignal.datasets import simulate_corpus
from textsignal.families import Binomial
from textsignal.training.corpus import Corpus
from textsignal.training.draws import document_keys
from textsignal.training.word_effects import (
    NO_GUIDE,
    SPARSE_SHARES,
    WordProblem,
    best_penalty,
    fit_guide,
    fit_word_effects,
    hold_back,
)

FAMILY = Binomial(4, 1)
N, V = 600, 40


def problem(strength, seed=0):
    """Ratings that depend on words, times `strength`."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(rng.poisson(0.5, size=(N, V)).astype(float))
    effects = strength * rng.standard_normal(V)
    y = rng.binomial(4, 1 / (1 + np.exp(-(X @ effects)))).astype(float)
    return Corpus(X, y, np.ones(N))


def guide_of(corpus, weights=None):
    weights = np.ones((corpus.X.shape[0], 1)) if weights is None else weights
    return fit_guide(corpus, weights, FAMILY, 1.0, document_keys(corpus.X))


def test_what_words_explain_is_trusted():
    assert guide_of(problem(1.0)).distrust < 0.4


def test_what_no_word_explains_is_not():
    assert guide_of(problem(0.0)).distrust > 0.95


def test_the_tilt_is_the_share_of_its_own_slope():
    corpus = problem(0.5)
    guide = guide_of(corpus)
    rows = np.array([3, 5, 8])
    eta = guide.constant[rows] + corpus.X[rows] @ guide.words
    np.testing.assert_allclose(
        guide.tilt(corpus.X[rows], rows, corpus.y[rows], FAMILY), guide.distrust * FAMILY.gradient(corpus.y[rows], eta)
    )


def test_there_is_no_tilt_without_a_response():
    corpus = problem(0.5)
    tilt = guide_of(corpus).tilt(corpus.X[:2], np.arange(2), np.array([np.nan, 1.0]), FAMILY)
    assert tilt[0] == 0
    assert tilt[1] != 0


def test_no_guide_takes_responses_as_they_are():
    corpus = problem(0.5)
    assert not NO_GUIDE.tilt(corpus.X, np.arange(N), corpus.y, FAMILY).any()


def test_missing_responses_do_not_count():
    corpus = problem(0.5)
    y = np.where(np.arange(N) < 100, np.nan, corpus.y)
    missing = guide_of(Corpus(corpus.X, y, corpus.weight))
    removed = guide_of(Corpus(corpus.X[100:], corpus.y[100:], corpus.weight[100:]))
    np.testing.assert_allclose(missing.words, removed.words, atol=1e-6)


def test_weights_equal_repetition():
    corpus = problem(0.5)
    weight = (np.arange(N) % 3).astype(float)
    rows = np.repeat(np.arange(N), weight.astype(int))
    weighted = guide_of(Corpus(corpus.X, corpus.y, weight))
    repeated = guide_of(Corpus(corpus.X[rows], corpus.y[rows], np.ones(len(rows))))
    np.testing.assert_allclose(weighted.words, repeated.words, atol=1e-4)
    assert weighted.distrust == pytest.approx(repeated.distrust, abs=1e-4)


@pytest.mark.parametrize("n_documents", [1, 2, 6])
def test_too_few_documents_to_hold_back_are_not_trusted(n_documents):
    corpus = problem(1.0)
    some = Corpus(corpus.X[:n_documents], np.arange(n_documents) % 2.0, np.ones(n_documents))
    guide = guide_of(some)
    assert 0 <= guide.distrust <= 1
    assert np.all(np.isfinite(guide.words))


def word_problem(seed=0):
    corpus = problem(0.5, seed)
    return WordProblem(corpus.X, corpus.y, corpus.weight, 0.2, FAMILY)


def test_the_slope_is_the_derivative_of_the_loss():
    words, rng = word_problem(), np.random.default_rng(1)
    at = 0.1 * rng.standard_normal(V + 1)
    steps = 1e-5 * np.eye(V + 1)
    numeric = [(words.loss_and_slope(at + step)[0] - words.loss_and_slope(at - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(words.loss_and_slope(at)[1], numeric, rtol=1e-5, atol=1e-4)


def test_both_penalties_are_at_their_minimum_where_they_stop():
    words = word_problem()
    ridge = words.fit_ridge(np.full(V, 5.0), words.constant)
    np.testing.assert_allclose(words.loss_and_slope(ridge)[1][:-1] + 10 * ridge[:-1], 0, atol=0.2)
    strength = 0.3 * words.strongest
    sparse = words.fit_sparse(strength, words.null)
    slope = words.loss_and_slope(sparse)[1][:-1]
    assert np.all(np.abs(slope) <= strength * 1.01)
    np.testing.assert_allclose(slope[sparse[:-1] != 0], -strength * np.sign(sparse[:-1][sparse[:-1] != 0]), rtol=0.02)


def test_the_strongest_sparse_penalty_leaves_no_effect_at_all():
    words = word_problem()
    assert SPARSE_SHARES[0] == 1
    assert not words.fit_sparse(words.strongest, words.null).any()


def test_copies_of_a_text_are_held_back_together():
    words = word_problem()
    twice = WordProblem(sp.csr_array(sp.vstack([words.X, words.X])), *(np.tile(v, 2) for v in (words.y, words.weight)),
                        0.0, FAMILY)  # fmt: skip
    sides = hold_back(twice, document_keys(twice.X))
    texts = [{row.tobytes() for row in side.X.toarray()} for side in sides]
    assert texts[0].isdisjoint(texts[1])
    assert sum(side.X.shape[0] for side in sides) == 2 * N


def test_penalties_are_tried_until_the_held_back_deviance_rises():
    words, tried = word_problem(), []

    def fit(penalty, start):
        tried.append(penalty)
        return np.full(V + 1, {4.0: 3.0, 3.0: 0.5, 2.0: 2.0, 1.0: 0.0}[penalty])

    best, deviance = best_penalty(words, (4.0, 3.0, 2.0, 1.0), fit, words.null)
    assert (best, tried) == (3.0, [4.0, 3.0, 2.0])
    assert deviance == words.deviance(np.full(V + 1, 0.5))


def word_effects(effects, eta=0.0, n=2000, weight=None, missing=()):
    """Effects found where the truth is given ones beyond a linear predictor `eta` that is known."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.poisson(0.3, size=(n, len(effects))).astype(float))
    eta = eta * rng.standard_normal(n)
    y = rng.binomial(4, 1 / (1 + np.exp(-(eta + X @ effects)))).astype(float)
    y[list(missing)] = np.nan
    return fit_word_effects(X, y, np.ones(n) if weight is None else weight, eta, FAMILY, document_keys(X))


def test_words_that_add_something_are_found_and_others_left_at_zero():
    truth = np.zeros(40)
    truth[[3, 17]] = 1.5, -2.0
    found = word_effects(truth, eta=1.0)
    assert found[3] > 0.8
    assert found[17] < -1.2
    assert np.count_nonzero(found) < 25
    assert np.abs(np.delete(found, [3, 17])).max() < 0.3


def test_nothing_is_found_where_nothing_is():
    assert np.abs(word_effects(np.zeros(40), eta=1.0)).max() < 0.1


def test_words_of_documents_without_a_response_do_not_count():
    truth = np.zeros(40)
    truth[3] = 1.5
    assert word_effects(truth, missing=range(200))[3] > 0.8


def test_too_few_documents_to_hold_back_give_no_effects():
    assert not word_effects(np.ones(5), n=1).any()


@pytest.fixture(scope="module")
def with_extra_word():
    """A simulation in which one word counts beyond its topics."""
    simulated = simulate_corpus(n_documents=1500, n_terms=200, random_state=2)
    counts = simulated.counts.toarray()
    rng = np.random.default_rng(0)
    extra = rng.random(1500) < 0.3
    ratings = np.where(extra, np.maximum(simulated.ratings - 2, 1), simulated.ratings)
    return np.column_stack([counts, 3.0 * extra]), ratings


@pytest.mark.parametrize("training", ["predictive", "joint"])
def test_the_residual_adds_to_the_skill_and_is_given_apart(with_extra_word, training):
    counts, ratings = with_extra_word
    options = {"n_topics": 5, "training": training, "max_epochs": 5, "supervision": 0}
    model = ts.GLMNMF(**options, word_residual=True).fit(counts[:1200], ratings[:1200])
    plain = ts.GLMNMF(**options).fit(counts[:1200], ratings[:1200])
    assert np.argmax(np.abs(model.word_effects_)) == 200
    assert model.word_effects_[200] < 0
    assert not plain.word_effects_.any()
    np.testing.assert_array_equal(model.components_, plain.components_)
    predictions = model.predictions(counts[1200:])
    np.testing.assert_allclose(predictions.by_topics.mean, plain.predict(counts[1200:]))
    np.testing.assert_allclose(predictions.by_topics.eta + predictions.beyond, predictions.eta)
    assert model.score(counts[1200:], ratings[1200:]) > plain.score(counts[1200:], ratings[1200:])


def test_the_residual_is_stored_and_shown(tmp_path):
    texts = [f"good {word} zebra" if i % 3 else f"bad {word}" for i, word in enumerate(["room", "bed", "bar"] * 60)]
    ratings = [5 if "zebra" in text else 1 + i % 3 for i, text in enumerate(texts)]
    model = ts.TopicModel(ts.GLMNMF(1, word_residual=True)).fit(texts, ratings)
    words = model.words()
    assert list(words.columns) == ["term", "effect"]
    assert len(words) > 0
    assert np.all(np.diff(words["effect"].abs()) <= 0)
    model.save(tmp_path / "model")
    again = ts.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(texts), model.predict(texts))
    assert again.words().equals(words)


def test_the_residual_is_off_by_default():
    reviews = ts.datasets.synthetic_reviews(200, seed=0)
    assert ts.TopicModel(ts.GLMNMF(3)).fit(reviews.texts, reviews.ratings).words().empty


def test_explanations_add_up_with_the_residual():
    texts = [f"good {word} zebra" if i % 3 else f"bad {word}" for i, word in enumerate(["room", "bed", "bar"] * 60)]
    ratings = [5 if "zebra" in text else 1 + i % 3 for i, text in enumerate(texts)]
    model = ts.TopicModel(ts.GLMNMF(2, supervision=0, word_residual=True)).fit(texts, ratings)
    explanation = model.explain(texts[1])
    by_topics = explanation.themes["contribution"].sum()
    assert explanation.beyond != 0
    assert explanation.baseline + by_topics + explanation.beyond == pytest.approx(
        explanation.linear_predictor, abs=1e-10
    )
    assert explanation.words["contribution"].sum() == pytest.approx(by_topics + explanation.beyond, abs=1e-10)
