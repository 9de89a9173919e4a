"""Inputs of training: blocks of documents, their shared parameters, and the sums over blocks."""

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


@dataclass(frozen=True)
class Corpus:
    """Documents and responses to train on.

    X : (documents, terms) nonnegative CSR.
    y : (documents,) encoded response, NaN if missing.
    weight : (documents,) how often each document counts.
    given : covariates and offset; None if absent.
    offset : (documents,) their linear predictor while topics are learnt; None if absent.
    """

    X: sp.csr_array
    y: Vector
    weight: Vector
    given: Given | None = None
    offset: Vector | None = None

    @property
    def offsets(self) -> Vector:
        """(documents,) the offset while topics are learnt, 0 if absent."""
        return np.zeros(len(self.y)) if self.offset is None else self.offset

    @property
    def all_given(self) -> Given:
        """Covariates and offset; no columns and 0 if absent."""
        return Given.nothing(len(self.y)) if self.given is None else self.given

    def at(self, rows: NDArray[Any]) -> Corpus:
        """Return the corpus of a subset of the documents."""
        given, offset = self.given, self.offset
        return Corpus(
            X=sp.csr_array(self.X[rows]),
            y=self.y[rows],
            weight=self.weight[rows],
            given=None if given is None else given.at(rows),
            offset=None if offset is None else offset[rows],
        )

    @property
    def profile(self) -> Vector:
        """(terms,) each term's share of all text: the null model of the text."""
        totals = np.asarray(self.X.T @ self.weight, dtype=float)
        return totals / totals.sum()

    @property
    def mean_size(self) -> float:
        """Mean row total of the documents that have text."""
        totals = np.asarray(self.X.sum(axis=1), dtype=float)
        return float(np.average(totals, weights=self.weight * (totals > 0)))

    @property
    def has_text(self) -> NDArray[np.bool_]:
        """(documents,) True if the document has any term."""
        return np.diff(self.X.indptr) > 0

    def text_null_deviance(self) -> float:
        """2 sum weight * x log(x / (row total * profile)): the text deviance without topics."""
        rows = np.asarray(self.X.sum(axis=1), dtype=float)
        terms = np.asarray(self.X.T @ self.weight, dtype=float)
        everything = special.xlogy(terms, terms).sum() - special.xlogy(terms.sum(), terms.sum())
        data = self.X.data.astype(float)
        cells = np.sum(np.repeat(self.weight, np.diff(self.X.indptr)) * special.xlogy(data, data))
        return 2 * float(cells - np.sum(self.weight * special.xlogy(rows, rows)) - everything)


@dataclass(frozen=True)
class Scratch:
    """Memory reused by all steps: repeated allocation makes threads slow each other down.

    pull, moved : (documents, padded topics); values : (nonzeros,).
    """

    pull: Array
    moved: Array
    values: Array


#: For blocks whose steps use no scratch memory.
NO_SCRATCH = Scratch(np.empty((0, 0)), np.empty((0, 0)), np.empty(0))


@dataclass(frozen=True)
class Responses:
    """Responses of one block of documents, and the columns of their GLM.

    W : (documents, padded columns) columns of the GLM, usually weights of topics.
    y : (documents,) encoded response, 0 if missing.
    response_weight : (documents,) how often the document counts, 0 if the response is missing.
    tilt : (documents,) a slope subtracted from the response's loss, or 0.0; (documents, P) for P linear predictors.
    offset : (documents,) added to the linear predictor, or to each of P; or (documents, P), or 0.0.
    """

    W: Array
    y: Vector
    response_weight: Vector
    tilt: Vector | float
    offset: Vector | float

    def linear_predictor(self, parameters: Parameters) -> Vector:
        """(documents,) intercept + W beta + offset; (documents, P) for P linear predictors."""
        eta, offset = parameters.linear_predictor(self.W), np.asarray(self.offset)
        return eta + (offset[:, None] if eta.ndim > offset.ndim == 1 else offset)


@dataclass(frozen=True)
class Block(Responses):
    """Block of documents. Steps change only `W` and scratch memory, in place.

    X : the documents' text.
    text_weight : (documents,) how often the document counts.
    text_constant : sum of text_weight * (x log x - x), the part of the text loss that is constant in the parameters.
    scratch : memory for steps.
    """

    X: Rows
    text_weight: Array
    text_constant: float
    scratch: Scratch


def place(corpus: Corpus, W: Array, compute: Compute) -> list[Block]:
    """Cut the corpus and its starting weights (documents, topics) into the engine's blocks."""
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
        pull, moved = (kernels.zeros(block_W.shape, X.dtype) for _ in range(2))
        blocks.append(
            Block(
                X=rows,
                y=np.where(observed[block], corpus.y[block], 0.0),
                text_weight=weight.astype(X.dtype),
                response_weight=weight * observed[block],
                tilt=0.0,
                offset=0.0 if corpus.offset is None else corpus.offset[block],
                text_constant=float(constant),
                W=block_W,
                scratch=Scratch(pull, moved, np.empty_like(rows.data)),
            )
        )
    return blocks


@dataclass(frozen=True)
class Parameters:
    """Parameters shared by all documents.

    HT : (terms, padded topics) topics, term by term, so that one term's row is contiguous.
    beta : (padded topics,) effects; (padded topics, P) where a document has P linear predictors.
    intercept : constant of the linear predictor, or (P,) of each.

    Topics are padded with zeros to whole vector lanes; padding stays zero through every update.
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
    """Sums over the responses at the current weights and coefficients.

    loss : negative log-likelihood.
    gradient : (padded topics + 1,) of the loss in (beta, intercept), of P linear predictors (padded topics + 1, P).
    hessian : of the same, in the order of the flattened gradient.
    """

    loss: float
    gradient: Vector
    hessian: Vector


@dataclass(frozen=True)
class Sums(Addable):
    """Sums of one sweep over documents, at the current weights and parameters.

    pull : (terms, padded topics) sum of weight * w x / (wH): the numerator of the topics' update.
    mass : (padded topics,) sum of weight * w: its denominator.
    text_loss : generalised KL divergence.
    response : the responses' share.
    """

    pull: Array
    mass: Array
    text_loss: float
    response: ResponseSums


@dataclass(frozen=True)
class AddedNumber(Addable):
    """One number, for sweeps that ask for nothing more."""

    value: float
