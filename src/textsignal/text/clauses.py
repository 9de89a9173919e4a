"""Kinds of words that show where a new clause, with a judgement of its own, starts inside a sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsignal.text import scanning
from textsignal.text.lexicon import general_polarity
from textsignal.text.tokenise import DESCRIBING, GENERAL, JUDGING, OPINION, negates, stop_words

_LISTS = tomllib.loads(Path(__file__).with_name("clause_words.toml").read_text(encoding="utf-8"))


@cache
def _listed(language: str) -> tuple[tuple[int, frozenset[str]], ...]:
    """Kinds, and the words of each, in a language."""
    kinds = (
        (scanning.CONTRAST, "contrast"),
        (scanning.JOINING, "joining"),
        (scanning.SUBJECT, "subjects"),
        (scanning.VERB, "verbs"),
        (scanning.EXCEPTING, "excepting"),
    )
    listed = [(int(kind), frozenset(_LISTS[table].get(language, "").split())) for kind, table in kinds]
    if language in JUDGING:
        opinion = JUDGING[language].union(DESCRIBING.get(language, ()), general_polarity(language))
        listed.append((int(scanning.OPINION), opinion))
    return tuple(listed)


def clause_kinds(words: Sequence[str], language: str) -> NDArray[np.uint8]:
    """Return (words,) kinds of distinct words, as `scanning.cut_clauses` takes them; 0 in languages without lists."""
    kinds = np.zeros(len(words), np.uint8)
    if language not in _LISTS["contrast"]:
        return kinds
    listed = _listed(language)
    plain = stop_words(language).union(GENERAL.get(language, ()), OPINION.get(language, ()))
    names_things = language in JUDGING
    for number, word in enumerate(words):
        kind = 0
        for each, members in listed:
            kind |= each if word in members else 0
        if negates(word, language):
            kind |= int(scanning.NEGATING) | (int(scanning.VERB) if "n't" in word or word.endswith("nt") else 0)
        elif names_things and not kind and word not in plain:
            kind = int(scanning.NAMING)
        kinds[number] = kind
    return kinds


def letter_kinds(language: str) -> dict[int, int]:
    """Return kinds of letters that stand alone, by code point: they are no words, but may join, or be a subject."""
    kinds: dict[int, int] = {}
    if language in _LISTS["contrast"]:
        for kind, members in _listed(language):
            for letter in members:
                if len(letter) == 1:
                    kinds[ord(letter)] = kinds.get(ord(letter), 0) | kind
    return kinds


def refers_back(words: Sequence[str], language: str | None) -> NDArray[np.bool_]:
    """Return (words,) True for a word that, first in a clause, refers to the clause before: "it"."""
    listed = frozenset(_LISTS["referring"].get(language or "", "").split())
    return np.array([word in listed for word in words], dtype=bool)
