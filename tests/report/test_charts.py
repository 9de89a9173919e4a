"""Charts: specifications that Vega-Lite allows, and names of regions only where topics are there."""

import json
from dataclasses import replace

import altair as alt
import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS

from textsignal.report.page.charts import chart_specs
from textsignal.report.values.prepare import prepare


@pytest.fixture(scope="module")
def report(models):
    model = models["predictive"]
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def with_prevalences(report, prevalences):
    topics = [replace(topic, prevalence=share) for topic, share in zip(report.topics, prevalences, strict=True)]
    return replace(report, topics=tuple(topics))


def test_specifications_are_allowed_by_the_schema_of_vega_lite(report):
    specs = chart_specs(report)
    assert len(specs) == 10
    for spec in specs.values():
        # They are written without this check, which takes most of the time. No background (null) is beyond the schema.
        config = {name: value for name, value in spec["config"].items() if name != "background"}
        (alt.LayerChart if "layer" in spec else alt.Chart).from_dict(spec | {"config": config}, validate=True)


def test_the_map_calls_nothing_common_or_rarer_where_topics_hardly_differ(report):
    drawn = json.dumps(chart_specs(with_prevalences(report, [0.15, 0.16, 0.17, 0.17, 0.17, 0.18]))["map"])
    assert "common" not in drawn
    assert "rarer" not in drawn
    assert "strong" in drawn


def test_the_map_names_the_regions_that_topics_reach(report):
    drawn = json.dumps(chart_specs(with_prevalences(report, [0.05, 0.1, 0.15, 0.15, 0.2, 0.35]))["map"])
    assert "common and strong" in drawn
    assert "rarer and strong" in drawn
