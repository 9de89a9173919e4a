"""A fitted model of themes and tone, applied to texts."""

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
from textsignal.reading.mentions import Mentions
from textsignal.reading.observed import Observed, tokenise
from textsignal.reading.words import ThemeWords, plain_profiles, theme_words
from textsignal.text.features import NEGATED, WORD
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import ToneByTheme
from textsignal.training.theme_model import (
    Clauses,
    FittedThemes,
    ThemePredictor,
    ThemeReading,
    by_document,
    knowing,
    read_together,
    with_themes,
)
from textsignal.training.themes import Themes


@dataclass(frozen=True, eq=False)
class Reading:
    """Texts as a fitted model reads them; better : 1 if more of the response is better, -1 if less is."""

    observed: Observed
    fitted: FittedThemes
    clauses: ThemeReading
    better: int = 1

    @property
    def texts(self) -> Sequence[str]:
        """(texts,) the texts."""
        return self.observed.texts

    @property
    def n_words(self) -> NDArray[np.int64]:
        """(texts,) number of words in each."""
        return self.clauses.texts.n_words

    @cached_property
    def X(self) -> sp.csr_array:
        """(texts, terms) counts of content terms."""
        return sp.csr_array(by_document(self.clauses.units, self.clauses.texts))

    @cached_property
    def predictions(self) -> Predictions:
        """Predictions for the texts."""
        texts = self.clauses.texts
        unknown = np.ones(len(texts), dtype=bool)
        unknown[texts.documents[self.clauses.occurrences.sentences]] = False
        unknown[texts.documents[self.clauses.has_terms]] = False
        return theme_predictions(self.fitted, self.clauses.by_theme, unknown, self.observed.given)

    @property
    def contributions(self) -> Vector:
        """(texts, places) contribution of each place of a clause to the linear predictor; unplaced last."""
        return self.fitted.effects.contributions(self.clauses.by_theme)

    @cached_property
    def mentions(self) -> Mentions:
        """Mentions of themes, by tone that has not seen the responses."""
        effects, observed, texts = self.fitted.effects, self.observed, self.unseen.of_texts(self.fitted.n_places)
        eta = effects.linear_predictor(texts) + self.predictions.given
        of_texts = observed.responses, observed.weight, self.better
        return Mentions.of(self.fitted.family, eta, effects.gamma, texts, *of_texts)

    @cached_property
    def unseen(self) -> Clauses:
        """Clauses by tone that has not seen the responses."""
        return self.fitted.training.unseen(self.clauses)


@dataclass(frozen=True, eq=False)
class ThemeReader:
    """A fitted model of themes and tone; words : displayed labels and words of themes; n_jobs : threads."""

    fitted: FittedThemes
    words: ThemeWords
    n_jobs: int | None = field(default=-1, metadata={"stored": False})

    @property
    def family(self) -> Family:
        """Family of the response, with its scale."""
        return self.fitted.family

    @property
    def profiles(self) -> Array:
        """(themes, terms) shares of terms by plain counts."""
        return plain_profiles(self.fitted)

    @property
    def described(self) -> dict[str, str]:
        """Name and value of the settings of the fit, for display."""
        fitted, features, used = self.fitted, self.fitted.features, self.fitted.words.tone != 0
        words, negated = (np.sum((features.kinds == kind) & used) for kind in (WORD, NEGATED))
        zone = fitted.words.zone
        settings = {
            "Response": fitted.chosen,
            "Number of themes": fitted.why,
            "Texts": fitted.basis.removesuffix("."),
            "Levels counted": numbered(self.family) if self.family.has_text else "",
            "Content terms": f"{len(fitted.terms):,}",
            "Tone": f"{words:,} words, {negated:,} negated words, {np.sum(features.is_phrase & used):,} phrases",
            "Lexicon": f"a unit is worth {fitted.words.slope:.2f} in tone" if fitted.words.slope else "not used",
            "Neutral mentions": f"judgement from {zone.low:.2f} to {zone.high:.2f} in log-odds",
            "Language": fitted.language or "none: no stop words, no negations",
        }
        return {name: value for name, value in settings.items() if value}

    def tokenise(self, texts: Iterable[str] | SentenceTexts) -> SentenceTexts:
        """Cut texts into sentences and words."""
        return tokenise(texts, self.fitted.language, self.n_jobs)

    def read(self, observed: Observed, better: int = 1) -> Reading:
        """Read texts."""
        (reading,) = read_all([self], [observed], [better])
        return reading

    def predictions(self, tokens: SentenceTexts, given: Given | None = None) -> Predictions:
        """Return predictions alone, in less time than `read`."""
        (predictions,) = predict_all([self], tokens, given)
        return predictions

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
            and np.array_equal(one.features.kinds, two.features.kinds)
            and np.array_equal(one.themes.topics, two.themes.topics)
            and np.array_equal(one.themes.term_weights, two.themes.term_weights)
            and np.array_equal(one.prevalence, two.prevalence)
            and list(one.verdict.words) == list(two.verdict.words)
            and np.array_equal(one.verdict.scores, two.verdict.scores)
            and np.array_equal(one.verdict.judges, two.verdict.judges)
            and one.verdict.bias == two.verdict.bias
        )

    def known(self, better: int = 1) -> Mentions:
        """Return the mentions of themes in the texts that the model knows."""
        known, effects = self.fitted.training, self.fitted.effects
        texts = known.clauses.of_texts(self.fitted.n_places)
        eta = effects.linear_predictor(texts) + (0.0 if known.given is None else known.given)
        return Mentions.of(self.family, eta, effects.gamma, texts, known.responses, known.weight, better)

    def knowing(self, reading: Reading) -> ThemeReader:
        """Return a reader that knows these texts, in this order, instead of the training texts."""
        observed, given = reading.observed, reading.predictions.given
        fitted = knowing(self.fitted, reading.clauses, observed.responses, observed.weight, given)
        return replace(self, fitted=fitted)


