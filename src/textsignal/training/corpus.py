"""Inputs of training: texts with responses, blocks of them, shared parameters, and sums over blocks."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import special

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.kernels import Rows, pad
from textsignal.data.covariates.design import Given
from textsignal.families import linear_predictor
from textsignal.training.draws import content_keys, mixed_with

#: Number of groups of tone: a fit to thousands of texts then costs as little as one to hundreds.
GROUPS = 100


@dataclass(frozen=True)
class Corpus:
    """Texts and responses to train on.

    X : (texts, terms) nonnegative CSR.
    y : (texts,) encoded response, NaN if missing.
    weight : (texts,) how often each text counts.
    given : covariates and offset; None if absent.
    offset : (texts,) their linear predictor while topics are learnt; None if absent.
    """

    X: sp.csr_array
    y: Vector
    weight: Vector
    given: Given | None = None
    offset: Vector | None = None

    @property
    def offsets(self) -> Vector:
        """(texts,) the offset while topics are learnt, 0 if absent."""
        return np.zeros(len(self.y)) if self.offset is None else self.offset

    @property
    def all_given(self) -> Given:
        """Covariates and offset; no columns and 0 if absent."""
        return Given.nothing(len(self.y)) if self.given is None else self.given

    def at(self, rows: NDArray[Any]) -> Corpus:
        """Return the corpus of a subset of the texts."""
        given = None if self.given is None else self.given.at(rows)
        offset = None if self.offset is None else self.offset[rows]
        return Corpus(sp.csr_array(self.X[rows]), self.y[rows], self.weight[rows], given, offset)

    @property
    def profile(self) -> Vector:
        """(terms,) each term's share of all text: the null model of the text."""
        totals = np.asarray(self.X.T @ self.weight, dtype=float)
        return totals / totals.sum()

    @property
    def mean_size(self) -> float:
        """Mean row total of the texts that have a term."""
        totals = np.asarray(self.X.sum(axis=1), dtype=float)
        return float(np.average(totals, weights=self.weight * (totals > 0)))

    def text_null_deviance(self) -> float:
        """2 sum weight * x log(x / (row total * profile)): the text deviance without topics."""
        rows = np.asarray(self.X.sum(axis=1), dtype=float)
        terms = np.asarray(self.X.T @ self.weight, dtype=float)
        everything = special.xlogy(terms, terms).sum() - special.xlogy(terms.sum(), terms.sum())
        data = self.X.data.astype(float)
        cells = np.sum(np.repeat(self.weight, np.diff(self.X.indptr)) * special.xlogy(data, data))
        return 2 * float(cells - np.sum(self.weight * special.xlogy(rows, rows)) - everything)


@dataclass(frozen=True)
class Distinct:
    """Distinct texts of nonzero weight, in an order that depends only on their content.

    Repeating, weighting or reordering texts then gives the same bits. Joint training amplifies rounding: a difference
    in the last digit of a sum can lead to other topics.

    corpus : the distinct texts, with the total weight of each.
    places : (texts,) row of each text in the corpus, -1 for weight 0.
    """

    corpus: Corpus
    places: NDArray[np.int64]

    def for_all(self, values: Array, others: Array) -> Array:
        """Expand values (rows of the corpus, ...) to all texts; `others` for those of weight 0, in their order."""
        rows = self.places.copy()
        rows[rows < 0] = len(values) + np.arange(len(others))
        return np.concatenate([values, others])[rows]


def distinct_documents(corpus: Corpus) -> Distinct:
    """Merge texts that are equal in terms, response, covariates and offset."""
    counts = np.flatnonzero(corpus.weight > 0)
    # 64-bit keys: among a million texts, a collision occurs once in 30 million corpora.
    given = () if corpus.given is None else (corpus.given.offset, *corpus.given.columns.T)
    offset = () if corpus.offset is None else (corpus.offset,)
    by_text = content_keys(corpus.X, corpus.y)[counts]
    keys = mixed_with(by_text, *(column[counts] for column in (*given, *offset)))
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    # Ordered by terms and response, so that covariates and offset do not change the order.
    order = np.argsort(by_text[first], kind="stable")
    first, row = first[order], np.argsort(order)[row]
    places = np.full(len(corpus.y), -1)
    places[counts] = row
    weight = np.bincount(row, weights=corpus.weight[counts]).astype(float)
    return Distinct(replace(corpus.at(counts[first]), weight=weight), places)


def grouped(
    tone: Vector, folds: NDArray[np.int64], responses: Vector, weight: Vector
) -> tuple[Vector, NDArray[np.int64], Vector, Vector]:
    """Merge texts of similar tone, equal fold and equal response: tone (rows, 1), folds, responses, weights."""
    group = np.empty(len(tone), dtype=np.int64)
    group[np.argsort(tone, kind="stable")] = np.arange(len(tone)) * GROUPS // len(tone)
    size = np.maximum(np.bincount(group, weights=weight), np.finfo(float).tiny)
    means = np.bincount(group, weights=weight * tone) / size
    distinct_folds, fold = np.unique(folds, return_inverse=True)
    values, value = np.unique(responses, return_inverse=True)
    shape = GROUPS, distinct_folds.size, values.size
    kinds, places = np.unique(np.ravel_multi_index((group, fold, value), shape), return_inverse=True)
    group, fold, value = np.unravel_index(kinds, shape)
    counts = np.bincount(places, weights=weight).astype(float)
    return means[group][:, None], distinct_folds[fold], values[value], counts


