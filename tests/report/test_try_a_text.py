"""Try a text: the page's numbers are Python's."""

import re
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from small_reviews import REVIEWS

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
#: Negations, sentences and what looks like either.
SAID = [
    "The room was not clean. Staff weren't friendly, but the breakfast was good!",
    "no staff no bed no breakfast never again nothing to complain about",
    "Nothing was dirty, not at all; never rude - always friendly.",
    "Dr. Who met Mr. Smith at 3.5 stars... Great view!Noisy, though (very). Check-in at 3 p.m. was slow. J. Doe",
    "1. Clean room\n2. Rude staff\n\nthe bed was\nvery small\r\nand hard • loud street ● no cost",
    "部屋は清潔でした。スタッフは親切！朝食は？ कमरा साफ था। अच्छा॥ staff friendly؟ clean۔",
    "friendly staff clean room dirty bathroom " * 30,
    "friendly staff, clean room; dirty bathroom - " * 30,
    "Great!!! 👍🏽👍🏽 Not good 😡. ★★★ no <b>clean</b> room<br>Rude &amp; not <i>help</i>ful.",
    "Bad…ok <script>not()</script>",
    "wasn’t  NOT CLEAN İstanbul: isn't it?",
]
TEXTS = [*ODD, *SAID, *REVIEWS.texts[-(200 - len(ODD) - len(SAID)) :]]


@pytest.fixture(scope="module")
def opened(tabs, page_file):
    """The page: its model predicts, and nothing on it changes."""
    return tabs.open(page_file).page


@pytest.fixture(scope="module")
def tried(opened, model):
    """Return the page's results for the texts, and the model in Python."""
    found = opened.evaluate("texts => texts.map((text) => textsignal.model.predict(text))", TEXTS)
    return found, model


@cache
def explained(model, text):
    return model.explain(text)


def test_predictions_are_those_of_python(tried):
    page, model = tried
    python, reading = model.predictions(TEXTS), model.read(TEXTS).clauses
    assert len(page) == 200
    np.testing.assert_allclose([text["mean"] for text in page], python.mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose([text["eta"] for text in page], python.eta, rtol=0, atol=1e-10)
    np.testing.assert_allclose([text["probabilities"] for text in page], python.probabilities, rtol=0, atol=1e-10)
    assert [text["unknown"] for text in page] == python.unknown.tolist()
    assert python.unknown[:3].all()
    np.testing.assert_allclose([text["shares"] for text in page], reading.shares, rtol=0, atol=1e-10)
    np.testing.assert_allclose([text["evidence"] for text in page], reading.clauses.evidence, rtol=0, atol=1e-10)


def test_contributions_are_those_of_python_and_add_up(tried):
    page, model = tried
    for text, found in list(zip(TEXTS, page, strict=True))[:60]:
        by_theme = explained(model, text).themes.set_index("theme")["contribution"].sort_index()
        *themes, unplaced = found["contributions"]
        np.testing.assert_allclose([unplaced, *themes], by_theme, rtol=0, atol=1e-10)
        parts = found["baseline"] + sum(found["contributions"])
        np.testing.assert_allclose(parts, found["eta"], rtol=0, atol=1e-10)


def test_points_are_those_of_python_and_add_up_to_the_prediction(tried):
    page, model = tried
    for text, found in list(zip(TEXTS, page, strict=True))[:60]:
        expected = explained(model, text)
        assert found["slope"] == pytest.approx(expected.slope, abs=1e-8)
        assert found["baselineMean"] == pytest.approx(expected.baseline_prediction, abs=1e-10)
        points = sum(found["contributions"]) * found["slope"]
        assert found["baselineMean"] + points == pytest.approx(found["mean"], abs=1e-9)


def test_clauses_are_those_of_python(tried):
    page, model = tried
    signs = {"praise": 1, "neutral": 0, "complaint": -1}
    n_themes = len(model.themes())
    for text, found in zip(TEXTS, page, strict=True):
        clauses = explained(model, text).clauses
        places = [clause["theme"] if clause["theme"] < n_themes else -1 for clause in found["clauses"]]
        assert places == clauses["theme"].tolist()
        assert [clause["kind"] for clause in found["clauses"]] == clauses["kind"].map(signs).tolist()
        for name in ("judgement", "tone", "speaking", "contribution"):
            here = [clause[name] for clause in found["clauses"]]
            np.testing.assert_allclose(here, clauses[name], rtol=0, atol=1e-10)
        assert found["unknownWords"] == list(explained(model, text).unknown_words)
        here = {term["term"]: term["contribution"] for term in found["terms"]}
        expected = explained(model, text).words.set_index("word")["contribution"]
        assert here.keys() == set(expected.index)
        np.testing.assert_allclose([here[word] for word in expected.index], expected, rtol=0, atol=1e-10)


def test_words_and_clauses_add_up_on_a_thousand_texts(opened, model):
    texts = [*REVIEWS.texts, *soup(), *(f"{one} {other}" for one, other in pairwise(REVIEWS.texts))][:1000]
    found = opened.evaluate("texts => texts.map((text) => textsignal.model.predict(text))", texts)
    table = model.contributions(texts)
    n_places = len(table.columns) - 1
    for text in found:
        sums = np.zeros(n_places)
        for clause in text["clauses"]:
            assert sum(clause["added"]) + clause["speaking"] == pytest.approx(clause["contribution"], abs=1e-10)
            sums[clause["theme"]] += clause["contribution"]
        if text["clauses"]:
            np.testing.assert_allclose(sums, text["contributions"], rtol=0, atol=1e-10)
        assert text["baseline"] + sum(text["contributions"]) == pytest.approx(text["eta"], abs=1e-10)
        points = text["slope"] * np.array(text["contributions"])
        assert text["baselineMean"] + points.sum() == pytest.approx(text["mean"], abs=1e-10)
    np.testing.assert_allclose([text["contributions"] for text in found], table.iloc[:, 1:], rtol=0, atol=1e-10)
    np.testing.assert_allclose([text["baseline"] for text in found], table["constant"], rtol=0, atol=1e-10)
    np.testing.assert_allclose([text["eta"] for text in found], table.sum(axis=1), rtol=0, atol=1e-10)


@cache
def soup():
    """Texts of pieces in any order."""
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(PIECES, rng.integers(1, 60))) for _ in range(300)]
    return texts + [" ".join(rng.choice(PIECES, rng.integers(1, 60))) for _ in range(300)]


