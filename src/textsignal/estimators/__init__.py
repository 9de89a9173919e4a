"""The scikit-learn surface: GLMNMF and JBNMF. No numerics here."""

from textsignal.estimators.base import TopicEstimator
from textsignal.estimators.glmnmf import GLMNMF
from textsignal.estimators.jbnmf import JBNMF
from textsignal.estimators.predictions import Predicting, Predictions

__all__ = ["GLMNMF", "JBNMF", "Predicting", "Predictions", "TopicEstimator"]
