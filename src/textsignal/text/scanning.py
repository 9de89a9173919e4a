"""Words of sentences that are code points: each a number, and whether it stands under a negation.

The rules are those of `text.tokenise`, which says them as regular expressions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsignal.compute.compiling import compiling
from textsignal.text.splitting import FLAG, MARK, NOTHING, PAUSE, PICTURE, SPACE, WORD, ZERO, grown

compile_loop = compiling()
#: Of a place that is not negative: numba need not ask whether it counts from the end, which costs a third of the time.
_at = np.uintp

_APOSTROPHE, _S, _HYPHEN, _JOINER = (ord(character) for character in "'s-\u200d")
_IN_WORD = WORD | MARK
#: An odd number that spreads bits, and the bit of keys that are hashes.
_MIXER, _HASHED, _BEYOND = 0x9E3779B97F4A7C15, 1 << 63, 0x8080808080808080


class CompiledLexicon(NamedTuple):
    """Distinct words in the order in which they first occur.

    slots : a hash table, at most half full: a word's key and its number, side by side; a key of 0 is an empty slot.
    keys : (words,) up to eight letters of ASCII are a key themselves, all else has a hash with the highest bit set.
    ends : (words + 1,) where each begins in `letters`, the code points of all.
    """

    slots: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    ends: NDArray[np.int64]
    letters: NDArray[np.uint32]


@compile_loop
def _slot(key, n_slots):  # type: ignore[no-untyped-def]
    """Where a key is looked for first: its highest bits once it is mixed, of a power of 2 slots."""
    mixed = key * np.uint64(_MIXER)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(n_slots - 1))


@compile_loop
def _with_room(lexicon, n_words, words, letters):  # type: ignore[no-untyped-def]
    """A lexicon with room for so many words and letters in all."""
    slots, keys, ends = lexicon.slots, lexicon.keys, lexicon.ends
    if 4 * words > len(slots):
        n_slots = len(slots) // 2
        while n_slots < 2 * words:
            n_slots *= 2
        keys, ends = grown(keys, n_words, n_slots // 2), grown(ends, n_words + 1, n_slots // 2 + 1)
        slots = np.zeros(2 * n_slots, np.uint64)
        for word in range(n_words):
            slot = _slot(keys[word], n_slots)
            while slots[2 * slot]:
                slot = (slot + 1) & (n_slots - 1)
            slots[2 * slot], slots[2 * slot + 1] = keys[word], word
    return CompiledLexicon(slots, keys, ends, grown(lexicon.letters, ends[n_words], letters))


@compile_loop
def _find_words(text, looks, n, places):  # type: ignore[no-untyped-def]
    """Start and end of every word of one normalised sentence into `places`, ~ of the start behind a pause; how many."""
    n_found, p, paused = 0, 0, False
    while p < n:
        kind, end = looks[_at(p)], p
        if kind & WORD:
            end = p + 1
            while True:
                while end < n and looks[_at(end)] & _IN_WORD:
                    end += 1
                # An apostrophe belongs to the word if a letter follows, which is not the possessive s.
                if end + 1 >= n or text[_at(end)] != _APOSTROPHE or not looks[_at(end + 1)] & WORD:
                    break
                if text[_at(end + 1)] == _S and (end + 2 >= n or not looks[_at(end + 2)] & WORD):
                    break
                end += 2
            end = end if end > p + 1 else p
        if end == p and kind & PICTURE:
            end = p + 1
            while end + 1 < n and text[_at(end)] == _JOINER and looks[_at(end + 1)] & PICTURE:
                end += 2
        elif end == p and kind & FLAG and p + 1 < n and looks[_at(p + 1)] & FLAG:
            end = p + 2
        if end > p:
            places[_at(2 * n_found)], places[_at(2 * n_found + 1)] = ~p if paused else p, end
            n_found += 1
            p, paused = end, False
            continue
        if (
            text[_at(p)] == _HYPHEN
            and (p == 0 or looks[_at(p - 1)] & SPACE)
            and (p + 1 == n or looks[_at(p + 1)] & SPACE)
        ):
            paused = True
        paused |= kind & PAUSE > 0
        p += 1
    return n_found


@compile_loop
def _number_words(text, last_eight, places, n_found, lexicon, n_words, codes, place):  # type: ignore[no-untyped-def]
    """Numbers of words into `codes` from `place` on; new ones are put into the lexicon. How many it then has.

    places : start and end of every word, as `_find_words` gives them.
    last_eight : (characters,) the lowest bytes of each and the seven before it, 0xFF for one beyond ASCII.
    """
    slots, keys, ends, letters = lexicon
    n_slots = len(slots) // 2
    for found in range(n_found):
        start, end = places[_at(2 * found)], places[_at(2 * found + 1)]
        first = ~start if start < 0 else start
        size = end - first
        key = last_eight[_at(end - 1)] >> np.uint64(64 - 8 * min(size, 8))
        if size > 8 or key & np.uint64(_BEYOND):
            for p in range(first, end):
                key = (key ^ np.uint64(text[_at(p)])) * np.uint64(_MIXER)
                key ^= key >> np.uint64(32)
            key |= np.uint64(_HASHED)
        slot, word = _slot(key, n_slots), n_words
        while slots[_at(2 * slot)] and word == n_words:
            if slots[_at(2 * slot)] == key:
                word = np.int64(slots[_at(2 * slot + 1)])
                if key >= np.uint64(_HASHED):
                    begin, same = ends[_at(word)], ends[_at(word + 1)] - ends[_at(word)] == size
                    for p in range(size if same else 0):
                        same &= letters[_at(begin + p)] == text[_at(first + p)]
                    word = word if same else n_words
            slot = (slot + 1) & (n_slots - 1)
        if word == n_words:
            slots[_at(2 * slot)], slots[_at(2 * slot + 1)], keys[_at(word)] = key, word, key
            begin = ends[_at(word)]
            for p in range(size):
                letters[_at(begin + p)] = text[_at(first + p)]
            ends[_at(word + 1)] = begin + size
            n_words += 1
        codes[_at(place + found)] = ~word if start < 0 else word
    return n_words


@compile_loop
def _spelt(letters, ends):  # type: ignore[no-untyped-def]
    """Words in UTF-8, and (words + 1,) where each begins."""
    data, spelt, place = np.empty(4 * ends[-1], np.uint8), np.zeros(len(ends), np.int64), 0
    for word in range(len(ends) - 1):
        for letter in letters[ends[word] : ends[word + 1]]:
            size = 1 + (letter >= 0x80) + (letter >= 0x800) + (letter >= 0x10000)
            for q in range(place + size - 1, place, -1):
                data[q] = 0x80 | letter & 0x3F
                letter >>= 6
            data[place] = letter if size == 1 else letter | 0xF0 << (4 - size) & 0xFF
            place += size
        spelt[word + 1] = place
    return data[:place].copy(), spelt


@compile_loop
def read_words(text, starts, ends, ready, characters):  # type: ignore[no-untyped-def]
    """Words of sentences that stand in `text`; those that are `ready` are normalised already.

    Returns (all words,) the number of each, ~ of it behind a pause; (sentences + 1,) where each sentence begins in it;
    the distinct words in UTF-8 and (distinct words + 1,) where each begins.
    """
    kinds, normal = characters.kinds, characters.normal
    codes, indptr = np.empty(len(text) // 4 + 16, np.int32), np.zeros(len(starts) + 1, np.int64)
    room = 1 << (8 if len(text) < 1 << 16 else 14)
    slots, keys = np.zeros(4 * room, np.uint64), np.empty(room, np.uint64)
    lexicon = CompiledLexicon(slots, keys, np.zeros(room + 1, np.int64), np.empty(8 * room, np.uint32))
    plain, looks, places = np.empty(16, np.uint32), np.empty(16, np.uint32), np.empty(32, np.int64)
    last_eight, place, n_words = np.empty(16, np.uint64), ZERO, ZERO
    for i in range(len(starts)):
        size, n, last = ends[i] - starts[i], ZERO, np.uint64(0)
        if size > len(plain):
            plain, looks, places = grown(plain, ZERO, size), grown(looks, ZERO, size), grown(places, ZERO, 2 * size)
            last_eight = grown(last_eight, ZERO, size)
        for p in range(starts[i], ends[i]):
            letter = text[_at(p)] if ready[i] else normal[text[_at(p)]]
            if letter != NOTHING:
                last = last >> np.uint64(8) | np.uint64(letter if letter < 0x80 else 0xFF) << np.uint64(56)
                plain[_at(n)], looks[_at(n)], last_eight[_at(n)] = letter, kinds[letter], last
                n += 1
        n_found = _find_words(plain, looks, n, places)
        if place + n_found > len(codes):
            codes = grown(codes, place, place + n_found)
        words, n_letters = n_words + n_found, lexicon.ends[n_words] + n
        if 4 * words > len(lexicon.slots) or n_letters > len(lexicon.letters):
            lexicon = _with_room(lexicon, n_words, words, n_letters)
        n_words = _number_words(plain, last_eight, places, n_found, lexicon, n_words, codes, place)
        place += n_found
        indptr[i + 1] = place
    data, spelt = _spelt(lexicon.letters, lexicon.ends[: n_words + 1])
    return codes[:place].copy(), indptr, data, spelt


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


@compile_loop
def count_rows(codes, indptr, first, last, columns, n_columns):  # type: ignore[no-untyped-def]
    """How often each column is in each document from `first` to `last`: compressed rows with ascending columns.

    codes : numbers of words; indptr : (documents + 1,) where each begins in it.
    columns : (numbers,) the column of each, -1 for none.

    Returns (documents,) cells in each row, (cells,) columns and counts.
    """
    # Documents of all words in the order of their columns, so that every row is filled from its first column on.
    places = np.zeros(n_columns + 1, np.int64)
    for p in range(indptr[first], indptr[last]):
        places[columns[codes[_at(p)]] + 1] += 1
    places[0] = 0
    places = np.cumsum(places)
    documents = np.empty(places[-1], np.int32)
    for i in range(first, last):
        for p in range(indptr[i], indptr[i + 1]):
            column = columns[codes[_at(p)]]
            if column >= 0:
                documents[_at(places[_at(column)])] = i - first
                places[_at(column)] += 1
    sizes, latest = np.zeros(last - first, np.int64), np.full(last - first, -1, np.int32)
    begin = 0
    for column in range(n_columns):
        for p in range(begin, places[column]):
            document = documents[_at(p)]
            sizes[_at(document)] += latest[_at(document)] != column
            latest[_at(document)] = column
        begin = places[column]
    ends = np.cumsum(sizes) - sizes
    cells, counts = np.empty(sizes.sum(), np.int32), np.zeros(sizes.sum(), np.int64)
    latest[:] = -1
    begin = 0
    for column in range(n_columns):
        for p in range(begin, places[column]):
            document = documents[_at(p)]
            if latest[_at(document)] != column:
                latest[_at(document)] = column
                cells[_at(ends[_at(document)])] = column
                ends[_at(document)] += 1
            counts[_at(ends[_at(document)] - 1)] += 1
        begin = places[column]
    return sizes, cells, counts
