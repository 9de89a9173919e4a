"""Search for a number of topics, and a supervision, by cross-validation on training data alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from textsignal.checks import check_groups, check_number, check_text_matrix, draw_seed
from textsignal.compute.engines.local import LocalEngine
from textsignal.errors import InputError
from textsignal.estimators import GLMNMF
from textsignal.families import Family
from textsignal.families.auto import AUTO, candidates
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed
from textsignal.text.reading import text_keys
from textsignal.text.tokens import TokenisedTexts
from textsignal.training.agreement import LEAST_EACH
from textsignal.training.draws import content_keys
from textsignal.training.rule import COARSE_THEMES, COARSE_TOPICS, dense_around, in_words, recommended
from textsignal.uncertainty.search_cells import (
    CUT_MEASURES,
    FOLD_MEASURES,
    Cells,
    SearchTask,
    Setting,
    ThemeCells,
    TopicCells,
    folds_of,
)
from textsignal.uncertainty.search_file import Finished, digest

#: The supervision that numbers of topics are compared with, and those that are tried with the number that is taken.
SUPERVISION, SUPERVISIONS = 0.5, (0.1, 0.25, 1.0, 2.0)
#: Called with the number of finished tasks and of all that are known so far.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    table : one row per cell: n_topics, supervision where the training has one, and mean and standard error (`_se`) of
        deviance, r2, coherence, exclusivity, for other trainings than themes text_deviance (over folds), and stability
        (over cuts).
    best : settings with the least held-out deviance; recommended : those to take, as `TextResponseModel` takes them.
    recommendation : what to take and why, in words.
    """

    table: pd.DataFrame
    best: dict[str, Any]
    recommended: dict[str, Any]
    recommendation: str
    noun: str = "theme"

    def __str__(self) -> str:
        return self.recommendation

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.recommendation)}</p>" + str(self.table.round(3).to_html(index=False, border=0))


