"""Words removed by a click: all numbers are those of the text without them."""

import re

import pytest
from accessibility import faults
from small_reviews import REVIEWS

TEXT = "The staff were friendly. The bathroom was not clean, and dirty; dirty! Xylophone. Never again."
WORD = "#try-marked [data-piece]"


@pytest.fixture(scope="module")
def shared(tabs, page_file):
    """The page of a model, for all tests that only type texts there."""
    return tabs.open(page_file).page


@pytest.fixture
def page(shared):
    return typed(shared, TEXT)


def typed(page, text):
    """The page with a text that is read anew, all its words there."""
    page.fill("#try-text", "")
    page.wait_for_selector("#try-result", state="hidden")
    page.fill("#try-text", text)
    page.wait_for_selector("#try-result:visible")
    return page


def left(page):
    """The text without the words that were taken away."""
    return page.eval_on_selector(
        "#try-marked",
        "p => [...p.childNodes].filter((n) => n.className !== 'taken').map((n) => n.textContent).join('')",
    )


def number(text):
    return float(text.replace("−", "-"))


def take(page, word, nth=0):
    page.locator(WORD, has_text=re.compile(f"^{word}$")).nth(nth).click()


def test_without_a_word_all_numbers_are_those_of_the_text_without_it(page, model):
    before = page.inner_text("#try-mean")
    take(page, "dirty")
    without = TEXT.replace("dirty", "", 1)
    assert left(page) == without
    assert page.text_content("#try-marked") == TEXT
    explained = model.explain(without)
    assert number(page.inner_text("#try-mean")) == pytest.approx(model.predict([without])[0], abs=0.0051)
    assert number(page.inner_text("#try-sum")) == pytest.approx(explained.prediction, abs=0.0051)
    points = [number(row) for row in page.locator("#try-rows td:last-child").all_inner_texts()]
    expected = explained.themes[(explained.themes["theme"] >= 0) | (explained.themes["share"] > 0)]["points"]
    assert sorted(points) == pytest.approx(sorted(expected), abs=0.01)
    shown = [number(page.inner_text(f"#try-{name}")) for name in ("sum", "constant")]
    assert sum(points) == pytest.approx(shown[0] - shown[1], abs=1e-9)
    now = page.inner_text("#try-mean")
    change = number(now) - number(before)
    written = f"{change:+.2f}".replace("-", "−") if round(change, 2) else "0.00"
    assert page.inner_text("#try-without") == f"Without “dirty”: {now} instead of {before} ({written} stars)."


def test_every_word_of_texts_can_be_taken_away(shared, model):
    """Numbers to 1e-10, from the page's own model, for every text without each of some of its words."""
    page = shared
    script = """texts => texts.map((text) => {
        const pieces = textsignal.model.marked(text, textsignal.model.predict(text));
        const known = pieces.map((piece, i) => (piece.known && piece.text !== "" ? i : -1)).filter((i) => i >= 0);
        const chosen = known.filter((_, i) => i % 5 === 0);
        return chosen.map((i) => {
            const without = pieces.filter((_, j) => j !== i).map((piece) => piece.text).join("");
            return [without, textsignal.model.predict(without).mean];
        });
    })"""
    found = [pair for pairs in page.evaluate(script, [TEXT, *REVIEWS.texts[:10]]) for pair in pairs]
    assert len(found) > 20
    expected = model.predict([text for text, _ in found])
    assert [mean for _, mean in found] == pytest.approx(expected.tolist(), abs=1e-10)


def test_words_are_put_back_one_by_one_or_all_at_once(page):
    before, marks = page.inner_text("#try-mean"), page.inner_html("#try-marked")
    asked = page.inner_text("#try-without")
    assert not page.locator("#try-back").is_visible()
    take(page, "dirty")
    take(page, "staff")
    assert page.locator("#try-marked .taken").all_inner_texts() == ["staff", "dirty"]
    assert page.inner_text("#try-without").startswith("Without “staff” and “dirty”: ")
    take(page, "dirty")
    assert page.inner_text("#try-without").startswith("Without “staff”: ")
    take(page, "dirty", nth=1)
    page.click("#try-back")
    assert page.inner_text("#try-mean") == before
    assert page.inner_text("#try-without") == asked
    assert page.locator("#try-back").is_hidden()
    stripped = [re.sub(r' tabindex="-?\d"', "", html) for html in (marks, page.inner_html("#try-marked"))]
    assert stripped[0] == stripped[1]


