r"""Data for the page's scripts: the fitted model, to predict texts in the browser, and documents to look through.

Patterns are translated for JavaScript's flag "u", where `\w`, `\d`, `\s` and `\b` know less of Unicode than in Python,
no quantifier is possessive (ours are for speed alone), and groups are named without a P.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.compute.kernels.reference import EPSILON, FIRST_STEPS, MOST_OF_THE_WAY
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.insight.explanation import SAME, slope_of
from textsignal.reading.mentions import Mentions
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import Browse, Browser, Floats, ReportSettings
from textsignal.report.values.documents import ReportTexts, sample
from textsignal.report.values.wording import mean_response, one_line, visible
from textsignal.text import cleaning, sentences, tokenise, tokens
from textsignal.text.features import NEGATED, NEGATED_PHRASE, NOT, PHRASE_SIZE, WORD
from textsignal.text.tokenise import NEGATIONS, negates, stop_words
from textsignal.training.inference import MAX_ITER, Inference
from textsignal.training.theme_model import FittedThemes

#: Families that the page's scripts implement.
FAMILIES = (
    *("binomial", "beta-binomial", "adjacent-categories", "stereotype", "ordinal", "bernoulli"),
    *("poisson", "negative-binomial", "gaussian"),
)
#: Most documents in a page, and most characters of each.
MOST, LONGEST = 5_000, 3_000
#: Separators of documents and of sentences; `visible` leaves neither in a text.
NEXT_DOCUMENT, SENTENCE_END = "\x01", "\x02"
#: Tone of a document about a theme.
NOT_AT_ALL, NEUTRALLY, WELL, BADLY = range(4)
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


def browser_model(reader: ThemeReader, added: float = 0.0) -> Browser:
    """Return the fitted model as JSON, at average covariates, or the reason why the page cannot predict.

    added : the mean offset.
    """
    if reader.family.name not in FAMILIES:
        return Browser(None, f"The page cannot compute the {reader.family.name} family; Python can.")
    if isinstance(reader, ThemeReader):
        inference = reader.fitted.themes.inference
        return Browser(_common(reader.family, inference, strip_markup=True) | themes_model(reader.fitted, added), "")
    assert isinstance(reader, MatrixReader)
    if reader.vectorizer.tokenizer is not None:
        return Browser(None, "The model was fitted with a tokenizer of its user's own, which runs in Python alone.")
    inference = reader.estimator.inference
    common = _common(reader.family, inference, strip_markup=reader.vectorizer.strip_markup)
    return Browser(common | _topics_model(reader, added), "")


def _common(family: Family, inference: Inference, *, strip_markup: bool) -> dict[str, Any]:
    """Tokenizer, inference of weights and response family."""
    fallback = np.zeros(len(inference.topics)) if inference.fallback is None else inference.fallback
    steps = [(cleaning.ENTITY, None), *cleaning.REPLACEMENTS]  # None : the character that the entity stands for
    return {
        # Numbers replace levels that are text.
        "family": {"name": family.name}
        | family.settings()
        | {name: family.numbers.tolist() for name in ("labels", "values") if name in family.settings()},
        "markup": [{"pattern": pattern, "by": by} for pattern, by in steps] if strip_markup else [],
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
    }


def _topics_model(reader: MatrixReader, added: float) -> dict[str, Any]:
    """Topics on a matrix: terms, topics and effects."""
    vectorizer, estimator = reader.vectorizer, reader.estimator
    return {
        "kind": "topics",
        "stopWords": sorted(tokenise.stop_words(vectorizer.stop_words)),
        "ngrams": [int(n) for n in vectorizer.ngram_range],
        "terms": [str(term) for term in vectorizer.terms_],
        "idf": _numbers(vectorizer.idf_) if vectorizer.weighting == "tfidf" else None,
        "rowNorm": vectorizer.row_norm,
        "unitRows": estimator.inference.unit_rows,
        "topics": _numbers(np.asarray(estimator.components_, dtype=np.float64).T),
        "wordEffects": _numbers(estimator.word_effects_) if np.any(estimator.word_effects_) else None,
        "effects": np.asarray(estimator.coef_, dtype=float).tolist(),
        "intercept": float(estimator.intercept_) + added,
        "centre": estimator.centred_effects.centre,
    }


def _numbers(values: Floats) -> str:
    """Little-endian doubles in base64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def packed(values: NDArray[Any]) -> str:
    """Return the bytes of an array, deflated, in base64."""
    return _deflated(np.ascontiguousarray(values).tobytes())


def packed_lines(lines: Iterable[str], separator: str = "\n") -> str:
    """Return texts joined by a separator that none of them contains, deflated, in base64."""
    return _deflated(separator.join(lines).encode())


def _deflated(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def javascript(pattern: str) -> str:
    r"""Translate a pattern of Python's `re` for JavaScript's "u" flag.

    Examples
    --------
    >>> javascript(r"(?P<word>[^\W_]+)*+\d")
    '(?<word>[\\p{L}\\p{N}]+)*[\\p{Nd}]'
    """
    return _PART.sub(_translated, pattern)


def _translated(part: re.Match[str]) -> str:
    if part[1] is None:
        return _OUTSIDE.get(part[2], part[2])
    if part[1] in _WHOLE:
        return _WHOLE[part[1]]
    return re.sub(r"\\.", lambda escape: _INSIDE.get(escape[0], escape[0]), part[1], flags=re.DOTALL)


def themes_model(model: FittedThemes, added: float = 0.0) -> dict[str, Any]:
    """Return themes and tone: words by number, the effect of each, and of each pair that is a phrase.

    Numbers are in single precision, which halves the page: predictions of hotel reviews differ by at most 5e-8.
    """
    return {
        "kind": "themes",
        "sentences": _sentence_rules(),
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
            "themes": packed(model.themes.topics.T.astype("<f4")),
            "termWeights": packed(model.themes.term_weights.astype("<f4")),
        },
    }


