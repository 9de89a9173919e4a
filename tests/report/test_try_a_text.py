"""Try a text: the page's numbers are Python's."""

import numpy as np
import pytest
from small_reviews import HELD_OUT, REVIEWS

from textsignal import TextResponseModel, TextVectorizer
from textsignal.report.values.prepare import prepare
from textsignal.text.tokenise import words

ODD = [
    "",
    " \n\t ",
    "xylophone quux",
    "the of and",
    "STAFF Staff staff",
    "staff " * 500,
    "The hotel’s staff wasn't rude; it’s the guests' fault. o'clock 's 'tis rock'n'roll's",
    "ｆｒｉｅｎｄｌｙ ﬁne staﬀ naïve cafe\u0301 İstanbul ΣΊΣΥΦΟΣ groß",
    "🙂🙂 ☹️ 👩‍🔬 🇩🇪🇫🇷 👍🏽 ★★★ ☆ №5 ™staff™ soft\u00adhyphen zero\u200cwidth",
    "staff\u00a0friendly\u2028breakfast\x0bclean\x1cdirty",
    "हिन्दी में अच्छा होटल ١٢٣ 東京ホテル ½ ² x₂ a_b __ _ 1",
    "<b>friendly</b> staff & breakfast </script> {{ bed }}",
    "caf&eacute;<br>clean<!-- dirty -->room <script>dirty()</script> &lt;i&gt;fr<b>iend</b>ly R&D <3 staff&#39;s <p",
]
TEXTS = [*ODD, *REVIEWS.texts[-(200 - len(ODD)) :]]


@pytest.fixture(scope="module", params=["predictive", "words", "joint"])
def said(request, browser, reports, models):
    """What the page and Python say of the texts."""
    page = browser.new_page()
    page.goto(reports[request.param].as_uri())
    page.wait_for_selector("body[data-ready]")
    found = page.evaluate("texts => texts.map((text) => textsignal.model.predict(text))", TEXTS)
    page.close()
    return found, models[request.param]


def test_predictions_are_those_of_python(said):
    page, model = said
    python = model.predictions(TEXTS)
    assert len(page) == 200
    np.testing.assert_allclose([text["mean"] for text in page], python.mean, rtol=0, atol=1e-6)
    np.testing.assert_allclose([text["eta"] for text in page], python.eta, rtol=0, atol=1e-6)
    np.testing.assert_allclose([text["probabilities"] for text in page], python.probabilities, rtol=0, atol=1e-6)
    np.testing.assert_allclose([text["weights"] for text in page], python.weights, rtol=1e-5, atol=1e-6)
    assert [text["unknown"] for text in page] == python.unknown.tolist()
    assert python.unknown[:4].all()
    shares = model.read(TEXTS).predictions.shares
    np.testing.assert_allclose([text["shares"] for text in page], shares, rtol=0, atol=1e-5)


def test_contributions_are_those_of_python_and_add_up(said):
    page, model = said
    for text, found in list(zip(TEXTS, page, strict=True))[:60]:
        explained = model.explain(text)
        by_topic = explained.topics.set_index("topic")["contribution"].sort_index()
        np.testing.assert_allclose(found["contributions"], by_topic, rtol=0, atol=1e-6)
        assert found["beyond"] == pytest.approx(explained.beyond, abs=1e-6)
        parts = found["baseline"] + sum(found["contributions"]) + found["beyond"]
        np.testing.assert_allclose(parts, found["eta"], atol=1e-9)


def test_words_share_what_their_topics_contribute(said):
    for found in said[0]:
        if not found["unknown"]:
            by_topic = np.sum([term["byTopic"] for term in found["terms"]], axis=0)
            with_words = np.abs(by_topic) > 0
            np.testing.assert_allclose(by_topic[with_words], np.array(found["contributions"])[with_words], atol=1e-9)
            for term in found["terms"]:
                assert term["contribution"] == pytest.approx(sum(term["byTopic"]) + term["direct"], abs=1e-9)


def test_words_are_those_of_python(browser, reports):
    page = browser.new_page()
    page.goto(reports["joint"].as_uri())
    page.wait_for_selector("body[data-ready]")
    rng = np.random.default_rng(0)
    letters = list("abzéßΣσς' ’-_19\u0301\u0915\u093f☺👍🏽🇩🇪\u200d ½ﬁ東")
    soup = ["".join(rng.choice(letters, 30)) for _ in range(200)]
    assert page.evaluate("texts => texts.map(textsignal.model.words)", soup) == [words(text) for text in soup]
    page.close()


def test_typing_shows_the_prediction_its_parts_and_the_words_behind(visit, reports, models):
    page = visit(reports["predictive"]).page
    text = "The staff were friendly but the bathroom was dirty."
    page.fill("#try-text", text)
    page.wait_for_selector("#try-result:visible")
    expected, of_nothing = models["predictive"].predict([text, ""])
    assert float(page.inner_text("#try-mean")) == pytest.approx(expected, abs=0.0051)
    assert page.inner_text("#try-marked") == text
    assert "friendly" in page.locator("#try-marked mark.up").all_inner_texts()
    assert "dirty" in page.locator("#try-marked mark.down").all_inner_texts()
    assert page.locator("#try-rows tr").count() == 6
    assert "dirty (−" in page.inner_text("#try-rows")
    page.wait_for_selector("#chart-levels svg")
    page.wait_for_selector("#chart-contributions svg")
    page.fill("#try-text", "xylophone")
    page.wait_for_selector("#try-words:has-text('no term')")
    assert float(page.inner_text("#try-mean")) == pytest.approx(of_nothing, abs=0.0051)


