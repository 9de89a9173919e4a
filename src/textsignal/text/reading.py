"""The compiled pass over texts: blocks of them, read by threads, and the numbers of their words brought together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from joblib import effective_n_jobs
from numpy.typing import NDArray

from textsignal.text.characters import N_PAGES, character_table
from textsignal.text.encoded import Encoded
from textsignal.text.scanning import mark_negated, read_words
from textsignal.text.sentences import LONGEST, PART
from textsignal.text.splitting import PAGE, Characters, cut_texts, mark_pages
from textsignal.text.tokenise import normalise

#: Bytes of text in a block at least: enough to pay for a table of its words, few enough for a core's cache.
BLOCK_BYTES = 1 << 20
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Neighbouring texts, read.

    sentences : (texts + 1,) where the sentences of each begin; spans : (sentences, 2) in their text.
    codes : (all words,) the number of each in `words`, ~ of it behind a pause; indptr : (sentences + 1,) in it.
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
class TextBlocks:
    """All texts, read.

    words : the distinct words of all, in the order in which they first occur; numbers : for every block, the number
    of each of its words among them. n_jobs : threads.
    """

    blocks: Sequence[TextBlock]
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
        """(all words,) their numbers, whether they stand under a negation, and whether they are negated by it.

        negates, content : (distinct words,) whether it negates, and whether it can be negated.
        """
        ends = np.cumsum([0, *(len(block.codes) for block in self.blocks)])
        codes, under, negated = (np.empty(ends[-1], dtype) for dtype in (np.int32, np.bool_, np.bool_))

        def mark(place: int) -> None:
            block, here = self.blocks[place], slice(ends[place], ends[place + 1])
            codes[here] = block.codes
            told = (negates, content, scope, under[here], negated[here])
            mark_negated(codes[here], block.indptr, self.numbers[place], *told)

        list(in_threads(mark, range(len(self.blocks)), self.n_jobs))
        return codes, under, negated


def read_blocks(encoded: Encoded, n_jobs: int | None, *, whole: bool) -> TextBlocks:
    """Read texts, in sentences or each as a `whole`; the same for any number of threads.

    A text in which a character hangs on its neighbours (accents as characters of their own, a capital sigma) is
    normalised by Python.
    """
    pages = np.zeros(N_PAGES, dtype=bool)
    pages[0] = True
    mark_pages(encoded.source, encoded.beyond, pages)
    characters = character_table().with_pages(pages)

    def read(rows: tuple[int, int]) -> TextBlock:
        return _read(encoded, rows, characters, whole)

    blocks = list(in_threads(read, _edges(encoded.source.offsets), n_jobs))
    found = pa.concat_arrays([block.words for block in blocks]).dictionary_encode()
    ends = np.cumsum([0, *(len(block.words) for block in blocks)])
    numbers = np.asarray(found.indices, dtype=np.int32)
    return TextBlocks(
        blocks, found.dictionary.to_pylist(), [numbers[start:end] for start, end in pairwise(ends)], n_jobs
    )


def in_threads(step: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None) -> Iterable[Result]:
    """`step` of every item, in order."""
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads < 2:
        return map(step, items)
    with ThreadPoolExecutor(n_threads) as pool:
        return pool.map(step, items)


def _edges(offsets: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of texts, each of about so many bytes or one text; by the texts alone, whatever the threads."""
    count = (offsets[-1] - offsets[0]) // BLOCK_BYTES + 1
    inner = np.searchsorted(offsets, np.linspace(offsets[0], offsets[-1], count + 1)[1:-1])
    return list(pairwise([0, *np.unique(inner).tolist(), len(offsets) - 1]))


def _read(encoded: Encoded, rows: tuple[int, int], characters: Characters, whole: bool) -> TextBlock:
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
    return TextBlock(sentences, spans, codes, indptr, words, int(odd.sum()))


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
