"""Probabilities of unordered classes, from the linear predictors of each class against all others.

    log P(class c) / P(first class) = intercept_c + sum over classes d of slope_dc eta_d

eta_d is the linear predictor of class d against all others, out of fold for training documents. The
probabilities sum to 1 and are calibrated on documents that tone has not seen.
"""

from __future__ import annotations

import numpy as np

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.families import Family, linear_predictor
from textsignal.training.contributions import COMMON_SPREAD
from textsignal.training.glm import ResponseModel, fit_glm


def fit_class_chances(predictors: Vector, y: Vector, weight: Vector, family: Family, compute: Compute) -> Vector:
    """(classes + 1, classes - 1) slopes, and intercepts last.

    predictors : (documents, classes); y : (documents,) numbers of classes from 0 on, NaN if missing; weight :
    (documents,) how often each counts; family : a Categorical.
    """
    model = ResponseModel(family, compute, 0.5 / COMMON_SPREAD**2, fit_intercept=True)
    return np.asarray(fit_glm(model, predictors, y, weight).coefficients, dtype=float)


def class_predictors(coefficients: Vector, predictors: Vector) -> Vector:
    """(documents, classes - 1) linear predictors of a Categorical; predictors : (documents, classes)."""
    return linear_predictor(predictors, coefficients[:-1], coefficients[-1])
