"""Cards of themes: numbers, stability, ranges, and quotes with the telling words marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.insight.drivers import driver_table, theme_table, with_words
from textsignal.insight.examples import find_sentences
from textsignal.insight.naming import MEASURES, Naming, percent, with_clear
from textsignal.reading.themes import Reading, ThemeReader
from textsignal.reading.words import unique_labels
from textsignal.report.values.data import (
    Excerpt,
    Floats,
    GroupTable,
    Quote,
    QuoteGroup,
    Ranges,
    ReportedModel,
    ReportSettings,
    Segment,
    ThemeCard,
    Timeline,
)
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.wording import one_line, visible
from textsignal.text.tokenise import located_words
from textsignal.text.tokens import SentenceTexts
from textsignal.training.theme_model import FittedThemes, ThemeReading
from textsignal.uncertainty.effect_table import EffectTable, with_intervals
from textsignal.uncertainty.stability import quick_stability

#: Terms on a card.
CARD_TERMS = 15
#: Quotes of each kind: typical documents, documents with a high or low response, sentences; and their longest length.
TYPICAL, EXTREME, SENTENCES, TEXT_CAP = 3, 2, 3, 600
#: A document's share in a theme counts for known / (known + SHORT), so that two-word texts are not typical.
SHORT = 10
#: Mark a term if half of it comes from the theme in this document, and this share of it in all documents.
MARKED, STRONGLY_MARKED = 0.2, 0.4
#: Marks of the levels of `theme_marks`.
MARKS = ("", "theme", "strong")
#: Mark a word that adds at least this share of what the strongest word of its sentence adds.
MARKED_TONE = 0.35
#: Note on why a number is not the centre of its range.
SHRUNK = {
    "theme": (
        "A number need not be in the middle of its range, and may even be outside: numbers are the model's, drawn "
        "towards what all themes have in common so that chance moves them less; ranges are of each theme by itself, "
        "corrected for what tone misses."
    ),
    "theme": (
        "A number need not be in the middle of its range: numbers are those of this model, ranges those of models that "
        "were learnt anew from samples of the texts and judged by texts that they had not seen."
    ),
}


def theme_cards(model: ReportedModel, documents: ReportTexts, settings: ReportSettings) -> list[ThemeCard]:
    """Return one card per theme, the largest cost first."""
    reader = model.reader_
    table = with_words(reader, driver_table(documents.spoken), model.labels_, CARD_TERMS)
    described = theme_table(reader, model.labels_, 1).set_index("theme")
    stability = theme_stability(model, documents.reading)
    names = unique_labels(table["label"].map(one_line).tolist())
    cards = [
        _card(row, names[row["theme"]], described.loc[row["theme"]], documents, stability[row["theme"]])
        for row in table.to_dict("records")
    ]
    cards.sort(key=lambda card: -card.cost)
    if not settings.with_texts:
        return cards
    quotes = _quotes(reader, documents, settings.naming)
    return [replace(card, evidence=quotes(card.number)) for card in cards]


def with_comparisons(
    cards: Sequence[ThemeCard], groups: GroupTable | None, timeline: Timeline | None
) -> list[ThemeCard]:
    """Add the worst and best groups, and the trend, to cards in the order of both tables."""
    if groups is not None:
        cards = [replace(card, worst=of.worst, best=of.best) for card, of in zip(cards, groups.themes, strict=True)]
    if timeline is not None:
        cards = [
            replace(card, trend=f"{line.trend}; {line.reached}") if line.trend else card
            for card, line in zip(cards, timeline.lines, strict=True)
        ]
    return list(cards)


def _card(
    row: dict[str, Any], label: str, described: Any, documents: ReportTexts, stability: float | None
) -> ThemeCard:
    """Card without evidence, from a row of the table of drivers and one of the table of themes."""
    spoken = documents.spoken.mentioned[:, row["theme"]]
    here, elsewhere = documents.responses[spoken], documents.responses[~spoken]
    return ThemeCard(
        number=int(row["theme"]),
        label=label,
        terms=tuple(map(one_line, row["terms"])),
        mentions=float(row["mentions"]),
        share=float(row["share"]),
        spoken=int(spoken.sum()),
        mean_response=_mean(here),
        mean_elsewhere=_mean(elsewhere),
        praise=float(np.nan_to_num(row["praise"])),
        complaints=float(np.nan_to_num(row["complaints"])),
        raises=tuple(map(one_line, row.get("raises", ()))),
        lowers=tuple(map(one_line, row.get("lowers", ()))),
        cost=float(row["cost"]),
        gain=float(row["gain"]),
        coherence=float(described["coherence"]),
        effect=float(described["effect"]) if "effect" in described else None,
        prevalence=float(described["prevalence"]) if "prevalence" in described else None,
        spoken_responses=() if _mean(here) is None else documents.bins.bars(here),
        elsewhere_responses=documents.bins.bars(elsewhere),
        stability=stability,
        evidence=None,
    )


def _mean(responses: Floats) -> float | None:
    known = responses[~np.isnan(responses)]
    return float(known.mean()) if known.size else None


def _quotes(reader: ThemeReader, documents: ReportTexts, naming: Naming) -> Callable[[int], tuple[QuoteGroup, ...]]:
    """Theme -> quotes: documents for themes on a matrix, sentences for themes."""
    if isinstance(reader, MatrixReader):
        return lambda theme: document_quotes(reader, documents, theme, naming.response)
    assert isinstance(reader, ThemeReader)
    assert documents.reading.clauses is not None
    added = word_contributions(reader.fitted, documents.reading.clauses)
    return lambda theme: sentence_quotes(reader, documents, theme, added, naming)


def document_quotes(
    reader: MatrixReader, documents: ReportTexts, theme: int, response_name: str
) -> tuple[QuoteGroup, ...]:
    """Quote documents led by a theme, those with most of it first; high and low are the scale's outer quarters."""
    bins, responses = documents.bins, documents.responses
    quarter = (bins.high - bins.low) / 4
    score = documents.shares[:, theme] * documents.n_known / (documents.n_known + SHORT)
    led = np.flatnonzero(documents.leader == theme)
    order = led[np.argsort(-score[led], kind="stable")]
    kinds = [
        ("Typical documents", 0, order, TYPICAL),
        (f"Typical, with a high {response_name}", 1, order[responses[order] >= bins.high - quarter], EXTREME),
        (f"Typical, with a low {response_name}", -1, order[responses[order] <= bins.low + quarter], EXTREME),
    ]
    used: set[str] = set()
    groups = []
    for title, sign, rows, n in kinds:
        chosen = _different(documents.reading.texts, rows, n, used)
        groups.append(QuoteGroup(title, sign, tuple(_document_quote(reader, documents, row, theme) for row in chosen)))
    return tuple(groups)


