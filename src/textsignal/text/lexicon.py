"""What words are worth in general: a polarity lexicon, from below 0 for bad to above 0 for good."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from numbers import Real

import numpy as np

from textsignal.errors import InputError
from textsignal.text.tokenise import GENERAL, OPINION, negates, normalise, stop_words, words

#: Value of `lexicon` that selects that of the language.
OWN = "auto"
#: A negated word is worth this many times the word, as in VADER; an intensifier adds this many times the word's value.
NEGATED_VALUE, INTENSIFIED_VALUE = -0.74, 0.3
#: English comparatives. A negation does not turn them around: "could not be better" is praise, "no better" is not.
COMPARATIVES = frozenset(
    word
    for words in (
        "better nicer kinder happier friendlier easier cleaner greater warmer calmer brighter safer smarter sweeter",
        "gentler livelier prouder cuter neater luckier",
    )
    for word in words.split()
)


def general_polarity(language: str | None) -> Mapping[str, float]:
    """Return the lexicon of a language, by its English name; empty if there is none. English has VADER's."""
    return _vader() if language == "english" else {}


@cache
def _vader() -> Mapping[str, float]:
    """Words of VADER (Hutto and Gilbert, 2014) that are words of ours, without function words and general words."""
    lines = files("vaderSentiment").joinpath("vader_lexicon.txt").read_text(encoding="utf-8").splitlines()
    values = dict(line.split("\t")[:2] for line in lines if line)
    without = stop_words("english") | GENERAL["english"] | OPINION["english"]
    kept = (word for word in values if words(word) == [word] and not negates(word, "english"))
    return {word: float(values[word]) for word in kept if word not in without}


def lexicon_of(given: str | Mapping[str, float] | None, language: str | None) -> Mapping[str, float]:
    """Return the requested lexicon: "auto" for that of the language, None for none, or values of words."""
    if given is None:
        return {}
    if isinstance(given, str):
        if given != OWN:
            raise InputError(f'lexicon={given!r} must be "auto", None, or a mapping from words to values')
        return general_polarity(language)
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise InputError(f'lexicon must be "auto", None, or a mapping from words to values, not a {kind}')
    values: dict[str, float] = {}
    for word, value in given.items():
        if not isinstance(word, str) or len(words(word)) != 1:
            raise InputError(f"lexicon: {word!r} is not a single word")
        if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)):
            raise InputError(f"lexicon: the value of {word!r} is {value!r}; give a number, below 0 for bad words")
        values[normalise(word)] = float(value)
    return values
