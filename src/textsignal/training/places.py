"""Places of clauses: each is on one theme, on the overall verdict, or unplaced.

Every content term votes for the themes that use it, the more the fewer use it:

    v_jk = p_jk (1 - entropy of p_j / log K) log AMONG,      p_jk the share of theme k in the uses of term j

half of it if the term names no theme. A clause has the votes of its terms, `SENTENCE` of the votes of the rest of its
sentence, and `NEXT` of those of the sentences before and after it. It is on the theme with the most votes v if these
are clear:

    v >= c (sum of all votes + 1),      c = CLEAR_TYPICAL if a term of the clause is typical of the theme, else CLEAR

A single word that several themes use ("close", "open") is thus not enough. A clause whose terms name themes, but none
clearly, is unplaced.

A clause is on the overall verdict if its score is above 0, or above `NAMED` if it names a theme, or if it judges
without naming one. Terms that verdicts use as much as other clauses do ("stay", "experience") name no theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.compiling import compiling
from textsignal.text.scanning import APART
from textsignal.text.tokenise import JUDGING
from textsignal.training.themes import uses_of
from textsignal.training.verdict import Verdict

compile_loop = compiling()

#: Least score of a verdict that names a theme. Without it, hotels were "recommended for the location" overall.
NAMED = 0.5
#: A clause that names no theme itself is a verdict if one of its words has this score: "one star is too many".
SURE = 2.0
#: Part of the votes of a term that names no theme; of the rest of the sentence; of the sentences before and after.
#: A language model named the themes of 960 complaints about hotels, restaurants, fast food and clothing: it agreed with
#: .70 of the places by these votes, and with .62 of those by the weights of themes (KL-NMF) that they replaced. Other
#: values of the three, from half to twice of each, move that by about .01.
UNNAMED, SENTENCE, NEXT = 0.5, 0.4, 0.15
#: Terms that are typical of a theme: those with the largest shares of it.
TYPICAL = 10
#: Share of all votes, and of one more, that a theme must have: if the clause has a typical term, and if it has none. Of
#: the same complaints, as far as they are still called so, .54 have such a theme, and .88 of their places are right.
#: With one share for all, .33, these are .56 and .86.
CLEAR_TYPICAL, CLEAR = 0.28, 0.42
#: Votes are multiples of 1 / STEPS, so that the page, which has them in two bytes, places each clause as Python does.
STEPS = 1024
#: A content term names a theme if it stands for one: by this Kullback-Leibler divergence of the themes that use it, in
#: nats, and unless verdicts use it: its score, less SPECIFIC for each nat above USUAL, is at most GENERIC. All of it is
#: for AMONG themes.
LEAST_SPECIFIC, SPECIFIC, USUAL, GENERIC, AMONG = 0.7, 0.6, 1.2, 0.3, 14
#: Kinds of words, one bit each: judges; refers to the clause before ("it").
JUDGES, REFERS = np.uint8(1), np.uint8(2)


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes (terms, themes) of content terms.

    typical : (terms, themes) True if a term is typical of a theme; names : (terms,) True if a term names a theme.
    """

    of_terms: Vector
    typical: NDArray[np.bool_]
    names: NDArray[np.bool_]

    @classmethod
    def of(cls, profiles: Vector, prevalence: Vector, names: NDArray[np.bool_]) -> Votes:
        """Return the votes of terms; profiles : (themes, terms) shares of terms by plain counts."""
        n_themes, share = len(profiles), uses_of(profiles, prevalence)
        entropy = -np.sum(share * np.log(share, out=np.zeros_like(share), where=share > 0), axis=0)
        telling = 1 - entropy / np.log(n_themes) if n_themes > 1 else np.ones(len(names))
        votes = (share * telling * np.log(AMONG) * np.where(names, 1.0, UNNAMED)).T
        typical = np.zeros(votes.shape, dtype=bool)
        first = np.argsort(-profiles, axis=1, kind="stable")[:, :TYPICAL]
        np.put_along_axis(typical.T, first, True, axis=1)
        return cls(np.round(votes * STEPS) / STEPS, typical, names)


def names_themes(
    verdict: Verdict, terms: Sequence[str], profiles: Vector, prevalence: Vector, language: str | None
) -> NDArray[np.bool_]:
    """Return (terms,) True if a term names a theme; profiles : (themes, terms) shares of terms by plain counts.

    Words that judge a thing without describing it ("good", "best") name none.
    """
    used = uses_of(profiles, prevalence)
    ratio = np.divide(used, prevalence[:, None], out=np.ones_like(used), where=(used > 0) & (prevalence[:, None] > 0))
    # With few themes, no term can stand for one as clearly as with many.
    most = np.log(len(profiles)) / np.log(AMONG)
    specific = np.sum(used * np.log(ratio), axis=0) / most if most else np.full(len(terms), USUAL)
    generic = verdict.of_words(terms)[0] - SPECIFIC * (specific - USUAL) > GENERIC
    judging = JUDGING.get(language or "", frozenset())
    names = np.array([term not in judging for term in terms], dtype=bool)
    return names & (specific >= LEAST_SPECIFIC) & ~generic


