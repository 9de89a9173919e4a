"""Reading texts on the page: search, filters and pages, in a real browser."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from accessibility import faults
from small_reviews import HELD_OUT, REVIEWS, SETTINGS, N, write_report

from textsignal.report.values.data import ReportSettings

GROUPS = pd.Series(["inn", "</script><b>hotel</b>", None, "Ü " + "x" * 200]).sample(N, replace=True, random_state=0)
DATES = pd.Series(np.datetime64("2020-01-01") + np.arange(N)).where(np.arange(N) % 7 > 0)
WORDS = "#find-words"


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    """Report of the model with groups and dates."""
    file, settings = tmp_path_factory.mktemp("texts") / "report.html", replace(SETTINGS, group_name="place")
    reading = model.read(REVIEWS.texts)
    write_report(model, file, reading, REVIEWS.ratings, HELD_OUT, settings, groups=GROUPS, times=DATES)
    return file


@pytest.fixture(scope="module")
def shared(tabs, written):
    """The page, for all tests that only look for texts."""
    return opened(tabs.open, written)


@pytest.fixture
def page(shared):
    return as_at_first(shared)


def as_at_first(page):
    """The page with nothing looked for."""
    page.mouse.move(0, 0)
    page.evaluate("textsignal.showTexts({})")
    return page


def opened(visit, file, **options):
    """The page, at its documents."""
    page = visit(file, **options).page
    page.locator("#texts").scroll_into_view_if_needed()
    page.wait_for_selector("#found-texts li")
    return page


def ways_of(model):
    """(texts, themes) True if texts mention a theme, complain about it, praise it, do both, and do neither."""
    mentions = model.read(REVIEWS.texts).mentions
    mentioned, complains, praises = mentions.mentioned, mentions.complains, mentions.praises
    return {
        "": mentioned,
        "complaints": complains,
        "praise": praises,
        "both": complains & praises,
        "neutral": mentioned & ~complains & ~praises,
    }


def rows_of(page):
    """Numbers of the documents that are shown, on all pages, from 0."""
    rows = []
    while True:
        rows += [int(re.match(r"Row ([\d,]+)", footer)[1].replace(",", "")) - 1 for footer in footers(page)]
        if not page.locator("#found-pages").is_visible():
            return rows
        onwards = page.locator("#found-pages button[data-step='1']")
        if onwards.get_attribute("aria-disabled") == "true":
            return rows
        onwards.press("Enter")


def footers(page):
    return page.locator("#found-texts footer").all_text_contents()


def found(page):
    return int(re.match(r"([\d,]+) of ", page.inner_text("#found"))[1].replace(",", ""))


def holding(*words):
    return [i for i, text in enumerate(REVIEWS.texts) if all(word in text.lower() for word in words)]


def test_all_texts_are_there_in_pages_of_twenty(page):
    assert page.inner_text("#found") == f"{N} of {N} texts"
    assert "All 400 texts." in page.inner_text("#texts")
    assert page.locator("#found-texts li").count() == 20
    assert page.inner_text("#found-page") == "Page 1 of 20"
    assert rows_of(page) == list(range(N))
    assert page.inner_text("#found-page") == "Page 20 of 20"
    page.click("#found-pages button[data-step='1']", force=True)
    assert page.inner_text("#found-page") == "Page 20 of 20"
    page.click("#found-pages button[data-step='-1']")
    assert page.inner_text("#found-page") == "Page 19 of 20"


def test_every_text_is_shown_with_its_facts(page, model):
    means = model.predict(REVIEWS.texts)
    quotes = page.locator("#found-texts blockquote").all()
    for i, quote in enumerate(quotes):
        assert quote.locator("p").text_content() == REVIEWS.texts[i]
        footer = quote.locator("footer").text_content()
        assert footer.startswith(f"Row {i + 1}. Rating: {REVIEWS.ratings[i]:g}, predicted {means[i]:.1f}. ")
        day, group = str(DATES[i])[:10], GROUPS.iloc[i]
        assert (f"{day}." in footer) == (i % 7 > 0)
        assert pd.isna(group) or f"{group}." in footer
    page.fill(WORDS, REVIEWS.texts[-1])
    assert footers(page)[-1].startswith(f"Row {N}, held out. ")


def test_all_words_that_are_typed_must_occur(page):
    page.fill(WORDS, "STAFF  clean")
    expected = holding("staff", "clean")
    assert 0 < len(expected) < N
    assert page.inner_text("#found") == f"{len(expected)} of {N} texts"
    hits = {hit.lower() for hit in page.locator("#found-texts mark.hit").all_text_contents()}
    assert hits == {"staff", "clean"}
    assert rows_of(page) == expected
    page.click("#find-clear")
    assert found(page) == N
    assert page.locator("mark.hit").count() == 0


def test_signs_are_looked_for_as_they_are(page):
    for typed in (".*", "(", "[a", "\\", "<b>", "'", "$&"):
        page.fill(WORDS, typed)
        expected = len(holding(typed))
        assert page.inner_text("#found").startswith(f"{expected} of" if expected else "None of 400 texts matches.")


def test_texts_are_found_by_how_they_speak_of_a_theme_as_the_cards_count(page, model):
    ways = ways_of(model)
    columns = {"": 0, "complaints": 1, "praise": 2, "neutral": 3}
    assert page.locator("#find-tone").is_disabled()
    assert ways["both"].any()
    for theme in range(7):
        page.select_option("#find-theme", str(theme))
        for way, is_so in ways.items():
            page.select_option("#find-tone", way)
            expected = np.flatnonzero(is_so[:, theme])
            assert len(expected) == 0 or found(page) == len(expected)
            if way in columns:
                share = page.locator(f"#row-{theme} td").nth(columns[way]).inner_text()
                assert share == f"{len(expected) / N:.0%}"
        page.select_option("#find-tone", "")
        assert rows_of(page) == np.flatnonzero(ways[""][:, theme]).tolist()


def most_complained_of(model):
    return int(ways_of(model)["complaints"][:, :-1].sum(axis=0).argmax())


def test_filters_and_words_add_up(page, model):
    theme = most_complained_of(model)
    complains = ways_of(model)["complaints"][:, theme]
    page.select_option("#find-theme", str(theme))
    page.select_option("#find-tone", "complaints")
    page.select_option("#find-level", label="2")
    page.select_option("#find-group", label="inn")
    fits = complains & (REVIEWS.ratings == 2) & (GROUPS == "inn").to_numpy()
    assert fits.any()
    assert rows_of(page) == np.flatnonzero(fits).tolist()
    page.fill(WORDS, "room")
    assert rows_of(page) == [row for row in np.flatnonzero(fits).tolist() if row in holding("room")]


def test_texts_without_a_group_are_found(page):
    page.select_option("#find-group", label="none")
    assert rows_of(page) == np.flatnonzero(GROUPS.isna()).tolist()


def test_nothing_found_is_said_and_can_be_cleared(page):
    page.fill(WORDS, "xylophone")
    assert page.inner_text("#found") == "None of 400 texts matches."
    assert page.locator("#found-texts li").count() == 0
    assert not page.locator("#found-pages").is_visible()
    page.click("#find-clear")
    assert found(page) == N
    assert page.evaluate("document.activeElement.id") == "find-words"


def test_texts_come_in_the_order_that_is_asked_for(page, model):
    means = [float(f"{mean:.1f}") for mean in model.predict(REVIEWS.texts)]
    page.select_option("#find-order", "1")
    order = rows_of(page)
    assert order == sorted(range(N), key=lambda i: (means[i], i))


def test_the_clauses_of_a_theme_come_in_order_too(page, model):
    theme = most_complained_of(model)
    page.evaluate(f"textsignal.showTexts({{ theme: {theme}, tone: 'complaints' }})")
    page.select_option("#find-order", "1")
    assert "the contribution of their clauses about it" in page.inner_text("#texts")

    def added():
        first = page.locator("#found-texts blockquote").all()
        labels = [quote.locator(".label").all_text_contents() for quote in first]
        return [sum(float(label.split()[-1].replace("−", "-")) for label in of_one) for of_one in labels]

    values = added()
    assert values[0] < 0
    assert all(a <= b + 0.03 for a, b in pairwise(values))


def test_a_card_leads_to_what_is_said_complaints_and_praise(page, model):
    theme = most_complained_of(model)
    page.fill(WORDS, "something else")
    page.click(f"#row-{theme} a")
    page.click(f"#theme-{theme} button[data-read=complaints]")
    page.wait_for_function("document.activeElement.id === 'found'")
    assert found(page) == ways_of(model)["complaints"][:, theme].sum()
    assert page.input_value("#find-theme") == str(theme)
    assert page.input_value(WORDS) == ""
    assert page.evaluate("document.getElementById('found').getBoundingClientRect().top < innerHeight")


def test_a_text_names_the_themes_that_it_complains_about_and_praises(page, model):
    ways, names = ways_of(model), model.theme_names
    for i, quote in enumerate(page.locator("#found-texts blockquote").all()):
        footer = quote.locator("footer").text_content()
        for title, way in (("Complaints: ", "complaints"), ("Praise: ", "praise")):
            listed = footer.partition(title)[2].partition(". ")[0]
            expected = {names[k] for k in np.flatnonzero(ways[way][i])}
            assert set(filter(None, listed.split("; "))) == expected


def test_a_group_is_shown_by_its_name_and_one_without_texts_is_empty(page):
    page.evaluate("name => textsignal.showTexts({ group: name })", "</script><b>hotel</b>")
    assert rows_of(page) == np.flatnonzero(GROUPS == "</script><b>hotel</b>").tolist()
    page.evaluate("name => textsignal.showTexts({ theme: 1, group: name })", "a palace")
    assert page.inner_text("#found") == "None of 400 texts matches."
    page.evaluate("textsignal.showTexts({})")
    assert found(page) == N


def test_a_clause_says_its_theme_and_kind_when_it_is_pointed_at_or_reached(page, model):
    reading = model.read(REVIEWS.texts)
    names, kinds = [*model.theme_names, "unplaced"], {-1: "complaint", 0: "neutral", 1: "praise"}

    def described(u):
        return f"{names[reading.unseen.places[u]]}, {kinds[reading.unseen.kinds[u]]}: "

    first = page.locator("#found-texts .shaded").first
    first.hover()
    tooltip = page.inner_text("#pointed-at")
    assert tooltip.startswith(described(0))
    assert tooltip.endswith(" stars")
    page.mouse.move(0, 0)
    assert not page.locator("#pointed-at").is_visible()
    first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.clause") == "1"
    assert page.inner_text("#pointed-at").startswith(described(1))
    assert page.get_attribute(".shaded:focus", "aria-describedby") == "pointed-at"
    page.keyboard.press("Escape")
    assert not page.locator("#pointed-at").is_visible()


def test_clauses_are_shaded_by_kind_and_neutral_ones_are_not(page, model):
    kinds = model.read(REVIEWS.texts).unseen.kinds
    looks = {-1: "down", 0: "plain", 1: "up"}
    for clause in page.locator("#found-texts .shaded").all():
        assert looks[kinds[int(clause.get_attribute("data-clause"))]] in clause.get_attribute("class").split()


def test_only_clauses_of_the_theme_that_is_asked_for_are_shaded_and_named(page, model):
    page.select_option("#find-theme", "2")
    places = model.read(REVIEWS.texts).unseen.places
    for clause in page.locator("#found-texts .shaded").all():
        is_its = places[int(clause.get_attribute("data-clause"))] == 2
        assert is_its or "plain" in clause.get_attribute("class")
    shown = page.eval_on_selector_all("#found-texts .shaded", "all => all.map((part) => Number(part.dataset.clause))")
    labels = page.locator("#found-texts .label").all_text_contents()
    assert len(labels) == sum(places[u] == 2 for u in shown)


def test_a_new_name_of_a_theme_shows_here_too(visit, written):
    page = opened(visit, written)
    page.select_option("#find-theme", "2")
    page.click("#row-2 a")
    page.fill("#name-2", "Beds & <pillows>")
    page.press("#name-2", "Tab")
    assert page.locator("#find-theme option:checked").text_content() == "Beds & <pillows>"
    assert page.locator("#found-texts .label").first.text_content().startswith("Beds & <pillows> ")
    page.fill(WORDS, "the")
    assert page.locator("#found-texts .label").first.text_content().startswith("Beds & <pillows> ")


def test_the_keyboard_alone_searches_filters_and_turns_pages(page):
    page.focus(WORDS)
    page.keyboard.type("room")
    assert found(page) == len(holding("room"))
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.input_value("#find-theme") != ""
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "find-tone"
    page.keyboard.press("ArrowDown")
    assert page.input_value("#find-tone") == "complaints"
    for _ in range(4):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "find-clear"
    page.keyboard.press("Enter")
    assert found(page) == N
    page.focus("#found-pages button[data-step='1']")
    page.keyboard.press("Enter")
    assert page.inner_text("#found-page") == "Page 2 of 20"
    assert page.evaluate("document.activeElement.textContent") == "Next"


@pytest.mark.parametrize(("width", "colours"), [(1280, ("light", "dark")), (390, ("light",))], ids=["desktop", "phone"])
def test_accessibility(visit, written, width, colours):
    page = opened(visit, written, width=width)
    page.fill(WORDS, "room")
    page.select_option("#find-theme", "1")
    page.locator(".shaded").first.focus()
    for scheme in colours:
        page.emulate_media(color_scheme=scheme)
        assert faults(page, "#texts") == {}
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_it_is_not_printed_and_says_why_it_is_empty_without_scripts(visit, written):
    page = opened(visit, written)
    page.emulate_media(media="print")
    assert not page.locator("#texts").is_visible()
    still = visit(written, java_script_enabled=False).page
    assert "needs a browser that runs" in still.inner_text("#texts")
    assert not still.locator("#find").is_visible()


def test_documents_are_unpacked_only_when_they_are_needed(visit, written):
    page = visit(written).page
    assert page.locator("#found-texts li").count() == 0
    page.evaluate("textsignal.showTexts({ theme: 1 })")
    assert page.locator("#found-texts li").count() > 0


def test_without_texts_the_section_does_not_exist(visit, model, tmp_path):
    settings = replace(SETTINGS, with_texts=False)
    write_report(model, tmp_path / "report.html", model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, settings)
    opened = visit(tmp_path / "report.html")
    assert opened.errors == []
    assert opened.page.locator("#texts, a[href='#texts'], button[data-read]").count() == 0
    assert opened.page.evaluate("textsignal.showTexts") is None


HOSTILE = [
    "</script><script>window.hacked = 1</script><img src=x onerror=window.hacked=1> bed",
    "control \x00\x01\x02\x07\x1b[31m bed \x85\x1c\u2028 bed",
    "שלום המלון היה נקי מאוד. \u202e bed reversed \u202c. فندق جميل",
    "👩‍🔬🇩🇪👍🏽 bed 🙂🙂 \ud800 half, \udc00 other half",
    "bed " * 25_000,
    "y" * 100_000,
    "{{ 7 * 7 }} ${7} {% raw %} &lt;b&gt; ]]> <!-- bed -->",
    "",
    " \n ",
]


@pytest.fixture(scope="module")
def hostile(model, tmp_path_factory):
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    texts = [*HOSTILE, *REVIEWS.texts[:30]]
    groups = [text[:80].encode("utf-8", "replace").decode() or None for text in texts]
    settings = ReportSettings(response_name="</script><b>stars", group_name="<i>&", unit="</style>")
    write_report(model, file, model.read(texts), np.ones(len(texts)) * 3, None, settings, groups=groups)
    return file


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_texts_run_nothing_and_show_as_text(visit, hostile, width):
    visited = visit(hostile, width=width)
    page = visited.page
    page.locator("#texts").scroll_into_view_if_needed()
    page.wait_for_selector("#found-texts li")
    for typed in ("bed", "<b>", "👍🏽", "</script>", "שלום", "\u202e", "�"):
        page.fill(WORDS, typed)
        page.wait_for_timeout(20)
    page.fill(WORDS, "")
    shown = page.locator("#found-texts blockquote p").all_text_contents()
    assert "control ␀␁␂␇␛[31m bed" in shown[1]
    assert shown[2].startswith("שלום המלון היה נקי מאוד. ")
    assert "👩‍🔬🇩🇪👍🏽 bed 🙂🙂 � half" in shown[3]
    assert all("more characters)" in text and len(text) < 3100 for text in shown[4:6])
    assert "7 * 7" in shown[6]
    assert page.evaluate("window.hacked") is None
    assert visited.errors == []
    assert visited.requests == [hostile.as_uri()]
    assert page.locator("#texts img, #texts b > *").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_5000_documents_are_searched(visit, model, tmp_path):
    texts = [f"{REVIEWS.texts[i % N]} Number n{i}n." for i in range(6000)]
    settings = replace(SETTINGS, n_documents=5000)
    ratings = np.tile(REVIEWS.ratings, 15)
    write_report(model, tmp_path / "report.html", model.read(texts), ratings, None, settings)
    page = opened(visit, tmp_path / "report.html")
    assert page.inner_text("#found") == "5,000 of 5,000 texts"
    assert "5,000 of 6,000 texts, drawn at random" in page.inner_text("#texts")
    page.fill(WORDS, "number n59")
    rows = rows_of(page)
    assert 0 < len(rows) <= 111
    assert all(re.search(r"n59", f"n{row}n") for row in rows)
