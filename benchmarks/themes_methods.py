"""The methods that `benchmarks/themes.py` compares: from documents to something that reads texts.

Topic models without a response of their own get the GLM of `benchmarks/skill.py` on the documents' shares of topics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy import special
from skill_data import TERMS
from skill_methods import TOMOTOPY_SWEEPS, binomial_glm, tokens
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from themes_data import Documents, cut_sentences

import textsignal as ts
from textsignal.families import Binomial
from textsignal.reading.options import TOPIC_TERMS
from textsignal.reading.words import relevance
from textsignal.text.tokenise import words

#: Sweeps of LDA; 500 gave no better themes.
LDA_SWEEPS = 200
#: Singular vectors of TF-IDF, in place of a language model that would have to be downloaded.
EMBEDDED = 100
#: Training documents in whose sentences a topic is looked for, where the method itself does not say.
REACH_DOCUMENTS = 2000


class Fitted(Protocol):
    """A fitted method.

    profiles : terms in rows, topics in columns, in the order of all that follows; how much a topic uses a term.
    constant, contributions : (documents,) and (documents, topics), adding up to eta, the linear predictor.
    sums : (ways, documents) eta once more, added up in every way that the method has.
    shares : (documents, topics). reach, lift : (topics,) of training.
    leading : (topics, n) the terms that characterise topics.
    """

    profiles: pd.DataFrame

    def eta(self, texts: Sequence[str]) -> np.ndarray: ...
    def shares(self, texts: Sequence[str]) -> np.ndarray: ...
    def parts(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]: ...
    def sums(self, texts: Sequence[str]) -> np.ndarray: ...
    def leading(self, n: int) -> list[list[str]]: ...
    def reach(self) -> np.ndarray: ...
    def lift(self) -> np.ndarray: ...


@dataclass(frozen=True)
class Method:
    """name : for the command line; label : for the page; fit : documents, number of topics, seed; needs : packages."""

    name: str
    label: str
    fit: Callable[[Documents, int, int], Fitted]
    needs: tuple[str, ...] = ()

    @property
    def absent(self) -> list[str]:
        return [package for package in self.needs if find_spec(package) is None]


def themes_model(n_topics: int, scale: Binomial, seed: int, n_jobs: int = 1) -> Any:
    """The model that this benchmark is about."""
    return ts.TextResponseModel(n_topics, family=scale, random_state=seed, n_jobs=n_jobs)


def topics_model(n_topics: int, scale: Binomial, seed: int, training: str, n_jobs: int = 1) -> ts.TopicModel:
    estimator = ts.GLMNMF(n_topics, training=training, family=scale, random_state=seed, n_jobs=n_jobs)
    return ts.TopicModel(estimator)


class FittedThemes:
    """Themes and tone."""

    def __init__(self, train: Documents, n_topics: int, seed: int) -> None:
        self.model = themes_model(n_topics, train.scale, seed).fit(train.texts, train.y)
        self.profiles = pd.DataFrame(self.model.components_.T, index=list(self.model.terms_))

    def eta(self, texts: Sequence[str]) -> np.ndarray:
        return self.model.predictions(texts).eta

    def shares(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray(self.model.transform(texts))

    def parts(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        table = self.model.contributions(texts)
        return table["constant"].to_numpy(), table.drop(columns="constant").to_numpy()

    def sums(self, texts: Sequence[str]) -> np.ndarray:
        constant, parts = self.parts(texts)
        clauses = self.model.clauses(list(texts))
        by_clause = np.bincount(clauses["text"], clauses["contribution"], len(texts))
        return constant + np.array([parts.sum(axis=1), by_clause])

    def drivers(self, column: str) -> pd.Series:
        """A column of the table of drivers, in the order of contributions."""
        labels = self.model.get_feature_names_out()
        return self.model.drivers().set_index("label")[column].loc[labels]

    def leading(self, n: int) -> list[list[str]]:
        return [terms[:n] for terms in self.drivers("terms")]

    def reach(self) -> np.ndarray:
        return self.drivers("mentions").to_numpy()

    def lift(self) -> np.ndarray:
        return self.drivers("cost").to_numpy()


class Topics:
    """What all topic models share: reach, lift and leading terms, by the same rules."""

    profiles: pd.DataFrame
    train: Documents

    def shares(self, texts: Sequence[str]) -> np.ndarray:
        raise NotImplementedError

    def known(self, texts: Sequence[str]) -> np.ndarray:
        """(texts,) whether they have a known term."""
        raise NotImplementedError

    def parts(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError

    def eta(self, texts: Sequence[str]) -> np.ndarray:
        raise NotImplementedError

    def sums(self, texts: Sequence[str]) -> np.ndarray:
        constant, parts = self.parts(texts)
        return (constant + parts.sum(axis=1))[None]

    def leading(self, n: int) -> list[list[str]]:
        topics = self.profiles.to_numpy().T
        topics = topics / topics.sum(axis=1, keepdims=True)
        prevalence = self.shares(self.train.texts[:REACH_DOCUMENTS]).mean(axis=0)
        ranked = np.argsort(-relevance(topics, prevalence / prevalence.sum()), axis=1, kind="stable")[:, :n]
        return [[self.profiles.index[j] for j in row] for row in ranked]

    def reach(self) -> np.ndarray:
        """Share of training documents with a sentence whose main topic it is; sentences without a known term aside."""
        documents = self.train.texts[:REACH_DOCUMENTS]
        sentences, owners = cut_sentences(documents)
        spoken = np.zeros((len(documents), self.profiles.shape[1]), dtype=bool)
        known = self.known(sentences)
        spoken[owners[known], self.shares(sentences).argmax(axis=1)[known]] = True
        return spoken.mean(axis=0)

    def lift(self) -> np.ndarray:
        """How much the mean response would rise without what a topic costs training documents."""
        constant, parts = self.parts(self.train.texts)
        mean, eta = self.train.scale.mean, constant + parts.sum(axis=1)
        return np.array([mean(eta - np.minimum(part, 0)).mean() for part in parts.T]) - mean(eta).mean()


class FittedTopics(Topics):
    """Our topics, by predictive or joint training. Effects are against the average text."""

    def __init__(self, train: Documents, n_topics: int, seed: int, *, training: str) -> None:
        self.train = train
        self.model = topics_model(n_topics, train.scale, seed, training).fit(train.texts, train.y)
        topics = self.model.components_
        self.profiles = pd.DataFrame(
            (topics / topics.sum(axis=1, keepdims=True)).T, index=self.model.vectorizer_.terms_
        )

    def eta(self, texts: Sequence[str]) -> np.ndarray:
        return self.model.predictions(texts).eta

    def shares(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray(self.model.transform(texts))

    def known(self, texts: Sequence[str]) -> np.ndarray:
        return ~self.model.predictions(texts).unknown

    def parts(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        centred = self.model.estimator_.centred_effects
        weights = self.model.transform(texts) * centred.size
        return self.model.estimator_.intercept_ + centred.centre * weights.sum(axis=1), weights * centred.effects


@dataclass(frozen=True)
class ShareEffects:
    """The GLM on shares: their means, effects against the average text, and the linear predictor of that text."""

    mean: np.ndarray
    effects: np.ndarray
    constant: float


class Peer(Topics):
    """Another package's topics of documents or of sentences, then the binomial GLM on shares of topics.

    A document's shares are the mean of its units', each counting by its number of known terms; a text without a known
    term has the mean shares. Shares are found from the text alone on both sides, also by a model that saw responses.
    """

    def __init__(
        self, train: Documents, n_topics: int, seed: int, *, topics: type[UnitTopics], sentences: bool
    ) -> None:
        self.train, self.sentences = train, sentences
        self.counter = new_counter().fit(train.texts)
        units, owners = self.cut(train.texts)
        self.topics = topics(units, train.y[owners], self.counter, n_topics, seed)
        self.profiles = self.topics.profiles

    @cached_property
    def glm(self) -> ShareEffects:
        """Not needed for topics alone."""
        n_topics = self.profiles.shape[1]
        shares = self.known_shares(self.train.texts)
        mean = np.nanmean(shares, axis=0)
        shares = np.where(np.isnan(shares), mean, shares)
        scale = self.train.scale
        pure = binomial_glm(sp.csr_matrix(shares), self.train.y, sp.identity(n_topics, format="csr"), scale)
        # Shares add up to 1, so the linear predictor is the mean of those of texts of a single topic.
        alone = special.logit((pure - scale.lowest) / scale.n)
        return ShareEffects(mean, alone - mean @ alone, float(mean @ alone))

    def cut(self, texts: Sequence[str]) -> tuple[Sequence[str], np.ndarray]:
        return cut_sentences(texts) if self.sentences else (texts, np.arange(len(texts)))

    def known_shares(self, texts: Sequence[str]) -> np.ndarray:
        """Shares of topics, NaN for texts without a known term."""
        units, owners = self.cut(texts)
        counts = self.counter.transform(units)
        size = np.ravel(counts.sum(axis=1))
        of_text = sp.csr_array((size, (owners, np.arange(len(units)))), shape=(len(texts), len(units)))
        total = of_text.sum(axis=1)
        sums = of_text @ self.topics.shares(units, counts)
        return sums / np.where(total > 0, total, np.nan)[:, None]

    def shares(self, texts: Sequence[str]) -> np.ndarray:
        shares = self.known_shares(texts)
        return np.where(np.isnan(shares), self.glm.mean, shares)

    def known(self, texts: Sequence[str]) -> np.ndarray:
        return np.diff(self.counter.transform(texts).indptr) > 0

    def eta(self, texts: Sequence[str]) -> np.ndarray:
        return self.shares(texts) @ self.glm.effects + self.glm.constant

    def parts(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        return np.full(len(texts), self.glm.constant), self.shares(texts) * self.glm.effects


def new_counter() -> ts.TextVectorizer:
    """The terms of `benchmarks/skill.py`."""
    return ts.TextVectorizer(TOPIC_TERMS[0], TERMS[0], weighting="count", strip_markup=False)


class UnitTopics(Protocol):
    """Topics of units of text; shares : (units, topics) each summing to 1, of units that have a known term."""

    profiles: pd.DataFrame

    def __init__(
        self, units: Sequence[str], y: np.ndarray, counter: ts.TextVectorizer, n_topics: int, seed: int
    ) -> None: ...
    def shares(self, units: Sequence[str], counts: sp.csr_matrix) -> np.ndarray: ...


class TomotopyLDA:
    """tomotopy's LDA with its own defaults, one worker."""

    def __init__(
        self, units: Sequence[str], y: np.ndarray, counter: ts.TextVectorizer, n_topics: int, seed: int
    ) -> None:
        self.terms = counter.terms_
        self.model = self.trained(tokens(counter.transform(units), self.terms), y, n_topics, seed)
        topics = [self.model.get_topic_word_dist(k) for k in range(n_topics)]
        self.profiles = pd.DataFrame(np.array(topics).T, index=list(self.model.used_vocabs))

    def trained(self, documents: list[list[str]], y: np.ndarray, n_topics: int, seed: int) -> Any:
        import tomotopy

        model = tomotopy.LDAModel(k=n_topics, seed=seed)
        for document in documents:
            model.add_doc(document)  # it leaves empty documents out
        model.train(LDA_SWEEPS, workers=1)
        return model

    def shares(self, units: Sequence[str], counts: sp.csr_matrix) -> np.ndarray:
        documents = tokens(counts, self.terms)
        known = np.array([len(document) > 0 for document in documents], dtype=bool)
        new = [self.model.make_doc(document) for document in documents if document]
        self.model.infer(new, workers=1)
        shares = np.zeros((len(documents), self.profiles.shape[1]))
        shares[known] = np.array([document.get_topic_dist() for document in new]).reshape(len(new), -1)
        return shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)


