"""Loops over words that are numbers: spelling them out, and counting them without sorting by comparison.

Each is one or two passes, so that ten times the words take ten times as long.
"""

from __future__ import annotations

import numpy as np

from textsignal.kernels.compiling import compiling

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
def count_documents(numbers, documents, n_numbers):  # type: ignore[no-untyped-def]
    """(n_numbers,) how many documents hold each number; documents : (occurrences,) of each, ascending."""
    counts, last = np.zeros(n_numbers, np.int64), np.full(n_numbers, -1, np.int64)
    for p in range(len(numbers)):
        number = numbers[p]
        if last[number] != documents[p]:
            last[number] = documents[p]
            counts[number] += 1
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
def find_keys(known, keys):  # type: ignore[no-untyped-def]
    """(keys,) the place of each among `known`, which are distinct; -1 where it is not there."""
    table = _empty_table(len(known))
    for p in range(len(known)):
        table[_slot(table, known, known[p])] = p
    places = np.empty(len(keys), np.int64)
    for p in range(len(keys)):
        places[p] = table[_slot(table, known, keys[p])]
    return places


@compile_loop
def _ordered(numbers, n_numbers, given):  # type: ignore[no-untyped-def]
    """Places `given` brought into the order of their numbers; those of one number stay as they are."""
    starts = np.zeros(n_numbers + 1, np.int64)
    for p in range(len(numbers)):
        starts[numbers[p] + 1] += 1
    starts = np.cumsum(starts)
    order = np.empty(len(given), np.int64)
    for p in given:
        order[starts[numbers[p]]] = p
        starts[numbers[p]] += 1
    return order


@compile_loop
def count_cells(rows, columns, n_rows, n_columns):  # type: ignore[no-untyped-def]
    """How often each pair of row and column occurs: a matrix in compressed rows with ascending columns.

    Returns indptr (rows + 1,), indices and counts (cells,), and (pairs,) the cell of each pair.
    """
    order = _ordered(rows, n_rows, _ordered(columns, n_columns, np.arange(len(rows))))
    indptr, cells = np.zeros(n_rows + 1, np.int64), np.empty(len(rows), np.int64)
    indices, counts = np.empty(len(rows), np.int32), np.empty(len(rows), np.float64)
    n_cells, row, column = 0, -1, -1
    for p in order:
        if rows[p] != row or columns[p] != column:
            row, column = rows[p], columns[p]
            indices[n_cells] = column
            counts[n_cells] = 0
            indptr[row + 1] += 1
            n_cells += 1
        counts[n_cells - 1] += 1
        cells[p] = n_cells - 1
    return np.cumsum(indptr), indices[:n_cells].copy(), counts[:n_cells].copy(), cells
