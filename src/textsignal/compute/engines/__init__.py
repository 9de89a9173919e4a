"""Where blocks of texts live, and how a step is taken over all: an `Engine` is a LocalEngine or a DaskEngine."""

from textsignal.compute.engines.local import Compute, Item
from textsignal.compute.engines.local import LocalEngine as Engine

__all__ = ["Compute", "Engine", "Item"]
