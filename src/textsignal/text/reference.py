"""How texts are cut into sentences and words, in plain Python: what the compiled pass must give bit for bit."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsignal.compute.counting import spell_out
from textsignal.data.rows import checked_texts
from textsignal.text.sentences import sentence_spans
from textsignal.text.tokenise import normalise
from textsignal.text.units import PAUSES, SCOPE, WORD_OR_PAUSE, SentenceTexts, negation_of


def read_sentences(texts: Iterable[str], language: str = "english", clean: Callable[[str], str] = str) -> SentenceTexts:
    """Do as `text.units.read_sentences` does."""
    given = checked_texts(texts)
    cleaned = [clean(text) for text in given]
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    pieces, spans = array("i"), array("q")
    n_sentences, ends = array("q"), array("q", [0])
    for text in cleaned:
        found = sentence_spans(text)
        n_sentences.append(len(found))
        for start, end in found:
            spans.extend((start, end))
            pieces.extend(map(numbers.__getitem__, text[start:end].split()))
            ends.append(len(pieces))
    tokens = _tokens(list(numbers))
    negates, content = negation_of(tokens.words, language)
    codes, indptr, under = spell_out(
        np.array(pieces, np.int32),
        np.array(ends, np.int64),
        tokens.codes,
        tokens.indptr,
        negates,
        SCOPE,
    )
    return SentenceTexts(
        texts=cleaned,
        documents=np.repeat(np.arange(len(cleaned)), n_sentences),
        spans=np.array(spans, np.int64).reshape(-1, 2),
        words=tokens.words,
        codes=codes,
        indptr=indptr,
        under=under,
        negated=under & content[codes],
        cleaned=np.array([before != after for before, after in zip(given, cleaned, strict=True)], dtype=bool),
    )


@dataclass(frozen=True)
class _Tokens:
    """Words and pauses of distinct pieces of text, one piece after the other.

    words : the distinct words, in the order in which they first occur.
    codes : (tokens,) the number of each in `words`, -1 for a pause; indptr : (pieces + 1,) where each piece begins.
    """

    words: Sequence[str]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]


def _tokens(pieces: Sequence[str]) -> _Tokens:
    """Words and pauses of pieces of text, none of which holds a space."""
    found = WORD_OR_PAUSE.findall(normalise("".join(f"\n{piece}" for piece in pieces) + "\n"))
    words = list(dict.fromkeys(token for token in found if token not in PAUSES and token != "\n"))
    numbers = {"\n": -2} | dict.fromkeys(PAUSES, -1) | {word: code for code, word in enumerate(words)}
    codes = np.array([numbers[token] for token in found], dtype=np.int32)
    breaks = np.flatnonzero(codes == -2)
    return _Tokens(words, codes[codes != -2], breaks - np.arange(len(breaks)))
