"""Search for a number of themes, and a supervision, by cross-validation on training data alone.

On a fold themes are learnt from the other folds: deviance (minus twice the logarithm of the probability of a response,
on average), R2, coherence and exclusivity. In the halves of a cut they are learnt twice and matched: stability is the
mean cosine. Exclusivity is the mean share that a theme has in its ten leading terms: 1 if no other theme uses them.
Themes on a matrix are models of the text too: text_deviance is of words of one half of a held-out text, given the other
half.

More themes are more to read and hide less of what texts are about, while skill hardly depends on their number. What
does is whether themes learnt from other texts are the same. So the recommendation is the number that

1. has a held-out deviance within one standard error of the least;
2. if themes are a model of the text, as those on a matrix are, is at most the fewest whose held-out text deviance is
   within one standard error of the least;
3. of these has a stability within one standard error of the greatest, or within `NEAR` of it;
4. of these is largest.

Tasks run in parallel, so each has one thread, and `search` limits those of BLAS.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from importlib.metadata import version
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits

from textsignal.arrays import Array, Vector
from textsignal.checks import check_groups, check_number, check_text_matrix, draw_seed
from textsignal.compute.engines import Engine
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.hashing import Keys, drawn
from textsignal.data.write import keep_line, kept_lines
from textsignal.errors import InputError, OutputError
from textsignal.estimators import GLMNMF
from textsignal.evaluation import metrics as evaluate
from textsignal.families import Family, log_scores
from textsignal.families.auto import AUTO, candidates
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed
from textsignal.reading.words import plain_profiles
from textsignal.text.tokens import SentenceTexts, TokenisedTexts, text_keys
from textsignal.training.draws import content_keys, unit_halves
from textsignal.training.halves import (
    COARSE_THEMES,
    COARSE_TOPICS,
    CUTS,
    LEAST_EACH,
    NEAR,
    StableNumber,
    ThemeHalves,
    dense_around,
    halves,
    match_topics,
    most_stable,
    why_stable,
)
from textsignal.training.theme_model import (
    PartlyRead,
    Prepared,
    by_document,
    count_units,
    fit_prepared,
    read_features,
    readings_of,
)

Values = dict[str, float]
#: Called with the number of finished tasks, and of all tasks known by then.
Progress = Callable[[int, int], None]
#: The supervision that numbers of themes are compared at, and those tried with the chosen number.
SUPERVISION, SUPERVISIONS = 0.5, (0.1, 0.25, 1.0, 2.0)
#: Cuts into halves for themes on a matrix, each of which costs two fits.
TOPIC_CUTS = 3
#: Measures on a fold, and in the halves of a cut; text_deviance of themes on a matrix only.
FOLD_MEASURES, CUT_MEASURES = ("deviance", "r2", "coherence", "exclusivity", "text_deviance"), ("stability",)
#: Share of a word's probability that is its probability in all documents, and what is added to its count there.
OVERALL, LEAST_COUNT = 0.02, 0.1
#: Key of the first line of a file of finished tasks.
OF = "search of"


@dataclass(frozen=True, eq=False)
class Search:
    """Result of a search.

    table : one row per cell: n_themes, supervision if the training has one, and mean and standard error (`_se`) of
        deviance, r2, coherence, exclusivity, for other trainings than themes text_deviance (over folds), and stability
        (over cuts).
    best : settings with the least held-out deviance; recommended : those to use, as options of `TextResponseModel`.
    recommendation : the recommended settings and the reason, in words.
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
    n_themes: int | Iterable[int] | None = None,
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
    """Measure numbers of themes by cross-validation, and recommend the largest that is stable.

    For each number themes are learnt from all folds but one, in turn, and from halves of the documents (see
    `uncertainty.search` for the rule, and docs/search.md for how well it does).

    Parameters
    ----------
    texts : documents; for training "predictive" and "joint" also a matrix (documents, terms), as `GLMNMF` takes it.
    responses : one for each; NaN or None if missing.
    n_themes : numbers to try; None tries some from 5 to 30 (from 3 to 30 for other trainings than themes), then all
        between the neighbours of the one to take.
    supervision : values to try, each with all numbers; None takes 0.5, and tries others with the number to take. Themes
        have none.
    training, family, levels, language, max_terms, stop_words : as in `TextResponseModel`.
    folds : number of folds, each held out in turn.
    groups : documents of one group, such as a hotel, are held out together.
    random_state, n_jobs : seed; threads, -1 for all cores. The table does not depend on the number of threads.
    resume : a file that finished tasks are written to, one per line, and from which a stopped search continues; a file
        of other data or settings is an error.
    progress : called with the numbers of finished and of all tasks.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(300, seed=1)
    >>> found = search(reviews.texts, reviews.ratings, n_themes=[3, 6], folds=2)
    >>> found.table.shape, sorted(found.recommended)
    ((2, 11), ['n_themes'])
    """
    options = parts.Options(
        family=family,
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
        raise InputError(f"supervision={supervision!r} does not apply to training='themes'; omit it")
    cells, of = _cells(options, texts, responses, groups, int(folds))
    coarse = _numbers(n_themes, COARSE_THEMES if themes else COARSE_TOPICS, cells.folds)
    fixed: Sequence[float | None] = [None] if themes else _supervisions(supervision)
    finished = Finished(None if resume is None else Path(resume), of)
    with LocalEngine(n_jobs) as engine, threadpool_limits(1):
        run = _Run(cells, int(folds), finished, engine, progress or (lambda done, total: None))
        table = run.table(coarse, fixed)
        if n_themes is None:
            taken = table.at[recommended(table), "n_themes"]
            table = run.table(dense_around(taken, coarse), fixed)
        if not themes and supervision is None:
            taken = table.at[recommended(table), "n_themes"]
            table = run.table([taken], SUPERVISIONS)
    noun, row = "theme" if themes else "theme", recommended(table)
    return Search(
        table,
        _settings(table, int(table["deviance"].idxmin())),
        _settings(table, row),
        in_words(table, row, noun),
        noun,
    )


class _Run:
    """Runs tasks, and tabulates all settings so far."""

    def __init__(
        self,
        cells: ThemeCells | TopicCells,
        n_folds: int,
        finished: Finished,
        engine: LocalEngine,
        progress: Progress,
    ) -> None:
        self.cells, self.finished, self.engine, self.progress = cells, finished, engine, progress
        self.settings: list[Setting] = []
        self.parts = [("fold", n) for n in range(n_folds)] + [("cut", n) for n in range(cells.n_cuts)]

    def table(self, numbers: Sequence[int], supervisions: Sequence[float | None]) -> pd.DataFrame:
        """Run more settings, and return the table of all so far."""
        self.settings += [Setting(number, value) for number, value in product(numbers, supervisions)]
        tasks = [SearchTask(setting, *part) for setting in self.settings for part in self.parts]
        # The largest first, so that no thread is left with a long one in the end.
        todo = sorted(
            (task for task in tasks if task not in self.finished),
            reverse=True,
            key=lambda task: (task.setting.n_themes, task.part, task.number),
        )
        self.progress(len(tasks) - len(todo), len(tasks))
        self.cells.prepare(todo, self.engine)

        def work(task: SearchTask) -> None:
            self.finished.keep(task, self.cells.measure(task))
            self.progress(sum(each in self.finished for each in tasks), len(tasks))

        self.engine.map(work, todo)
        settings = sorted(self.settings, key=lambda setting: (setting.n_themes, setting.supervision or 0.0))
        return pd.DataFrame([self._row(setting) for setting in settings])

    def _row(self, setting: Setting) -> dict[str, Any]:
        row = {name: value for name, value in asdict(setting).items() if value is not None}
        for part, measures in (("fold", FOLD_MEASURES), ("cut", CUT_MEASURES)):
            results = [self.finished[SearchTask(setting, *each)] for each in self.parts if each[0] == part]
            for measure in (each for each in measures if each in results[0]):
                values = np.array([result[measure] for result in results])
                row |= {measure: values.mean(), f"{measure}_se": values.std(ddof=1) / np.sqrt(len(values))}
        return row


def _settings(table: pd.DataFrame, row: int) -> dict[str, Any]:
    """Settings of a row of the table."""
    settings: dict[str, Any] = {"n_themes": int(table.at[row, "n_themes"])}
    return settings | ({"supervision": float(table.at[row, "supervision"])} if "supervision" in table else {})


def _cells(
    options: parts.Options, texts: Any, responses: ArrayLike, groups: ArrayLike | None, n_folds: int
) -> tuple[ThemeCells | TopicCells, dict[str, Any]]:
    """Cells to measure, and the data and settings that identify the search in a file."""
    seed = draw_seed(options.random_state)
    matrix = None
    if sp.issparse(texts) or getattr(texts, "ndim", 1) == 2:
        matrix = check_text_matrix(GLMNMF(), texts, reset=True).astype(np.float64)
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


def _check_response(observed: Observed, n_folds: int) -> None:
    known = int(np.sum(~np.isnan(observed.responses)))
    if known < 2 * n_folds:
        raise InputError(f"{known} documents have a response; folds={n_folds} need at least {2 * n_folds}")
    family = observed.family
    if family is not None and family.classifies and family.learn(observed.responses).n_predictors > 1:
        raise InputError(
            "the response has three or more classes without an order, which a search does not support; "
            "give their order as levels=, or search for one class against all others"
        )


def _numbers(given: int | Iterable[int] | None, coarse: Sequence[int], folds: NDArray[np.int64]) -> list[int]:
    """Numbers of themes to try, ascending."""
    if given is None:
        numbers = [number for number in coarse if number * LEAST_EACH <= len(folds)]
        if not numbers:
            raise InputError(
                f"{len(folds):,} documents are too few to choose a number of themes by; "
                f"it takes {coarse[0] * LEAST_EACH:,}, or numbers to try: n_themes=[2, 3]"
            )
        return numbers
    numbers = [given] if isinstance(given, int | np.integer) else list(given)
    least = len(folds) - int(np.bincount(folds).max())
    for number in numbers:
        check_number("n_themes", number, least=1, whole=True)
        if number > min(parts.MOST_THEMES, least // 2):
            raise InputError(
                f"n_themes={number} is more than {len(folds):,} documents can carry; "
                f"give 1 to {min(parts.MOST_THEMES, least // 2)}"
            )
    if not numbers:
        raise InputError("n_themes is empty; give numbers to try")
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
    """An option as a value of JSON."""
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "settings"):
        return repr(value)
    return np.asarray(list(value) if isinstance(value, set | frozenset) else value).tolist()


@dataclass(frozen=True, order=True)
class Setting:
    """Settings that a search varies; supervision is None for themes, which have none."""

    n_themes: int
    supervision: float | None = None


@dataclass(frozen=True, order=True)
class SearchTask:
    """A setting on a fold, or in the halves of a cut, by number."""

    setting: Setting
    part: str
    number: int


def folds_of(keys: Keys, n_folds: int, groups: NDArray[np.int64] | None, seed: int) -> NDArray[np.int64]:
    """Return (documents,) folds of about equal size; equal documents, or those of a group, are in one.

    keys : (documents,) of their texts. Without groups folds do not depend on the order of documents.
    """
    if groups is None:
        distinct, place = np.unique(drawn(keys, seed), return_inverse=True)
        return np.asarray(place * n_folds // len(distinct), dtype=np.int64)
    fold = np.empty(len(keys), dtype=np.int64)
    for number, (_, rows) in enumerate(GroupKFold(n_folds).split(keys, groups=groups)):
        fold[rows] = number
    return fold


def _skill(family: Family, responses: Vector, eta: Vector) -> Values:
    known = ~np.isnan(responses)
    observed, eta = responses[known], eta[known]
    return {
        "deviance": float(2 * np.mean(log_scores(family, observed, eta))),
        "r2": evaluate.r2_score(observed, family.mean(eta)),
    }


def _of_profiles(profiles: Array, X: sp.csr_array) -> Values:
    """Means over themes; X : (documents, terms) of training."""
    return {
        "coherence": float(evaluate.coherence(X, profiles).mean()),
        "exclusivity": float(evaluate.exclusivity(np.asarray(profiles, dtype=float)).mean()),
    }


def _text_deviance(fit: GLMNMF, X: sp.csr_array, X_test: sp.csr_array, keys: Keys) -> float:
    """Minus twice the mean logarithm of the probability of a word in one half of a document, given the other half.

    The probability is that of its themes, with a little of the words of all training documents X in it.
    """
    rows = np.arange(X_test.shape[0])
    known, hidden = (unit_halves(X_test, rows, keys, side) for side in (0, 1))
    themes, overall = _unit(fit.components_), np.asarray(X.sum(axis=0), dtype=float) + LEAST_COUNT
    weights = _unit(fit.transform(known) * np.sum(fit.components_, axis=1))
    document, term = np.repeat(rows, np.diff(hidden.indptr)), hidden.indices
    chances = np.zeros(len(term))
    for theme, weight in zip(themes, weights.T, strict=True):
        chances += weight[document] * theme[term]
    chances = (1 - OVERALL) * chances + OVERALL * overall[term] / overall.sum()
    return float(-2 * np.average(np.log(chances), weights=hidden.data)) if len(term) else float("nan")


@dataclass(frozen=True, eq=False)
class _ThemeFold:
    """Training side, as far as it has no themes, and test side: features, counts of terms, responses."""

    prepared: Prepared
    read: PartlyRead
    units: sp.csr_array
    responses: Vector


@dataclass(eq=False)
class ThemeCells:
    """Tasks of themes: features, tone and vectors of a fold are learnt once for all numbers of themes."""

    options: parts.Options
    observed: Observed
    folds: NDArray[np.int64]
    seed: int
    _prepared: dict[int, _ThemeFold] = field(default_factory=dict)
    _halves: ThemeHalves | None = None

    @property
    def n_cuts(self) -> int:
        """Number of cuts into halves."""
        return CUTS

    def prepare(self, tasks: Sequence[SearchTask], engine: Engine) -> None:
        """Learn the tone of each fold of the tasks, and cut documents into halves."""
        todo = sorted({task.number for task in tasks if task.part == "fold"} - set(self._prepared))
        self._prepared |= zip(todo, engine.map(self._fold, todo), strict=True)
        if self._halves is None and any(task.part == "cut" for task in tasks):
            self._halves = ThemeHalves.of(self._prepare(self.observed), self.seed, engine)

    def measure(self, task: SearchTask) -> Values:
        """Return the measures of a task."""
        if task.part == "cut":
            assert self._halves is not None
            return {"stability": self._halves.cosine(task.setting.n_themes, task.number)}
        fold = self._prepared[task.number]
        with local_compute(1) as compute:
            ((fitted, training),) = fit_prepared(
                fold.prepared, n_themes=task.setting.n_themes, seed=self.seed, compute=compute
            )
            (reading,) = readings_of(fold.read, fold.units, [fitted.tone], fitted.themes, compute)
        eta = fitted.effects.linear_predictor(reading.tone, reading.shares)
        X = sp.csr_array(by_document(training.units, training.texts))
        return _skill(fitted.family, fold.responses, eta) | _of_profiles(plain_profiles(fitted), X)

    def _fold(self, number: int) -> _ThemeFold:
        train, test = (self.observed.at(np.flatnonzero(side)) for side in (self.folds != number, self.folds == number))
        prepared = self._prepare(train)
        assert isinstance(test.tokens, SentenceTexts)
        with LocalEngine() as engine:
            read = read_features(test.tokens, prepared.lexicon.features, engine)
            units = count_units(test.tokens, prepared.lexicon.terms, engine)
        return _ThemeFold(prepared, read, units, test.responses)

    def _prepare(self, observed: Observed) -> Prepared:
        assert isinstance(observed.tokens, SentenceTexts)
        response = parts.response_of(self.options, observed)
        with local_compute(1) as compute:
            return parts.prepare(self.options, [response], observed.tokens, observed.weight, compute)


@dataclass(eq=False)
class TopicCells:
    """Tasks of themes on a matrix.

    X : (documents, terms); observed : texts, whose terms are counted again for each fold; None if X was given.
    responses : (documents,) NaN if missing; keys : (documents,) of the content of documents.
    """

    options: parts.Options
    X: sp.csr_array
    observed: Observed | None
    responses: Vector
    family: Family
    folds: NDArray[np.int64]
    keys: Keys
    seed: int
    _sides: dict[int, tuple[sp.csr_array, sp.csr_array]] = field(default_factory=dict)

    @property
    def n_cuts(self) -> int:
        """Number of cuts into halves."""
        return TOPIC_CUTS

    def prepare(self, tasks: Sequence[SearchTask], engine: Engine) -> None:
        """Count terms of training and test side of each fold of the tasks."""
        todo = sorted({task.number for task in tasks if task.part == "fold"} - set(self._sides))
        self._sides |= zip(todo, engine.map(self._fold, todo), strict=True)

    def measure(self, task: SearchTask) -> Values:
        """Return the measures of a task."""
        if task.part == "cut":
            first = 2 * task.number
            samples = halves(self.keys, first + 2, self.seed)[first:]
            fits = [self._fit(task.setting, self.X[rows], self.responses[rows], n) for n, rows in enumerate(samples)]
            return {"stability": float(match_topics(*[_unit(fit.components_) for fit in fits]).cosines.mean())}
        X, X_test = self._sides[task.number]
        out = self.folds == task.number
        fit = self._fit(task.setting, X, self.responses[~out], 0)
        eta, profiles = fit.predictions(X_test).eta, _unit(fit.components_)
        measured = _skill(fit.family_, self.responses[out], eta) | _of_profiles(profiles, X)
        return measured | {"text_deviance": _text_deviance(fit, X, X_test, self.keys[out])}

    def _fit(self, setting: Setting, X: sp.csr_array, responses: Vector, seed: int) -> GLMNMF:
        return GLMNMF(
            setting.n_themes,
            family=self.family,
            training=parts.training_of(self.options),
            supervision=SUPERVISION if setting.supervision is None else setting.supervision,
            random_state=self.seed + seed,
            n_jobs=1,
        ).fit(X, responses)

    def _fold(self, number: int) -> tuple[sp.csr_array, sp.csr_array]:
        train, test = (np.flatnonzero(side) for side in (self.folds != number, self.folds == number))
        if self.observed is None:
            return self.X[train], self.X[test]
        vectorizer, tokens = parts.new_vectorizer(self.options), self.observed.tokens
        assert isinstance(tokens, TokenisedTexts)
        counted = vectorizer.fit_transform(tokens.at(train))
        return sp.csr_array(counted), sp.csr_array(vectorizer.transform(tokens.at(test)))


def _unit(themes: Array) -> Vector:
    """(themes, terms) each summing to 1."""
    size = themes.sum(axis=1, keepdims=True)
    return np.asarray(themes / np.where(size > 0, size, 1), dtype=float)


class Finished:
    """Values of finished tasks, kept in a file: the first line identifies the search, each other one is a task.

    path : None for no file; of : data and settings of the search, which must be equal in the file.
    """

    def __init__(self, path: Path | None, of: dict[str, Any]) -> None:
        self._path, self._lock = path, Lock()
        self._values: dict[SearchTask, Values] = {}
        if path is None:
            return
        if path.is_dir():
            raise OutputError(f"{path} is a folder; give the name of a file")
        lines = list(kept_lines(path))
        if lines:
            _check(path, lines[0], of)
        else:
            _begin(path, of)
        for line in lines[1:]:
            if isinstance(line, dict) and "part" in line:
                setting = Setting(line["n_themes"], line["supervision"])
                self._values[SearchTask(setting, line["part"], line["number"])] = line["values"]

    def __contains__(self, task: SearchTask) -> bool:
        return task in self._values

    def __getitem__(self, task: SearchTask) -> Values:
        return self._values[task]

    def keep(self, task: SearchTask, values: Values) -> None:
        """Add the values of a task, and write them to the file at once."""
        with self._lock:
            self._values[task] = values
            if self._path is not None:
                line = {"part": task.part, "number": task.number, "values": values}
                keep_line(asdict(task.setting) | line, self._path)


def _begin(path: Path, of: dict[str, Any]) -> None:
    """Write the first line, over an incomplete one of a search that was stopped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        if not json.dumps({OF: of}, ensure_ascii=False).startswith(path.read_text(encoding="utf-8", errors="replace")):
            raise InputError(f"{path} is not a file of a search; give another name")
        path.unlink()
    keep_line({OF: of}, path)


def _check(path: Path, first: Any, of: dict[str, Any]) -> None:
    kept = first.get(OF) if isinstance(first, dict) else None
    if not isinstance(kept, dict):
        raise InputError(f"{path} is not a file of a search; give another name")
    for name, value in of.items():
        if kept.get(name) != value:
            what = (
                "other texts, responses or groups"
                if name == "data"
                else f"{name}={kept.get(name)!r}, and this one of {name}={value!r}"
            )
            raise InputError(f"{path} holds a search of {what}; give another file, or remove it to begin anew")


def digest(arrays: Iterable[np.ndarray], texts: Iterable[str] = ()) -> str:
    """Return a short hash of the data."""
    hashed = hashlib.sha256()
    for values in arrays:
        hashed.update(f"{values.dtype.str}{values.shape}".encode())
        hashed.update(np.ascontiguousarray(values).tobytes())
    for text in texts:
        hashed.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
    return hashed.hexdigest()[:16]


def skilled(cells: pd.DataFrame, measure: str = "deviance") -> pd.DataFrame:
    """Return the cells whose deviance is within one standard error of the least.

    Examples
    --------
    >>> cells = pd.DataFrame({"deviance": [2.0, 2.1, 2.4], "deviance_se": [0.2, 0.1, 0.1]})
    >>> skilled(cells).index.tolist()
    [0, 1]
    """
    best = cells[measure].idxmin()
    return cells[cells[measure] <= cells.at[best, measure] + np.nan_to_num(cells.at[best, f"{measure}_se"])]


def eligible(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that predict within one standard error of the best, and whose themes the text supports.

    cells : one for each number of themes.
    """
    kept = skilled(cells)
    if "text_deviance" not in cells:
        return kept
    most = skilled(cells, "text_deviance")["n_themes"].min()
    few = kept[kept["n_themes"] <= most]
    return kept if few.empty else few


def recommended(cells: pd.DataFrame) -> int:
    """Return the row label of the recommended cell.

    Numbers of themes are compared at the supervision of each with the least deviance; of the chosen number, the least
    supervision is recommended whose deviance is within one standard error of the least.
    """
    best_of_each = cells.loc[cells.groupby("n_topics")["deviance"].idxmin()]
    number = most_stable(_stability(eligible(best_of_each))).n_topics
    of_number = skilled(cells[cells["n_topics"] == number])
    return int(of_number.index[0] if "supervision" not in cells else of_number["supervision"].idxmin())


def _stability(cells: pd.DataFrame) -> list[StableNumber]:
    columns = (cells[name].tolist() for name in ("n_topics", "stability", "stability_se"))
    return [StableNumber(*cell) for cell in zip(*columns, strict=True)]


def in_words(cells: pd.DataFrame, taken: int, noun: str) -> str:
    """Describe the recommendation, its reason, and the neighbours with fewer and more themes; taken : a row label."""
    of_each = cells.loc[cells.groupby("n_themes")["deviance"].idxmin()].sort_values("n_themes", ignore_index=True)
    row, best = cells.loc[taken], cells.loc[cells["deviance"].idxmin()]
    number = int(row["n_themes"])
    place = int(of_each.index[of_each["n_themes"] == number][0])
    supervised = f", with a supervision of {row['supervision']:g}" if "supervision" in cells else ""
    sentences = [f"Take {number} {noun}s{supervised}"]
    if len(of_each) > 1:
        kept = eligible(of_each)
        enough = ", and held-out text asks for no more" if "text_deviance" in cells and place == kept.index[-1] else ""
        tried = _stability(of_each)
        reason = why_stable(tried[place], tried, noun, _stability(kept)) + enough
        sentences.append(reason[0].upper() + reason[1:])
    at_best = "the best" if row.name == best.name else f"{best['r2']:.3f} at the least deviance, {_named(best)}"
    sentences.append(f"Held-out R2 is {row['r2']:.3f}, {at_best}")
    for other, loss in ((place - 1, "less is told apart"), (place + 1, _beyond(of_each, place, noun))):
        if other in of_each.index:
            cell = of_each.loc[other]
            measured = f"R2 {cell['r2']:.3f}, cosine {cell['stability']:.2f}"
            sentences.append(f"With {cell['n_themes']:.0f} {loss}: {measured}")
    return ". ".join(sentences) + "."


def _beyond(cells: pd.DataFrame, place: int, noun: str) -> str:
    """Drawback of the next larger number."""
    if place + 1 in cells.index and cells.at[place + 1, "stability"] < cells.at[place, "stability"] - NEAR:
        return f"{noun}s come back less surely"
    return "there is more to read and nothing gained"


def _named(cell: pd.Series) -> str:
    return f"with {cell['n_themes']:.0f}" + (f" and {cell['supervision']:g}" if "supervision" in cell else "")
