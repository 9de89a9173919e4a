"""Documents to look through: what the page shows of each, packed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.errors import InputError
from textsignal.insight.explanation import slope_of
from textsignal.reading.reader import Reader
from textsignal.reading.spoken import Spoken
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.browse_data import Browse
from textsignal.report.values.data import Bar, Floats, ReportSettings
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.packing import packed, packed_lines
from textsignal.report.values.wording import one_line, visible
from textsignal.training.theme_reading import sentence_ends

#: Documents in a page, and characters of each, at most.
MOST, LONGEST = 5_000, 3_000
#: What stands between documents, and at the end of every sentence; `visible` leaves neither in a text.
NEXT_DOCUMENT, SENTENCE_END = "\x01", "\x02"
#: How a document speaks of a topic.
NOT_AT_ALL, NEUTRALLY, WELL, BADLY = range(4)


def check_n_documents(n_documents: int) -> None:
    """Raise InputError where so many documents cannot be put into a page."""
    if not 0 <= n_documents <= MOST:
        raise InputError(f"n_documents is {n_documents:,}: between 0 and {MOST:,} documents can be put into a report")


def documents_to_browse(
    reader: Reader, documents: ReportTexts, settings: ReportSettings, bars: Sequence[Bar]
) -> Browse | None:
    """What the page shows of documents, a sample where there are more than asked for; None where it shows none.

    bars : of all responses, by which documents are found.
    """
    if not settings.with_texts or not settings.n_documents:
        return None
    rows = sample(len(documents.responses), settings.n_documents)
    texts = [documents.reading.texts[row] for row in rows.tolist()]
    stops = [_stop(text) for text in texts]
    sentences = _sentences(reader, documents, rows)
    kept = [sentences.of(row, stop) for row, stop in zip(rows.tolist(), stops, strict=True)]
    ends = [sentences.spans[part, 1].tolist() for part in kept]
    left = np.array([len(text) - stop for text, stop in zip(texts, stops, strict=True)], dtype="<u4")
    numbers, names = _groups(documents.groups, rows)
    columns = {
        "texts": packed_lines(map(_shown, map(documents.shown, rows.tolist()), stops, ends), NEXT_DOCUMENT),
        "rows": packed_lines(str(row + 1) for row in rows.tolist()),
        "responses": packed_lines("" if np.isnan(y) else f"{y:g}" for y in documents.responses[rows].tolist()),
        "predictions": packed_lines(_mean(mean, settings) for mean in documents.mean[rows].tolist()),
        "levels": packed(bar_of(documents.responses[rows], bars)),
        "heldOut": packed(documents.held_out[rows].astype(np.uint8)),
        "stances": packed(stances(documents.spoken.at(rows))),
        "topics": packed(np.concatenate([sentences.topics[part] for part in kept]).astype("<u2")),
        "points": packed(np.concatenate([sentences.points[part] for part in kept]).astype("<f4")),
        "left": packed(left),
    }
    if names:
        columns["groups"] = packed(numbers.astype("<u4"))
    if documents.times is not None:
        columns["dates"] = packed_lines("" if np.isnat(day) else str(day) for day in documents.times[rows])
    return Browse(
        shown=len(rows),
        documents=len(documents.responses),
        longest=LONGEST,
        n_cut=int(np.count_nonzero(left)),
        scale=documents.bins.high - documents.bins.low,
        responses=tuple(bar.label for bar in bars),
        no_response=bool(np.isnan(documents.responses[rows]).any()),
        groups=names,
        no_group=bool(names) and not numbers.all(),
        group_name=settings.group_name,
        columns=columns,
    )


def _mean(mean: float, settings: ReportSettings) -> str:
    return settings.naming.mean(mean, 1).replace("-", "−")


def sample(n: int, n_shown: int) -> NDArray[np.int64]:
    """Rows to show, in their order: all, or so many at random, always the same."""
    if n <= n_shown:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, n_shown, replace=False))


def stances(spoken: Spoken) -> NDArray[np.uint8]:
    """(documents, topics) how each document speaks of each topic."""
    how = np.where(spoken.good != 0, WELL, np.where(spoken.bad != 0, BADLY, NEUTRALLY))
    return np.where(spoken.spoken, how, NOT_AT_ALL).astype(np.uint8)


@dataclass(frozen=True)
class _Sentences:
    """Sentences of all documents; topics on a matrix know none.

    ends : (documents + 1,) where each document's sentences begin; spans : (sentences, 2) where each stands in its text.
    topics : (sentences,) the main one; points : (sentences,) what their tone adds, in points of the response.
    """

    ends: NDArray[np.int64]
    spans: NDArray[np.int64]
    topics: NDArray[np.int64]
    points: Floats

    def of(self, row: int, stop: int) -> slice:
        """The sentences of a document that begin before `stop`."""
        first, last = self.ends[row : row + 2].tolist()
        return slice(first, first + int(np.searchsorted(self.spans[first:last, 0], stop)))


def _sentences(reader: Reader, documents: ReportTexts, rows: NDArray[np.int64]) -> _Sentences:
    """Sentences with their tone, by numbers that have not seen the response; points of these rows alone."""
    reading = documents.reading.sentences
    if reading is None:
        no_ends, none = np.zeros(len(documents.responses) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return _Sentences(no_ends, none.reshape(0, 2), none, none.astype(float))
    assert isinstance(reader, ThemeReader)
    effects = reader.fitted.effects
    tone = reader.fitted.training.unseen_tone(reading) * (reading.places @ effects.gamma)
    slopes = np.zeros(len(documents.responses))
    baselines = effects.constant + documents.reading.predictions.given[rows]
    pairs = zip(baselines.tolist(), documents.spoken.eta[rows].tolist(), strict=True)
    slopes[rows] = [slope_of(reader.family, baseline, eta) for baseline, eta in pairs]
    points = tone * slopes[reading.texts.documents]
    return _Sentences(sentence_ends(reading.texts), reading.texts.spans, reading.places.argmax(axis=1), points)


def _shown(characters: Sequence[str], stop: int, ends: Sequence[int]) -> str:
    """A text up to `stop` with a sign behind every sentence; characters : as shown; ends : of sentences."""
    edges = [0, *(min(end, stop) for end in ends), stop]
    pieces = (visible("".join(characters[start:end]).replace("\r\n", "\n")) for start, end in pairwise(edges))
    return SENTENCE_END.join(pieces)


def _stop(text: str) -> int:
    """How many characters of a text are shown; a long one is cut between words."""
    if len(text) <= LONGEST:
        return len(text)
    space = text.rfind(" ", LONGEST // 2, LONGEST)
    return space if space >= 0 else LONGEST


def bar_of(responses: Floats, bars: Sequence[Bar]) -> NDArray[np.uint8]:
    """(documents,) the bar that each response is in, from 1; 0 for none. The outer bars hold what lies beyond them."""
    if not bars:
        return np.zeros(len(responses), dtype=np.uint8)
    places = np.searchsorted([bar.low for bar in bars], np.nan_to_num(responses), side="right")
    return np.where(np.isnan(responses), 0, np.maximum(places, 1)).astype(np.uint8)


def _groups(groups: pd.Series | None, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """(documents,) the group of each, from 1, 0 for none; and the groups' names, in order."""
    if groups is None:
        return np.zeros(len(rows), dtype=np.int64), ()
    names = groups.iloc[rows].map(lambda group: one_line(str(group)), na_action="ignore")
    codes, found = pd.factorize(names, sort=True)
    return codes + 1, tuple(found)
