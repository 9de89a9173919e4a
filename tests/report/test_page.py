"""The page in a real browser: what a person does with it, with the network off."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from small_reviews import HELD_OUT, REVIEWS, write_report

from textsignal import TextResponseModel
from textsignal.data.write import without_formulas
from textsignal.report.values.data import ReportSettings

FOCUSABLE = "a[href], button, input, select:enabled, textarea, summary, [tabindex='0']"


@pytest.fixture
def page(visit, page_file):
    return visit(page_file).page


@pytest.fixture(scope="module")
def shared(tabs, page_file):
    """The page of a model, for all tests that only look at it."""
    return tabs.open(page_file).page


@pytest.fixture
def seen(shared):
    shared.mouse.move(0, 0)
    return shared


def order_of(page, list_id):
    """Numbers of themes in the order of a list on the page."""
    ids = page.eval_on_selector_all(f"#{list_id} > [id]", "parts => parts.map((part) => part.id)")
    return [int(re.search(r"\d+$", name)[0]) for name in ids]


def bars_of(page, chart):
    """Labels of a chart's bars, from top to bottom."""
    page.evaluate("textsignal.drawn()")
    return page.evaluate(f"textsignal.views.get('{chart}').scale('y').domain()")


def test_the_page_loads_from_disk_without_network_or_error(visit, page_file):
    opened = visit(page_file)
    assert opened.errors == []
    assert opened.requests == [page_file.as_uri()]
    opened.page.evaluate("textsignal.drawn()")
    for chart in ("drivers", "agreement", "reliability", "pit", "responses", "lengths"):
        assert opened.page.locator(f"#chart-{chart} svg").count() == 1
    headings = opened.page.locator("h2").all_inner_texts()
    assert headings == [
        "What to fix first",
        "What to keep",
        "How reliable it is",
        "What moves the Rating",
        "Try a text",
        "The themes",
        "Read the texts",
        "How well does it predict?",
        "The data",
    ]


def test_readers_that_run_no_scripts_see_what_charts_say_in_words_and_tables(visit, page_file):
    page = visit(page_file, java_script_enabled=False).page
    for chart in ("drivers", "agreement"):
        assert page.locator(f"#chart-{chart} p").is_visible()
    assert page.locator("#theme-rows tr").first.is_visible()
    assert page.locator("#cards > li").count() == 7
    assert not page.locator("#download").is_visible()


def drivers_of(model, measure="cost"):
    """Themes by a measure, the largest first and the overall verdict last."""
    table = model.drivers(texts=REVIEWS.texts, responses=REVIEWS.ratings)
    return table.sort_values(["is_overall", measure], ascending=[True, False], kind="stable")


def test_chart_table_and_cards_are_sorted_by_what_is_clicked(page, model):
    table = drivers_of(model)
    assert order_of(page, "cards") == order_of(page, "theme-rows") == table["theme"].tolist()
    assert bars_of(page, "drivers") == table["label"].tolist()
    for measure in ("gain", "mentions", "complaints", "praise", "neutral", "cost"):
        page.click(f"button[data-measure={measure}]")
        expected = table.sort_values(["is_overall", measure], ascending=[True, False], kind="stable")
        assert order_of(page, "cards") == order_of(page, "theme-rows") == expected["theme"].tolist()
        assert bars_of(page, "drivers") == expected["label"].tolist()
        assert expected["is_overall"].iloc[-1]
        sorted_by = page.locator("th[aria-sort] button").all()
        assert [button.get_attribute("data-measure") for button in sorted_by] == [measure]


def test_the_table_says_what_the_model_says(seen, model):
    table = drivers_of(model)
    for row in table.itertuples():
        shown = seen.locator(f"#row-{row.theme} td").all_inner_texts()
        shares = [f"{value:.0%}" for value in (row.mentions, row.complaints, row.praise, row.neutral)]
        each = f"{row.cost_per_complaint:z.2f}" if row.complaints else "–"
        assert shown == [*shares, each, f"{row.cost:z.2f}", f"{row.gain:z.2f}"]
    unplaced = f"{table.attrs['unplaced']:.1%} of all words"
    assert seen.inner_text("#unplaced").startswith(unplaced)


