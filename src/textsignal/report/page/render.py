"""From the content of a report to one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import ArrayLike

from textsignal.data.write import whole_file
from textsignal.errors import OutputError
from textsignal.insight.groups import FEW
from textsignal.insight.naming import MEASURES, Naming, range_of
from textsignal.reading.themes import Reading
from textsignal.report.page.charts import chart_specs, drawable
from textsignal.report.page.library import library
from textsignal.report.values.data import Bar, Prediction, ReportData, ReportedModel, ReportSettings
from textsignal.report.values.prepare import prepare
from textsignal.report.values.wording import count, mean_response, number, percent, points, signed_number, signed_points
from textsignal.text.tokens import read_sentences
from textsignal.uncertainty.effect_table import EffectTable

#: Scripts of the page, in this order.
SCRIPTS = (
    *("reading.js", "families.js", "infer.js", "topics.js", "sentences.js", "themes.js"),
    *("marks.js", "try.js", "documents.js", "charts.js", "page.js", "groups.js"),
)
#: Legend of the colours of words if more of the response is better, and if less is.
COLOURS = {
    1: "Blue words raise the prediction, orange dotted ones lower it",
    -1: "Orange dotted words raise the prediction, blue ones lower it",
}
#: Columns of the table of themes: field to sort by, title and explanation.
COLUMNS = (
    ("mentions", "spoken of", "share of texts that speak of it"),
    ("complaints", "complaints", "share of these in which it lowers the prediction"),
    ("praise", "praise", "share of these in which it raises the prediction"),
    ("mean_response", "average", "average response where it is spoken of"),
    ("cost", "costs", "by how much the average would rise if all that is bad were said neutrally"),
    ("gain", "brings", "by how much the average would fall if all that is good were said neutrally"),
)
#: Most bars on a card with a label each.
LABELLED = 11
#: Most groups, and themes, in the printed table of groups.
ON_PAPER = 12
#: Words in a row that identify a document if no texts may be displayed; fewest words of a document, and of a sentence.
RUN, SHORTEST, SENTENCE = 8, 4, 6


def write_report(
    model: ReportedModel,
    path: str | Path,
    reading: Reading,
    responses: ArrayLike,
    held_out: ArrayLike | None = None,
    settings: ReportSettings | None = None,
    *,
    groups: ArrayLike | pd.Series | None = None,
    times: ArrayLike | pd.Series | None = None,
    effects: EffectTable | None = None,
    force: bool = False,
) -> None:
    """Write a report to `path`, whole or not at all; `force` replaces an existing file."""
    with whole_file(Path(path), force=force) as file:
        report = prepare(model, reading, responses, held_out, settings, groups=groups, times=times, effects=effects)
        page = render(report)
        if not report.with_texts:
            check_no_texts(page, reading.texts)
        file.write_text(page, encoding="utf-8", newline="\n")


def render(report: ReportData) -> str:
    """Lay a report out as one self-contained HTML file.

    Examples
    --------
    >>> from textsignal import TextResponseModel
    >>> from textsignal.datasets import synthetic_reviews
    >>> from textsignal.report.values.prepare import prepare
    >>> reviews = synthetic_reviews(200, seed=1)
    >>> model = TextResponseModel(n_themes=4).fit(reviews.texts, reviews.ratings)
    >>> page = render(prepare(model, model.read(reviews.texts), reviews.ratings))
    >>> page.startswith("<!doctype html>")
    True
    """
    scripts, naming, skill = [library(), *map(_asset, SCRIPTS)], report.naming, report.prediction
    browse = report.browse
    return _template().render(
        report=report,
        ours=None if skill is None else skill.rows[0].held_out if skill.held_out else skill.rows[0].training,
        columns=_columns(naming),
        policy=_policy(scripts),
        style=Markup(_asset("page.css")),
        scripts=[Markup(script) for script in scripts],
        data=Markup(_json(_page_data(report))),
        model_data=Markup(_json(report.browser.model)),
        documents_data=Markup(
            _json({} if browse is None else {"scale": browse.scale, "groups": browse.groups, "columns": browse.columns})
        ),
        spoken={theme.number: _pairs(theme.spoken_responses, theme.elsewhere_responses) for theme in report.themes},
        few=FEW,
        on_paper=ON_PAPER,
        groups_title=_groups_title(report),
        times_words=_times_words(report),
        response_words=_bars_words(report.documents.responses, "of texts"),
        points=lambda value, more=0: points(value, naming, more),
        span=range_of,
        written=lambda span, more=0: span.written(naming, more),
        signed_points=partial(signed_points, naming=naming),
        mean=lambda value, digits=2: mean_response(value, naming, digits),
        colours=COLOURS[naming.better],
        **_prediction_words(skill),
    )


def check_no_texts(page: str, texts: Iterable[str]) -> None:
    """Raise if a page holds a text of SHORTEST words, a sentence of SENTENCE, or 2 RUN - 1 words in a row.

    Every RUN-th run of RUN words of each text is looked for, so that a longer stretch always holds one of them, and
    the beginning of every sentence. Commas count, so that a list of terms is not taken for a text.

    Examples
    --------
    >>> check_no_texts("<p>the <mark>room</mark> was cold</p>", ["The room was warm."])
    >>> check_no_texts("<p>the <mark>room</mark> was cold</p>", ["The room was cold."])
    Traceback (most recent call last):
        ...
    textsignal.errors.OutputError: the report holds words of text 1, though it must hold none; it was not written
    """
    words_on_page = _words(html.unescape(re.sub(r"<[^>]*>", "", page.replace(library(), ""))))
    runs = {
        n: {tuple(words_on_page[i : i + n]) for i in range(len(words_on_page) - n + 1)}
        for n in range(SHORTEST, RUN + 1)
    }
    read = read_sentences(texts)
    for i, text in enumerate(read.texts, 1):
        spans = read.spans[read.sentence_ends[i - 1] : read.sentence_ends[i]]
        if any(run in runs[len(run)] for run in _telling(text, spans.tolist())):
            raise OutputError(f"the report holds words of text {i:,}, though it must hold none; it was not written")


def _telling(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, ...]]:
    """Runs of words that identify a text; spans : of its sentences."""
    words = _words(text)
    if _n_words(words) >= SHORTEST:
        yield from (tuple(words[start : start + RUN]) for start in range(0, max(len(words) - RUN, 0) + 1, RUN))
    for start, end in spans:
        sentence = _words(text[start:end])
        if _n_words(sentence) >= SENTENCE:
            yield tuple(sentence[:RUN])


def _words(text: str) -> list[str]:
    """Words and the commas between them."""
    return re.findall(r"\w+|,(?=\s)", text.lower())


def _n_words(words: Sequence[str]) -> int:
    return len(words) - words.count(",")


def _policy(scripts: Iterable[str]) -> str:
    """Content security policy: nothing from outside, and no scripts but these."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _columns(naming: Naming) -> list[tuple[str, str, str]]:
    """Columns of the table of themes, with titles that suit the response."""
    titles = dict(zip(("complaints", "praise"), naming.short_ways, strict=True))
    if naming.is_class:
        titles |= {"cost": "lowers", "gain": "raises"}
    return [(measure, titles.get(measure, title), words) for measure, title, words in COLUMNS]


