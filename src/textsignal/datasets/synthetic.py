"""Synthetic hotel reviews with planted aspects."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit

from textsignal.arrays import Vector
from textsignal.datasets.simulated import Rows, Seed, check_integer, generator, r_squared

#: Intercept of the log odds of each star above the first: of reviews, and of those with opinions, which without any
#: have 3 stars on average. Standard deviation of the reviewer's mood.
INTERCEPT, OPINIONS_INTERCEPT, MOOD_SD = 1.2, 0.0, 0.25
#: With opinions, aspects in a review, and chances that one is mentioned negatively, neutrally and positively.
ASPECTS_EACH, CHANCES = 3, (0.35, 0.3, 0.35)
#: Aspects of which a review mentions at most one.
CONTRADICTIONS = (
    ("friendly staff", "slow, rude check-in"),
    ("comfortable bed", "noise at night"),
    ("comfortable bed", "pests"),
)
#: Hotels that reviews are about, with their shares.
HOTELS = {"Harbour Inn": 0.4, "Station Hotel": 0.3, "Park Lodge": 0.2, "Old Mill": 0.1}
#: Complaints that are more frequent at one hotel, and by which factor.
COMPLAINTS_AT, AT_HOME = {"noise at night": "Station Hotel", "slow, rude check-in": "Park Lodge"}, 4.0
#: Complaints that grow, from the first day to the last.
GROWING = frozenset({"dirty room"})
FIRST_DAY, LAST_DAY = np.datetime64("2023-01-01"), np.datetime64("2025-12-31")

Words = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Aspect:
    """A subject of reviews, with its planted effect on the rating.

    Attributes
    ----------
    name : label of the aspect.
    effect : what mentioning it adds to the log odds of every star above the first; 0 if neutral.
    share : probability that a review mentions it.
    keywords : lower-case words that hardly occur outside the aspect, so that they identify it among a topic's terms.
    sentences : templates of the sentences about it.
    words : alternatives for each `{slot}` of the templates.
    """

    name: str
    effect: float
    share: float
    keywords: tuple[str, ...]
    sentences: tuple[str, ...] = field(repr=False)
    words: Words = field(repr=False, hash=False)


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split(", "))


def _words(slots: Mapping[str, str]) -> Words:
    return {slot: _listed(words) for slot, words in slots.items()}


def _aspect(name: str, effect: float, share: float, keywords: str, sentences: str, words: Mapping[str, str]) -> Aspect:
    return Aspect(name, effect, share, _listed(keywords), tuple(sentences.splitlines()), _words(words))


_PHRASES = tomllib.loads(Path(__file__).with_name("reviews.toml").read_text(encoding="utf-8"))
_FILLER, _OPINIONS = _PHRASES["filler"], _PHRASES["opinions"]
_FILLER_WORDS = _words(_FILLER["words"])
_OPENINGS, _CONNECTORS, _CLOSINGS = (
    tuple(_FILLER[kind].splitlines()) for kind in ("openings", "connectors", "closings")
)
_EMOJI = _listed(_FILLER["emoji"])
_TONES = {-1: "negative", 0: "neutral", 1: "positive"}
_JUDGING = {tone: _listed(_OPINIONS[name]) for tone, name in _TONES.items()}
ASPECTS = tuple(_aspect(**aspect) for aspect in _PHRASES["aspects"])
#: Those of reviews with opinions.
OPINION_ASPECTS = tuple(
    _aspect(
        **aspect | {"words": {"thing": aspect["keywords"], "neutral": _OPINIONS["neutral"]} | aspect["words"]},
        sentences=_OPINIONS["sentences"],
    )
    for aspect in _OPINIONS["aspects"]
)


@dataclass(frozen=True, eq=False)
class SyntheticReviews:
    """Synthetic hotel reviews with known drivers of their ratings; no person wrote them.

    Attributes
    ----------
    texts, ratings : the reviews, and their stars, 1 to 5.
    aspects : subjects of the reviews, with the planted effect and share of each.
    mentions : (reviews, aspects) True if a review is about an aspect.
    tones : (reviews, aspects) 1 if it mentions the aspect positively, -1 if negatively, else 0.
    probability : (reviews,) true chance of each star above the first, the reviewer's mood included.
    hotels : (reviews,) the hotel of each, of four; complaints of one kind gather at one hotel (`COMPLAINTS_AT`).
    dates : (reviews,) day of writing, over three years; `GROWING` complaints are written later than the rest.
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
        """(reviews,) true mean of each rating, 1 + 4 p."""
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
        """(aspects,) change of the mean rating without the mentions of this tone."""
        added = np.abs([aspect.effect for aspect in self.aspects]) * np.where(self.tones == tone, tone, 0)
        moved = expit(logit(self.probability)[:, None] - added)
        return np.asarray(4 * (moved - self.probability[:, None]).mean(axis=0), dtype=float)

    def to_frame(self) -> pd.DataFrame:
        """Return the reviews as a table with the columns `review`, `rating`, `hotel` and `date`."""
        dates = np.datetime_as_string(self.dates, unit="D")
        return pd.DataFrame({"review": self.texts, "rating": self.ratings, "hotel": self.hotels, "date": dates})


