"""Looks of the page, measured in a real browser: sizes of type and targets, what is in sight, what is on paper."""

import re
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from accessibility import faults
from small_reviews import HELD_OUT, REVIEWS, SETTINGS, prepare, write_report

from textsignal import TextResponseModel
from textsignal.cli.demo import DEMO_REVIEWS, DEMO_THEMES
from textsignal.datasets import synthetic_reviews

TRIED = "The staff were friendly but the bathroom was dirty."
A4 = 794 - 2 * 49  # pixels between the margins
#: What of some elements reaches beyond the page, or beyond its own box.
CUT = """(selector) => [...document.querySelectorAll(selector)].filter((part) => part.checkVisibility())
    .filter((part) => {
        const beyond = part.getBoundingClientRect().right > innerWidth + 1;
        const whole = part.closest("svg") || getComputedStyle(part).display === "inline";
        return beyond || (!whole && part.scrollWidth > part.clientWidth + 1);
    })
    .map((part) => part.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def opened(tabs, page_file):
    """A page with all it can show: every card open, a text read. Tests measure it, and change nothing that lasts."""

    @cache
    def show_all(width=1280):
        page = tabs.open(page_file, width=width).page
        page.click("#open-all")
        for summary in page.locator(".around summary").all()[:2]:
            summary.click()
        page.fill("#try-text", TRIED)
        page.wait_for_selector("#try-result:visible")
        page.evaluate("textsignal.drawn()")
        return page

    return show_all


@pytest.mark.parametrize(("width", "colours"), list(product((1280, 390), ("light", "dark"))))
def test_axe_finds_nothing(opened, width, colours):
    page = opened(width)
    page.emulate_media(color_scheme=colours)
    found = faults(page)
    page.emulate_media(color_scheme="light")
    assert found == {}


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_everything_to_press_is_large_enough(opened, width):
    page = opened(width)
    small = page.evaluate(
        """() => [...document.querySelectorAll("a[href], button, input, textarea, summary, select, [tabindex='0']")]
        .filter((part) => part.checkVisibility())
        .filter((part) => !part.matches(".skip, p a, li > a.named, figcaption a, mark.shaded"))
        .map((part) => [part.getBoundingClientRect(), part.outerHTML.slice(0, 80)])
        .filter(([box]) => box.width < 24 || box.height < 24)
        .map(([box, html]) => `${box.width.toFixed(1)} x ${box.height.toFixed(1)}: ${html}`)"""
    )
    assert small == []


def test_type_has_few_sizes_and_none_is_tiny(opened):
    page = opened()
    sizes = page.evaluate(
        """() => {
          const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          const sizes = {};
          while (texts.nextNode()) {
            const [text, part] = [texts.currentNode.data.trim(), texts.currentNode.parentElement];
            if (text === "" || part.closest("svg, script, noscript") || !part.checkVisibility()) continue;
            sizes[parseFloat(getComputedStyle(part).fontSize)] = text;
          }
          return sizes;
        }"""
    )
    assert len(sizes) <= 6, sizes
    assert min(map(float, sizes)) >= 13


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_text_in_charts_is_legible(opened, width):
    page = opened(width)
    heights = page.evaluate(
        """() => [...document.querySelectorAll(".chart svg text")].filter((text) => text.textContent.trim() !== "")
        .map((text) => parseFloat(getComputedStyle(text).fontSize) * Math.hypot(text.getCTM().a, text.getCTM().b))"""
    )
    assert min(heights) >= 12


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_hides_no_column(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # Titles of columns of the table of skill stand in its cells.
    assert page.evaluate(CUT, "tbody th, tbody td, .numbers thead th, .scroll, svg text") == []


@pytest.mark.parametrize("width", [1280, 390])
def test_contents_stay_in_sight_and_hide_no_heading(visit, page_file, width):
    page = visit(page_file, width=width).page
    page.evaluate("textsignal.drawn()")
    links = page.locator("nav.contents a").all()
    for link in links:
        link.click()
        page.evaluate("textsignal.drawn()")
        bottom = page.evaluate("document.querySelector('nav.contents').getBoundingClientRect().bottom")
        assert page.evaluate("document.querySelector('nav.contents').getBoundingClientRect().top") == 0
        heading = page.evaluate(
            "id => document.querySelector(`${id} h1, ${id} h2`).getBoundingClientRect().top", link.get_attribute("href")
        )
        assert heading >= bottom
    assert len(links) >= 6


def test_contents_mark_what_is_read(visit, page_file):
    page = visit(page_file).page
    page.click("nav.contents a[href='#themes']")
    page.wait_for_selector("nav.contents a[href='#themes'][aria-current=true]")
    assert page.locator("nav.contents a[aria-current]").count() == 1


def test_on_paper_nothing_is_cut(visit, page_file):
    page = visit(page_file, width=A4).page
    page.evaluate("textsignal.drawn()")
    page.emulate_media(media="print")
    assert page.evaluate(CUT, "body *") == []


def test_the_numbers_of_a_chart_of_its_tooltip_and_of_the_table_are_the_same(visit, page_file):
    page = visit(page_file).page
    for bar in page.locator("#chart-drivers .mark-rect path").all():
        about = bar.evaluate("bar => bar.__data__.datum")
        if bar.bounding_box()["width"] < 10:
            continue  # too short to be hovered over
        bar.hover(force=True)
        page.locator("#vg-tooltip-element.visible", has_text=about["words"]).wait_for()
        shown = dict(
            page.eval_on_selector_all(
                "#vg-tooltip-element tr", "rows => rows.map((row) => [...row.children].map((cell) => cell.innerText))"
            )
        )
        mentions, complaints, praise, neutral, _, costs, adds = page.locator(
            f"#row-{about['theme']} td"
        ).all_inner_texts()
        assert shown["mentions"] == mentions
        assert (shown["praise"], shown["complaints"], shown["neutral"]) == (praise, complaints, neutral)
        assert shown["effect"] == (f"−{costs} stars" if about["side"] == "costs" else f"+{adds} stars")
        written = page.locator("#chart-drivers .mark-text text").all_text_contents()
        assert shown["effect"].removesuffix(" stars") in written


def test_the_head_says_where_from_when_and_by_what(model, monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    settings = replace(SETTINGS, source="reviews & more.csv")
    file = tmp_path / "report.html"
    write_report(model, file, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, settings)
    made = re.search(r'<p class="made">(.*?)</p>', file.read_text(encoding="utf-8"))[1]
    assert made.startswith("reviews &amp; more.csv · made <time>2023-11-14</time> by textsignal ")
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings).made)


def test_the_demo_is_eight_pages_of_paper_at_most(visit, tmp_path):
    demo = synthetic_reviews(DEMO_REVIEWS, seed=0)
    model = TextResponseModel(DEMO_THEMES, levels=(1, 5), n_jobs=1).fit(demo.texts, demo.ratings)
    table = demo.to_frame()
    model.report(tmp_path / "report.html", by=table["hotel"], over=table["date"])
    page = visit(tmp_path / "report.html").page
    page.evaluate("textsignal.drawn()")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) <= 8


def test_the_command_shows_no_way_to_a_file(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    model.report(tmp_path / "out" / "report.html", with_texts=False)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "model.report(&#39;out/report.html&#39;)" in page
    assert str(tmp_path) not in page
