"""From a table to a search for a number of themes, in a folder from which it can resume."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from textsignal.data.read import column, groups_of
from textsignal.data.rows import check_responses
from textsignal.data.write import write_csv
from textsignal.errors import OutputError
from textsignal.families.auto import AUTO
from textsignal.uncertainty.search import Progress, Search, search
from textsignal.workflow.used import range_of, response_in, usable_rows

#: File of finished tasks in the folder of results.
KEPT = "cells.jsonl"


def search_table(
    table: pd.DataFrame,
    *,
    text: str,
    response: str,
    folder: Path,
    n_themes: Sequence[int] | None = None,
    supervision: Sequence[float] | None = None,
    training: str = "themes",
    folds: int = 5,
    by: str | None = None,
    family: str = AUTO,
    levels: Any = None,
    on_bad_rows: str = "error",
    language: str | None = "english",
    max_terms: int | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    progress: Progress | None = None,
) -> Search:
    """Search for a number of themes, and write table.csv, a figure and a recommendation into a folder.

    Finished tasks are kept there, so that a stopped search resumes.

    Parameters
    ----------
    table : one document per row; text, response : names of the columns.
    folder : output folder; it is new, empty, or of an earlier search.
    by : column of groups that are held out together.
    on_bad_rows : "error", or "drop" to exclude empty texts and responses that cannot be used.
    n_themes, supervision, training, folds, family, levels, language, max_terms : as in `search`.
    seed, n_jobs, progress : as in `search` too.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; give the name of a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / KEPT).exists():
        raise OutputError(f"{folder} holds other things and no {KEPT} of an earlier search; give another name")
    texts, parsed = column(table, text, "text"), response_in(table, response, family, levels)
    groups = None if by is None else groups_of(table, by)
    whole = range_of(parsed, family) if levels is None or isinstance(levels[0], str) else levels
    rows = usable_rows(check_responses(texts, {response: parsed}, {response: whole}), on_bad_rows)
    found = search(
        texts.to_numpy(dtype=object)[rows].tolist(),
        parsed.given[rows],
        n_themes=n_themes,
        supervision=supervision,
        training=training,
        folds=folds,
        groups=None if groups is None else np.asarray(groups.iloc[rows]),
        family=family,
        levels=levels,
        language=language,
        max_terms=max_terms,
        random_state=seed,
        n_jobs=n_jobs,
        resume=folder / KEPT,
        progress=progress,
    )
    write_search(found, folder)
    return found


def write_search(found: Search, folder: Path) -> None:
    """Write table.csv, search.png, search.svg and recommendation.txt."""
    from textsignal import plots  # matplotlib is slow to import

    folder.mkdir(parents=True, exist_ok=True)
    write_csv(found.table, folder / "table.csv", float_format="%.6g")
    (folder / "recommendation.txt").write_text(found.recommendation + "\n", encoding="utf-8")
    for ending in ("png", "svg"):
        plots.search(found).savefig(folder / f"search.{ending}")
