"""Fitting from files, datasets or iterators that need not fit into memory.

Texts are read once, batch by batch: words become numbers in shards, on disk or in the memory of workers, and a random
sample of the documents is kept. Counts and tone are learnt from all shards, everything else from the sample.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textsignal import parts
from textsignal.arrays import Vector
from textsignal.engines import Compute, Engine
from textsignal.engines.local import local_compute
from textsignal.errors import InputError, OutputError
from textsignal.families.auto import Candidates
from textsignal.kernels.counting import row_keys
from textsignal.readers.themes import ThemeReader, theme_tokens
from textsignal.tables.batches import Batch, Source, read_batches
from textsignal.tables.cells import numbers_in, texts_in, weight_in
from textsignal.tables.files import check_file
from textsignal.text.encoded import as_bytes
from textsignal.text.shards import UNFINISHED, Place, read_shard, write_shard
from textsignal.text.units import SentenceTexts
from textsignal.topics.reading import Observed, Tokens, observe
from textsignal.training.draws import Keys
from textsignal.training.sample import Passing, Sample, common_bound, joined
from textsignal.training.streamed import ReadPart, count_shards, stored_tone
from textsignal.training.theme_model import Lexicon, Prepared, Response, learn_lexicon, prepare_read
from textsignal.training.theme_reading import read_features
from textsignal.training.tone import Tone
from textsignal.training.tone_blocks import tone_folds

#: Memory that a fit may take where nobody says how much; the least that it can do with.
MEMORY, LEAST_MEMORY = "4GB", 2**30
#: Bytes that training on a document's word takes, in the sample; documents of the sample, at most.
BYTES_PER_WORD, MOST_SAMPLED = 400, 100_000
#: What a folder of shards was made of.
MADE_OF = "stream.json"
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}

#: Called with what is done, how much of it, and of how much where that is known.
Progress: TypeAlias = Callable[[str, int, int | None], None]
#: (documents,) which of the sample are held back.
HoldOut: TypeAlias = Callable[[Tokens], NDArray[np.bool_]]


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
    names = [text, str(response), *([] if weight is None else [str(weight)])]
    if len({*names}) < len(names):
        raise InputError(f"text, responses and sample_weight are of one column ({', '.join(names)}); name another one")
    return Columns(*names)


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


def hold_nothing(tokens: Tokens) -> NDArray[np.bool_]:
    """No document is held back."""
    return np.zeros(len(tokens), dtype=bool)


def say_nothing(what: str, done: int, total: int | None) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, eq=False)
class Streamed:
    """Documents that were read.

    shards : as the engine keeps them, with `sizes` documents each; responses : (documents,) that count.
    sample : some of the documents; drawn : what else is known of these.
    """

    shards: list[Any]
    sizes: list[int]
    responses: Vector
    sample: Observed
    drawn: Passing

    @property
    def n_documents(self) -> int:
        """How many were read."""
        return sum(self.sizes)


@dataclass(frozen=True, eq=False)
class FittedSource:
    """What was fitted to a source.

    sample : the documents that the reader knows; held_out : (documents,) whether nothing was learnt from its response.
    rows : (documents,) where they stand in the source, from 0; n_documents : of the source.
    """

    reader: ThemeReader
    sample: Observed
    held_out: NDArray[np.bool_]
    rows: NDArray[np.int64]
    n_documents: int


def fit_source(
    options: parts.Options,
    source: Any,
    columns: Columns,
    *,
    memory: str | int = MEMORY,
    folder: str | Path | None = None,
    engine: Engine | None = None,
    hold_out: HoldOut = hold_nothing,
    progress: Progress = say_nothing,
) -> FittedSource:
    """Fit themes to a source.

    engine : reads it, and learns from all documents; by default threads of this process.
    hold_out : which documents of the sample nothing is learnt from but their words; neither is from copies of them.
    """
    if parts.training_of(options) != "themes":
        raise InputError('a source is fitted with training="themes"; give other trainings texts that are in memory')
    if options.formula is not None:
        raise InputError(f"formula={options.formula!r} needs covariates, which cannot be given with a source")
    parts.check_themes(options)
    most_words = memory_of(memory) // 2 // BYTES_PER_WORD
    batches = source if isinstance(source, Source) else read_batches(source, columns.roles)
    with local_compute(options.n_jobs, options.device) as compute:
        spread = compute if engine is None else Compute(engine, compute.kernels)
        with shards_folder(folder, batches, columns, options, spread.engine) as place:
            found = read_source(batches, columns, options, place, most_words, spread.engine, progress)
            held_out = hold_out(found.sample.tokens)
            with _rows_of(batches):
                families = _families(options, found)
            prepared = prepare_streamed(options, found, families, held_out, compute, spread, progress)
            (reader,) = parts.fit_prepared_themes(options, prepared, compute)
    return FittedSource(
        _with_basis(reader, found, held_out), found.sample, held_out, found.drawn.rows, found.n_documents
    )


def read_source(
    source: Source,
    columns: Columns,
    options: parts.Options,
    folder: Path | None,
    most_words: int,
    engine: Engine,
    progress: Progress,
) -> Streamed:
    """Read all batches into shards, workers each its own part."""
    language, n_rows, most = parts.language_of(options), source.n_rows, (MOST_SAMPLED, most_words)
    step = partial(_read_part, columns=columns, language=language, folder=folder, most=most, n_jobs=engine.n_threads)
    read = engine.keep(step, source.parts() if engine.is_spread else [_told(source, n_rows, progress)])
    summaries, firsts = [], [0]
    for part in engine.stream(lambda part: part.summary, read):
        summaries.append(part)
        firsts.append(firsts[-1] + len(part.responses))
        progress("Reading", firsts[-1], n_rows)
    if not firsts[-1]:
        raise InputError("the source has no rows")
    bound = common_bound([(part.bound, part.levels) for part in summaries], *most)
    sample = joined(engine.map(lambda part: part.sample.up_to(bound), read), firsts[:-1])
    places = [(part, number) for part, own in zip(read, summaries, strict=True) for number in range(len(own.sizes))]
    shards = engine.keep(lambda place: place[0].shards[place[1]], places)
    sizes = list(chain.from_iterable(part.sizes for part in summaries))
    counted, drawn = np.concatenate([part.responses for part in summaries]), sample.documents
    tokens, weights = theme_tokens(sample.texts, language, options.n_jobs), drawn.weight
    with _rows_of(source):
        family = parts.asked_family(options, counted)
    observed = observe(tokens, drawn.responses, None if columns.weight is None else weights, family)
    return Streamed(shards, sizes, counted, observed, drawn)


@contextmanager
def _rows_of(source: Source) -> Iterator[None]:
    """Say what rows are counted over, where something is wrong with some."""
    try:
        yield
    except InputError as error:
        if len(source.files) < 2:
            raise
        raise InputError(f"{error} (rows, where some are named, are those of all {len(source.files)} files)") from error


def _told(source: Source, n_rows: int | None, progress: Progress) -> Iterator[Batch]:
    """The batches of a source, of which each is told when it is done."""
    for batch in source:
        yield batch
        progress("Reading", batch.first + len(batch), n_rows)


def _read_part(
    batches: Iterable[Batch],
    *,
    columns: Columns,
    language: str | None,
    folder: Path | None,
    most: tuple[int, int],
    n_jobs: int,
) -> ReadPart:
    """Read batches into shards; those that an earlier run has finished are taken as they are."""
    shards: list[Place] = []
    sizes, responses = [], []
    sample = Sample(*most)
    for number, batch in enumerate(batches):
        texts = texts_in(batch, columns.text)
        response, weight = numbers_in(batch, columns.response), weight_in(batch, columns.weight)
        keys = row_keys(*as_bytes(texts))
        path = None if folder is None else folder / f"{number:06d}.shard"
        others = {"keys": keys, "response": response, "weight": weight}
        if path is not None and path.exists():
            tokens = _shard_of(path, batch, others)
            shards.append(path)
        else:
            tokens = theme_tokens(texts, language, n_jobs)
            shards.append(write_shard(tokens, others, path))
        place = {"row": batch.row, "file": batch.number}
        sample.offer(texts, Passing.of(batch.first, keys, tokens.n_words, response, weight, **place))
        sizes.append(len(tokens))
        responses.append(np.where(weight > 0, response, np.nan))
    return ReadPart(shards, sizes, np.concatenate([*responses, np.zeros(0)]), sample)


def _shard_of(path: Path, batch: Batch, others: dict[str, NDArray[Any]]) -> SentenceTexts:
    """What an earlier run has written; raises where it is of other documents."""
    tokens, held = read_shard(path)
    for name, values in others.items():
        if not np.array_equal(held.get(name, ()), values, equal_nan=values.dtype.kind == "f"):
            raise InputError(f"{path.parent} holds shards of other rows than {batch.place}; give another folder")
    return tokens


def prepare_streamed(
    options: parts.Options,
    found: Streamed,
    families: Candidates,
    held_out: NDArray[np.bool_],
    compute: Compute,
    spread: Compute,
    progress: Progress,
) -> Prepared:
    """Learn words and tone from all shards, by `spread`, and what themes stand on from the sample, by `compute`."""
    own = found.sample.but(held_out)
    response = Response(_counted(own), families)
    if np.unique(response.values[~np.isnan(response.values)]).size < 2:
        raise InputError(
            f"the {len(own.tokens):,} texts that were drawn at random from {found.n_documents:,} have no two different "
            "responses, so there is nothing to explain; give a source of texts that have a response"
        )
    progress("Counting words", 0, None)
    lexicon = _lexicon(options, found, spread)
    without: Keys = np.unique(found.drawn.keys[held_out])
    progress("Learning tone", 0, None)
    effects = stored_tone(found.shards, found.sizes, lexicon.features, response.simplest, spread, without)
    progress("Learning themes", 0, None)
    read = read_features(own.tokens, lexicon.features, compute.engine)  # type: ignore[arg-type]
    tone = Tone.of(effects, tone_folds(read.counts))
    return prepare_read(read, lexicon, [response], [lambda: (tone, None)], own.weight, compute)


def _lexicon(options: parts.Options, found: Streamed, compute: Compute) -> Lexicon:
    merged = count_shards(found.shards, compute)
    return learn_lexicon(merged.words, merged.counts, found.n_documents, **parts.lexicon_options(options))


def _families(options: parts.Options, found: Streamed) -> Candidates:
    """Families that the response may be of; raises where there is nothing to explain."""
    family = found.sample.family
    if family is not None and family.classifies:
        family = family.learn(found.responses)
        if family.n_predictors > 1:
            raise InputError("classes without an order cannot be had from a source; give texts that are in memory")
    return parts.families_of(options, found.responses, family)


def _counted(observed: Observed) -> Vector:
    """(documents,) responses of documents that count."""
    return np.where(observed.weight > 0, observed.responses, np.nan)


def _with_basis(reader: ThemeReader, found: Streamed, held_out: NDArray[np.bool_]) -> ThemeReader:
    """The reader, saying which documents it was learnt from where these are not all."""
    n_sampled, n_held = len(found.drawn.rows), int(held_out.sum())
    if n_sampled == found.n_documents:
        return reader
    all_texts = "all that were not held back" if n_held else "all of them"
    random = f"a random {n_sampled - n_held:,} of {found.n_documents:,} texts"
    basis = f"Themes and their numbers come from {random}, tone comes from {all_texts}."
    return replace(reader, fitted=replace(reader.fitted, basis=basis))


@contextmanager
def shards_folder(
    given: str | Path | None, source: Source, columns: Columns, options: parts.Options, engine: Engine
) -> Iterator[Path | None]:
    """A folder for shards: one that vanishes, or the given one, which stays and whose shards are used again.

    None where workers hold shards.
    """
    if engine.is_spread:
        if given is not None:
            raise InputError(f"folder={str(given)!r} is of fits on one machine: workers hold shards in their memory")
        yield None
        return
    if given is None:
        with tempfile.TemporaryDirectory(prefix="textsignal-") as place:
            yield Path(place)
        return
    folder = Path(given)
    for file in source.files:
        check_file(file)
    made_of = {
        "textsignal": version("textsignal"),
        "columns": columns.roles,
        "language": options.language,
        "files": [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in source.files],
    }
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
        # What a run left that was killed.
        for left in folder.glob(f"*{UNFINISHED}"):
            left.unlink()
    except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise OutputError(f"cannot use {folder} for shards: {error}") from error
    yield folder
