"""Laws of verdicts and places: what judges the whole is told apart from themes, and every clause has one place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal import TextResponseModel
from textsignal.compute.engines.local import local_compute
from textsignal.datasets import synthetic_reviews
from textsignal.text.scanning import APART
from textsignal.text.tokens import read_sentences
from textsignal.training.theme_model import read_together
from textsignal.training.verdict import (
    CLEAR,
    JUDGES,
    LEAST_OFTEN,
    NAMED,
    NEARBY,
    REFERS,
    best_themes,
    kinds_of,
    learn_verdict,
    names_themes,
    place_clauses,
)

#: What people say of each theme, of good and of bad ones; and verdicts, in words that no list has.
THEMES = {
    "food": (
        ["The soup was tasty.", "Tender steak and crisp salad."],
        ["The soup was bland.", "Burnt steak, soggy salad."],
    ),
    "room": (
        ["The bed was soft.", "A spotless bathroom and shower."],
        ["The bed was lumpy.", "A filthy bathroom and shower."],
    ),
    "staff": (
        ["The waiter was friendly.", "A kind clerk at reception."],
        ["The waiter was rude.", "A surly clerk at reception."],
    ),
    "place": (["Near the beach and harbour.", "A calm street."], ["Far from beach and harbour.", "A noisy street."]),
}
VERDICTS = (
    ["Grumfly plimo altogether!", "Zorbing marvel tout."],
    ["Grumfly dreck altogether!", "Zorbing fiasco tout."],
)
N = 900


def corpus(n=N, seed=0):
    """Texts of sentences on themes with a verdict at the end, and their responses by all of these."""
    rng = np.random.default_rng(seed)
    texts, responses = [], []
    for _ in range(n):
        good, said = rng.random() < 0.5, []
        for theme in rng.choice(list(THEMES), 3, replace=False):
            side = int(rng.random() < (0.25 if good else 0.75))
            said.append(THEMES[theme][side][rng.integers(2)])
        said.append(VERDICTS[int(not good)][rng.integers(2)])
        texts.append(" ".join(said))
        responses.append(4.0 * good + rng.integers(0, 2))
    return texts, np.array(responses)


TEXTS, RESPONSES = corpus()


def fit(texts=TEXTS, responses=RESPONSES, **options):
    return TextResponseModel(**{"n_themes": 4, "n_jobs": 1, "lexicon": None} | options).fit(texts, responses)


@pytest.fixture(scope="module")
def model():
    return fit()


class TestPlantedVerdicts:
    @pytest.mark.parametrize("language", ["english", None])
    def test_they_are_learnt_not_listed(self, model, language):
        one = model if language else fit(language=None, stop_words=["the", "was", "and"])
        texts, _ = corpus(200, seed=1)
        table = one.clauses(texts)
        planted = np.array([clause.split()[0] in ("Grumfly", "Zorbing") for clause in table["clause"]])
        assert planted.sum() == 200
        assert table["is_overall"][planted].mean() > 0.9
        assert not table["is_overall"][~planted].mean() > 0.1

    def test_they_carry_what_they_say(self, model):
        good, bad = (model.contributions([" ".join(each)]).iloc[0] for each in VERDICTS)
        overall = model.theme_names[-1]
        assert good[overall] > 0 > bad[overall]
        themes = list(model.theme_names[:-1])
        assert np.abs(good[themes]).max() == np.abs(bad[themes]).max() == 0

    def test_the_overall_verdict_is_the_last_of_the_themes_and_flagged(self, model):
        drivers = model.drivers()
        assert len(drivers) == 5
        assert drivers.set_index("theme")["is_overall"].sort_index().tolist() == [False] * 4 + [True]
        assert model.reader_.fitted.n_themes == 4
        assert len(model.components_) == len(model.theme_names) == 5

    def test_words_of_themes_are_not_those_of_verdicts(self, model):
        scores, _ = model.reader_.fitted.verdict.of_words(["grumfly", "altogether", "zorbing", "soup", "bathroom"])
        assert (scores[:3] > 1).all()
        assert (scores[3:] < 0).all()

    def test_what_is_about_nothing_is_unplaced(self, model):
        table = model.clauses(["It was on a Tuesday in the xylophone.", "Quagmire."])
        assert table["theme"].tolist() == [-1, -1]
        assert table["label"].tolist() == ["unplaced", "unplaced"]
        assert not table["is_overall"].any()

    def test_it_refers_to_the_clause_before(self, model):
        table = model.clauses(["The soup was served late. It stood around for ages."])
        assert table["theme"][0] >= 0
        assert table["theme"][1] == table["theme"][0]


class TestLearning:
    def learnt(self, texts, judgement=None, weight=None, listed=(), of_words=None):
        read = read_sentences(texts)
        last = np.zeros(len(read.documents))
        last[read.sentence_ends[1:] - 1] = 1.0
        judgement = last + 0.2 if judgement is None else judgement
        weight = np.ones(len(texts)) if weight is None else weight
        of_words = np.zeros(len(read.words)) if of_words is None else of_words
        return learn_verdict(read, judgement, of_words, weight, listed)

    def test_words_at_the_end_that_judge_are_those_of_verdicts(self):
        verdict = self.learnt(TEXTS)
        assert verdict.of_words(["grumfly"])[0][0] > 1
        assert verdict.of_words(["soup"])[0][0] < 0
        assert verdict.bias < 0

    def test_where_nothing_is_judged_nothing_is_a_verdict(self):
        read = read_sentences(TEXTS)
        verdict = self.learnt(TEXTS, np.zeros(len(read.documents)))
        assert not verdict.scores.any()
        assert verdict.bias == 0

    def test_the_order_of_texts_does_not_matter(self):
        one, other = self.learnt(TEXTS), self.learnt(TEXTS[::-1])
        assert set(one.words) == set(other.words)
        np.testing.assert_allclose(other.of_words(one.words)[0], one.scores, atol=1e-9)
        assert other.bias == pytest.approx(one.bias, abs=1e-9)

    def test_integer_weights_are_repeated_texts(self):
        weight = np.arange(300) % 3
        rows = np.repeat(np.arange(300), weight)
        one, other = self.learnt(TEXTS[:300], weight=weight.astype(float)), self.learnt([TEXTS[i] for i in rows])
        scores = other.of_words(one.words)[0]
        np.testing.assert_allclose(scores, one.scores, atol=1e-9)
        assert other.bias == pytest.approx(one.bias, abs=1e-9)

    def test_texts_without_weight_teach_nothing(self):
        weight = np.r_[np.ones(300), np.zeros(len(TEXTS) - 300)]
        one, other = self.learnt(TEXTS, weight=weight), self.learnt(TEXTS[:300])
        assert set(one.words) == set(other.words)
        np.testing.assert_allclose(other.of_words(one.words)[0], one.scores, atol=1e-9)

    def test_rare_words_have_no_score(self):
        verdict = self.learnt([*TEXTS, *["Quagmire!"] * (LEAST_OFTEN - 1)])
        assert "quagmire" not in verdict.words
        assert verdict.of_words(["quagmire"])[0][0] == 0
        assert "quagmire" in self.learnt([*TEXTS, *["Quagmire!"] * LEAST_OFTEN]).words

    def test_a_listed_word_counts_as_one_of_verdicts(self):
        plain, listed = self.learnt(TEXTS), self.learnt(TEXTS, listed={"street"})
        word = ["street"]
        assert listed.of_words(word)[0][0] > plain.of_words(word)[0][0] + 0.5

    def test_words_judge_by_themselves_if_they_are_strong_and_not_rare(self):
        read = read_sentences([*TEXTS, "Quagmire!"])
        strong = np.array([2.0 if word in ("tasty", "quagmire") else 0.1 for word in read.words])
        verdict = self.learnt([*TEXTS, "Quagmire!"], of_words=strong)
        assert verdict.of_words(["tasty", "soup", "quagmire"])[1].tolist() == [True, False, False]


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
    named = [random.randint(0, 2) if theme >= 0 else 0 for theme in themes]
    expected, clause = [], 0
    for document in documents:
        before = -1
        for number, (words, joined) in enumerate(document):
            of_words = [scores[word] for word in words]
            follows = (number > 0 and joined) or (bool(words) and refers[words[0]])
            score, strongest = bias + sum(of_words), max([0.0, *of_words])
            if not words:
                place = N_THEMES + 1
            elif score > (NAMED if named[clause] == 2 else 0) or (named[clause] < 2 and strongest > CLEAR):
                place = N_THEMES
            elif named[clause] > 0:
                place = themes[clause]
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
    """The theme of a clause has most of its own weight, and part of that of the others in its sentence."""
    texts = Texts(documents)
    weights = np.random.default_rng(seed).integers(0, 4, (len(texts.clauses), N_THEMES)).astype(float)
    joined = texts.loops.joined
    sentences = np.cumsum(joined == APART)
    indptr, indices = texts.loops.indptr, texts.loops.codes
    every = (texts.loops, 0, len(documents))
    found = best_themes(weights, *every, indptr, indices, np.array(names), N_THEMES)
    for u, words in enumerate(texts.clauses):
        beside = [v for v in range(len(sentences)) if sentences[v] == sentences[u] and v != u]
        value = weights[u] + NEARBY * sum((weights[v] for v in beside), np.zeros(N_THEMES))
        assert found[u, 0] == (int(np.argmax(value)) if value.max() > 0 else -1)
        of_sentence = any(names[word] for v in beside for word in texts.clauses[v])
        assert found[u, 1] == (2 if any(names[word] for word in words) else int(of_sentence))


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