def test_words_under_a_negation_are_those_of_python(tried):
    page, model = tried
    texts = model.read(TEXTS).clauses.texts
    here = [word for found in page for clause in found["clauses"] for word in clause["words"]]
    assert [word["name"] for word in here] == [texts.words[code] for code in texts.codes]
    assert [word["negated"] for word in here] == texts.negated.tolist()
    assert [word["under"] for word in here] == texts.under.tolist()
    assert texts.negated.any()


PIECES = [
    *(
        "not",
        "never",
        "wasn't",
        "cannot",
        "clean",
        "room",
        "staff",
        " the",
        " very",
        "x",
        "X",
        "n't",
        "ﬁne",
        "İ",
        "Σ",
        "ß",
    ),
    *("No. 5", "etc.", "p.m.", "e.g. ", "Dr.", "1.", "2) ", ".", "!", "...", "…", ", ", ";", ":", "•", "。", "！", "।"),
    *(" ", "\n", "\r\n", " \n", "\n\n", "\x85", "\x1c", "\u2028", "\u00a0", "\ufeff", "-", " - ", "—", "(", ")"),
    *("'", "’", '"', "”", "東京", "हिन्दी में", "☺", "👍🏽", "🇩🇪", "½", "²", "١", "𝟏", "𝐀", "ǅ", "é", "e\u0301"),
    *("<br>", "&amp;", "<b>", "&eacute;"),
    *(
        "but",
        "however",
        "and",
        " I ",
        " the bed was",
        "staff were rude",
        "lovely",
        "would stay again",
        "–",
        " — ",
        "；",
    ),
]


