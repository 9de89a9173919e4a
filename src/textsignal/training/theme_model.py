"""Models of themes and tone: their training, and their reading of texts.

Level 1 is the text: themes of sentences, tone of words. Level 2 is a GLM of the response on themes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.counting import theme_sums, word_sums
from textsignal.compute.engines import Compute, Engine
from textsignal.compute.hashing import Keys
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.families.auto import Candidates
from textsignal.stored_values import rule
from textsignal.text import prediction
from textsignal.text.clauses import refers_back
from textsignal.text.features import (
    PHRASE_SIZE,
    WORD,
    Features,
    Known,
    Occurrences,
    TextCounts,
    content_terms,
    count_codes,
    count_texts,
    learn_features,
    polarity_of,
)
from textsignal.text.scanning import APART
from textsignal.text.tokenise import INTENSIFIERS, VERDICTS, function_words_of, is_language_name
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import (
    Choice,
    ThemeEffects,
    ToneByTheme,
    choose_family,
    fit_theme_effects,
    n_columns,
    residuals,
    trusted_effect,
    weigh,
)
from textsignal.training.glm import fit_alone
from textsignal.training.judgement import (
    MOST_JUDGEMENT,
    NEAR,
    NEUTRAL,
    Sides,
    Zone,
    evidence_of,
    fit_judgement,
    flags_of_clauses,
    in_text,
    is_spread,
)
from textsignal.training.places import Votes, best_themes, kinds_of, names_themes, place_clauses
from textsignal.training.themes import MOST_SHARE, Themes, ThemeText, word_vectors
from textsignal.training.tone import Tone, fit_tone
from textsignal.training.verdict import Verdict, learn_verdict

#: Minimum number of texts with a feature, or with a content term; only one if there are at most FEW_TEXTS texts.
LEAST_FEATURE, LEAST_TERM, FEW_TEXTS = 2, 3, 50
#: What a unit of the lexicon is worth given the other words, as a share of what it is worth alone. Of .25, .5, .7 and
#: 1, .5 and .7 predicted best on reviews of hotels, fast food and clothing, and on 500 and 1,000 of each.
GIVEN_WORDS = 0.6
#: Texts that a thread reads for prediction at once: their numbers stay in its cache.
BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Clauses:
    """Clauses of texts as a model reads them; places K and K + 1 are the overall verdict, and unplaced.

    ends : (texts + 1,) where each text's clauses begin; places : (clauses,) theme of each; words : number of words.
    tone : (clauses,) contribution to the linear predictor at face value; kinds : 1 if it raises the response, -1 if it
        lowers it, 0 if neutral; judgement : log-odds of praise against complaint. All are out of fold for texts of
        training, so independent of their response.
    evidence : (texts,) how much each text tells, from 0 to 1.
    """

    ends: NDArray[np.int64] = field(metadata=rule(shape=(lambda sizes: sizes["documents"] + 1,), ends="clauses"))
    places: NDArray[np.int16] = field(metadata=rule(shape=("clauses",), least=0, below=n_columns))
    words: NDArray[np.int32] = field(metadata=rule(shape=("clauses",), least=0))
    tone: Vector = field(metadata=rule(shape=("clauses",)))
    kinds: NDArray[np.int8] = field(metadata=rule(shape=("clauses",), least=-1, most=1))
    judgement: Vector = field(metadata=rule(shape=("clauses",)))
    evidence: Vector = field(metadata=rule(shape=("documents",), least=0, most=1))

    @property
    def documents(self) -> NDArray[np.int64]:
        """(clauses,) the text of each."""
        return np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))

    def by_theme(self, values: Any, n_places: int) -> Vector:
        """(texts, places) sums of values (clauses,) over the clauses of each text in each place."""
        sums = np.zeros((len(self.ends) - 1, n_places))
        theme_sums(self.documents, self.places, np.asarray(values, dtype=float), sums)
        return sums

    def shares(self, n_places: int) -> Vector:
        """(texts, places) share of the words of each text; a text without words is unplaced."""
        shares = self.by_theme(self.words, n_places)
        total = shares.sum(axis=1, keepdims=True)
        shares = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
        shares[total[:, 0] == 0, -1] = 1.0
        return shares

    def of_texts(self, n_places: int) -> TextsByTheme:
        """Sum up each text."""
        return TextsByTheme(
            tone=self.by_theme(self.tone, n_places),
            raising=self.by_theme(np.where(self.kinds > 0, self.tone, 0.0), n_places),
            lowering=self.by_theme(np.where(self.kinds < 0, self.tone, 0.0), n_places),
            shares=self.shares(n_places),
            evidence=self.evidence,
            mentions=self.by_theme(np.ones(len(self.places)), n_places) > 0,
            raises=self.by_theme(self.kinds > 0, n_places) > 0,
            lowers=self.by_theme(self.kinds < 0, n_places) > 0,
        )

    def then(self, other: Clauses) -> Clauses:
        """Concatenate with the clauses of further texts."""
        names = ("places", "words", "tone", "kinds", "judgement", "evidence")
        joined = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return Clauses(np.concatenate([self.ends, self.ends[-1] + other.ends[1:]]), **joined)


@dataclass(frozen=True, eq=False)
class TextsByTheme(ToneByTheme):
    """Clauses of texts summed by place.

    raising, lowering : (texts, places) tone of the clauses that raise and lower the response.
    mentions, raises, lowers : (texts, places) True if the text has a clause there, and one that raises or lowers the
        response.
    """

    raising: Vector
    lowering: Vector
    mentions: NDArray[np.bool_]
    raises: NDArray[np.bool_]
    lowers: NDArray[np.bool_]

    def at(self, rows: NDArray[np.int64]) -> TextsByTheme:
        """Return some of the texts."""
        return TextsByTheme(*(getattr(self, column.name)[rows] for column in fields(self)))


@dataclass(frozen=True, eq=False)
class ThemeTraining:
    """Texts stored with a model: those that level 2 was fitted to, and others added later.

    keys : by which a text is recognised; later : True if added after the fit.
    responses : on the user's scale, NaN if missing.
    given : what covariates and offset add to the linear predictor; None if absent.
    """

    keys: Keys = field(metadata=rule(shape=("documents",)))
    clauses: Clauses
    responses: Vector = field(metadata=rule(shape=("documents",), missing=True))
    weight: Vector = field(metadata=rule(shape=("documents",), least=0, filled=True))
    later: NDArray[np.bool_] = field(metadata=rule(shape=("documents",)))
    given: Vector | None = field(default=None, metadata=rule(shape=("documents",)))

    @classmethod
    def of(
        cls, reading: ThemeReading, unseen: Clauses, responses: Vector, weight: Vector, given: Vector | None = None
    ) -> ThemeTraining:
        """Texts of training; unseen : clauses by tone that has not seen the responses."""
        texts = reading.texts
        return cls(texts.keys, unseen, responses, weight, np.zeros(len(texts), dtype=bool), given)

    def unseen(self, reading: ThemeReading) -> Clauses:
        """Return clauses by tone that has not seen the texts' responses: out of fold for texts of training."""
        own, seen = self.clauses, reading.clauses
        tone, kinds, judgement = seen.tone.copy(), seen.kinds.copy(), seen.judgement.copy()
        evidence = seen.evidence.copy()
        row_of = {key: row for row, key in enumerate(self.keys.tolist())}
        ends = seen.ends
        for text, key in enumerate(reading.texts.keys.tolist()):
            row = row_of.get(key)
            if row is not None and ends[text + 1] - ends[text] == own.ends[row + 1] - own.ends[row]:
                here, there = slice(ends[text], ends[text + 1]), slice(own.ends[row], own.ends[row + 1])
                tone[here], kinds[here], judgement[here] = own.tone[there], own.kinds[there], own.judgement[there]
                evidence[text] = own.evidence[row]
        return replace(seen, tone=tone, kinds=kinds, judgement=judgement, evidence=evidence)


