"""Themes and tone as a page takes them: how sentences are cut, and every effect, packed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textsignal.report.values.data import Floats
from textsignal.report.values.packing import packed, packed_lines
from textsignal.report.values.patterns import SPACE, javascript
from textsignal.text import sentences
from textsignal.text import tokens as units
from textsignal.text.features import NEGATED, NEGATED_PHRASE, NOT, PHRASE_SIZE, WORD
from textsignal.text.tokenise import stop_words
from textsignal.text.word_lists import NEGATIONS, negates
from textsignal.training.theme_reading import FittedThemes


def themes_model(model: FittedThemes, added: float = 0.0) -> dict[str, Any]:
    """Themes and tone: words by number, the effect of each, and of each pair that is a phrase.

    Numbers are in single precision, which halves the page: predictions of hotel reviews differ by 5e-8 at most.
    """
    return {
        "kind": "themes",
        "sentences": _sentences(),
        "negations": _negations(model.language or ""),
        "functionWords": sorted(stop_words(model.language)),
        "not": NOT,
        "phraseSize": PHRASE_SIZE,
        "gamma": model.effects.gamma.tolist(),
        "beta": model.effects.beta.tolist(),
        "constant": float(model.effects.constant) + added,
        "prevalence": model.themes.prevalence.tolist(),
        "packed": _features(model)
        | {
            "topics": packed(model.themes.topics.T.astype("<f4")),
            "termWeights": packed(model.themes.term_weights.astype("<f4")),
        },
    }


def _sentences() -> dict[str, Any]:
    """How a text is cut into sentences, and a sentence into words and pauses."""
    return {
        "end": javascript(sentences.END.pattern),
        "lastWord": javascript(sentences.LAST_WORD.pattern),
        "word": javascript(sentences.WORD.pattern),
        "held": javascript(sentences.HELD.pattern),
        "pause": javascript(sentences.PAUSE.pattern),
        "space": SPACE,
        "titles": sorted(sentences.TITLES),
        "shortForms": sorted(sentences.SHORT_FORMS),
        "longest": sentences.LONGEST,
        "part": sentences.PART,
        "wordOrPause": javascript(units.WORD_OR_PAUSE.pattern),
        "pauses": sorted(units.PAUSES),
        "scope": units.SCOPE,
    }


def _negations(language: str) -> dict[str, Any]:
    """Words that negate, and how other words that do so begin and end."""
    return {
        "words": sorted(NEGATIONS.get(language, ())),
        "beginnings": [part for part in ("n'",) if negates(f"{part}?", language)],
        "endings": [part for part in ("n't",) if negates(f"?{part}", language)],
    }


def _features(model: FittedThemes) -> dict[str, str]:
    """Words, the effect of each by itself and under a negation (NaN where it is none of the features), and phrases.

    The phrases that begin with word i have places firsts[i] to firsts[i + 1]; seconds are twice their second words,
    plus 1 where they stand under a negation.
    """
    names, kinds = model.features.names, model.features.kinds
    places = np.flatnonzero(model.features.is_phrase)
    pairs = [names[j].split(" ")[-2:] for j in places.tolist()]
    single = {kind: [_word(names[j], kind) for j in np.flatnonzero(kinds == kind).tolist()] for kind in (WORD, NEGATED)}
    words = sorted({*single[WORD], *single[NEGATED], *model.terms, *(word for pair in pairs for word in pair)})
    number = {word: i for i, word in enumerate(words)}

    def by_word(kind: int) -> Floats:
        effects = np.full(len(words), np.nan)
        effects[[number[word] for word in single[kind]]] = model.tone[kinds == kind]
        return effects

    first = np.array([number[pair[0]] for pair in pairs], dtype=np.int64)
    second = 2 * np.array([number[pair[1]] for pair in pairs], dtype=np.int64) + (kinds[places] == NEGATED_PHRASE)
    order = np.lexsort([second, first])
    return {
        "words": packed_lines(words),
        "plain": packed(by_word(WORD).astype("<f4")),
        "negated": packed(by_word(NEGATED).astype("<f4")),
        "firsts": packed(np.searchsorted(first[order], np.arange(len(words) + 1)).astype("<u4")),
        "seconds": packed(second[order].astype("<u4")),
        "phrases": packed(model.tone[places][order].astype("<f4")),
        "terms": packed(_numbers_of(model.terms, number).astype("<u4")),
    }


def _word(name: str, kind: int) -> str:
    return name.removeprefix(NOT) if kind == NEGATED else name


def _numbers_of(words: Sequence[str], number: dict[str, int]) -> NDArray[np.int64]:
    return np.array([number[word] for word in words], dtype=np.int64)
