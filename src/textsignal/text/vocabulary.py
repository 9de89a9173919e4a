"""Numbers of words that grow batch by batch."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class Vocabulary:
    """Words in the order in which they were first met: batches one after the other give the numbers of all at once.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> vocabulary.number(["clean", "room"]), vocabulary.number(["noisy", "room"]), vocabulary.words
    (array([0, 1], dtype=int32), array([2, 1], dtype=int32), ['clean', 'room', 'noisy'])
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._numbers = {word: number for number, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def words(self) -> list[str]:
        """All words, by their numbers."""
        return list(self._numbers)

    def number(self, words: Iterable[str]) -> NDArray[np.int32]:
        """(words,) the number of each; a new word gets the next one."""
        numbers = self._numbers
        return np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)
