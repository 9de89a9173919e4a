"""Texts as they are given, checked, cleaned, and in UTF-8 for the compiled pass."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import DTypeLike, NDArray

from textsignal.errors import InputError
from textsignal.text.markup import without_markup
from textsignal.text.splitting import Bytes, survey

#: So many texts of an Arrow array are made strings at a time.
_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class ArrowTexts(Sequence[str]):
    """Texts that lie in an Arrow array of large strings; each is a string of Python only when it is asked for.

    Examples
    --------
    >>> texts = ArrowTexts(pa.array(["Clean room.", "Noisy", "Fine"], pa.large_string()))
    >>> len(texts), texts[0], texts[-2:], list(texts)
    (3, 'Clean room.', ['Noisy', 'Fine'], ['Clean room.', 'Noisy', 'Fine'])
    """

    array: Any

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        return str(self.array[int(place)].as_py())

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self.array.slice(start, _AT_ONCE).to_pylist()


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


def checked_texts(texts: Iterable[str]) -> Sequence[str]:
    """Give the texts as a list, or as what they are if they lie in Arrow; raise where one is no string, naming it."""
    if isinstance(texts, ArrowTexts):
        return texts
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        return _of_arrow(texts)
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(f"a list of texts is needed, not a single {type(texts).__name__}; for one text give [text]")
    if isinstance(texts, Mapping | Set) and not isinstance(texts, KeysView):
        raise InputError(
            f"a list of texts is needed, not a {type(texts).__name__}: its order may be another; give a list"
        )
    if getattr(texts, "ndim", 1) != 1:
        raise InputError("a list of texts is needed, not a table; give one column of it")
    documents = list(texts)
    for position, text in enumerate(documents):
        if not isinstance(text, str):
            raise _no_string(position, text)
    return documents


def _no_string(position: int, text: object) -> InputError:
    return InputError(
        f"text {position + 1} is a {type(text).__name__} ({reprlib.repr(text)}), counting from 1; "
        'every text must be a string, "" where there is none'
    )


def _of_arrow(texts: Any) -> ArrowTexts:
    kind = texts.type.value_type if pa.types.is_dictionary(texts.type) else texts.type
    if not any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        raise InputError(f"texts must be strings, but the Arrow array is of type {texts.type}")
    if texts.null_count:
        raise _no_string(pc.index(texts.is_null(), True).as_py(), None)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"the texts of the Arrow array are damaged: {error}") from error
    whole = texts.cast(pa.large_string())
    return ArrowTexts(whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole)


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