@compile_loop
def best_themes(votes, typical, names, texts, first, last, indptr, indices, counts):  # type: ignore[no-untyped-def]
    """Return the theme with clear votes of clauses of texts `first` to `last`, and what names it: (clauses, 2).

    The theme is -1 if none is clear; what names it is 2 if a term of the clause names a theme, 1 if one of its sentence
    does.

    votes, typical, names : of `Votes`; indptr, indices, counts : content terms of the clauses.
    """
    start, n_themes, longest = texts.ends[first], votes.shape[1], 1
    for document in range(first, last):
        longest = max(longest, texts.ends[document + 1] - texts.ends[document])
    best = np.zeros((len(indptr) - 1, 2), np.int64)
    # Of each clause of a text, and of each sentence, with one of none before the first and after the last.
    own, sums = np.empty((longest, n_themes)), np.empty((longest + 2, n_themes))
    is_typical = np.empty((longest, n_themes), np.bool_)
    named, sentence = np.empty(longest + 2, np.int64), np.empty(longest, np.int64)
    for document in range(first, last):
        begin, size = texts.ends[document] - start, texts.ends[document + 1] - texts.ends[document]
        own[:size], sums[: size + 2], named[: size + 2], is_typical[:size], s = 0.0, 0.0, 0, False, 0
        for i in range(size):
            s += i == 0 or texts.joined[start + begin + i] == APART
            sentence[i] = s
            for p in range(indptr[begin + i], indptr[begin + i + 1]):
                j = indices[p]
                if names[j]:
                    best[begin + i, 1], named[s] = 2, 1
                for k in range(n_themes):
                    own[i, k] += counts[p] * votes[j, k]
                    is_typical[i, k] |= typical[j, k]
            for k in range(n_themes):
                sums[s, k] += own[i, k]
        for i in range(size):
            s, most, total, theme = sentence[i], 0.0, 0.0, -1
            for k in range(n_themes):
                near = SENTENCE * (sums[s, k] - own[i, k]) + NEXT * (sums[s - 1, k] + sums[s + 1, k])
                value = own[i, k] + near
                total += value
                if value > most:
                    theme, most = k, value
            if theme < 0 or most < (CLEAR_TYPICAL if is_typical[i, theme] else CLEAR) * (total + 1):
                theme = -1
            best[begin + i, 0] = theme
            best[begin + i, 1] = max(best[begin + i, 1], named[s])
    return best


@compile_loop
def place_clauses(texts, first, last, scores, kinds, bias, best, n_themes, places):  # type: ignore[no-untyped-def]
    """Write the theme of the clauses of texts `first` to `last` into places: n_themes for verdicts, one more for none.

    scores, kinds : (distinct words,) as of `Verdict`, with the kinds `JUDGES` and `REFERS`; best : from `best_themes`.
    """
    start = texts.ends[first]
    for document in range(first, last):
        before = -1
        for u in range(texts.ends[document], texts.ends[document + 1]):
            score, kind, most = bias, np.uint8(0), 0.0
            for p in range(texts.indptr[u], texts.indptr[u + 1]):
                score += scores[texts.codes[p]]
                most = max(most, scores[texts.codes[p]])
                kind |= kinds[texts.codes[p]] & JUDGES
            refers = texts.indptr[u] < texts.indptr[u + 1] and kinds[texts.codes[texts.indptr[u]]] & REFERS > 0
            theme, named = best[u - start, 0], best[u - start, 1]
            inherits = before >= 0 and before < n_themes and (texts.joined[u] > 0 or refers)
            if texts.indptr[u] == texts.indptr[u + 1]:
                place = n_themes + 1
            elif score > (NAMED if named == 2 else 0.0) or (named < 2 and most > SURE):
                place = n_themes
            elif named > 0:
                place = theme if theme >= 0 else n_themes + 1
            elif inherits:
                place = before
            elif kind & JUDGES:
                place = n_themes
            else:
                place = n_themes + 1
            places[u] = place
            before = place


def kinds_of(judges: NDArray[np.bool_], refers: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return (words,) kinds of words, as `place_clauses` takes them."""
    return (judges * JUDGES + refers * REFERS).astype(np.uint8)
