"""Loops over words that are numbers: spelling them out, and counting them without sorting by comparison.

Each is one or two passes, so that ten times the words take ten times as long.
"""

from __future__ import annotations

import numpy as np

from textsignal.compute.compiling import compiling

compile_loop = compiling()


@compile_loop
def spell_out(pieces, ends, tokens, indptr, negates, scope):  # type: ignore[no-untyped-def]
    """Words of sentences that are given by their pieces, and which of them stand under a negation.

    pieces : numbers of pieces; ends : (sentences + 1,) where each sentence begins among them.
    tokens : words of the pieces, -1 for a pause; indptr : (pieces + 1,) where each piece begins among them.
    negates : (words,) whether a word negates up to `scope` words behind it, as far as the next pause.

    Returns codes (all words,), where each sentence begins among them, and whether each stands under a negation.
    """
    n_words = 0
    for piece in pieces:
        for q in range(indptr[piece], indptr[piece + 1]):
            n_words += tokens[q] >= 0
    codes, word_ends = np.empty(n_words, np.int32), np.zeros(len(ends), np.int64)
    under = np.zeros(n_words, np.bool_)
    place = 0
    for sentence in range(len(ends) - 1):
        left = 0
        for p in range(ends[sentence], ends[sentence + 1]):
            for q in range(indptr[pieces[p]], indptr[pieces[p] + 1]):
                token = tokens[q]
                if token < 0:
                    left = 0
                    continue
                codes[place], under[place] = token, left > 0
                left = scope if negates[token] else max(0, left - 1)
                place += 1
        word_ends[sentence + 1] = place
    return codes, word_ends, under


@compile_loop
def count_words(codes, negated, indptr, documents, n_words):  # type: ignore[no-untyped-def]
    """(4, n_words) in how many documents each word stands, stands plain and stands negated; and how often it stands.

    codes, negated : (all words,); indptr : (sentences + 1,) where each begins; documents : (sentences,), ascending.
    """
    counts, last = np.zeros((4, n_words), np.int64), np.full((3, n_words), -1, np.int64)
    for sentence in range(len(documents)):
        document = documents[sentence]
        for p in range(indptr[sentence], indptr[sentence + 1]):
            code = codes[p]
            counts[3, code] += 1
            for kind in (0, 2 if negated[p] else 1):
                if last[kind, code] != document:
                    last[kind, code] = document
                    counts[kind, code] += 1
    return counts


@compile_loop
def _empty_table(n_keys):  # type: ignore[no-untyped-def]
    """A hash table of the numbers of keys, at most half full: -1 in every slot, a power of 2 of them."""
    size = 2
    while size < 2 * n_keys:
        size *= 2
    return np.full(size, -1, np.int32)


@compile_loop
def _slot(table, keys, key):  # type: ignore[no-untyped-def]
    """The slot of a key, or the empty one where it belongs; `keys` are those that the table numbers."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(table) - 1))
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@compile_loop
def number_keys(keys):  # type: ignore[no-untyped-def]
    """Distinct keys in the order in which they first occur, and (keys,) the number of each among them."""
    table = _empty_table(len(keys))
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
    """Numbers from 0 on in the order in which they first occur, and (codes,) the place of each in it."""
    place, order = np.full(n_numbers, -1, np.int32), np.empty(n_numbers, np.int32)
    places, n_met = np.empty(len(codes), np.int32), 0
    for p in range(len(codes)):
        if place[codes[p]] < 0:
            place[codes[p]], order[n_met] = n_met, codes[p]
            n_met += 1
        places[p] = place[codes[p]]
    return order[:n_met].copy(), places


@compile_loop
def count_numbers(numbers, n_numbers):  # type: ignore[no-untyped-def]
    """(n_numbers,) how often each occurs, as `np.bincount` tells, which copies numbers of four bytes into eight."""
    counts = np.zeros(n_numbers, np.int64)
    for p in range(len(numbers)):
        counts[numbers[p]] += 1
    return counts


@compile_loop
def key_table(keys, values):  # type: ignore[no-untyped-def]
    """A hash table of keys, which are distinct and none of them negative.

    Returns (slots, 2) the key and its value, both -1 in an empty slot: adjacent, since they are looked up together.
    """
    slots = np.full((len(_empty_table(len(keys))), 2), -1, np.int64)
    for p in range(len(keys)):
        slot = slot_of(slots, keys[p])
        slots[slot, 0], slots[slot, 1] = keys[p], values[p]
    return slots


@compile_loop
def slot_of(slots, key):  # type: ignore[no-untyped-def]
    """The slot of a key, or the empty one where it belongs; there are a power of 2 of them."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(slots) - 1))
    while slots[slot, 0] >= 0 and slots[slot, 0] != key:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@compile_loop
