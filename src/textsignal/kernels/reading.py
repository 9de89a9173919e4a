"""Words of sentences that are code points: each a number, and whether it stands under a negation.

The rules are those of `text.tokenise`, which says them as regular expressions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsignal.kernels.compiling import compiling
from textsignal.kernels.splitting import FLAG, MARK, NOTHING, PAUSE, PICTURE, SPACE, WORD

compile_loop = compiling()

_APOSTROPHE, _S, _HYPHEN, _JOINER = (ord(character) for character in "'s-\u200d")
_IN_WORD, _TOKEN = WORD | MARK, WORD | PICTURE | FLAG | PAUSE


class Lexicon(NamedTuple):
    """Distinct words in the order in which they first occur.

    table : a hash table of their numbers, at most half full, -1 in empty slots; hashes : (words,).
    ends : (words + 1,) where each begins in `letters`, the code points of all.
    """

    table: NDArray[np.int32]
    hashes: NDArray[np.uint64]
    ends: NDArray[np.int64]
    letters: NDArray[np.uint32]


@compile_loop
def _grown(array, used, size):  # type: ignore[no-untyped-def]
    """The array itself, or a copy of what is used of it with room for `size` and more."""
    if len(array) >= size:
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[:used] = array[:used]
    return larger


@compile_loop
def _with_room(lexicon, n_words, more):  # type: ignore[no-untyped-def]
    """A lexicon that can take the words of so many letters more; a picture is a word of one."""
    words = n_words + more
    table = lexicon.table
    hashes, ends = _grown(lexicon.hashes, n_words, words), _grown(lexicon.ends, n_words + 1, words + 1)
    letters = _grown(lexicon.letters, ends[n_words], ends[n_words] + more)
    if 2 * words > len(table):
        size = 2 * len(table)
        while size < 2 * words:
            size *= 2
        table = np.full(size, -1, np.int32)
        for word in range(n_words):
            slot = np.int64(hashes[word] & np.uint64(size - 1))
            while table[slot] >= 0:
                slot = (slot + 1) & (size - 1)
            table[slot] = word
    return Lexicon(table, hashes, ends, letters)


@compile_loop
def _number(text, start, end, table, hashes, ends, letters, n_words):  # type: ignore[no-untyped-def]
    """The number of a word in a lexicon; `n_words` where it is new, and is put there."""
    mixed, size = np.uint64(end - start), end - start
    for p in range(start, end):
        mixed = (mixed ^ np.uint64(text[p])) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    slot = np.int64(mixed & np.uint64(len(table) - 1))
    while True:
        word = table[slot]
        if word < 0:
            break
        if hashes[word] == mixed and ends[word + 1] - ends[word] == size:
            begin, same = ends[word], True
            for p in range(size):
                same &= letters[begin + p] == text[start + p]
            if same:
                return np.int64(word)
        slot = (slot + 1) & (len(table) - 1)
    table[slot], hashes[n_words] = n_words, mixed
    begin = ends[n_words]
    for p in range(size):
        letters[begin + p] = text[start + p]
    ends[n_words + 1] = begin + size
    return n_words


@compile_loop
def _holds_on(text, looks, p, n):  # type: ignore[no-untyped-def]
    """Whether an apostrophe at `p` belongs to the word before it: a letter follows, and not the possessive s alone."""
    if p + 1 >= n or text[p] != _APOSTROPHE or not looks[p + 1] & WORD:
        return False
    return text[p + 1] != _S or (p + 2 < n and looks[p + 2] & WORD > 0)


@compile_loop
def _word_end(text, looks, p, n):  # type: ignore[no-untyped-def]
    """Where the word or picture that begins at `p` ends; `p` itself where none does."""
    kind = looks[p]
    if kind & WORD:
        q = p + 1
        if q < n and looks[q] & _IN_WORD:
            q += 1
        elif _holds_on(text, looks, q, n):
            q += 2
        if q > p + 1:
            while True:
                while q < n and looks[q] & _IN_WORD:
                    q += 1
                if not _holds_on(text, looks, q, n):
                    return q
                q += 2
    if kind & PICTURE:
        q = p + 1
        while q + 1 < n and text[q] == _JOINER and looks[q + 1] & PICTURE:
            q += 2
        return q
    return p + 2 if kind & FLAG and p + 1 < n and looks[p + 1] & FLAG else p


@compile_loop
def _read(text, looks, n, lexicon, n_words, codes, place):  # type: ignore[no-untyped-def]
    """Numbers of the words of one normalised sentence into `codes` from `place` on, ~ of it behind a pause."""
    table, hashes, ends, letters = lexicon
    p, paused = 0, False
    while p < n:
        kind = looks[p]
        if not kind & _TOKEN and text[p] != _HYPHEN:
            p += 1
            continue
        end = _word_end(text, looks, p, n)
        if end > p:
            word = _number(text, p, end, table, hashes, ends, letters, n_words)
            n_words = max(n_words, word + 1)
            codes[place], paused = ~word if paused else word, False
            place += 1
            p = end
            continue
        if text[p] == _HYPHEN:
            apart = (p == 0 or looks[p - 1] & SPACE) and (p + 1 == n or looks[p + 1] & SPACE)
            paused |= apart > 0
        paused |= kind & PAUSE > 0
        p += 1
    return place, n_words


@compile_loop
def _spelt(letters):  # type: ignore[no-untyped-def]
    """(letters + 1,) where each letter begins in UTF-8, and the bytes."""
    ends = np.zeros(len(letters) + 1, np.int64)
    for p in range(len(letters)):
        letter = letters[p]
        ends[p + 1] = ends[p] + 1 + (letter >= 0x80) + (letter >= 0x800) + (letter >= 0x10000)
    data = np.empty(ends[-1], np.uint8)
    for p in range(len(letters)):
        letter, size = letters[p], ends[p + 1] - ends[p]
        for q in range(ends[p + 1] - 1, ends[p], -1):
            data[q] = 0x80 | (letter & 0x3F)
            letter >>= 6
        data[ends[p]] = letter if size == 1 else letter | (0xF0 << (4 - size) & 0xFF)
    return ends, data


@compile_loop
def read_words(text, starts, ends, ready, characters):  # type: ignore[no-untyped-def]
    """Words of sentences that stand in `text`; those that are `ready` are normalised already.

    Returns (all words,) the number of each, ~ of it behind a pause; (sentences + 1,) where each sentence begins in it;
    the distinct words in UTF-8 and (distinct words + 1,) where each begins.
    """
    kinds, normal = characters.kinds, characters.normal
    codes, indptr = np.empty(len(text) // 4 + 16, np.int32), np.zeros(len(starts) + 1, np.int64)
    lexicon = Lexicon(np.full(1 << 12, -1, np.int32), np.empty(16, np.uint64), np.zeros(17, np.int64), text[:0].copy())
    plain, looks = np.empty(16, np.uint32), np.empty(16, np.uint32)
    place, n_words = 0, 0
    for i in range(len(starts)):
        size, n = ends[i] - starts[i], 0
        plain, looks = _grown(plain, 0, size), _grown(looks, 0, size)
        for p in range(starts[i], ends[i]):
            letter = text[p] if ready[i] else normal[text[p]]
            if letter != NOTHING:
                plain[n], looks[n] = letter, kinds[letter]
                n += 1
        codes, lexicon = _grown(codes, place, place + n), _with_room(lexicon, n_words, n)
        place, n_words = _read(plain, looks, n, lexicon, n_words, codes, place)
        indptr[i + 1] = place
    spelt, data = _spelt(lexicon.letters[: lexicon.ends[n_words]])
    return codes[:place].copy(), indptr, data, spelt[lexicon.ends[: n_words + 1]]


@compile_loop
def mark_negated(codes, indptr, numbers, negates, content, scope, under, negated):  # type: ignore[no-untyped-def]
    """Words that stand under a negation, up to `scope` words behind it and as far as the next pause.

    codes : as `read_words` gives them; each becomes the one of `numbers` (distinct words here,).
    negates, content : (distinct words,) whether a word negates, and whether it can be negated.
    """
    for i in range(len(indptr) - 1):
        left = 0
        for p in range(indptr[i], indptr[i + 1]):
            code = codes[p]
            if code < 0:
                code, left = ~code, 0
            word = numbers[code]
            codes[p], under[p], negated[p] = word, left > 0, left > 0 and content[word]
            left = scope if negates[word] else max(0, left - 1)
