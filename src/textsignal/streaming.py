"""Fitting from files, datasets or iterators that need not fit into memory.

Texts are read once, batch by batch: words become numbers in shards on disk, and a random sample of the documents is
kept. Counts and tone are learnt from all shards, everything else from the sample.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal import parts
from textsignal.arrays import Vector
from textsignal.engines import Compute
from textsignal.engines.local import local_compute
from textsignal.errors import InputError, OutputError
from textsignal.families.auto import Candidates
from textsignal.kernels.counting import row_keys
from textsignal.readers.themes import ThemeReader, theme_tokens
from textsignal.tables.batches import Batch, Source, read_batches
from textsignal.tables.rows import parse_response
from textsignal.text.encoded import as_bytes, checked_texts
from textsignal.text.shards import read_shard, write_shard
from textsignal.topics.reading import Observed, observe
from textsignal.training.draws import Keys, drawn
from textsignal.training.streamed import count_shards, stored_tone
from textsignal.training.theme_model import Lexicon, Prepared, Response, learn_lexicon, prepare_read
from textsignal.training.theme_reading import read_features
from textsignal.training.tone import TONE_FOLDS, Tone, tone_folds

#: Memory that a fit may take where nobody says how much; the least that it can do with.
MEMORY, LEAST_MEMORY = "4GB", 2**30
#: Bytes that training on a document's word takes, in the sample; documents of the sample, at most.
BYTES_PER_WORD, MOST_SAMPLED = 400, 100_000
#: What a folder of shards was made of.
MADE_OF = "stream.json"
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a stream."""

    text: str
    response: str
    weight: str | None = None

    @property
    def roles(self) -> dict[str, str]:
        """Column -> what it is for."""
        return {self.text: "text", self.response: "response"} | ({self.weight: "weight"} if self.weight else {})


def columns_of(text: str, response: object, weight: object, *beside: object) -> Columns:
    """Names of columns; raises where a column itself was given, or something beside the texts (covariates, ...)."""
    if any(given is not None for given in beside):
        raise InputError("covariates, offset and groups cannot be given with a source; give texts that are in memory")
    for name, column in {"responses": response, "sample_weight": weight}.items():
        if not isinstance(column, str) and not (column is None and name == "sample_weight"):
            raise InputError(f"with text={text!r}, {name} must be the name of a column, not a {type(column).__name__}")
    return Columns(text, str(response), None if weight is None else str(weight))


