"""The compiled pass over texts: encoded, in blocks that threads read, and with common numbers of words.

`CharacterTable` holds, for every code point, what the patterns of `sentences` and `tokenise` make of it. It is filled
in pages, when a text first contains a character of one.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import chain, pairwise
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from joblib import effective_n_jobs
from numpy.typing import DTypeLike, NDArray

from textsignal.data.rows import ArrowTexts, checked_texts
from textsignal.text import scanning as kinds
from textsignal.text import sentences
from textsignal.text.markup import without_markup
from textsignal.text.scanning import (
    NOTHING,
    PAGE,
    Bytes,
    Characters,
    cut_texts,
    mark_negated,
    mark_pages,
    pack,
    read_words,
    survey,
)
from textsignal.text.sentences import LONGEST, PART
from textsignal.text.tokenise import FLAG_PART, MARKS, PAUSE_MARKS, PICTURE, normalise


def texts_at(texts: Sequence[str], rows: NDArray[np.int64]) -> Sequence[str]:
    """Return some of the texts, in the order of `rows`; those in Arrow's memory stay there."""
    return ArrowTexts(texts.array.take(rows)) if isinstance(texts, ArrowTexts) else [texts[i] for i in rows]


def texts_together(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    """Concatenate texts of parts; in Arrow's memory if all are.

    Examples
    --------
    >>> noisy = ArrowTexts(pa.array(["Noisy"], pa.large_string()))
    >>> texts_together([["Clean"], noisy]), len(texts_together([noisy, noisy]))
    (['Clean', 'Noisy'], 2)
    """
    arrays = [texts.array for texts in parts if isinstance(texts, ArrowTexts)]
    return ArrowTexts(pa.concat_arrays(arrays)) if 0 < len(arrays) == len(parts) else [*chain.from_iterable(parts)]


def text_keys(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return (documents,) a number for each text, equal on every machine."""
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@dataclass(frozen=True, eq=False)
class Encoded:
    """Texts that were checked and cleaned.

    source : the texts in UTF-8; beyond : (texts,) True if not all ASCII; cleaned : (texts,) True if changed.
    """

    texts: Sequence[str]
    source: Bytes
    beyond: NDArray[np.bool_]
    cleaned: NDArray[np.bool_]


def encode(texts: Iterable[str], clean: Callable[[str], str]) -> Encoded:
    """Clean and encode texts; `without_markup` is called only for those that contain a "<" or a "&"."""
    given = checked_texts(texts)
    source = as_bytes(given)
    beyond, marked = survey(source)
    rows = np.flatnonzero(marked if clean is without_markup else np.full(len(given), clean is not str)).tolist()
    cleaned = ((row, given[row], clean(given[row])) for row in rows)
    changed = {row: after for row, before, after in cleaned if before != after}
    is_changed = np.zeros(len(given), dtype=bool)
    if changed:
        is_changed[list(changed)] = True
        given = _replaced(given, is_changed, list(changed.values()))
        source = as_bytes(given)
        beyond, _ = survey(source)
    return Encoded(given, source, beyond, is_changed)


def _replaced(texts: Sequence[str], places: NDArray[np.bool_], others: Sequence[str]) -> Sequence[str]:
    """Replace the texts in some places by others."""
    if isinstance(texts, ArrowTexts):
        return ArrowTexts(pc.replace_with_mask(texts.array, places, pa.array(others, pa.large_string())))
    replaced = list(texts)
    for row, text in zip(np.flatnonzero(places).tolist(), others, strict=True):
        replaced[row] = text
    return replaced


def as_bytes(texts: Sequence[str]) -> Bytes:
    """Return texts in UTF-8, with lone surrogates encoded too."""
    if isinstance(texts, ArrowTexts):
        return bytes_of(texts.array)
    try:
        return bytes_of(pa.array(texts, pa.large_string()))
    except UnicodeEncodeError:
        return bytes_of(pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary()))


def bytes_of(array: Any) -> Bytes:
    """Return the memory of an Arrow array of large strings."""
    _, offsets, data = array.buffers()
    begin = array.offset
    # An empty array may have no offsets.
    ends = _viewed(offsets, np.int64)[begin : begin + len(array) + 1] if len(array) else _viewed(bytes(8), np.int64)
    return Bytes(_viewed(data, np.uint8), ends)


def _viewed(buffer: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Memory as a read-only array: loops are compiled only for that."""
    view = np.frombuffer(b"" if buffer is None else buffer, dtype)
    view.flags.writeable = False
    return view


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
#: Kinds of characters by methods of Python's strings.
_METHODS = {
    kinds.DIGIT: lambda letter: letter.lower().isdigit(),
    kinds.UPPER: str.isupper,
    kinds.LOWER: str.islower,
    kinds.INITIAL: lambda letter: letter.isupper() and letter.lower().isalpha(),
}
#: Normalised characters that are more than a gap between words.
_TELLING = re.compile(rf"[\w\s{MARKS}{PAUSE_MARKS}'\-\u200d]|{PICTURE}|{FLAG_PART}")
_PAUSES = re.compile(f"[{PAUSE_MARKS}]+")


class CharacterTable:
    """Characters as the compiled loops need them; pages are filled when needed."""

    def __init__(self) -> None:
        titles, short_forms = (
            np.array(sorted(map(pack, listed)), np.uint64) for listed in (sentences.TITLES, sentences.SHORT_FORMS)
        )
        n_codes = N_PAGES * PAGE
        self.characters = Characters(np.zeros(n_codes, np.uint32), np.zeros(n_codes, np.uint32), titles, short_forms)
        self._is_filled = np.zeros(N_PAGES, dtype=bool)
        self._lock = Lock()

    def with_pages(self, needed: NDArray[np.bool_]) -> Characters:
        """Return the table after filling the pages needed, and those of the normalised characters."""
        with self._lock:
            missing = np.flatnonzero(needed & ~self._is_filled)
            while missing.size:
                for page in missing.tolist():
                    self._fill(page)
                self._is_filled[missing] = True
                become = self.characters.normal.reshape(-1, PAGE)[missing]
                needed = np.zeros_like(needed)
                needed[become[become != NOTHING] // PAGE] = True
                missing = np.flatnonzero(needed & ~self._is_filled)
        return self.characters

    def _fill(self, page: int) -> None:
        first = page * PAGE
        letters = [chr(code) for code in range(first, first + PAGE)]
        of_page, here = np.zeros(PAGE, np.uint32), "".join(letters)
        for kind, pattern in _PATTERNS.items():
            of_page[[match.start() for match in re.finditer(pattern, here)]] |= kind
        for kind, method in _METHODS.items():
            of_page[[method(letter) for letter in letters]] |= kind
        normal = [_normal(letter) for letter in letters]
        of_page[[code is None for code in normal]] |= kinds.ODD
        self.characters.kinds[first : first + PAGE] = of_page
        self.characters.normal[first : first + PAGE] = [code or 0 for code in normal]


@cache
def character_table() -> CharacterTable:
    """Return the one table of this process."""
    return CharacterTable()


def _normal(letter: str) -> int | None:
    """The code point of a character in normalised text, or `NOTHING`; None if that depends on its neighbours.

    Of several characters outside words, the first stands for all.
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
    """True if a character may merge with the one before it: accents, vowel signs, parts of Korean syllables."""
    return unicodedata.category(letter) in {"Mn", "Mc"} or "\u1160" <= letter <= "\u11ff"


#: The least bytes of text in a block: enough to pay for a table of its words, few enough for a core's cache.
BLOCK_BYTES = 1 << 20
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class ReadBlock:
    """Consecutive texts, read.

    sentences : (texts + 1,) where the sentences of each begin; spans : (sentences, 2) in their text.
    codes : (all words,) the number of each in `words`, ~ of it after a pause; indptr : (sentences + 1,) in it.
    words : Arrow array of the distinct words, in the order in which they first occur.
    n_odd : texts that Python had to normalise.
    """

    sentences: NDArray[np.int64]
    spans: NDArray[np.int64]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    words: Any
    n_odd: int


@dataclass(frozen=True, eq=False)
class ReadTexts:
    """All texts, read.

    words : the distinct words of all, in the order in which they first occur; numbers : for every block, the number
    of each of its words among them. n_jobs : threads.
    """

    blocks: Sequence[ReadBlock]
    words: list[str]
    numbers: Sequence[NDArray[np.int32]]
    n_jobs: int | None

    @property
    def spans(self) -> NDArray[np.int64]:
        """(sentences, 2) start and end of every sentence in its text."""
        return np.concatenate([block.spans for block in self.blocks])

    @property
    def n_sentences(self) -> NDArray[np.int64]:
        """(texts,) sentences of each."""
        return np.concatenate([np.diff(block.sentences) for block in self.blocks])

    @property
    def indptr(self) -> NDArray[np.int64]:
        """(sentences + 1,) where each sentence begins among all words."""
        return np.concatenate([[0], *(np.diff(block.indptr) for block in self.blocks)]).cumsum()

    @property
    def plain_codes(self) -> NDArray[np.int32]:
        """(all words,) their numbers."""
        return np.concatenate(
            [
                numbers[np.where(block.codes < 0, ~block.codes, block.codes)]
                for block, numbers in zip(self.blocks, self.numbers, strict=True)
            ]
        )

    def codes(
        self, negates: NDArray[np.bool_], content: NDArray[np.bool_], scope: int
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return (all words,) their numbers, whether they stand under a negation, and whether they are negated by it.

        negates, content : (distinct words,) whether it negates, and whether it can be negated.
        """
        ends = np.cumsum([0, *(len(block.codes) for block in self.blocks)])
        codes, under, negated = (np.empty(ends[-1], dtype) for dtype in (np.int32, np.bool_, np.bool_))

        def mark(i: int) -> None:
            block, here = self.blocks[i], slice(ends[i], ends[i + 1])
            codes[here] = block.codes
            negation = (negates, content, scope, under[here], negated[here])
            mark_negated(codes[here], block.indptr, self.numbers[i], *negation)

        list(in_threads(mark, range(len(self.blocks)), self.n_jobs))
        return codes, under, negated


def read_blocks(encoded: Encoded, n_jobs: int | None, *, whole: bool) -> ReadTexts:
    """Read texts, in sentences or each as a `whole`; the result does not depend on the number of threads.

    A text in which a character depends on its neighbours (separate accents, a capital sigma) is normalised by Python.
    """
    pages = np.zeros(N_PAGES, dtype=bool)
    pages[0] = True
    mark_pages(encoded.source, encoded.beyond, pages)
    characters = character_table().with_pages(pages)

    def read(rows: tuple[int, int]) -> ReadBlock:
        return _read(encoded, rows, characters, whole)

    blocks = list(in_threads(read, _edges(encoded.source.offsets), n_jobs))
    words = pa.concat_arrays([block.words for block in blocks]).dictionary_encode()
    ends = np.cumsum([0, *(len(block.words) for block in blocks)])
    numbers = np.asarray(words.indices, dtype=np.int32)
    return ReadTexts(
        blocks, words.dictionary.to_pylist(), [numbers[start:end] for start, end in pairwise(ends)], n_jobs
    )


def in_threads(step: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None) -> Iterable[Result]:
    """Apply `step` to every item, in order."""
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads < 2:
        return map(step, items)
    with ThreadPoolExecutor(n_threads) as pool:
        return pool.map(step, items)


def _edges(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of texts, each of about `BLOCK_BYTES` or one text, whatever the number of threads."""
    count = (offsets[-1] - offsets[0]) // BLOCK_BYTES + 1
    inner = np.searchsorted(offsets, np.linspace(offsets[0], offsets[-1], count + 1)[1:-1])
    return list(pairwise([0, *np.unique(inner).tolist(), len(offsets) - 1]))


def _read(encoded: Encoded, rows: tuple[int, int], characters: Characters, whole: bool) -> ReadBlock:
    text, begins, sentences, flat, odd = cut_texts(
        encoded.source, encoded.beyond, *rows, characters, (LONGEST, PART), whole
    )
    spans = flat.reshape(-1, 2)
    places = spans + np.repeat(begins[:-1], np.diff(sentences))[:, None]
    ready = np.zeros(len(spans), dtype=bool)
    if odd.any():
        ready = np.repeat(odd, np.diff(sentences))
        normal = list(_normalised(encoded.texts, spans, sentences, rows[0], np.flatnonzero(odd)))
        ends = len(text) + np.cumsum([0, *map(len, normal)])
        places[ready] = np.stack([ends[:-1], ends[1:]], axis=1)
        text = np.concatenate([text, *normal])
        pages = np.zeros(N_PAGES, dtype=bool)
        pages[text[begins[-1] :] // PAGE] = True
        character_table().with_pages(pages)
    codes, indptr, data, offsets = read_words(text, *np.ascontiguousarray(places.T), ready, characters)
    words = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    return ReadBlock(sentences, spans, codes, indptr, words, int(odd.sum()))


def _normalised(
    texts: Sequence[str],
    spans: NDArray[np.int64],
    sentences: NDArray[np.int64],
    first: int,
    rows: NDArray[np.int64],
) -> Iterator[NDArray[np.uint32]]:
    """Code points of the sentences of some texts, normalised by Python."""
    for row in rows.tolist():
        text = texts[first + row]
        for start, end in spans[sentences[row] : sentences[row + 1]].tolist():
            plain = normalise(" ".join(text[start:end].split()))
            yield np.frombuffer(plain.encode("utf-32-le", "surrogatepass"), np.uint32)