def _different(texts: Sequence[str], rows: NDArray[np.int64], n: int, used: set[str]) -> list[int]:
    """First `n` rows with a text that is not in `used`, which is updated."""
    chosen: list[int] = []
    for row in rows.tolist():
        if len(chosen) == n:
            break
        if texts[row] not in used:
            used.add(texts[row])
            chosen.append(row)
    return chosen


def _document_quote(reader: MatrixReader, documents: ReportTexts, row: int, theme: int) -> Quote:
    text, weights = documents.reading.texts[row], documents.reading.predictions.weights[row]
    levels = theme_marks(reader, text, weights.astype(float), theme)
    return Quote(
        row=row + 1,
        response=_response(documents, row),
        prediction=float(documents.mean[row]),
        share=float(documents.shares[row, theme]),
        held_out=bool(documents.held_out[row]),
        excerpt=_excerpt(text, documents.shown(row), levels, [MARKS[level] for level in levels]),
    )


def _response(documents: ReportTexts, row: int) -> float | None:
    response = float(documents.responses[row])
    return None if np.isnan(response) else response


def _excerpt(text: str, shown: Sequence[str], importance: NDArray[np.int8], marks: Sequence[str]) -> Excerpt:
    """Most important stretch of a text; shown, importance, marks : (characters,)."""
    start, end = excerpt(text, importance)
    return Excerpt(segments(shown, marks, start, end), start > 0, end < len(text))


def theme_marks(reader: MatrixReader, text: str, weights: Floats, theme: int) -> NDArray[np.int8]:
    """Return (characters,) 2 where a term is strong evidence of the theme, 1 where it is weaker evidence, else 0.

    The share of term j that comes from theme k is w_k H_kj / (wH)_j: in a document by its own `weights` (themes,), in
    all documents by their mean weights.
    """
    marks = np.zeros(len(text), dtype=np.int8)
    located = reader.vectorizer.locate(text, cleaned=True)
    for term in located.terms:
        profile = reader.estimator.components_[:, term.column]
        here = _share(weights * profile, theme)
        overall = _share(reader.estimator.mean_weights_ * profile, theme)
        level = int(here >= 0.5) * (int(overall >= MARKED) + int(overall >= STRONGLY_MARKED))
        for position in term.positions:
            token = located.tokens[position]
            marks[token.start : token.end] = np.maximum(marks[token.start : token.end], level)
    return marks


