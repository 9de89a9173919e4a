"""Words add up to clauses, clauses to themes, themes to the linear predictor, points to the prediction."""

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel
from textsignal.datasets import synthetic_reviews
from textsignal.insight.examples import WELL_OUTSIDE
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
    "two clauses": "Lovely lobby, but the room smelled; never again",
    "verdict": "Worst experience ever. Would not recommend.",
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
    assert linear.columns.tolist() == ["constant", *model.get_feature_names_out(), "unplaced"]


def test_clauses_add_up_to_themes_and_to_the_linear_predictor(model):
    table, linear = model.clauses(TEXTS), model.contributions(TEXTS)
    by_theme = table.pivot_table("contribution", "text", "theme", "sum", fill_value=0)
    places = [*range(len(model.theme_names)), -1]
    by_theme = by_theme.reindex(index=range(len(TEXTS)), columns=places, fill_value=0)
    np.testing.assert_allclose(by_theme, linear.drop(columns="constant"), atol=1e-10, rtol=0)
    np.testing.assert_allclose(
        linear["constant"] + by_theme.sum(axis=1), model.predictions(TEXTS).eta, atol=1e-10, rtol=0
    )
    np.testing.assert_allclose(table["tone"] + table["speaking"], table["contribution"], atol=1e-12)
    assert table["is_overall"].equals(table["theme"] == len(model.theme_names) - 1)


def test_clauses_of_training_add_up_by_tone_that_has_not_seen_their_responses(model):
    table, fitted = model.clauses(), model.reader_.fitted
    known, eta = fitted.training.clauses, model.reader_.known().eta
    sums = table.groupby("text")["contribution"].sum().reindex(range(len(TEXTS[::2])), fill_value=0)
    np.testing.assert_allclose(fitted.effects.baseline(known.evidence) + sums, eta, atol=1e-10, rtol=0)
    complaints = table[table["kind"] == "complaint"]
    expected = np.zeros((len(sums), fitted.n_places), dtype=bool)
    expected[complaints["text"], complaints["theme"]] = True
    np.testing.assert_array_equal(expected, known.of_texts(fitted.n_places).lowers)


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
    clauses, table, eta = explanation.clauses, explanation.themes, themes.predictions([text]).eta[0]
    assert explanation.linear_predictor == eta
    assert explanation.prediction == themes.predict([text])[0]
    # Words are the tone of clauses; clauses and themes each add up to the linear predictor ...
    tone = clauses["tone"].sum()
    assert explanation.words["contribution"].sum() == pytest.approx(tone, abs=1e-10)
    assert sum(mark.contribution for mark in explanation.marks) == pytest.approx(tone, abs=1e-10)
    assert table["tone"].sum() == pytest.approx(tone, abs=1e-10)
    assert explanation.baseline + table["contribution"].sum() == pytest.approx(eta, abs=1e-10)
    assert explanation.baseline + clauses["contribution"].sum() == pytest.approx(eta, abs=1e-10)
    of_clauses = clauses.groupby("theme")["contribution"].sum().reindex(table["theme"], fill_value=0)
    np.testing.assert_allclose(of_clauses, table["contribution"], atol=1e-10, rtol=0)
    # ... and points to the prediction.
    points = explanation.baseline_prediction + table["points"].sum()
    assert points == pytest.approx(explanation.prediction, abs=1e-10)
    for part in (table, clauses, explanation.words):
        np.testing.assert_allclose(part["points"], part["contribution"] * explanation.slope)


def values_of(model, reading):
    """(occurrences,) contribution of each feature to the tone of its clause."""
    fitted = model.reader_.fitted
    return fitted.words.values(reading.occurrences, reading.texts, reading.clauses.evidence, fitted.features.sizes)


def test_what_each_word_adds_is_its_formula(themes):
    features = themes.reader_.fitted.features
    negated = features.names[np.flatnonzero(features.kinds == NEGATED)[0]]
    text = f"The staff were {negated}. Lovely breakfast, lovely eggs!"
    explanation, reading = themes.explain(text), themes.read([text]).clauses
    gamma = themes.reader_.fitted.effects.gamma
    added = gamma[reading.clauses.places[reading.occurrences.sentences]] * values_of(themes, reading)
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


def test_what_each_clause_adds_is_its_formula(themes):
    """eta = baseline(evidence) + sum over clauses of gamma * tone + beta * share of the words * evidence."""
    texts = REVIEWS.texts[:50]
    table, reading, effects = themes.clauses(texts), themes.read(texts).clauses, themes.reader_.fitted.effects
    words, places = themes.reader_.fitted.words, reading.clauses.places
    evidence = reading.clauses.evidence[reading.texts.documents]
    n_words = np.diff(reading.texts.indptr)
    of_text = np.bincount(reading.texts.documents, n_words)[reading.texts.documents]
    np.testing.assert_allclose(table["speaking"], effects.beta[places] * n_words / of_text * evidence, atol=1e-12)
    # Tone is what its words are worth, and what its judgement is, by its share of the clauses; less where a text
    # tells little.
    found, sizes = reading.occurrences, themes.reader_.fitted.features.sizes
    judgement, tone = np.zeros((2, len(places)))
    squares = np.bincount(found.sentences, sizes[found.features] ** 2, len(places))
    np.add.at(judgement, found.sentences, sizes[found.features] * words.judgement[found.features])
    np.add.at(tone, found.sentences, found.values * words.tone[found.features])
    judgement = np.divide(judgement, np.sqrt(squares), out=np.zeros(len(places)), where=squares > 0)
    n_clauses = np.bincount(reading.texts.documents)[reading.texts.documents]
    expected = effects.gamma[places] * evidence * (tone + words.judged * judgement / n_clauses)
    np.testing.assert_allclose(table["tone"], expected, atol=1e-12)