def synthetic_reviews(n: int = 2000, seed: Seed = 0, *, opinions: bool = False) -> SyntheticReviews:
    """Write synthetic hotel reviews with planted aspects.

    A grammar of this package writes the reviews, about no real hotel. Each is about one to five of eleven aspects: some
    raise the rating, some lower it, some are common and neutral, and two are rare and strong. With m_a = 1 where aspect
    a is mentioned, else 0::

        eta    = intercept + sum_a effect_a m_a + mood,     mood ~ Normal(0, 0.25^2)
        rating = 1 + Binomial(4, sigmoid(eta))

    With `opinions` each review is about three of eight aspects, each mentioned positively, negatively or neutrally, and
    m_a is 1, -1 or 0: themes have both lift and worth, and these are known.

    Parameters
    ----------
    n : number of reviews, at least 1.
    seed : seed of the draw, or a Generator; the same seed gives the same reviews.
    opinions : True for aspects that are mentioned both positively and negatively.

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
    aspects, intercept = (OPINION_ASPECTS, OPINIONS_INTERCEPT) if opinions else (ASPECTS, INTERCEPT)
    effects, shares = np.array([(aspect.effect, aspect.share) for aspect in aspects]).T
    if opinions:
        mentions = _draw_three(rng, n, shares)
        tones = mentions * rng.choice(np.array([-1, 0, 1]), size=mentions.shape, p=CHANCES)
    else:
        mentions = _draw_mentions(rng, n, aspects)
        tones = mentions * np.sign(effects).astype(np.int64)
    probability = expit(intercept + tones @ np.abs(effects) + rng.normal(0, MOOD_SD, n))
    ratings = 1 + rng.binomial(4, probability)
    write = _write_opinions if opinions else _write_review
    texts = [write(rng, aspects, *row) for row in zip(mentions, tones, strict=True)]
    hotels, dates = _draw_hotels(rng, mentions, aspects), _draw_dates(rng, mentions, aspects)
    return SyntheticReviews(texts, ratings, aspects, mentions, tones, probability, hotels, dates)


def _draw_three(rng: np.random.Generator, n: int, shares: Vector) -> NDArray[np.bool_]:
    """`ASPECTS_EACH` aspects for each review, those of larger shares more often."""
    odds = shares / (1 - shares)
    first = np.argsort(rng.exponential(1 / odds, (n, len(shares))), axis=1)[:, :ASPECTS_EACH]
    mentions = np.zeros((n, len(shares)), dtype=bool)
    np.put_along_axis(mentions, first, True, axis=1)
    return mentions


def _draw_mentions(rng: np.random.Generator, n: int, aspects: tuple[Aspect, ...]) -> NDArray[np.bool_]:
    """Draw n sets of one to five aspects that do not contradict each other, each aspect at its planted share.

    A set's log probability is, up to a constant, the sum of its aspects' scores; each score is moved until
    the aspect's share is met. Of all distributions with these shares, this one has the greatest entropy.
    """
    sets = np.array(list(product([False, True], repeat=len(aspects))))
    allowed = (sets.sum(axis=1) >= 1) & (sets.sum(axis=1) <= 5)
    names = [aspect.name for aspect in aspects]
    for pair in CONTRADICTIONS:
        allowed &= ~sets[:, [names.index(name) for name in pair]].all(axis=1)
    sets = sets[allowed]

    scores = logits = logit([aspect.share for aspect in aspects])
    for _ in range(100):
        chance = np.exp(sets @ scores)
        chance /= chance.sum()
        scores = scores + (logits - logit(chance @ sets))
    return sets[rng.choice(len(sets), size=n, p=chance)]


def _draw_hotels(
    rng: np.random.Generator, mentions: NDArray[np.bool_], aspects: tuple[Aspect, ...]
) -> NDArray[np.str_]:
    """A hotel for each review, by the shares, with more of the complaints that are frequent there."""
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
    position = np.where(growing, np.maximum(first, second), first)
    days = int((LAST_DAY - FIRST_DAY) / np.timedelta64(1, "D"))
    return FIRST_DAY + (position * (days + 1)).astype("timedelta64[D]")


class _Dealer:
    """Deals from tuples of phrases in random order, none of them twice before all have been dealt."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._decks: dict[tuple[str, ...], Iterator[str]] = {}

    def deal(self, phrases: tuple[str, ...]) -> str:
        if phrases not in self._decks:
            self._decks[phrases] = cycle([phrases[i] for i in self._rng.permutation(len(phrases))])
        return next(self._decks[phrases])

    def sentence(self, templates: tuple[str, ...], words: Words) -> str:
        """Deal a template and fill each of its `{slots}`."""
        return re.sub(r"\{(\w+)\}", lambda slot: self.deal(words[slot[1]]), self.deal(templates))


