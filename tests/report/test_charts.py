"""Charts: specifications that Vega-Lite allows, with the numbers of the report."""

import altair as alt
import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS, prepare

from textsignal.report.page.charts import chart_specs


@pytest.fixture(scope="module")
def report(request, model):
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def test_specifications_are_allowed_by_the_schema_of_vega_lite(report):
    specs = chart_specs(report)
    assert len(specs) == 8
    for spec in specs.values():
        # They are written without this check, which takes most of the time. No background (null) is beyond the schema.
        config = {name: value for name, value in spec["config"].items() if name != "background"}
        (alt.LayerChart if "layer" in spec else alt.Chart).from_dict(spec | {"config": config}, validate=True)


def test_what_a_theme_costs_is_to_the_left_and_what_it_brings_to_the_right(report):
    rows = chart_specs(report)["drivers"]["data"]["values"]
    drawn = {(row["theme"], row["side"]): row["value"] for row in rows}
    assert drawn == {(theme.number, "costs"): -theme.cost for theme in report.themes} | {
        (theme.number, "adds"): theme.gain for theme in report.themes
    }
    assert all(value <= 0 for (_, side), value in drawn.items() if side == "costs")
    assert all(value >= 0 for (_, side), value in drawn.items() if side == "adds")