def test_the_zone_of_neutral_mentions_is_stated(seen, model):
    zone = model.reader_.fitted.words.zone
    assert f"{zone.low:.2f} to {zone.high:.2f}".replace("-", "−") in seen.inner_text("#neutral")


def test_numbers_of_the_page_add_up(seen):
    """Cost is the share of texts that complain times what each complaint costs, and likewise the gain."""
    for theme in seen.evaluate("JSON.parse(document.getElementById('page-data').textContent).themes"):
        for total, share, each in (("cost", "complaints", "cost_per_complaint"), ("gain", "praise", "gain_per_praise")):
            assert theme[total] == pytest.approx(theme[share] * (theme[each] or 0), abs=1e-10)
        assert theme["mentions"] >= max(theme["complaints"], theme["praise"], theme["neutral"])
        both = theme["complaints"] + theme["praise"] + theme["neutral"] - theme["mentions"]
        assert -1e-10 <= both <= min(theme["complaints"], theme["praise"]) + 1e-10


def test_the_numbers_are_given_away_as_a_table(seen, model, tmp_path):
    with seen.expect_download() as download:
        seen.click("#download")
    download.value.save_as(tmp_path / "drivers.csv")
    found = pd.read_csv(tmp_path / "drivers.csv")
    expected = drivers_of(model)
    assert found["label"].tolist() == expected["label"].tolist()
    for measure in ("mentions", "share", "praise", "complaints", "neutral", "cost", "cost_per_complaint", "gain"):
        np.testing.assert_allclose(found[measure], expected[measure])


def test_a_spreadsheet_runs_no_name(visit, page_file, tmp_path):
    page = visit(page_file).page
    names = ["=1+1", "-5", "@beds", "'+1 a"]
    for number, name in enumerate(names):
        page.click(f"#row-{number} a")
        page.fill(f"#name-{number}", name)
        page.press(f"#name-{number}", "Tab")
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "drivers.csv")
    found = pd.read_csv(tmp_path / "drivers.csv", dtype=str).set_index("number")["label"]
    expected = without_formulas(pd.DataFrame({"label": names}))["label"]
    assert found[["0", "1", "2", "3"]].tolist() == expected.tolist() == ["'=1+1", "-5", "'@beds", "''+1 a"]


def test_the_chart_is_given_away_as_a_picture(seen, tmp_path):
    with seen.expect_download() as download:
        seen.click("#picture")
    download.value.save_as(tmp_path / "drivers.png")
    with Image.open(tmp_path / "drivers.png") as picture:
        assert picture.width == 1600
        colours = picture.convert("RGB").getcolors(1_000_000)
    # Both sides, in colours that are the style sheet's: what costs and what brings.
    assert {(0xD5, 0x5E, 0x00), (0x00, 0x72, 0xB2)} <= {colour for _, colour in colours}


def test_a_print_has_few_pages_and_opens_every_card(page):
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 8
    page.emulate_media(media="print")
    assert page.locator("#cards .facts").first.is_visible()
    assert not page.locator("#try").is_visible()


BARS = "#chart-drivers .mark-rect path"


def test_a_click_on_a_bar_opens_the_card(page):
    bars = page.locator(BARS)
    assert bars.count() == 14
    number = bars.first.evaluate("bar => bar.__data__.datum.theme")
    assert not page.locator(f"#theme-{number} .inside").is_visible()
    bars.first.click(force=True)
    assert page.locator(f"#theme-{number} .inside").is_visible()
    assert page.evaluate("document.activeElement.closest('li').id") == f"theme-{number}"
    assert page.url.endswith(f"#theme-{number}")


