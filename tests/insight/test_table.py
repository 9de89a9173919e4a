"""Theme tables: pure functions of arrays, checked against their formulas and against small hand-made themes."""

import numpy as np
import pytest

from textsignal.insight.drivers import LABEL_CHOICE, LABEL_TERMS, theme_table
from textsignal.reading.words import relevance
from textsignal.training.topics import centred_effects, word_shares

TERMS = [f"t{j}" for j in range(30)]


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


def test_a_term_that_every_theme_shares_says_less_than_one_of_its_own():
    themes = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    found = relevance(themes, np.array([0.5, 0.5]))
    assert found[0, 1] > found[0, 0] > found[0, 2] == -np.inf


def test_the_table_lists_themes_from_the_strongest_positive_effect_down(parts):
    table = theme_table(**parts, terms=TERMS)
    assert list(table.columns) == ["theme", "label", "effect", "prevalence", "coherence", "terms"]
    assert table["effect"].is_monotonic_decreasing
    assert sorted(table["theme"]) == list(range(6))
    for name in ("effect", "prevalence", "coherence"):
        given = parts["effects" if name == "effect" else name]
        np.testing.assert_array_equal(table[name], given[table["theme"]])


def test_terms_are_the_most_relevant_ones(parts):
    ranked = relevance(parts["themes"], parts["prevalence"])
    table = theme_table(**parts, terms=TERMS, n_terms=7)
    for row in table.itertuples():
        scores = [ranked[row.theme, TERMS.index(term)] for term in row.terms]
        assert len(scores) == 7
        assert scores == sorted(scores, reverse=True)
        assert scores[-1] >= np.sort(ranked[row.theme])[-7]


def test_a_label_prefers_terms_that_no_other_theme_uses_more(parts):
    for row in theme_table(**parts, terms=TERMS, n_terms=LABEL_CHOICE).itertuples():
        own = [term for term in row.terms if parts["themes"][:, TERMS.index(term)].argmax() == row.theme]
        others = [term for term in row.terms if term not in own]
        assert row.label.split(", ") == (own + others)[:LABEL_TERMS]


def test_themes_that_share_their_most_relevant_terms_are_told_apart():
    themes = np.array([[0.4, 0.3, 0.1, 0.1, 0.1, 0.0], [0.3, 0.4, 0.0, 0.0, 0.15, 0.15]])
    numbers = {name: np.array([0.5, 0.5]) for name in ("effects", "prevalence", "coherence")}
    first, second = theme_table(themes=themes, terms=list("abcdef"), **numbers)["label"]
    assert not set(first.split(", ")) & set(second.split(", "))


def test_a_term_that_a_theme_lacks_is_never_shown(parts):
    table = theme_table(**parts, terms=TERMS, n_terms=30)
    assert "t3" not in {term for terms in table["terms"] for term in terms}


def test_equal_effects_keep_the_order_of_themes(parts):
    table = theme_table(**(parts | {"effects": np.zeros(6)}), terms=TERMS)
    assert table["theme"].tolist() == list(range(6))


def test_a_theme_that_died_has_no_terms_and_does_no_harm(parts):
    dead = parts["themes"].copy()
    dead[2] = 0
    table = theme_table(**(parts | {"themes": dead}), terms=TERMS).set_index("theme")
    assert table.loc[2, "terms"] == []
    assert table.loc[2, "label"] == ""
    assert all(len(table.loc[k, "terms"]) == 10 for k in range(6) if k != 2)


def test_the_table_changes_no_array(parts):
    before = {name: values.copy() for name, values in parts.items()}
    theme_table(**parts, terms=TERMS)
    for name, values in parts.items():
        np.testing.assert_array_equal(values, before[name])


# Contributions


def test_centred_effects_say_the_same_linear_predictor(parts):
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


def test_a_theme_that_has_no_term_of_the_document_is_due_to_no_word():
    themes = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]])
    shares = word_shares(np.array([1.0, 2.0, 0.0]), np.array([1.0, 1.0, 0.0]), themes)
    np.testing.assert_allclose(shares.sum(axis=1), [1, 0, 0])
    assert (word_shares(np.ones(3), np.zeros(3), themes) == 0).all()


def test_given_labels_are_shown_and_others_are_made_of_terms(parts):
    plain = theme_table(**parts, terms=TERMS).set_index("theme")["label"]
    labels = [None, "my own", None, None, "<b>", None]
    shown = theme_table(**parts, terms=TERMS, labels=labels).set_index("theme")["label"]
    assert [shown[k] for k in range(6)] == [label or plain[k] for k, label in enumerate(labels)]
