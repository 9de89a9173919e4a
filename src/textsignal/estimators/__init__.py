"""The scikit-learn surface: GLMNMF and JBNMF. No numerics here."""

from textsignal.estimators.base import Predictions, TopicEstimator
from textsignal.estimators.glmnmf import GLMNMF
from textsignal.estimators.jbnmf import JBNMF

__all__ = ["GLMNMF", "JBNMF", "Predictions", "TopicEstimator"]