@dataclass(frozen=True, eq=False)
class WordEffects:
    """Effects of features on clauses.

    tone : (features,) on the linear predictor of a text, by the feature's share of it.
    judgement : (features,) on the judgement of a clause; judged : what a unit of judgement adds to the linear predictor
        if the clause is the whole text. spread : root mean square of the judgement of clauses; zone : judgements of
        neutral mentions; typical : root mean square of the tone of clauses.
    slope : what a unit of the lexicon is worth in tone, 0 if it does not help; general : (features,) what each is worth
        by the lexicon.
    """

    tone: Vector = field(metadata=rule(shape=("features",)))
    judgement: Vector = field(metadata=rule(shape=("features",), least=-MOST_JUDGEMENT, most=MOST_JUDGEMENT))
    judged: float = field(metadata=rule(least=0))
    spread: float = field(metadata=rule(least=0, most=MOST_JUDGEMENT, accepts=is_spread))
    zone: Zone
    typical: float = field(metadata=rule(least=0))
    slope: float
    general: Vector = field(metadata=rule(shape=("features",)))

    def sides(self, features: Features) -> Sides:
        """Return requirements for clauses that lower the response, and for those that raise it."""
        return Sides.of(self.slope, self.general, features.is_negated)

    def values(self, found: Occurrences, texts: SentenceTexts, evidence: Vector, sizes: Vector) -> Vector:
        """(occurrences,) what each adds to the tone of its clause; evidence : (texts,); sizes : (features,)."""
        squares = np.bincount(found.sentences, sizes[found.features] ** 2, len(texts.documents))
        scale = sizes[found.features] / np.sqrt(squares[found.sentences])
        rows = texts.documents[found.sentences]
        judgement = self.judgement[found.features] * scale / np.diff(texts.sentence_ends)[rows]
        added = found.values * self.tone[found.features] + self.judged * judgement
        return np.asarray(evidence[rows] * added, dtype=float)