def _sentence_rules() -> dict[str, Any]:
    """Rules that split a text into sentences, and a sentence into words and pauses."""
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
        "wordOrPause": javascript(tokens.WORD_OR_PAUSE.pattern),
        "pauses": sorted(tokens.PAUSES),
        "scope": tokens.SCOPE,
    }


def _negations(language: str) -> dict[str, Any]:
    """Negating words, and beginnings and endings that negate."""
    return {
        "words": sorted(NEGATIONS.get(language, ())),
        "beginnings": [part for part in ("n'",) if negates(f"{part}?", language)],
        "endings": [part for part in ("n't",) if negates(f"?{part}", language)],
    }


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
        "words": packed_lines(words),
        "plain": packed(by_word(WORD).astype("<f4")),
        "negated": packed(by_word(NEGATED).astype("<f4")),
        "firsts": packed(np.searchsorted(first[order], np.arange(len(words) + 1)).astype("<u4")),
        "seconds": packed(second[order].astype("<u4")),
        "phrases": packed(model.tone[phrases][order].astype("<f4")),
        "terms": packed(np.array([number[word] for word in model.terms], dtype="<u4")),
    }


def check_n_documents(n_documents: int) -> None:
    """Raise InputError if a page cannot hold this number of documents."""
    if not 0 <= n_documents <= MOST:
        raise InputError(f"n_documents is {n_documents:,}: between 0 and {MOST:,} documents can be put into a report")


def documents_to_browse(reader: ThemeReader, documents: ReportTexts, settings: ReportSettings) -> Browse | None:
    """Return at most `settings.n_documents` documents with their sentences; None if no texts are displayed."""
    if not settings.with_texts or not settings.n_documents:
        return None
    rows = sample(len(documents.responses), settings.n_documents)
    texts = [documents.reading.texts[row] for row in rows.tolist()]
    stops = [_stop(text) for text in texts]
    parsed = _sentences(reader, documents, rows)
    kept = [parsed.of(row, stop) for row, stop in zip(rows.tolist(), stops, strict=True)]
    ends = [parsed.spans[chosen, 1].tolist() for chosen in kept]
    left = np.array([len(text) - stop for text, stop in zip(texts, stops, strict=True)], dtype="<u4")
    means = (mean_response(mean, settings.naming, 1) for mean in documents.mean[rows].tolist())
    numbers, names = _groups(documents.groups, rows)
    columns = {
        "texts": packed_lines(map(_shown, map(documents.shown, rows.tolist()), stops, ends), NEXT_DOCUMENT),
        "rows": packed_lines(str(row + 1) for row in rows.tolist()),
        "responses": packed_lines("" if np.isnan(y) else f"{y:g}" for y in documents.responses[rows].tolist()),
        "predictions": packed_lines(means),
        "levels": packed((documents.bins.places(documents.responses[rows]) + 1).astype(np.uint8)),
        "heldOut": packed(documents.held_out[rows].astype(np.uint8)),
        "stances": packed(stances(documents.spoken.at(rows))),
        "themes": packed(np.concatenate([parsed.themes[chosen] for chosen in kept]).astype("<u2")),
        "points": packed(np.concatenate([parsed.points[chosen] for chosen in kept]).astype("<f4")),
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
        responses=documents.bins.labels,
        no_response=bool(np.isnan(documents.responses[rows]).any()),
        groups=names,
        no_group=bool(names) and not numbers.all(),
        group_name=settings.group_name,
        columns=columns,
    )


def stances(spoken: Mentions) -> NDArray[np.uint8]:
    """Return (documents, themes) NOT_AT_ALL, NEUTRALLY, WELL or BADLY."""
    how = np.where(spoken.good != 0, WELL, np.where(spoken.bad != 0, BADLY, NEUTRALLY))
    return np.where(spoken.spoken, how, NOT_AT_ALL).astype(np.uint8)


@dataclass(frozen=True)
class _Sentences:
    """Sentences of all documents; empty for themes on a matrix.

    ends : (documents + 1,) first sentence of each document; spans : (sentences, 2) start and end in the text.
    themes : (sentences,) main theme; points : (sentences,) contribution of tone, in points of the response.
    """

    ends: NDArray[np.int64]
    spans: NDArray[np.int64]
    themes: NDArray[np.int64]
    points: Floats

    def of(self, row: int, stop: int) -> slice:
        """Return the sentences of a document that begin before `stop`."""
        first, last = self.ends[row : row + 2].tolist()
        return slice(first, first + int(np.searchsorted(self.spans[first:last, 0], stop)))


def _sentences(reader: ThemeReader, documents: ReportTexts, rows: NDArray[np.int64]) -> _Sentences:
    """Sentences with tone estimated without the document's response; points are 0 outside `rows`."""
    reading = documents.reading.clauses
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
    return _Sentences(reading.texts.sentence_ends, reading.texts.spans, reading.places.argmax(axis=1), points)


def _shown(characters: Sequence[str], stop: int, ends: Sequence[int]) -> str:
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
    """(documents,) number of each group from 1, 0 if missing; and the sorted names."""
    if groups is None:
        return np.zeros(len(rows), dtype=np.int64), ()
    names = groups.iloc[rows].map(lambda group: one_line(str(group)), na_action="ignore")
    codes, unique = pd.factorize(names, sort=True)
    return codes + 1, tuple(unique)
