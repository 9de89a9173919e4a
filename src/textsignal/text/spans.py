"""Where the words of a text stand in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from textsignal.text.tokenise import TOKEN, normalise, words


@dataclass(frozen=True)
class Token:
    """A word as the tokenizer gives it, and the part of the text it comes from: `text[start:end]`.

    That part is empty where the word is not in the text, as with a tokenizer that stems.
    """

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
    """The words of a text that are not stop words, and every occurrence of a known term among them.

    text : the text that their places are in.
    """

    text: str
    tokens: tuple[Token, ...]
    terms: tuple[LocatedTerm, ...]

    @property
    def unknown(self) -> list[str]:
        """Words that are in no known term, each once, in their order."""
        known = {position for term in self.terms for position in term.positions}
        return list(dict.fromkeys(token.word for i, token in enumerate(self.tokens) if i not in known))


def located_terms(text: str, tokens: Sequence[Token], vocabulary: Mapping[str, int], lengths: range) -> LocatedText:
    """Find the terms of a vocabulary that runs of neighbouring tokens make up, of any of these lengths.

    Examples
    --------
    >>> tokens = located_words("not clean")
    >>> located_terms("not clean", tokens, {"clean": 0, "not clean": 1}, range(1, 3)).terms
    (LocatedTerm(column=0, positions=range(1, 2)), LocatedTerm(column=1, positions=range(0, 2)))
    """
    runs = [range(i, i + length) for length in lengths for i in range(len(tokens) - length + 1)]
    named = [(" ".join(tokens[i].word for i in run), run) for run in runs]
    return LocatedText(
        text, tuple(tokens), tuple(LocatedTerm(vocabulary[name], run) for name, run in named if name in vocabulary)
    )


def located_words(text: str, tokenizer: Callable[[str], Iterable[str]] = words) -> list[Token]:
    """Give the words of a text in their order, and where each of them stands.

    Examples
    --------
    >>> located_words("The Staﬀ wasn’t rude.")
    [Token(word='the', start=0, end=3), Token(word='staff', start=4, end=8),
     Token(word="wasn't", start=9, end=15), Token(word='rude', start=16, end=20)]
    """
    if tokenizer is words and text.isascii():
        return [Token(match[0], *match.span()) for match in TOKEN.finditer(text.lower())]
    if tokenizer is words:
        places = list(_places(text))
        plain = normalise(text)
        if len(places) == len(plain):
            found = TOKEN.finditer(plain)
            return [Token(match[0], places[match.start()][0], places[match.end() - 1][1]) for match in found]
    return list(_searched(text, tokenizer(text)))


def _places(text: str) -> Iterator[tuple[int, int]]:
    """For every character of the normalised text, the start and end of what it was made of."""
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _joins_before(text[end]):
            continue
        yield from [(start, end)] * len(normalise(text[start:end]))
        start = end


def _joins_before(character: str) -> bool:
    """Whether a character may melt into the one before it: accents, vowel signs, Korean letters, unseen characters."""
    if character.isascii():
        return False
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff" or not normalise(character)


def _searched(text: str, found: Iterable[str]) -> Iterator[Token]:
    """Words of any tokenizer, each looked for after the one before, in whatever case."""
    lower = text.lower() if len(text.lower()) == len(text) else text
    position = 0
    for word in found:
        start = lower.find(word, position)
        start = start if start >= 0 else text.find(word, position)
        if start >= 0:
            position = start + len(word)
        yield Token(word, start if start >= 0 else position, position)
