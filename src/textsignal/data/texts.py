"""Texts as they are given: strings in a list, or lying in Arrow."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, overload

import pyarrow as pa
import pyarrow.compute as pc

from textsignal.errors import InputError

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