def test_clauses_are_the_text_in_their_order(themes):
    text = "Friendly staff! The bathroom was dirty, and the shower cold.\nBreakfast 😀"
    table = themes.clauses([text])
    assert list(table.columns) == [
        *("text", "clause", "start", "end", "theme", "label", "is_overall"),
        *("kind", "judgement", "tone", "speaking", "contribution"),
    ]
    assert [text[row.start : row.end] for row in table.itertuples()] == table["clause"].tolist()
    assert table["clause"].tolist() == [
        *("Friendly staff!", "The bathroom was dirty,", "and the shower cold.", "Breakfast 😀")
    ]
    labels = [*themes.theme_names, "unplaced"]
    assert table["label"].tolist() == [labels[theme] for theme in table["theme"]]
    assert table["theme"].between(-1, 6).all()
    assert set(table["kind"]) <= {"praise", "neutral", "complaint"}
    assert table["kind"].iloc[[0, 1]].tolist() == ["praise", "complaint"]
    pd.testing.assert_frame_equal(themes.explain(text).clauses.drop(columns="points"), table.drop(columns="text"))
    assert themes.rename(int(table["theme"][1]), "dirt").clauses([text])["label"][1] == "dirt"


def test_kinds_follow_the_zone_and_the_side_of_tone(themes):
    table, zone = themes.clauses(REVIEWS.texts), themes.reader_.fitted.words.zone
    of_kind = table.groupby("kind")
    assert of_kind.size().sum() == len(table)
    assert of_kind["judgement"].min()["praise"] > zone.high
    assert of_kind["judgement"].max()["complaint"] < zone.low
    gamma = themes.reader_.fitted.effects.gamma
    assert (gamma >= 0).all()
    assert of_kind["tone"].min()["praise"] >= 0
    assert of_kind["tone"].max()["complaint"] <= 0
    inside = table["judgement"].between(zone.low, zone.high)
    assert (table.loc[inside, "kind"] == "neutral").all()


def test_clauses_of_a_text_without_words_add_nothing(themes):
    assert themes.clauses([""]).empty
    assert themes.clauses(["?!"])["contribution"].abs().sum() == 0


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


class TestFoundClauses:
    @pytest.mark.parametrize("theme", range(7))
    @pytest.mark.parametrize("good", [True, False, None])
    def test_each_is_of_another_document_and_about_the_theme(self, themes, theme, good):
        found, zone = themes.find_clauses(theme, n=8, good=good), themes.reader_.fitted.words.zone
        assert list(found.columns) == ["row", "clause", "response", "judgement", "contribution"]
        assert found["row"].is_unique
        for row in found.itertuples():
            text = REVIEWS.texts[row.row]
            table = themes.clauses([text]).set_index("clause").loc[[row.clause]].iloc[0]
            assert row.clause in text
            assert table["theme"] == theme
            assert row.judgement == pytest.approx(table["judgement"], abs=1e-12)
            assert row.contribution == pytest.approx(table["contribution"], abs=1e-12)
            assert row.response == REVIEWS.ratings[row.row]
            if good is not None:
                assert table["kind"] == ("praise" if good else "complaint")
                assert abs(row.judgement) > WELL_OUTSIDE * (zone.high if good else -zone.low)

    def test_every_theme_of_its_own_is_illustrated(self, themes):
        assert all(len(themes.find_clauses(theme, n=3, good=None)) == 3 for theme in range(6))

    def test_texts_may_be_others_without_responses(self, themes):
        texts = REVIEWS.texts[400:500]
        found = themes.find_clauses(0, n=5, good=None, texts=texts)
        assert len(found) == 5
        assert found["response"].isna().all()
        assert all(row.clause in texts[row.row] for row in found.itertuples())
        rated = themes.find_clauses(0, n=5, good=None, texts=texts, responses=REVIEWS.ratings[400:500])
        assert rated["response"].tolist() == REVIEWS.ratings[400:500][rated["row"]].tolist()
        assert rated.drop(columns="response").equals(found.drop(columns="response"))

    def test_a_theme_is_given_by_number_or_label(self, themes):
        named = themes.rename(2, "mine")
        assert named.find_clauses("mine", n=3).equals(themes.find_clauses(2, n=3))

    def test_where_nothing_is_said_nothing_is_found(self, themes):
        assert themes.find_clauses(0, texts=["", "xylophone"]).empty

    def test_no_clause_is_shown_twice(self, themes):
        texts = ["The bathroom was very dirty."] * 5 + ["The bathroom was VERY dirty!"]
        theme = int(themes.transform(texts[:1]).argmax())
        assert len(themes.find_clauses(theme, good=None, texts=texts)) == 1
