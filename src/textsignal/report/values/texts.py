"""Texts of a report with the numbers that it needs of each, bins of their responses, and a summary of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.evaluation.methods import fit_baselines
from textsignal.families import Family
from textsignal.insight.naming import Naming
from textsignal.reading.themes import Reading, ThemeReader
from textsignal.report.values.data import Floats, ReportSettings
from textsignal.report.values.wording import one_line, visible
from textsignal.text.cleaning import masked_characters
from textsignal.training.inference import unit_rows

#: Most bins of responses with levels, and approximate number of bins of responses without.
MOST_BARS, BARS = 21, 12
#: Share of the largest, and of the smallest, responses that go into the outer bins without widening them.
OUTERMOST = 0.005
#: Most training texts, and most held-out texts, for baselines; fewest training texts to fit them.
COMPARED, FEWEST = 20_000, 10
#: Bins of text lengths, and share of the longest texts that go into the last one.
LENGTH_BINS, LONGEST = 20, 0.01
#: Terms in the word cloud.
CLOUD_TERMS = 80
#: Quantiles of the predictions of example texts, and least and most words of one.
EXAMPLES, EXAMPLE_WORDS = (0.1, 0.5, 0.9), (15, 60)


class Bar(NamedTuple):
    """One bar of a histogram: label, edges, and count or share."""

    label: str
    low: float
    high: float
    value: float


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of the response.

    labels : (bins,); edges : (bins + 1,), where the outer bins also hold all that is beyond them.
    levels : (levels,) of the response, empty if it has none; whole : True if responses are whole numbers.
    """

    labels: tuple[str, ...]
    edges: Floats
    levels: Floats
    whole: bool = False

    @property
    def low(self) -> float:
        """Lower end of the scale."""
        return float(self.levels[0] if self.levels.size else self.edges[0])

    @property
    def high(self) -> float:
        """Upper end of the scale."""
        return float(self.levels[-1] if self.levels.size else self.edges[-1])

    def numbers(self, responses: Floats) -> NDArray[np.int64]:
        """Return (texts,) the bin of each response, from 0; -1 if missing."""
        numbers = np.clip(np.searchsorted(self.edges, responses, side="right") - 1, 0, len(self.labels) - 1)
        return np.where(np.isnan(responses), -1, numbers)

    def bars(self, responses: Floats) -> tuple[Bar, ...]:
        """Return the shares of responses in each bin, without missing ones."""
        known = responses[~np.isnan(responses)]
        shares = np.bincount(self.numbers(known), minlength=len(self.labels)) / max(known.size, 1)
        return bars_of(self.labels, self.edges, shares)

    def chances(self, family: Family, eta: Floats) -> Floats:
        """Return (texts, levels) probabilities of levels, or (texts, bins) of bins if there are no levels."""
        if self.levels.size:
            return family.level_probabilities(eta)
        inner = self.edges[1:-1] - (1 if self.whole else 0)
        below = np.asarray(family.distribution(eta[:, None]).cdf(inner[None, :]))
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    def happened(self, responses: Floats) -> Floats:
        """Return 1 for the observed level or bin, else 0, in the shape of `chances`."""
        if self.levels.size:
            return (np.abs(responses[:, None] - self.levels) < 1e-9).astype(float)
        return (self.numbers(responses)[:, None] == np.arange(len(self.labels))).astype(float)


def bins_of(family: Family, responses: Floats) -> Bins:
    """Make a bin for each level, or equal ones with round edges if there are many levels or none."""
    if hasattr(family, "levels"):
        return bins_of_levels(family.numbers, family.levels.tolist() if family.has_text else None)
    known = responses[~np.isnan(responses)]
    known = known if known.size else np.zeros(1)
    whole = hasattr(family.distribution(np.zeros(1)), "pmf") and bool(np.all(known == np.round(known)))
    return _of_counts(known) if whole else _of_numbers(known)


def bins_of_levels(levels: Floats, names: Sequence[str] | None = None) -> Bins:
    """Make bins of a response with levels, in order; names : of levels that are text."""
    if levels.size <= MOST_BARS:
        middles = (levels[1:] + levels[:-1]) / 2
        outer = levels[0] - (middles[0] - levels[0]), levels[-1] + (levels[-1] - middles[-1])
        edges = np.concatenate([[outer[0]], middles, [outer[1]]])
        return Bins(tuple(names or (f"{level:g}" for level in levels)), edges, levels)
    edges = np.linspace(levels[0], levels[-1], MOST_BARS)
    return Bins(tuple(f"{low:g} to {high:g}" for low, high in pairwise(edges)), edges, levels)