@dataclass(frozen=True, eq=False)
class FittedThemes:
    """A fitted model of themes and tone.

    terms : content terms, the columns of the themes; words : effects of the features; effects : level 2.
    verdict : words of overall verdicts; overall : (terms,) shares of content terms in these.
    prevalence : share of all text in each place.
    chosen, why : reasons for the family and for the number of themes, for display; "" if the user set it.
    basis : a sentence on the texts that each part was learnt from; "" if all was learnt from those of `training`.
    """

    family: Family = field(metadata=rule(shape=(1,), learnt=True))
    chosen: str
    language: str | None = field(metadata=rule(accepts=is_language_name))
    terms: Sequence[str] = field(metadata=rule(shape=("terms",), distinct=True))
    features: Features
    words: WordEffects
    themes: Themes
    verdict: Verdict
    overall: Vector = field(metadata=rule(shape=("terms",), least=0, most=MOST_SHARE, filled=True))
    prevalence: Vector = field(metadata=rule(shape=(n_columns,), least=0, most=MOST_SHARE, filled=True))
    effects: ThemeEffects
    training: ThemeTraining
    why: str = ""
    basis: str = ""

    def check(self) -> None:
        """Raise ValueError if responses are not of the family or shares do not add up: a file may be damaged."""
        self.family.encode(self.training.responses)
        shares = {"topics": self.topics, "themes.prevalence": self.themes.prevalence, "prevalence": self.prevalence}
        for name, values in shares.items():
            if np.any(np.abs(values.sum(axis=-1) - 1) > MOST_SHARE - 1):
                raise ValueError(f"{name} has shares that do not add up to 1")

    @property
    def n_themes(self) -> int:
        """Number of themes, without the overall verdict."""
        return len(self.themes.topics)

    @property
    def n_places(self) -> int:
        """Number of places of a clause: the themes, the overall verdict, and unplaced."""
        return self.n_themes + 2

    @property
    def topics(self) -> Vector:
        """(themes + 1, terms) shares of weighted terms; those of overall verdicts last."""
        return np.vstack([self.themes.topics, self.overall])

    @property
    def term_tone(self) -> Vector:
        """(terms,) tone of the content terms."""
        return tone_of_terms(self.terms, self.features, self.words.tone)


def tone_of_terms(terms: Sequence[str], features: Features, tone: Vector) -> Vector:
    """(terms,) tone of the feature that equals each term, 0 if there is none; tone : (features,)."""
    number = {features.names[j]: j for j in np.flatnonzero(features.kinds == WORD).tolist()}
    return np.array([tone[number[term]] if term in number else 0.0 for term in terms])


@dataclass(frozen=True, eq=False)
class ThemeReading:
    """Reading of texts by a model. Words add up to clauses, clauses to themes, themes to the linear predictor.

    occurrences : features in the texts; words : their effects, of those of all texts.
    clauses : by these effects.
    tone, shares : (texts, places) tone about each theme, and share of the text.
    units : (clauses, terms) counts of content terms.
    """

    texts: SentenceTexts
    occurrences: Occurrences
    words: WordEffects
    clauses: Clauses
    tone: Vector
    shares: Vector
    units: sp.csr_array = field(repr=False)

    @property
    def by_theme(self) -> ToneByTheme:
        """Tone and shares of each text."""
        return ToneByTheme(self.tone, self.shares, self.clauses.evidence)

    @property
    def has_terms(self) -> NDArray[np.bool_]:
        """(clauses,) True if it has a content term."""
        return np.diff(self.units.indptr) > 0

    def word_tone(self, features: Features) -> Vector:
        """(all words,) what each adds to the tone of its clause; half of a phrase belongs to its first word."""
        found, n_words = self.occurrences, len(self.texts.codes)
        values = self.words.values(found, self.texts, self.clauses.evidence, features.sizes)
        return np.asarray(word_sums(found.words, found.features, values, features.is_phrase, n_words))


def knowing(
    model: FittedThemes, reading: ThemeReading, responses: Vector, weight: Vector, given: Vector
) -> FittedThemes:
    """Store these texts with the model, in this order; given : (texts,) what covariates and offset add."""
    unseen = model.training.unseen(reading)
    known = ThemeTraining.of(reading, unseen, responses, weight, given if given.any() else None)
    later = ~np.isin(known.keys, model.training.keys[~model.training.later])
    return replace(model, training=replace(known, later=later))


