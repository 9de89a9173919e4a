"""ThemeModel: raw texts and responses in; themes, tone and what they are worth out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from textsignal.arrays import Vector
from textsignal.checks import check_number, draw_seed
from textsignal.engines.local import local_compute
from textsignal.errors import InputError
from textsignal.estimators import Predicting, Predictions
from textsignal.families import Family, as_family
from textsignal.text.markup import without_markup
from textsignal.text.units import SentenceTexts, read_sentences
from textsignal.topics.drivers import ThemeWords, theme_labels, theme_table
from textsignal.training.theme_model import ThemeReading, fit_theme_model, read_themes

#: Content terms that themes are made of.
MAX_TERMS = 3000


class ThemeModel(Predicting, BaseEstimator):
    """What people speak of (themes), how they speak of it (tone), and what that is worth.

        linear predictor = constant + sum over themes of ( gamma * tone about it + beta * share of the text )

    Themes are learnt from sentences and hardly see the response; tone is what words, negated words and phrases add to
    the linear predictor. Words add up to sentences, sentences to themes, themes and constant to the linear predictor.

    Parameters
    ----------
    n_topics : number of themes, from 1 to 60.
    family : how the response is distributed: "binomial", or a family such as `Binomial(n=4, lowest=1)`.
    language : of the texts, by English name; its stop words and negations are used.
    seed_words : label -> words that a theme is to start from.
    random_state, n_jobs : seed; threads, -1 for all cores. Results are the same bits for any number.

    Attributes
    ----------
    fitted_ : all that was learnt.
    labels_ : (themes,) what themes are called.
    levels_ : the response's levels.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(400, seed=1)
    >>> model = ThemeModel(n_topics=8).fit(reviews.texts, reviews.ratings)
    >>> good, bad = model.predict(["The staff were friendly and helpful.", "The bathroom was dirty."])
    >>> bool(good > bad)
    True
    >>> table = model.sentences("The staff were friendly. The bathroom was dirty.")
    >>> bool(table["contribution"][0] > table["contribution"][1])
    True
    """

    def __init__(
        self,
        n_topics: int = 10,
        *,
        family: str | Family = "binomial",
        language: str = "english",
        seed_words: Mapping[str, Sequence[str]] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = -1,
    ) -> None:
        self.n_topics = n_topics
        self.family = family
        self.language = language
        self.seed_words = seed_words
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, texts: Iterable[str], responses: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn themes, tone and what they are worth.

        Parameters
        ----------
        texts : documents.
        responses : one number per document; NaN where there is none, its text is used all the same.
        sample_weight : how often each document counts.
        """
        check_number("n_topics", self.n_topics, least=1, whole=True)
        if self.n_topics > 60:
            raise InputError(f"n_topics={self.n_topics} is more than anybody reads; give 1 to 60")
        seeds = dict(self.seed_words or {})
        if len(seeds) > self.n_topics:
            raise InputError(f"seed_words names {len(seeds)} themes, but n_topics={self.n_topics}")
        read = self._read(texts)
        given = np.asarray(responses, dtype=float)
        if given.shape != (len(read),):
            raise InputError(f"{len(read)} texts, but {given.size} responses; give one for each text")
        weight = np.ones(len(read)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        family = as_family(self.family).learn(np.where(weight > 0, given, np.nan))
        with local_compute(self.n_jobs) as compute:
            self.fitted_, reading = fit_theme_model(
                read,
                given,
                weight,
                n_themes=self.n_topics,
                family=family,
                language=self.language,
                max_terms=MAX_TERMS,
                seed=draw_seed(self.random_state),
                compute=compute,
                seed_words=seeds,
            )
        self._words = ThemeWords(self.fitted_, reading)
        named = theme_labels(self.fitted_)
        self.labels_ = [*seeds, *named[len(seeds) :]]
        return self

    def read(self, texts: Iterable[str]) -> ThemeReading:
        """Everything the model reads in texts."""
        check_is_fitted(self)
        with local_compute(self.n_jobs) as compute:
            return read_themes(self.fitted_, self._read(texts), compute)

    def predictions(self, documents: Iterable[str]) -> Predictions:
        """Everything the model says of texts: shares of themes, expected response, levels."""
        reading = self.read(documents)
        eta = self.fitted_.effects.linear_predictor(reading.tone, reading.shares)
        unknown = np.asarray(~reading.spoken.any(axis=1))
        return Predictions(self.fitted_.family, eta, np.zeros_like(eta), reading.shares, reading.shares, unknown)

    def transform(self, texts: Iterable[str]) -> Vector:
        """(documents, themes) share of each text in each theme."""
        return self.read(texts).shares

    @property
    def levels_(self) -> NDArray[np.int64]:
        """The response's levels, lowest first."""
        check_is_fitted(self)
        return self.fitted_.family.levels

    def drivers(self, n_terms: int = 10) -> pd.DataFrame:
        """One row per theme, the largest lift first; see `topics.drivers.theme_table` for the columns.

        Lift and worth are what-ifs on the fitted model, not causal claims.
        """
        check_is_fitted(self)
        return theme_table(self.fitted_, self._words, self.labels_, n_terms)

    def contributions(self, texts: Iterable[str]) -> pd.DataFrame:
        """(documents x themes) what each theme adds to the linear predictor; column "constant" is the rest."""
        reading = self.read(texts)
        found = self.fitted_.effects.contributions(reading.tone, reading.shares)
        table = pd.DataFrame(found, columns=self.labels_)
        table.insert(0, "constant", self.fitted_.effects.constant)
        return table

    def sentences(self, text: str) -> pd.DataFrame:
        """One row per sentence of a text: sentence, start, end, theme (its main one), share (of it), contribution.

        With the constant, contributions add up to the linear predictor. A sentence's own is
        sum_k p_k ( gamma_k * its tone + beta_k * its share of the words ).
        """
        reading = self.read([text])
        effects, sentences = self.fitted_.effects, reading.texts
        words = np.diff(sentences.indptr) / max(int(sentences.indptr[-1]), 1)
        of_word = sentences.sentence_of_word[reading.occurrences.words]
        tone = np.bincount(of_word, weights=reading.values, minlength=len(words))
        main = reading.places.argmax(axis=1)
        return pd.DataFrame(
            {
                "sentence": [sentences.texts[0][start:end] for start, end in sentences.spans],
                "start": sentences.spans[:, 0],
                "end": sentences.spans[:, 1],
                "theme": [self.labels_[k] for k in main],
                "share": reading.places[np.arange(len(main)), main],
                "contribution": reading.places @ effects.gamma * tone + reading.places @ effects.beta * words,
            }
        )

    def _read(self, texts: Iterable[str]) -> SentenceTexts:
        return read_sentences(texts, self.language, without_markup)
