"""Judgement: how far the words of a clause praise or complain, wherever the clause stands.

Tone is learnt from whole texts, so that it also tells apart the texts of different people: in bad reviews guests
"called the front desk", which is no complaint. A clause is therefore judged by effects of its features that are learnt
from clauses. Nobody has labelled them; three witnesses do, as log-odds of praise against complaint:

    witness_u = TONE * tone of its words + LEXICON * what they are worth in general
    teacher_u = witness_u + NEIGHBOUR * (that of the clauses before and after it) + RESPONSE * (y_i - mean) / sd

and a logistic GLM of the clause's features learns to agree with them, by the steps of `tone`. Features of clauses
without a judgement get none from it, and words that the lexicon lacks get theirs from the clauses that they stand in.

    J_u = sum over occurrences in u of size_f e_f / root of the sum of size_f^2

What a clause says also depends on its text (`in_text`). It shares the judgement of other clauses of its sentence, and
part of the mood of the other sentences. Words that the lexicon knows, and negations, judge more surely than words that
were learnt here; and a long text tells what went wrong as a story, most clauses of which are no complaints:

    judgement_u = (J_u + neighbours_u + MOOD * mood_u) / (known_u (1 + STORY (1 - 1 / number of sentences)))

Each fit of tone that excludes a part of the texts teaches a fit of judgement that excludes the same part, so that the
judgement of a training clause has not seen the response of its text.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.compiling import compiling
from textsignal.compute.engines import Compute
from textsignal.families.binomial import Proportion
from textsignal.stored_values import rule
from textsignal.text.features import Occurrences
from textsignal.text.scanning import APART, CONTRASTED
from textsignal.text.tokens import SentenceTexts
from textsignal.training.draws import document_keys
from textsignal.training.tone import TONE_FOLDS, Tone, ToneBlock, tone_effects

compile_loop = compiling()

#: Log-odds per unit of each witness. Chosen on labelled hotel sentences, with models of three other sets of hotel
#: reviews for a check; results hardly change between half and twice of each.
TONE, LEXICON, RESPONSE, NEIGHBOUR = 0.25, 0.6, 0.4, 0.3
#: Largest standardised response of a teacher, and largest log-odds by a neighbour's words.
FAR, LOUD = 2.5, 2.0
#: Effects are shrunk by this much: people who tell a story use words of other kinds, but do not judge by each of them.
LEAST = 0.1
#: Half the width of the neutral zone, in root mean squares of the judgement of clauses.
NEUTRAL = 0.69
#: Part of the zone that a clause must leave by its own words: "when I called" is no complaint, whatever follows it.
OWN = 0.7
#: Part of the zone that suffices for a clause with a negation or a word that is bad in general, and with a word that is
#: good in general, which people use more lightly.
BAD_KNOWN, GOOD_KNOWN = 0.55, 0.7
#: Part of the mean judgement of other sentences that a clause shares.
MOOD = 0.5
#: What a complaint takes more in a text of many sentences; and the least tone of a complaint, in root mean squares of
#: the tone of clauses. Both for either side if the lexicon does not tell which is bad. Of 480 clauses of hotel and
#: restaurant reviews that a language model labelled in their texts, .86 of complaints are negative, at a recall of .31;
#: without these two .68, at .51; without the first .81, at .37.
STORY, LEAST_TONE = 0.75, 0.5
#: Part of the judgement of the others in its sentence that a clause shares, part of that of clauses that stand in
#: contrast, and the most of it, in root mean squares.
SHARED, OPPOSED, NEAR = 0.8, 0.3, 1.25
#: A short text whose judgement is this many root mean squares tells half as much as one that judges at length; this
#: many words tell as much as one clause of a typical judgement.
TELLING, LONG = 0.7, 20
#: Clauses that judgement is learnt from, at most.
MOST_CLAUSES = 80_000
#: Clauses whose slopes are taken together: about as many words as those of `tone.BATCH` texts.
BATCH = 400
#: The largest judgement in a stored model, and the smallest spread above 0: fourth powers of both are numbers.
MOST_JUDGEMENT, LEAST_SPREAD = 1e15, 1e-15


@dataclass(frozen=True)
class Zone:
    """Range of judgements, in log-odds of praise against complaint, of neutral mentions."""

    low: float = field(metadata=rule(most=0))
    high: float = field(metadata=rule(least=0))

    @classmethod
    def of(cls, half: float) -> Zone:
        """Return the zone around 0 of this half width."""
        return cls(-half, half)

    def kinds(self, judgement: Vector, own: Vector, tone: Vector, least: tuple[float, float]) -> NDArray[np.int8]:
        """Return (clauses,) 1 for clauses that raise the response, -1 for those that lower it, 0 for neutral ones.

        The judgement of a clause must be outside the zone, that by its own words alone outside the part `OWN` of the
        zone, and its tone on the same side of 0, at least as far from it as `least` has it for each side.
        """
        raises = (judgement > self.high) & (own > OWN * self.high) & (tone > least[1])
        lowers = (judgement < self.low) & (own < OWN * self.low) & (tone < -least[0])
        return raises.astype(np.int8) - lowers


def is_spread(value: float) -> bool:
    """True if the spread of judgements is 0, or large enough to divide by its fourth power."""
    return value == 0 or value >= LEAST_SPREAD


#: Words of a clause that are known in general, one bit each: to lower the response, and to raise it.
LOWERS, RAISES = np.uint8(1), np.uint8(2)


@dataclass(frozen=True, eq=False)
class Sides:
    """Requirements for clauses that lower the response, and for those that raise it.

    flags : (features,) `LOWERS` and `RAISES` of those that judge in general; parts : of the zone that suffice for a
    clause with one; story : what it takes more in long texts; least : tone, in root mean squares over clauses.
    """

    flags: NDArray[np.uint8]
    parts: tuple[float, float]
    story: tuple[float, float]
    least: tuple[float, float]

    @classmethod
    def of(cls, slope: float, general: Vector, is_negated: NDArray[np.bool_]) -> Sides:
        """Return sides by the lexicon; both alike if it has nothing to do with the response, and its slope is 0.

        general : (features,) values in the lexicon; is_negated : (features,) True for negated words and phrases.
        """
        if slope == 0:
            return cls(np.zeros(len(general), np.uint8), (1.0, 1.0), (STORY, STORY), (LEAST_TONE, LEAST_TONE))
        bad, good = ((general < 0) | is_negated, BAD_KNOWN, STORY, LEAST_TONE), (general > 0, GOOD_KNOWN, 0.0, 0.0)
        (lowers, *down), (raises, *up) = (bad, good) if slope > 0 else (good, bad)
        return cls((lowers * LOWERS + raises * RAISES).astype(np.uint8), *zip(down, up, strict=True))


@compile_loop
def flags_of_clauses(clauses, features, flags, n_clauses):  # type: ignore[no-untyped-def]
    """(clauses,) flags of the features in each; clauses, features : (occurrences,)."""
    found = np.zeros(n_clauses, np.uint8)
    for place in range(len(clauses)):
        found[clauses[place]] |= flags[features[place]]
    return found


@compile_loop
def in_text(judgement, joined, ends, flags, parts, story, most):  # type: ignore[no-untyped-def]
    """(2, clauses) judgement of clauses in their text, and by their own words alone, both over what it takes.

    joined : (clauses,) as in `SentenceTexts`; ends : (texts + 1,) where each begins; flags : (clauses,) of words that
    are known; parts, story : of `Sides`; most : largest judgement that counts for others.
    """
    shared, taken = with_neighbours(judgement, joined, most), np.empty((2, len(judgement)))
    for document in range(len(ends) - 1):
        first, last, n_sentences, total = ends[document], ends[document + 1], 0, 0.0
        for u in range(first, last):
            n_sentences += u == first or joined[u] == APART
            total += judgement[u]
        begin = first
        while begin < last:
            end, own = begin, 0.0
            while end < last and (end == begin or joined[end] != APART):
                own += judgement[end]
                end += 1
            others = last - first - (end - begin)
            mood = min(max((total - own) / others, -most), most) if others > 0 else 0.0
            for u in range(begin, end):
                value = shared[u] + MOOD * mood
                side = 0 if value < 0 else 1
                takes = 1 + story[side] * (1 - 1 / n_sentences)
                if flags[u] & (LOWERS if side == 0 else RAISES):
                    takes *= parts[side]
                taken[0, u], taken[1, u] = value / takes, judgement[u] / takes
            begin = end
    return taken


@compile_loop
def with_neighbours(judgement, joined, most):  # type: ignore[no-untyped-def]
    """(clauses,) judgement of each, with part of that of the others in its sentence, less of those in contrast to it.

    People join clauses of one opinion: "friendly and quick to help".

    joined : (clauses,) as in `SentenceTexts`; most : largest judgement that counts for others.
    """
    shared, first = judgement.copy(), 0
    while first < len(judgement):
        last, total = first, 0.0
        while last < len(judgement) and (last == first or joined[last] != APART):
            total += min(max(judgement[last], -most), most)
            last += 1
        begin = first
        while begin < last:
            end, side = begin, 0.0
            while end < last and (end == begin or joined[end] != CONTRASTED):
                side += min(max(judgement[end], -most), most)
                end += 1
            for u in range(begin, end):
                own = min(max(judgement[u], -most), most)
                shared[u] += SHARED * (side - own) + OPPOSED * (total - side)
            begin = end
        first = last
    return shared


def evidence_of(squares: Vector, spread: float, n_words: NDArray[np.int64], known: NDArray[np.bool_]) -> Vector:
    """Return (texts,) how much each text tells, from 0 to 1: a text tells something if it judges, or is long.

    squares : (texts,) sum of squared judgements of its clauses; n_words : (texts,); known : (texts,) True if it has a
    feature: a text of unknown words tells nothing.
    """
    if not spread:
        return known.astype(float)
    amount: Vector = squares / spread**2 + n_words / LONG
    return np.where(known, amount**2 / (amount**2 + TELLING**4), 0.0)


@dataclass(frozen=True, eq=False)
class Judgement:
    """Effects (features,) on the judgement of clauses, and (TONE_FOLDS, features) of fits that each exclude a fold."""

    effects: Vector
    fold_effects: Vector


def fit_judgement(
    texts: SentenceTexts,
    occurrences: Occurrences,
    sizes: Vector,
    tone: Tone,
    general: Vector,
    response: Vector,
    weight: Vector,
    unit: float,
    compute: Compute,
) -> Judgement:
    """Learn the effects of features on the judgement of clauses.

    sizes, general : (features,) weight of each, and effects on the linear predictor by the lexicon.
    response : (texts,) in standard deviations from its mean; unit : a difference of the linear predictor that matters.
    """
    n_features, response = len(sizes), np.clip(response, -FAR, FAR)
    part = _some(texts, occurrences, weight > 0, n_features)
    documents, counts = part.documents, part.counts
    if not len(documents) or not response[documents].any():
        return Judgement(np.zeros(n_features), np.zeros((TONE_FOLDS, n_features)))
    none = np.zeros(len(documents), np.int64)

    def judged(effects: Vector) -> Vector:
        return part.occurrences.judgement_of_sentences(sizes, effects[None], none)

    in_general, adjacent = LEXICON / unit * judged(general), np.flatnonzero(documents[1:] == documents[:-1])

    def teacher(effects: Vector) -> Vector:
        witness = TONE / unit * judged(effects) + in_general
        heard, near = np.clip(witness, -LOUD, LOUD), np.zeros(len(witness))
        near[adjacent] += heard[adjacent + 1]
        near[adjacent + 1] += heard[adjacent]
        return np.asarray(witness + NEIGHBOUR * near + RESPONSE * response[documents])

    fits = np.column_stack([teacher(effects) for effects in (*tone.fold_effects, tone.effects)])
    lanes = compute.kernels.lanes(np.float64)
    width = -(-fits.shape[1] // lanes) * lanes
    fits = np.column_stack([fits, np.repeat(fits[:, -1:], width - fits.shape[1], axis=1)])
    block = ToneBlock(
        counts,
        sizes,
        document_keys(counts),
        1 / (1 + np.exp(-fits)),
        weight[documents],
        np.zeros(len(documents)),
        tone.folds[documents],
    )
    effects = tone_effects([block], Proportion(), compute, LEXICON / unit * general, BATCH)
    effects = np.sign(effects) * np.maximum(np.abs(effects) - LEAST, 0.0)
    return Judgement(effects[:, TONE_FOLDS].copy(), effects[:, :TONE_FOLDS].T.copy())


@dataclass(frozen=True, eq=False)
class _Clauses:
    """Clauses that have features: the text of each, their occurrences, and (clauses, features) counts."""

    documents: NDArray[np.int64]
    occurrences: Occurrences
    counts: sp.csr_array


def _some(texts: SentenceTexts, occurrences: Occurrences, known: NDArray[np.bool_], n_features: int) -> _Clauses:
    """At most about `MOST_CLAUSES` clauses of known texts: of all texts, or of some at equal distances."""
    n_clauses = np.diff(texts.sentence_ends) * known
    rows = np.flatnonzero(n_clauses)
    n_chosen = len(rows) * min(1.0, MOST_CLAUSES / max(int(n_clauses.sum()), 1))
    rows = rows[np.linspace(0, len(rows), round(n_chosen), endpoint=False).astype(int)]
    chosen = np.zeros(len(texts), dtype=bool)
    chosen[rows] = True
    kept = chosen[texts.documents[occurrences.sentences]]
    clauses, numbers = np.unique(occurrences.sentences[kept], return_inverse=True)
    part = Occurrences(
        occurrences.words[kept], numbers.astype(np.int32), occurrences.features[kept], occurrences.values[kept]
    )
    indptr = np.searchsorted(numbers, np.arange(len(clauses) + 1))
    cells = np.ones(len(numbers), np.uint16), part.features, indptr
    counts = sp.csr_array(cells, shape=(len(clauses), n_features))
    counts.sum_duplicates()
    return _Clauses(texts.documents[clauses], part, counts)
