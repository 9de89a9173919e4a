"""Laws of the word-level term beyond the topics."""

import numpy as np
import pytest
import scipy.sparse as sp

import textsignal as ts
from textsignal.datasets import simulate_corpus
from textsignal.families import Binomial
from textsignal.training.draws import document_keys
from textsignal.training.residual import fit_word_effects

FAMILY = Binomial(4, 1)


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


def test_missing_responses_do_not_count():
    truth = np.zeros(40)
    truth[3] = 1.5
    assert word_effects(truth, missing=range(200))[3] > 0.8


def test_too_few_documents_to_hold_back_give_nothing():
    assert not word_effects(np.ones(5), n=1).any()


@pytest.fixture(scope="module")
def corpus():
    """A simulation in which one word counts beyond its topics."""
    simulated = simulate_corpus(n_documents=1500, n_terms=200, random_state=2)
    counts = simulated.counts.toarray()
    rng = np.random.default_rng(0)
    extra = rng.random(1500) < 0.3
    ratings = np.where(extra, np.maximum(simulated.ratings - 2, 1), simulated.ratings)
    return np.column_stack([counts, 3.0 * extra]), ratings


@pytest.mark.parametrize("training", ["predictive", "joint"])
def test_adds_to_the_skill_and_is_given_apart(corpus, training):
    counts, ratings = corpus
    options = {"n_topics": 5, "training": training, "max_epochs": 5, "supervision": 0}
    model = ts.GLMNMF(**options, word_residual=True).fit(counts[:1200], ratings[:1200])
    plain = ts.GLMNMF(**options).fit(counts[:1200], ratings[:1200])
    assert np.argmax(np.abs(model.word_effects_)) == 200
    assert model.word_effects_[200] < 0
    assert not plain.word_effects_.any()
    np.testing.assert_array_equal(model.components_, plain.components_)
    said = model.predictions(counts[1200:])
    np.testing.assert_allclose(said.by_topics.mean, plain.predict(counts[1200:]))
    np.testing.assert_allclose(said.by_topics.eta + said.beyond, said.eta)
    assert model.score(counts[1200:], ratings[1200:]) > plain.score(counts[1200:], ratings[1200:])


def test_is_stored_and_shown(tmp_path):
    texts = [f"good {word} zebra" if i % 3 else f"bad {word}" for i, word in enumerate(["room", "bed", "bar"] * 60)]
    ratings = [5 if "zebra" in text else 1 + i % 3 for i, text in enumerate(texts)]
    model = ts.TextResponseModel(1, word_residual=True).fit(texts, ratings)
    words = model.words()
    assert list(words.columns) == ["term", "effect"]
    assert len(words) > 0
    assert np.all(np.diff(words["effect"].abs()) <= 0)
    model.save(tmp_path / "model")
    again = ts.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(texts), model.predict(texts))
    assert again.words().equals(words)


def test_is_off_by_default():
    reviews = ts.datasets.synthetic_reviews(200, seed=0)
    assert ts.TextResponseModel(3).fit(reviews.texts, reviews.ratings).words().empty


def test_explanations_add_up_with_it():
    texts = [f"good {word} zebra" if i % 3 else f"bad {word}" for i, word in enumerate(["room", "bed", "bar"] * 60)]
    ratings = [5 if "zebra" in text else 1 + i % 3 for i, text in enumerate(texts)]
    model = ts.TextResponseModel(2, supervision=0, word_residual=True).fit(texts, ratings)
    explanation = model.explain(texts[1])
    by_topics = explanation.topics["contribution"].sum()
    assert explanation.beyond != 0
    assert explanation.baseline + by_topics + explanation.beyond == pytest.approx(
        explanation.linear_predictor, abs=1e-10
    )
    assert explanation.words["contribution"].sum() == pytest.approx(by_topics + explanation.beyond, abs=1e-10)
