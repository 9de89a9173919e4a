"""Laws of places: terms vote for themes, and every clause is in one place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal import TextResponseModel
from textsignal.compute.engines.local import local_compute
from textsignal.datasets import synthetic_reviews
from textsignal.text.scanning import APART
from textsignal.text.tokens import read_sentences
from textsignal.training.places import (
    CLEAR,
    CLEAR_TYPICAL,
    JUDGES,
    NAMED,
    NEXT,
    REFERS,
    SENTENCE,
    STEPS,
    SURE,
    TYPICAL,
    UNNAMED,
    Votes,
    best_themes,
    kinds_of,
    names_themes,
    place_clauses,
)
from textsignal.training.theme_model import read_together
from textsignal.training.verdict import learn_verdict


class TestNames:
    def named(self, profiles, scores=None, language=None, terms=None):
        profiles = np.asarray(profiles, dtype=float)
        terms = [f"t{j}" for j in range(profiles.shape[1])] if terms is None else terms
        read = read_sentences(["nothing at all"])
        verdict = learn_verdict(read, np.zeros(1), np.zeros(len(read.words)), np.ones(1), ())
        return names_themes(verdict, terms, profiles, np.full(len(profiles), 1 / len(profiles)), language).tolist()

    def test_a_term_of_one_theme_names_it_and_one_of_all_names_none(self):
        profiles = np.full((14, 15), 1e-9)
        profiles[np.arange(14), np.arange(14)] = 0.5
        profiles[:, 14] = 0.5
        assert self.named(profiles) == [True] * 14 + [False]

    def test_words_that_judge_a_thing_without_describing_it_name_none(self):
        profiles = np.full((14, 14), 1e-9) + 0.5 * np.eye(14)
        terms = ["best", *(f"t{j}" for j in range(13))]
        assert self.named(profiles, language="english", terms=terms) == [False] + [True] * 13
        assert self.named(profiles, terms=terms) == [True] * 14


#: Clauses of words 0 to 5; texts of clauses, whether each is joined to the one before.
CLAUSE = st.lists(st.integers(0, 5), max_size=4)
DOCUMENTS = st.lists(st.lists(st.tuples(CLAUSE, st.booleans()), max_size=5), min_size=1, max_size=4)
NUMBERS = st.lists(st.floats(-3, 3), min_size=6, max_size=6)
FLAGS = st.lists(st.booleans(), min_size=6, max_size=6)
N_THEMES = 3


class Texts:
    """Texts, for compiled loops, made of numbers of words."""

    def __init__(self, documents):
        clauses = [clause for document in documents for clause, _ in document]
        words = [word for clause in clauses for word in clause]
        joined = [number > 0 and joined for document in documents for number, (_, joined) in enumerate(document)]
        like = read_sentences(["a b"]).between(0, 1)
        self.loops = like._replace(
            ends=np.cumsum([0, *map(len, documents)]),
            indptr=np.cumsum([0, *map(len, clauses)]),
            codes=np.array(words, np.int32),
            under=np.zeros(len(words), bool),
            negated=np.zeros(len(words), bool),
            joined=np.array(joined, np.int8),
        )
        self.clauses, self.documents = clauses, documents


@given(DOCUMENTS, NUMBERS, FLAGS, FLAGS, st.floats(-2, 2), st.randoms(use_true_random=False))
def test_places_are_those_of_plain_python(documents, scores, judges, refers, bias, random):
    texts = Texts(documents)
    themes = [random.randint(-1, N_THEMES - 1) for _ in texts.clauses]
    named = [random.randint(0, 2) for _ in themes]
    expected, clause = [], 0
    for document in documents:
        before = -1
        for number, (words, joined) in enumerate(document):
            of_words = [scores[word] for word in words]
            follows = (number > 0 and joined) or (bool(words) and refers[words[0]])
            score, strongest = bias + sum(of_words), max([0.0, *of_words])
            if not words:
                place = N_THEMES + 1
            elif score > (NAMED if named[clause] == 2 else 0) or (named[clause] < 2 and strongest > SURE):
                place = N_THEMES
            elif named[clause] > 0:
                place = themes[clause] if themes[clause] >= 0 else N_THEMES + 1
            elif follows and 0 <= before < N_THEMES:
                place = before
            elif any(judges[word] for word in words):
                place = N_THEMES
            else:
                place = N_THEMES + 1
            expected.append(place)
            before, clause = place, clause + 1
    best = np.array(list(zip(themes, named, strict=True)), np.int64).reshape(-1, 2)
    places = np.full(len(texts.clauses), -9, np.int16)
    kinds = kinds_of(np.array(judges), np.array(refers))
    every = (texts.loops, 0, len(documents))
    place_clauses(*every, np.array(scores), kinds, bias, best, N_THEMES, places)
    assert places.tolist() == expected
    assert all(0 <= place <= N_THEMES + 1 for place in expected)


@given(DOCUMENTS, FLAGS, st.integers(0, 99))
def test_themes_of_clauses_are_those_of_plain_python(documents, names, seed):
    """A clause has its own votes, part of those of its sentence, and part of those of the sentences next to it."""
    texts = Texts(documents)
    votes = np.random.default_rng(seed).integers(0, 4, (6, N_THEMES)) / 2
    own = [sum((votes[word] for word in words), np.zeros(N_THEMES)) for words in texts.clauses]
    text = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    starts = (texts.loops.joined == APART) | (np.diff(text, prepend=-1) > 0)
    sentences = np.cumsum(starts)
    indptr, indices = texts.loops.indptr, texts.loops.codes
    every, typical = (texts.loops, 0, len(documents)), votes > 1
    found = best_themes(votes, typical, np.array(names), *every, indptr, indices, np.ones(len(indices)))
    for u, words in enumerate(texts.clauses):
        others = [v for v in range(len(text)) if text[v] == text[u] and v != u]
        apart = {v: abs(sentences[v] - sentences[u]) for v in others}
        value = own[u].copy()
        for v, distance in apart.items():
            value += {0: SENTENCE, 1: NEXT}.get(int(distance), 0.0) * own[v]
        best = np.flatnonzero(value > value.max() - 1e-9)
        least = [CLEAR_TYPICAL if any(typical[word, k] for word in words) else CLEAR for k in best]
        clear = {int(k) for k, c in zip(best, least, strict=True) if value[k] > 0 and value[k] >= c * (value.sum() + 1)}
        if len(best) == 1:  # rounding decides between equal sums
            assert found[u, 0] in (clear or {-1})
        else:
            assert found[u, 0] in {-1, *clear}
        of_sentence = any(names[word] for v, distance in apart.items() if distance == 0 for word in texts.clauses[v])
        assert found[u, 1] == (2 if any(names[word] for word in words) else int(of_sentence))


class TestVotes:
    def votes(self, profiles, names=None):
        profiles = np.asarray(profiles, dtype=float)
        names = np.ones(profiles.shape[1], dtype=bool) if names is None else np.array(names)
        return Votes.of(profiles, np.full(len(profiles), 1 / len(profiles)), names).of_terms

    def test_a_term_of_one_theme_votes_for_it_and_one_of_all_does_not_vote(self):
        votes = self.votes([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
        assert votes[0, 0] == votes[1, 1] > 2
        assert not votes[0, 1]
        assert not votes[2].any()

    def test_a_term_that_names_no_theme_has_part_of_a_vote(self):
        profiles = np.eye(3)
        np.testing.assert_allclose(self.votes(profiles, [False] * 3), UNNAMED * self.votes(profiles), atol=1 / STEPS)

    @pytest.mark.parametrize("n_themes", [1, 2, 5, 30])
    def test_one_term_of_one_theme_is_enough_whatever_the_number_of_themes(self, n_themes):
        votes = self.votes(np.eye(n_themes))
        assert (votes.max(axis=1) >= CLEAR * (votes.sum(axis=1) + 1)).all()

    def test_typical_terms_are_those_with_the_largest_shares(self):
        profiles = np.random.default_rng(0).dirichlet(np.ones(50), 3)
        typical = Votes.of(profiles, np.full(3, 1 / 3), np.ones(50, dtype=bool)).typical
        for k in range(3):
            assert {*np.flatnonzero(typical[:, k])} == {*np.argsort(-profiles[k])[:TYPICAL]}

    def test_votes_fit_into_two_bytes(self):
        votes = self.votes(np.random.default_rng(0).dirichlet(np.full(40, 0.1), 12)) * STEPS
        np.testing.assert_array_equal(votes, votes.astype(np.uint16))


def test_kinds_of_words():
    kinds = kinds_of(np.array([True, False, True, False]), np.array([True, True, False, False]))
    assert kinds.tolist() == [JUDGES | REFERS, REFERS, JUDGES, 0]


@pytest.mark.parametrize("n_themes", [1, 2, 6])
def test_places_of_a_model_are_themes_the_overall_verdict_or_none(n_themes):
    reviews = synthetic_reviews(300, seed=5)
    model = TextResponseModel(n_themes, n_jobs=1).fit(reviews.texts, reviews.ratings)
    fitted, texts = model.reader_.fitted, read_sentences([*reviews.texts, "", "?!", "Xylophone."])
    with local_compute(1) as compute:
        (reading,) = read_together([fitted], texts, compute)
    places = reading.clauses.places
    assert places.min() >= 0
    assert places.max() <= n_themes + 1
    assert set(range(n_themes)) <= set(places.tolist())
    np.testing.assert_allclose(fitted.prevalence.sum(), 1)
    words = np.bincount(fitted.training.clauses.places, fitted.training.clauses.words, n_themes + 2)
    np.testing.assert_allclose(fitted.prevalence, words / words.sum(), atol=1e-12)
