"""What a report says, checked against the model and the documents themselves."""

from dataclasses import replace

import numpy as np
import pytest
from small_reviews import HELD_OUT, N_TRAINING, REVIEWS, SETTINGS, N

from textsignal import JBNMF, TextResponseModel, evaluate
from textsignal.errors import InputError
from textsignal.report.values.evidence import TEXT_CAP, excerpt, segments, topic_marks
from textsignal.report.values.prepare import prepare


@pytest.fixture(scope="module", params=["predictive", "joint"])
def model(request, models):
    return models[request.param]


@pytest.fixture(scope="module")
def report(model):
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def shares_of(model):
    return model.read(REVIEWS.texts).predictions.shares


def test_shares_of_text_are_what_each_topic_explains_without_what_smoothing_adds(model):
    weights = model.transform(REVIEWS.texts) * model.estimator_.components_.sum(axis=1)
    text = np.maximum(weights - model.estimator_.inference.smoothing, 0)
    np.testing.assert_allclose(shares_of(model), text / text.sum(axis=1, keepdims=True), rtol=0, atol=1e-5)


def test_topics_are_those_of_the_model_by_size_of_their_effect(report, model):
    table = model.topics(15).set_index("topic")
    assert sorted(topic.number for topic in report.topics) == sorted(table.index)
    sizes = [abs(topic.response_effect) for topic in report.topics]
    assert sizes == sorted(sizes, reverse=True)
    for topic in report.topics:
        row = table.loc[topic.number]
        assert (topic.label, list(topic.terms)) == (row.label, row.terms)
        assert (topic.effect, topic.prevalence, topic.coherence) == (row.effect, row.prevalence, row.coherence)
        assert topic.interval is None
    assert len({topic.color for topic in report.topics}) == len(report.topics)


def test_effects_on_the_response_have_the_sign_of_the_coefficient(report):
    # The effect is against the average text, from which the topic's own share is taken.
    for topic in report.topics:
        if abs(topic.effect) > 0.05:
            assert np.sign(topic.response_effect) == np.sign(topic.effect)


def test_documents_led_by_a_topic(report, model):
    leader = shares_of(model).argmax(axis=1)
    assert sum(topic.led for topic in report.topics) == N
    for topic in report.topics:
        ratings = REVIEWS.ratings[leader == topic.number]
        assert topic.led == ratings.size
        assert topic.led_mean == pytest.approx(ratings.mean())
        found = [bar.value for bar in topic.led_responses]
        assert found == pytest.approx([np.mean(ratings == level) for level in range(1, 6)])


def test_evidence_is_led_by_the_topic_and_shown_as_it_is(report, model):
    shares = shares_of(model)
    for topic in report.topics:
        kinds = {"typical": topic.evidence.typical, "high": topic.evidence.high, "low": topic.evidence.low}
        shown = [document for documents in kinds.values() for document in documents]
        assert len({document.row for document in shown}) == len(shown)
        for document in shown:
            row = document.row - 1
            text = "".join(segment.text for segment in document.segments)
            assert text in REVIEWS.texts[row]
            assert (text == REVIEWS.texts[row]) == (not document.cut_before and not document.cut_after)
            assert shares[row].argmax() == topic.number
            assert document.share == pytest.approx(shares[row, topic.number], abs=1e-6)
            assert (document.response, document.held_out) == (REVIEWS.ratings[row], HELD_OUT[row])
        assert all(document.response >= 4 for document in kinds["high"])
        assert all(document.response <= 2 for document in kinds["low"])


def test_marked_words_are_terms_that_the_topic_explains(model):
    components, terms = model.estimator_.components_, model.vectorizer_.vocabulary_
    text = max(REVIEWS.texts[:50], key=len)
    weights = model.transform([text])[0]
    topic = int(np.argmax(weights * components.sum(axis=1)))
    marks = topic_marks(model, text, weights, topic)
    assert marks.max() > 0
    marked = [part.text.lower() for part in segments(text, marks, 0, len(text)) if part.mark]
    for word in marked:
        if word in terms:
            parts = weights * components[:, terms[word]]
            assert parts[topic] >= 0.499 * parts.sum()


def test_long_texts_are_cut_to_the_stretch_with_most_marks():
    text = "word " * 400 + "dirty bathroom " * 20 + "word " * 400
    marks = np.array([letter in "dirtybathroom" and 2000 <= i < 2300 for i, letter in enumerate(text)], dtype=np.int8)
    start, end = excerpt(text, marks)
    assert 500 < end - start <= TEXT_CAP
    assert text[start - 1] == text[end] == " "
    assert marks[start:end].sum() == marks.sum()
    assert excerpt("short", np.zeros(5, dtype=np.int8)) == (0, 5)
    assert excerpt("x" * 5000, np.zeros(5000, dtype=np.int8), cap=100)[1] <= 5000


def test_skill_is_that_of_the_model(report, model):
    ours = report.prediction.rows[0]
    new = slice(N_TRAINING, None)
    predicted = model.predict(REVIEWS.texts[new])
    assert report.prediction.held_out
    assert ours.held_out.documents == N - N_TRAINING
    assert ours.held_out.r2 == pytest.approx(evaluate.r2_score(REVIEWS.ratings[new], predicted))
    assert ours.training.r2 == pytest.approx(model.score(REVIEWS.texts[:N_TRAINING], REVIEWS.ratings[:N_TRAINING]))
    assert ours.gap == pytest.approx(ours.training.r2 - ours.held_out.r2)
    rows = {row.name: row for row in report.prediction.rows}
    assert list(rows) == ["this model", "ridge", "linear", "mean"]
    assert rows["mean"].training.r2 == pytest.approx(0)
    assert rows["ridge"].held_out.r2 > rows["mean"].held_out.r2
    assert rows["linear"].training.r2 >= rows["ridge"].training.r2 - 0.01


