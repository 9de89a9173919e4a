"""Words add up to sentences, sentences to themes, themes to the linear predictor, points to the prediction."""

import numpy as np
import pytest

from textsignal import TextResponseModel
from textsignal.datasets import synthetic_reviews
from textsignal.text.features import NEGATED

REVIEWS = synthetic_reviews(1000, seed=6)
#: Texts that people write and texts that nobody does.
ODD = {
    "empty": "",
    "space": " \n\t ",
    "one word": "breakfast",
    "one letter": "x",
    "unknown words": "xylophone zeppelin",
    "stop words": "the and of",
    "numbers": "10 1,000.50 3/5",
    "punctuation": "?! ... ;;; --",
    "emoji": "😀😀 👍🏽 🇩🇪 ❤️",
    "emoji and words": "Great staff 😀! Dirty bathroom 😡",
    "HTML": '<div class="x"><script>breakfast()</script>Dirty&nbsp;<b>bathroom</b><br/>Friendly &amp; helpful</div>',
    "negations": "Not clean. Never dirty. No problems at all, nothing rude; not not friendly",
    "only a negation": "Not.",
    "shouting": "DIRTY BATHROOM!!! FRIENDLY STAFF",
    "no punctuation": "the staff were friendly " * 40,
    "no letter": "日本 の ホテル。部屋 が 汚い。",
    "mixed": "Schönes Zimmer, friendly staff, pas de bruit",
    "surrogate": "half \ud83d a smile, dirty room",
    "null": "dirty\x00room \x1b[31m staff",
    "long word": "a" * 10_000,
    "abbreviations": "Mr. Smith vs. the clerk at 5 p.m. e.g. waited. Good.",
}
LONG = " ".join(np.random.default_rng(0).choice(" ".join(REVIEWS.texts).split(), size=100_000))
TEXTS = [*REVIEWS.texts, *ODD.values(), LONG]


@pytest.fixture(scope="module", params=["themes", "no language", "one theme"])
def model(request):
    options = {"themes": {}, "no language": {"language": None, "stop_words": ["the"]}, "one theme": {"n_themes": 1}}
    return TextResponseModel(**({"n_themes": 6} | options[request.param])).fit(TEXTS[::2], RATINGS[::2])


RATINGS = np.append(REVIEWS.ratings, np.arange(len(ODD) + 1) % 5 + 1)


@pytest.fixture(scope="module")
def themes():
    return TextResponseModel(6).fit(REVIEWS.texts[:400], REVIEWS.ratings[:400])


def test_contributions_add_up_on_both_scales(model):
    predictions = model.predictions(TEXTS)
    assert np.isfinite(predictions.eta).all()
    linear, points = model.contributions(TEXTS), model.contributions(TEXTS, scale="response")
    np.testing.assert_allclose(linear.sum(axis=1), predictions.eta, atol=1e-10, rtol=0)
    np.testing.assert_allclose(points.sum(axis=1), predictions.mean, atol=1e-10, rtol=0)
    np.testing.assert_allclose(points["constant"], model.reader_.family.mean(linear["constant"].to_numpy()))
    # A contribution has one sign on both scales: more of the linear predictor is more of the response.
    assert (np.sign(points.drop(columns="constant")) == np.sign(linear.drop(columns="constant"))).all(axis=None)
    assert linear.columns.tolist() == ["constant", *model.get_feature_names_out()]


def test_contributions_are_those_of_the_document_alone(model):
    together = model.contributions(TEXTS)
    for row in (0, 17, len(REVIEWS.texts) + 3, len(TEXTS) - 1):
        np.testing.assert_array_equal(model.contributions([TEXTS[row]]).iloc[0], together.iloc[row])


def test_columns_of_contributions_differ_though_labels_are_alike(themes):
    other = themes.themes().set_index("theme")["label"][1]
    assert themes.rename(0, other).contributions(["x"]).columns.is_unique


@pytest.mark.parametrize("text", [*REVIEWS.texts[:20], *ODD.values()], ids=[*map(str, range(20)), *ODD])
def test_every_part_of_an_explanation_adds_up(themes, text):
    explanation = themes.explain(text)
    sentences, table, eta = explanation.sentences, explanation.themes, themes.predictions([text]).eta[0]
    assert explanation.linear_predictor == eta
    assert explanation.prediction == themes.predict([text])[0]
    # Words are the tone of sentences; sentences and themes each add up to the linear predictor ...
    tone = sentences["tone"].sum()
    assert explanation.words["contribution"].sum() == pytest.approx(tone, abs=1e-10)
    assert sum(mark.contribution for mark in explanation.marks) == pytest.approx(tone, abs=1e-10)
    assert table["tone"].sum() == pytest.approx(tone, abs=1e-10)
    assert explanation.baseline + table["contribution"].sum() == pytest.approx(eta, abs=1e-10)
    assert explanation.baseline + sentences["contribution"].sum() == pytest.approx(eta, abs=1e-10)
    # ... and points to the prediction.
    points = explanation.baseline_prediction + table["points"].sum()
    assert points == pytest.approx(explanation.prediction, abs=1e-10)
    for part in (table, sentences, explanation.words):
        np.testing.assert_allclose(part["points"], part["contribution"] * explanation.slope)