def test_hovering_over_a_bar_says_what_it_is(seen):
    bar = seen.locator(BARS).first
    label = bar.evaluate("bar => bar.__data__.datum.label")
    bar.hover(force=True)
    seen.wait_for_selector("#vg-tooltip-element.visible")
    assert label in seen.inner_text("#vg-tooltip-element")


def test_the_text_around_a_clause_is_one_click_away(visit, page_file):
    page = visit(page_file).page
    page.click("#open-all")
    around = page.locator(".around").first
    assert not around.locator("p").is_visible()
    around.locator("summary").click()
    quoted = around.locator("xpath=..").locator("> p").inner_text()
    assert around.locator("mark.here").inner_text() == quoted


def test_findings_lead_to_their_cards(page):
    link = page.locator(".findings a.named").first
    link.click()
    assert page.locator(f"#theme-{link.get_attribute('data-theme')} .inside").is_visible()


def test_a_link_to_a_theme_opens_its_card(visit, page_file):
    page = visit(page_file).page
    page.click("#row-3 a")
    assert page.locator("#theme-3 .inside").is_visible()
    page.goto(page_file.as_uri() + "#theme-4")
    page.reload()
    assert page.locator("#theme-4 .inside").is_visible()


def test_a_name_given_to_a_theme_shows_everywhere_and_in_a_saved_copy(visit, page_file, tmp_path):
    page = visit(page_file).page
    page.click("#row-2 a")
    name = 'Beds </script> & "pillows"'
    page.fill("#name-2", name)
    page.press("#name-2", "Tab")
    assert page.locator("#theme-2 h3").inner_text() == name
    assert page.locator("#row-2 th").text_content() == name
    assert name in bars_of(page, "drivers")
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(tmp_path / "copy.html")
    copy = visit(tmp_path / "copy.html")
    assert copy.errors == []
    assert copy.page.locator("#theme-2 h3").text_content() == name
    assert name in bars_of(copy.page, "drivers")


def test_a_name_given_to_a_theme_shows_in_the_findings(visit, page_file):
    page = visit(page_file).page
    number = int(page.get_attribute(".findings [data-name] >> nth=0", "data-name"))
    old = page.inner_text(".findings [data-name] >> nth=0")
    page.click(f"#row-{number} a")
    page.fill(f"#name-{number}", "What everybody loves")
    page.press(f"#name-{number}", "Tab")
    page.evaluate("textsignal.drawn()")
    assert "What everybody loves" in page.inner_text(".findings")
    assert old not in page.inner_text("header")


def test_a_warning_of_over_fitting_stands_before_the_numbers(visit, model, page_file, tmp_path):
    ratings = REVIEWS.ratings.copy()
    far_above = "Training skill is far above held-out skill"
    assert far_above not in visit(page_file).page.inner_text("header")
    ratings[HELD_OUT] = ratings[HELD_OUT][::-1]
    write_report(model, tmp_path / "report.html", model.read(REVIEWS.texts), ratings, HELD_OUT)
    page = visit(tmp_path / "report.html").page
    assert any(far_above in warning for warning in page.locator("header .warning").all_inner_texts())


def test_phone_width_has_no_sideways_scroll(visit, page_file):
    page = visit(page_file, width=390).page
    page.click("#open-all")
    page.fill("#try-text", "Friendly staff. " + "x" * 200)
    page.wait_for_selector("#try-result:visible")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for chart in page.locator(".chart:visible").all():
        assert chart.evaluate("chart => (chart.querySelector('svg')?.getBoundingClientRect().right ?? 0) <= innerWidth")