def _of_counts(known: Floats) -> Bins:
    """Bins of counts; the last holds all larger counts too."""
    longest = max(float(np.quantile(known, 1 - 2 * OUTERMOST, method="higher")), 1.0)
    width = max(1, round(nice_step(longest / BARS))) if longest > MOST_BARS else 1
    starts = np.arange(0, longest + 1, width, dtype=float)
    labels = [f"{low:g}" if width == 1 else f"{low:g} to {low + width - 1:g}" for low in starts]
    labels[-1] = f"{starts[-1]:g} or more"
    return Bins(tuple(labels), np.append(starts, starts[-1] + width), np.empty(0), whole=True)


def _of_numbers(known: Floats) -> Bins:
    low, high = np.quantile(known, [OUTERMOST, 1 - OUTERMOST])
    step = nice_step((high - low) / BARS or 1.0)
    edges = step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
    if edges.size < 3:
        edges = step * (np.floor(low / step) + np.arange(-1, 3))
    edges = np.round(edges, 12)
    labels = [f"{start:g} to {stop:g}" for start, stop in pairwise(edges)]
    labels[0], labels[-1] = f"below {edges[1]:g}", f"{edges[-2]:g} or more"
    return Bins(tuple(labels), edges, np.empty(0))


def bars_of(labels: Sequence[str], edges: Floats, values: Floats) -> tuple[Bar, ...]:
    """Make the bars of a histogram; labels, values : (bins,); edges : (bins + 1,)."""
    numbers = zip(edges[:-1].tolist(), edges[1:].tolist(), np.asarray(values, dtype=float).tolist(), strict=True)
    return tuple(Bar(label, *of_bar) for label, of_bar in zip(labels, numbers, strict=True))


