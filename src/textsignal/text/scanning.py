"""Compiled loops from texts as bytes to sentences, and from these to numbers of words.

The rules are the regular expressions of `sentences` and `tokenise`. Looking behind or ahead of a character is bounded
or done once, so that time grows linearly with the length of a text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsignal.compute.compiling import compiling
from textsignal.compute.counting import first_slot

compile_loop = compiling()
#: For a place that is not negative: the check of numba for negative ones costs a third of the time.
_at = np.uintp

#: A zero of numpy's type: for a plain 0, numba would compile the functions that take it once more.
ZERO = np.int64(0)

#: Kinds of characters, one bit each. Of the raw text:
SPACE, STOP, OTHER_STOP, CLOSING, BULLET, LINE, LETTER, ALNUM, HELD, DIGIT = (np.uint32(1 << bit) for bit in range(10))
UPPER, LOWER, INITIAL, CAPITAL, SMALL, COMMA, DASH, QUOTE, ITEM = (np.uint32(1 << bit) for bit in range(10, 19))
#: Of normalised text; WORD and SPACE of both. ODD: its normalised form depends on its neighbours.
WORD, MARK, PICTURE, FLAG, PAUSE, ODD = (np.uint32(1 << bit) for bit in range(19, 25))
#: Code points in a page of the table.
PAGE = 256
#: Not a code point.
NOTHING = 0x110000

_BREAKS = STOP | OTHER_STOP | LINE | BULLET
_TAB, _RETURN, _BLANK, _COMMA, _DOT, _ELLIPSIS = (ord(character) for character in "\t\r ,.…")
#: The one letter beyond ASCII that is ASCII in lower case; and the short form that stands only before numbers.
_KELVIN, _NO = 0x212A, ord("n") | ord("o") << 8


class Bytes(NamedTuple):
    """Texts in UTF-8, one after the other; offsets : (texts + 1,) where each begins."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]


class Characters(NamedTuple):
    """Bits as above by code point, and the code point in normalised text, `NOTHING` if removed.

    titles, short_forms : words whose full stop ends no sentence, as `pack` writes them.
    """

    kinds: NDArray[np.uint32]
    normal: NDArray[np.uint32]
    titles: NDArray[np.uint64]
    short_forms: NDArray[np.uint64]


def pack(word: str) -> int:
    """Return at most eight ASCII letters as one number."""
    return int.from_bytes(word.encode("ascii").ljust(8, b"\0"), "little")


@compile_loop
def survey(texts):  # type: ignore[no-untyped-def]
    """Return (texts,) True if it contains anything beyond ASCII, and True if it contains a "<" or a "&"."""
    n_texts = len(texts.offsets) - 1
    beyond, markup = np.empty(n_texts, np.bool_), np.empty(n_texts, np.bool_)
    for i in range(n_texts):
        bits, marked = np.uint8(0), np.uint8(0)
        for p in range(texts.offsets[i], texts.offsets[i + 1]):
            byte = texts.data[p]
            bits |= byte
            marked |= np.uint8(byte == 0x26) | np.uint8(byte == 0x3C)
        beyond[i], markup[i] = bits >= 0x80, marked > 0
    return beyond, markup


@compile_loop
def _decode(data, start, end, text):  # type: ignore[no-untyped-def]
    """Decode UTF-8, surrogates too, into `text`; returns the number of code points."""
    n, p = 0, start
    while p < end:
        first = np.uint32(data[_at(p)])
        if first < 0x80:
            code, p = first, p + 1
        elif first < 0xE0 or p + 2 >= end:
            code, p = (first & 0x1F) << 6 | (np.uint32(data[_at(min(p + 1, end - 1))]) & 0x3F), p + 2
        elif first < 0xF0 or p + 3 >= end:
            code = (
                (first & 0x0F) << 12 | (np.uint32(data[_at(p + 1)]) & 0x3F) << 6 | (np.uint32(data[_at(p + 2)]) & 0x3F)
            )
            p += 3
        else:
            code = (first & 0x07) << 18 | (np.uint32(data[_at(p + 1)]) & 0x3F) << 12
            code |= (np.uint32(data[_at(p + 2)]) & 0x3F) << 6 | (np.uint32(data[_at(p + 3)]) & 0x3F)
            p += 4
        text[_at(n)] = code
        n += 1
    return n


