"""Verdicts: clauses that judge the whole ("never again", "best stay ever"), told apart from clauses on a theme.

People open a text with a verdict, or end it with one. So the words of verdicts are learnt as those of a naive Bayes
classifier whose first guess of each clause is by its place in its text, by whether it judges at all, and by words that
verdicts have in general ("recommend", "again", "stars"), where the language has a list of them:

    score_u = bias + sum over words of log p(word | verdict) / p(word | other)

fitted twice; a listed word counts as if it had been seen in `SEEN` more clauses. Other clauses count by how much they
judge: words of praise and complaints would be those of verdicts, if compared with clauses that do not judge.

`training.places` says which clauses are verdicts by these scores.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.stored_values import rule
from textsignal.text.scanning import APART
from textsignal.text.tokens import SentenceTexts

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
#: Fewest clauses with a word whose score is kept.
LEAST_OFTEN = 3
#: Fewest clauses with a word, and its judgement in log-odds, for it to judge by itself.
OFTEN, STRONG = 10, 0.7


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
