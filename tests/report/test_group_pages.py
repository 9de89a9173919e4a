"""Groups and time on the page, in a real browser."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from accessibility import faults
from small_reviews import HELD_OUT, REVIEWS, N, write_report

from textsignal.report.values.data import ReportSettings

HOTELS = pd.Series([f"Hotel {i % 4}" for i in range(N)])
DAYS = np.datetime64("2012-01-01", "D") + np.random.default_rng(0).integers(0, 3 * 365, N)
N_ROWS = 7  #: Rows of a table of themes: six, and the overall verdict.
FEW = 80  #: Documents of reports in which only names of groups or dates are odd.
SETTINGS = ReportSettings(response_name="Rating", unit="stars", group_name="hotel", time_name="stayed on")


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    """Write the report of a model of themes with groups and dates."""
    reading = model.read(REVIEWS.texts)

    def write(groups=None, times=None, settings=SETTINGS):
        file = tmp_path_factory.mktemp("groups") / "report.html"
        n = next(len(given) for given in (groups, times) if given is not None)
        read = reading if n == N else model.read(REVIEWS.texts[:n])
        write_report(model, file, read, REVIEWS.ratings[:n], HELD_OUT[:n], settings, groups=groups, times=times)
        return file

    return write


@pytest.fixture(scope="module")
def both(written):
    return written(HOTELS, DAYS)


@pytest.fixture(scope="module")
def shared(tabs, both):
    return tabs.open(both).page


@pytest.fixture
def page(shared):
    """The page as it came: the first cell next, the panel and all cards closed, costs shown."""
    shared.mouse.move(0, 0)
    shared.check("#shows-cost")
    shared.focus("#heat td.cell >> nth=0")
    shared.keyboard.press("Escape")
    shared.evaluate("for (const card of document.querySelectorAll('#cards details')) card.open = false")
    shared.evaluate("document.activeElement.blur()")
    return shared


def small_texts(page):
    """Texts of the section that are smaller than 12 pixels."""
    return page.evaluate(
        """() => [...document.querySelectorAll("#groups *")]
        .filter((part) => part.checkVisibility())
        .filter((part) => [...part.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
        .filter((part) => parseFloat(getComputedStyle(part).fontSize) < 12)
        .map((part) => part.outerHTML)"""
    )


def test_the_section_is_in_the_contents_and_draws_a_line_for_each_theme(visit, both):
    opened = visit(both)
    page = opened.page
    page.evaluate("textsignal.drawn()")
    assert opened.errors == []
    assert opened.requests == [both.as_uri()]
    assert page.inner_text("nav.contents a[href='#groups']") == "By hotel and over time"
    assert page.locator(".times .chart svg").count() == N_ROWS
    assert page.locator("#heat tbody tr").count() == 5


@pytest.mark.parametrize(("given", "title"), [("groups", "By hotel"), ("times", "Over time")])
def test_either_may_stand_alone(visit, written, given, title):
    page = visit(written(**{given: {"groups": HOTELS, "times": DAYS}[given]})).page
    page.evaluate("textsignal.drawn()")
    assert page.inner_text("#groups h2") == title
    assert page.inner_text("nav.contents a[href='#groups']") == title
    assert page.locator("#heat").count() == (given == "groups")
    assert page.locator(".times svg").count() == N_ROWS * (given == "times")


def test_the_switch_changes_what_cells_show(page):
    cell = page.locator("td.cell").first
    seen = {}
    for shows in ("mentions", "cost", "tone"):
        page.check(f"#shows-{shows}")
        seen[shows] = cell.inner_text()
        assert cell.locator("span:visible").get_attribute("class") == shows
        assert page.locator(f"#groups .note .{shows}").is_visible()
    assert seen["mentions"].rstrip("▲▼°").endswith("%")
    facts = cell.get_attribute("title")
    for shows, before in (("tone", "Tone: "), ("mentions", "Mentions: "), ("cost", "Costs: ")):
        assert before + seen[shows].rstrip("▲▼°") in facts


def test_the_switch_works_by_keyboard_and_without_scripts(visit, both):
    page = visit(both, java_script_enabled=False).page
    page.focus("#shows-cost")
    page.keyboard.press("ArrowRight")
    assert page.locator("td.cell span:visible").first.get_attribute("class") == "tone"
    page.keyboard.press("ArrowRight")
    assert page.locator("td.cell span:visible").first.get_attribute("class") == "mentions"
    assert page.locator(".times .chart p").first.is_visible()


def colour(page, row, column):
    """Red, green and blue of a cell."""
    text = (
        page.locator(f"#heat tbody tr >> nth={row}")
        .locator("td.cell")
        .nth(column)
        .evaluate("cell => getComputedStyle(cell).backgroundColor")
    )
    return [float(number) for number in re.findall(r"[\d.]+", text.removeprefix("color(srgb"))[:3]]


def test_colours_tell_better_from_worse(visit, written, model):
    spoken = model.read(REVIEWS.texts, REVIEWS.ratings).mentions
    k = int(spoken.complains.sum(axis=0)[:-1].argmax())
    added = np.where(spoken.mentioned[:, k], spoken.tone[:, k], 0.0)
    groups = pd.Series(np.where(added < np.quantile(added, 0.3), "worse", "rather better"))
    page = visit(written(groups)).page
    names = page.locator("#heat tbody th").all_inner_texts()
    column = page.locator("#heat thead [data-name]").evaluate_all(
        f"all => all.findIndex((one) => one.dataset.name === '{k}')"
    )
    red_worse, _, blue_worse = colour(page, names.index("worse"), column)
    red_better, _, blue_better = colour(page, names.index("rather better"), column)
    assert red_worse > blue_worse
    assert blue_better > red_better
    worse = page.locator("#heat tbody tr").nth(names.index("worse")).locator("td.cell").nth(column)
    assert "▲" in worse.inner_text()  # costs more


def test_arrow_keys_move_through_cells_and_a_panel_says_more(page):
    assert page.locator("#heat td[tabindex='0']").count() == 1
    assert not page.locator("#cell").is_visible()
    page.focus("#heat td[tabindex='0']")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    at = page.evaluate("[document.activeElement.closest('tr').rowIndex, document.activeElement.cellIndex]")
    assert at == [3, 3]
    assert page.inner_text("#cell-facts") == page.evaluate("document.activeElement.title")
    assert page.inner_text("#cell-group") == page.locator("#heat tr >> nth=3").locator("th").inner_text()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    assert page.evaluate("[document.activeElement.closest('tr').rowIndex, document.activeElement.cellIndex]") == [2, 2]
    assert page.locator("#heat td[tabindex='0']").count() == 1
    page.keyboard.press("Escape")
    assert not page.locator("#cell").is_visible()


def test_a_click_on_a_cell_leads_to_the_card(page):
    cell = page.locator("td.cell").nth(4)
    cell.click()
    number = cell.get_attribute("data-theme")
    page.click("#cell-theme")
    assert page.locator(f"#theme-{number} .inside").is_visible()
    page.click("#cell-close")
    assert not page.locator("#cell").is_visible()


def test_a_cell_leads_to_its_documents(page):
    cell = page.locator("#heat tbody tr", has_text="Hotel 2").locator("td.cell").first
    cell.click()
    page.click("[data-cell=complaints]")
    page.wait_for_function("document.activeElement.id === 'found'")
    chosen = page.locator("#find-group option:checked").inner_text()
    assert (chosen, page.input_value("#find-theme")) == ("Hotel 2", cell.get_attribute("data-theme"))
    facts = page.locator("#found-texts footer").all_text_contents()  # most are out of sight
    assert facts
    assert all("Hotel 2" in fact for fact in facts)
    of_group = re.match(r"[\d,]+ of (\d+) texts mention it; (\d+)% of all", cell.get_attribute("title"))
    found = int(page.inner_text("#found").split()[0])
    assert round(100 * found / int(of_group[1])) == int(of_group[2])


def test_a_group_with_a_long_name_leads_to_its_documents(visit, written):
    names = ["x" * 200 + "a", "x" * 200 + "b"]
    page = visit(written(pd.Series([names[i % 2] for i in range(FEW)]))).page
    page.locator("td.cell").first.click()
    page.click("[data-cell=praise]")
    page.wait_for_function("document.activeElement.id === 'found'")
    assert page.locator("#find-group option:checked").inner_text() in names
    assert "None of" not in page.inner_text("#found")


@pytest.mark.parametrize("place", ["#heat thead a", ".times figcaption a"])
def test_names_of_themes_lead_to_their_cards(page, place):
    link = page.locator(place).nth(2)
    link.click()
    assert page.locator(f"#theme-{link.get_attribute('data-theme')} .inside").is_visible()


def test_a_point_in_time_leads_to_the_card_and_tells_how_many_speak_of_it(page):
    page.evaluate("textsignal.drawn()")
    point = page.locator(".times .mark-symbol path").nth(3)
    point.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert "texts that mention it" in page.inner_text("#vg-tooltip-element")
    number = point.evaluate("point => point.__data__.datum.theme")
    point.click(force=True)
    assert page.locator(f"#theme-{number} .inside").is_visible()


def test_a_new_name_of_a_theme_shows_in_table_panel_and_lines(visit, both):
    page = visit(both).page
    page.locator("td.cell[data-theme='2']").first.click()
    page.click("#cell-theme")
    page.fill("#name-2", "Beds & <pillows>")
    page.press("#name-2", "Tab")
    for place in ("#heat thead", "#cell", ".times"):
        assert page.locator(f"{place} [data-name='2']").text_content() == "Beds & <pillows>"


def test_cards_tell_of_time(page):
    assert page.locator("#cards dt", has_text="Over time").count() == N_ROWS


@pytest.mark.parametrize("width", [320, 390, 820, 1280])
def test_nothing_is_hidden_or_cut_at_any_width(visit, both, width):
    page = visit(both, width=width).page
    page.evaluate("textsignal.drawn()")
    page.locator("td.cell").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert small_texts(page) == []
    cells = page.locator("#heat td.cell")
    assert cells.count() == 4 * N_ROWS
    if width <= 640:  # every cell is in sight, under the name of its theme
        assert cells.evaluate_all(f"cells => cells.every((cell) => cell.getBoundingClientRect().right <= {width})")
        assert page.locator("#heat td.cell .of:visible").count() == 4 * N_ROWS
    assert cells.evaluate_all("cells => cells.every((cell) => cell.scrollWidth <= cell.clientWidth)")
    small = page.locator("#groups td.cell, #groups .switch label, #heat thead a:visible").evaluate_all(
        """parts => parts.filter((part) => part.getBoundingClientRect().height < 24
        || part.getBoundingClientRect().width < 24).map((part) => part.outerHTML)"""
    )
    assert small == []


@pytest.mark.parametrize(("width", "colours"), [(1280, ("light", "dark")), (390, ("light",))], ids=["desktop", "phone"])
def test_accessibility(visit, both, width, colours):
    page = visit(both, width=width).page
    page.evaluate("textsignal.drawn()")
    page.locator("td.cell").first.click()
    for scheme, shows in product(colours, ("tone", "mentions", "cost")):
        page.emulate_media(color_scheme=scheme)
        page.check(f"#shows-{shows}")
        assert faults(page, "#groups") == {}


HOSTILE = (
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "</td></table></section>",
    "{{ 7 * 7 }} ${window.hacked = 1}",
    "x" * 5000,
    "🏨🏩 ‮evil‬",
    "a\x00b",
    "' onmouseover='window.hacked=1",
)


def test_hostile_names_of_groups_run_nothing_and_show_as_text(visit, written):
    groups = pd.Series([HOSTILE[i % len(HOSTILE)] for i in range(FEW)])
    settings = ReportSettings(response_name="Rating", unit="stars", group_name=HOSTILE[0], time_name=HOSTILE[1])
    file = written(groups, DAYS[:FEW], settings)
    opened = visit(file, width=390)
    page = opened.page
    page.evaluate("textsignal.drawn()")
    for cell in page.locator("td.cell").all()[::6]:
        cell.click()
    assert opened.errors == []
    assert opened.requests == [file.as_uri()]
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, #groups script").count() == 0
    names = page.locator("#heat tbody th").all_inner_texts()
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[3]} <= set(names)
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize(
    "groups",
    [["only"] * FEW, [None] * (FEW - 1) + ["one"], [f"guest {i}" for i in range(FEW)], list(range(FEW))],
    ids=["one group", "one document", "a group each", "numbers"],
)
def test_any_groups_make_a_page(visit, written, groups):
    opened = visit(written(pd.Series(groups)))
    assert opened.errors == []
    assert opened.page.locator("#heat td.cell").count() == N_ROWS * min(len(set(groups) - {None}), 25)


@pytest.mark.parametrize(
    "times",
    [
        [np.datetime64("2015-08-24")] * FEW,
        [np.datetime64("NaT")] * (FEW - 1) + [np.datetime64("2015-08-24")],
        [np.datetime64("2015-08-24"), np.datetime64("1990-01-01")] * (FEW // 2),
    ],
    ids=["one day", "one document", "two days far apart"],
)
def test_any_dates_make_a_page(visit, written, times):
    opened = visit(written(times=np.array(times, dtype="datetime64[D]")))
    opened.page.evaluate("textsignal.drawn()")
    assert opened.errors == []
    assert opened.page.locator(".times svg").count() == N_ROWS


def test_a_print_holds_the_table_and_is_short(visit, written):
    page = visit(written(pd.Series([f"Hotel {i % 40}" for i in range(N)]), DAYS)).page
    page.evaluate("textsignal.drawn()")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 8
    page.emulate_media(media="print")
    assert page.locator("#heat tbody tr:visible").count() == 13
    assert "In print, at most 12 groups" in page.inner_text("#groups")
    assert not page.locator(".switch").is_visible()
