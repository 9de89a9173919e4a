"""Texts as they are given, checked, cleaned, and in UTF-8 for the compiled pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import DTypeLike, NDArray

from textsignal.data.rows import ArrowTexts, checked_texts
from textsignal.text.markup import without_markup
from textsignal.text.splitting import Bytes, survey


def texts_at(texts: Sequence[str], rows: NDArray[np.int64]) -> Sequence[str]:
    """Some of the texts, in the order of `rows`; those in Arrow's memory stay there."""
    return ArrowTexts(texts.array.take(rows)) if isinstance(texts, ArrowTexts) else [texts[i] for i in rows]


def texts_together(parts: Sequence[Sequence[str]]) -> Sequence[str]:
    """Texts of parts, one after the other; in Arrow's memory where all are.

    Examples
    --------
    >>> noisy = ArrowTexts(pa.array(["Noisy"], pa.large_string()))
    >>> texts_together([["Clean"], noisy]), len(texts_together([noisy, noisy]))
    (['Clean', 'Noisy'], 2)
    """
    arrays = [texts.array for texts in parts if isinstance(texts, ArrowTexts)]
    return ArrowTexts(pa.concat_arrays(arrays)) if 0 < len(arrays) == len(parts) else [*chain.from_iterable(parts)]


def text_keys(texts: Iterable[str]) -> NDArray[np.uint64]:
    """(documents,) a number for each text, the same on every machine."""
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@dataclass(frozen=True, eq=False)
class Encoded:
    """Texts that were checked and cleaned.

    source : the same in UTF-8; beyond : (texts,) whether each holds more than ASCII; cleaned : whether it was changed.
    """

    texts: Sequence[str]
    source: Bytes
    beyond: NDArray[np.bool_]
    cleaned: NDArray[np.bool_]


def encode(texts: Iterable[str], clean: Callable[[str], str]) -> Encoded:
    """Texts after `clean`; `without_markup` is asked about those alone that hold a "<" or a "&"."""
    given = checked_texts(texts)
    source = as_bytes(given)
    beyond, marked = survey(source)
    rows = np.flatnonzero(marked if clean is without_markup else np.full(len(given), clean is not str)).tolist()
    cleaned = ((row, given[row], clean(given[row])) for row in rows)
    changed = {row: after for row, before, after in cleaned if before != after}
    is_changed = np.zeros(len(given), dtype=bool)
    if changed:
        is_changed[list(changed)] = True
        given = _replaced(given, is_changed, list(changed.values()))
        source = as_bytes(given)
        beyond, _ = survey(source)
    return Encoded(given, source, beyond, is_changed)


def _replaced(texts: Sequence[str], places: NDArray[np.bool_], others: Sequence[str]) -> Sequence[str]:
    """Texts with others in some places."""
    if isinstance(texts, ArrowTexts):
        return ArrowTexts(pc.replace_with_mask(texts.array, places, pa.array(others, pa.large_string())))
    replaced = list(texts)
    for row, text in zip(np.flatnonzero(places).tolist(), others, strict=True):
        replaced[row] = text
    return replaced


def as_bytes(texts: Sequence[str]) -> Bytes:
    """Texts in UTF-8; lone surrogates, which it does not know, are written as if it did."""
    if isinstance(texts, ArrowTexts):
        return bytes_of(texts.array)
    try:
        return bytes_of(pa.array(texts, pa.large_string()))
    except UnicodeEncodeError:
        return bytes_of(pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary()))


def bytes_of(array: Any) -> Bytes:
    """The memory of an Arrow array of large strings."""
    _, offsets, data = array.buffers()
    begin = array.offset
    # An empty array may come without offsets.
    ends = _viewed(offsets, np.int64)[begin : begin + len(array) + 1] if len(array) else _viewed(bytes(8), np.int64)
    return Bytes(_viewed(data, np.uint8), ends)


def _viewed(buffer: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Memory as an array, always read-only: loops are compiled for that alone."""
    view = np.frombuffer(b"" if buffer is None else buffer, dtype)
    view.flags.writeable = False
    return view
