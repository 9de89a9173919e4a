"""From the content of a report to one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from textsignal.data.write import whole_file
from textsignal.errors import OutputError
from textsignal.insight.drivers import compared
from textsignal.insight.groups import FEW, day_name
from textsignal.insight.naming import MEASURES, range_of
from textsignal.reading.themes import Reading
from textsignal.reading.words import UNPLACED
from textsignal.report.page.charts import chart_specs, drawable
from textsignal.report.page.library import library
from textsignal.report.values.browser import LONGEST, STANCES, Browse
from textsignal.report.values.comparisons import NOUNS, OtherResponses, other_responses, page_names
from textsignal.report.values.data import ReportedModel, ReportedModels, ReportSettings
from textsignal.report.values.prepare import ReportData, prepare
from textsignal.report.values.wording import (
    changes,
    count,
    extremes,
    kinds_of_clauses,
    mean_response,
    number,
    percent,
    points,
    signed_points,
    verbs,
)
from textsignal.text.tokens import read_sentences
from textsignal.uncertainty.effects import EffectTable

#: Scripts of the page, in this order.
SCRIPTS = (
    *("reading.js", "families.js", "clauses.js", "sentences.js", "judgement.js", "themes.js"),
    *("marks.js", "try.js", "texts.js", "charts.js", "page.js", "groups.js"),
)
#: Numbers of a theme for the page's scripts.
NUMBERS = (
    *("number", "label", "is_overall", "mentions", "complaints", "praise", "neutral", "share"),
    *("mean_complaint", "mean_praise", "mean_mention", "mean_elsewhere", "cost", "cost_per_complaint"),
    *("gain", "gain_per_praise", "share_of_low", "share_of_gap"),
)
#: Most bars on a card that all have a label.
LABELLED = 11
#: Most groups, and themes, in the printed table of groups.
ON_PAPER = 12
#: Words in a row that identify a text if no texts may be displayed; fewest words of a text, and of a sentence.
RUN, SHORTEST, SENTENCE = 8, 4, 6


def write_report(
    model: ReportedModel,
    path: str | Path,
    reading: Reading,
    settings: ReportSettings | None = None,
    *,
    effects: EffectTable | None = None,
    force: bool = False,
) -> None:
    """Write a report to `path`, whole or not at all; `force` replaces an existing file."""
    with whole_file(Path(path), force=force) as file:
        report = prepare(model, reading, settings, effects)
        page = render(report)
        if not report.settings.with_texts:
            check_no_texts(page, reading.texts)
        file.write_text(page, encoding="utf-8", newline="\n")


def pages_of(model: ReportedModels) -> dict[Any, str]:
    """Return the file name of the page of each response, or class: report.html if there is a single response."""
    return page_names([str(name) for name in model.names]) or {None: "report.html"}


def write_pages(
    model: ReportedModels,
    readings: Sequence[Reading],
    folder: Path,
    settings: ReportSettings,
    *,
    effects: EffectTable | None = None,
) -> None:
    """Write a page for each response, or class, into a folder; each has links to the others."""
    models, pages = {str(name): one for name, one in model.models.items()}, [*pages_of(model).values()]
    others: dict[str, OtherResponses] = {}
    if model.names:
        table = compared(dict(zip(models, [each.mentions for each in readings], strict=True)), model.theme_names)
        noun = "class" if next(iter(models.values())).naming_.is_class else "response"
        others = other_responses(table, {name: one.naming_ for name, one in models.items()}, noun)
    for (name, one), reading, page in zip(models.items(), readings, pages, strict=True):
        own = replace(settings, responses=others.get(name))
        write_report(one, folder / page, reading, own, effects=effects)


def render(report: ReportData) -> str:
    """Lay a report out as one self-contained HTML file."""
    scripts, naming, prediction = [library(), *map(_asset, SCRIPTS)], report.naming, report.prediction
    browse, levels = report.browse, bool(report.bins.levels.size)
    return _template().render(
        report=report,
        settings=report.settings,
        naming=naming,
        bad=naming.ways[0],
        good=naming.ways[1],
        verbs=verbs(naming),
        extremes=extremes(naming, report.settings.group_name),
        changes=changes(naming),
        kinds=kinds_of_clauses(naming),
        has_sides=naming.is_class or naming.has_no_direction,
        version=version("textsignal"),
        ours=None if prediction is None else prediction.measured("this model"),
        policy=_policy(scripts),
        style=Markup(_asset("page.css")),
        scripts=[Markup(script) for script in scripts],
        data=Markup(_json(_page_data(report))),
        model_data=Markup(_json(report.model)),
        browse_data=Markup(_json({} if browse is None else _browse_data(browse))),
        labelled=LABELLED,
        few=FEW,
        on_paper=ON_PAPER,
        longest=LONGEST,
        nouns=NOUNS,
        level="level" if levels else "range",
        points=lambda value, more=0: points(value, naming, more),
        span=range_of,
        written=lambda span, more=0: span.written(naming, more),
        signed_points=partial(signed_points, naming=naming),
        mean=lambda value, digits=2: mean_response(value, naming, digits),
        number=number,
        percent=percent,
    )


def check_no_texts(page: str, texts: Iterable[str]) -> None:
    """Raise if a page holds a text of SHORTEST words, a sentence of SENTENCE, or 2 RUN - 1 words in a row.

    Every RUN-th run of RUN words of each text is looked for, so that a longer stretch always holds one of them, and
    the beginning of every sentence. Commas count, so that a list of terms is not taken for a text.
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


def _page_data(report: ReportData) -> dict[str, Any]:
    """Numbers and names for the page's scripts."""
    ranges = () if not report.ranges else [f"{name}_{part}" for name in MEASURES for part in ("low", "high", "clear")]
    naming, bins = report.naming, report.bins
    data = {
        "response": naming.name,
        "unit": naming.unit,
        "event": naming.event,
        "noted": naming.noted,
        "isClass": naming.is_class,
        "ways": [way.capitalize() for way in naming.short_ways],
        "kinds": kinds_of_clauses(naming),
        "unplaced": UNPLACED,
        "better": naming.better,
        "steps": naming.steps,
        "digits": naming.digits,
        "levels": bins.levels.tolist(),
        "bins": {"labels": bins.labels, "edges": bins.edges.tolist(), "whole": bins.whole},
        "scale": bins.high - bins.low,
        "themes": [{name: getattr(theme, name) for name in (*NUMBERS, *ranges)} for theme in report.themes],
        "charts": {name: drawable(spec) for name, spec in chart_specs(report).items()},
        "examples": report.examples,
    }
    whole = _json([data, report.model])
    return data | {"id": hashlib.sha256(whole.encode()).hexdigest()[:16]}


def _browse_data(browse: Browse) -> dict[str, Any]:
    """Texts to look through, for the page's scripts."""
    return {"groups": browse.groups, "columns": browse.columns, "stances": STANCES}


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
        "percent": percent,
        "day": day_name,
        "capital": lambda text: text[:1].upper() + text[1:],
    }
    return environment.get_template("page.html.j2")