class TomotopySLDA(TomotopyLDA):
    """tomotopy's supervised LDA, linear response, standardised."""

    def trained(self, documents: list[list[str]], y: np.ndarray, n_topics: int, seed: int) -> Any:
        import tomotopy

        model = tomotopy.SLDAModel(k=n_topics, vars=["l"], seed=seed)
        for document, response in zip(documents, (y - y.mean()) / y.std(), strict=True):
            model.add_doc(document, [response])
        model.train(TOMOTOPY_SWEEPS, workers=1)
        return model


class BertopicClusters:
    """BERTopic: TF-IDF and truncated SVD as its documentation has it, k-means, c-TF-IDF. A unit has one topic."""

    def __init__(
        self, units: Sequence[str], y: np.ndarray, counter: ts.TextVectorizer, n_topics: int, seed: int
    ) -> None:
        from bertopic import BERTopic
        from bertopic.dimensionality import BaseDimensionalityReduction

        embedding = make_pipeline(
            TfidfVectorizer(stop_words="english"), TruncatedSVD(EMBEDDED, random_state=seed), Normalizer()
        )
        terms = list(counter.terms_)
        self.model = BERTopic(
            embedding_model=embedding,
            umap_model=BaseDimensionalityReduction(),
            hdbscan_model=KMeans(n_topics, n_init=1, random_state=seed),
            vectorizer_model=CountVectorizer(vocabulary=terms, tokenizer=words, token_pattern=None),
        ).fit(list(units))
        self.profiles = pd.DataFrame(self.model.c_tf_idf_.toarray().T, index=terms)

    def shares(self, units: Sequence[str], counts: sp.csr_matrix) -> np.ndarray:
        return np.eye(self.profiles.shape[1])[self.model.transform(list(units))[0]]


TOMOTOPY, BERTOPIC = ("tomotopy",), ("bertopic", "umap", "hdbscan")
OURS = Method("themes", "themes", FittedThemes)
METHODS = (
    OURS,
    Method("predictive", "predictive", partial(FittedTopics, training="predictive")),
    Method("joint", "joint", partial(FittedTopics, training="joint")),
    Method("lda", "LDA, documents", partial(Peer, topics=TomotopyLDA, sentences=False), TOMOTOPY),
    Method("lda-sentences", "LDA, sentences", partial(Peer, topics=TomotopyLDA, sentences=True), TOMOTOPY),
    Method("slda", "sLDA", partial(Peer, topics=TomotopySLDA, sentences=False), TOMOTOPY),
    Method(
        "bertopic-documents", "BERTopic, documents", partial(Peer, topics=BertopicClusters, sentences=False), BERTOPIC
    ),
    Method("bertopic", "BERTopic, sentences", partial(Peer, topics=BertopicClusters, sentences=True), BERTOPIC),
)
