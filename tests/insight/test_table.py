"""Tables of topics: functions of arrays, checked against their formulas and against small hand-made topics."""

from types import SimpleNamespace

import numpy as np
import pytest

from textsignal.families import Binomial
from textsignal.insight.drivers import LABEL_CHOICE, LABEL_TERMS, topic_table
from textsignal.reading.words import relevance
from textsignal.training.topics import CentredEffects, centred_effects, word_shares

TERMS = [f"t{j}" for j in range(30)]


def table_of(themes, effects, prevalence, coherence, terms=TERMS, n_terms=10):
    """The table of an estimator with these topics, whose sums are 1."""
    estimator = SimpleNamespace(
        components_=themes,
        centred_effects=CentredEffects(np.ones(len(themes)), prevalence, effects, 0.0),
        family_=Binomial(4, 1),
    )
    return topic_table(estimator, coherence, terms, n_terms)


@pytest.fixture
def parts():
    rng = np.random.default_rng(3)
    themes = rng.dirichlet(np.full(30, 0.3), size=6)
    themes[:, 3] = 0
    themes /= themes.sum(axis=1, keepdims=True)
    return {
        "themes": themes,
        "effects": rng.normal(size=6),
        "prevalence": rng.dirichlet(np.ones(6)),
        "coherence": rng.uniform(-1, 1, 6),
    }


def test_relevance_is_its_formula(parts):
    themes, prevalence = parts["themes"], parts["prevalence"]
    found = relevance(themes, prevalence, 0.3)
    for k in range(6):
        for j in range(30):
            share = themes[k, j]
            overall = sum(prevalence[other] * themes[other, j] for other in range(6))
            expected = 0.3 * np.log(share) + 0.7 * np.log(share / overall) if share > 0 else -np.inf
            assert found[k, j] == pytest.approx(expected)


def test_relevance_without_cost_ranks_by_share_alone(parts):
    by_share = np.argsort(-parts["themes"], axis=1, kind="stable")
    by_relevance = np.argsort(-relevance(parts["themes"], parts["prevalence"], 1.0), axis=1, kind="stable")
    np.testing.assert_array_equal(by_relevance, by_share)


def test_a_term_of_all_topics_is_less_relevant_than_a_term_of_one():
    themes = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    found = relevance(themes, np.array([0.5, 0.5]))
    assert found[0, 1] > found[0, 0] > found[0, 2] == -np.inf


def test_the_table_has_a_row_for_each_topic(parts):
    table = table_of(**parts)
    assert list(table.columns) == ["topic", "label", "effect", "prevalence", "coherence", "terms"]
    assert table["topic"].tolist() == list(range(6))
    np.testing.assert_array_equal(table["effect"], parts["effects"])
    for name in ("prevalence", "coherence"):
        np.testing.assert_array_equal(table[name], parts[name])


def test_terms_are_the_most_relevant_ones(parts):
    ranked = relevance(parts["themes"], parts["prevalence"])
    table = table_of(**parts, n_terms=7)
    for row in table.itertuples():
        scores = [ranked[row.topic, TERMS.index(term)] for term in row.terms]
        assert len(scores) == 7
        assert scores == sorted(scores, reverse=True)
        assert scores[-1] >= np.sort(ranked[row.topic])[-7]


def test_a_label_prefers_terms_that_no_other_topic_uses_more(parts):
    for row in table_of(**parts, n_terms=LABEL_CHOICE).itertuples():
        own = [term for term in row.terms if parts["themes"][:, TERMS.index(term)].argmax() == row.topic]
        others = [term for term in row.terms if term not in own]
        assert row.label.split(", ") == (own + others)[:LABEL_TERMS]


def test_topics_that_share_their_most_relevant_terms_have_different_labels():
    themes = np.array([[0.4, 0.3, 0.1, 0.1, 0.1, 0.0], [0.3, 0.4, 0.0, 0.0, 0.15, 0.15]])
    numbers = {name: np.array([0.5, 0.5]) for name in ("effects", "prevalence", "coherence")}
    first, second = table_of(themes=themes, terms=list("abcdef"), **numbers)["label"]
    assert not set(first.split(", ")) & set(second.split(", "))


def test_a_term_that_a_topic_lacks_is_never_shown(parts):
    table = table_of(**parts, n_terms=30)
    assert "t3" not in {term for terms in table["terms"] for term in terms}


def test_a_topic_without_terms_leaves_the_others_unchanged(parts):
    dead = parts["themes"].copy()
    dead[2] = 0
    table = table_of(**(parts | {"themes": dead})).set_index("topic")
    assert table.loc[2, "terms"] == []
    assert table.loc[2, "label"] == ""
    assert all(len(table.loc[k, "terms"]) == 10 for k in range(6) if k != 2)


def test_the_table_changes_no_array(parts):
    before = {name: values.copy() for name, values in parts.items()}
    table_of(**parts)
    for name, values in parts.items():
        np.testing.assert_array_equal(values, before[name])


# Contributions


def test_centred_effects_give_the_same_linear_predictor(parts):
    rng = np.random.default_rng(0)
    themes = parts["themes"] * rng.uniform(0.1, 30, size=(6, 1))
    themes[4] = 0
    mean_weights, coefficients, weights = rng.gamma(1, size=6), rng.normal(size=6), rng.gamma(1, size=(20, 6))
    centred = centred_effects(themes, mean_weights, coefficients, smoothing=0.0)
    scaled = weights * centred.size
    predictor = centred.centre * scaled.sum(axis=1) + scaled @ centred.effects
    np.testing.assert_allclose(predictor, weights @ coefficients, rtol=1e-12)
    assert np.sum(centred.prevalence * centred.effects) == pytest.approx(0, abs=1e-14)
    assert centred.prevalence.sum() == pytest.approx(1)


def test_word_shares_are_their_formula(parts):
    rng = np.random.default_rng(1)
    x, weights, themes = rng.poisson(1, 30) * 1.0, rng.gamma(1, size=6), parts["themes"]
    shares = word_shares(x, weights, themes)
    for k in range(6):
        pulls = [weights[k] * themes[k, j] * x[j] / (weights @ themes[:, j]) if j != 3 else 0 for j in range(30)]
        np.testing.assert_allclose(shares[k], np.array(pulls) / sum(pulls))


def test_a_topic_without_a_term_of_the_text_has_no_shares_of_words():
    themes = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]])
    shares = word_shares(np.array([1.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0]), themes)
    np.testing.assert_allclose(shares.sum(axis=1), [1, 0, 0])
    assert (word_shares(np.ones(3), np.zeros(3), themes) == 0).all()