def test_words_without_end_do_not_widen_the_page(visit, model, tmp_path):
    model = model.rename({0: "x" * 300})
    settings = ReportSettings(title="y" * 300, response_name="satisfaction_" * 6, unit="units of satisfaction")
    write_report(model, tmp_path / "report.html", model.read(REVIEWS.texts), REVIEWS.ratings, None, settings)
    page = visit(tmp_path / "report.html", width=390).page
    page.click("#open-all")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_keyboard_reaches_everything(page):
    page.evaluate("textsignal.showTexts()")  # which come with stops of their own when they come near
    page.focus("#open-all")
    page.keyboard.press("Enter")
    shown = page.evaluate(
        f"""() => [...document.querySelectorAll("{FOCUSABLE}")]
        .filter((part) => part.checkVisibility())
        .map((part, i) => (part.dataset.stop = i))"""
    )
    page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    page.focus(".skip")
    reached = set()
    for _ in range(len(shown) + 5):
        reached.add(page.evaluate("Number(document.activeElement.dataset.stop ?? -1)"))
        page.keyboard.press("Tab")
    assert reached >= set(shown)
    page.focus("button[data-measure=gain]")
    page.keyboard.press("Enter")
    assert page.locator("th[aria-sort]").inner_text().startswith("adds")
    page.focus("#theme-1 summary")
    page.keyboard.press("Enter")
    assert not page.locator("#theme-1 .inside").is_visible()


HOSTILE = (
    "<script>window.hacked = 1</script> </script></style></title></textarea> <img src=x onerror=window.hacked=1> "
    "<a href=\"javascript:window.hacked=1\">press</a> {{ 'hacked' ~ 'template' }} {% raw %} ${window.hacked = 1} "
    "\"'><svg onload=window.hacked=1> \x00\x07\x1b[31m \u202e \ud800 <!-- --> ]]> \u2028 &lt;b&gt;"
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A report in which everything a user gives is hostile; themes are read without tags."""
    texts, ratings = [f"{text[:200]} {HOSTILE}" for text in REVIEWS.texts[:150]], REVIEWS.ratings[:150]
    model = TextResponseModel(2, levels=(1, 5), n_jobs=1).fit(texts, ratings)
    model = model.rename({0: HOSTILE[:60], 1: '"><img src=x onerror=window.hacked=1>{{ 7 }}</td>'})
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    names = [HOSTILE.encode("utf-8", "replace").decode().replace("\x00", "") for _ in range(4)]
    settings = ReportSettings(title=names[0], response_name=names[1], unit=names[2], command=names[3])
    write_report(model, file, model.read(texts), ratings, None, settings)
    return file


def test_hostile_texts_run_nothing_and_show_as_text(visit, hostile):
    opened = visit(hostile)
    page = opened.page
    page.click("#open-all")
    page.fill("#try-text", "lovely " + HOSTILE.encode("utf-8", "replace").decode())
    page.wait_for_selector("#try-result:visible")
    assert page.evaluate("window.hacked") is None
    assert opened.errors == []
    assert opened.requests == [hostile.as_uri()]
    assert page.locator("main img, main a[href^='javascript'], main blockquote svg").count() == 0
    assert "hackedtemplate" not in page.content()
    assert "<script>window.hacked = 1</script>" in page.inner_text("#try-marked")
    assert page.locator("h1").text_content().startswith("<script>window.hacked = 1</script>")


def test_the_policy_forbids_all_that_is_outside_and_every_other_script(visit, page_file):
    page = visit(page_file).page
    policy = page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[^']+'( 'sha256-[^']+')*", rules["script-src"])
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
    assert page.evaluate("window.ran") is None
    asked = page.evaluate("fetch('https://example.org/').then(() => 'answered', (error) => String(error))")
    assert "Failed to fetch" in asked


def test_the_data_of_the_page_is_plain_json(page_file):
    text = page_file.read_text(encoding="utf-8")
    blocks = dict(re.findall(r'<script id="([a-z-]+)" type="application/json">(.*?)</script>', text, re.DOTALL))
    assert {"page-data", "model-data", "names-data"} <= blocks.keys()
    assert all("<" not in block for block in blocks.values())
    assert {"themes", "charts", "levels"} <= json.loads(blocks["page-data"]).keys()
