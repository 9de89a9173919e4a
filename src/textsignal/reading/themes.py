"""Themes and tone on sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.families import Family
from textsignal.families.responses import numbered
from textsignal.reading.observed import Observed, Reading, Tokens
from textsignal.reading.spoken import Spoken
from textsignal.reading.words import ThemeWords, plain_profiles, theme_words
from textsignal.text.features import NEGATED, WORD
from textsignal.text.markup import without_markup
from textsignal.text.tokens import SentenceTexts, TokenisedTexts, read_sentences
from textsignal.training.theme_model import with_themes
from textsignal.training.theme_reading import (
    FittedThemes,
    ThemePredictor,
    ThemeReading,
    by_document,
    knowing,
    read_together,
)
from textsignal.training.themes import Themes


@dataclass(frozen=True, eq=False)
class ThemeReader:
    """A fitted model of themes and tone.

    fitted : all that was learnt; words : displayed labels and words of themes; n_jobs : threads.
    """

    fitted: FittedThemes
    words: ThemeWords
    n_jobs: int | None = field(default=-1, metadata={"stored": False})

    @property
    def family(self) -> Family:
        """The response's, with its scale."""
        return self.fitted.family

    @property
    def profiles(self) -> Array:
        """(themes, terms) shares of terms by plain counts."""
        return plain_profiles(self.fitted)

    @property
    def terms(self) -> Sequence[str]:
        """Content terms."""
        return self.fitted.terms

    @property
    def mergeable(self) -> tuple[Array, Vector]:
        """Themes by which sentences are assigned, and their prevalences."""
        return self.fitted.themes.topics, self.fitted.themes.prevalence

    @property
    def coherence(self) -> Vector:
        """(themes,) in the training texts."""
        return self.words.coherence

    @property
    def described(self) -> dict[str, str]:
        """Name and value of the settings of the fit, for display."""
        features, used = self.fitted.features, self.fitted.tone != 0
        words, negated = (np.sum((features.kinds == kind) & used) for kind in (WORD, NEGATED))
        phrases = np.sum(features.is_phrase & used)
        chosen = {"Response": self.fitted.chosen} if self.fitted.chosen else {}
        chosen |= {"Number of themes": self.fitted.why} if self.fitted.why else {}
        chosen |= {"Documents": self.basis.removesuffix(".")} if self.basis else {}
        counted = {"Levels counted": numbered(self.family)} if self.family.has_text else {}
        return (
            chosen
            | counted
            | {
                "Content terms": f"{len(self.terms):,}",
                "Tone": f"{words:,} words, {negated:,} negated words, {phrases:,} phrases",
                "Language": self.fitted.language or "none: no stop words, no negations",
            }
        )

    @property
    def basis(self) -> str:
        """Sentence on the documents the model was learnt from; "" if from all that it knows."""
        return self.fitted.basis

    def tokenise(self, texts: Iterable[str] | Tokens) -> SentenceTexts:
        """Cut texts into sentences and words."""
        return theme_tokens(texts, self.fitted.language, self.n_jobs)

    @property
    def covariates(self) -> tuple[Vector, Vector]:
        """Return (covariates,) effects of covariates, and their standard errors."""
        effects = self.fitted.effects
        return effects.covariate_effects, np.zeros(0) if effects.covariate_errors is None else effects.covariate_errors

    def read(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Reading:
        """Read sentences, their themes and tone, and compute predictions."""
        (reading,) = read_all([self], texts, given)
        return reading

    def reading_of(self, sentences: ThemeReading, given: Given | None) -> Reading:
        """Compute predictions from sentences, their themes and tone."""
        known = np.zeros(len(sentences.shares), dtype=bool)
        known[sentences.texts.documents[sentences.occurrences.sentences]] = True
        known[sentences.texts.documents[sentences.has_terms]] = True
        return Reading(
            texts=sentences.texts.texts,
            n_words=sentences.texts.n_words,
            X=sp.csr_array(by_document(sentences.units, sentences.texts)),
            predictions=self._predictions(sentences.tone, sentences.shares, ~known, given),
            contributions=self.fitted.effects.contributions(sentences.tone, sentences.shares),
            spoken=sentences.spoken,
            sentences=sentences,
        )

    def predictions(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Predictions:
        """Return predictions alone, without the other results of `read`."""
        (predictions,) = predict_all([self], texts, given)
        return predictions

    def _predictions(
        self, tone: Vector, shares: Vector, unknown: NDArray[np.bool_], given: Given | None
    ) -> Predictions:
        effects = self.fitted.effects
        of_given = np.zeros(len(shares)) if given is None else given.linear_predictor(effects.covariate_effects)
        eta = effects.linear_predictor(tone, shares) + of_given
        return Predictions(self.family, eta, np.zeros_like(eta), of_given, shares, shares, unknown)

    @cached_property
    def predictor(self) -> ThemePredictor:
        """Reader of the inputs of predictions."""
        return ThemePredictor.of(self.fitted)

    def shares_themes(self, other: ThemeReader) -> bool:
        """True if another reader has the same features, terms and themes, so that texts can be read for both."""
        one, two = self.fitted, other.fitted
        return (
            one.language == two.language
            and list(one.terms) == list(two.terms)
            and list(one.features.names) == list(two.features.names)
            and all(
                np.array_equal(a, b)
                for a, b in (
                    (one.features.kinds, two.features.kinds),
                    (one.themes.topics, two.themes.topics),
                    (one.themes.term_weights, two.themes.term_weights),
                    (one.themes.prevalence, two.themes.prevalence),
                )
            )
        )

    @property
    def trained(self) -> Spoken:
        """Mentions of themes in the documents that the model knows."""
        known = self.fitted.training
        given = 0.0 if known.given is None else known.given
        return self._spoken(known.tone, known.shares, known.spoken, known.responses, known.weight, given)

    def spoken(self, reading: Reading, responses: Vector | None, weight: Vector | None) -> Spoken:
        """Return mentions of themes in texts, by tone that has not seen their responses."""
        assert reading.sentences is not None
        n_texts = len(reading.texts)
        return self._spoken(
            reading.sentences.tone_by_theme(self.fitted.training.unseen_tone(reading.sentences)),
            reading.predictions.shares,
            reading.spoken,
            np.full(n_texts, np.nan) if responses is None else responses,
            np.ones(n_texts) if weight is None else weight,
            reading.predictions.given,
        )

    def _spoken(
        self,
        tone: Vector,
        shares: Vector,
        spoken: NDArray[np.bool_],
        responses: Vector,
        weight: Vector,
        given: Vector | float,
    ) -> Spoken:
        effects = self.fitted.effects
        eta = effects.linear_predictor(tone, shares) + given
        return Spoken(self.family, eta, effects.gamma * tone, shares, spoken, responses, weight)

    def with_topics(self, topics: Array, weights: Vector, observed: Observed) -> ThemeReader:
        """Return a reader with other themes: sentences are reassigned and the GLM on themes is refitted."""
        (reader,) = with_topics([self], topics, weights, [observed])
        return reader

    def knowing(self, reading: Reading, responses: Vector, weight: Vector | None = None) -> ThemeReader:
        """Return a reader that knows these documents, in this order, instead of the training documents."""
        assert reading.sentences is not None
        weight = np.ones(len(responses)) if weight is None else weight
        given = reading.predictions.given
        return replace(self, fitted=knowing(self.fitted, reading.sentences, responses, weight, given))

    def with_jobs(self, n_jobs: int | None) -> ThemeReader:
        """Return a reader with another number of threads."""
        return replace(self, n_jobs=n_jobs)


def read_all(
    readers: Sequence[ThemeReader], texts: Iterable[str] | Tokens, given: Given | None = None
) -> list[Reading]:
    """Read texts once with several readers of the same themes."""
    tokens = readers[0].tokenise(texts)
    with local_compute(readers[0].n_jobs) as compute:
        readings = read_together([reader.fitted for reader in readers], tokens, compute)
    return [reader.reading_of(sentences, given) for reader, sentences in zip(readers, readings, strict=True)]


def predict_all(
    readers: Sequence[ThemeReader], texts: Iterable[str] | Tokens, given: Given | None = None
) -> list[Predictions]:
    """Return predictions of several readers of the same themes; texts are read once."""
    tokens = readers[0].tokenise(texts)
    with local_compute(readers[0].n_jobs) as compute:
        read = readers[0].predictor.read(tokens, [reader.fitted.tone for reader in readers], compute)
    return [
        reader._predictions(tone, read.shares, read.unknown, given)
        for reader, tone in zip(readers, read.tones, strict=True)
    ]


def with_topics(
    readers: Sequence[ThemeReader], topics: Array, weights: Vector, observed: Sequence[Observed]
) -> list[ThemeReader]:
    """Refit several readers with other themes; observed : the same texts for each, with its response."""
    first = observed[0]
    if any(np.isnan(one.responses).all() for one in observed):
        raise InputError("no document has a response (all are missing), so effects cannot be refitted")
    size = topics.sum(axis=1, keepdims=True)
    themes = Themes(topics / size, readers[0].fitted.themes.term_weights, weights / weights.sum())
    models, responses = [reader.fitted for reader in readers], [one.responses for one in observed]
    tokens = readers[0].tokenise(first.tokens)
    with local_compute(readers[0].n_jobs) as compute:
        refitted = with_themes(models, themes, tokens, responses, first.weight, compute, first.given)
    return theme_readers(refitted, readers[0].n_jobs)


def theme_readers(models: Sequence[tuple[FittedThemes, ThemeReading]], n_jobs: int | None) -> list[ThemeReader]:
    """Return readers of the same themes, from each model and its reading of the training texts."""
    fitted, readings = zip(*models, strict=True)
    words = theme_words(fitted, readings)
    return [ThemeReader(model, of_model, n_jobs) for model, of_model in zip(fitted, words, strict=True)]


def theme_tokens(texts: Iterable[str] | Tokens, language: str | None, n_jobs: int | None = -1) -> SentenceTexts:
    """Cut texts into sentences and words, without markup."""
    if isinstance(texts, TokenisedTexts):
        raise InputError("these texts were tokenised for topics on a matrix; give the texts themselves")
    if isinstance(texts, SentenceTexts):
        return texts
    return read_sentences(texts, language or "", without_markup, n_jobs=n_jobs)