@dataclass(frozen=True)
class Responses:
    """Responses of one block of texts, and the columns of their GLM.

    W : (texts, padded columns) columns of the GLM, usually weights of topics.
    y, response_weight : (texts,) encoded response, and how often the text counts; both 0 if the response is missing.
    tilt : (texts,) a slope subtracted from the response's loss, or 0.0; (texts, P) for P linear predictors.
    offset : (texts,) added to the linear predictor, or to each of P; or (texts, P), or 0.0.
    """

    W: Array
    y: Vector
    response_weight: Vector
    tilt: Vector | float = 0.0
    offset: Vector | float = 0.0

    def linear_predictor(self, parameters: Parameters) -> Vector:
        """(texts,) intercept + W beta + offset; (texts, P) for P linear predictors."""
        eta, offset = parameters.linear_predictor(self.W), np.asarray(self.offset)
        return eta + (offset[:, None] if eta.ndim > offset.ndim == 1 else offset)


@dataclass(frozen=True, kw_only=True)
class Block(Responses):
    """Block of texts. Steps change only `W` and the memory that they reuse, in place.

    X : the terms of the texts; text_weight : (texts,) how often the text counts.
    text_constant : sum of text_weight * (x log x - x), the part of the text loss that is constant in the parameters.
    pull, moved, values : memory of joint training, (texts, padded topics) and (nonzeros,): repeated allocation makes
        threads slow each other down.
    """

    X: Rows
    text_weight: Array
    text_constant: float = 0.0
    pull: Array | None = None
    moved: Array | None = None
    values: Array | None = None


def place(corpus: Corpus, W: Array, compute: Compute) -> list[Block]:
    """Cut the corpus and its starting weights (texts, topics) into the engine's blocks."""
    X, kernels = corpus.X, compute.kernels
    observed = ~np.isnan(corpus.y)
    blocks = []
    for start, stop in compute.engine.cut(X.shape[0], X.nnz, X.shape[1]):
        block = slice(start, stop)
        rows = Rows.of(X, start, stop)
        weight = corpus.weight[block]
        data = rows.data.astype(float)
        constant = np.sum(np.repeat(weight, np.diff(rows.indptr)) * (special.xlogy(data, data) - data))
        block_W = pad(W[block], kernels, X.dtype)
        blocks.append(
            Block(
                X=rows,
                y=np.where(observed[block], corpus.y[block], 0.0),
                text_weight=weight.astype(X.dtype),
                response_weight=weight * observed[block],
                offset=0.0 if corpus.offset is None else corpus.offset[block],
                text_constant=float(constant),
                W=block_W,
                pull=kernels.zeros(block_W.shape, X.dtype),
                moved=kernels.zeros(block_W.shape, X.dtype),
                values=np.empty_like(rows.data),
            )
        )
    return blocks


@dataclass(frozen=True)
class Parameters:
    """Parameters shared by all texts.

    HT : (terms, padded topics) topics, padded with zeros to whole vector lanes, which stay zero through every update.
    beta : (padded topics,) effects; (padded topics, P) if a text has P linear predictors.
    intercept : constant of the linear predictor, or (P,) of each.
    """

    HT: Array
    beta: Vector
    intercept: float | Vector

    @classmethod
    def without_effects(cls, HT: Array, n_predictors: int) -> Self:
        """Topics HT with effects and intercept 0."""
        shape = () if n_predictors == 1 else (n_predictors,)
        return cls(HT, np.zeros((HT.shape[1], *shape)), np.zeros(shape))

    @property
    def coefficients(self) -> Vector:
        """(padded topics + 1,) effects, then the intercept; of P linear predictors (padded topics + 1, P)."""
        return np.concatenate([self.beta, np.asarray(self.intercept, dtype=float)[None]])

    def with_coefficients(self, coefficients: Vector) -> Parameters:
        """Return the parameters with other effects and intercept."""
        return replace(self, beta=coefficients[:-1], intercept=coefficients[-1])

    def linear_predictor(self, W: Array) -> Vector:
        """eta = intercept + W beta."""
        return linear_predictor(W, self.beta, self.intercept)


class Addable:
    """A dataclass whose values add field by field."""

    def __add__(self, other: Self) -> Self:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True)
class ResponseSums(Addable):
    """Loss of the responses at the current weights and coefficients, with its derivatives in (beta, intercept).

    gradient : (padded topics + 1,), of P linear predictors (padded topics + 1, P).
    hessian : in the order of the flattened gradient.
    """

    loss: float
    gradient: Vector
    hessian: Vector
