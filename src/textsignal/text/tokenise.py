"""Words of a text, their positions in it, and lists of words."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from stop_words import AVAILABLE_LANGUAGES, LANGUAGE_MAPPING, get_stop_words

from textsignal.errors import InputError

# Accents and vowel signs as separate characters: `\w` alone would cut words at them.
MARKS = "".join(chr(code) for code in range(0x0300, 0x1D00) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
_LETTER = rf"[\w{MARKS}]"
_APOSTROPHE = r"'(?!s\b)\w"  # with the letter after it; the possessive 's ends a word
# Groups are not possessive: Python 3.11.2 reads a possessive group around a lookahead wrongly.
_WORD = rf"\w(?:{_LETTER}|{_APOSTROPHE}){_LETTER}*+(?:{_APOSTROPHE}{_LETTER}*+)*"
# Clocks, symbols, stars, faces and things; not the skin tones (1F3FB to 1F3FF), which only modify.
PICTURE = "[\u231a-\u23ff\u2600-\u27bf\u2b1b-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
FLAG_PART = "[\U0001f1e6-\U0001f1ff]"
#: A word of a normalised text.
TOKEN = re.compile(rf"{_WORD}|{PICTURE}(?:\u200d{PICTURE})*|{FLAG_PART}{{2}}")

#: Punctuation that ends the scope of a negation; a hyphen between spaces does too.
PAUSE_MARKS = ".,;:!?()…–—、，；："

# Replaced before NFKC, which spells the signs as the words "tm", "sm" and "no", and cuts words at the accent.
REPLACED = dict.fromkeys("´‘’‛ʼ′", "'") | dict.fromkeys("™℠№", " ")
# Invisible parts of words and emoji: soft hyphen, non-joiner, variation selectors, skin tones.
_DROPPED = "\u00ad\u200c\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
ODD = re.compile(f"[{''.join(REPLACED)}{_DROPPED}]")

_LISTS = tomllib.loads(Path(__file__).with_name("word_lists.toml").read_text(encoding="utf-8"))
#: By language: words that negate, small words that carry opinion, words on every theme, words that make a judgement
#: stronger, words that judge a thing without describing it, and words of verdicts on the whole.
NEGATIONS, OPINION, GENERAL, INTENSIFIERS, JUDGING, VERDICTS = (
    {language: frozenset(listed.split()) for language, listed in _LISTS[name].items()}
    for name in ("negations", "opinion", "general", "intensifiers", "judging", "verdicts")
)
#: Content terms that no label is made of: words that judge or describe.
DESCRIBING = {name: JUDGING[name].union(listed.split()) for name, listed in _LISTS["describing"].items()}
_ENGLISH = ENGLISH_STOP_WORDS.union(_LISTS["contractions"]["english"].split())


def words(text: str) -> list[str]:
    """Return the words of a text, lower-cased, in order.

    A word is a run of two or more letters, digits or underscores of any script. Apostrophes inside a word belong to it,
    so that negations stay whole, but the possessive 's is dropped. Each emoji or symbol is a separate word, without its
    skin tone. Forms that differ only in encoding (ligatures, separate accents, curly apostrophes) are one word.

    Scripts without spaces give whole runs as one word, and French or Italian elisions (*l'hôtel*) stay whole: for
    these, give `TextVectorizer` another tokenizer.
    """
    return TOKEN.findall(normalise(text))


def stop_words(which: str | Iterable[str] | None) -> frozenset[str]:
    """Return a list of stop words, as `words` returns them.

    "english" (or "en") is scikit-learn's list, with the contractions that negate nothing ("i'm", ...). Another
    language, by English name or ISO code, is the list of the package ``stop-words``. All are without words that negate
    ("not", "nicht", ...) and small words that carry opinion ("very", "too", ...). An iterable is the list itself.
    """
    if which is None:
        return frozenset()
    if isinstance(which, str):
        name = language_name(which)
        # Some of the package's lists hold quotation marks and commas around their words.
        words_of = _ENGLISH if name == "english" else {normalise(word.strip('", ')) for word in get_stop_words(name)}
        return frozenset(words_of - NEGATIONS[name] - OPINION.get(name, frozenset()))
    if not isinstance(which, Iterable):
        raise InputError(f"stop words are a language, a list of words or None, not {which!r}")
    listed = list(which)
    for word in listed:
        if not isinstance(word, str):
            raise InputError(f"every stop word must be a string, but the list holds {word!r}")
    return frozenset(map(normalise, listed))


@cache
def function_words_of(language: str | None) -> frozenset[str]:
    """Return stop words and intensifiers of a language by its English name, none for None; no word that judges."""
    if language is None:
        return frozenset()
    return stop_words(language) - JUDGING.get(language, frozenset()) | INTENSIFIERS.get(language, frozenset())


def language_name(language: str) -> str:
    """Return the English name of a language, given by that or by its ISO code."""
    name = LANGUAGE_MAPPING.get(language.lower(), language.lower())
    if name not in AVAILABLE_LANGUAGES:
        raise InputError(
            f"no stop words for {language!r}; there are lists for {', '.join(sorted(AVAILABLE_LANGUAGES))}; "
            "None leaves every word in"
        )
    return str(name)


def is_language_name(language: str) -> bool:
    """Return True for the English name of a language with stop words."""
    return language in AVAILABLE_LANGUAGES


def negates(word: str, language: str) -> bool:
    """Return True if a normalised word negates what follows it; always False in a language without a list."""
    if (language == "english" and word.endswith("n't")) or (language == "french" and word.startswith("n'")):
        return True
    return word in NEGATIONS.get(language, frozenset())


def normalise(text: str) -> str:
    """Return one form for texts that differ only in encoding or case."""
    if not text.isascii():
        text = ODD.sub(lambda odd: REPLACED.get(odd[0], ""), text)
        text = unicodedata.normalize("NFKC", text)
    return text.lower()


@dataclass(frozen=True)
class Token:
    """A word as the tokenizer returns it, and its span `text[start:end]`, empty if the text does not contain it."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class LocatedTerm:
    """One occurrence of a term: its column in X, and the positions of its words among the tokens."""

    column: int
    positions: range


@dataclass(frozen=True)
class LocatedText:
    """Words of a text that are not stop words, and every occurrence of a known term; positions are those in `text`."""

    text: str
    tokens: tuple[Token, ...]
    terms: tuple[LocatedTerm, ...]

    @property
    def unknown(self) -> list[str]:
        """Distinct words that are in no known term, in order."""
        known = {position for term in self.terms for position in term.positions}
        return list(dict.fromkeys(token.word for i, token in enumerate(self.tokens) if i not in known))


def located_words(text: str, tokenizer: Callable[[str], Iterable[str]] = words) -> list[Token]:
    """Return the words of a text in order, with their positions."""
    if tokenizer is words and text.isascii():
        return [Token(match[0], *match.span()) for match in TOKEN.finditer(text.lower())]
    if tokenizer is words:
        sources, plain = list(sources_of(text)), normalise(text)
        if len(sources) == len(plain):
            matches = TOKEN.finditer(plain)
            return [Token(match[0], sources[match.start()][0], sources[match.end() - 1][1]) for match in matches]
    return list(_searched(text, tokenizer(text)))


def sources_of(text: str) -> Iterator[tuple[int, int]]:
    """Return start and end of the source of every normalised character."""
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and joins_before(text[end]):
            continue
        yield from [(start, end)] * len(normalise(text[start:end]))
        start = end


def joins_before(character: str) -> bool:
    """Return True if a character may merge with that before it: accents, vowel signs, Korean, invisible ones."""
    if character.isascii():
        return False
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff" or not normalise(character)


def _searched(text: str, tokens: Iterable[str]) -> Iterator[Token]:
    """Words of any tokenizer, each searched for after the one before, ignoring case."""
    lower = text.lower() if len(text.lower()) == len(text) else text
    position = 0
    for word in tokens:
        start = lower.find(word, position)
        start = start if start >= 0 else text.find(word, position)
        if start >= 0:
            position = start + len(word)
        yield Token(word, start if start >= 0 else position, position)
