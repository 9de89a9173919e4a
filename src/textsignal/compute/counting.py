"""Loops over words that are numbers: counting and finding them in one or two passes, without sorting.

texts : `text.tokens.Sentences`.
"""

from __future__ import annotations

import numpy as np

from textsignal.compute.compiling import compiling

compile_loop = compiling()


@compile_loop
def count_words(texts, n_words):  # type: ignore[no-untyped-def]
    """(4, n_words) number of texts with each word, with it plain, and with it negated; and its number in all."""
    counts, last = np.zeros((4, n_words), np.int64), np.full((3, n_words), -1, np.int64)
    for document in range(len(texts.ends) - 1):
        for p in range(texts.indptr[texts.ends[document]], texts.indptr[texts.ends[document + 1]]):
            code = texts.codes[p]
            counts[3, code] += 1
            for kind in (0, 2 if texts.negated[p] else 1):
                if last[kind, code] != document:
                    last[kind, code] = document
                    counts[kind, code] += 1
    return counts


@compile_loop
def _n_slots(n_keys):  # type: ignore[no-untyped-def]
    """Slots of a hash table that is at most half full: a power of 2."""
    size = 2
    while size < 2 * n_keys:
        size *= 2
    return size


@compile_loop
def first_slot(key, n_slots):  # type: ignore[no-untyped-def]
    """The slot where the search for a key begins."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(n_slots - 1))


@compile_loop
def _slot(table, keys, key):  # type: ignore[no-untyped-def]
    """The slot of a key, or the empty one where it belongs; a table holds numbers of `keys`, -1 in empty slots."""
    slot = first_slot(key, len(table))
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@compile_loop
def number_keys(keys):  # type: ignore[no-untyped-def]
    """Distinct keys in the order in which they first occur, and (keys,) the number of each among them."""
    table = np.full(_n_slots(len(keys)), -1, np.int32)
    distinct, numbers = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    n_distinct = 0
    for p in range(len(keys)):
        slot = _slot(table, distinct, keys[p])
        if table[slot] < 0:
            table[slot] = n_distinct
            distinct[n_distinct] = keys[p]
            n_distinct += 1
        numbers[p] = table[slot]
    return distinct[:n_distinct].copy(), numbers


@compile_loop
def renumber(codes, n_numbers):  # type: ignore[no-untyped-def]
    """Distinct codes below `n_numbers` in order of first occurrence, and (codes,) the number of each in that order."""
    new, order = np.full(n_numbers, -1, np.int32), np.empty(n_numbers, np.int32)
    renumbered, n_met = np.empty(len(codes), np.int32), 0
    for p in range(len(codes)):
        if new[codes[p]] < 0:
            new[codes[p]], order[n_met] = n_met, codes[p]
            n_met += 1
        renumbered[p] = new[codes[p]]
    return order[:n_met].copy(), renumbered


@compile_loop
def count_numbers(numbers, n_numbers):  # type: ignore[no-untyped-def]
    """(n_numbers,) count of each: `np.bincount` without its copy of numbers of four bytes into eight."""
    counts = np.zeros(n_numbers, np.int64)
    for p in range(len(numbers)):
        counts[numbers[p]] += 1
    return counts


@compile_loop
def key_table(keys, values):  # type: ignore[no-untyped-def]
    """A hash table of distinct keys of at least 0: (slots, 2) key and value side by side, -1 in empty slots."""
    slots = np.full((_n_slots(len(keys)), 2), -1, np.int64)
    for p in range(len(keys)):
        slot = slot_of(slots, keys[p])
        slots[slot, 0], slots[slot, 1] = keys[p], values[p]
    return slots


@compile_loop
def slot_of(slots, key):  # type: ignore[no-untyped-def]
    """The slot of a key in a `key_table`, or the empty one where it belongs."""
    slot = first_slot(key, len(slots))
    while slots[slot, 0] >= 0 and slots[slot, 0] != key:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@compile_loop
def count_pairs(texts):  # type: ignore[no-untyped-def]
    """Pairs of neighbouring words within sentences, in the order of their first occurrence, and texts with each.

    A pair is first * 2^32 + second * 2, plus 1 if both words stand under a negation.
    """
    codes, under, indptr, most = texts.codes, texts.under, texts.indptr, len(texts.codes)
    table = np.full(_n_slots(most), -1, np.int32)
    pairs, counts, last = np.empty(most, np.int64), np.zeros(most, np.int64), np.full(most, -1, np.int64)
    n_pairs = 0
    for document in range(len(texts.ends) - 1):
        for sentence in range(texts.ends[document], texts.ends[document + 1]):
            for p in range(indptr[sentence] + 1, indptr[sentence + 1]):
                pair = (np.int64(codes[p - 1]) << 32) + 2 * np.int64(codes[p]) + (under[p - 1] & under[p])
                slot = _slot(table, pairs, pair)
                number = table[slot]
                if number < 0:
                    table[slot] = number = n_pairs
                    pairs[n_pairs] = pair
                    n_pairs += 1
                if last[number] != document:
                    last[number] = document
                    counts[number] += 1
    return pairs[:n_pairs].copy(), counts[:n_pairs].copy()


@compile_loop
def find_features(texts, known, sizes, located):  # type: ignore[no-untyped-def]
    """Every occurrence of a feature, document by document, and its value: its share of the document's unit row.

    known : features of words and of negated words (words,), numbers of words in phrases (words,), the number of
        these, and the hash table from pairs of such numbers to features; -1 if absent.
    sizes : (features,) size of each; located : False for counts alone.

    Returns words, sentences, features and values (occurrences,), and counts of features in documents: indptr
    (documents + 1,), indices ascending in each, and data.
    """
    ends, indptr, codes, under, negated, _ = texts
    of_word, of_negated, parts, n_parts, slots = known
    most, largest = 2 * len(codes), 0
    for document in range(len(ends) - 1):
        largest = max(largest, 2 * (indptr[ends[document + 1]] - indptr[ends[document]]))
    held_most = most if located else largest
    words, sentences = np.empty(held_most, np.int32), np.empty(held_most, np.int32)
    features, values = np.empty(held_most, np.int32), np.empty(held_most, np.float64)
    indices, data = np.empty(most, np.int32), np.empty(most, np.int32)
    rows = np.zeros(len(ends), np.int64)
    held, place = np.full(len(sizes), -1, np.int64), np.empty(len(sizes), np.int64)
    n_found, n_cells = 0, 0
    for document in range(len(ends) - 1):
        if not located:
            n_found = 0
        first, row = n_found, n_cells
        for sentence in range(ends[document], ends[document + 1]):
            start = indptr[sentence]
            for p in range(start, indptr[sentence + 1]):
                code = codes[p]
                feature = of_negated[code] if negated[p] else of_word[code]
                if feature >= 0:
                    words[n_found], sentences[n_found], features[n_found] = p, sentence, feature
                    n_found += 1
                if p == start or parts[code] < 0 or parts[codes[p - 1]] < 0:
                    continue
                pair = 2 * (np.int64(parts[codes[p - 1]]) * n_parts + parts[code]) + (under[p - 1] & under[p])
                feature = slots[slot_of(slots, pair), 1]
                if feature >= 0:
                    words[n_found], sentences[n_found], features[n_found] = p, sentence, feature
                    n_found += 1
        for q in range(first, n_found):
            if held[features[q]] != document:
                held[features[q]] = document
                indices[n_cells] = features[q]
                n_cells += 1
        indices[row:n_cells].sort()
        for cell in range(row, n_cells):
            place[indices[cell]] = cell
            data[cell] = 0
        for q in range(first, n_found):
            data[place[features[q]]] += 1
        squares = 0.0
        for cell in range(row, n_cells):
            squares += sizes[indices[cell]] ** 2 * data[cell]
        scale = 1 / np.sqrt(squares) if squares > 0 else 0.0
        for q in range(first, n_found):
            values[q] = scale * sizes[features[q]] / np.sqrt(data[place[features[q]]])
        rows[document + 1] = n_cells
    if not located:
        n_found = 0
    found = words[:n_found], sentences[:n_found], features[:n_found], values[:n_found]
    return found, (rows, indices[:n_cells], data[:n_cells])


@compile_loop
def sentence_sums(sentences, features, values, effects, fits):  # type: ignore[no-untyped-def]
    """(sentences,) sum over occurrences of value times effect (fits, features) in the fit of the sentence; 0 if -1."""
    sums = np.zeros(len(fits))
    for q in range(len(sentences)):
        fit = fits[sentences[q]]
        if fit >= 0:
            sums[sentences[q]] += values[q] * effects[fit, features[q]]
    return sums


@compile_loop
def judged_sums(sentences, features, sizes, effects, fits):  # type: ignore[no-untyped-def]
    """(sentences,) sum over occurrences of size times effect (fits, features), over the root of the sum of size^2.

    fits : (sentences,) the fit of each; 0 if -1. Occurrences of a sentence are adjacent.
    """
    sums, squares = np.zeros(len(fits)), np.zeros(len(fits))
    for q in range(len(sentences)):
        sentence, size = sentences[q], sizes[features[q]]
        if fits[sentence] >= 0:
            sums[sentence] += size * effects[fits[sentence], features[q]]
            squares[sentence] += size * size
    for sentence in range(len(fits)):
        if squares[sentence] > 0:
            sums[sentence] /= np.sqrt(squares[sentence])
    return sums


@compile_loop
def theme_sums(documents, places, values, sums):  # type: ignore[no-untyped-def]
    """Add values (clauses,) to sums (texts, themes) of the text and the theme of each; nothing for a place of -1."""
    for u in range(len(documents)):
        if places[u] >= 0:
            sums[documents[u], places[u]] += values[u]


@compile_loop
def word_sums(words, features, values, is_phrase, n_words):  # type: ignore[no-untyped-def]
    """(all words,) sum of values (occurrences,); the word before a phrase's last has half of the phrase's value."""
    sums = np.zeros(n_words)
    for q in range(len(words)):
        if is_phrase[features[q]]:
            sums[words[q]] += values[q] / 2
            sums[words[q] - 1] += values[q] / 2
        else:
            sums[words[q]] += values[q]
    return sums


@compile_loop
def placed_sums(codes, negated, indptr, values, counted, places, n_themes):  # type: ignore[no-untyped-def]
    """(2 words, themes) number of occurrences of each word in clauses on each theme, and sum of its values there.

    codes, negated, values : (all words,); indptr : (clauses + 1,); counted : (words,) True if it counts; places :
    (clauses,) the theme of each. A word has two rows: plain and negated.
    """
    stands, added = np.zeros((2, 2 * len(counted), n_themes))
    for clause in range(len(indptr) - 1):
        for p in range(indptr[clause], indptr[clause + 1]):
            if counted[codes[p]]:
                row = 2 * np.int64(codes[p]) + negated[p]
                stands[row, places[clause]] += 1
                added[row, places[clause]] += values[p]
    return stands, added


@compile_loop
def row_keys(data, ends):  # type: ignore[no-untyped-def]
    """(rows,) a number for the bytes of each row, the same on every machine; data : bytes; ends : (rows + 1,)."""
    keys = np.empty(len(ends) - 1, np.uint64)
    for i in range(len(keys)):
        key = np.uint64(14695981039346656037)
        for p in range(ends[i], ends[i + 1]):
            key = (key ^ np.uint64(data[p])) * np.uint64(1099511628211)
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys[i] = key ^ (key >> np.uint64(31))
    return keys
