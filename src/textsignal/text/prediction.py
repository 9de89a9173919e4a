"""Compiled loops of prediction: from words of sentences to tone and shares of texts, one text at a time.

They compute what `training.theme_reading` computes in NumPy, without what only explanations need. Every loop releases
the interpreter lock; texts are independent, so that the bits of one do not depend on the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textsignal.compute.compiling import compiling
from textsignal.compute.counting import slot_of

compile_loop = compiling()


#: Columns of a word's numbers: its feature, its feature under a negation, its number among words of phrases and among
#: content terms; -1 if absent. They are adjacent, since they are read together.
PLAIN, NEGATED, PART, TERM = range(4)
#: Square roots of counts below this are looked up.
N_ROOTS = 64


class Sentences(NamedTuple):
    """Texts cut into sentences, as in `SentenceTexts`.

    edges : (texts + 1,) where each text's sentences begin; indptr : (sentences + 1,) where each sentence begins
    among all words; codes, under, negated : (all words,).
    """

    edges: Any
    indptr: Any
    codes: Any
    under: Any
    negated: Any


@compile_loop
def read_tone(texts, first, last, words, n_parts, phrases, effects, phrase_size, tone, known):  # type: ignore[no-untyped-def]
    """Write tone of the sentences of texts `first` to `last` into tone; into known, True if a text has a feature.

        tone_u = sum over occurrences in u of size_f / sqrt(n_if) / |size sqrt(n_i)| t_f

    |size sqrt(n_i)|^2 is the number of words that are features, and of phrases times phrase_size^2.

    words : (distinct words, 4) numbers of each; n_parts, phrases : the number of words of phrases, and the table of
    phrases, as in `text.features.Known`; effects : (features, tones); tone : (sentences, tones).
    """
    n_tones, longest = effects.shape[1], 1
    for document in range(first, last):
        longest = max(longest, texts.indptr[texts.edges[document + 1]] - texts.indptr[texts.edges[document]])
    keys, single, double = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    counts = np.zeros(effects.shape[0], np.int32)
    roots = np.sqrt(np.arange(N_ROOTS))
    for document in range(first, last):
        start, stop = texts.edges[document], texts.edges[document + 1]
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
            for q in range(texts.indptr[sentence] - base, texts.indptr[sentence + 1] - base):
                for feature, part in ((single[q], scale), (double[q], scale * phrase_size)):
                    if feature >= 0:
                        count = counts[feature]
                        value = part / (roots[count] if count < N_ROOTS else np.sqrt(count))
                        for t in range(n_tones):
                            tone[sentence, t] += value * effects[feature, t]
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
def read_terms(texts, first, last, words, term_weights, known):  # type: ignore[no-untyped-def]
    """Count content terms of the sentences of texts first to last; texts that have one are known.

    words : (distinct words, 4) numbers of each; term_weights : (terms,) weight of an occurrence.

    Returns indptr (sentences + 1,), indices, ascending in each sentence, and data: counts times weights.
    """
    start, stop = texts.edges[first], texts.edges[last]
    length = texts.indptr[stop] - texts.indptr[start]
    indptr = np.zeros(stop - start + 1, np.int64)
    indices, data = np.empty(length, np.int32), np.empty(length, np.float64)
    n_cells = 0
    for document in range(first, last):
        for sentence in range(texts.edges[document], texts.edges[document + 1]):
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
            for q in range(begin, n_cells):
                data[q] *= term_weights[indices[q]]
            known[document] |= n_cells > begin
            indptr[sentence - start + 1] = n_cells
    return indptr, indices[:n_cells], data[:n_cells]


@compile_loop
def gather(texts, first, last, W, prevalence, sentence_tone, tone, shares):  # type: ignore[no-untyped-def]
    """Sum up tone about each theme and share of the text, of texts first to last.

    A sentence without weight gets the shares of its text, a text without any gets the prevalence.

    W : (sentences of these texts, themes or more) weights; sentence_tone : (sentences, tones); tone : (tones,
    texts, themes) and shares : (texts, themes), the output.
    """
    n_themes, start = len(prevalence), texts.edges[first]
    whole, place = np.empty(n_themes), np.empty(n_themes)
    for document in range(first, last):
        whole[:] = 0.0
        for sentence in range(texts.edges[document], texts.edges[document + 1]):
            for k in range(n_themes):
                whole[k] += W[sentence - start, k]
        to_shares(whole, whole, prevalence)
        shares[document] = 0.0
        tone[:, document] = 0.0
        for sentence in range(texts.edges[document], texts.edges[document + 1]):
            place[:] = W[sentence - start, :n_themes]
            to_shares(place, place, whole)
            n_words = texts.indptr[sentence + 1] - texts.indptr[sentence]
            for k in range(n_themes):
                shares[document, k] += place[k] * n_words
                for t in range(tone.shape[0]):
                    tone[t, document, k] += place[k] * sentence_tone[sentence, t]
        to_shares(shares[document], shares[document], prevalence)


@compile_loop
def to_shares(values, out, otherwise):  # type: ignore[no-untyped-def]
    """Scale values to a sum of 1, into out; `otherwise` if their sum is 0."""
    total = added_up(values)
    for k in range(len(values)):
        out[k] = values[k] / total if total > 0 else otherwise[k]


@compile_loop
def added_up(values):  # type: ignore[no-untyped-def]
    """Sum up to 128 numbers as NumPy does: eight or more in eight parallel sums."""
    n_even, total = len(values) // 8 * 8, 0.0
    if n_even:
        a, b, c, d = values[0], values[1], values[2], values[3]
        e, f, g, h = values[4], values[5], values[6], values[7]
        for k in range(8, n_even, 8):
            a, b, c, d = a + values[k], b + values[k + 1], c + values[k + 2], d + values[k + 3]
            e, f, g, h = e + values[k + 4], f + values[k + 5], g + values[k + 6], h + values[k + 7]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for k in range(n_even, len(values)):
        total += values[k]
    return total