def test_soups_of_signs_are_read_as_in_python(opened, model):
    found = opened.evaluate("texts => texts.map((text) => textsignal.model.predict(text))", soup())
    reading = model.read(soup())
    np.testing.assert_allclose([text["eta"] for text in found], reading.predictions.eta, rtol=0, atol=1e-10)
    clauses = reading.clauses.texts
    for name in ("start", "end"):
        here = [clause[name] for text in found for clause in text["clauses"]]
        # JavaScript counts a character beyond the first plane twice.
        column = clauses.spans[:, 0 if name == "start" else 1].tolist()
        before = zip(clauses.documents.tolist(), column, strict=True)
        assert here == [len(clauses.texts[i][:end].encode("utf-16-le", "surrogatepass")) // 2 for i, end in before]
    assert [clause["joined"] for text in found for clause in text["clauses"]] == clauses.joined.tolist()
    assert [clause["theme"] for text in found for clause in text["clauses"]] == reading.clauses.clauses.places.tolist()


def test_words_are_those_of_python(opened):
    rng = np.random.default_rng(0)
    letters = list("abzéßΣσς' ’-_19\u0301\u0915\u093f☺👍🏽🇩🇪\u200d ½ﬁ東")
    soup = ["".join(rng.choice(letters, 30)) for _ in range(200)]
    found = opened.evaluate("texts => texts.map(textsignal.model.words)", soup)
    assert found == [words(text) for text in soup]


def test_typing_shows_the_prediction_its_parts_and_the_words_behind(visit, page_file, model):
    page = visit(page_file).page
    text = "The staff were friendly but the bathroom was dirty."
    page.fill("#try-text", text)
    page.wait_for_selector("#try-result:visible")
    expected, of_nothing = model.predict([text, ""])
    assert float(page.inner_text("#try-mean")) == pytest.approx(expected, abs=0.0051)
    assert page.inner_text("#try-marked") == text
    assert "friendly" in page.locator("#try-marked mark.up").all_inner_texts()
    assert "dirty" in page.locator("#try-marked mark.down").all_inner_texts()
    assert page.locator("#try-rows tr").count() == 7
    assert f"{model.explain(text).words['word'][0]} (" in page.inner_text("#try-rows")
    page.wait_for_selector("#chart-levels svg")
    page.wait_for_selector("#chart-contributions svg")
    page.fill("#try-text", "xylophone")
    page.wait_for_selector("#try-words:has-text('no term')")
    assert float(page.inner_text("#try-mean")) == pytest.approx(of_nothing, abs=0.0051)


MARKED = "texts => texts.map((text) => textsignal.model.marked(text, textsignal.model.predict(text)))"


def test_marks_hold_known_words_without_the_signs_around_them(opened, model):
    names = set(model.reader_.fitted.features.names)
    texts = [*ODD, "(staff)friendly,clean/dirty—“breakfast”. It wasn't rude!", *REVIEWS.texts[:20]]
    for text, pieces in zip(texts, opened.evaluate(MARKED, texts), strict=True):
        assert "".join(piece["text"] for piece in pieces) == text
        known = {word for piece in pieces if piece["known"] for word in words(piece["read"])}
        read = model.read([text]).clauses.texts
        placed = {read.words[code] for code, no in zip(read.codes, read.negated, strict=True) if not no}
        assert placed & names <= known
        assert not any(set(piece["read"]) & set(' .,;:!?()[]{}/"“”—') for piece in pieces if piece["known"])


def test_marks_are_those_of_python_and_share_what_a_repeated_word_adds(opened, model):
    texts = ["Dirty, dirty, dirty room! Friendly staff but a dirty bathroom and a dirty room.", *REVIEWS.texts[:20]]
    for text, pieces in zip(texts, opened.evaluate(MARKED, texts), strict=True):
        ends = np.cumsum([len(piece["text"]) for piece in pieces])
        expected = np.zeros(len(pieces))
        for mark in model.explain(text).marks:
            expected[np.searchsorted(ends, mark.start, side="right")] += mark.contribution
        np.testing.assert_allclose([piece["contribution"] for piece in pieces], expected, rtol=0, atol=1e-10)


def test_marks_between_tags_add_what_they_add_in_python(opened, model):
    text = "<p class='dirty'>Dirty<br>room</p> and fr<b>iend</b>ly&nbsp;staff in a d&#105;rty room</i>"
    (pieces,) = opened.evaluate(MARKED, [text])
    expected = [mark.contribution for mark in model.explain(text).marks]
    found = [piece["contribution"] for piece in pieces if piece["contribution"]]
    np.testing.assert_allclose(found, [contribution for contribution in expected if contribution], rtol=0, atol=1e-10)


STEPS = [
    {"pattern": r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", "by": None},
    {"pattern": "</?(?:b|i|span)>", "by": ""},
    {"pattern": "</?[a-z][^<>]*>", "by": "\n"},
]
WITH_STEPS = """async ([steps, texts]) => {
    const given = JSON.parse(document.getElementById("model-data").textContent);
    const model = await themesModel({ ...given, markup: steps });
    return texts.map((text) => [model.words(text), model.marked(text, model.predict(text))]);
}"""


#: Text, its words, and the pieces of it that are marked, without tags around them.
WITH_MARKUP = [
    ("<p class='dirty'>friendly<br>room</p>", ["friendly", "room"], ["friendly", "room"]),
    (
        "caf&eacute; &amp; <b>st<i>aff</i></b> &lt;br&gt;bed",
        ["café", "staff", "bed"],
        ["caf&eacute;", "st<i>aff", "bed"],
    ),
    ("&room; &notit; bed", ["room", "it", "bed"], ["room", "&notit;", "bed"]),
    (
        "I <3 the room &bogus; a&#1;b a&#0;b &#10;x y",
        ["the", "room", "bogus", "ab"],
        ["the", "room", "bogus", "a&#1;b"],
    ),
    ("&lt;script&gt;h=1&lt;/script&gt; <img src=x onerror=window.hacked=1> bed", ["bed"], ["bed"]),
]


def test_markup_is_left_out_before_words_are_looked_for_and_never_marked(opened):
    page = opened
    found = page.evaluate(WITH_STEPS, [STEPS, [text for text, *_ in WITH_MARKUP]])
    for (text, its_words, marked), (words_on_page, pieces) in zip(WITH_MARKUP, found, strict=True):
        assert words_on_page == its_words
        assert "".join(piece["text"] for piece in pieces) == text
        assert [piece["text"] for piece in pieces if piece["known"]] == marked
    assert page.evaluate("window.hacked") is None


def test_clearing_the_text_clears_what_it_gave(visit, page_file):
    page = visit(page_file).page
    page.fill("#try-text", "The staff were friendly but the bathroom was dirty.")
    page.wait_for_selector("#try-result:visible")
    page.wait_for_selector("#chart-levels svg")
    for nothing in ("", "  \n"):
        page.fill("#try-text", nothing)
        page.wait_for_selector("#try-result", state="hidden")
        page.evaluate("textsignal.drawn()")
        for part in ("mean", "words", "marked", "rows", "constant", "sum"):
            assert page.text_content(f"#try-{part}") == ""
        assert page.locator("#chart-levels svg, #chart-contributions svg").count() == 0
    page.fill("#try-text", "Friendly staff.")
    page.wait_for_selector("#try-result:visible")
    page.wait_for_selector("#chart-levels svg")


def signed(text):
    return float(text.replace("−", "-"))


def test_clauses_are_shown_with_theme_kind_and_points_that_add_up(visit, page_file, model):
    page = visit(page_file).page
    text = "The staff were friendly. The bathroom was not <b>clean</b> and dirty! Xylophone."
    page.fill("#try-text", text)
    page.wait_for_selector("#try-result:visible")
    expected = model.explain(text).clauses
    rows = page.locator("#try-clauses tr").all()
    assert len(rows) == len(expected) == 3
    shown = []
    for row, clause in zip(rows, expected.itertuples(), strict=True):
        _, theme, kind, points = row.locator("td").all_inner_texts()
        assert (theme, kind) == (clause.label, clause.kind)
        shown.append(signed(points))
        assert shown[-1] == pytest.approx(clause.points, abs=0.01)
        words = re.findall(r"\(([^()]*)\)", row.locator("small").inner_text())
        assert sum(map(signed, words)) == pytest.approx(shown[-1], abs=1e-9)
    of_themes = [signed(cell) for cell in page.locator("#try-rows td:last-child").all_inner_texts()]
    total = signed(page.inner_text("#try-sum")) - signed(page.inner_text("#try-constant"))
    for parts in (shown, of_themes, [signed(page.inner_text("#try-all"))]):
        assert sum(parts) == pytest.approx(total, abs=1e-9)
    assert "xylophone" in page.inner_text("#try-unknown")
    assert page.text_content("#try-marked") == text


def test_examples_are_put_in_and_read(visit, page_file, model):
    page = visit(page_file).page
    predicted = []
    for button in page.locator("button[data-example]").all():
        button.click()
        page.wait_for_selector("#try-result:visible")
        text = page.input_value("#try-text")
        assert text in REVIEWS.texts
        predicted.append(float(page.inner_text("#try-mean")))
        assert predicted[-1] == pytest.approx(model.predict([text])[0], abs=0.0051)
    assert predicted == sorted(predicted)
    assert len(predicted) == 3
