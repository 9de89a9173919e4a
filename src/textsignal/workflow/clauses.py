"""Tables of all clauses of texts: of one response, of several, or of classes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pandas as pd

from textsignal.arrays import Rows
from textsignal.insight.drivers import stacked
from textsignal.insight.examples import clause_table
from textsignal.model import TextResponseModel
from textsignal.reading.themes import Reading, ThemeReader

#: Texts whose clauses are in one table: a few megabytes.
BATCH_TEXTS = 2**12
#: Formats of the table of clauses that a fit writes.
FORMATS = ("parquet", "csv")
#: Half of a character outside the basic plane, which no file can hold.
_HALVES = re.compile("[\ud800-\udfff]")
#: Columns of texts.
_TEXTS = ("clause", "label", "kind")


def clause_tables(
    model: TextResponseModel,
    readings: Sequence[Reading],
    rows: Rows,
    *,
    unseen: bool = False,
    with_texts: bool = True,
    batch_texts: int = BATCH_TEXTS,
) -> Iterator[pd.DataFrame]:
    """Yield the clauses of texts, those of some texts at a time; columns are as in `model.clauses`.

    The number of the text is its row; several responses, or classes, have a row each for every clause, with the
    response in the first column.

    readings : of the texts, for each response; rows : (texts,) numbers of their rows.
    unseen : True for tone that has not seen the responses of the texts; with_texts : False to omit the column clause.
    """
    last, reader = len(readings[0].texts), model.reader_
    for first in range(0, max(last, 1), batch_texts):
        among = first, min(first + batch_texts, last)
        tables = {
            str(name): clause_table(
                reading.clauses,
                reading.fitted.effects,
                one.theme_names,
                one.naming_.direction,
                reading.unseen if unseen else None,
                among,
            )
            for (name, one), reading in zip(model.models.items(), readings, strict=True)
        }
        if isinstance(reader, ThemeReader):
            (table,) = tables.values()
        else:  # by clause, so that batches make no difference to the order of rows
            table = stacked(tables, reader.noun).sort_index(kind="stable")
        table = table.rename(columns={"text": "row"}).assign(row=rows[table["text"].to_numpy()])
        yield _storable(table if with_texts else table.drop(columns="clause")).reset_index(drop=True)


def _storable(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose columns have the same types in every batch, and texts that a file can hold."""
    columns = {}
    for name in _TEXTS:
        if name in table:
            cells = [_HALVES.sub("\N{REPLACEMENT CHARACTER}", cell) for cell in table[name]]
            columns[name] = pd.Series(cells, table.index, dtype="str")
    return table.assign(**columns)
