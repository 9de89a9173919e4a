"""Texts with their words as numbers, whole or cut into sentences, by one compiled pass over their bytes.

Texts are encoded and read in blocks by threads, and their words get common numbers.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import blake2b
from itertools import chain, pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import DTypeLike, NDArray

from textsignal.compute.counting import renumber
from textsignal.compute.engines.local import LocalEngine
from textsignal.data.rows import ArrowTexts, checked_texts
from textsignal.text import scanning, sentences
from textsignal.text.clauses import clause_kinds, letter_kinds
from textsignal.text.cleaning import without_markup
from textsignal.text.scanning import NOTHING, PAGE, Bytes, Characters
from textsignal.text.tokenise import (
    FLAG_PART,
    JUDGING,
    MARKS,
    NEGATIONS,
    PAUSE_MARKS,
    PICTURE,
    TOKEN,
    joins_before,
    negates,
    normalise,
    sources_of,
    stop_words,
    words,
)

Tokenizer = Callable[[str], Iterable[str]]
#: Number of words after a negation that stand under it, up to the next punctuation.
SCOPE = 3
#: Words and punctuation of normalised text, and the line breaks that separate its pieces. Marks inside a number
#: ("3:00", "1,000") are no pauses.
WORD_OR_PAUSE = re.compile(rf"{TOKEN.pattern}|(?<![0-9])[{PAUSE_MARKS}]|[{PAUSE_MARKS}](?![0-9])|\n|(?<=\s)-(?=\s)")
PAUSES = frozenset(PAUSE_MARKS) | {"-"}


class Vocabulary:
    """Numbers of words by first occurrence: batches in turn give the same numbers as all words at once."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self.number(words)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def words(self) -> list[str]:
        """All words, by their numbers."""
        return list(self._numbers)

    def number(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return (words,) the number of each; a new word gets the next one."""
        return np.fromiter(map(self._numbers.__getitem__, words), np.int32)


@dataclass(frozen=True, eq=False)
class TokenisedTexts:
    """Texts with their words.

    words : the distinct words, in the order in which they first occur.
    codes : (all words of all texts,) the number of each in `words`; indptr : (texts + 1,) where each text begins in it.
    """

    texts: Sequence[str]
    words: Sequence[str]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    tokenizer: Tokenizer

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, rows: NDArray[np.int64]) -> TokenisedTexts:
        """Return some of the texts, in the order of `rows`."""
        indptr = starts_of(np.diff(self.indptr)[rows])
        codes = self.codes[_ranges(self.indptr[rows], self.indptr[rows + 1])]
        return TokenisedTexts(texts_at(self.texts, rows), self.words, codes, indptr, self.tokenizer)


class Sentences(NamedTuple):
    """Texts cut into sentences, for compiled loops.

    ends : (texts + 1,) where each text's sentences begin; indptr : (sentences + 1,) where each sentence's words do.
    codes, under, negated : (all words,), and joined : (sentences,), as in `SentenceTexts`.
    """

    ends: NDArray[np.int64]
    indptr: NDArray[np.int64]
    codes: NDArray[np.int32]
    under: NDArray[np.bool_]
    negated: NDArray[np.bool_]
    joined: NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class SentenceTexts:
    """Texts cut into sentences, each word a number.

    documents : (sentences,) the text of each, ascending; spans : (sentences, 2) start and end of each in it.
    words : the distinct words, in the order in which they first occur.
    codes : (all words,) the number of each in `words`; indptr : (sentences + 1,) where each sentence begins in it.
    under : (all words,) True under a negation; negated : True under a negation unless it is a function word.
    joined : (sentences,) `scanning.APART` for the first clause of its sentence, `JOINED` for any other, and
        `CONTRASTED` for one that stands against the clause before.
    cleaned : (texts,) True if cleaning changed the text.
    """

    texts: Sequence[str]
    documents: NDArray[np.int64]
    spans: NDArray[np.int64]
    words: Sequence[str]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    under: NDArray[np.bool_]
    negated: NDArray[np.bool_]
    joined: NDArray[np.int8]
    cleaned: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def sentence_of_word(self) -> NDArray[np.int64]:
        """(all words,) the sentence of each word."""
        return np.repeat(np.arange(len(self.documents)), np.diff(self.indptr))

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """(texts,) as of `text_keys`."""
        return text_keys(self.texts)

    @cached_property
    def sentence_ends(self) -> NDArray[np.int64]:
        """(texts + 1,) where each text's sentences begin."""
        return np.searchsorted(self.documents, np.arange(len(self) + 1))

    @property
    def document_indptr(self) -> NDArray[np.int64]:
        """(texts + 1,) where each text begins among all words."""
        return self.indptr[self.sentence_ends]

    @property
    def n_words(self) -> NDArray[np.int64]:
        """(texts,) words in each text."""
        return np.diff(self.document_indptr)

    @property
    def n_cleaned(self) -> int:
        """Number of texts that cleaning changed."""
        return int(self.cleaned.sum())

    def between(self, start: int, stop: int) -> Sentences:
        """Return texts `start` to `stop`, sharing the memory of words."""
        ends = self.sentence_ends[start : stop + 1]
        indptr = self.indptr[ends[0] : ends[-1] + 1]
        of_words = slice(indptr[0], indptr[-1])
        words = self.codes[of_words], self.under[of_words], self.negated[of_words]
        return Sentences(ends - ends[0], indptr - indptr[0], *words, self.joined[ends[0] : ends[-1]])

    def at(self, rows: NDArray[np.int64]) -> SentenceTexts:
        """Return some of the texts, in the order of `rows`."""
        ends = self.sentence_ends
        kept = _ranges(ends[rows], ends[rows + 1])
        tokens = _ranges(self.indptr[kept], self.indptr[kept + 1])
        return SentenceTexts(
            texts=texts_at(self.texts, rows),
            documents=np.repeat(np.arange(len(rows)), ends[rows + 1] - ends[rows]),
            spans=self.spans[kept],
            words=self.words,
            codes=self.codes[tokens],
            indptr=starts_of(self.indptr[kept + 1] - self.indptr[kept]),
            under=self.under[tokens],
            negated=self.negated[tokens],
            joined=self.joined[kept],
            cleaned=self.cleaned[rows],
        )

    @classmethod
    def together(cls, parts: Sequence[SentenceTexts]) -> SentenceTexts:
        """Concatenate parts, with the words that occur in them, as if all had been read at once."""
        vocabulary = Vocabulary()
        numbers = [vocabulary.number(part.words) for part in parts]
        codes = [own[part.codes] for own, part in zip(numbers, parts, strict=True)]
        order, in_order = renumber(np.concatenate(codes), len(vocabulary))
        firsts, words = starts_of([len(part) for part in parts]), vocabulary.words
        return cls(
            texts=_texts_together([part.texts for part in parts]),
            documents=np.concatenate([part.documents + first for part, first in zip(parts, firsts, strict=False)]),
            spans=np.concatenate([part.spans for part in parts]),
            words=[words[number] for number in order.tolist()],
            codes=in_order,
            indptr=starts_of(np.concatenate([np.diff(part.indptr) for part in parts])),
            under=np.concatenate([part.under for part in parts]),
            negated=np.concatenate([part.negated for part in parts]),
            joined=np.concatenate([part.joined for part in parts]),
            cleaned=np.concatenate([part.cleaned for part in parts]),
        )

    def first_copies(self) -> NDArray[np.int64]:
        """Return (texts,) the first text with the same words in order; texts without words are their own."""
        first: dict[bytes, int] = {}
        words = (self.codes[start:end].tobytes() for start, end in pairwise(self.document_indptr.tolist()))
        return np.array([first.setdefault(content, i) if content else i for i, content in enumerate(words)], int)


def starts_of(sizes: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int64]:
    """Return (sizes + 1,) where each of consecutive parts begins."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate the ranges from each start to its end."""
    sizes = ends - starts
    before = starts_of(sizes)
    return np.arange(before[-1]) + np.repeat(starts - before[:-1], sizes)


def texts_at(texts: Sequence[str], rows: NDArray[np.int64]) -> Sequence[str]:
    """Return some of the texts, in the order of `rows`; those in Arrow's memory stay there."""
    return ArrowTexts(texts.array.take(rows)) if isinstance(texts, ArrowTexts) else [texts[i] for i in rows]


def _texts_together(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    """Concatenate texts of parts; in Arrow's memory if all are."""
    arrays = [texts.array for texts in parts if isinstance(texts, ArrowTexts)]
    return ArrowTexts(pa.concat_arrays(arrays)) if 0 < len(arrays) == len(parts) else [*chain.from_iterable(parts)]


def text_keys(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return (texts,) a number for each text, equal on every machine."""
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def tokenised(
    texts: Iterable[str], tokenizer: Tokenizer = words, clean: Callable[[str], str] = str, *, n_jobs: int | None = -1
) -> TokenisedTexts:
    """Tokenise texts after `clean`: by the compiled pass, in `n_jobs` threads, or by another function."""
    encoded = encode(texts, clean)
    if tokenizer is words:
        with LocalEngine(n_jobs) as engine:
            blocks, distinct, numbers = read_blocks(encoded, engine, whole=True)
        # A code after a pause is ~ of the number.
        parts = [own[np.maximum(block.codes, ~block.codes)] for block, own in zip(blocks, numbers, strict=True)]
        codes, indptr = np.concatenate(parts), _word_starts(blocks)
    else:
        vocabulary = Vocabulary()
        parts = [vocabulary.number(tokenizer(text)) for text in encoded.texts]
        codes, indptr = np.concatenate([np.zeros(0, np.int32), *parts]), starts_of([len(part) for part in parts])
        distinct = vocabulary.words
    return TokenisedTexts(encoded.texts, distinct, codes, indptr, tokenizer)


def read_sentences(
    texts: Iterable[str], language: str = "english", clean: Callable[[str], str] = str, *, n_jobs: int | None = -1
) -> SentenceTexts:
    """Cut texts, strings or an Arrow array, into sentences and words, after `clean`.

    language : of negations; one without a list has none. Words on its stop list are not negated.

    tests/text/plain_reading.py is the same in plain Python.
    """
    encoded = encode(texts, clean)
    with LocalEngine(n_jobs) as engine:
        blocks, distinct, numbers = read_blocks(encoded, engine, whole=False)
        kinds, negation = clause_kinds(distinct, language), (*negation_of(distinct, language), SCOPE)
        letters = letter_kinds(language)
        # The kind of no word: `cut_clauses` sees that opinions are listed, whichever words are in a block.
        listed = scanning.OPINION if language in JUDGING else np.uint8(0)
        starts = starts_of([len(block.codes) for block in blocks])
        codes, under, negated = (np.empty(starts[-1], dtype) for dtype in (np.int32, np.bool_, np.bool_))

        def mark(i: int) -> ReadBlock:
            of_block = np.append(kinds[numbers[i]], listed)
            here, block = slice(starts[i], starts[i + 1]), _in_clauses(blocks[i], of_block, letters)
            codes[here] = block.codes
            scanning.mark_negated(codes[here], block.indptr, numbers[i], *negation, under[here], negated[here])
            return block

        blocks = engine.map(mark, range(len(blocks)))
    n_clauses = np.concatenate([np.diff(block.sentences) for block in blocks])
    return SentenceTexts(
        texts=encoded.texts,
        documents=np.repeat(np.arange(len(encoded.texts)), n_clauses),
        spans=np.concatenate([block.spans for block in blocks]),
        words=distinct,
        codes=codes,
        indptr=_word_starts(blocks),
        under=under,
        negated=negated,
        joined=np.concatenate([block.joined for block in blocks]),
        cleaned=encoded.cleaned,
    )


def _in_clauses(block: ReadBlock, kinds: NDArray[np.uint8], letters: Mapping[int, int]) -> ReadBlock:
    """Cut the sentences of a block into clauses; kinds : of its distinct words, and one of no word."""
    starts, alone = np.zeros(len(block.codes), np.bool_), np.zeros(len(block.codes), np.uint8)
    single = block.before & (scanning.AFTER_DASH - 1)
    for letter, kind in letters.items():
        alone[single == letter] = kind
    scanning.cut_clauses(block.codes, block.indptr, block.joined > 0, kinds, alone, block.before, starts)
    spans, indptr, sentence = scanning.split_spans(block.indptr, block.spans.ravel(), starts, block.places, alone)
    joined = scanning.join_clauses(block.codes, indptr, sentence, kinds, alone)
    ends = np.searchsorted(sentence, block.sentences)
    return replace(block, sentences=ends, spans=spans.reshape(-1, 2), indptr=indptr, joined=joined)


def negation_of(words: Sequence[str], language: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (words,) True if it negates, and True if it can be negated: function words cannot."""
    function_words = stop_words(language if language in NEGATIONS else None)
    negating = np.array([negates(word, language) for word in words], dtype=bool)
    return negating, np.array([word not in function_words for word in words], dtype=bool)


@dataclass(frozen=True, eq=False)
class Encoded:
    """Checked texts, also as UTF-8; beyond, cleaned : (texts,) True if not all ASCII, and if changed by cleaning."""

    texts: Sequence[str]
    source: Bytes
    beyond: NDArray[np.bool_]
    cleaned: NDArray[np.bool_]


def encode(texts: Iterable[str], clean: Callable[[str], str]) -> Encoded:
    """Clean and encode texts; `without_markup` is called only for those that contain a "<" or a "&"."""
    checked = checked_texts(texts)
    source = as_bytes(checked)
    beyond, marked = scanning.survey(source)
    rows = np.flatnonzero(marked if clean is without_markup else np.full(len(checked), clean is not str)).tolist()
    cleaned = ((row, checked[row], clean(checked[row])) for row in rows)
    changed = {row: after for row, before, after in cleaned if before != after}
    is_changed = np.zeros(len(checked), dtype=bool)
    if changed:
        is_changed[list(changed)] = True
        if isinstance(checked, ArrowTexts):
            others = pa.array(list(changed.values()), pa.large_string())
            checked = ArrowTexts(pc.replace_with_mask(checked.array, is_changed, others))
        else:
            checked = [changed.get(row, text) for row, text in enumerate(checked)]
        source = as_bytes(checked)
        beyond, _ = scanning.survey(source)
    return Encoded(checked, source, beyond, is_changed)


def as_bytes(texts: Sequence[str]) -> Bytes:
    """Return texts in UTF-8, with lone surrogates encoded too."""
    if isinstance(texts, ArrowTexts):
        memory = texts.array
    else:
        try:
            memory = pa.array(texts, pa.large_string())
        except UnicodeEncodeError:
            memory = pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary())
    _, offsets, data = memory.buffers()
    begin, end = memory.offset, memory.offset + len(memory) + 1
    # An empty array may have no offsets.
    ends = _viewed(offsets, np.int64)[begin:end] if len(memory) else _viewed(bytes(8), np.int64)
    return Bytes(_viewed(data, np.uint8), ends)


def _viewed(buffer: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Memory as a read-only array: loops are compiled only for that."""
    view = np.frombuffer(b"" if buffer is None else buffer, dtype)
    view.flags.writeable = False
    return view


N_PAGES = (sys.maxunicode + 1) // PAGE
#: Kinds of characters by the pattern of one.
_PATTERNS = {
    scanning.SPACE: r"\s",
    scanning.STOP: f"[{sentences.STOPS}]",
    scanning.OTHER_STOP: f"[{sentences.OTHER_STOPS}]",
    scanning.CLOSING: f"[{sentences.CLOSING}]",
    scanning.BULLET: f"[{sentences.BULLETS}]",
    scanning.LINE: r"\n",
    scanning.LETTER: r"[^\W\d_]",
    scanning.ALNUM: r"[^\W_]",
    scanning.HELD: sentences.HELD.pattern,
    scanning.CAPITAL: f"[{sentences.CAPITALS}]",
    scanning.SMALL: "[a-z]",
    scanning.COMMA: f"[{sentences.COMMAS}]",
    scanning.DASH: f"[{sentences.DASHES}]",
    scanning.QUOTE: f"[{sentences.QUOTES}]",
    scanning.ITEM: f"[{re.escape(sentences.BEFORE_ITEM)}]",
    scanning.WORD: r"\w",
    scanning.MARK: f"[{MARKS}]",
    scanning.PICTURE: PICTURE,
    scanning.FLAG: FLAG_PART,
    scanning.PAUSE: f"[{PAUSE_MARKS}]",
}
#: Kinds of characters by methods of Python's strings.
_METHODS = {
    scanning.DIGIT: lambda letter: letter.lower().isdigit(),
    scanning.UPPER: str.isupper,
    scanning.LOWER: str.islower,
    scanning.INITIAL: lambda letter: letter.isupper() and letter.lower().isalpha(),
}
#: Normalised characters that are more than a gap between words.
_TELLING = re.compile(rf"[\w\s{MARKS}{PAUSE_MARKS}'\-\u200d]|{PICTURE}|{FLAG_PART}")
_PAUSES = re.compile(f"[{PAUSE_MARKS}]+")


class CharacterTable:
    """Properties of every code point by the patterns of `sentences` and `tokenise`; pages are filled when needed."""

    def __init__(self) -> None:
        titles, short_forms = (
            np.array(sorted(map(scanning.pack, listed)), np.uint64)
            for listed in (sentences.TITLES, sentences.SHORT_FORMS)
        )
        n_codes = N_PAGES * PAGE
        self.characters = Characters(np.zeros(n_codes, np.uint32), np.zeros(n_codes, np.uint32), titles, short_forms)
        self._is_filled = np.zeros(N_PAGES, dtype=bool)
        self._lock = Lock()

    def with_pages(self, needed: NDArray[np.bool_]) -> Characters:
        """Return the table after filling the pages needed, and those of the normalised characters."""
        with self._lock:
            while (missing := np.flatnonzero(needed & ~self._is_filled)).size:
                for page in missing.tolist():
                    self._fill(page)
                self._is_filled[missing] = True
                become = self.characters.normal.reshape(-1, PAGE)[missing]
                needed = np.zeros_like(needed)
                needed[become[become != NOTHING] // PAGE] = True
        return self.characters

    def _fill(self, page: int) -> None:
        here = slice(page * PAGE, (page + 1) * PAGE)
        letters = [chr(code) for code in range(here.start, here.stop)]
        of_page, joined = np.zeros(PAGE, np.uint32), "".join(letters)
        for kind, pattern in _PATTERNS.items():
            of_page[[match.start() for match in re.finditer(pattern, joined)]] |= kind
        for kind, method in _METHODS.items():
            of_page[[method(letter) for letter in letters]] |= kind
        normal = [_normal(letter) for letter in letters]
        of_page[[code is None for code in normal]] |= scanning.ODD
        self.characters.kinds[here] = of_page
        self.characters.normal[here] = [code or 0 for code in normal]


@cache
def character_table() -> CharacterTable:
    """Return the table, computed once per process."""
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
    if joins_before(letter) or "Σ" in unicodedata.normalize("NFKC", letter):
        return None
    if len(plain) == 1 or _PAUSES.fullmatch(plain) or not _TELLING.search(plain):
        return ord(plain[0])
    return None


#: The least bytes of text in a block: enough to pay for a table of its words, few enough for a core's cache.
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, eq=False)
class ReadBlock:
    """Consecutive texts, read; `sentences` are the `sentence_ends` of `SentenceTexts`, `words` in Arrow's memory.

    codes : (all words,) the number of each in `words`, ~ of it after a pause; places : (4 words,) and before : (words,)
    as of `scanning.read_words`; joined : (sentences,) as in `SentenceTexts`, and before clauses are cut, 1 if it cannot
    be cut.
    """

    sentences: NDArray[np.int64]
    spans: NDArray[np.int64]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    words: Any
    places: NDArray[np.int32]
    before: NDArray[np.int32]
    joined: NDArray[np.int8]


def _word_starts(blocks: Sequence[ReadBlock]) -> NDArray[np.int64]:
    """(sentences + 1,) where each sentence begins among all words."""
    return starts_of(np.concatenate([np.diff(block.indptr) for block in blocks]))


def read_blocks(
    encoded: Encoded, engine: LocalEngine, *, whole: bool
) -> tuple[list[ReadBlock], list[str], list[NDArray[np.int32]]]:
    """Read texts, in sentences or each as a `whole`, in blocks that do not depend on the number of threads.

    Returns the blocks, the distinct words of all by first occurrence, and for every block the numbers of its words.
    A text in which a character depends on its neighbours (separate accents, a capital sigma) is normalised by Python.
    """
    pages = np.zeros(N_PAGES, dtype=bool)
    pages[0] = True
    scanning.mark_pages(encoded.source, encoded.beyond, pages)
    characters, offsets = character_table().with_pages(pages), encoded.source.offsets
    n_blocks = (offsets[-1] - offsets[0]) // BLOCK_BYTES + 1
    inner = np.searchsorted(offsets, np.linspace(offsets[0], offsets[-1], n_blocks + 1)[1:-1])
    edges = [0, *np.unique(inner).tolist(), len(offsets) - 1]

    def read(rows: tuple[int, int]) -> ReadBlock:
        return _read(encoded, rows, characters, whole)

    blocks = engine.map(read, list(pairwise(edges)))
    words = pa.concat_arrays([block.words for block in blocks]).dictionary_encode()
    starts = starts_of([len(block.words) for block in blocks])
    return blocks, words.dictionary.to_pylist(), np.split(np.asarray(words.indices, dtype=np.int32), starts[1:-1])


def _read(encoded: Encoded, rows: tuple[int, int], characters: Characters, whole: bool) -> ReadBlock:
    text, begins, ends, flat, odd = scanning.cut_texts(
        encoded.source, encoded.beyond, *rows, characters, (sentences.LONGEST, sentences.PART), whole
    )
    spans, n_sentences = flat.reshape(-1, 2), np.diff(ends)
    positions = spans + np.repeat(begins[:-1], n_sentences)[:, None]
    ready, uncut = np.repeat(odd, n_sentences), np.zeros(len(spans), dtype=np.int8)
    sources: list[tuple[int, NDArray[np.int32]]] = []
    if odd.any():
        normal: list[NDArray[np.uint32]] = []
        for row in np.flatnonzero(odd).tolist():
            own = encoded.texts[rows[0] + row]
            for number in range(ends[row], ends[row + 1]):
                start, end = spans[number].tolist()
                codes_of, source = _normalised(own[start:end])
                normal.append(codes_of)
                sources.append((number, source))
                uncut[number] = len(source) != len(codes_of) + 1
        starts = len(text) + starts_of([len(codes) for codes in normal])
        positions[ready] = np.stack([starts[:-1], starts[1:]], axis=1)
        text = np.concatenate([text, *normal])
        pages = np.zeros(N_PAGES, dtype=bool)
        pages[text[begins[-1] :] // PAGE] = True
        character_table().with_pages(pages)
    codes, indptr, data, offsets, places, before = scanning.read_words(
        text, *np.ascontiguousarray(positions.T), ready, characters
    )
    for number, source in sources:
        if not uncut[number]:
            here = slice(4 * indptr[number], 4 * indptr[number + 1])
            places[here] = source[places[here]]
    words = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    return ReadBlock(ends, spans, codes, indptr, words, places, before, uncut)


def _normalised(sentence: str) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Code points of a sentence, normalised by Python, and where each comes from, and ends; none if that is unknown."""
    spaced = re.sub(r"\s", " ", sentence)
    plain, sources = normalise(spaced), [*sources_of(spaced)]
    starts = [start for start, _ in sources] + [len(sentence)] if len(sources) == len(plain) else []
    return np.frombuffer(plain.encode("utf-32-le", "surrogatepass"), np.uint32), np.array(starts, np.int32)
