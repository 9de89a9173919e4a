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

from textsignal.insight.examples import clause_contributions
from textsignal.insight.explanation import ROUNDED, SAME, slope_of
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import Floats
from textsignal.report.values.texts import ReportTexts, sample
from textsignal.report.values.wording import mean_response, one_line, visible
from textsignal.text import clauses, cleaning, scanning, sentences, tokenise, tokens
from textsignal.text.clauses import clause_kinds, letter_kinds, refers_back
from textsignal.text.features import NEGATED, NEGATED_PHRASE, NOT, PHRASE_SIZE, WORD
from textsignal.text.scanning import (
    APART,
    CONTRAST,
    CONTRASTED,
    EXCEPTING,
    JOINED,
    JOINING,
    NAMING,
    NEGATING,
    OPINION,
    SUBJECT,
    VERB,
)
from textsignal.text.tokenise import GENERAL, NEGATIONS, function_words_of, negates, stop_words
from textsignal.training.judgement import LONG, LOWERS, MOOD, NEAR, OPPOSED, OWN, RAISES, SHARED, TELLING, Sides
from textsignal.training.places import (
    CLEAR,
    CLEAR_TYPICAL,
    JUDGES,
    NAMED,
    NEXT,
    REFERS,
    SENTENCE,
    STEPS,
    SURE,
    kinds_of,
)
from textsignal.training.theme_model import FittedThemes, WordEffects, votes_of

#: Families that the page's scripts implement.
FAMILIES = (
    *("binomial", "beta-binomial", "adjacent-categories", "stereotype", "ordinal", "bernoulli"),
    *("poisson", "negative-binomial", "gaussian"),
)
#: Most texts in a page, and most characters of each.
MOST, LONGEST = 5_000, 3_000
#: Not a word, so in no list.
_UNLISTED = "?"
#: Separators of texts and of clauses; `visible` leaves neither in a text.
NEXT_TEXT, CLAUSE_END = "\x01", "\x02"
#: What a text does about a theme, one bit each: a text may both praise it and complain about it.
MENTION, PRAISE, COMPLAINT = 1, 2, 4
STANCES = {"mention": MENTION, "praise": PRAISE, "complaints": COMPLAINT}
_LETTER = r"\p{L}\p{N}_"
#: Python's white space, inside a class.
SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
#: Digits by `str.isdigit`, inside a class, that are no decimal ones: superscripts, in circles, in brackets.
DIGITS = (
    "\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea"
    "\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\U00010a40-\U00010a43\U00010e60-\U00010e68"
    "\U00011052-\U0001105a\U0001f100-\U0001f10a"
)
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
    "digit": rf"\p{{Nd}}{DIGITS}",
    "titles": sorted(sentences.TITLES),
    "shortForms": sorted(sentences.SHORT_FORMS),
    "longest": sentences.LONGEST,
    "part": sentences.PART,
    # A letter that stands alone is no word, but may join two clauses, or be a subject.
    "wordOrPause": javascript(rf"{tokens.WORD_OR_PAUSE.pattern}|\w"),
    "letter": javascript(r"\w"),
    "pauses": sorted(tokens.PAUSES),
    "pauseMarks": javascript(tokens._PAUSES.pattern),
    "telling": javascript(tokens._TELLING.pattern),
    "breaks": {"dash": scanning.AFTER_DASH, "semicolon": scanning.AFTER_SEMICOLON},
    "breaking": {"dash": [*sentences.DASHES], "semicolon": [*";；"]},
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
    markup_steps = [(cleaning.ENTITY, None), *cleaning.REPLACEMENTS]  # None : the character that the entity stands for
    # Numbers replace levels that are text.
    numbers = {name: family.numbers.tolist() for name in ("labels", "values") if name in family.settings()}
    return {
        "family": {"name": family.name} | family.settings() | numbers,
        "markup": [{"pattern": pattern, "by": by} for pattern, by in markup_steps],
        "tokenizer": {
            "token": javascript(tokenise.TOKEN.pattern),
            "odd": tokenise.ODD.pattern,
            "replaced": tokenise.REPLACED,
        },
        "same": SAME,
        "rounded": ROUNDED,
        "sentences": SENTENCE_RULES,
        "negations": {
            "words": sorted(NEGATIONS.get(language, ())),
            "beginnings": [part for part in ("n'",) if negates(f"{part}?", language)],
            "endings": [part for part in ("n't",) if negates(f"?{part}", language)],
        },
        "functionWords": sorted(stop_words(model.language)),
        "toneless": sorted(function_words_of(model.language)),
        "clauses": _clause_rules(language),
        "verdict": {
            "bias": float(model.verdict.bias),
            "named": NAMED,
            "sure": SURE,
            "kinds": {"judges": int(JUDGES), "refers": int(REFERS)},
        },
        "votes": {"steps": STEPS, "sentence": SENTENCE, "next": NEXT, "clear": [CLEAR, CLEAR_TYPICAL]},
        "judgement": _judgement(model.words, model.words.sides(model.features)),
        "not": NOT,
        "phraseSize": PHRASE_SIZE,
        "nThemes": model.n_themes,
        "gamma": model.effects.gamma.tolist(),
        "beta": model.effects.beta.tolist(),
        "constant": float(model.effects.constant) + added,
        "average": float(model.effects.average) + added,
        "packed": _words(model),
    }


