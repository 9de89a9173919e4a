"""Topics on a matrix of documents and terms: a vectorizer and an estimator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from textsignal.arrays import Array, Vector
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.estimators import Predictions, TopicEstimator
from textsignal.families import Family, check_trainable
from textsignal.reading.observed import Observed, Reading, Tokens
from textsignal.reading.spoken import Spoken
from textsignal.text.tokens import SentenceTexts, TokenisedTexts
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.topics import coherence as term_coherence

#: Minimum share of a topic in a document's text for the document to mention it.
SPOKEN = 0.1
#: Message if a loaded model needs its training texts.
NOT_STORED = (
    "this model was loaded, and a stored model does not hold the texts it was trained on; "
    "give them: texts=..., responses=..."
)


@dataclass(frozen=True, eq=False)
class MatrixReader:
    """A fitted vectorizer and a fitted estimator.

    coherence : (topics,) in the training texts.
    """

    vectorizer: TextVectorizer
    estimator: TopicEstimator
    coherence: Vector

    @classmethod
    def fit(cls, vectorizer: TextVectorizer, estimator: TopicEstimator, observed: Observed) -> MatrixReader:
        """Fit both to the documents."""
        assert isinstance(observed.tokens, TokenisedTexts)
        X = sp.csr_array(vectorizer.fit_transform(observed.tokens))
        given = observed.given
        if given is None:
            estimator.fit(X, observed.responses, observed.sample_weight)
        else:
            estimator.fit(
                X,
                observed.responses,
                observed.sample_weight,
                covariates=given.columns,
                offset=given.offset,
                groups=given.groups,
            )
        return cls(vectorizer, estimator, term_coherence(X, estimator.components_))

    @property
    def family(self) -> Family:
        """The response's, with its scale."""
        return self.estimator.family_

    @property
    def profiles(self) -> Array:
        """(topics, terms) topics."""
        return self.estimator.components_

    @property
    def terms(self) -> Sequence[str]:
        """Names of the terms."""
        names: list[str] = self.vectorizer.terms_.tolist()
        return names

    @property
    def mergeable(self) -> tuple[Array, Vector]:
        """Topics, and their prevalences divided by their sum."""
        centred = self.estimator.centred_effects
        return self.profiles, centred.prevalence / centred.size

    @property
    def basis(self) -> str:
        """Empty: everything was learnt from the same documents."""
        return ""

    @property
    def described(self) -> dict[str, str]:
        """Name and value of the settings of the fit, for display."""
        return {
            "Estimator": repr(self.estimator),
            "Text": repr(self.vectorizer),
            "Iterations": f"{self.estimator.n_iter_:,}, stopped: {self.estimator.stop_reason_}",
        }

    def tokenise(self, texts: Iterable[str] | Tokens) -> TokenisedTexts:
        """Tokenise texts."""
        return matrix_tokens(texts, self.vectorizer)

    @property
    def covariates(self) -> tuple[Vector, Vector]:
        """Return (covariates,) effects of covariates, and their standard errors."""
        fitted = self.estimator.fitted_
        return fitted.covariate_effects, np.zeros(0) if fitted.covariate_errors is None else fitted.covariate_errors

    def read(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Reading:
        """Return counts of terms, weights and predictions."""
        tokens = self.tokenise(texts)
        X = sp.csr_array(self.vectorizer.transform(tokens))
        predictions = self._predictions(X, given)
        centred = self.estimator.centred_effects
        sized = predictions.weights * centred.size
        return Reading(
            texts=tokens.texts,
            n_words=np.array([len(text.split()) for text in tokens.texts], dtype=np.int64),
            X=X,
            predictions=predictions,
            contributions=np.einsum("ik,k...->ik...", sized, centred.effects, dtype=float),
            spoken=(predictions.shares >= SPOKEN) & ~predictions.unknown[:, None],
        )

    def predictions(self, texts: Iterable[str] | Tokens, given: Given | None = None) -> Predictions:
        """Return the estimator's predictions."""
        return self._predictions(sp.csr_array(self.vectorizer.transform(self.tokenise(texts))), given)

    @property
    def trained(self) -> None:
        """None: mentions of topics in the training texts are not kept."""

    def spoken(self, reading: Reading, responses: Vector | None, weight: Vector | None) -> Spoken:
        """Return mentions of topics in texts; tone is a topic's contribution compared with the average text."""
        check_trainable(self.family, "drivers and reports")
        n_texts = len(reading.texts)
        return Spoken(
            family=self.family,
            eta=reading.predictions.eta,
            tone=reading.contributions,
            shares=reading.predictions.shares,
            spoken=reading.spoken,
            responses=np.full(n_texts, np.nan) if responses is None else responses,
            weight=np.ones(n_texts) if weight is None else weight,
        )

    def _predictions(self, X: sp.csr_array, given: Given | None) -> Predictions:
        n_documents, effects = X.shape[0], self.covariates[0]
        given = given or Given(np.zeros((n_documents, len(effects))), np.zeros(n_documents))
        return self.estimator.predictions(X, covariates=given.columns, offset=given.offset)

    def with_topics(self, topics: Array, weights: Vector, observed: Observed) -> MatrixReader:
        """Return a reader with other topics, refitted to the documents."""
        X = sp.csr_array(self.vectorizer.transform(self.tokenise(observed.tokens)))
        estimator = self.estimator.with_topics(topics, X, observed.responses, observed.sample_weight, observed.given)
        coherence = term_coherence(X, estimator.components_)
        return MatrixReader(self.vectorizer, estimator, coherence)

    def with_jobs(self, n_jobs: int | None) -> MatrixReader:
        """Return a reader with another number of threads."""
        return replace(self, estimator=copy(self.estimator).set_params(n_jobs=n_jobs))


def matrix_tokens(texts: Iterable[str] | Tokens, vectorizer: TextVectorizer) -> TokenisedTexts:
    """Tokenise texts as a vectorizer does."""
    if isinstance(texts, SentenceTexts):
        raise InputError("these texts were tokenised for a model of themes; give the texts themselves")
    return vectorizer.tokenise(texts)
