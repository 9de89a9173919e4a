"""Themes against several responses on the page, in a real browser."""

import pandas as pd
import pytest
from accessibility import faults
from small_reviews import REVIEWS

from textsignal import TextResponseModel

RESPONSES = pd.DataFrame({"stars": REVIEWS.ratings, "come_back": pd.Series(REVIEWS.ratings) > 3})


@pytest.fixture(scope="module")
def model():
    return TextResponseModel(5, n_jobs=1).fit(REVIEWS.texts, RESPONSES)


@pytest.fixture(scope="module")
def pages(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages") / "pages"
    model.report(folder, n_documents=5)
    return folder


def test_the_section_leads_to_the_other_page_and_back(visit, pages):
    opened = visit(pages / "report-stars.html")
    page = opened.page
    assert page.inner_text("nav.contents a[href='#others']") == "All responses"
    assert page.inner_text("#others thead .here") == "stars"
    page.click("#others p a")
    assert page.url == (pages / "report-come_back.html").as_uri()
    assert page.inner_text("#others thead .here") == "come back"
    assert opened.errors == []


def test_cells_are_the_numbers_of_the_table_and_the_switch_changes_them(visit, pages, model):
    page = visit(pages / "report-stars.html").page
    table = model.compare()
    for measure in ("gain", "cost"):
        page.check(f"#others-{measure}")
        for row in page.locator("#others tbody tr").all():
            number = int(row.locator("th a").get_attribute("data-theme"))
            expected = table[measure].xs(number, level="theme").iloc[0]
            shown = [cell.inner_text().rstrip("▲") for cell in row.locator("td span:visible").all()]
            assert shown == [model.of(name).naming_.points(value) for name, value in expected.items()]


@pytest.mark.parametrize("width", [1280, 390])
def test_the_section_fits_the_screen_and_can_be_read_by_all(visit, pages, width):
    page = visit(pages / "report-stars.html", width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults(page, "#others") == {}
