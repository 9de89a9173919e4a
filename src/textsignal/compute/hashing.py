"""Numbers that look random and follow from keys alone, whatever the order of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsignal.compute.compiling import compiling

Keys = NDArray[np.uint64]

#: Spreads small numbers over 64 bits: an odd one near 2^64 over the golden ratio.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


def drawn(keys: Keys, *draw: int) -> Keys:
    """(documents,) new numbers from keys, others for every draw."""
    for number in draw:
        keys = mixed(keys + mixed(np.array([number], dtype=np.uint64) + np.uint64(1)))
    return keys


def mixed(numbers: Keys) -> Keys:
    """Every bit of the result depends on every bit of the number."""
    spread: Keys = mix(numbers)
    return spread


@compiling()
def mix(number):  # type: ignore[no-untyped-def]
    """SplitMix64's finaliser."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
