"""Synthetic hotel reviews with planted aspects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from textsignal.arrays import Vector
from textsignal.datasets import review_aspects as grammar
from textsignal.datasets import review_filler as filler
from textsignal.datasets import review_opinions as judged
from textsignal.datasets.common import Rows, Seed, check_integer, generator, r_squared
from textsignal.datasets.review_aspects import Aspect

#: Hotels that reviews are about, with their shares.
HOTELS = {"Harbour Inn": 0.4, "Station Hotel": 0.3, "Park Lodge": 0.2, "Old Mill": 0.1}
#: Complaints that gather at one hotel, and how many times as likely they are there.
COMPLAINTS_AT, AT_HOME = {"noise at night": "Station Hotel", "slow, rude check-in": "Park Lodge"}, 4.0
#: Complaints that grow, from the first day to the last.
GROWING = frozenset({"dirty room"})
FIRST_DAY, LAST_DAY = np.datetime64("2023-01-01"), np.datetime64("2025-12-31")


@dataclass(frozen=True, eq=False)
class SyntheticReviews:
    """Synthetic hotel reviews with known drivers of their ratings; no person wrote them.

    Attributes
    ----------
    texts : list of str
        The reviews.
    ratings : ndarray of int, documents
        Stars, 1 to 5.
    aspects : tuple of Aspect
        What the reviews talk about, with the planted effect and share of each.
    mentions : ndarray of bool, documents x aspects
        Which review talks about which aspect.
    tones : ndarray of int, documents x aspects
        Whether it does so well (1), badly (-1) or neither (0).
    probability : ndarray, documents
        True chance of each star above the first, the reviewer's mood included.
    hotels : ndarray of str, documents
        Which of four hotels each is about; complaints of one kind gather at one hotel (`COMPLAINTS_AT`).
    dates : ndarray of datetime64, documents
        When each was written, over three years; `GROWING` complaints are written later than the rest.
    """

    texts: list[str]
    ratings: NDArray[np.int64]
    aspects: tuple[Aspect, ...]
    mentions: NDArray[np.bool_]
    tones: NDArray[np.int64]
    probability: Vector
    hotels: NDArray[np.str_]
    dates: NDArray[np.datetime64]

    @property
    def expected_ratings(self) -> Vector:
        """True mean of each rating, 1 + 4 p."""
        return 1 + 4 * self.probability

    def ceiling(self, rows: Rows = None) -> float:
        """R2 of the true expected ratings on `rows` (all by default).

        The mood is not in the text; without it the ceiling is about .01 lower.
        """
        return r_squared(self.ratings, self.expected_ratings, rows)

    @property
    def lifts(self) -> Vector:
        """(aspects,) increase of the true mean rating without negative mentions of each."""
        return self._without(-1)

    @property
    def worths(self) -> Vector:
        """(aspects,) decrease of the true mean rating without positive mentions of each."""
        return 0.0 - self._without(1)

    def _without(self, tone: int) -> Vector:
        """(aspects,) change of the mean rating without the talk of this tone."""
        added = np.abs([aspect.effect for aspect in self.aspects]) * np.where(self.tones == tone, tone, 0)
        moved = expit(logit(self.probability)[:, None] - added)
        return np.asarray(4 * (moved - self.probability[:, None]).mean(axis=0), dtype=float)

    def to_frame(self) -> pd.DataFrame:
        """Return the reviews as a table with the columns `review`, `rating`, `hotel` and `date`."""
        dates = np.datetime_as_string(self.dates, unit="D")
        return pd.DataFrame({"review": self.texts, "rating": self.ratings, "hotel": self.hotels, "date": dates})


def synthetic_reviews(n: int = 2000, seed: Seed = 0, *, opinions: bool = False) -> SyntheticReviews:
    """Write synthetic hotel reviews with planted aspects.

    The reviews are synthetic: a grammar of this package writes them, no person did, and they describe no
    real hotel. Each talks about one to five of eleven aspects; some raise the rating, some lower it, some
    are common and neutral, and two are rare and strong. With m_a = 1 where aspect a is mentioned, else 0::

        eta    = intercept + sum_a effect_a m_a + mood,     mood ~ Normal(0, 0.25^2)
        rating = 1 + Binomial(4, sigmoid(eta))

    With `opinions` each review talks about three of eight aspects, each of which is spoken of well, badly or neither,
    and m_a is 1, -1 or 0: themes have both lift and worth, and these are known.

    Parameters
    ----------
    n : int
        Number of reviews, at least 1.
    seed : int, Generator or None
        Seed of the draw; the same seed gives the same reviews.
    opinions : bool
        Whether aspects are spoken of both well and badly.

    Returns
    -------
    SyntheticReviews
        Texts and ratings together with the truth behind them.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(n=50)
    >>> reviews.to_frame().columns.tolist()
    ['review', 'rating', 'hotel', 'date']
    >>> [aspect.name for aspect in reviews.aspects if aspect.effect == 0]
    ['location and transport', 'business trip', 'room furniture']
    """
    check_integer("n", n, at_least=1)
    rng = generator("seed", seed)
    aspects = judged.ASPECTS if opinions else grammar.ASPECTS
    effects = np.array([aspect.effect for aspect in aspects])
    mentions = _draw_judged(rng, n, aspects) if opinions else _draw_mentions(rng, n, aspects)
    tones = mentions * (_draw_tones(rng, mentions.shape) if opinions else np.sign(effects).astype(np.int64))
    mood = rng.normal(0, grammar.MOOD_SD, n)
    intercept = judged.INTERCEPT if opinions else grammar.INTERCEPT
    probability = expit(intercept + tones @ np.abs(effects) + mood)
    ratings = 1 + rng.binomial(4, probability)
    if opinions:
        texts = [_write_opinions(rng, aspects, *row) for row in zip(mentions, tones, strict=True)]
    else:
        texts = [_write_review(rng, [aspects[a] for a in np.flatnonzero(row)]) for row in mentions]
    hotels, dates = _draw_hotels(rng, mentions, aspects), _draw_dates(rng, mentions, aspects)
    return SyntheticReviews(texts, ratings, aspects, mentions, tones, probability, hotels, dates)


def _draw_judged(rng: np.random.Generator, n: int, aspects: tuple[Aspect, ...]) -> NDArray[np.bool_]:
    """Three aspects for each review, those of larger shares more often."""
    odds = np.array([aspect.share / (1 - aspect.share) for aspect in aspects])
    first = np.argsort(rng.exponential(1 / odds, (n, len(aspects))), axis=1)[:, : judged.ASPECTS_EACH]
    mentions = np.zeros((n, len(aspects)), dtype=bool)
    np.put_along_axis(mentions, first, True, axis=1)
    return mentions


def _draw_tones(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """-1, 0 or 1 for each review and aspect."""
    return rng.choice(np.array([-1, 0, 1]), size=shape, p=judged.CHANCES)


def _write_opinions(
    rng: np.random.Generator, aspects: tuple[Aspect, ...], mentioned: NDArray[np.bool_], tones: NDArray[np.int64]
) -> str:
    """Write one sentence an aspect, in random order."""
    dealer = _Dealer(rng)
    order = rng.permutation(np.flatnonzero(mentioned)).tolist()
    sentences = [dealer.sentence(aspects[a].sentences, judged.words_of(aspects[a], int(tones[a]))) for a in order]
    return " ".join(f"{s[0].upper()}{s[1:]}." for s in sentences)


def _draw_hotels(
    rng: np.random.Generator, mentions: NDArray[np.bool_], aspects: tuple[Aspect, ...]
) -> NDArray[np.str_]:
    """A hotel for each review: its share, and more of the complaints that are at home there."""
    names = np.array(list(HOTELS))
    chance = np.tile(list(HOTELS.values()), (len(mentions), 1))
    for k, aspect in enumerate(aspects):
        if aspect.name in COMPLAINTS_AT:
            chance[:, names == COMPLAINTS_AT[aspect.name]] *= np.where(mentions[:, [k]], AT_HOME, 1.0)
    ends = np.cumsum(chance, axis=1) / chance.sum(axis=1, keepdims=True)
    return names[np.sum(rng.random((len(mentions), 1)) > ends[:, :-1], axis=1)]


def _draw_dates(
    rng: np.random.Generator, mentions: NDArray[np.bool_], aspects: tuple[Aspect, ...]
) -> NDArray[np.datetime64]:
    """A day for each review, spread evenly; of growing complaints the larger of two draws."""
    growing = mentions[:, [aspect.name in GROWING for aspect in aspects]].any(axis=1)
    first, second = rng.random((2, len(mentions)))
    place = np.where(growing, np.maximum(first, second), first)
    days = int((LAST_DAY - FIRST_DAY) / np.timedelta64(1, "D"))
    return FIRST_DAY + (place * (days + 1)).astype("timedelta64[D]")


def _draw_mentions(rng: np.random.Generator, n: int, aspects: tuple[Aspect, ...]) -> NDArray[np.bool_]:
    """Draw n sets of one to five aspects that do not contradict each other, each aspect at its planted share.

    A set's log probability is, up to a constant, the sum of its aspects' scores; each score is moved until
    the aspect's share is met. Of all distributions with these shares, this one has the greatest entropy.
    """
    sets = np.array(list(product([False, True], repeat=len(aspects))))
    sizes = sets.sum(axis=1)
    allowed = (sizes >= 1) & (sizes <= 5)
    for one, other in grammar.CONTRADICTIONS:
        allowed &= ~(sets[:, aspects.index(one)] & sets[:, aspects.index(other)])
    sets = sets[allowed]

    shares = np.array([aspect.share for aspect in aspects])
    scores = logit(shares)
    for _ in range(100):
        chance = np.exp(sets @ scores)
        chance /= chance.sum()
        scores += logit(shares) - logit(chance @ sets)
    return sets[rng.choice(len(sets), size=n, p=chance)]


class _Dealer:
    """Deals from tuples of phrases in random order, none of them twice before all have been dealt."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._decks: dict[tuple[str, ...], Iterator[str]] = {}

    def deal(self, phrases: tuple[str, ...]) -> str:
        if phrases not in self._decks:
            self._decks[phrases] = cycle([phrases[i] for i in self._rng.permutation(len(phrases))])
        return next(self._decks[phrases])

    def sentence(self, templates: tuple[str, ...], words: grammar.Words) -> str:
        """Deal a template and fill each of its `{slots}`."""
        return re.sub(r"\{(\w+)\}", lambda slot: self.deal(words[slot[1]]), self.deal(templates))