def nice_step(rough: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least `rough`."""
    size = 10.0 ** np.floor(np.log10(rough))
    return float(next(factor * size for factor in (1, 2, 5, 10) if factor * size >= rough * (1 - 1e-9)))


@dataclass(frozen=True)
class ReportTexts:
    """The reading of a report's texts, with its settings.

    settings : of the report; naming : of the response; bins : of the response; mean : (texts,) expected response.
    baselines : name -> (texts,) predictions; NaN for texts that are not compared.
    """

    settings: ReportSettings
    naming: Naming
    reading: Reading
    bins: Bins
    mean: Floats
    baselines: dict[str, Floats]

    def shown(self, row: int) -> Sequence[str]:
        """Return (characters,) the characters of a text as displayed, from `masked_characters`."""
        text = self.reading.texts[row]
        return masked_characters(text) if self.settings.mask else text


def baselines_of(counts: sp.csr_array, responses: Floats, held_out: NDArray[np.bool_]) -> dict[str, Floats]:
    """Predict by baselines fitted to a sample of training texts, for these and a sample of held-out ones."""
    answered = ~np.isnan(responses)
    kinds = map(np.flatnonzero, (answered & ~held_out, answered & held_out))
    training, new = (rows[sample(rows.size, COMPARED)] for rows in kinds)
    if training.size < FEWEST:
        return {}
    compared = np.concatenate([training, new])
    X = unit_rows(counts[compared])
    predicted = {}
    for name, regressor in fit_baselines(X[: training.size], responses[training]).items():
        predicted[name] = np.full(responses.size, np.nan)
        predicted[name][compared] = regressor.predict(X)
    return predicted


def sample(n: int, most: int) -> NDArray[np.int64]:
    """Draw at most `most` of `n` rows without replacement, in order; the seed is fixed."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(0).choice(n, most, replace=False))


class CloudWord(NamedTuple):
    """A term of the word cloud: number of texts that contain it, its main theme, and its size from 1 to 6."""

    term: str
    texts: int
    theme: int
    size: int


@dataclass(frozen=True)
class TextsSummary:
    """Counts and distributions of the texts of a report; mean_response : None without responses.

    clauses, neutral, unplaced : number of clauses, of neutral ones on a theme, and of those on none; unplaced_share :
        of all words. copies : texts that repeat an earlier one; leaked : held-out texts that training contains too.
    """

    texts: int
    training: int
    held_out: int
    without_response: int
    without_known_term: int
    copies: int
    leaked: int
    terms: int
    clauses: int
    neutral: int
    unplaced: int
    unplaced_share: float
    median_words: float
    mean_response: float | None
    responses: tuple[Bar, ...]
    lengths: tuple[Bar, ...]
    cloud: tuple[CloudWord, ...]


def summary_of(reader: ThemeReader, texts: ReportTexts) -> TextsSummary:
    """Summarise the texts."""
    held_out, answered = texts.reading.observed.unseen, ~np.isnan(texts.reading.observed.responses)
    clauses, mentions = texts.reading.unseen, texts.reading.mentions
    on_theme = clauses.places < mentions.n_themes
    seen = {text for text, new in zip(texts.reading.texts, held_out.tolist(), strict=True) if not new}
    return TextsSummary(
        texts=len(texts.reading.texts),
        training=int((~held_out).sum()),
        held_out=int(held_out.sum()),
        without_response=int((~answered).sum()),
        without_known_term=int(texts.reading.predictions.unknown.sum()),
        copies=len(texts.reading.texts) - len(set(texts.reading.texts)),
        leaked=sum(new and text in seen for text, new in zip(texts.reading.texts, held_out.tolist(), strict=True)),
        terms=len(reader.fitted.terms),
        clauses=len(on_theme),
        neutral=int(np.sum(on_theme & (clauses.kinds == 0))),
        unplaced=int(np.sum(~on_theme)),
        unplaced_share=float(mentions.weight @ mentions.unplaced / (mentions.weight.sum() or 1.0)),
        median_words=float(np.median(texts.reading.n_words)),
        mean_response=float(np.nanmean(texts.reading.observed.responses)) if answered.any() else None,
        responses=texts.bins.bars(texts.reading.observed.responses),
        lengths=length_bars(texts.reading.n_words),
        cloud=_cloud(reader, texts),
    )


def length_bars(words: NDArray[np.int64]) -> tuple[Bar, ...]:
    """Count texts by number of words, in equal bins; the last one holds all longer texts too."""
    longest = max(int(np.quantile(words, 1 - LONGEST, method="higher")), 1)
    width = -(-longest // LENGTH_BINS)
    edges = np.arange(0.0, longest + width, width)
    counts = np.histogram(np.minimum(words, edges[-1] - 1), bins=edges)[0]
    labels = [f"{low:.0f} to {high - 1:.0f} words" for low, high in pairwise(edges)]
    labels[-1] = f"{edges[-2]:.0f} words or more"
    return bars_of(labels, edges, counts)


def _cloud(reader: ThemeReader, texts: ReportTexts) -> tuple[CloudWord, ...]:
    """Terms in most texts, in alphabetical order, each with its main theme."""
    terms, profiles = reader.fitted.terms, reader.profiles
    n_texts = np.bincount(texts.reading.X.indices, minlength=len(terms))
    most = np.argsort(-n_texts, kind="stable")[:CLOUD_TERMS]
    most = most[n_texts[most] > 0]
    if not most.size:
        return ()
    share = texts.reading.clauses.shares[:, :-1].mean(axis=0) / np.maximum(profiles.sum(axis=1), np.finfo(float).tiny)
    themes = (share[:, None] * profiles[:, most]).argmax(axis=0)
    numbers = zip(n_texts[most].tolist(), themes.tolist(), sizes(n_texts[most]).tolist(), strict=True)
    words = [CloudWord(one_line(str(terms[j])), *of_term) for j, of_term in zip(most, numbers, strict=True)]
    return tuple(sorted(words, key=lambda word: word.term))


def sizes(counts: NDArray[np.int64], steps: int = 6) -> NDArray[np.int64]:
    """Return (terms,) sizes from 1 to `steps`, by the square root of counts."""
    root = np.sqrt(counts)
    spread = max(float(root.max() - root.min()), np.finfo(float).tiny)
    return 1 + np.floor((root - root.min()) / spread * (steps - 1)).astype(np.int64)


def examples_of(texts: ReportTexts) -> tuple[str, ...]:
    """Choose texts to try, neither short nor long, with a low, a middle and a high prediction."""
    rows = np.flatnonzero((texts.reading.n_words >= EXAMPLE_WORDS[0]) & (texts.reading.n_words <= EXAMPLE_WORDS[1]))
    if rows.size < len(EXAMPLES):
        return ()
    order = rows[np.argsort(texts.mean[rows], kind="stable")]
    chosen = (int(order[int(quantile * (rows.size - 1))]) for quantile in EXAMPLES)
    return tuple(visible("".join(texts.shown(row))) for row in chosen)
