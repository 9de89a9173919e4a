"""Texts on disk: cut into sentences, each word a number of its shard, without their characters."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from textsignal.errors import InputError, OutputError, StorageError
from textsignal.text.tokens import SentenceTexts, starts_of

#: Suffix of a file that is being written.
UNFINISHED = ".unfinished"
#: The format's names of the types in blocks.
DTYPES = {"F64": np.float64, "I64": np.int64, "U64": np.uint64, "I32": np.int32, "U16": np.uint16}
#: File with the sources of a folder of shards.
MADE_OF = "stream.json"


@dataclass(frozen=True)
class NotHeld(Sequence[str]):
    """Texts that were discarded, of which only the number is known."""

    n_texts: int

    def __len__(self) -> int:
        return self.n_texts

    def __getitem__(self, rows: Any) -> Any:
        raise IndexError("texts of a shard are not held")


@dataclass(frozen=True, eq=False)
class Held:
    """Arrays in memory instead of a file."""

    arrays: Mapping[str, NDArray[Any]]

    def __sizeof__(self) -> int:
        return sum(values.nbytes for values in self.arrays.values())


#: Where arrays are: in a file, or in memory.
Place: TypeAlias = Path | Held


def put_arrays(arrays: Mapping[str, NDArray[Any]], path: Path | None) -> Place:
    """Write arrays to a file, completely or not at all; keep them in memory if `path` is None."""
    if path is None:
        return Held(arrays)
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        save_file({name: np.ascontiguousarray(values) for name, values in arrays.items()}, unfinished)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except (OSError, SafetensorError) as error:
        unfinished.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"cannot write {path.name} into {path.parent}: {reason}") from error
    return path


def with_ending(place: Place, ending: str) -> Path | None:
    """Return a file of the same name with another ending; None if the place is in memory."""
    return place.with_suffix(ending) if isinstance(place, Path) else None


def read_arrays(place: Place) -> dict[str, NDArray[Any]]:
    """Return arrays of a file, or those in memory; StorageError if the file is missing or damaged."""
    if isinstance(place, Held):
        return dict(place.arrays)
    try:
        return dict(load_file(place))
    except (OSError, SafetensorError) as error:
        raise _damaged(place, error) from error


def map_arrays(place: Place) -> dict[str, NDArray[Any]]:
    """Return arrays as `read_arrays` does, mapped into memory without a copy."""
    if isinstance(place, Held):
        return read_arrays(place)
    try:
        # Raises if the file is not complete.
        with safe_open(place, "np"):
            # Writing to this would not reach the file.
            memory = np.memmap(place, np.uint8, "c").view(np.ndarray)
    except (OSError, ValueError, SafetensorError) as error:
        raise _damaged(place, error) from error
    # The size of a header, the header, and arrays, whose offsets it contains.
    begin = 8 + int(memory[:8].view("<u8")[0])
    header = json.loads(memory[8:begin].tobytes())
    return {
        name: memory[begin:][slice(*array["data_offsets"])].view(DTYPES[array["dtype"]]).reshape(array["shape"])
        for name, array in header.items()
        if name != "__metadata__"
    }


def _damaged(place: Place, why: object) -> StorageError:
    if isinstance(place, Held):
        return StorageError(f"a shard in memory is damaged ({why}); read the texts again")
    return StorageError(f"{place} is missing or damaged ({why}); remove {place.parent} and read the texts again")


def write_shard(texts: SentenceTexts, others: Mapping[str, NDArray[Any]], path: Path | None) -> Place:
    """Write texts, and other arrays of theirs, to a file; keep them in memory if `path` is None."""
    arrays: dict[str, NDArray[Any]] = {
        "words": np.frombuffer("\n".join(texts.words).encode("utf-8", "surrogatepass"), np.uint8),
        "codes": texts.codes,
        "n_words": np.diff(texts.indptr).astype(np.int32),
        "n_sentences": np.diff(texts.sentence_ends).astype(np.int32),
        "joined": texts.joined,
        "marks": texts.under.astype(np.uint8) + 2 * texts.negated.astype(np.uint8),
    }
    return put_arrays({**arrays, **others}, path)


def read_shard(path: Place) -> tuple[SentenceTexts, dict[str, NDArray[Any]]]:
    """Return what `write_shard` wrote, without the texts themselves."""
    arrays = read_arrays(path)
    try:
        words, codes, n_words, n_sentences, joined, marks = (
            arrays.pop(name) for name in ("words", "codes", "n_words", "n_sentences", "joined", "marks")
        )
        text = words.tobytes().decode("utf-8", "surrogatepass")
    except (KeyError, UnicodeDecodeError) as error:
        raise _damaged(path, error) from error
    distinct = text.split("\n") if text else []
    sizes = {len(n_sentences), *map(len, arrays.values())}
    # Compiled loops do not check these numbers.
    if (
        len(sizes) > 1
        or min(n_sentences.min(initial=0), n_words.min(initial=0)) < 0
        or (len(n_words), len(codes)) != (n_sentences.sum(), n_words.sum())
        or len(marks) != len(codes)
        or len(joined) != len(n_words)
        or (len(codes) and not 0 <= codes.min() <= codes.max() < len(distinct))
    ):
        raise _damaged(path, "its numbers do not fit together")
    texts = SentenceTexts(
        texts=NotHeld(len(n_sentences)),
        documents=np.repeat(np.arange(len(n_sentences)), n_sentences),
        spans=np.zeros((0, 2), np.int64),
        words=distinct,
        codes=codes,
        indptr=starts_of(n_words),
        under=(marks & 1).astype(bool),
        negated=(marks & 2).astype(bool),
        joined=joined.astype(np.int8),
        cleaned=np.zeros(len(n_sentences), dtype=bool),
    )
    return texts, arrays


@contextmanager
def shards_folder(given: str | Path | None, made_of: Mapping[str, Any]) -> Iterator[Path]:
    """Provide a folder for shards: a temporary one, or the given one, whose shards, `made_of` this, are used again."""
    if given is None:
        with tempfile.TemporaryDirectory(prefix="textsignal-") as place:
            yield Path(place)
        return
    folder = Path(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        note, unfinished = folder / MADE_OF, folder / (MADE_OF + UNFINISHED)
        held = json.loads(note.read_text(encoding="utf-8")) if note.exists() else None
        if held is None and {*folder.iterdir()} - {unfinished}:
            raise InputError(f"{folder} holds other files; give a folder that is empty, or that of an earlier run")
        if held not in (None, json.loads(json.dumps(made_of))):
            raise InputError(
                f"{folder} holds shards of other files, or of files that have changed; give another folder"
            )
        unfinished.write_text(json.dumps(made_of, indent=1), encoding="utf-8")
        unfinished.replace(note)
        # Left by a run that was killed.
        for left in folder.glob(f"*{UNFINISHED}"):
            left.unlink()
    except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise OutputError(f"cannot use {folder} for shards: {error}") from error
    yield folder
