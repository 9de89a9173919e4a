"""Laws of verdicts: clauses that judge the whole are separated from those on themes."""

import numpy as np
import pytest

from textsignal import TextResponseModel
from textsignal.text.tokens import read_sentences
from textsignal.training.verdict import LEAST_OFTEN, learn_verdict

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