def test_what_each_sentence_and_word_adds_is_its_formula(themes):
    features = themes.reader_.fitted.features
    negated = features.names[np.flatnonzero(features.kinds == NEGATED)[0]]
    text = f"The staff were {negated}. Lovely breakfast, lovely eggs!"
    explanation, reading = themes.explain(text), themes.read([text]).clauses
    gamma = themes.reader_.fitted.effects.gamma
    added = (reading.places[reading.occurrences.sentences] @ gamma) * reading.values
    texts = reading.texts
    expected = np.zeros(len(texts.codes))
    for word, j, value in zip(reading.occurrences.words, reading.occurrences.features, added, strict=True):
        parts = [word - 1, word] if features.is_phrase[j] else [word]
        expected[parts] += value / len(parts)
    names = [("not " if no else "") + texts.words[code] for code, no in zip(texts.codes, texts.negated, strict=True)]
    for row in explanation.words.itertuples():
        here = [value for name, value in zip(names, expected, strict=True) if name == row.word]
        assert row.count == len(here)
        assert row.contribution == pytest.approx(sum(here), abs=1e-12)
    assert negated in set(explanation.words["word"])
    assert negated.removeprefix("not ") not in set(explanation.words["word"])
    assert explanation.words.set_index("word").loc["lovely", "count"] == 2


def test_sentences_are_the_text_in_their_order(themes):
    text = "Friendly staff! The bathroom was dirty, and the shower cold.\nBreakfast 😀"
    table = themes.sentences(text)
    assert list(table.columns) == [
        *("sentence", "start", "end", "theme", "label", "share", "tone", "speaking", "contribution")
    ]
    assert [text[row.start : row.end] for row in table.itertuples()] == table["sentence"].tolist()
    assert table["sentence"].tolist() == [part.strip() for part in text.replace("!", "!\n").split("\n")]
    labels = themes.themes()["label"]
    assert table["label"].tolist() == labels[table["theme"]].tolist()
    np.testing.assert_allclose(table["tone"] + table["speaking"], table["contribution"])
    assert table["share"].between(1 / 6, 1).all()
    assert themes.explain(text).sentences.drop(columns="points").equals(table)
    assert themes.rename(int(table["theme"][1]), "dirt").sentences(text)["label"][1] == "dirt"


def test_sentences_of_a_text_without_words_add_nothing(themes):
    assert themes.sentences("").empty
    assert themes.sentences("?!")["contribution"].abs().sum() == 0


def test_marks_hold_the_words_where_they_stand(themes):
    text = "Not DIRTY!\nThe staﬀ were friendly 👍🏽 <b>breakfast</b>"
    explanation = themes.explain(text)
    assert explanation.text == text.replace("<b>", "").replace("</b>", "")
    marked = [explanation.text[mark.start : mark.end] for mark in explanation.marks]
    assert marked == ["Not", "DIRTY", "The", "staﬀ", "were", "friendly", "👍🏽", "breakfast"]


def test_unknown_words_are_listed_once_as_they_are_meant(themes):
    explanation = themes.explain("Xylophone staff, the xylophone was not a zeppelin.")
    assert explanation.unknown_words == ("xylophone", "not zeppelin")
    assert "Not in the model: xylophone, not zeppelin" in repr(explanation)


def test_a_text_that_says_nothing_is_the_baseline(themes):
    explanation, again = themes.explain(""), themes.explain("!")
    assert explanation.prediction == pytest.approx(explanation.baseline_prediction, abs=1e-10)
    assert explanation.prediction == again.prediction
    assert explanation.unknown
    assert explanation.words.empty


class TestFoundSentences:
    @pytest.mark.parametrize("theme", range(6))
    @pytest.mark.parametrize("good", [True, False, None])
    def test_each_is_of_another_document_and_about_the_theme(self, themes, theme, good):
        found = themes.find_sentences(theme, n=8, good=good)
        assert list(found.columns) == ["row", "sentence", "response", "share", "contribution"]
        assert found["row"].is_unique
        assert (found["share"] >= 0.5).all()
        for row in found.itertuples():
            text = REVIEWS.texts[row.row]
            table = themes.sentences(text).set_index("sentence").loc[row.sentence]
            assert row.sentence in text
            assert table["theme"] == theme
            assert row.share == pytest.approx(table["share"])
            assert row.contribution == pytest.approx(table["contribution"])
            assert row.response == REVIEWS.ratings[row.row]
            if good is not None:
                assert (table["tone"] > 0) == good

    def test_texts_may_be_others_without_responses(self, themes):
        texts = REVIEWS.texts[400:500]
        found = themes.find_sentences(0, n=5, good=None, texts=texts)
        assert found["response"].isna().all()
        assert all(row.sentence in texts[row.row] for row in found.itertuples())
        rated = themes.find_sentences(0, n=5, good=None, texts=texts, responses=REVIEWS.ratings[400:500])
        assert rated["response"].tolist() == REVIEWS.ratings[400:500][rated["row"]].tolist()
        assert rated.drop(columns="response").equals(found.drop(columns="response"))

    def test_a_theme_is_given_by_number_or_label(self, themes):
        named = themes.rename(2, "mine")
        assert named.find_sentences("mine", n=3).equals(themes.find_sentences(2, n=3))

    def test_where_nothing_is_said_nothing_is_found(self, themes):
        assert themes.find_sentences(0, texts=["", "xylophone"]).empty

    def test_no_sentence_is_shown_twice(self, themes):
        texts = ["The bathroom was dirty and the shower smelled."] * 5 + [
            "The bathroom was dirty, and the SHOWER smelled!"
        ]
        theme = int(themes.transform(texts[:1]).argmax())
        assert len(themes.find_sentences(theme, good=None, texts=texts)) == 1