def _listed_words(language: str) -> frozenset[str]:
    """Words whose kind cannot be read off the word; empty if the sentences of a language are not cut."""
    listed = dict(clauses._listed(language))
    if not listed[int(CONTRAST)]:
        return frozenset()
    plain = (words.get(language, ()) for words in (NEGATIONS, GENERAL, tokenise.OPINION))
    return stop_words(language).union(*listed.values(), *plain)


def _clause_rules(language: str) -> dict[str, Any]:
    """Kinds of words by which sentences are cut; letters : of those that stand alone; unlisted : of any other word.

    That is None if the sentences of a language are not cut.
    """
    kinds = {
        "contrast": CONTRAST,
        "joining": JOINING,
        "subject": SUBJECT,
        "verb": VERB,
        "opinion": OPINION,
        "naming": NAMING,
        "excepting": EXCEPTING,
        "negating": NEGATING,
    }
    listed = _listed_words(language)
    return {
        "kinds": {name: int(kind) for name, kind in kinds.items()},
        "joined": {"apart": int(APART), "joined": int(JOINED), "contrasted": int(CONTRASTED)},
        "letters": {chr(letter): kind for letter, kind in letter_kinds(language).items()},
        "unlisted": int(clause_kinds([_UNLISTED], language)[0]) if listed else None,
        "listsOpinions": bool(np.any(clause_kinds(sorted(listed), language) & OPINION)),
    }


def _judgement(words: WordEffects, sides: Sides) -> dict[str, Any]:
    """Numbers by which clauses are judged."""
    return {
        "flags": [int(LOWERS), int(RAISES)],
        "parts": list(sides.parts),
        "story": list(sides.story),
        "least": [words.typical * least for least in sides.least],
        "mood": MOOD,
        "judged": float(words.judged),
        "spread": float(words.spread),
        "zone": {"low": float(words.zone.low), "high": float(words.zone.high)},
        "near": float(NEAR * words.spread),
        "own": OWN,
        "shared": SHARED,
        "opposed": OPPOSED,
        "telling": TELLING,
        "long": LONG,
    }


def packed(values: NDArray[Any] | Iterable[str], separator: str = "\n") -> str:
    """Return the bytes of an array, or lines none of which contains the separator, deflated, in base64."""
    content = values.tobytes() if isinstance(values, np.ndarray) else separator.join(values).encode()
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")