def _write_opinions(
    rng: np.random.Generator, aspects: tuple[Aspect, ...], mentioned: NDArray[np.bool_], tones: NDArray[np.int64]
) -> str:
    """Write one sentence for each aspect, in random order."""
    dealer, sentences = _Dealer(rng), []
    for a in rng.permutation(np.flatnonzero(mentioned)).tolist():
        own, tone = aspects[a].words, int(tones[a])
        slots = {"thing": own["thing"], "own": own[_TONES[tone]], "any": _JUDGING[tone]}
        sentences.append(dealer.sentence(aspects[a].sentences, slots))
    return " ".join(f"{s[0].upper()}{s[1:]}." for s in sentences)


def _write_review(
    rng: np.random.Generator, aspects: tuple[Aspect, ...], mentioned: NDArray[np.bool_], tones: NDArray[np.int64]
) -> str:
    """Write one or two sentences for each aspect, in random order, between an opening and a closing."""
    dealer = _Dealer(rng)
    chosen = [aspects[a] for a in np.flatnonzero(mentioned)]
    sentences: list[str] = []
    for aspect, repeats in _plan(rng, chosen):
        for _ in range(repeats):
            sentence = dealer.sentence(aspect.sentences, aspect.words)
            if sentences and rng.random() < 0.15:
                sentence = f"{dealer.sentence(_CONNECTORS, _FILLER_WORDS)} {sentence}"
            sentences.append(sentence)
    if len(chosen) < 3 or rng.random() < 0.5:
        sentences.insert(0, dealer.sentence(_OPENINGS, _FILLER_WORDS))
    if len(chosen) < 3 or rng.random() < 0.3:
        sentences.append(dealer.sentence(_CLOSINGS, _FILLER_WORDS))
    marks = np.where(rng.random(len(sentences)) < 0.07, "!", ".")
    text = " ".join(f"{s[0].upper()}{s[1:]}{mark}" for s, mark in zip(sentences, marks, strict=True))
    return f"{text} {dealer.deal(_EMOJI)}" if rng.random() < 0.04 else text


def _plan(rng: np.random.Generator, aspects: list[Aspect]) -> list[tuple[Aspect, int]]:
    """Put the aspects in random order, each with its number of sentences: two for the strongest."""
    size = len(aspects)
    # At most six sentences keep a review of five aspects readable.
    n_twice = rng.integers(size == 1, min(size, 2, 6 - size), endpoint=True)
    strongest = sorted(aspects, key=lambda aspect: -abs(aspect.effect))[:n_twice]
    return [(aspects[i], 2 if aspects[i] in strongest else 1) for i in rng.permutation(size)]
