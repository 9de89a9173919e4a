"""The scikit-learn surface on matrices: GLMNMF and JBNMF, and predictions."""

from textsignal.estimators.nmf import GLMNMF, JBNMF, TopicEstimator
from textsignal.estimators.predictions import Predicting, Predictions

__all__ = ["GLMNMF", "JBNMF", "Predicting", "Predictions", "TopicEstimator"]