def test_all_words_can_go(page, model):
    for i in range(page.locator(WORD).count()):
        page.locator(WORD).nth(i).click()
    assert page.locator(WORD).count() == page.locator("#try-marked .taken").count()
    assert number(page.inner_text("#try-mean")) == pytest.approx(model.predict([left(page)])[0], abs=0.0051)
    assert re.match(r"Without \d+ words: ", page.inner_text("#try-without"))
    page.click("#try-back")
    assert page.locator("#try-marked .taken").count() == 0


def test_what_is_left_is_marked_as_it_counts_now(page, model):
    take(page, "not")
    marks = {mark.start: mark.contribution for mark in model.explain(left(page)).marks}
    slope = model.explain(left(page)).slope
    at = 0
    for part in page.query_selector_all("#try-marked mark:not(.taken)"):
        word = part.inner_text()
        at = left(page).index(word, at)
        assert number(part.get_attribute("title").split()[0]) == pytest.approx(marks[at] * slope, abs=0.00051)
        at += len(word)


def test_the_keyboard_takes_words_away_and_puts_them_back(shared):
    page = typed(shared, TEXT)
    page.focus("#try-marked [tabindex='0']")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "staff"
    for key in ("Enter", "Space"):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == "staff"
        pressed = page.evaluate("document.activeElement.getAttribute('aria-pressed')")
        assert pressed == ("true" if key == "Enter" else "false")
    take(page, "clean")
    assert page.evaluate("document.activeElement.textContent") == "clean"
    assert page.locator("#try-marked [tabindex='0']").count() == 1
    page.focus("#try-marked mark >> nth=1")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.textContent") == "The"
    assert page.locator("#try-marked [tabindex='0']").count() == 1


@pytest.mark.parametrize(("width", "colours"), [(1280, ("light", "dark")), (390, ("light",))], ids=["desktop", "phone"])
def test_words_are_easy_to_hit_and_read(visit, page_file, width, colours):
    page = typed(visit(page_file, width=width).page, f"{TEXT} {'x' * 300} {REVIEWS.texts[0]}")
    take(page, "dirty")
    boxes = [part.bounding_box() for part in page.query_selector_all(WORD)]
    assert min(box["height"] for box in boxes) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for scheme in colours:
        page.emulate_media(color_scheme=scheme)
        assert faults(page, "#try") == {}


def test_a_new_text_or_name_starts_and_stays_as_it_should(visit, page_file):
    page = typed(visit(page_file).page, TEXT)
    take(page, "dirty")
    page.click("#row-1 a")
    page.fill("#name-1", "Another name")
    page.press("#name-1", "Tab")
    assert page.locator("#try-marked .taken").all_inner_texts() == ["dirty"]
    assert "Another name" in page.inner_text("#try-rows")
    page.fill("#try-text", "Friendly staff.")
    page.wait_for_selector("#try-marked:not(:has(.taken))")
    assert page.text_content("#try-marked") == "Friendly staff."
    assert not page.locator("#try-back").is_visible()


def test_a_word_between_tags_and_signs_is_taken_away(shared, model):
    text = "<p>Dirty<br>room</p> fr<b>iend</b>ly&nbsp;staff wasn’t r&amp;d 👍🏽 clean/ok"
    page = typed(shared, text)
    for i in range(page.locator(WORD).count()):
        page.locator(WORD).nth(i).click()
        expected = model.predict([left(page)])[0]
        assert number(page.inner_text("#try-mean")) == pytest.approx(expected, abs=0.0051)
        page.click("#try-back")