def _share(parts: Floats, theme: int) -> float:
    return float(parts[theme] / max(parts.sum(), np.finfo(float).tiny))


def excerpt(text: str, marks: NDArray[np.int8], cap: int = TEXT_CAP) -> tuple[int, int]:
    """Return start and end of a stretch of whole words, of at most `cap` characters, that holds most marks.

    Examples
    --------
    >>> text = "We stayed there. The bath was dirty. We left."
    >>> start, end = excerpt(text, np.array([letter in "bath dirty" for letter in text]) * 1, cap=22)
    >>> text[start:end]
    'The bath was dirty.'
    """
    if len(text) <= cap:
        return 0, len(text)
    sums = np.concatenate([[0], np.cumsum(marks)])
    inside = sums[cap:] - sums[:-cap]
    best = np.flatnonzero(inside == inside.max())
    start = int(best[best.size // 2])
    end = start + cap
    first, last = text.find(" ", start, end), text.rfind(" ", start, end)
    if start > 0 and text[start - 1] != " " and first >= 0:
        start = first + 1
    return start, last if end < len(text) and last > start else end


def segments(shown: Sequence[str], marks: Sequence[str], start: int, end: int) -> tuple[Segment, ...]:
    """Cut a stretch of a text where the mark changes; control characters become visible signs.

    shown, marks : (characters,) the characters as displayed, and the mark of each.

    Examples
    --------
    >>> segments("so clean", ["", "", "", *["up"] * 5], 0, 8)
    (Segment(text='so ', mark=''), Segment(text='clean', mark='up'))
    """
    runs = groupby(range(start, end), key=lambda i: marks[i])
    pieces = ((mark, "".join(shown[i] for i in run)) for mark, run in runs)
    return tuple(Segment(visible(piece), mark) for mark, piece in pieces if piece)


def sentence_quotes(
    reader: ThemeReader, documents: ReportTexts, theme: int, added: Floats, naming: Naming
) -> tuple[QuoteGroup, ...]:
    """Quote sentences that praise a theme and sentences that complain; added : from `word_contributions`."""
    reading = documents.reading.clauses
    assert reading is not None
    groups = []
    for sign, title in ((1, f"Mentions of {naming.ways[1]}"), (-1, f"Mentions of {naming.ways[0]}")):
        raising = sign * documents.spoken.better > 0
        table = find_sentences(reading, reader.fitted.effects, theme, SENTENCES, raising, documents.responses)
        numbers = map(partial(_sentence_number, reading.texts), table["row"].tolist(), table["sentence"])
        quotes = (_sentence_quote(documents, reading.texts, sentence, added) for sentence in numbers)
        groups.append(QuoteGroup(title, sign, tuple(quotes)))
    return tuple(groups)


def _sentence_number(texts: SentenceTexts, document: int, sentence: str) -> int:
    first, last = np.searchsorted(texts.documents, [document, document + 1]).tolist()
    spans = texts.spans[first:last].tolist()
    return next(first + i for i, (start, end) in enumerate(spans) if texts.texts[document][start:end] == sentence)


def _sentence_quote(documents: ReportTexts, texts: SentenceTexts, sentence: int, added: Floats) -> Quote:
    row = int(texts.documents[sentence])
    text, (start, end) = texts.texts[row], texts.spans[sentence].tolist()
    alone, words = text[start:end], added[texts.indptr[sentence] : texts.indptr[sentence + 1]]
    shown = documents.shown(row)
    return Quote(
        row=row + 1,
        response=_response(documents, row),
        prediction=float(documents.mean[row]),
        share=None,
        held_out=bool(documents.held_out[row]),
        excerpt=Excerpt(segments(shown[start:end], tone_marks(alone, documents.spoken.better * words), 0, end - start)),
        around=_around(text, shown, start, end) if alone != text.strip() else None,
    )


def word_contributions(model: FittedThemes, reading: ThemeReading) -> Floats:
    """Return (all words,) the contribution of each word's tone to its document's linear predictor."""
    counts = (reading.places @ model.effects.gamma)[reading.texts.sentence_of_word]
    return np.asarray(counts * reading.word_tone(model.features), dtype=float)


def tone_marks(sentence: str, added: Floats) -> list[str]:
    """Return (characters,) "up" and "down" where a word clearly improves or worsens the prediction, else "".

    added : (words of the sentence,) contributions, positive for better.

    Examples
    --------
    >>> "".join(mark[:1] or "." for mark in tone_marks("so clean", np.array([0.0, 0.3])))
    '...uuuuu'
    """
    marks = [""] * len(sentence)
    tokens = located_words(sentence)
    if len(tokens) != len(added):  # a character that is several words
        return marks
    least = MARKED_TONE * np.abs(added).max(initial=0)
    for token, value in zip(tokens, added.tolist(), strict=True):
        if abs(value) >= least and value:
            marks[token.start : token.end] = ["up" if value > 0 else "down"] * (token.end - token.start)
    return marks


def _around(text: str, shown: Sequence[str], start: int, end: int) -> Excerpt:
    """Document around a sentence, which is marked; shown : (characters,) as displayed."""
    inside: NDArray[np.int8] = np.zeros(len(text), dtype=np.int8)
    inside[start:end] = 1
    if end - start > TEXT_CAP:
        return Excerpt((Segment(visible("".join(shown[start : start + TEXT_CAP])), "here"),), start > 0, True)
    return _excerpt(text, shown, inside, ["here" if here else "" for here in inside])


def theme_stability(model: ReportedModel, reading: Reading) -> list[float | None]:
    """Return (themes,) the share of quick refits that reproduce each; None for themes on a matrix and for new texts."""
    reader, n_themes = model.reader_, len(model.reader_.profiles)
    if not isinstance(reader, ThemeReader) or reading.clauses is None:
        return [None] * n_themes
    shares = quick_stability(reader, reading.clauses, model.seed_words)
    return [None] * n_themes if shares is None else shares.tolist()


def cards_with_ranges(cards: Sequence[ThemeCard], effects: EffectTable | None) -> list[ThemeCard]:
    """Add the ranges of cost and gain to cards; `effects` is None for a report without ranges."""
    if effects is None:
        return list(cards)
    table = pd.DataFrame({"theme": [card.number for card in cards], **dict.fromkeys(MEASURES, np.nan)})
    table = with_clear(with_intervals(table, effects), effects.frame, effects.level)
    ranges = table.drop(columns=["theme", *MEASURES]).astype(object)
    rows = ranges.where(ranges.notna(), None).to_dict("records")
    return [replace(card, **row) for card, row in zip(cards, rows, strict=True)]


def ranges_of(
    cards: Sequence[ThemeCard], effects: EffectTable | None, settings: ReportSettings, noun: str
) -> Ranges | None:
    """Explain the ranges; None without ranges."""
    if effects is None:
        return None
    share, chance = percent(effects.level), percent(1 - effects.level)
    sentences = [
        f"Ranges in brackets are {share} confidence intervals, each {noun} by itself: were such texts gathered again "
        f"and again, {share} of ranges made like this would hold the true value.",
        f"What a {noun} costs or brings is marked “not clear” where it cannot be told from nothing with all "
        f"{len(cards)} {noun}s judged together (Holm’s correction): the chance that any {noun} is wrongly said to cost "
        f"something is at most {chance}, and the same holds for bringing something.",
    ]
    if settings.within:
        sentences.append(f"Texts of the same {settings.within.replace('_', ' ')} are taken to depend on each other.")
    if noun == "theme":
        known = any(card.stability is not None for card in cards)
        firm = "“comes back” on the cards says" if known else "model.stability() says"
        sentences.append(f"Ranges take the themes as they are; {firm} how firm these are.")
    differs = _differs(cards, effects, settings.naming)
    return Ranges(effects.level, tuple(sentences), SHRUNK[noun] if differs else "", f"{share}. {effects.method}")


def _differs(cards: Sequence[ThemeCard], effects: EffectTable, naming: Naming) -> bool:
    """True if a number, as displayed, differs from the estimate that its range is around."""
    for name in MEASURES:
        estimates = effects.of(name).set_index("theme")["estimate"]
        for card in cards:
            centre = estimates.loc[card.number]
            if not np.isnan(centre) and naming.points(centre) != naming.points(getattr(card, name)):
                return True
    return False