@compile_loop
def mark_pages(texts, beyond, pages):  # type: ignore[no-untyped-def]
    """Mark the pages of all characters of the texts that are not ASCII."""
    longest = ZERO
    for i in range(len(beyond)):
        longest = max(longest, texts.offsets[i + 1] - texts.offsets[i])
    text = np.empty(longest, np.uint32)
    for i in range(len(beyond)):
        if beyond[i]:
            for p in range(_decode(texts.data, texts.offsets[i], texts.offsets[i + 1], text)):
                pages[text[p] // PAGE] = True


@compile_loop
def _skip(looks, p, n, kind):  # type: ignore[no-untyped-def]
    """The first place from `p` on that is not of this kind."""
    while p < n and looks[_at(p)] & kind:
        p += 1
    return p


@compile_loop
def _strip(looks, start, end):  # type: ignore[no-untyped-def]
    """The end of a stretch without trailing space."""
    while end > start and looks[_at(end - 1)] & SPACE:
        end -= 1
    return end


@compile_loop
def _stop_end(text, looks, p, n):  # type: ignore[no-untyped-def]
    """Position at which the stop at `p` ends a sentence, -1 if it does not; and True if a space follows."""
    mark = text[_at(p)]
    if p == 0 or not looks[_at(p - 1)] & STOP:
        behind = _skip(looks, p + 1, n, STOP)
        closed = _skip(looks, behind, n, CLOSING)
        if closed == n or looks[_at(closed)] & SPACE:
            return closed, True
        if p and looks[_at(p - 1)] & LETTER and looks[_at(behind)] & CAPITAL:
            q = behind + 1
            while q < n and looks[_at(q)] & (LETTER | SMALL) == LETTER:
                q += 1
            if q < n and looks[_at(q)] & (SMALL | SPACE):
                return behind, False
    if mark in (_DOT, _ELLIPSIS) and (p == 0 or text[_at(p - 1)] != mark):
        q = p + 1
        while q < n and text[_at(q)] == mark:
            q += 1
        if q < n and looks[_at(q)] & WORD and (mark == _ELLIPSIS or q > p + 1):
            return q, False
    return -1, False


@compile_loop
def _is_short(text, looks, start, stop, n, characters):  # type: ignore[no-untyped-def]
    """True if the full stop at `stop` belongs to a short form, an initial or the number of a list's item."""
    least, first = max(start, stop - 12), stop
    while first > least:
        kind = looks[first - 1]
        inner = text[first - 1] == _DOT and first < stop and first - 1 > least
        if not (kind & ALNUM or (inner and looks[first - 2] & ALNUM)):
            break
        first -= 1
    if text[stop] != _DOT or first == stop:
        return False
    following = np.uint32(0)
    for q in range(stop + 1, min(stop + 9, n)):
        if not looks[q] & SPACE:
            following = looks[q]
            break
    if stop - first <= 8:
        word = np.uint64(0)
        for q in range(stop - 1, first - 1, -1):
            letter = characters.normal[text[q]] if text[q] < 0x80 or text[q] == _KELVIN else 0xFF
            word = word << np.uint64(8) | np.uint64(letter)
        for title in characters.titles:
            if word == title:
                return word != np.uint64(_NO) or following & DIGIT > 0
        for form in characters.short_forms:
            if word == form:
                return following & UPPER == 0
    if stop - first == 1 and looks[first] & INITIAL:
        return True
    return (
        first - start < 4 and _skip(looks, first, stop, DIGIT) == stop and (_skip(looks, start, first, ITEM) == first)
    )


@compile_loop
def _is_wrapped(text, looks, line, end, n):  # type: ignore[no-untyped-def]
    """True if the line break from `line` to `end` is inside a sentence: between small letters, no empty line."""
    if end == n or not looks[end] & LOWER:
        return False
    for q in range(line + 1, end):
        if looks[q] & LINE:
            return False
    before = line - 1 if line and text[line - 1] == _RETURN else line
    while before and (text[before - 1] == _BLANK or text[before - 1] == _TAB):
        before -= 1
    return before > 0 and (looks[before - 1] & LOWER > 0 or text[before - 1] == _COMMA)


@compile_loop
def _count_words(looks, start, end):  # type: ignore[no-untyped-def]
    """Number of runs of word characters and the apostrophes after them."""
    n_words, inside = 0, False
    for p in range(start, end):
        kind = looks[_at(p)]
        n_words += not inside and kind & WORD > 0
        inside = kind & WORD > 0 or (inside and kind & QUOTE > 0)
    return n_words


@compile_loop
def _is_long(looks, start, end, longest):  # type: ignore[no-untyped-def]
    """True if there are more words than `longest`; runs of word characters, quickly counted, are at least as many."""
    runs = looks[_at(start)] & WORD > 0
    for p in range(start + 1, end):
        runs += looks[_at(p)] & WORD > looks[_at(p - 1)] & WORD
    return runs > longest and _count_words(looks, start, end) > longest


@compile_loop
def _cut_long(looks, start, end, part, spans, n_spans):  # type: ignore[no-untyped-def]
    """Cut a very long run at its pauses into `spans`; returns the number of spans with those before."""
    first, last, n_words, p = start, start, 0, start
    while p < end:
        kind, behind = looks[_at(p)], -1
        after = p + 1
        if kind & COMMA:
            behind = _skip(looks, _skip(looks, p, end, COMMA), end, SPACE)
        elif kind & SPACE:
            after = _skip(looks, p, end, SPACE)
            dashed = _skip(looks, after, end, DASH)
            spaced = _skip(looks, dashed, end, SPACE)
            if after < dashed < spaced:
                behind = spaced
        if behind < 0:
            p = after
            continue
        n_words += _count_words(looks, last, p)
        last = p = behind
        if n_words >= part and last < end:
            spans[_at(2 * n_spans)], spans[_at(2 * n_spans + 1)] = first, _strip(looks, first, last)
            n_spans += 1
            first, n_words = last, 0
    spans[_at(2 * n_spans)], spans[_at(2 * n_spans + 1)] = first, end
    return n_spans + 1


@compile_loop
def _cut(text, looks, n, characters, limits, spans):  # type: ignore[no-untyped-def]
    """Write start and end of every sentence into `spans`; returns their number. limits : longest, part."""
    longest, part = limits
    n_spans, start, p = ZERO, ZERO, ZERO
    while start < n:
        end = n
        while p < n:
            kind = looks[_at(p)]
            if not kind & _BREAKS:
                p += 1
                continue
            place, behind, ends = p, p + 1, True
            if kind & STOP:
                stop, spaced = _stop_end(text, looks, p, n)
                ends = stop >= 0 and not (spaced and stop == p + 1 and _is_short(text, looks, start, p, n, characters))
                behind = max(stop, p + 1)
                place = behind
            elif kind & OTHER_STOP:
                behind = place = _skip(looks, _skip(looks, p, n, OTHER_STOP), n, CLOSING)
            elif kind & LINE:
                behind = place = _skip(looks, p + 1, n, SPACE)
                ends = not _is_wrapped(text, looks, p, behind, n)
            p = behind
            if ends:
                end = place
                break
        left = start
        while left < end and not looks[_at(left)] & HELD:
            left += 1
        if left < end:
            left, right = _skip(looks, start, end, SPACE), _strip(looks, start, end)
            if right - left <= 2 * longest or not _is_long(looks, left, right, longest):
                spans[_at(2 * n_spans)], spans[_at(2 * n_spans + 1)] = left, right
                n_spans += 1
            else:
                n_spans = _cut_long(looks, left, right, part, spans, n_spans)
        start = end
    return n_spans


@compile_loop
def grown(array, used, size):  # type: ignore[no-untyped-def]
    """Return the array itself, or a copy of its used part with room for at least `size`."""
    if len(array) >= size:
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    for p in range(used):  # numba takes seconds to compile an assignment of slices
        larger[p] = array[p]
    return larger


@compile_loop
def cut_texts(texts, beyond, first, last, characters, limits, whole):  # type: ignore[no-untyped-def]
    """Decode the texts from `first` to `last` and cut them into sentences; each is one sentence if `whole`.

    beyond : (texts,) True if a text is not ASCII; limits : `sentences.LONGEST` and `PART`.

    Returns all code points; (texts + 1,) start of each text; (texts + 1,) start of its sentences; start and
    end of every sentence in its text, one after the other; (texts,) True if a text holds an odd character.
    """
    offsets, kinds, n_texts = texts.offsets, characters.kinds, last - first
    text = np.empty(offsets[last] - offsets[first], np.uint32)
    begins, indptr = np.zeros(n_texts + 1, np.int64), np.zeros(n_texts + 1, np.int64)
    odd = np.zeros(n_texts, np.bool_)
    spans, n_spans, looks = np.empty(len(text) // 16 + 16, np.int64), ZERO, np.empty(16, np.uint32)
    for i in range(n_texts):
        here = text[begins[i] :]
        start, n = offsets[first + i], offsets[first + i + 1] - offsets[first + i]
        if beyond[first + i]:
            n = _decode(texts.data, start, start + n, here)
        else:
            for p in range(n):
                here[_at(p)] = texts.data[_at(start + p)]
        looks, seen = grown(looks, ZERO, n), np.uint32(0)
        for p in range(n):
            looks[_at(p)] = kinds[here[_at(p)]]
            seen |= looks[_at(p)]
        odd[i] = seen & ODD > 0
        spans = grown(spans, 2 * n_spans, 2 * (n_spans + n + 1))
        if whole:
            spans[2 * n_spans], spans[2 * n_spans + 1] = 0, n
            n_spans += 1
        else:
            n_spans += _cut(here, looks, n, characters, limits, spans[2 * n_spans :])
        begins[i + 1], indptr[i + 1] = begins[i] + n, n_spans
    return text[: begins[-1]], begins, indptr, spans[: 2 * n_spans].copy(), odd


_APOSTROPHE, _S, _HYPHEN, _JOINER = (ord(character) for character in "'s-\u200d")
_EN_DASH, _EM_DASH, _SEMICOLON, _WIDE_SEMICOLON = (ord(character) for character in "–—;；")
_ZERO, _NINE = (ord(character) for character in "09")
#: Bits, above those of a letter, of the pause before a word.
AFTER_DASH, AFTER_SEMICOLON = 1 << 24, 1 << 25
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
def _with_room(lexicon, n_words, words, letters):  # type: ignore[no-untyped-def]
    """Return a lexicon with room for this number of words and letters."""
    slots, keys, ends = lexicon.slots, lexicon.keys, lexicon.ends
    if 4 * words > len(slots):
        n_slots = len(slots) // 2
        while n_slots < 2 * words:
            n_slots *= 2
        keys, ends = grown(keys, n_words, n_slots // 2), grown(ends, n_words + 1, n_slots // 2 + 1)
        slots = np.zeros(2 * n_slots, np.uint64)
        for word in range(n_words):
            slot = first_slot(keys[word], n_slots)
            while slots[2 * slot]:
                slot = (slot + 1) & (n_slots - 1)
            slots[2 * slot], slots[2 * slot + 1] = keys[word], word
    return CompiledLexicon(slots, keys, ends, grown(lexicon.letters, ends[n_words], letters))


@compile_loop
def _find_words(text, looks, n, places):  # type: ignore[no-untyped-def]
    """Write four numbers for each word of a normalised sentence into `places`; returns the number of words.

    Start, ~start after a pause; end; place of the letter that stands alone before it, of the first after a pause, else
    its start; that letter, the last, 0 if there is none, with `AFTER_SEMICOLON` or `AFTER_DASH` if the pause is one.
    """
    letter, letter_at, broken = 0, 0, 0
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
            places[_at(4 * n_found)], places[_at(4 * n_found + 1)] = ~p if paused else p, end
            places[_at(4 * n_found + 2)], places[_at(4 * n_found + 3)] = letter_at if letter else p, letter | broken
            n_found += 1
            p, paused, letter, broken = end, False, 0, 0
            continue
        if kind & WORD:
            letter, letter_at = np.int64(text[_at(p)]), letter_at if paused and letter else p
        hyphen = (
            text[_at(p)] == _HYPHEN
            and (p == 0 or looks[_at(p - 1)] & SPACE)
            and (p + 1 == n or looks[_at(p + 1)] & SPACE)
        )
        inside = p > 0 and p + 1 < n and _is_numeral(text[_at(p - 1)]) and _is_numeral(text[_at(p + 1)])
        if hyphen or (kind & PAUSE and not inside):
            paused, letter = True, 0
            if hyphen or text[_at(p)] == _EN_DASH or text[_at(p)] == _EM_DASH:
                broken |= AFTER_DASH
            elif text[_at(p)] == _SEMICOLON or text[_at(p)] == _WIDE_SEMICOLON:
                broken |= AFTER_SEMICOLON
        p += 1
    return n_found


@compile_loop
def _is_numeral(letter):  # type: ignore[no-untyped-def]
    return _ZERO <= letter <= _NINE


@compile_loop
def _number_words(text, last_eight, places, n_found, lexicon, n_words, codes, place):  # type: ignore[no-untyped-def]
    """Write numbers of words into `codes` from `place` on, adding new ones to the lexicon; returns its size.

    places : of every word, as `_find_words` gives them.
    last_eight : (characters,) the lowest bytes of each and the seven before it, 0xFF for one beyond ASCII.
    """
    slots, keys, ends, letters = lexicon
    n_slots = len(slots) // 2
    for found in range(n_found):
        start, end = places[_at(4 * found)], places[_at(4 * found + 1)]
        first = ~start if start < 0 else start
        size = end - first
        key = last_eight[_at(end - 1)] >> np.uint64(64 - 8 * min(size, 8))
        if size > 8 or key & np.uint64(_BEYOND):
            for p in range(first, end):
                key = (key ^ np.uint64(text[_at(p)])) * np.uint64(_MIXER)
                key ^= key >> np.uint64(32)
            key |= np.uint64(_HASHED)
        slot, word = first_slot(key, n_slots), n_words
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
    """Encode words in UTF-8; returns bytes and (words + 1,) where each begins."""
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
def _clause_end(looks, behind, begin):  # type: ignore[no-untyped-def]
    """End of a clause whose last word ends `behind`, before one that begins: with letters and punctuation there."""
    last = begin
    while last > behind and not looks[_at(last - 1)] & WORD:
        last -= 1
    while last < begin and not looks[_at(last)] & SPACE:
        last += 1
    return last


@compile_loop
def read_words(text, starts, ends, ready, characters):  # type: ignore[no-untyped-def]
    """Read words of sentences in `text`; those that are `ready` are normalised already.

    Returns (all words,) the number of each, ~ of it after a pause; (sentences + 1,) where each sentence begins in it;
    the distinct words in UTF-8 and (distinct words + 1,) where each begins; (all words, 4) where a clause that starts
    at each word begins in its sentence, and where the clause before ends, then both for one that starts at the letter
    before it; (all words,) that letter, and the pause before it, as `_find_words` gives them.
    """
    kinds, normal = characters.kinds, characters.normal
    codes, indptr = np.empty(len(text) // 4 + 16, np.int32), np.zeros(len(starts) + 1, np.int64)
    room = 1 << (8 if len(text) < 1 << 16 else 14)
    slots, keys = np.zeros(4 * room, np.uint64), np.empty(room, np.uint64)
    lexicon = CompiledLexicon(slots, keys, np.zeros(room + 1, np.int64), np.empty(8 * room, np.uint32))
    plain, looks, places = np.empty(16, np.uint32), np.empty(16, np.uint32), np.empty(64, np.int64)
    last_eight, place, n_words = np.empty(16, np.uint64), ZERO, ZERO
    sources, spans, before = np.empty(16, np.int32), np.empty(4 * len(codes), np.int32), np.empty(len(codes), np.int32)
    for i in range(len(starts)):
        size, n, last = ends[i] - starts[i], ZERO, np.uint64(0)
        if size > len(plain):
            plain, looks, places = grown(plain, ZERO, size), grown(looks, ZERO, size), grown(places, ZERO, 4 * size)
            last_eight, sources = grown(last_eight, ZERO, size), grown(sources, ZERO, size)
        for p in range(starts[i], ends[i]):
            letter = text[_at(p)] if ready[i] else normal[text[_at(p)]]
            if letter != NOTHING:
                last = last >> np.uint64(8) | np.uint64(letter if letter < 0x80 else 0xFF) << np.uint64(56)
                plain[_at(n)], looks[_at(n)], last_eight[_at(n)] = letter, kinds[letter], last
                sources[_at(n)] = p - starts[i]
                n += 1
        n_found = _find_words(plain, looks, n, places)
        if place + n_found > len(codes):
            codes = grown(codes, place, place + n_found)
            spans, before = grown(spans, 4 * place, 4 * len(codes)), grown(before, place, len(codes))
        behind = ZERO
        for found in range(n_found):
            first, letter, own = places[_at(4 * found)], places[_at(4 * found + 2)], 4 * (place + found)
            # A letter that stands alone is of the clause before, unless a pause is before it.
            begin = letter if first < 0 else first
            end = _clause_end(looks, behind, begin)
            spans[_at(own)], spans[_at(own + 1)] = sources[_at(begin)], sources[_at(max(end - 1, 0))] + 1
            end = _clause_end(looks, behind, letter) if letter < begin else end
            spans[_at(own + 2)], spans[_at(own + 3)] = sources[_at(letter)], sources[_at(max(end - 1, 0))] + 1
            before[_at(place + found)], behind = places[_at(4 * found + 3)], places[_at(4 * found + 1)]
        words, n_letters = n_words + n_found, lexicon.ends[n_words] + n
        if 4 * words > len(lexicon.slots) or n_letters > len(lexicon.letters):
            lexicon = _with_room(lexicon, n_words, words, n_letters)
        n_words = _number_words(plain, last_eight, places, n_found, lexicon, n_words, codes, place)
        place += n_found
        indptr[i + 1] = place
    data, spelt = _spelt(lexicon.letters, lexicon.ends[: n_words + 1])
    return codes[:place].copy(), indptr, data, spelt, spans[: 4 * place].copy(), before[:place].copy()


#: Kinds of words, one bit each: before which a contrast starts; that join clauses; that begin a subject; finite verbs;
#: that judge; that name a thing; after which a contrast does not start ("nothing but"); that negate.
CONTRAST, JOINING, SUBJECT, VERB, OPINION, NAMING, EXCEPTING, NEGATING = (np.uint8(1 << bit) for bit in range(8))


#: How a clause is joined to the one before: not at all, as it begins its sentence; in the same direction; in contrast.
APART, JOINED, CONTRASTED = (np.int8(kind) for kind in range(3))


@compile_loop
def _starts_clause(codes, p, end, kinds, alone, subjects):  # type: ignore[no-untyped-def]
    """True if a subject with a verb starts at word `p`: both within a few words, before a pause or a joining word."""
    kind = kinds[codes[p] if codes[p] >= 0 else ~codes[p]]
    if not (kind | alone[p]) & subjects:
        return False
    for q in range(p, min(p + 6, end)):
        if q > p and (codes[q] < 0 or (kinds[codes[q]] | alone[q]) & (JOINING | CONTRAST)):
            return False
        if (kinds[codes[q] if codes[q] >= 0 else ~codes[q]] | alone[q]) & VERB:
            return True
    return False


@compile_loop
def _judges_thing(codes, p, end, kinds, alone):  # type: ignore[no-untyped-def]
    """True if the words from `p` up to a pause or a joining word name a thing and judge it, without a verb."""
    seen = np.uint8(0)
    for q in range(p, min(p + 5, end)):
        kind = kinds[codes[q] if codes[q] >= 0 else ~codes[q]]
        if q > p and (codes[q] < 0 or (kind | alone[q]) & JOINING):
            break
        if (kind | alone[q]) & VERB:
            return False
        seen |= kind
    return seen & OPINION > 0 and seen & NAMING > 0


@compile_loop
def cut_clauses(codes, indptr, whole, kinds, alone, before, starts):  # type: ignore[no-untyped-def]
    """Mark in `starts` (words,) the words inside sentences where a new judgement starts; kinds : of words of the block.

    whole : (sentences,) True for a sentence that is not cut; alone : (words,) kind of a letter that stands alone before
    each; before : (words,) as of `read_words`.

    A clause starts after a semicolon, at a word of contrast, and at a joining word or after a pause if a subject and
    its verb follow, or a thing and its judgement, and the words before hold the same. After a pause the subject may be
    a thing without an article ("staff were rude"), or be missing ("would stay again", "never again"). Neither part is
    a single word. Where words that judge are known, a clause before a contrast has one, or a negation, unless it has a
    verb and so does the next. A dash stands for more than a comma: what is before it may be anything.
    """
    n_cuts, listed_opinions = 0, False
    for kind in kinds:
        listed_opinions |= kind & OPINION > 0
    for i in range(len(indptr) - 1):
        first, end = indptr[i], indptr[i + 1]
        # seen : kinds of the words of the clause; held : after "nothing"; described : a subject waits for its verb.
        seen, since, held, described = np.uint8(0), first, False, False
        if whole[i]:
            continue
        for p in range(first, end):
            paused = codes[p] < 0
            kind, cut = kinds[~codes[p] if paused else codes[p]], False
            if p - since >= 2 and p + 1 < end:
                # The next word, if this is one that joins; a letter that stands alone, as in Spanish, comes before it.
                by_letter = alone[p] & (CONTRAST | JOINING) > 0
                joint, after = (alone[p], p) if by_letter else (kind, p + 1)
                follows, dashed = by_letter or codes[p + 1] >= 0, before[p] & AFTER_DASH > 0
                spoken, judged = seen & VERB > 0, seen & OPINION > 0 and seen & NAMING > 0
                last = kinds[codes[p - 1] if codes[p - 1] >= 0 else ~codes[p - 1]]
                # "A friendly, attentive staff" is one thing, and so is "our tiny but delightful balcony".
                follower = kinds[codes[p + 1]] if kind & JOINING and codes[p + 1] >= 0 else kind
                listed = last & OPINION > 0 and follower & OPINION > 0 and not seen & VERB
                opinion = not listed_opinions or seen & (OPINION | NEGATING) > 0
                if before[p] & AFTER_SEMICOLON:
                    cut = True
                elif joint & CONTRAST:
                    cut = opinion or dashed
                    cut = cut or (follows and spoken and _starts_clause(codes, after, end, kinds, alone, SUBJECT))
                    cut = cut and (paused or not (held or last & VERB or (described and last & OPINION)))
                elif joint & JOINING and after + 1 < end:
                    cut = (spoken or judged or paused) and _starts_clause(codes, after, end, kinds, alone, SUBJECT)
                    cut = cut or (judged and not listed and _judges_thing(codes, after, end, kinds, alone))
                    cut = cut and follows
                elif paused:
                    ready = opinion or dashed or spoken or seen & CONTRAST > 0
                    subjects = SUBJECT | NAMING if spoken else SUBJECT
                    cut = ready and _starts_clause(codes, p, end, kinds, alone, subjects)
                    thing = (judged and not listed) or dashed
                    cut = cut or (thing and _judges_thing(codes, p, end, kinds, alone))
                    cut = cut or ((spoken or judged) and kind & (VERB | NEGATING) > 0)
                    # "Great food - shame the coffee was cold."
                    cut = cut or (
                        dashed and kind & OPINION > 0 and _starts_clause(codes, p + 1, end, kinds, alone, SUBJECT)
                    )
            starts[p] = cut
            if cut:
                seen, since = np.uint8(0), p
                n_cuts += 1
            seen |= kind | alone[p]
            held = kind & EXCEPTING > 0
            described = (described or (kind | alone[p]) & SUBJECT > 0) and not (kind | alone[p]) & VERB
    return n_cuts


@compile_loop
def split_spans(indptr, spans, starts, words, alone):  # type: ignore[no-untyped-def]
    """Cut sentences at the words that are `starts`; words : (words, 4) as of `read_words`; alone : as in `cut_clauses`.

    Returns spans (clauses, 2), one after the other, indptr (clauses + 1,) and (clauses,) the sentence of each.
    """
    n_clauses = len(indptr) - 1
    for p in range(len(starts)):
        n_clauses += starts[p]
    of_clauses, ends = np.empty(2 * n_clauses, np.int64), np.zeros(n_clauses + 1, np.int64)
    sentences, n = np.empty(n_clauses, np.int64), 0
    for i in range(len(indptr) - 1):
        begin = spans[2 * i]
        for p in range(indptr[i], indptr[i + 1]):
            if starts[p]:
                first = 4 * p + (2 if alone[p] else 0)
                of_clauses[2 * n], of_clauses[2 * n + 1] = begin, spans[2 * i] + words[first + 1]
                begin = spans[2 * i] + words[first]
                sentences[n], ends[n + 1] = i, p
                n += 1
        of_clauses[2 * n], of_clauses[2 * n + 1] = begin, spans[2 * i + 1]
        sentences[n], ends[n + 1] = i, indptr[i + 1]
        n += 1
    return of_clauses, ends, sentences


@compile_loop
def join_clauses(codes, indptr, sentences, kinds, alone):  # type: ignore[no-untyped-def]
    """(clauses,) how each is joined to the one before; sentences : (clauses,) the sentence of each.

    A clause stands in contrast if it begins with a word of contrast, or follows one that begins its sentence with one.
    """
    joined = np.full(len(sentences), APART, np.int8)
    opened = False
    for u in range(len(sentences)):
        contrasts = False
        if indptr[u] < indptr[u + 1]:
            code = codes[indptr[u]]
            contrasts = (kinds[code if code >= 0 else ~code] | alone[indptr[u]]) & CONTRAST > 0
        if u and sentences[u] == sentences[u - 1]:
            joined[u] = CONTRASTED if contrasts or opened else JOINED
            opened = False
        else:
            opened = contrasts
    return joined


@compile_loop
def mark_negated(codes, indptr, numbers, negates, content, scope, under, negated):  # type: ignore[no-untyped-def]
    """Mark words under a negation, up to `scope` words after it until a pause; codes become those of `numbers`.

    codes : as `read_words` gives them; negates, content : as `tokens.negation_of` gives them.
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
    """Count columns in each text from `first` to `last`: compressed rows with ascending columns.

    codes, indptr, columns, n_columns : as of `features.count_codes`.

    Returns (texts,) cells in each row, (cells,) columns and counts.
    """
    # Texts of all words in the order of their columns, so that every row is filled from its first column on.
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
