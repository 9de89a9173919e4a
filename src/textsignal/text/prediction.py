"""Compiled loops of prediction: from words of sentences to tone and shares of texts, one text at a time.

They compute what `training.theme_reading` computes in NumPy, without what only explanations need. Texts, which are
`text.tokens.Sentences`, are independent: the bits of one do not depend on the others.
"""

from __future__ import annotations

import numpy as np

from textsignal.compute.compiling import compiling
from textsignal.compute.counting import slot_of

compile_loop = compiling()

#: Columns of a word's numbers: its feature, its feature under a negation, its number among words of phrases and among
#: content terms; -1 if absent. They are adjacent, since they are read together.
PLAIN, NEGATED, PART, TERM = range(4)
#: Square roots of counts below this are looked up.
N_ROOTS = 64


@compile_loop
def read_tone(texts, first, last, words, n_parts, phrases, effects, judging, judged, phrase_size, tone, squares, known):  # type: ignore[no-untyped-def]
    """Write tone of the clauses of texts `first` to `last` into tone; into known, True if a text has a feature.

    Adds the squares of their judgement to squares (texts, tones).

        tone_u = sum over occurrences in u of size_f / sqrt(n_if) / |size sqrt(n_i)| t_f
            + judged / clauses of i * sum over occurrences in u of size_f e_f / root of the sum of size_f^2

    |size sqrt(n_i)|^2 is the number of words that are features, and of phrases times phrase_size^2.

    words : (distinct words, 4) numbers of each; n_parts : number of words of phrases; phrases : as in `Known`;
    effects, judging : (features, tones) t and e; judged : (tones,); tone : (clauses, tones).
    """
    n_tones, longest = effects.shape[1], 1
    for document in range(first, last):
        longest = max(longest, texts.indptr[texts.ends[document + 1]] - texts.indptr[texts.ends[document]])
    keys, single, double = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    counts, judgement = np.zeros(effects.shape[0], np.int32), np.empty(n_tones)
    roots = np.sqrt(np.arange(N_ROOTS))
    for document in range(first, last):
        start, stop = texts.ends[document], texts.ends[document + 1]
        base = texts.indptr[start]
        # Short loops one after the other: the processor then fetches for many words at once.
        for sentence in range(start, stop):
            before = np.int64(-1)
            for p in range(texts.indptr[sentence], texts.indptr[sentence + 1]):
                code, q = texts.codes[p], p - base
                single[q] = words[code, NEGATED if texts.negated[p] else PLAIN]
                part = np.int64(words[code, PART])
                key = 2 * (before * n_parts + part) + (texts.under[p] and texts.under[p - 1])
                keys[q] = key if before >= 0 and part >= 0 else -1
                before = part
        length = texts.indptr[stop] - base
        for q in range(length):
            double[q] = phrases[slot_of(phrases, keys[q]), 1] if keys[q] >= 0 else -1
        n_single = count_features(single, length, counts)
        n_double = count_features(double, length, counts)
        known[document] = n_single + n_double > 0
        scale = 1 / np.sqrt(n_single + phrase_size * phrase_size * n_double) if known[document] else 0.0
        for sentence in range(start, stop):
            tone[sentence] = 0.0
            judgement[:] = 0.0
            size_squared = 0.0
            for q in range(texts.indptr[sentence] - base, texts.indptr[sentence + 1] - base):
                for feature, size in ((single[q], 1.0), (double[q], phrase_size)):
                    if feature >= 0:
                        count = counts[feature]
                        value = scale * size / (roots[count] if count < N_ROOTS else np.sqrt(count))
                        size_squared += size * size
                        for t in range(n_tones):
                            tone[sentence, t] += value * effects[feature, t]
                            judgement[t] += size * judging[feature, t]
            if size_squared > 0:
                root = np.sqrt(size_squared)
                for t in range(n_tones):
                    alone = judgement[t] / root
                    tone[sentence, t] += judged[t] * alone / (stop - start)
                    squares[document, t] += alone * alone
        for found in (single, double):
            for q in range(length):
                if found[q] >= 0:
                    counts[found[q]] = 0


@compile_loop
def count_features(features, length, counts):  # type: ignore[no-untyped-def]
    """Count the features of a text, without -1, into counts; returns their number."""
    n_found = 0
    for q in range(length):
        if features[q] >= 0:
            counts[features[q]] += 1
            n_found += 1
    return n_found


@compile_loop
def read_terms(texts, first, last, words, known):  # type: ignore[no-untyped-def]
    """Count content terms of the clauses of texts first to last; texts that have one are known.

    Returns indptr (clauses + 1,), indices, ascending in each clause, and counts.
    """
    start, stop = texts.ends[first], texts.ends[last]
    length = texts.indptr[stop] - texts.indptr[start]
    indptr = np.zeros(stop - start + 1, np.int64)
    indices, data = np.empty(length, np.int32), np.empty(length, np.float64)
    n_cells = 0
    for document in range(first, last):
        for sentence in range(texts.ends[document], texts.ends[document + 1]):
            begin = n_cells
            for p in range(texts.indptr[sentence], texts.indptr[sentence + 1]):
                term = words[texts.codes[p], TERM]
                if term < 0:
                    continue
                place = n_cells
                while place > begin and indices[place - 1] > term:
                    place -= 1
                if place > begin and indices[place - 1] == term:
                    data[place - 1] += 1.0
                    continue
                for q in range(n_cells, place, -1):
                    indices[q], data[q] = indices[q - 1], data[q - 1]
                indices[place], data[place] = term, 1.0
                n_cells += 1
            known[document] |= n_cells > begin
            indptr[sentence - start + 1] = n_cells
    return indptr, indices[:n_cells], data[:n_cells]


@compile_loop
def gather(texts, first, last, places, clause_tone, evidence, tone, shares):  # type: ignore[no-untyped-def]
    """Sum up tone about each theme, times the evidence of the text, and share of the words, of texts first to last.

    places : (clauses,) theme of each; clause_tone : (clauses, tones); evidence : (tones, texts); tone : (tones, texts,
    places) and shares : (texts, places), the output, 0 before; a text without words is in the last place.
    """
    for document in range(first, last):
        n_words = texts.indptr[texts.ends[document + 1]] - texts.indptr[texts.ends[document]]
        if n_words == 0:
            shares[document, shares.shape[1] - 1] = 1.0
            continue
        for u in range(texts.ends[document], texts.ends[document + 1]):
            shares[document, places[u]] += texts.indptr[u + 1] - texts.indptr[u]
            for t in range(tone.shape[0]):
                tone[t, document, places[u]] += evidence[t, document] * clause_tone[u, t]
        for k in range(shares.shape[1]):
            shares[document, k] /= n_words