def _words(model: FittedThemes) -> dict[str, str]:
    """Words with their kinds, and their effects alone and negated (NaN if not a feature), phrases, and votes."""
    # Phrases firsts[i] to firsts[i + 1] begin with word i; seconds are twice their second word, plus 1 if negated.
    features, verdict, language = model.features, model.verdict, model.language or ""
    names, kinds = features.names, features.kinds
    effects: dict[str, NDArray[Any]] = {
        "": model.words.tone,
        "Judged": model.words.judgement,
        "Flags": model.words.sides(features).flags,
    }
    votes = votes_of(model.terms, model.themes, verdict, model.language)
    phrases = np.flatnonzero(features.is_phrase)
    pairs = [names[j].split(" ")[-2:] for j in phrases.tolist()]
    plain = [names[j] for j in np.flatnonzero(kinds == WORD).tolist()]
    negated = [names[j].removeprefix(NOT) for j in np.flatnonzero(kinds == NEGATED).tolist()]
    single = {"plain": (WORD, plain), "negated": (NEGATED, negated)}
    of_pairs = (word for pair in pairs for word in pair)
    words = sorted({*plain, *negated, *model.terms, *of_pairs, *verdict.words, *_listed_words(language)})
    number = {word: i for i, word in enumerate(words)}

    def by_word(kind: int, of_kind: list[str], effect: NDArray[Any]) -> str:
        values = np.full(len(words), np.nan)
        values[[number[word] for word in of_kind]] = effect[kinds == kind]
        return packed(values.astype("<f4"))

    first = np.array([number[pair[0]] for pair in pairs], dtype=np.int64)
    second = 2 * np.array([number[pair[1]] for pair in pairs], dtype=np.int64) + (kinds[phrases] == NEGATED_PHRASE)
    order = np.lexsort([second, first])
    scores, judges = verdict.of_words(words)
    return {
        "words": packed(words),
        "firsts": packed(np.searchsorted(first[order], np.arange(len(words) + 1)).astype("<u4")),
        "seconds": packed(second[order].astype("<u4")),
        "terms": packed(np.array([number[word] for word in model.terms], dtype="<u4")),
        "names": packed(votes.names.astype(np.uint8)),
        "typical": packed(votes.typical.astype(np.uint8)),
        "votes": packed(np.round(votes.of_terms * STEPS).astype("<u2")),
        "clauseKinds": packed(clause_kinds(words, language)),
        "verdictKinds": packed(kinds_of(judges, refers_back(words, language))),
        # In double precision: the sign of their sum places a clause.
        "scores": packed(scores.astype("<f8")),
        **{f"phrases{of}": packed(effect[phrases][order].astype("<f4")) for of, effect in effects.items()},
        **{f"{name}{of}": by_word(*alone, effect) for name, alone in single.items() for of, effect in effects.items()},
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
    """Return at most `n_documents` texts with their clauses; None if no texts are displayed."""
    settings = texts.settings
    if not settings.with_texts or not settings.n_documents:
        return None
    rows = sample(len(texts.reading.observed.responses), settings.n_documents)
    responses, spans = texts.reading.observed.responses[rows], texts.reading.clauses.texts.spans
    unseen = texts.reading.unseen
    shown, left, kept = [], [], []
    for row in rows.tolist():
        text = texts.reading.texts[row]
        stop = _stop(text)
        first, last = unseen.ends[row : row + 2].tolist()
        inside = slice(first, first + int(np.searchsorted(spans[first:last, 0], stop)))
        shown.append(_with_ends(texts.shown(row), stop, spans[inside, 1].tolist()))
        left.append(len(text) - stop)
        kept.append(np.arange(inside.start, inside.stop))
    chosen = np.concatenate(kept)
    numbers, names = _groups(texts.reading.observed.groups, rows)
    spoken = texts.reading.mentions.at(rows)
    stances = MENTION * spoken.mentioned + PRAISE * spoken.praises + COMPLAINT * spoken.complains
    columns = {
        "texts": packed(shown, NEXT_TEXT),
        "rows": packed(str(row + 1) for row in rows.tolist()),
        "responses": packed("" if np.isnan(y) else f"{y:g}" for y in responses.tolist()),
        "predictions": packed(mean_response(mean, texts.naming, 1) for mean in texts.mean[rows].tolist()),
        "levels": packed((texts.bins.numbers(responses) + 1).astype(np.uint8)),
        "heldOut": packed(texts.reading.observed.unseen[rows].astype(np.uint8)),
        "stances": packed(stances.astype(np.uint8)),
        "themes": packed(unseen.places[chosen].astype("<u2")),
        "kinds": packed((texts.naming.better * unseen.kinds[chosen]).astype(np.int8)),
        # In double precision: clauses add up to what the cards say of their themes.
        "points": packed(_points(reader, texts, rows)[chosen].astype("<f8")),
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
    """(clauses,) contribution of tone that has not seen the text's response, in points; 0 outside `rows`."""
    effects, reading = reader.fitted.effects, texts.reading
    tone, _ = clause_contributions(reading.clauses, reading.unseen, effects)
    baselines = effects.baseline(reading.unseen.evidence[rows]) + reading.predictions.given[rows]
    slopes = np.zeros(len(reading.observed.responses))
    pairs = zip(baselines.tolist(), reading.mentions.eta[rows].tolist(), strict=True)
    slopes[rows] = [slope_of(reader.family, baseline, eta) for baseline, eta in pairs]
    return np.asarray(tone * slopes[reading.unseen.documents], dtype=float)


def _with_ends(characters: Sequence[str], stop: int, ends: Sequence[int]) -> str:
    """Text up to `stop` with CLAUSE_END after every clause; characters : as displayed; ends : of clauses."""
    edges = [0, *(min(end, stop) for end in ends), stop]
    pieces = (visible("".join(characters[start:end]).replace("\r\n", "\n")) for start, end in pairwise(edges))
    return CLAUSE_END.join(pieces)


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
