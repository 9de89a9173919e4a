r"""Data for the page's scripts: the fitted model, to predict texts in the browser, and texts to look through.

Patterns are translated for JavaScript's flag "u", where `\w`, `\d`, `\s` and `\b` know less of Unicode than in Python,
no quantifier is possessive (ours are for speed alone), and groups are named without a P.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.compute.kernels.reference import EPSILON, FIRST_STEPS, MOST_OF_THE_WAY
from textsignal.insight.explanation import SAME, slope_of
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import Floats
from textsignal.report.values.texts import ReportTexts, sample
from textsignal.report.values.wording import mean_response, one_line, visible
from textsignal.text import cleaning, sentences, tokenise, tokens
from textsignal.text.features import NEGATED, NEGATED_PHRASE, NOT, PHRASE_SIZE, WORD
from textsignal.text.tokenise import NEGATIONS, negates, stop_words
from textsignal.training.inference import MAX_ITER
from textsignal.training.theme_reading import FittedThemes, sentence_ends

#: Families that the page's scripts implement.
FAMILIES = (
    *("binomial", "beta-binomial", "adjacent-categories", "stereotype", "ordinal", "bernoulli"),
    *("poisson", "negative-binomial", "gaussian"),
)
#: Most texts in a page, and most characters of each.
MOST, LONGEST = 5_000, 3_000
#: Separators of texts and of sentences; `visible` leaves neither in a text.
NEXT_TEXT, SENTENCE_END = "\x01", "\x02"
#: What a text does about a theme.
NO_MENTION, NEUTRAL, PRAISE, COMPLAINT = range(4)
_LETTER = r"\p{L}\p{N}_"
#: Python's white space, inside a class.
SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
#: Python's classes that JavaScript can only name as a whole: letters, and letters and digits.
_WHOLE = {r"[^\W\d_]": r"[\p{L}\p{Nl}\p{No}]", r"[^\W_]": r"[\p{L}\p{N}]"}
_INSIDE = {r"\w": _LETTER, r"\s": SPACE, r"\d": r"\p{Nd}"}
_BOUNDARY = rf"(?:(?<=[{_LETTER}])(?![{_LETTER}])|(?<![{_LETTER}])(?=[{_LETTER}]))"
_OUTSIDE = {name: f"[{members}]" for name, members in _INSIDE.items()} | {
    r"\b": _BOUNDARY,
    "(?P<": "(?<",
    "$": r"(?=\n?$)",
    **{f"{quantifier}+": quantifier for quantifier in ("*", "+", "?", "}")},
}
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_PART = re.compile(rf"({_CLASS.pattern})|(\\.|\(\?P<|[*+?}}]\+|\$|.)", re.DOTALL)


def javascript(pattern: str) -> str:
    r"""Translate a pattern of Python's `re` for JavaScript's "u" flag."""
    return _PART.sub(_translated, pattern)


def _translated(part: re.Match[str]) -> str:
    if part[1] is None:
        return _OUTSIDE.get(part[2], part[2])
    if part[1] in _WHOLE:
        return _WHOLE[part[1]]
    return re.sub(r"\\.", lambda escape: _INSIDE.get(escape[0], escape[0]), part[1], flags=re.DOTALL)


#: Rules that split a text into sentences, and a sentence into words and pauses.
SENTENCE_RULES = {
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
    "wordOrPause": javascript(tokens.WORD_OR_PAUSE.pattern),
    "pauses": sorted(tokens.PAUSES),
    "scope": tokens.SCOPE,
}


def browser_model(reader: ThemeReader, added: float = 0.0) -> dict[str, Any] | None:
    """Return the fitted model as JSON, at average covariates; None if the page cannot compute its response family.

    Words are numbers; arrays are in single precision, which halves the page: predictions of hotel reviews differ by at
    most 5e-8. added : the mean offset.
    """
    model, family, language = reader.fitted, reader.family, reader.fitted.language or ""
    if family.name not in FAMILIES:
        return None
    themes, inference = model.themes, model.themes.inference
    fallback = np.zeros(model.n_themes) if inference.fallback is None else inference.fallback
    markup_steps = [(cleaning.ENTITY, None), *cleaning.REPLACEMENTS]  # None : the character that the entity stands for
    # Numbers replace levels that are text.
    numbers = {name: family.numbers.tolist() for name in ("labels", "values") if name in family.settings()}
    arrays = {"themes": themes.topics.T, "termWeights": themes.term_weights}
    return {
        "family": {"name": family.name} | family.settings() | numbers,
        "markup": [{"pattern": pattern, "by": by} for pattern, by in markup_steps],
        "tokenizer": {
            "token": javascript(tokenise.TOKEN.pattern),
            "odd": tokenise.ODD.pattern,
            "replaced": tokenise.REPLACED,
        },
        "smoothing": float(inference.smoothing),
        "tol": float(inference.tol),
        "fallback": np.asarray(fallback, dtype=float).tolist(),
        "maxSteps": MAX_ITER,
        "firstSteps": FIRST_STEPS,
        "mostOfTheWay": MOST_OF_THE_WAY,
        "epsilon": EPSILON,
        "same": SAME,
        "sentences": SENTENCE_RULES,
        "negations": {
            "words": sorted(NEGATIONS.get(language, ())),
            "beginnings": [part for part in ("n'",) if negates(f"{part}?", language)],
            "endings": [part for part in ("n't",) if negates(f"?{part}", language)],
        },
        "functionWords": sorted(stop_words(model.language)),
        "not": NOT,
        "phraseSize": PHRASE_SIZE,
        "gamma": model.effects.gamma.tolist(),
        "beta": model.effects.beta.tolist(),
        "constant": float(model.effects.constant) + added,
        "prevalence": themes.prevalence.tolist(),
        "packed": _features(model) | {name: packed(values.astype("<f4")) for name, values in arrays.items()},
    }


def packed(values: NDArray[Any] | Iterable[str], separator: str = "\n") -> str:
    """Return the bytes of an array, or lines none of which contains the separator, deflated, in base64."""
    content = values.tobytes() if isinstance(values, np.ndarray) else separator.join(values).encode()
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def _features(model: FittedThemes) -> dict[str, str]:
    """Words, their effects alone and negated (NaN if not a feature), and phrases."""
    # Phrases firsts[i] to firsts[i + 1] begin with word i; seconds are twice their second word, plus 1 if negated.
    names, kinds = model.features.names, model.features.kinds
    phrases = np.flatnonzero(model.features.is_phrase)
    pairs = [names[j].split(" ")[-2:] for j in phrases.tolist()]
    plain = [names[j] for j in np.flatnonzero(kinds == WORD).tolist()]
    negated = [names[j].removeprefix(NOT) for j in np.flatnonzero(kinds == NEGATED).tolist()]
    single = {WORD: plain, NEGATED: negated}
    words = sorted({*plain, *negated, *model.terms, *(word for pair in pairs for word in pair)})
    number = {word: i for i, word in enumerate(words)}

    def by_word(kind: int) -> Floats:
        effects = np.full(len(words), np.nan)
        effects[[number[word] for word in single[kind]]] = model.tone[kinds == kind]
        return effects

    first = np.array([number[pair[0]] for pair in pairs], dtype=np.int64)
    second = 2 * np.array([number[pair[1]] for pair in pairs], dtype=np.int64) + (kinds[phrases] == NEGATED_PHRASE)
    order = np.lexsort([second, first])
    return {
        "words": packed(words),
        "plain": packed(by_word(WORD).astype("<f4")),
        "negated": packed(by_word(NEGATED).astype("<f4")),
        "firsts": packed(np.searchsorted(first[order], np.arange(len(words) + 1)).astype("<u4")),
        "seconds": packed(second[order].astype("<u4")),
        "phrases": packed(model.tone[phrases][order].astype("<f4")),
        "terms": packed(np.array([number[word] for word in model.terms], dtype="<u4")),
    }


class Browse(NamedTuple):
    """Texts to look through.

    n_texts : their number; n_cut : number of those that are longer than LONGEST.
    no_response, no_group : True if one of them has none; groups : names of groups, empty without groups.
    columns : name -> packed values of all of them.
    """

    n_texts: int
    n_cut: int
    no_response: bool
    no_group: bool
    groups: tuple[str, ...]
    columns: dict[str, str]


def texts_to_browse(reader: ThemeReader, texts: ReportTexts) -> Browse | None:
    """Return at most `n_documents` texts with their sentences; None if no texts are displayed."""
    settings = texts.settings
    if not settings.with_texts or not settings.n_documents:
        return None
    rows = sample(len(texts.reading.observed.responses), settings.n_documents)
    responses, spans = texts.reading.observed.responses[rows], texts.reading.clauses.texts.spans
    ends, themes = sentence_ends(texts.reading.clauses.texts), texts.reading.clauses.places.argmax(axis=1)
    shown, left, kept = [], [], []
    for row in rows.tolist():
        text = texts.reading.texts[row]
        stop = _stop(text)
        first, last = ends[row : row + 2].tolist()
        sentences = slice(first, first + int(np.searchsorted(spans[first:last, 0], stop)))
        shown.append(_with_ends(texts.shown(row), stop, spans[sentences, 1].tolist()))
        left.append(len(text) - stop)
        kept.append(np.arange(sentences.start, sentences.stop))
    chosen = np.concatenate(kept)
    numbers, names = _groups(texts.reading.observed.groups, rows)
    spoken = texts.reading.mentions.at(rows)
    how = np.where(spoken.good != 0, PRAISE, np.where(spoken.bad != 0, COMPLAINT, NEUTRAL))
    columns = {
        "texts": packed(shown, NEXT_TEXT),
        "rows": packed(str(row + 1) for row in rows.tolist()),
        "responses": packed("" if np.isnan(y) else f"{y:g}" for y in responses.tolist()),
        "predictions": packed(mean_response(mean, texts.naming, 1) for mean in texts.mean[rows].tolist()),
        "levels": packed((texts.bins.numbers(responses) + 1).astype(np.uint8)),
        "heldOut": packed(texts.reading.observed.unseen[rows].astype(np.uint8)),
        "stances": packed((how * spoken.mentioned).astype(np.uint8)),
        "themes": packed(themes[chosen].astype("<u2")),
        "points": packed(_points(reader, texts, rows)[chosen].astype("<f4")),
        "left": packed(np.array(left, dtype="<u4")),
    }
    if names:
        columns["groups"] = packed(numbers.astype("<u4"))
    if texts.reading.observed.times is not None:
        columns["dates"] = packed("" if np.isnat(day) else str(day) for day in texts.reading.observed.times[rows])
    return Browse(
        n_texts=len(rows),
        n_cut=int(np.count_nonzero(left)),
        no_response=bool(np.isnan(responses).any()),
        no_group=bool(names) and not numbers.all(),
        groups=names,
        columns=columns,
    )


def _points(reader: ThemeReader, texts: ReportTexts, rows: NDArray[np.int64]) -> Floats:
    """(sentences,) contribution of tone that has not seen the text's response, in points; 0 outside `rows`."""
    effects, reading = reader.fitted.effects, texts.reading.clauses
    tone = reader.fitted.training.unseen_tone(reading) * (reading.places @ effects.gamma)
    slopes = np.zeros(len(texts.reading.observed.responses))
    pairs = zip(
        (effects.constant + texts.reading.predictions.given[rows]).tolist(),
        texts.reading.mentions.eta[rows].tolist(),
        strict=True,
    )
    slopes[rows] = [slope_of(reader.family, baseline, eta) for baseline, eta in pairs]
    return np.asarray(tone * slopes[reading.texts.documents], dtype=float)


def _with_ends(characters: Sequence[str], stop: int, ends: Sequence[int]) -> str:
    """Text up to `stop` with SENTENCE_END after every sentence; characters : as displayed; ends : of sentences."""
    edges = [0, *(min(end, stop) for end in ends), stop]
    pieces = (visible("".join(characters[start:end]).replace("\r\n", "\n")) for start, end in pairwise(edges))
    return SENTENCE_END.join(pieces)


def _stop(text: str) -> int:
    """Number of characters that are displayed; long texts are cut between words."""
    if len(text) <= LONGEST:
        return len(text)
    space = text.rfind(" ", LONGEST // 2, LONGEST)
    return space if space >= 0 else LONGEST


def _groups(groups: pd.Series | None, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """(texts,) number of each group from 1, 0 if missing; and the sorted names."""
    if groups is None:
        return np.zeros(len(rows), dtype=np.int64), ()
    names = groups.iloc[rows].map(lambda group: one_line(str(group)), na_action="ignore")
    codes, unique = pd.factorize(names, sort=True)
    return codes + 1, tuple(unique)
