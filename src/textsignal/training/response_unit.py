"""Rescaling of responses to the range that the steps and tolerances of training are designed for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from textsignal.arrays import Vector
from textsignal.families import Family
from textsignal.training.corpus import Corpus
from textsignal.training.fitted import FittedTopics

#: Range of standard deviations that need no rescaling, and largest mean, in standard deviations.
ORDINARY, FAR = (1e-2, 1e4), 1e6


@dataclass(frozen=True)
class Unit:
    """Training sees (response - centre) / size; size is a power of 2, so that nothing is rounded."""

    centre: float = 0.0
    size: float = 1.0

    @classmethod
    def of(cls, family: Family, y: Vector, weight: Vector, fit_intercept: bool) -> Unit:
        """Choose the unit; the identity if the response is of ordinary size or has no unit.

        y : (documents,) encoded responses, NaN if missing; without an intercept they are not shifted.
        """
        if not family.in_units:
            return cls()
        known = ~np.isnan(y) & (weight > 0)
        mean = float(np.average(y[known], weights=weight[known]))
        if ORDINARY[0] <= family.unit <= ORDINARY[1] and abs(mean) <= FAR * family.unit:
            return cls()
        return cls(mean if fit_intercept else 0.0, 2.0 ** round(np.log2(family.unit)))

    def corpus(self, corpus: Corpus) -> Corpus:
        """The corpus with responses and offset in this unit."""
        if self == Unit():
            return corpus
        given = corpus.given
        return replace(
            corpus,
            y=(corpus.y - self.centre) / self.size,
            given=None if given is None else replace(given, offset=given.offset / self.size),
        )

    def restored(self, fitted: FittedTopics, weight: float) -> FittedTopics:
        """Return the model in the original unit of the responses; weight : of the documents that have one."""
        if self == Unit():
            return fitted
        size, trace = self.size, fitted.trace
        effects, errors = fitted.covariates, fitted.covariate_errors
        return replace(
            fitted,
            family=fitted.family.in_unit(1 / size),
            effects=fitted.effects * size,
            intercept=fitted.intercept * size + self.centre,
            hessian=fitted.hessian / size**2,
            word_effects=fitted.word_effects * size,
            trace=replace(trace, response=trace.response + weight * np.log(size)),
            covariates=None if effects is None else effects * size,
            covariate_errors=None if errors is None else errors * size,
        )
