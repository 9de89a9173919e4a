"""Predictions and clauses for tables larger than memory, batch after batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from textsignal.compute.engines import Engine
from textsignal.data.read import column, held_texts
from textsignal.data.roles import Roles
from textsignal.data.rows import parse_response
from textsignal.data.source import BATCH_ROWS, Batch, Given, Notice, Source, read_batches
from textsignal.data.write import check_not_input, whole_table
from textsignal.errors import InputError, RowsError
from textsignal.model import TextResponseModel
from textsignal.reading.observed import Observed
from textsignal.workflow.apply import columns_for, predict_table
from textsignal.workflow.clauses import clause_tables

Item = TypeVar("Item")


@dataclass(frozen=True)
class PredictedRows:
    """Result of a run of predictions: number of rows, and of rows without a word that the model knows."""

    rows: int
    unknown: int


def predict_batches(
    model: TextResponseModel,
    source: Given,
    text: str,
    *,
    keep: str | Sequence[str] = (),
    offset: str | None = None,
    batch_rows: int = BATCH_ROWS,
    encoding: str | None = None,
    sheet: str | None = None,
    sep: str | None = None,
    notice: Notice | None = None,
    engine: Engine | None = None,
) -> Iterator[pd.DataFrame]:
    """Yield predictions for any number of texts, a batch of rows at a time: nothing is dropped, memory is bounded.

    Concatenated, the tables equal the predictions for the whole table, bit for bit.

    Parameters
    ----------
    model : a fitted model.
    source, batch_rows, encoding, sheet, sep, notice : as in `read_batches`: "reviews/*.parquet" is a pattern.
    text : column that holds the texts. Covariates are found by their names in training.
    keep : columns to carry over, or "all".
    offset : column of the offset, if the model was fitted with one.
    engine : whose workers read and predict, such as `engines.dask.DaskEngine(client)`: row groups of Parquet files,
        other files whole, so that their predictions must fit into memory. By default threads of this process.

    Yields
    ------
    pandas.DataFrame
        row (from 1, over all files), the columns to keep, prediction, level (prediction as one of the response's
        levels), unknown (no known term: taken as an average text), and the probability of every level; of several
        responses prediction_NAME, level_NAME and p_NAME_LEVEL.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> model = TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> parts = predict_batches(model, reviews.to_frame(), "review", batch_rows=100)
    >>> [part["row"].iloc[-1].item() for part in parts]
    [100, 200, 300]
    """
    columns = None
    if keep != "all":
        if isinstance(keep, str):
            raise InputError(f'keep={keep!r} is not known; give a list of columns, or "all"')
        columns = dict.fromkeys(keep, "output") | columns_for(model, Roles(text, offset=offset)).by_column
    source = read_batches(
        source, columns, batch_rows=batch_rows, encoding=encoding, sheet=sheet, sep=sep, notice=notice
    )
    if engine is not None and engine.is_spread:
        return _predicted_apart(model, source, text, keep, offset, engine)
    return _predicted(model, source, text, keep, offset)


def predict_file(
    model: TextResponseModel,
    source: Given,
    output: str | PathLike[str],
    text: str,
    *,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> PredictedRows:
    """Write predictions for any number of texts to a file, atomically and in bounded memory.

    Parameters
    ----------
    model, source, text, **options : as in `predict_batches`, whose tables are written.
    output : CSV, TSV, JSON lines (.jsonl, .ndjson), plain or packed, or Parquet, by its name; JSON arrays (.json) and
        Excel too, which are collected in memory.
    force : True to replace an existing file.
    progress : called with the number of rows done.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> model = TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> folder = getfixture("tmp_path")
    >>> reviews.to_frame().to_parquet(folder / "reviews.parquet")
    >>> predict_file(model, folder / "*.parquet", folder / "predictions.csv", "review")
    PredictedRows(rows=300, unknown=0)
    """
    check_not_input(Path(output), Source(source).files)
    with whole_table(Path(output), force=force) as write:
        return write_predictions(predict_batches(model, source, text, **options), write, progress)


def write_predictions(
    predictions: Iterator[pd.DataFrame],
    write: Callable[[pd.DataFrame], None],
    progress: Callable[[int], None] | None = None,
) -> PredictedRows:
    """Write tables one after the other; progress : called with the number of rows done."""
    n_rows = n_unknown = 0
    for table in _ahead(predictions):
        write(table)
        n_rows, n_unknown = n_rows + len(table), n_unknown + int(table["unknown"].sum())
        if progress is not None:
            progress(n_rows)
    return PredictedRows(n_rows, n_unknown)


def clause_batches(
    model: TextResponseModel,
    source: Given,
    text: str,
    *,
    batch_rows: int = BATCH_ROWS,
    encoding: str | None = None,
    sheet: str | None = None,
    sep: str | None = None,
    notice: Notice | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[pd.DataFrame]:
    """Yield the clauses of any number of texts, those of some texts at a time; memory is bounded.

    Concatenated, the tables have the rows of `model.clauses` for all texts, whatever the batches.

    Parameters
    ----------
    model : a fitted model.
    source, batch_rows, encoding, sheet, sep, notice : as in `read_batches`: "reviews/*.parquet" is a pattern.
    text : column that holds the texts; covariates make no difference to clauses.
    progress : called with the number of rows read.

    Yields
    ------
    pandas.DataFrame
        row (the number of the text, from 1, over all files), and the other columns of `model.clauses`; of several
        responses, or classes, a row each for every clause, with the response in the first column.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> model = TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> tables = clause_batches(model, reviews.to_frame(), "review", batch_rows=100)
    >>> [table["row"].iloc[-1].item() for table in tables]
    [100, 200, 300]
    """
    options: dict[str, Any] = {"encoding": encoding, "sheet": sheet, "sep": sep, "notice": notice}
    batches = read_batches(source, Roles(text).by_column, batch_rows=batch_rows, **options)
    for batch in _ahead(iter(batches)):
        with _named(batch):
            tokens = model.tokenise(held_texts(batch.table, text))
        missing, weight = np.full(len(tokens), np.nan), np.ones(len(tokens))
        readings = model.readings([Observed(tokens, missing, weight) for _ in model.models])
        yield from clause_tables(model, readings, batch.first + 1 + np.arange(len(tokens)))
        if progress is not None:
            progress(batch.first + len(batch))


def write_tables(tables: Iterator[pd.DataFrame], write: Callable[[pd.DataFrame], None]) -> int:
    """Write tables one after the other; return the number of their rows."""
    n_rows = 0
    for table in _ahead(tables):
        write(table)
        n_rows += len(table)
    return n_rows


def _predicted(
    model: TextResponseModel, source: Iterable[Batch], text: str, keep: str | Sequence[str], offset: str | None
) -> Iterator[pd.DataFrame]:
    for batch in _ahead(iter(source)):
        with _named(batch):
            # Words would be parsed by all rows, not by those of a batch.
            if offset is not None and (how := parse_response(column(batch.table, offset, "offset")).reading):
                raise InputError(f"the offset is not written in numbers ({how}?); give numbers")
            table = predict_table(model, batch.table, text, keep=keep, offset=offset)
        yield table.assign(row=table["row"] + batch.first)


@contextmanager
def _named(batch: Batch) -> Iterator[None]:
    """Add the name of the file to errors of the block, and count rows within it."""
    try:
        yield
    except InputError as error:
        message = error.counted_from(batch.row + 1) if isinstance(error, RowsError) else error
        raise InputError(f"{batch.file}: {message}") from error


def _ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the tables, each computed in a separate thread while the one before it is used."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, items, None)
            yield item


def _predicted_apart(
    model: TextResponseModel, source: Source, text: str, keep: str | Sequence[str], offset: str | None, engine: Engine
) -> Iterator[pd.DataFrame]:
    """Yield the tables of workers, each of which reads a part of the source; rows are numbered across parts."""
    step = partial(_part, model=model.for_workers(engine.n_threads), text=text, keep=keep, offset=offset)
    first = 0
    for tables in engine.stream(step, source.parts()):
        for table in tables:
            yield table.assign(row=table["row"] + first)
        first += sum(map(len, tables))


def _part(
    batches: Iterable[Batch], *, model: TextResponseModel, text: str, keep: str | Sequence[str], offset: str | None
) -> list[pd.DataFrame]:
    return list(_predicted(model, batches, text, keep, offset))