def count_pairs(codes, indptr, documents, under):  # type: ignore[no-untyped-def]
    """Pairs of neighbouring words within sentences, as they first occur, and how many documents hold each.

    A pair is first * 2^32 + second * 2, plus 1 where both words stand under a negation.

    codes, under : (all words,); indptr : (sentences + 1,) where each begins; documents : (sentences,), ascending.
    """
    most = len(codes)
    table = _empty_table(most)
    pairs, counts, last = np.empty(most, np.int64), np.zeros(most, np.int64), np.full(most, -1, np.int64)
    n_pairs = 0
    for sentence in range(len(documents)):
        document = documents[sentence]
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
    """Every occurrence of a feature, document by document, and what each carries of its document.

    texts : codes, under, negated (all words,), indptr (sentences + 1,), ends (documents + 1,) of its sentences.
    known : features of words and of negated words (words,), numbers of words in phrases (words,), how many of these
        there are, and the hash table from pairs of such numbers to features; -1 for what is none.
    sizes : (features,) what each counts; located : whether occurrences are wanted, or counts alone.

    Returns words, sentences, features and values (occurrences,), and counts of features in documents: indptr
    (documents + 1,), indices ascending in each, and data.
    """
    codes, under, negated, indptr, ends = texts
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
    """(sentences,) sum over its occurrences of value times effect, by the fit of each; 0 where that is -1.

    sentences, features, values : (occurrences,); effects : (fits, features); fits : (sentences,).
    """
    sums = np.zeros(len(fits))
    for q in range(len(sentences)):
        fit = fits[sentences[q]]
        if fit >= 0:
            sums[sentences[q]] += values[q] * effects[fit, features[q]]
    return sums


@compile_loop
def word_sums(words, features, values, is_phrase, n_words):  # type: ignore[no-untyped-def]
    """(all words,) sum of the values of its occurrences; half of a phrase's is that of the word before.

    words, features, values : (occurrences,); is_phrase : (features,).
    """
    sums = np.zeros(n_words)
    for q in range(len(words)):
        if is_phrase[features[q]]:
            sums[words[q]] += values[q] / 2
            sums[words[q] - 1] += values[q] / 2
        else:
            sums[words[q]] += values[q]
    return sums


@compile_loop
def placed_sums(codes, negated, indptr, values, wanted, places):  # type: ignore[no-untyped-def]
    """(2 words, themes) sums of the places of the sentences that each word stands in, and of values times these.

    codes, negated, values : (all words,); indptr : (sentences + 1,); wanted : (words,) whether it counts; places :
    (sentences, themes). A word has two rows: of itself, and of it negated.
    """
    stands, added = np.zeros((2, 2 * len(wanted), places.shape[1]))
    for sentence in range(len(indptr) - 1):
        for p in range(indptr[sentence], indptr[sentence + 1]):
            if wanted[codes[p]]:
                row = 2 * np.int64(codes[p]) + negated[p]
                for k in range(places.shape[1]):
                    stands[row, k] += places[sentence, k]
                    added[row, k] += values[p] * places[sentence, k]
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
