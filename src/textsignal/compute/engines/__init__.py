"""Engines hold blocks of texts and apply a step to all: an `Engine` is a LocalEngine or a DaskEngine."""

from textsignal.compute.engines.local import Compute, Item
from textsignal.compute.engines.local import LocalEngine as Engine

__all__ = ["Compute", "Engine", "Item"]
