"""Cards of themes: numbers, stability, intervals, and quotes with the words that matter marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from textsignal.insight.drivers import driver_table, with_words
from textsignal.insight.examples import find_clauses
from textsignal.reading.themes import ThemeReader
from textsignal.reading.words import unique_labels
from textsignal.report.values.data import Floats, ReportedModel
from textsignal.report.values.texts import Bar, ReportTexts
from textsignal.report.values.wording import one_line, visible
from textsignal.text.tokenise import located_words
from textsignal.text.tokens import SentenceTexts
from textsignal.uncertainty.effects import EffectTable, with_intervals
from textsignal.uncertainty.stability import QUICK_REFITS, STABLE, quick_stability

#: Terms on a card.
CARD_TERMS = 15
#: Columns of drivers that are 0 if no text counts.
FILLED = ("mentions", "complaints", "praise", "neutral", "share", "cost", "gain")
#: Quoted clauses of each kind, and most characters of the text around one.
QUOTED, TEXT_CAP = 3, 600
#: Mark a word that adds at least this share of what the strongest word of its clause adds.
MARKED_TONE = 0.35


class Segment(NamedTuple):
    """A piece of a text and its mark.

    mark : "" for plain; "up" and "down" for words that improve and worsen the prediction; "here" for a quoted clause.
    """

    text: str
    mark: str = ""


@dataclass(frozen=True)
class Quote:
    """A quoted clause.

    row : of its text, from 1; response, prediction : of the text; response is None if missing.
    around : the text around the clause; empty if the clause is all of it.
    """

    row: int
    response: float | None
    prediction: float
    held_out: bool
    clause: tuple[Segment, ...]
    around: tuple[Segment, ...]


@dataclass(frozen=True)
class ThemeCard:
    """Numbers and quotes of one theme.

    number : its number, that of `drivers`; is_overall : True for the overall verdict; terms : most relevant first.
    mentions, complaints, praise, neutral : shares of all texts that mention it, complain about it, praise it, and
        mention it without either; texts : number that mention it; share : of all words.
    mean_complaint, mean_praise, mean_mention, mean_elsewhere : mean response of texts that complain about it, praise
        it, mention it and do not mention it; None if unknown.
    raises, lowers : words that do so most.
    cost, gain : rise of the mean response without complaints about it, and fall without praise, by the fitted model.
    cost_per_complaint, gain_per_praise : cost over complaints, gain over praise; None if there are none.
    share_of_low : share of the fifth of the texts with the worst responses that complain about it; None if unknown.
    share_of_gap : cost over the distance from the mean to the best response; None if there is no best one.
    coherence : of its terms; None for the overall verdict.
    responses, responses_elsewhere : distribution of responses in texts that mention it and in the others, in shares.
    stability : share of refits to halves of the training texts that reproduce it; None if unknown.
    praising, complaining : quoted clauses; empty if no text may be displayed.
    cost_low, cost_high, cost_clear : interval of the cost, and True if it is significant with all themes judged
        together; likewise for the gain. None without intervals.
    """

    number: int
    label: str
    is_overall: bool
    mentions: float
    complaints: float
    praise: float
    neutral: float
    texts: int
    share: float
    mean_complaint: float | None
    mean_praise: float | None
    mean_mention: float | None
    mean_elsewhere: float | None
    raises: tuple[str, ...]
    lowers: tuple[str, ...]
    cost: float
    cost_per_complaint: float | None
    gain: float
    gain_per_praise: float | None
    share_of_low: float | None
    share_of_gap: float | None
    terms: tuple[str, ...]
    coherence: float | None
    responses: tuple[Bar, ...]
    responses_elsewhere: tuple[Bar, ...]
    stability: float | None
    praising: tuple[Quote, ...] = ()
    complaining: tuple[Quote, ...] = ()
    cost_low: float | None = None
    cost_high: float | None = None
    cost_clear: bool | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    gain_clear: bool | None = None

    @property
    def unstable(self) -> bool:
        """True if most refits to other samples of the texts do not reproduce it."""
        return self.stability is not None and self.stability < STABLE

    @property
    def reproduced(self) -> str:
        """Number of refits that reproduce it, in words: too few for a percentage."""
        return "" if self.stability is None else f"{round(self.stability * QUICK_REFITS)} of {QUICK_REFITS}"


def theme_cards(model: ReportedModel, texts: ReportTexts, effects: EffectTable | None) -> list[ThemeCard]:
    """Return one card per theme, the largest cost first and the overall verdict last.

    effects : None for no intervals.
    """
    reader = model.reader_
    assert isinstance(reader, ThemeReader)
    mentions = texts.reading.mentions
    table = with_words(reader, driver_table(mentions), model.labels_, CARD_TERMS)
    stability = quick_stability(reader, texts.reading.clauses, model.seed_words)
    table = table.fillna(dict.fromkeys(FILLED, 0.0)).assign(
        label=unique_labels(table["label"].map(one_line).tolist()),
        coherence=np.where(table["is_overall"], np.nan, reader.words.coherence),
        stability=np.nan if stability is None else np.append(stability, np.nan),
    )
    if effects is not None:
        table = with_intervals(table, effects)
    table = table.sort_values(["is_overall", "cost"], ascending=[True, False], kind="stable")
    quotes = _Quotes(reader, texts) if texts.settings.with_texts else None
    cards = []
    table, responses = table.rename(columns={"theme": "number"}), texts.reading.observed.responses
    for row in table.astype(object).where(table.notna().to_numpy(), None).to_dict("records"):
        theme = row["number"]
        mentioned = mentions.mentioned[:, theme]
        here, elsewhere = responses[mentioned], responses[~mentioned]
        row |= {name: tuple(map(one_line, row[name])) for name in ("terms", "raises", "lowers")}
        row |= {"texts": here.size, "responses": () if row["mean_mention"] is None else texts.bins.bars(here)}
        row |= {} if quotes is None else {"praising": quotes.of(theme, 1), "complaining": quotes.of(theme, -1)}
        cards.append(ThemeCard(**row, responses_elsewhere=texts.bins.bars(elsewhere)))
    return cards


class _Quotes:
    """Quotes of clauses, with words marked by their tone.

    added : (all words,) contribution of each word's tone to its text's linear predictor, positive for better.
    """

    def __init__(self, reader: ThemeReader, texts: ReportTexts) -> None:
        self.texts, self.fitted = texts, reader.fitted
        reading = texts.reading.clauses
        gamma = self.fitted.effects.gamma[reading.clauses.places][reading.texts.sentence_of_word]
        self.added = texts.naming.better * gamma * reading.word_tone(self.fitted.features)

    def of(self, theme: int, sign: int) -> tuple[Quote, ...]:
        """Return clauses that praise a theme if `sign` is 1, and that complain if it is -1."""
        reading = self.texts.reading
        found = find_clauses(reading, theme, QUOTED, sign * self.texts.naming.better)
        rows = zip(found["row"].tolist(), found["clause"], strict=True)
        return tuple(self._quote(_number_of(reading.clauses.texts, row, clause)) for row, clause in rows)

    def _quote(self, number: int) -> Quote:
        texts, cut = self.texts, self.texts.reading.clauses.texts
        row, (start, end) = int(cut.documents[number]), cut.spans[number].tolist()
        text, shown, response = cut.texts[row], texts.shown(row), float(texts.reading.observed.responses[row])
        marks = tone_marks(text[start:end], self.added[cut.indptr[number] : cut.indptr[number + 1]])
        return Quote(
            row=row + 1,
            response=None if np.isnan(response) else response,
            prediction=float(texts.mean[row]),
            held_out=bool(texts.reading.observed.unseen[row]),
            clause=tuple(segments(shown[start:end], marks)),
            around=() if text[start:end] == text.strip() else tuple(_around(text, shown, start, end)),
        )


def _number_of(texts: SentenceTexts, row: int, clause: str) -> int:
    first, last = np.searchsorted(texts.documents, [row, row + 1]).tolist()
    spans = texts.spans[first:last].tolist()
    return next(first + i for i, (start, end) in enumerate(spans) if texts.texts[row][start:end] == clause)


def segments(shown: Sequence[str], marks: Sequence[str]) -> Iterator[Segment]:
    """Cut a text where the mark changes; control characters become visible signs.

    shown, marks : (characters,) the characters as displayed, and the mark of each.
    """
    for mark, run in groupby(range(len(marks)), key=marks.__getitem__):
        if piece := "".join(shown[i] for i in run):
            yield Segment(visible(piece), mark)


def tone_marks(clause: str, added: Floats) -> list[str]:
    """Return (characters,) "up" and "down" where a word clearly improves or worsens the prediction, else "".

    added : (words of the clause,) contributions, positive for better.
    """
    marks = [""] * len(clause)
    tokens = located_words(clause)
    if len(tokens) != len(added):  # a character that is several words
        return marks
    least = MARKED_TONE * np.abs(added).max(initial=0)
    for token, value in zip(tokens, added.tolist(), strict=True):
        if abs(value) >= least and value:
            marks[token.start : token.end] = ["up" if value > 0 else "down"] * (token.end - token.start)
    return marks


def _around(text: str, shown: Sequence[str], start: int, end: int) -> Iterator[Segment]:
    """Stretch of a text around a clause, which is marked; shown : (characters,) as displayed."""
    first, last = stretch(text, start, end)
    yield from [Segment("… ")] if first else []
    marks = ["here" if start <= i < end else "" for i in range(first, last)]
    yield from segments(shown[first:last], marks)
    yield from [Segment(" …")] if last < len(text) else []


def stretch(text: str, start: int, end: int, cap: int = TEXT_CAP) -> tuple[int, int]:
    """Return start and end of an excerpt of whole words, at most `cap` characters, centred on text[start:end]."""
    if len(text) <= cap:
        return 0, len(text)
    if end - start > cap:
        return start, start + cap
    starts = range(max(0, end - cap), min(start, len(text) - cap) + 1)
    first = starts[len(starts) // 2]
    last = first + cap
    space, last_space = text.find(" ", first, last), text.rfind(" ", first, last)
    if first > 0 and text[first - 1] != " " and space >= 0:
        first = space + 1
    return first, last_space if last < len(text) and last_space > first else last
