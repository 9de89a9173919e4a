"""What every character is to the compiled pass over texts, as the patterns of `sentences` and `tokenise` have it.

A table over all code points is filled in pages, when a text first holds a character of one.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from textsignal.text import sentences
from textsignal.text import splitting as kinds
from textsignal.text.splitting import NOTHING, PAGE, Characters, pack
from textsignal.text.tokenise import FLAG_PART, MARKS, PAUSE_MARKS, PICTURE, normalise

N_PAGES = (sys.maxunicode + 1) // PAGE
#: Kinds of characters by the pattern of one.
_PATTERNS = {
    kinds.SPACE: r"\s",
    kinds.STOP: f"[{sentences.STOPS}]",
    kinds.OTHER_STOP: f"[{sentences.OTHER_STOPS}]",
    kinds.CLOSING: f"[{sentences.CLOSING}]",
    kinds.BULLET: f"[{sentences.BULLETS}]",
    kinds.LINE: r"\n",
    kinds.LETTER: r"[^\W\d_]",
    kinds.ALNUM: r"[^\W_]",
    kinds.HELD: sentences.HELD.pattern,
    kinds.CAPITAL: f"[{sentences.CAPITALS}]",
    kinds.SMALL: "[a-z]",
    kinds.COMMA: f"[{sentences.COMMAS}]",
    kinds.DASH: f"[{sentences.DASHES}]",
    kinds.QUOTE: f"[{sentences.QUOTES}]",
    kinds.ITEM: f"[{re.escape(sentences.BEFORE_ITEM)}]",
    kinds.WORD: r"\w",
    kinds.MARK: f"[{MARKS}]",
    kinds.PICTURE: PICTURE,
    kinds.FLAG: FLAG_PART,
    kinds.PAUSE: f"[{PAUSE_MARKS}]",
}
#: Kinds by what Python's strings say of a character.
_METHODS = {
    kinds.DIGIT: lambda letter: letter.lower().isdigit(),
    kinds.UPPER: str.isupper,
    kinds.LOWER: str.islower,
    kinds.INITIAL: lambda letter: letter.isupper() and letter.lower().isalpha(),
}
#: What a normalised character may be that is more than a gap between words.
_TELLING = re.compile(rf"[\w\s{MARKS}{PAUSE_MARKS}'\-\u200d]|{PICTURE}|{FLAG_PART}")
_PAUSES = re.compile(f"[{PAUSE_MARKS}]+")


class CharacterTable:
    """Characters as the kernels need them; pages of it are filled when they are asked for."""

    def __init__(self) -> None:
        titles, short_forms = (
            np.array(sorted(map(pack, listed)), np.uint64) for listed in (sentences.TITLES, sentences.SHORT_FORMS)
        )
        n_codes = N_PAGES * PAGE
        self.characters = Characters(np.zeros(n_codes, np.uint32), np.zeros(n_codes, np.uint32), titles, short_forms)
        self._is_filled = np.zeros(N_PAGES, dtype=bool)
        self._lock = Lock()

    def with_pages(self, asked: NDArray[np.bool_]) -> Characters:
        """The table, with the pages that are asked for, and those of what their characters become, filled in place."""
        with self._lock:
            missing = np.flatnonzero(asked & ~self._is_filled)
            while missing.size:
                for page in missing.tolist():
                    self._fill(page)
                self._is_filled[missing] = True
                become = self.characters.normal.reshape(-1, PAGE)[missing]
                asked = np.zeros_like(asked)
                asked[become[become != NOTHING] // PAGE] = True
                missing = np.flatnonzero(asked & ~self._is_filled)
        return self.characters

    def _fill(self, page: int) -> None:
        first = page * PAGE
        letters = [chr(code) for code in range(first, first + PAGE)]
        found, here = np.zeros(PAGE, np.uint32), "".join(letters)
        for kind, pattern in _PATTERNS.items():
            found[[match.start() for match in re.finditer(pattern, here)]] |= kind
        for kind, method in _METHODS.items():
            found[[method(letter) for letter in letters]] |= kind
        normal = [_normal(letter) for letter in letters]
        found[[code is None for code in normal]] |= kinds.ODD
        self.characters.kinds[first : first + PAGE] = found
        self.characters.normal[first : first + PAGE] = [code or 0 for code in normal]


@cache
def character_table() -> CharacterTable:
    """The one table of this process."""
    return CharacterTable()


def _normal(letter: str) -> int | None:
    """What a character is in normalised text: a code point or `NOTHING`; None where that hangs on its neighbours.

    Of several characters, which are no part of a word, one is as good as all.
    """
    if letter.isspace():
        return ord(" ")
    plain = normalise(letter)
    if not plain:
        return NOTHING
    if len(plain) == 1 and plain.isascii():
        return ord(plain)
    if "Σ" in unicodedata.normalize("NFKC", letter) or _joins(unicodedata.normalize("NFKD", letter)[0]):
        return None
    if len(plain) == 1 or _PAUSES.fullmatch(plain) or not _TELLING.search(plain):
        return ord(plain[0])
    return None


def _joins(letter: str) -> bool:
    """Whether a character may melt into the one before it: accents, vowel signs, parts of Korean syllables."""
    return unicodedata.category(letter) in {"Mn", "Mc"} or "\u1160" <= letter <= "\u11ff"