def _page_data(report: ReportData) -> dict[str, Any]:
    names = ["number", "label", "mentions", "share", "praise", "complaints", "mean_response", "cost", "gain"]
    if report.ranges is not None:
        names += [f"{measure}_{part}" for measure in MEASURES for part in ("low", "high", "clear")]
    themes = [{name: getattr(theme, name) for name in names} for theme in report.themes]
    data = {
        "response": report.naming.name,
        "unit": report.naming.unit,
        "event": report.naming.event,
        "noted": report.naming.noted,
        "isClass": report.naming.is_class,
        "ways": [way.capitalize() for way in report.naming.short_ways],
        "better": report.naming.better,
        "steps": report.naming.steps,
        "digits": report.naming.digits,
        "passing": _passing(report),
        "levels": report.levels,
        "bins": {"labels": report.bins.labels, "edges": report.bins.edges.tolist(), "whole": report.bins.whole},
        "scale": report.bins.high - report.bins.low,
        "themes": themes,
        "charts": {name: drawable(spec) for name, spec in chart_specs(report).items()},
        "examples": report.examples,
    }
    whole = _json([data, report.browser.model])
    return data | {"id": hashlib.sha256(whole.encode()).hexdigest()[:16]}


def _json(value: Any) -> str:
    """JSON for a script element: without `<`, so that no tag begins or ends there."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return files("textsignal.report.page").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    environment = Environment(
        loader=PackageLoader("textsignal.report.page", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": count,
        "plain": lambda value: f"{value:g}",
        "number": number,
        "signed_number": signed_number,
        "percent": percent,
        "capital": lambda text: text[:1].upper() + text[1:],
    }
    return environment.get_template("page.html.j2")


def _pairs(here: Sequence[Bar], elsewhere: Sequence[Bar]) -> list[dict[str, Any]]:
    """Bars of two histograms, one before the other: labels, and heights relative to the highest."""
    highest = max((bar.value for bar in (*here, *elsewhere)), default=0) or 1.0
    labelled = range(len(here)) if len(here) <= LABELLED else (0, len(here) // 2, len(here) - 1)
    return [
        {
            "label": bar.label.replace(" or more", "+").replace("below ", "<") if i in labelled else "",
            "share": bar.value if len(here) <= LABELLED else None,
            "height": bar.value / highest,
            "height_elsewhere": other.value / highest,
        }
        for i, (bar, other) in enumerate(zip(here, elsewhere, strict=False))
    ]


def _groups_title(report: ReportData) -> str:
    """Title of the section of groups and time."""
    groups = [f"by {report.groups.name}"] if report.groups else []
    title = " and ".join(groups + (["over time"] if report.timeline else []))
    return title[:1].upper() + title[1:]


def _times_words(report: ReportData) -> dict[int, str]:
    """Lines over time, described for screen readers."""
    lines, naming = () if report.timeline is None else report.timeline.lines, report.naming
    return {
        line.number: "Over time. "
        + " ".join(f"{at.when}: {signed_points(at.tone, naming)}." for at in line.points if at.tone is not None)
        for line in lines
    }


def _passing(report: ReportData) -> float | None:
    """First level on the better side of the scale's middle; None with fewer than three levels."""
    if len(report.levels) < 3:
        return None
    middle, better = (report.levels[0] + report.levels[-1]) / 2, report.naming.better
    return next(level for level in report.levels[::better] if better * (level - middle) > 0)


def _bars_words(bars: Iterable[Bar], what: str) -> str:
    return ". ".join(f"{bar.label}: {percent(bar.value, 1)} {what}" for bar in bars) + "."


def _prediction_words(prediction: Prediction | None) -> dict[str, str]:
    """Charts of skill, described for screen readers."""
    if prediction is None:
        return dict.fromkeys(("agreement_words", "reliability_words", "pit_words"), "")
    means = ". ".join(
        f"{number(mean.predicted)} predicted: {number(mean.observed)} observed" for mean in prediction.means
    )
    odds = ". ".join(
        f"{percent(point.probability)} predicted: {percent(point.happened)} happened"
        for point in prediction.reliability
    )
    places = ". ".join(f"{bar.label}: {number(bar.value)}" for bar in prediction.pit)
    return {
        "agreement_words": f"{means}.",
        "reliability_words": f"Predicted probabilities against how often it happened. {odds}.",
        "pit_words": f"Histogram of places in the predicted distribution, 1 as predicted. {places}.",
    }