def test_skill_of_the_topics_alone_stands_beside_that_of_topics_and_words(models):
    model = models["words"]
    prediction = prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT).prediction
    rows = {row.name: row for row in prediction.rows}
    new = model.predictions(REVIEWS.texts[N_TRAINING:])
    for name, mean in (("this model", new.mean), ("its topics alone", new.by_topics.mean)):
        assert rows[name].held_out.r2 == pytest.approx(evaluate.r2_score(REVIEWS.ratings[N_TRAINING:], mean))


def test_the_documents_are_described(report, model):
    described = report.documents
    assert (described.documents, described.training, described.held_out) == (N, N_TRAINING, N - N_TRAINING)
    assert described.terms == len(model.vectorizer_.terms_)
    assert described.median_words == np.median(model.read(REVIEWS.texts).n_words)
    counts = np.diff(model.vectorizer_.transform(REVIEWS.texts).tocsc().indptr)
    assert {word.documents for word in described.cloud} <= set(counts)
    assert max(word.documents for word in described.cloud) == counts.max()
    assert [word.term for word in described.cloud] == sorted(word.term for word in described.cloud)


def test_the_headline_names_what_matters(report):
    sentences = " ".join(map(str, report.headline))
    assert report.topics[0].label in sentences
    assert f"{report.prediction.rows[0].held_out.r2:.0%}" in sentences
    assert "stars" in sentences
    assert "Rating" in sentences


def test_nothing_is_tokenised_or_inferred_again(model, monkeypatch):
    reading = model.read(REVIEWS.texts)
    monkeypatch.setattr(type(model.vectorizer_), "transform", lambda *_: pytest.fail("tokenised again"))
    monkeypatch.setattr(type(model.estimator_), "predictions", lambda *_: pytest.fail("inferred again"))
    assert len(prepare(model, reading, REVIEWS.ratings, HELD_OUT, SETTINGS).topics) == 6


def test_responses_may_be_missing_and_texts_unknown(model):
    ratings = np.where(np.arange(N) % 3 == 0, np.nan, REVIEWS.ratings)
    texts = ["", "xylophone", *REVIEWS.texts[2:]]
    report = prepare(model, model.read(texts), ratings, HELD_OUT)
    assert report.documents.without_response == np.isnan(ratings).sum()
    assert report.documents.without_known_term == 2
    assert sum(topic.led for topic in report.topics) == N - 2
    known = HELD_OUT & ~np.isnan(ratings)
    assert report.prediction.rows[0].held_out.documents == known.sum()


def test_without_any_response_there_is_no_skill(model):
    report = prepare(model, model.read(REVIEWS.texts), np.full(N, np.nan))
    assert report.prediction is None
    assert all(topic.led_mean is None for topic in report.topics)


def test_without_held_out_documents_skill_is_that_of_training(model):
    prediction = prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings).prediction
    assert not prediction.held_out
    assert all(row.held_out is None and row.gap is None for row in prediction.rows)


def test_training_skill_far_above_held_out_skill_is_warned_of(models):
    model, ratings = models["predictive"], REVIEWS.ratings.copy()
    reading = model.read(REVIEWS.texts)
    assert prepare(model, reading, ratings, HELD_OUT).warning is None
    ratings[N_TRAINING:] = np.random.default_rng(0).permutation(ratings[N_TRAINING:])
    assert "held-out" in prepare(model, reading, ratings, HELD_OUT).warning
    assert prepare(model, reading, ratings).warning is None


def test_without_training_documents_there_are_no_baselines(model):
    report = prepare(model, model.read(REVIEWS.texts[N_TRAINING:]), REVIEWS.ratings[N_TRAINING:], HELD_OUT[N_TRAINING:])
    assert [row.name for row in report.prediction.rows] == ["this model"]
    assert report.prediction.rows[0].training is None


def test_the_papers_model_has_a_report_too():
    # Its topics do not sum to 1, and it has no intercept.
    model = TextResponseModel(estimator=JBNMF(4, levels=(1, 5), n_jobs=1)).fit(REVIEWS.texts, REVIEWS.ratings)
    report = prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings)
    assert sum(topic.prevalence for topic in report.topics) == pytest.approx(1)
    assert report.topics[0].led > 0


def test_labels_of_the_users_own_are_used_and_told_apart(models):
    model = models["joint"].rename({0: "Beds", 1: "Be\x00ds"})
    names = {topic.number: topic.label for topic in prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings).topics}
    assert names[0] == "Beds"
    assert names[1] == "Be␀ds"


@pytest.mark.parametrize(
    ("texts", "ratings", "held_out", "message"),
    [
        (["a", "b"], [1.0], None, "2 texts, but 1 responses"),
        (["a", "b"], [1.0, 2.0], [True], "2 texts, but held_out has 1 flags"),
        ([], [], None, "a report needs at least one text"),
        (["a"], [7.0], None, "not one of the levels 1 to 5"),
    ],
)
def test_what_does_not_fit_together_is_an_error(models, texts, ratings, held_out, message):
    with pytest.raises(InputError, match=message):
        prepare(models["joint"], replace(models["joint"].read(["a"]), texts=texts), ratings, held_out)
