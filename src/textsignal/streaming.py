"""Fitting from files, datasets or iterators that need not fit into memory.

Texts are read once, batch by batch: words become numbers in shards, on disk or in the memory of workers, and a random
sample of the texts is kept. Counts and tone are learnt from all shards, everything else from the sample.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.counting import row_keys
from textsignal.compute.engines import Compute, Engine
from textsignal.compute.engines.local import local_compute
from textsignal.compute.hashing import drawn
from textsignal.data.read import check_file
from textsignal.data.roles import Roles
from textsignal.data.rows import BadRows, Dropping, bad_together, usable_rows
from textsignal.data.source import Batch, Source, read_batches
from textsignal.errors import InputError
from textsignal.families.auto import Candidates
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed, observe, tokenise
from textsignal.reading.themes import ThemeReader
from textsignal.text.shards import NotHeld, Place, read_shard, shards_folder, write_shard
from textsignal.text.tokens import SentenceTexts, as_bytes, texts_at
from textsignal.training.streamed import (
    PartSummary,
    Passing,
    ReadPart,
    Sample,
    common_bound,
    count_shards,
    first_bound,
    in_blocks,
    joined,
    stored_tone,
    turns_of,
)
from textsignal.training.theme_model import (
    LearntTone,
    Prepared,
    Response,
    learn_dictionary,
    lexicon_slope,
    prepare_read,
    read_features,
)
from textsignal.training.tone import Tone, tone_folds

#: Default memory limit of a fit; the minimum.
MEMORY, LEAST_MEMORY = "4GB", 2**30
#: Bytes that training takes for each word of the sample; texts of the sample, at most.
BYTES_PER_WORD, MOST_SAMPLED = 400, 100_000
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}

#: Called with the name of a step, the amount done, and the total if known.
Progress: TypeAlias = Callable[[str, int, int | None], None]


def columns_of(text: str, response: object, weight: object, *others: object) -> Roles:
    """Return names of columns; InputError if values are given in place of names, or covariates, offset or groups."""
    if any(given is not None for given in others):
        raise InputError("covariates, offset and groups cannot be given with a source; give texts that are in memory")
    for name, column in {"responses": response, "sample_weight": weight}.items():
        if not isinstance(column, str) and not (column is None and name == "sample_weight"):
            raise InputError(f"with text={text!r}, {name} must be the name of a column, not a {type(column).__name__}")
    return Roles(text, (str(response),), weights=None if weight is None else str(weight))


def memory_of(given: str | int) -> int:
    """Return a memory limit in bytes."""
    size = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?\s*", str(given).lower())
    if size is None:
        raise InputError(f"memory={given!r} is not a size; give one such as '4GB' or '800MB'")
    n_bytes = int(float(size[1]) * _UNITS[size[2]])
    if n_bytes < LEAST_MEMORY:
        raise InputError(f"memory={given!r} is too little; a fit takes at least 1GB")
    return n_bytes


def say_nothing(what: str, done: int, total: int | None) -> None:
    """Ignore progress."""


@dataclass(frozen=True, eq=False)
class Streamed:
    """Texts of a source.

    shards : as the engine keeps them, with `sizes` texts each; responses : (rows,) that count.
    sample : some of the texts; drawn : further columns of these; others : (texts,) their by, over and groups.
    """

    shards: list[Any]
    sizes: list[int]
    responses: Vector
    sample: Observed
    drawn: Passing
    others: pd.DataFrame
    bad: BadRows

    @property
    def n_documents(self) -> int:
        """Number of texts."""
        return sum(self.sizes)


@dataclass(frozen=True, eq=False)
class ReadSource:
    """A source that was read and can be fitted; spread : computes on all texts; compute : on the sample."""

    options: parts.Options
    found: Streamed
    families: Candidates
    compute: Compute
    spread: Compute
    progress: Progress

    def fit(self, held_out: NDArray[np.bool_] | None = None) -> ThemeReader:
        """Fit themes; held_out : (texts,) True for texts of the sample whose response is not used, None to use all."""
        found = self.found
        held_out = np.zeros(len(found.sample.tokens), dtype=bool) if held_out is None else held_out
        (reader,) = parts.fit_prepared_themes(self.options, self._prepared(held_out), self.compute)
        n_sampled, n_held, n_all = len(held_out), int(held_out.sum()), found.n_documents
        if n_sampled < n_all:
            all_texts = "all that were not held back" if n_held else "all of them"
            random = f"a random {n_sampled - n_held:,} of {n_all:,} texts"
            basis = f"Themes, judgement and their numbers come from {random}, tone comes from {all_texts}."
            reader = replace(reader, fitted=replace(reader.fitted, basis=basis))
        return reader

    def _prepared(self, held_out: NDArray[np.bool_]) -> Prepared:
        """Learn words and tone from all shards, and the inputs of themes from the sample."""
        found, own = self.found, self.found.sample.but(held_out)
        # Nor are the responses of copies of the texts that are held out.
        without = np.unique(found.drawn.keys[held_out])
        used = (own.weight > 0) & ~np.isin(found.drawn.keys[~held_out], without)
        response = Response(np.where(used, own.responses, np.nan), self.families)
        if np.unique(response.values[~np.isnan(response.values)]).size < 2:
            raise InputError(
                f"the {len(own.tokens):,} texts that were drawn at random from {found.n_documents:,} have no two "
                "different responses, so there is nothing to explain; give a source of texts that have a response"
            )
        self.progress("Counting words", 0, None)
        merged = count_shards(found.shards, found.sizes, self.spread)
        options = parts.dictionary_options(self.options)
        dictionary = learn_dictionary(merged.words, merged.counts, found.n_documents, **options)
        self.progress("Learning tone", 0, None)
        family, features = response.simplest, dictionary.features
        read = read_features(own.tokens, features, self.compute.engine)
        y, words = family.encode(response.values), family.of_words
        slope = lexicon_slope(read, dictionary, y, own.weight, words, self.compute)
        start = slope * dictionary.general
        effects = stored_tone(found.shards, found.sizes, features, family, self.spread, without, start)
        self.progress("Learning themes", 0, None)
        learnt = LearntTone(Tone.of(effects, tone_folds(read.counts)), words, None, slope)
        return prepare_read(read, dictionary, [response], lambda _: learnt, own.weight, self.compute)


@contextmanager
def read_to_fit(
    options: parts.Options,
    source: Any,
    columns: Roles,
    *,
    memory: str | int = MEMORY,
    folder: str | Path | None = None,
    engine: Engine | None = None,
    dropping: Dropping | None = None,
    progress: Progress = say_nothing,
) -> Iterator[ReadSource]:
    """Read a source; its shards may be deleted at the end of the `with`.

    engine : by default threads of this process; dropping : None if a row that cannot be used is an error.
    """
    if options.formula is not None:
        raise InputError(f"formula={options.formula!r} needs covariates, which cannot be given with a source")
    names = [name for name in (columns.text, columns.response, columns.weights) if name is not None]
    if len({*names}) < len(names):
        raise InputError(f"text, responses and sample_weight are of one column ({', '.join(names)}); name another one")
    parts.check_themes(options)
    most_words = memory_of(memory) // 2 // BYTES_PER_WORD
    batches = source if isinstance(source, Source) else read_batches(source, columns.by_column)
    with local_compute(options.n_jobs, options.device) as compute:
        spread = compute if engine is None else Compute(engine, compute.kernels)
        with _folder_of(folder, batches, columns, options, spread.engine) as place:
            found = read_source(batches, columns, options, place, most_words, spread.engine, dropping, progress)
            with batches.counted():
                families = _families(options, found)
            yield ReadSource(options, found, families, compute, spread, progress)


def read_source(
    source: Source,
    columns: Roles,
    options: parts.Options,
    folder: Path | None,
    most_words: int,
    engine: Engine,
    dropping: Dropping | None,
    progress: Progress,
) -> Streamed:
    """Read all batches into shards; each worker reads a part of the source."""
    language, n_rows, most = parts.language_of(options), source.n_rows, (MOST_SAMPLED, most_words)
    bound, n_jobs = first_bound(n_rows, MOST_SAMPLED), engine.n_threads

    def read_part(batches: Iterable[Batch]) -> ReadPart:
        """Read batches into shards; shards finished by an earlier run are reused."""
        shards: list[Place] = []
        sizes, responses, bad = [], [], []
        sample = Sample(*most, bound, documents=Passing.nothing(len(columns.of_sample)))
        for number, batch in enumerate(batches):
            used = usable_rows(batch, columns.text, columns.response, columns.weights, dropping)
            responses.append(used.counted)
            bad.append(used.bad)
            if not len(used.rows):
                continue
            keys = row_keys(*as_bytes(used.texts))
            path = None if folder is None else folder / f"{number:06d}.shard"
            stored = {"keys": keys, "response": used.responses, "weight": used.weight}
            if path is not None and path.exists():
                tokens = _shard_of(path, batch, stored)
                shards.append(path)
            else:
                tokens = tokenise(used.texts, language, n_jobs)
                shards.append(write_shard(tokens, stored, path))
            draws = drawn(keys + (batch.row + used.rows).astype(np.uint64), batch.number)
            numbers = keys, tokens.n_words, used.responses, used.weight
            others = batch.table[columns.of_sample].to_numpy(dtype=object)[used.rows]
            texts_of = partial(_texts_at, tokens, used.texts, language, n_jobs)
            sample.offer(texts_of, Passing(draws, batch.first + used.rows, *numbers, others))
            sizes.append(len(tokens))
        counted = np.concatenate([*responses, np.zeros(0)])
        return ReadPart(shards, sample, PartSummary(sizes, counted, bad_together(bad), sample.bound, sample.levels))

    apart = source.parts() if engine.is_spread else [_reported(source, n_rows, progress)]
    read = engine.keep(read_part, apart, turns_of(len(apart), n_rows))
    summaries, firsts = [], [0]
    for part in engine.stream(lambda part: part.summary, read):
        summaries.append(part)
        firsts.append(firsts[-1] + len(part.responses))
        progress("Reading", firsts[-1], n_rows)
    if not firsts[-1]:
        raise InputError("the source has no rows")
    bad = bad_together([part.bad for part in summaries])
    if len(bad) == firsts[-1]:
        raise InputError(f"no row is left: {bad.describe()}")
    common = common_bound([(part.bound, part.levels) for part in summaries], *most)
    some = in_blocks([*zip(read, firsts[:-1], strict=True)], [len(part.responses) for part in summaries])
    samples = engine.map(lambda pairs: joined([(part.sample.up_to(common), first) for part, first in pairs]), some)
    sample = joined([(part, 0) for part in samples])
    places = [(part, number) for part, own in zip(read, summaries, strict=True) for number in range(len(own.sizes))]
    shards = engine.keep(lambda place: place[0].shards[place[1]], places)
    sizes = list(chain.from_iterable(part.sizes for part in summaries))
    counted, drawn_texts = np.concatenate([part.responses for part in summaries]), sample.documents
    with source.counted():
        family = parts.scale_of(options).family_of(counted)
    weight = None if columns.weights is None else drawn_texts.weight
    observed = observe(sample.tokens, drawn_texts.responses, weight, family)
    others = pd.DataFrame(drawn_texts.others, columns=columns.of_sample, dtype=object)
    return Streamed(shards, sizes, counted, observed, drawn_texts, others, bad)


def _reported(source: Source, n_rows: int | None, progress: Progress) -> Iterator[Batch]:
    for batch in source:
        yield batch
        progress("Reading", batch.first + len(batch), n_rows)


def _texts_at(
    tokens: SentenceTexts, texts: Sequence[str], language: str | None, n_jobs: int, rows: NDArray[np.int64]
) -> SentenceTexts:
    """Return some rows of texts; tokenise them again if tokens are read from a shard, which does not hold texts."""
    if isinstance(tokens.texts, NotHeld):
        return tokenise(texts_at(texts, rows), language, n_jobs)
    return tokens.at(rows)


def _shard_of(path: Path, batch: Batch, stored: dict[str, NDArray[Any]]) -> SentenceTexts:
    tokens, held = read_shard(path)
    for name, values in stored.items():
        if not np.array_equal(held.get(name, ()), values, equal_nan=values.dtype.kind == "f"):
            raise InputError(f"{path.parent} holds shards of other rows than {batch.place}; give another folder")
    return tokens


def _families(options: parts.Options, found: Streamed) -> Candidates:
    """Return candidate families of the response; raise if there is nothing to explain."""
    family = found.sample.family
    if family is not None and family.classifies:
        family = family.learn(found.responses)
        if family.n_predictors > 1:
            raise InputError("classes without an order cannot be had from a source; give texts that are in memory")
    return parts.scale_of(options).candidates(found.responses, family)


def _folder_of(
    given: str | Path | None, source: Source, columns: Roles, options: parts.Options, engine: Engine
) -> AbstractContextManager[Path | None]:
    """Return a folder for shards; None if workers hold them in memory."""
    if engine.is_spread:
        if given is not None:
            raise InputError(f"folder={str(given)!r} is of fits on one machine: workers hold shards in their memory")
        return nullcontext()
    if given is None:
        return shards_folder(None, {})
    for file in source.files:
        check_file(file)
    made_of = {
        "textsignal": version("textsignal"),
        "columns": [columns.text, columns.response, columns.weights],
        "language": options.language,
        "files": [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in source.files],
    }
    return shards_folder(given, made_of)