@dataclass(frozen=True, eq=False)
class PartlyRead:
    """Reading of texts before tone is known; counts : (texts, features)."""

    texts: SentenceTexts
    features: Features
    occurrences: Occurrences
    counts: sp.csr_array

    @property
    def one_fit(self) -> NDArray[np.int64]:
        """(clauses,) fit 0 for each."""
        return np.zeros(len(self.texts.documents), np.int64)

    def judgement(self, effects: Vector, fits: NDArray[np.int64]) -> Vector:
        """(clauses,) judgement by effects (fits, features), as if each clause were alone."""
        return self.occurrences.judgement_of_sentences(self.features.sizes, effects, fits)

    def with_judged(self, tone: Vector, judged: float, judgement: Vector) -> Vector:
        """(clauses,) tone, and what their judgement adds to it."""
        return tone + judged * judgement / np.diff(self.texts.sentence_ends)[self.texts.documents]

    def clauses(self, places: NDArray[np.int16], words: WordEffects) -> Clauses:
        """Return clauses in their places."""
        tone = self.occurrences.tone_of_sentences(words.tone[None], self.one_fit)
        judgement = self.judgement(words.judgement[None], self.one_fit)
        return self._clauses(places, words, tone, judgement)

    def unseen(self, places: NDArray[np.int16], of: LearntWords) -> Clauses:
        """Return clauses by fits that have not seen the responses; neutral and 0 in texts of fold -1."""
        fits = of.folds[self.texts.documents]
        tone = self.occurrences.tone_of_sentences(of.fold_tone, fits)
        judgement = self.judgement(of.fold_judgement, fits)
        return self._clauses(places, of.words, tone, judgement)

    def evidence(self, judgement: Vector, spread: float) -> Vector:
        """(texts,) how much each text tells; judgement : (clauses,)."""
        squares = np.bincount(self.texts.documents, judgement**2, len(self.texts)).astype(float)
        known = np.zeros(len(self.texts), dtype=bool)
        known[self.texts.documents[self.occurrences.sentences]] = True
        return evidence_of(squares, spread, self.texts.n_words, known)

    def _clauses(self, places: NDArray[np.int16], words: WordEffects, tone: Vector, judgement: Vector) -> Clauses:
        texts, evidence = self.texts, self.evidence(judgement, words.spread)
        tone = self.with_judged(tone, words.judged, judgement)
        sides, found = words.sides(self.features), self.occurrences
        flags = flags_of_clauses(found.sentences, found.features, sides.flags, len(judgement))
        takes = sides.parts, sides.story, NEAR * words.spread
        of_text, own = in_text(judgement, texts.joined, texts.sentence_ends, flags, *takes)
        least = (words.typical * sides.least[0], words.typical * sides.least[1])
        kinds, n_words = words.zone.kinds(of_text, own, tone, least), np.diff(texts.indptr).astype(np.int32)
        tone = evidence[texts.documents] * tone
        return Clauses(texts.sentence_ends, places, n_words, tone, kinds, of_text, evidence)


def read_features(texts: SentenceTexts, features: Features, engine: Engine) -> PartlyRead:
    """Find features and weigh them."""
    return PartlyRead(texts, features, *features.read(texts, engine))


def count_units(texts: SentenceTexts, terms: Sequence[str], engine: Engine) -> sp.csr_array:
    """(sentences, terms) counts of content terms."""
    number = {term: j for j, term in enumerate(terms)}
    column = np.array([number.get(word, -1) for word in texts.words], dtype=np.int32)
    return sp.csr_array(count_codes(texts.codes, texts.indptr, column, len(terms), engine.n_threads), dtype=float)


def by_document(values: Vector | sp.csr_array, texts: SentenceTexts) -> Any:
    """Sum values (sentences, columns) over the sentences of each text."""
    n = len(texts.documents)
    return sp.csr_array((np.ones(n), np.arange(n), texts.sentence_ends), shape=(len(texts), n)) @ values