@pytest.fixture
def opened(browser, reports):
    """A page with a report on a model, by its name."""
    pages = []

    def open_report(name):
        pages.append(browser.new_page())
        pages[-1].goto(reports[name].as_uri())
        pages[-1].wait_for_selector("body[data-ready]")
        return pages[-1]

    yield open_report
    for page in pages:
        page.close()


MARKED = "texts => texts.map((text) => textsignal.model.marked(text, textsignal.model.predict(text).terms))"


def test_marks_hold_known_words_without_the_signs_around_them(opened, models):
    vectorizer = models["predictive"].vectorizer_
    texts = [*ODD, "(staff)friendly,clean/dirty—“breakfast”. It wasn't rude!", *REVIEWS.texts[:20]]
    for text, pieces in zip(texts, opened("predictive").evaluate(MARKED, texts), strict=True):
        assert "".join(piece["text"] for piece in pieces) == text
        known = {word for piece in pieces if piece["known"] for word in words(piece["read"])}
        assert {vectorizer.terms_[term.column] for term in vectorizer.locate(text).terms} <= known
        assert not any(set(piece["read"]) & set(' .,;:!?()[]{}/"“”—') for piece in pieces if piece["known"])


@pytest.mark.parametrize("name", ["predictive", "words", "joint"])
def test_marks_are_those_of_python_and_share_what_a_repeated_word_adds(opened, models, name):
    texts = [
        "Dirty, dirty, dirty room! Friendly staff but a dirty bathroom and a dirty room.",
        *REVIEWS.texts[:20],
    ]
    for text, pieces in zip(texts, opened(name).evaluate(MARKED, texts), strict=True):
        ends = np.cumsum([len(piece["text"]) for piece in pieces])
        expected = np.zeros(len(pieces))
        for mark in models[name].explain(text).marks:
            expected[np.searchsorted(ends, mark.start, side="right")] += mark.contribution
        np.testing.assert_allclose([piece["contribution"] for piece in pieces], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["predictive", "words", "joint"])
def test_marks_between_tags_add_what_they_add_in_python(opened, models, name):
    text = "<p class='dirty'>Dirty<br>room</p> and fr<b>iend</b>ly&nbsp;staff in a d&#105;rty room</i>"
    (pieces,) = opened(name).evaluate(MARKED, [text])
    expected = [mark.contribution for mark in models[name].explain(text).marks]
    found = [piece["contribution"] for piece in pieces if piece["contribution"]]
    np.testing.assert_allclose(found, [contribution for contribution in expected if contribution], rtol=0, atol=1e-6)


STEPS = [
    {"pattern": r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", "by": None},
    {"pattern": "</?(?:b|i|span)>", "by": ""},
    {"pattern": "</?[a-z][^<>]*>", "by": "\n"},
]
WITH_STEPS = """([steps, texts]) => {
    const given = JSON.parse(document.getElementById("page-data").textContent).browser;
    const model = textsignalModel({ ...given, markup: steps });
    return texts.map((text) => [model.words(text), model.marked(text, model.predict(text).terms)]);
}"""


#: Text, its words, and the pieces of it that are marked: known words, without tags around them.
WITH_MARKUP = [
    ("<p class='dirty'>friendly<br>room</p>", ["friendly", "room"], ["friendly", "room"]),
    ("caf&eacute; &amp; <b>st<i>aff</i></b> &lt;br&gt;bed", ["café", "staff", "bed"], ["st<i>aff", "bed"]),
    ("&room; &notit; bed", ["room", "it", "bed"], ["room", "bed"]),
    ("I <3 the room &bogus; a&#1;b a&#0;b &#10;x y", ["the", "room", "bogus", "ab"], ["room"]),
    ("&lt;script&gt;h=1&lt;/script&gt; <img src=x onerror=window.hacked=1> bed", ["bed"], ["bed"]),
]


def test_markup_is_left_out_before_words_are_looked_for_and_never_marked(opened):
    page = opened("predictive")
    found = page.evaluate(WITH_STEPS, [STEPS, [text for text, *_ in WITH_MARKUP]])
    for (text, its_words, marked), (words_on_page, pieces) in zip(WITH_MARKUP, found, strict=True):
        assert words_on_page == its_words
        assert "".join(piece["text"] for piece in pieces) == text
        assert [piece["text"] for piece in pieces if piece["known"]] == marked
    assert page.evaluate("window.hacked") is None


def test_clearing_the_text_clears_what_it_gave(visit, reports):
    page = visit(reports["words"]).page
    page.fill("#try-text", "The staff were friendly but the bathroom was dirty.")
    page.wait_for_selector("#try-result:visible")
    page.wait_for_selector("#chart-levels svg")
    for nothing in ("", "  \n"):
        page.fill("#try-text", nothing)
        page.wait_for_selector("#try-result", state="hidden")
        page.evaluate("textsignal.drawn()")
        for part in ("mean", "words", "marked", "rows", "beyond", "constant", "eta"):
            assert page.text_content(f"#try-{part}") == ""
        assert page.locator("#chart-levels svg, #chart-contributions svg").count() == 0
    page.fill("#try-text", "Friendly staff.")
    page.wait_for_selector("#try-result:visible")
    page.wait_for_selector("#chart-levels svg")


def test_what_single_words_add_is_shown(visit, reports, models):
    page = visit(reports["words"]).page
    strongest = models["words"].words()["term"][0]
    page.fill("#try-text", f"The {strongest} again.")
    page.wait_for_selector("#try-result:visible")
    assert page.inner_text("#try-beyond") != "0.00"
    assert strongest in page.inner_text("#try-direct")


def test_a_tokenizer_of_the_users_own_is_left_to_python():
    model = TextResponseModel(2, vectorizer=TextVectorizer(tokenizer=str.split)).fit(REVIEWS.texts, REVIEWS.ratings)
    browser = prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT).browser
    assert browser.model is None
    assert "tokenizer" in browser.reason
