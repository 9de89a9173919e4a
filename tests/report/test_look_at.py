"""What a report says that looks wrong: nothing where nothing is, and a list where something is."""

import pandas as pd
import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS

from textsignal.report.page.render import render
from textsignal.report.values.prepare import prepare

TITLE = "What to look at before you trust this"


@pytest.fixture(scope="module")
def reading(models):
    return models["themes"].read(REVIEWS.texts)


def test_clean_data_have_no_such_section(models, reading):
    report = prepare(models["themes"], reading, REVIEWS.ratings, HELD_OUT, SETTINGS)
    assert report.checks == ()
    assert TITLE not in render(report)


def test_what_looks_wrong_is_listed_as_written_and_linked(models, reading):
    hotels = pd.Series([f"<{'low' if rating < 4 else 'high'}>" for rating in REVIEWS.ratings], name="hotel")
    report = prepare(models["themes"], reading, REVIEWS.ratings, HELD_OUT, SETTINGS, groups=hotels)
    assert "residuals" in {finding.check for finding in report.checks}
    page = render(report)
    assert page.count(TITLE) == 1
    assert 'href="#checks"' in page
    assert "&lt;low&gt;" in page
    assert "<low>" not in page


def test_too_few_responses_are_not_checked(models, reading):
    few = pd.Series(REVIEWS.ratings, dtype=float).where(pd.Series(range(len(REVIEWS.ratings))) < 20)
    assert prepare(models["themes"], reading, few, None, SETTINGS).checks == ()