def by_sentence(units: sp.csr_array, texts: SentenceTexts) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return counts (sentences, terms), which themes are learnt from, and (sentences,) the text of each."""
    first = np.flatnonzero(texts.joined == APART)
    n, starts = len(texts.documents), np.append(first, len(texts.documents))
    return sp.csr_array((np.ones(n), np.arange(n), starts), shape=(len(first), n)) @ units, texts.documents[first]


def read_together(models: Sequence[FittedThemes], texts: SentenceTexts, compute: Compute) -> list[ThemeReading]:
    """Read texts with models that share features, terms and themes."""
    first = models[0]
    read, units = read_features(texts, first.features, compute.engine), count_units(texts, first.terms, compute.engine)
    places = places_of(texts, units, first.terms, first.themes, first.verdict, first.language)
    return readings_of(read, units, places, [model.words for model in models], len(first.topics))


def places_of(
    texts: SentenceTexts,
    units: sp.csr_array,
    terms: Sequence[str],
    themes: Themes,
    verdict: Verdict,
    language: str | None,
) -> NDArray[np.int16]:
    """(clauses,) the theme of each; units : (clauses, terms) counts."""
    votes, n_themes = votes_of(terms, themes, verdict, language), len(themes.topics)
    every = (texts.between(0, len(texts)), 0, len(texts))
    best = best_themes(votes.of_terms, votes.typical, votes.names, *every, units.indptr, units.indices, units.data)
    scores, judges = verdict.of_words(texts.words)
    kinds, places = kinds_of(judges, refers_back(texts.words, language)), np.empty(len(texts.documents), np.int16)
    place_clauses(*every, scores, kinds, verdict.bias, best, n_themes, places)
    return places


def votes_of(terms: Sequence[str], themes: Themes, verdict: Verdict, language: str | None) -> Votes:
    """Return the votes of terms for themes."""
    profiles, prevalence = themes.profiles, themes.prevalence
    return Votes.of(profiles, prevalence, names_themes(verdict, terms, profiles, prevalence, language))


def readings_of(
    read: PartlyRead, units: sp.csr_array, places: NDArray[np.int16], effects: Sequence[WordEffects], n_rows: int
) -> list[ThemeReading]:
    """Return a reading of texts for each effects of words; n_rows : themes, with the overall verdict."""

    def reading(words: WordEffects) -> ThemeReading:
        clauses = read.clauses(places, words)
        n_places = n_rows + 1
        tone, shares = clauses.by_theme(clauses.tone, n_places), clauses.shares(n_places)
        return ThemeReading(read.texts, read.occurrences, words, clauses, tone, shares, units)

    return [reading(words) for words in effects]


@dataclass(frozen=True, eq=False)
class ToneAndShares:
    """Reading for prediction: what texts say, for each of several responses; unknown : (texts,) nothing is known."""

    by_theme: Sequence[ToneByTheme]
    unknown: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ThemePredictor:
    """Reads only what prediction needs: the numbers of a `ThemeReading` in a fraction of time and memory.

    numbers : of all words that matter; known : the features.
    words : (words + 1, 4) what each word is, as `text.prediction` has it; the last row is of all other words.
    scores, kinds : (words + 1,) of words of verdicts, as `place_clauses` takes them.
    """

    votes: Votes
    known: Known
    numbers: dict[str, int]
    words: NDArray[np.int32]
    scores: Vector
    kinds: NDArray[np.uint8]
    bias: float

    @classmethod
    def of(cls, model: FittedThemes) -> ThemePredictor:
        """Number the words of the model's features, content terms and verdicts."""
        known, verdict = model.features.known, model.verdict
        kinds = (known.words, known.negated, known.parts, {word: j for j, word in enumerate(model.terms)})
        every = dict.fromkeys(word for each in (*kinds, verdict.words) for word in each)
        words = {word: number for number, word in enumerate(every)}
        columns = np.full((len(words) + 1, len(kinds)), -1, dtype=np.int32)
        for column, each in enumerate(kinds):
            columns[[words[word] for word in each], column] = list(each.values())
        listed = [*words, ""]
        scores, judges = verdict.of_words(listed)
        flags = kinds_of(judges, refers_back(listed, model.language))
        votes = votes_of(model.terms, model.themes, verdict, model.language)
        return cls(votes, known, words, columns, scores, flags, verdict.bias)

    def read(self, texts: SentenceTexts, effects: Sequence[WordEffects], compute: Compute) -> ToneAndShares:
        """Read texts, in blocks of them."""
        clauses, votes = texts.between(0, len(texts)), (self.votes.of_terms, self.votes.typical, self.votes.names)
        rows_of = np.fromiter((self.numbers.get(word, -1) for word in texts.words), np.int64, len(texts.words))
        words, scores, kinds = self.words[rows_of], self.scores[rows_of], self.kinds[rows_of]
        phrases, n_themes = (len(self.known.parts), self.known.phrases), votes[0].shape[1]
        of_tone, of_judgement = (
            np.stack([getattr(each, name) for each in effects], axis=1) for name in ("tone", "judgement")
        )
        judged = np.array([each.judged for each in effects])
        tone = np.zeros((len(effects), len(texts), n_themes + 2))
        shares = np.zeros(tone.shape[1:])
        squares, evidence, n_words = np.zeros((len(texts), len(effects))), np.empty(tone.shape[:2]), texts.n_words
        clause_tone, places = np.empty((len(texts.documents), len(effects))), np.empty(len(texts.documents), np.int16)
        has_feature, has_term = np.zeros((2, len(texts)), dtype=bool)

        def read_block(first: int) -> None:
            block = (clauses, first, min(first + BLOCK, len(texts)))
            outputs = (clause_tone, squares, has_feature)
            prediction.read_tone(*block, words, *phrases, of_tone, of_judgement, judged, PHRASE_SIZE, *outputs)
            best = best_themes(*votes, *block, *prediction.read_terms(*block, words, has_term))
            place_clauses(*block, scores, kinds, self.bias, best, n_themes, places)
            here = slice(*block[1:])
            for t, each in enumerate(effects):
                evidence[t, here] = evidence_of(squares[here, t], each.spread, n_words[here], has_feature[here])
            prediction.gather(*block, places, clause_tone, evidence, tone, shares)

        compute.engine.map(read_block, range(0, len(texts), BLOCK))
        by_theme = [ToneByTheme(tone[t], shares, evidence[t]) for t in range(len(effects))]
        return ToneAndShares(by_theme, ~(has_feature | has_term))