def memory_of(given: str | int) -> int:
    """Bytes of what was given as memory.

    Examples
    --------
    >>> memory_of("4GB"), memory_of("1.5 GiB")
    (4294967296, 1610612736)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?\s*", str(given).lower())
    if found is None:
        raise InputError(f"memory={given!r} is no size; give one such as '4GB' or '800MB'")
    size = int(float(found[1]) * _UNITS[found[2]])
    if size < LEAST_MEMORY:
        raise InputError(f"memory={given!r} is too little; a fit takes at least 1GB")
    return size


@dataclass
class Sample:
    """Documents that are drawn at random, at most so many and of at most so many words.

    A document is drawn where its key is up to a bound, which falls by a quarter whenever there are too many.
    """

    most_documents: int
    most_words: int
    bound: int = 2**64 - 1
    texts: list[str] = field(default_factory=list)
    keys: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    n_words: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    responses: Vector = field(default_factory=lambda: np.zeros(0))
    weight: Vector = field(default_factory=lambda: np.zeros(0))

    def offer(self, texts: Any, keys: Keys, n_words: NDArray[np.int64], responses: Vector, weight: Vector) -> None:
        """Take some of these documents."""
        rows = np.flatnonzero(keys <= np.uint64(self.bound))
        self.texts += [texts[int(i)] for i in rows]
        self._take(
            *(
                np.concatenate([own, other[rows]])
                for own, other in zip(self._columns, (keys, n_words, responses, weight), strict=True)
            )
        )
        while len(self.texts) > self.most_documents or (len(self.texts) > 1 and self.n_words.sum() > self.most_words):
            self.bound -= self.bound // 4
            kept = self.keys <= np.uint64(self.bound)
            self.texts = [text for text, is_kept in zip(self.texts, kept, strict=True) if is_kept]
            self._take(*(column[kept] for column in self._columns))

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        return self.keys, self.n_words, self.responses, self.weight

    def _take(self, *columns: NDArray[Any]) -> None:
        self.keys, self.n_words, self.responses, self.weight = columns


@dataclass(frozen=True, eq=False)
class Streamed:
    """Documents that were read.

    shards : files, with `sizes` documents each; responses : (documents,) that count; sample : some of the documents.
    """

    shards: list[Path]
    sizes: list[int]
    responses: Vector
    sample: Observed

    @property
    def n_documents(self) -> int:
        """How many were read."""
        return sum(self.sizes)


@dataclass(frozen=True, eq=False)
class FittedSource:
    """What was fitted to a source: the reader, the sample that it knows, and how many documents there were."""

    reader: ThemeReader
    sample: Observed
    n_documents: int


def fit_source(
    options: parts.Options,
    source: Any,
    columns: Columns,
    *,
    memory: str | int = MEMORY,
    folder: str | Path | None = None,
) -> FittedSource:
    """Fit themes to a source."""
    if parts.training_of(options) != "themes":
        raise InputError('a source is fitted with training="themes"; give other trainings texts that are in memory')
    most_words = memory_of(memory) // 2 // BYTES_PER_WORD
    batches = read_batches(source, columns.roles)
    with shards_folder(folder, batches, columns, options) as place:
        found = read_source(batches, columns, parts.language_of(options), place, most_words)
        families = parts.families_of(options, found.responses)
        with local_compute(options.n_jobs) as compute:
            prepared = prepare_streamed(options, found, families, compute)
            (reader,) = parts.fit_prepared_themes(options, prepared, compute)
    return FittedSource(reader, found.sample, found.n_documents)


def read_source(source: Source, columns: Columns, language: str | None, folder: Path, most_words: int) -> Streamed:
    """Read all batches into shards; those that an earlier run has finished are taken as they are."""
    shards, sizes, responses = [], [], []
    sample = Sample(MOST_SAMPLED, most_words)
    for number, batch in enumerate(source):
        texts = checked_texts(_texts(batch, columns.text))
        response, weight = _numbers(batch, columns.response), _weight(batch, columns.weight)
        path = folder / f"{number:06d}.shard"
        keys = row_keys(*as_bytes(texts))
        if path.exists():
            tokens, held = read_shard(path)
            same = len(tokens) == len(batch) and np.array_equal(held["keys"], keys)
            if not same or not np.array_equal(held["response"], response, equal_nan=True):
                raise InputError(f"{folder} holds shards of other texts than {batch.place}; give another folder")
        else:
            tokens = theme_tokens(texts, language)
            write_shard(tokens, {"keys": keys, "response": response, "weight": weight}, path)
        draws = drawn(keys + np.arange(batch.first, batch.first + len(batch), dtype=np.uint64), 0)
        sample.offer(texts, draws, tokens.n_words, response, weight)
        shards.append(path)
        sizes.append(len(tokens))
        responses.append(np.where(weight > 0, response, np.nan))
    tokens = theme_tokens(sample.texts, language)
    weights = None if columns.weight is None else sample.weight
    return Streamed(shards, sizes, np.concatenate(responses), observe(tokens, sample.responses, weights))


def prepare_streamed(options: parts.Options, found: Streamed, families: Candidates, compute: Compute) -> Prepared:
    """Learn words and tone from all shards, and what themes stand on from the sample."""
    lexicon = _lexicon(options, found, compute)
    own, sample = Response(found.sample.responses, families), found.sample
    effects = stored_tone(found.shards, found.sizes, lexicon.features, own.simplest, compute)
    read = read_features(sample.tokens, lexicon.features, compute.engine)  # type: ignore[arg-type]
    tone = Tone(effects[:, TONE_FOLDS].copy(), tone_folds(read.counts), effects[:, :TONE_FOLDS].T.copy())
    return prepare_read(read, lexicon, [own], [lambda: (tone, None)], sample.weight, compute)


def _lexicon(options: parts.Options, found: Streamed, compute: Compute) -> Lexicon:
    merged = count_shards(found.shards, compute)
    return learn_lexicon(merged.words, merged.counts, found.n_documents, **parts.lexicon_options(options))


@contextmanager
def shards_folder(given: str | Path | None, source: Source, columns: Columns, options: parts.Options) -> Iterator[Path]:
    """A folder for shards: one that vanishes, or the given one, which stays and whose shards are used again."""
    if given is None:
        with tempfile.TemporaryDirectory(prefix="textsignal-") as place:
            yield Path(place)
        return
    folder = Path(given)
    described = {
        "columns": columns.roles,
        "language": options.language,
        "files": [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in source.files],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / MADE_OF
        held = json.loads(note.read_text(encoding="utf-8")) if note.exists() else None
        if held is None and any(folder.iterdir()):
            raise InputError(f"{folder} holds other files; give a folder that is empty, or that of an earlier run")
        if held not in (None, json.loads(json.dumps(described))):
            raise InputError(
                f"{folder} holds shards of other files, or of files that have changed; give another folder"
            )
        note.write_text(json.dumps(described, indent=1), encoding="utf-8")
    except (OSError, json.JSONDecodeError) as error:
        raise OutputError(f"cannot use {folder} for shards: {error}") from error
    yield folder


def _texts(batch: Batch, name: str) -> Any:
    """The texts of a batch, in Arrow's memory where they are there."""
    column = batch.table[name]
    missing = column.isna().to_numpy()
    if missing.any():
        raise InputError(
            f"{batch.file}, row {batch.row + 1 + int(missing.argmax()):,}: column {name!r} holds no text; "
            'every text must be a string, "" where there is none'
        )
    array = column.array
    arrow = getattr(array, "_pa_array", None)
    return arrow if arrow is not None else column.tolist()


def _numbers(batch: Batch, name: str) -> Vector:
    """A column as numbers, NaN where there is none."""
    column = batch.table[name]
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        wrong = np.isinf(values)
    else:
        parsed = parse_response(column)
        values, wrong = parsed.values, parsed.unparsable
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"{batch.file}, row {batch.row + 1 + row:,}: {column.iloc[row]!r} in column {name!r} is not a number; "
            "a source needs numbers, and an empty cell where there is none"
        )
    return np.asarray(values, dtype=float)


def _weight(batch: Batch, name: str | None) -> Vector:
    if name is None:
        return np.ones(len(batch))
    values = _numbers(batch, name)
    wrong = ~(values >= 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        place = f"{batch.file}, row {batch.row + 1 + row:,}"
        raise InputError(f"{place}: the weight {values[row]:g} in column {name!r} must be at least 0")
    return values