def theme_predictions(
    fitted: FittedThemes, texts: ToneByTheme, unknown: NDArray[np.bool_], given: Given | None
) -> Predictions:
    """Return predictions for texts; given : None for average covariates."""
    effects = fitted.effects
    of_given = np.zeros(len(texts.evidence)) if given is None else given.linear_predictor(effects.covariate_effects)
    eta = effects.linear_predictor(texts) + of_given
    themes = texts.shares[:, :-1]
    return Predictions(fitted.family, eta, np.zeros_like(eta), of_given, themes, themes, unknown)


def read_all(readers: Sequence[ThemeReader], observed: Sequence[Observed], better: Sequence[int]) -> list[Reading]:
    """Read texts once with several readers of the same themes; observed : the same texts for each."""
    with local_compute(readers[0].n_jobs) as compute:
        clauses = read_together([reader.fitted for reader in readers], observed[0].tokens, compute)
    parts = zip(observed, readers, clauses, better, strict=True)
    return [Reading(texts, reader.fitted, read, side) for texts, reader, read, side in parts]


def predict_all(readers: Sequence[ThemeReader], tokens: SentenceTexts, given: Given | None = None) -> list[Predictions]:
    """Return predictions of several readers of the same themes; texts are read once."""
    with local_compute(readers[0].n_jobs) as compute:
        read = readers[0].predictor.read(tokens, [reader.fitted.words for reader in readers], compute)
    return [
        theme_predictions(reader.fitted, texts, read.unknown, given)
        for reader, texts in zip(readers, read.by_theme, strict=True)
    ]


def refitted(
    readers: Sequence[ThemeReader], profiles: Array, weights: Vector, observed: Sequence[Observed]
) -> list[ThemeReader]:
    """Return readers with other themes: sentences are placed anew and the GLM on themes is refitted.

    profiles : (themes, terms), of any scale; weights : (themes,) prevalence; observed : the same texts for each reader.
    """
    first = observed[0]
    if any(np.isnan(one.responses).all() for one in observed):
        raise InputError("no text has a response (all are missing), so effects cannot be refitted")
    term_weights = readers[0].fitted.themes.term_weights
    themes = Themes(profiles / profiles.sum(axis=1, keepdims=True), term_weights, weights / weights.sum())
    models, responses = [reader.fitted for reader in readers], [one.responses for one in observed]
    with local_compute(readers[0].n_jobs) as compute:
        models_and_readings = with_themes(models, themes, first.tokens, responses, first.weight, compute, first.given)
    return theme_readers(models_and_readings, readers[0].n_jobs)


def theme_readers(models: Sequence[tuple[FittedThemes, ThemeReading]], n_jobs: int | None) -> list[ThemeReader]:
    """Return readers of the same themes, from each model and its reading of the training texts."""
    fitted, readings = zip(*models, strict=True)
    words = theme_words(fitted, readings)
    return [ThemeReader(model, of_model, n_jobs) for model, of_model in zip(fitted, words, strict=True)]