@dataclass(frozen=True, eq=False)
class Response:
    """A response to explain: its values (texts,), NaN if missing, and families of which the best is taken.

    given : covariates and offset, whose part of the linear predictor tone does not learn; None if absent.
    """

    values: Vector
    candidates: Candidates
    given: Given | None = None

    @property
    def simplest(self) -> Family:
        """The first of the candidates; all encode alike."""
        return self.candidates.families[0]


@dataclass(frozen=True, eq=False)
class LearntWords:
    """Effects of words on one response, and of fits that each exclude a part of the texts.

    folds : (texts,) the fit that excludes each; fold_tone, fold_judgement : (fits, features) effects of those.
    """

    words: WordEffects
    folds: NDArray[np.int64]
    fold_tone: Vector
    fold_judgement: Vector


@dataclass(frozen=True, eq=False)
class Explained:
    """A response, its family, and the effects of words on it."""

    response: Response
    choice: Choice
    learnt: LearntWords


@dataclass(frozen=True, eq=False)
class Prepared:
    """Results of training that do not depend on the number of themes.

    units : (clauses, terms) counts; vectors : of terms; verdict : words of overall verdicts.
    """

    read: PartlyRead
    dictionary: Dictionary
    units: sp.csr_array
    vectors: Vector
    weight: Vector
    responses: Sequence[Explained]
    verdict: Verdict

    @property
    def term_tones(self) -> Vector:
        """(responses, terms) effects of the content terms."""
        terms, features = self.dictionary.terms, self.dictionary.features
        return np.array([tone_of_terms(terms, features, each.learnt.words.tone) for each in self.responses])


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Features for tone, and content terms for themes, without general words and negations of the language.

    general : (features,) what each is worth in general, by the lexicon.
    neutral : half the width of the zone of neutral mentions, in log-odds; None to derive it.
    """

    features: Features
    terms: Sequence[str]
    language: str | None
    general: Vector
    neutral: float | None


def learn_dictionary(
    words: Sequence[str],
    counts: TextCounts,
    n_documents: int,
    *,
    language: str | None,
    stop_words: frozenset[str],
    max_terms: int,
    lexicon: Mapping[str, float],
    neutral: float | None,
) -> Dictionary:
    """Choose features and content terms; stop_words : excluded from content terms; lexicon : values of words."""
    feature, term = (LEAST_FEATURE, LEAST_TERM) if n_documents > FEW_TEXTS else (1, 1)
    function_words, strong = function_words_of(language) - lexicon.keys(), INTENSIFIERS.get(language or "", frozenset())
    options: Any = {"function_words": function_words, "intensifiers": strong, "lexicon": lexicon}
    features = learn_features(words, counts, feature, phrases=True, **options)
    terms = content_terms(words, counts, language, stop_words, max_terms, term)
    if not terms:
        raise InputError("no content term is left: the texts are empty, or hold nothing but function words")
    return Dictionary(features, terms, language, polarity_of(features, lexicon, strong), neutral)


@dataclass(frozen=True, eq=False)
class LearntTone:
    """Tone of a response.

    family : that words are learnt with; offset : (texts,) linear predictor of covariates and offset alone, None if
    absent; slope : what a unit of the lexicon is worth in tone.
    """

    tone: Tone
    family: Family
    offset: Vector | None
    slope: float


def prepare_themes(
    texts: SentenceTexts, responses: Sequence[Response], weight: Vector, *, compute: Compute, **options: Any
) -> Prepared:
    """Learn features, content terms and their vectors, and for each response tone and family."""
    dictionary = learn_dictionary(texts.words, count_texts(texts, compute.engine), len(texts), **options)
    read = read_features(texts, dictionary.features, compute.engine)

    def learn(response: Response) -> LearntTone:
        y, words, offset = response.simplest.encode(response.values), response.simplest.of_words, None
        if response.given is not None:
            offset, words = fit_alone(response.given, y, weight, words, compute)
        slope = lexicon_slope(read, dictionary, y, weight, words, compute, offset)
        start = slope * dictionary.general
        tone = fit_tone(read.counts, read.features.sizes, y, weight, words, compute, offset, start)
        return LearntTone(tone, words, offset, slope)

    return prepare_read(read, dictionary, responses, learn, weight, compute)


def lexicon_slope(
    read: PartlyRead,
    dictionary: Dictionary,
    y: Vector,
    weight: Vector,
    family: Family,
    compute: Compute,
    offset: Vector | None = None,
) -> float:
    """Return what a unit of the lexicon is worth in tone; shrunk, and to 0 if it is not clearly different from 0.

    y : (texts,) encoded responses, NaN if missing; offset : (texts,) known part of the linear predictor.
    """
    known = ~np.isnan(y) & (weight > 0)
    if not dictionary.general.any() or not known.any() or np.ptp(y[known]) == 0:
        return 0.0
    clauses = read.occurrences.tone_of_sentences(dictionary.general[None], read.one_fit)
    column = by_document(clauses[:, None], read.texts)
    offset = np.zeros(len(y)) if offset is None else offset
    return GIVEN_WORDS * trusted_effect(column, y, weight, family, compute, offset)


def prepare_read(
    read: PartlyRead,
    dictionary: Dictionary,
    responses: Sequence[Response],
    learn: Callable[[Response], LearntTone],
    weight: Vector,
    compute: Compute,
) -> Prepared:
    """Prepare themes from texts that have been read; learn : returns the tone of a response."""
    texts, units = read.texts, count_units(read.texts, dictionary.terms, compute.engine)

    def with_family(response: Response) -> Explained:
        tone = learn(response)
        y = response.simplest.encode(response.values)
        offset = np.zeros(len(texts)) if tone.offset is None else tone.offset
        general, answers = (tone.slope, dictionary.general), (y, weight, tone.family, compute, offset)
        learnt, whole = learn_words(read, tone.tone, general, dictionary.neutral, *answers)
        choice = choose_family(response.candidates, whole, learnt.folds, response.values, weight, compute)
        return Explained(response, choice, learnt)

    # The tasks are independent.
    tasks: list[Callable[[], Any]] = [partial(with_family, each) for each in responses]
    first: list[Callable[[], Any]] = [lambda: word_vectors(by_sentence(units, texts)[0]), lambda: texts.keys]
    vectors, _, *explained = compute.engine.map(lambda task: task(), [*first, *tasks])
    verdict = _verdict(read, dictionary, [each.learnt.words.judgement for each in explained], weight)
    return Prepared(read, dictionary, units, vectors, weight, explained, verdict)


def learn_words(
    read: PartlyRead,
    tone: Tone,
    lexicon: tuple[float, Vector],
    neutral: float | None,
    y: Vector,
    weight: Vector,
    family: Family,
    compute: Compute,
    offset: Vector,
) -> tuple[LearntWords, Vector]:
    """Learn judgement, and weigh it against tone; return both, and (texts,) the linear predictor of words and offset.

    lexicon : slope, and (features,) values; y : (texts,) encoded responses, NaN if missing.
    """
    texts, found, (slope, general) = read.texts, read.occurrences, lexicon
    left = residuals(family, y, weight, offset)
    judgement = fit_judgement(
        texts, found, read.features.sizes, tone, slope * general, left, weight, family.unit, compute
    )
    fits = tone.folds[texts.documents]
    of_clauses = (found.tone_of_sentences(tone.fold_effects, fits), read.judgement(judgement.fold_effects, fits))
    columns = np.column_stack([by_document(each[:, None], texts)[:, 0] for each in of_clauses])
    columns[:, 1] /= np.maximum(np.diff(texts.sentence_ends), 1)
    scale, judged = weigh(columns, y, weight, family, compute, offset)
    of_all = read.judgement(judgement.effects[None], read.one_fit)
    each = weight[texts.documents]
    spread = float(np.sqrt(np.average(of_all**2, weights=each))) if each.any() else 0.0
    zone = Zone.of(NEUTRAL * spread if neutral is None else neutral)
    of_tone = read.with_judged(scale * of_clauses[0], judged, of_clauses[1])
    typical = float(np.sqrt(np.average(of_tone**2, weights=each))) if each.any() else 0.0
    words = WordEffects(scale * tone.effects, judgement.effects, judged, spread, zone, typical, slope, general)
    learnt = LearntWords(words, tone.folds, scale * tone.fold_effects, judgement.fold_effects)
    return learnt, columns @ np.array([scale, judged]) + offset


def _verdict(read: PartlyRead, dictionary: Dictionary, effects: Sequence[Vector], weight: Vector) -> Verdict:
    """Learn the words of verdicts by the strongest judgement of several responses."""
    features, words = dictionary.features, read.texts.words
    judged = [read.judgement(each[None], read.one_fit) for each in effects]
    of_words = np.max([np.abs(tone_of_terms(words, features, each)) for each in effects], axis=0)
    listed = VERDICTS.get(dictionary.language or "", frozenset())
    return learn_verdict(read.texts, np.max(np.abs(judged), axis=0), of_words, weight, listed)


def fit_prepared(
    prepared: Prepared,
    *,
    n_themes: int,
    seed: int,
    compute: Compute,
    seed_words: Mapping[str, Sequence[str]] | None = None,
    why: str = "",
) -> list[tuple[FittedThemes, ThemeReading]]:
    """Learn themes, and for each response the GLM on them; return each model and its reading of these texts."""
    read, dictionary, units, weight = prepared.read, prepared.dictionary, prepared.units, prepared.weight
    sentences, documents = by_sentence(units, read.texts)
    text = ThemeText(dictionary.terms, prepared.term_tones, sentences, documents, weight, seed_words or {})
    themes = text.themes(n_themes, seed, compute, vectors=prepared.vectors)
    language, verdict = dictionary.language, prepared.verdict
    places = places_of(read.texts, units, dictionary.terms, themes, verdict, language)
    overall, prevalence = overall_of(read.texts, units, places, themes, weight)
    words = [each.learnt.words for each in prepared.responses]
    readings = readings_of(read, units, places, words, n_themes + 1)

    def fitted(of: Explained, reading: ThemeReading) -> FittedThemes:
        response, choice = of.response, of.choice
        training = ThemeTraining.of(reading, read.unseen(places, of.learnt), response.values, weight)
        effects, family, training = _level_two(training, prevalence, choice.family, compute, response.given)
        learnt = language, dictionary.terms, dictionary.features, of.learnt.words, themes, verdict, overall, prevalence
        return FittedThemes(family, choice.described, *learnt, effects, training, why)

    return [(fitted(*pair), pair[1]) for pair in zip(prepared.responses, readings, strict=True)]


def overall_of(
    texts: SentenceTexts, units: sp.csr_array, places: NDArray[np.int16], themes: Themes, weight: Vector
) -> tuple[Vector, Vector]:
    """Return (terms,) shares of weighted terms in overall verdicts, and (places,) share of all words in each."""
    n_themes, each = len(themes.topics), weight[texts.documents]
    counts = units.T @ (each * (places == n_themes)) * themes.term_weights
    otherwise = themes.prevalence @ themes.topics
    overall = counts / counts.sum() if counts.any() else otherwise / otherwise.sum()
    words = np.bincount(places, each * np.diff(texts.indptr), n_themes + 2).astype(float)
    if not words.any():
        words[-1] = 1.0
    return overall, words / words.sum()


def with_themes(
    models: Sequence[FittedThemes],
    themes: Themes,
    texts: SentenceTexts,
    responses: Sequence[Vector],
    weight: Vector,
    compute: Compute,
    given: Given | None = None,
) -> list[tuple[FittedThemes, ThemeReading]]:
    """Replace the themes of models: clauses are placed anew and level 2 is fitted again; effects of words stay."""
    first = models[0]
    # Texts of training keep the tone that has not seen their responses.
    before = read_together(models, texts, compute)
    read, units = read_features(texts, first.features, compute.engine), before[0].units
    places = places_of(texts, units, first.terms, themes, first.verdict, first.language)
    overall, prevalence = overall_of(texts, units, places, themes, weight)
    words = [model.words for model in models]
    readings = readings_of(read, units, places, words, len(themes.topics) + 1)
    refitted = []
    for model, values, old, reading in zip(models, responses, before, readings, strict=True):
        unseen = replace(model.training.unseen(old), places=places)
        training = ThemeTraining.of(reading, unseen, values, weight)
        effects, family, training = _level_two(training, prevalence, model.family, compute, given)
        learnt: dict[str, Any] = {"themes": themes, "overall": overall, "prevalence": prevalence, "why": ""}
        refitted.append(replace(model, family=family, effects=effects, training=training, **learnt))
    return list(zip(refitted, readings, strict=True))


def _level_two(
    training: ThemeTraining, prevalence: Vector, family: Family, compute: Compute, given: Given | None = None
) -> tuple[ThemeEffects, Family, ThemeTraining]:
    """Fit the GLM on themes."""
    clauses, n_places, y = training.clauses, len(prevalence), family.encode(training.responses)
    texts = ToneByTheme(clauses.by_theme(clauses.tone, n_places), clauses.shares(n_places), clauses.evidence)
    effects, family = fit_theme_effects(texts, prevalence, y, training.weight, family, compute, given)
    if given is not None:
        training = replace(training, given=given.linear_predictor(effects.covariate_effects))
    return effects, family, training


def learn_more(
    model: FittedThemes, texts: SentenceTexts, responses: Vector, weight: Vector, n_known: int, compute: Compute
) -> FittedThemes:
    """Update tone with more texts and refit level 2; themes, judgement, features and terms stay fixed.

    Steps on the new texts alone fit the residuals of tone there, and are weighted by their share of all texts. Level 2
    is fitted to the old tone of the new texts, which has not seen their responses.

    responses : (texts,) on the user's scale, NaN if missing; n_known : texts that tone was trained on before.
    """
    y, family = model.family.encode(responses), model.family.of_words
    (reading,) = read_together([model], texts, compute)
    read = read_features(texts, model.features, compute.engine)
    by_now = np.asarray(by_document(reading.clauses.tone[:, None], texts)[:, 0], dtype=float)
    more = fit_tone(read.counts, model.features.sizes, y, weight, family, compute, by_now).effects
    known, new = model.training, ThemeTraining.of(reading, reading.clauses, responses, weight)
    names = ("keys", "responses", "weight", "later")
    joined: dict[str, Any] = {name: np.concatenate([getattr(known, name), getattr(new, name)]) for name in names}
    known = ThemeTraining(clauses=known.clauses.then(new.clauses), **joined)
    # Texts that were added after the fit keep weight 0.
    counting = replace(known, weight=np.where(known.later, 0.0, known.weight))
    effects, chosen, _ = _level_two(counting, model.prevalence, model.family, compute)
    share = len(texts) / (n_known + len(texts))
    words = replace(model.words, tone=model.words.tone + share * more)
    return replace(model, words=words, effects=effects, family=chosen, training=known)