def search(
    texts: Any,
    responses: ArrayLike,
    *,
    n_topics: int | Iterable[int] | None = None,
    supervision: float | Iterable[float] | None = None,
    training: str = "themes",
    folds: int = 5,
    groups: ArrayLike | None = None,
    family: str | Family = AUTO,
    levels: ArrayLike | None = None,
    language: str | None = "english",
    max_terms: int | None = None,
    stop_words: str | Iterable[str] | None = parts.OWN,
    random_state: Any = 0,
    n_jobs: int | None = -1,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> Search:
    """Measure numbers of topics by cross-validation, and recommend one: the most that come back.

    For each number topics are learnt from all folds but one, in turn, and from halves of the documents (see
    `uncertainty.rule` for what is recommended, and docs/search.md for how well it does).

    Parameters
    ----------
    texts : documents; for training "predictive" and "joint" also a matrix (documents, terms), as `GLMNMF` takes it.
    responses : one for each; NaN or None where there is none.
    n_topics : numbers to try; None tries some from 5 to 30 (from 3 to 30 for other trainings than themes), then all
        between the neighbours of the one to take.
    supervision : values to try, each with all numbers; None takes 0.5, and tries others with the number to take. Themes
        have none.
    training, family, levels, language, max_terms, stop_words : as in `TextResponseModel`.
    folds : how many parts are held out in turn.
    groups : documents of one group, such as a hotel, are held out together.
    random_state, n_jobs : seed; threads, -1 for all cores. The table is the same bits for any number.
    resume : a file that finished tasks are written to, one per line. A search that was stopped goes on where it was;
        a file of other data or settings is an error.
    progress : called with the numbers of finished and of all tasks.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> found = search(reviews.texts, reviews.ratings, n_topics=[3, 6], folds=2)
    >>> found.table.shape, sorted(found.recommended)
    ((2, 11), ['n_topics'])
    """
    options = parts.PlainOptions(
        family=family,
        training=training,
        levels=levels,
        language=language,
        max_terms=max_terms,
        stop_words=stop_words,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    parts.check(options)
    check_number("folds", folds, least=2, whole=True)
    themes = training == "themes"
    if themes and supervision is not None:
        raise InputError(f"supervision={supervision!r} is nothing to training='themes'; leave it out")
    cells, of = _cells(options, texts, responses, groups, int(folds))
    coarse = _numbers(n_topics, COARSE_THEMES if themes else COARSE_TOPICS, cells.folds)
    fixed: Sequence[float | None] = [None] if themes else _supervisions(supervision)
    finished = Finished(None if resume is None else Path(resume), of)
    with LocalEngine(n_jobs) as engine, threadpool_limits(1):
        run = _Run(cells, int(folds), finished, engine, progress)
        table = run.table(coarse, fixed)
        if n_topics is None:
            taken = table.at[recommended(table), "n_topics"]
            table = run.table(dense_around(taken, coarse), fixed)
        if not themes and supervision is None:
            taken = table.at[recommended(table), "n_topics"]
            table = run.table([taken], SUPERVISIONS)
    noun, row = "theme" if themes else "topic", recommended(table)
    return Search(
        table,
        _settings(table, int(table["deviance"].idxmin())),
        _settings(table, row),
        in_words(table, row, noun),
        noun,
    )


class _Run:
    """Runs tasks, and gathers all that were asked for in a table."""

    def __init__(
        self, cells: Cells, n_folds: int, finished: Finished, engine: LocalEngine, progress: Progress | None
    ) -> None:
        self.cells, self.finished, self.engine, self.progress = cells, finished, engine, progress
        self.settings: list[Setting] = []
        self.parts = [("fold", n) for n in range(n_folds)] + [("cut", n) for n in range(cells.n_cuts)]

    def table(self, numbers: Sequence[int], supervisions: Sequence[float | None]) -> pd.DataFrame:
        """All cells so far, with these."""
        self.settings += [Setting(number, value) for number, value in product(numbers, supervisions)]
        tasks = [SearchTask(setting, *part) for setting in self.settings for part in self.parts]
        # The largest first: no thread is left with a long one in the end.
        todo = sorted((task for task in tasks if task not in self.finished), reverse=True, key=_size)
        self._tell(len(tasks) - len(todo), len(tasks))
        self.cells.prepare(todo, self.engine)

        def work(task: SearchTask) -> None:
            self.finished.keep(task, self.cells.measure(task))
            self._tell(sum(each in self.finished for each in tasks), len(tasks))

        self.engine.map(work, todo)
        return pd.DataFrame([self._row(setting) for setting in sorted(self.settings, key=_order)])

    def _row(self, setting: Setting) -> dict[str, Any]:
        row = {name: value for name, value in asdict(setting).items() if value is not None}
        for part, measures in (("fold", FOLD_MEASURES), ("cut", CUT_MEASURES)):
            found = [self.finished[SearchTask(setting, *each)] for each in self.parts if each[0] == part]
            for measure in (each for each in measures if each in found[0]):
                values = np.array([values[measure] for values in found])
                row |= {measure: values.mean(), f"{measure}_se": values.std(ddof=1) / np.sqrt(len(values))}
        return row

    def _tell(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)


def _size(task: SearchTask) -> tuple[int, str, int]:
    return task.setting.n_topics, task.part, task.number


def _order(setting: Setting) -> tuple[int, float]:
    return setting.n_topics, setting.supervision or 0.0


def _settings(table: pd.DataFrame, row: int) -> dict[str, Any]:
    """What was varied, of a row of the table."""
    found: dict[str, Any] = {"n_topics": int(table.at[row, "n_topics"])}
    return found | ({"supervision": float(table.at[row, "supervision"])} if "supervision" in table else {})


def _cells(
    options: parts.Options, texts: Any, responses: ArrayLike, groups: ArrayLike | None, n_folds: int
) -> tuple[ThemeCells | TopicCells, dict[str, Any]]:
    """What is measured on, and what a file of finished tasks must be of."""
    seed = draw_seed(options.random_state)
    matrix = _matrix(texts) if _is_matrix(texts) else None
    if matrix is not None and options.training == "themes":
        raise InputError("themes are learnt from sentences: give texts, or training='predictive' for a matrix")
    tokens = parts.tokenise(options, texts if matrix is None else [""] * matrix.shape[0])
    observed = parts.observe_response(options, tokens, responses)
    _check_response(observed, n_folds)
    codes = check_groups(groups, len(tokens))
    keys = text_keys(tokens.texts) if matrix is None else content_keys(matrix)
    n_apart, what = (len(np.unique(keys)), "texts") if codes is None else (len(np.unique(codes)), "groups")
    if n_apart < n_folds:
        raise InputError(f"folds={n_folds}, but there are {n_apart} different {what}; give fewer folds")
    folds = folds_of(keys, n_folds, codes, seed)
    data = digest(
        [observed.responses, np.zeros(0) if codes is None else codes]
        + ([] if matrix is None else [matrix.indptr, matrix.indices, matrix.data]),
        tokens.texts if matrix is None else (),
    )
    named = ("family", "training", "levels", "language", "max_terms", "stop_words")
    of = {"textsignal": version("textsignal"), "data": data, "folds": n_folds}
    of["random_state"] = int(given) if isinstance(given := options.random_state, int | np.integer) else seed
    of |= {name: _plain(getattr(options, name)) for name in named}
    if options.training == "themes":
        return ThemeCells(options, observed, folds, seed), of
    simplest = observed.family or candidates(observed.responses, options.levels).families[0]
    assert isinstance(tokens, TokenisedTexts)
    X = sp.csr_array(parts.new_vectorizer(options).fit_transform(tokens)) if matrix is None else matrix
    given = observed if matrix is None else None
    return TopicCells(options, X, given, observed.responses, simplest, folds, keys, seed), of


def _is_matrix(texts: Any) -> bool:
    return sp.issparse(texts) or getattr(texts, "ndim", 1) == 2


def _matrix(X: Any) -> sp.csr_array:
    return check_text_matrix(GLMNMF(), X, reset=True).astype(np.float64)


def _check_response(observed: Observed, n_folds: int) -> None:
    known = int(np.sum(~np.isnan(observed.responses)))
    if known < 2 * n_folds:
        raise InputError(f"{known} documents have a response; folds={n_folds} need at least {2 * n_folds}")
    family = observed.family
    if family is not None and family.classifies and family.learn(observed.responses).n_predictors > 1:
        raise InputError(
            "the response is of three or more classes without an order, which a search does not take; "
            "give their order as levels=, or search for one class against all others"
        )


def _numbers(given: int | Iterable[int] | None, coarse: Sequence[int], folds: NDArray[np.int64]) -> list[int]:
    """Numbers of topics to try, ascending."""
    if given is None:
        numbers = [number for number in coarse if number * LEAST_EACH <= len(folds)]
        if not numbers:
            raise InputError(
                f"{len(folds):,} documents are too few to choose a number of topics by; "
                f"it takes {coarse[0] * LEAST_EACH:,}, or numbers to try: n_topics=[2, 3]"
            )
        return numbers
    numbers = [given] if isinstance(given, int | np.integer) else list(given)
    least = len(folds) - int(np.bincount(folds).max())
    for number in numbers:
        check_number("n_topics", number, least=1, whole=True)
        if number > min(parts.MOST_THEMES, least // 2):
            raise InputError(
                f"n_topics={number} is more than {len(folds):,} documents can carry; "
                f"give 1 to {min(parts.MOST_THEMES, least // 2)}"
            )
    if not numbers:
        raise InputError("n_topics is empty; give numbers to try")
    return sorted({int(number) for number in numbers})


def _supervisions(given: float | Iterable[float] | None) -> Sequence[float | None]:
    if given is None:
        return [SUPERVISION]
    values = [given] if isinstance(given, int | float | np.number) else list(given)
    for value in values:
        check_number("supervision", value, least=0)
    if not values:
        raise InputError("supervision is empty; give values to try")
    return sorted({float(value) for value in values})


def _plain(value: Any) -> Any:
    """An option as JSON holds it."""
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "settings"):
        return repr(value)
    return np.asarray(list(value) if isinstance(value, set | frozenset) else value).tolist()