def _write_review(rng: np.random.Generator, aspects: list[Aspect]) -> str:
    """Write one or two sentences an aspect, in random order, between an opening and a closing."""
    dealer = _Dealer(rng)
    sentences: list[str] = []
    for aspect, repeats in _plan(rng, aspects):
        for _ in range(repeats):
            sentence = dealer.sentence(aspect.sentences, aspect.words)
            if sentences and rng.random() < 0.15:
                sentence = f"{dealer.sentence(filler.CONNECTORS, filler.WORDS)} {sentence}"
            sentences.append(sentence)
    if len(aspects) < 3 or rng.random() < 0.5:
        sentences.insert(0, dealer.sentence(filler.OPENINGS, filler.WORDS))
    if len(aspects) < 3 or rng.random() < 0.3:
        sentences.append(dealer.sentence(filler.CLOSINGS, filler.WORDS))
    marks = np.where(rng.random(len(sentences)) < 0.07, "!", ".")
    text = " ".join(f"{s[0].upper()}{s[1:]}{mark}" for s, mark in zip(sentences, marks, strict=True))
    return f"{text} {dealer.deal(filler.EMOJI)}" if rng.random() < 0.04 else text


def _plan(rng: np.random.Generator, aspects: list[Aspect]) -> list[tuple[Aspect, int]]:
    """Put the aspects in random order, each with its number of sentences: two for the strongest."""
    size = len(aspects)
    # At most six sentences keep a review of five aspects readable.
    n_twice = rng.integers(size == 1, min(size, 2, 6 - size), endpoint=True)
    strongest = sorted(aspects, key=lambda aspect: -abs(aspect.effect))[:n_twice]
    return [(aspects[i], 2 if aspects[i] in strongest else 1) for i in rng.permutation(size)]
