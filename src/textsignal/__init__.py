"""textsignal: topics that explain the text and the number beside it."""

from textsignal import errors
from textsignal.estimators import GLMNMF, JBNMF

__version__ = "0.1.0.dev0"
