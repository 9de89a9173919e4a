"""One prediction explained: what topics and words add to it, and how people, notebooks and terminals see that."""

from textsignal.explanation.build import Explanation, Mark, explain_text

__all__ = ["Explanation", "Mark", "explain_text"]
