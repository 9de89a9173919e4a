"""Verdicts: clauses that judge the whole ("never again", "best stay ever"), told apart from clauses on a theme.

People open a text with a verdict, or end it with one. So the words of verdicts are learnt as those of a naive Bayes
classifier whose first guess of each clause is by its place in its text, by whether it judges at all, and by words that
verdicts have in general ("recommend", "again", "stars"), where the language has a list of them:

    score_u = bias + sum over words of log p(word | verdict) / p(word | other)

fitted twice; a listed word counts as if it had been seen in `SEEN` more clauses. Other clauses count by how much they
judge: words of praise and complaints would be those of verdicts, if compared with clauses that do not judge.

A clause is on the overall verdict if its score is above 0, or above `NAMED` if it names a theme, or if it judges
without naming one. Terms that verdicts use as much as other clauses do ("stay", "experience") name no theme.

A clause that names a theme is on the theme of its terms, with part of the weight of the others in its sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.compiling import compiling
from textsignal.stored_values import rule
from textsignal.text.scanning import APART
from textsignal.text.tokenise import JUDGING
from textsignal.text.tokens import SentenceTexts

compile_loop = compiling()

#: First guess that a clause is a verdict: the last of its text, the first, any other; of a text of fewer clauses.
LAST, FIRST, OTHER, SHORT = 0.5, 0.3, 0.08, 0.15
#: Sentences of a text in which places mean something.
LEAST_SENTENCES = 3
#: A clause whose judgement is this many times the typical one judges for certain.
CERTAIN = 1.5
#: Fits of the classifier, and clauses that are added to each count of a word.
FITS, PRIOR = 2, 2.0
#: What a clause that does not judge counts in comparison. With 1, verdicts took over praise and complaints of simulated
#: reviews, which have no verdicts; with .3, clauses of hotel reviews agree better with people's labels.
SILENT = 0.3
#: Clauses that a listed word counts as seen in, and the share of these that are verdicts; the log-odds that a clause is
#: one for each listed word in it, up to MOST_LISTED, before the first fit.
SEEN, OF_THESE, LISTED, MOST_LISTED = 100, 0.8, 1.0, 2
#: Least score of a verdict that names a theme. Without it, hotels were "recommended for the location" overall.
NAMED = 0.5
#: A clause that names no theme itself is a verdict if one of its words has this score: "one star is too many".
CLEAR = 2.0
#: Part of the weight of the themes of other clauses in its sentence that a clause shares. Of 0, .3, .4, .6 and 1, .4
#: and .6 agreed best with people's labels of hotel sentences and left two clauses on themes of their own.
NEARBY = 0.5
#: Fewest clauses with a word whose score is kept.
LEAST_OFTEN = 3
#: A content term names a theme if it stands for one: by this Kullback-Leibler divergence of the themes that use it, in
#: nats, and unless verdicts use it: its score, less SPECIFIC for each nat above USUAL, is at most GENERIC. All of it is
#: for AMONG themes.
LEAST_SPECIFIC, SPECIFIC, USUAL, GENERIC, AMONG = 0.7, 0.6, 1.2, 0.3, 14
#: Fewest clauses with a word, and its judgement in log-odds, for it to judge by itself.
OFTEN, STRONG = 10, 0.7

#: Kinds of words, one bit each: judges; refers to the clause before ("it"). And of content terms: names a theme.
JUDGES, REFERS = np.uint8(1), np.uint8(2)


@dataclass(frozen=True, eq=False)
class Verdict:
    """Words of verdicts, with the score of each and whether it judges by itself; bias : of a clause without words."""

    words: Sequence[str] = field(metadata=rule(shape=("verdict words",), distinct=True))
    scores: Vector = field(metadata=rule(shape=("verdict words",)))
    judges: NDArray[np.bool_] = field(metadata=rule(shape=("verdict words",)))
    bias: float

    def of_words(self, words: Sequence[str]) -> tuple[Vector, NDArray[np.bool_]]:
        """Return (words,) the score of each, and True if it judges by itself."""
        number = {word: j for j, word in enumerate(self.words)}
        rows = np.array([number.get(word, -1) for word in words], dtype=np.int64)
        known = rows >= 0
        scores, judges = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
        scores[known], judges[known] = self.scores[rows[known]], self.judges[rows[known]]
        return scores, judges


def learn_verdict(
    texts: SentenceTexts, judgement: Vector, of_words: Vector, weight: Vector, listed: Collection[str]
) -> Verdict:
    """Learn the words of verdicts; judgement : (clauses,) and of_words : (words,) the larger of several responses.

    listed : words that verdicts have in general.
    """
    n_clauses = len(texts.documents)
    each = weight[texts.documents]
    cells = np.ones(len(texts.codes)), (texts.sentence_of_word, texts.codes)
    present = sp.csr_array(sp.coo_array(cells, shape=(n_clauses, len(texts.words))))
    present.data[:] = 1
    often = np.asarray(present.T @ (each > 0), dtype=float)
    place = _place_guess(texts)
    typical = np.sqrt(np.average(judgement**2, weights=each)) if each.any() else 0.0
    judged = np.minimum(np.abs(judgement) / (CERTAIN * typical), 1) if typical > 0 else np.zeros(n_clauses)
    in_general = np.array([word in listed for word in texts.words], dtype=float)
    has_listed = np.minimum(present @ in_general, MOST_LISTED)
    guess, scores, bias = _raised(place * judged, LISTED * has_listed), np.zeros(len(texts.words)), 0.0
    for fit in range(FITS):
        verdicts, others = each * guess, each * (1 - guess) * (SILENT + (1 - SILENT) * judged)
        share = verdicts.sum() / max(each.sum(), 1e-12)
        if not 0 < share < 1:
            break
        seen = SEEN * in_general
        more = (present.T @ verdicts + PRIOR * share + OF_THESE * seen) / (verdicts.sum() + PRIOR)
        less = (present.T @ others + PRIOR * (1 - share) + (1 - OF_THESE) * seen) / (others.sum() + PRIOR)
        scores, bias = np.log(more / less), float(np.log(share / (1 - share)))
        odds = np.asarray(present @ scores) + bias
        if fit + 1 < FITS:
            odds = odds + np.log(place / (1 - place)) - np.log(SHORT / (1 - SHORT))
            guess = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    kept = np.flatnonzero(often >= LEAST_OFTEN)
    judges = (often >= OFTEN) & (np.abs(of_words) >= STRONG)
    return Verdict([texts.words[j] for j in kept.tolist()], scores[kept], judges[kept], bias)


def _raised(probability: Vector, log_odds: Vector) -> Vector:
    """Raise probabilities by log-odds; 0 stays 0."""
    odds = probability * np.exp(log_odds)
    return np.asarray(odds / (1 - probability + odds), dtype=float)


def names_themes(
    verdict: Verdict, terms: Sequence[str], profiles: Vector, prevalence: Vector, language: str | None
) -> NDArray[np.bool_]:
    """Return (terms,) True if a term names a theme; profiles : (themes, terms) shares of terms by plain counts.

    Words that judge a thing without describing it ("good", "best") name none.
    """
    used = prevalence[:, None] * profiles
    total = used.sum(axis=0)
    used = np.divide(used, total, out=np.zeros_like(used), where=total > 0)
    ratio = np.divide(used, prevalence[:, None], out=np.ones_like(used), where=(used > 0) & (prevalence[:, None] > 0))
    # With few themes, no term can stand for one as clearly as with many.
    most = np.log(len(profiles)) / np.log(AMONG)
    specific = np.sum(used * np.log(ratio), axis=0) / most if most else np.full(len(terms), USUAL)
    generic = verdict.of_words(terms)[0] - SPECIFIC * (specific - USUAL) > GENERIC
    judging = JUDGING.get(language or "", frozenset())
    names = np.array([term not in judging for term in terms], dtype=bool)
    return names & (specific >= LEAST_SPECIFIC) & ~generic


def _place_guess(texts: SentenceTexts) -> Vector:
    """(clauses,) first guess that each is a verdict, by the place of its sentence in its text."""
    ends = texts.sentence_ends
    sentence = np.cumsum(texts.joined == APART)
    firsts, lasts = sentence[np.minimum(ends[:-1], len(sentence) - 1)], sentence[ends[1:] - 1]
    many = (lasts - firsts + 1 >= LEAST_SENTENCES) & (np.diff(ends) > 0)
    guess = np.where(many[texts.documents], OTHER, SHORT)
    guess[many[texts.documents] & (sentence == firsts[texts.documents])] = FIRST
    guess[many[texts.documents] & (sentence == lasts[texts.documents])] = LAST
    return guess


@compile_loop
def best_themes(weights, texts, first, last, indptr, indices, names, n_themes):  # type: ignore[no-untyped-def]
    """Return the theme of the content terms of clauses of texts `first` to `last`, and what names it: (clauses, 2).

    The theme is -1 without terms in the sentence; 2 if a term of the clause names a theme, 1 if one of its sentence
    does.

    weights : (clauses, themes or more); indptr, indices : content terms of the clauses; names : (terms,) True if one
    names a theme.
    """
    start = texts.ends[first]
    best, total = np.zeros((len(indptr) - 1, 2), np.int64), np.empty(n_themes)
    begin = 0
    while begin < len(best):
        end, named, total[:] = begin, 0, 0.0
        while end < len(best) and (end == begin or texts.joined[start + end] > 0):
            for k in range(n_themes):
                total[k] += weights[end, k]
            for p in range(indptr[end], indptr[end + 1]):
                if names[indices[p]]:
                    best[end, 1], named = 2, 1
            end += 1
        for u in range(begin, end):
            best[u, 0], best[u, 1], most = -1, max(best[u, 1], named), 0.0
            for k in range(n_themes):
                value = weights[u, k] + NEARBY * (total[k] - weights[u, k])
                if value > most:
                    best[u, 0], most = k, value
        begin = end
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
            elif score > (NAMED if named == 2 else 0.0) or (named < 2 and most > CLEAR):
                place = n_themes
            elif named > 0:
                place = theme
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
