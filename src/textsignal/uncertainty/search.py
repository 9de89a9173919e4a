"""Search for a number of themes, and a supervision, by cross-validation on training data alone.

On a fold themes are learnt from the other folds: deviance, R2, coherence and exclusivity, the mean share that a theme
has in its ten leading terms. In the halves of a cut they are learnt twice and matched: stability is the mean cosine.
Topics on a matrix are models of the text too: text_deviance is of words of half of a held-out text, given the rest.

More themes are more to read and hide less of what texts are about, while skill hardly depends on their number. What
does is whether themes learnt from other texts are the same. So the recommendation is the number that

1. has a held-out deviance within one standard error of the least;
2. for topics on a matrix, is at most the fewest whose held-out text deviance is within one standard error of the least;
3. of these has a stability within one standard error of the greatest, or within `NEAR` of it;
4. of these is largest.

Tasks run in parallel, so each has one thread, and `search` limits those of BLAS.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from importlib.metadata import version
from itertools import product
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits

from textsignal.arrays import Array, Rows, Vector
from textsignal.checks import check_choice, check_groups, check_number, check_text_matrix, draw_seed
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.hashing import Keys, drawn
from textsignal.data.write import keep_line, kept_lines
from textsignal.errors import InputError, OutputError
from textsignal.estimators import GLMNMF
from textsignal.evaluation.metrics import coherence, exclusivity, r2_score
from textsignal.families import Family
from textsignal.families.auto import AUTO, candidates
from textsignal.families.responses import as_numbers, as_response, in_numbers, ordered_categories
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed, response_column
from textsignal.reading.words import plain_profiles
from textsignal.text.tokens import text_keys
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
    places_of,
    read_features,
    readings_of,
)

Values = dict[str, float]
#: Called with the number of finished tasks, and of all tasks known by then.
Progress = Callable[[int, int], None]
#: The supervision that numbers of themes are compared at, and those tried with the chosen number.
SUPERVISION, SUPERVISIONS = 0.5, (0.1, 0.25, 1.0, 2.0)
#: Cuts into halves for topics on a matrix, each of which costs two fits.
TOPIC_CUTS = 3
#: Share of a word's probability that is its probability in all texts, and what is added to its count there.
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

    For each number themes are learnt from all folds but one, in turn, and from halves of the texts (see
    `uncertainty.search` for the rule, and docs/search.md for how well it does).

    Parameters
    ----------
    texts : the texts; for training "predictive" and "joint" a matrix (texts, terms), as `GLMNMF` takes it.
    responses : one for each; NaN or None if missing.
    n_themes : numbers to try; None tries some from 5 to 30 (from 3 to 30 for other trainings than themes), then all
        between the neighbours of the one to take.
    supervision : values to try, each with all numbers; None takes 0.5, and tries others with the number to take. Themes
        have none.
    training : "themes", or that of a `GLMNMF`, "predictive" or "joint", to search for a number of topics.
    family, levels, language, max_terms, stop_words : as in `TextResponseModel`; the last three are for themes.
    folds : number of folds, each held out in turn.
    groups : texts of one group, such as a hotel, are held out together.
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
    check_choice("training", training, TRAININGS)
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
    cells, of = _cells(options, training, texts, responses, groups, int(folds))
    coarse = _numbers(n_themes, COARSE_THEMES if themes else COARSE_TOPICS, cells.folds)
    at = SUPERVISION if supervision is None else supervision
    fixed: Sequence[float | None] = [None] if themes else _listed("supervision", at, least=0)
    finished = Finished(None if resume is None else Path(resume), of)
    with LocalEngine(n_jobs) as engine, threadpool_limits(1):
        run = partial(cells.table, engine, finished, progress or (lambda done, total: None))
        table = run(product(coarse, fixed))
        if n_themes is None:
            taken = table.at[recommended(table), "n_themes"]
            table = run(product(dense_around(taken, coarse), fixed))
        if not themes and supervision is None:
            taken = table.at[recommended(table), "n_themes"]
            table = run(product([taken], SUPERVISIONS))
    noun, row = "theme" if themes else "topic", recommended(table)
    best, settings = _settings(table, int(table["deviance"].idxmin())), _settings(table, row)
    return Search(table, best, settings, in_words(table, row, noun), noun)


def _settings(table: pd.DataFrame, row: int) -> dict[str, Any]:
    """Settings of a row of the table."""
    settings: dict[str, Any] = {"n_themes": int(table.at[row, "n_themes"])}
    return settings | ({"supervision": float(table.at[row, "supervision"])} if "supervision" in table else {})


#: What is searched for a number of: themes, or topics by the trainings of a `GLMNMF`.
TRAININGS = ("themes", "predictive", "joint")
#: Number of themes, and supervision; None for themes, which have none.
Setting = tuple[int, float | None]


class SearchTask(NamedTuple):
    """A setting to be evaluated on a fold, or on two halves of the texts."""

    n_themes: int
    supervision: float | None
    part: str
    number: int


def _cells(
    options: parts.Options, training: str, texts: Any, responses: ArrayLike, groups: ArrayLike | None, n_folds: int
) -> tuple[Cells, dict[str, Any]]:
    """Cells to measure, and the data and settings that identify the search in a file."""
    seed, scale = draw_seed(options.random_state), parts.scale_of(options)
    is_matrix = sp.issparse(texts) or getattr(texts, "ndim", 1) == 2
    if is_matrix == (training == "themes"):
        needed = "texts" if is_matrix else "a matrix (texts, terms), such as TextVectorizer().fit_transform(texts)"
        raise InputError(f"training={training!r} takes {needed}; give {'these' if is_matrix else 'it'}")
    if is_matrix:
        X = check_text_matrix(GLMNMF(), texts, reset=True).astype(np.float64)
        keys, column = content_keys(X), response_column(X.shape[0], responses)
        asked = scale.family_of(column, ordered_categories(responses))
        answers = as_numbers(as_response(column)) if asked is None else in_numbers(column, asked)
    else:
        observed = scale.observe(parts.tokenise(options, texts), responses)
        keys, answers, asked = text_keys(observed.texts), observed.responses, observed.family
    known = int(np.sum(~np.isnan(answers)))
    if known < 2 * n_folds:
        raise InputError(f"{known} texts have a response; folds={n_folds} need at least {2 * n_folds}")
    if asked is not None and asked.classifies and asked.learn(answers).n_predictors > 1:
        raise InputError(
            "the response has three or more classes without an order, which a search does not support; "
            "give their order as levels=, or search for one class against all others"
        )
    codes = check_groups(groups, len(keys))
    n_apart, what = (len(np.unique(keys)), "texts") if codes is None else (len(np.unique(codes)), "groups")
    if n_apart < n_folds:
        raise InputError(f"folds={n_folds}, but there are {n_apart} different {what}; give fewer folds")
    data = b"".join(each.tobytes() for each in (keys, answers, codes) if each is not None)
    of = {"textsignal": version("textsignal"), "data": hashlib.sha256(data).hexdigest()[:16], "folds": n_folds}
    of["random_state"] = int(given) if isinstance(given := options.random_state, int | np.integer) else seed
    named = ("family", "levels", "language", "max_terms", "stop_words")
    of |= {"training": training} | {name: _plain(getattr(options, name)) for name in named}
    folds = folds_of(keys, n_folds, codes, seed)
    if is_matrix:
        family = asked or candidates(answers, options.levels).families[0]
        return TopicCells(answers, folds, seed, TOPIC_CUTS, training, family, keys, X), of
    return ThemeCells(answers, folds, seed, CUTS, options, observed), of


def _numbers(given: int | Iterable[int] | None, coarse: Sequence[int], folds: Rows) -> list[int]:
    """Numbers of themes to try, ascending."""
    if given is None:
        numbers = [number for number in coarse if number * LEAST_EACH <= len(folds)]
        if not numbers:
            raise InputError(
                f"{len(folds):,} texts are too few to choose a number of themes by; "
                f"it takes {coarse[0] * LEAST_EACH:,}, or numbers to try: n_themes=[2, 3]"
            )
        return numbers
    numbers = _listed("n_themes", given, least=1, whole=True)
    most = min(parts.MOST_THEMES, (len(folds) - int(np.bincount(folds).max())) // 2)
    if numbers[-1] > most:
        raise InputError(f"n_themes={numbers[-1]} is more than {len(folds):,} texts can carry; give 1 to {most}")
    return numbers


def _listed(name: str, given: Any, least: int, whole: bool = False) -> list[Any]:
    """Return one or several numbers as a sorted list without duplicates."""
    values = [given] if isinstance(given, int | float | np.number) else list(given)
    for value in values:
        check_number(name, value, least=least, whole=whole)
    if not values:
        raise InputError(f"{name} is empty; give numbers to try")
    return sorted({int(value) if whole else float(value) for value in values})


def _plain(value: Any) -> Any:
    """An option as a value of JSON."""
    if value is None or isinstance(value, str) or hasattr(value, "settings"):
        return repr(value) if hasattr(value, "settings") else value
    return np.asarray(list(value) if isinstance(value, set | frozenset) else value).tolist()


def folds_of(keys: Keys, n_folds: int, groups: Rows | None, seed: int) -> Rows:
    """Return (texts,) folds of about equal size; equal texts, or those of a group, are in one.

    keys : (texts,) of their content. Without groups folds do not depend on the order of texts.
    """
    if groups is None:
        distinct, place = np.unique(drawn(keys, seed), return_inverse=True)
        return np.asarray(place * n_folds // len(distinct), dtype=np.int64)
    fold = np.empty(len(keys), dtype=np.int64)
    for number, (_, rows) in enumerate(GroupKFold(n_folds).split(keys, groups=groups)):
        fold[rows] = number
    return fold


@dataclass(eq=False)
class Cells(ABC):
    """Texts that settings are measured on; what all numbers of themes share is learnt once for each fold.

    responses : (texts,) NaN if missing.
    folds : (texts,) the fold that each text is held out in; n_cuts : number of cuts into halves.
    """

    responses: Vector
    folds: Rows
    seed: int
    n_cuts: int
    shared: dict[int, Any] = field(default_factory=dict, init=False)
    settings: list[Setting] = field(default_factory=list, init=False)

    def table(
        self, engine: LocalEngine, finished: Finished, progress: Progress, settings: Iterable[Setting]
    ) -> pd.DataFrame:
        """Measure more settings, and return the table of all so far."""
        self.settings += settings
        folds, cuts = range(int(self.folds.max()) + 1), range(self.n_cuts)
        places = [("fold", number) for number in folds] + [("cut", number) for number in cuts]
        ordered = sorted(self.settings, key=lambda setting: (setting[0], setting[1] or 0.0))
        of_each = {setting: [SearchTask(*setting, *place) for place in places] for setting in ordered}
        tasks = [task for of_setting in of_each.values() for task in of_setting]
        todo = [task for task in tasks if task not in finished]
        progress(len(tasks) - len(todo), len(tasks))
        self.prepare(todo, engine)

        def work(task: SearchTask) -> None:
            finished.keep(task, {"stability": self._stability(task)} if task.part == "cut" else self._skill(task))
            progress(sum(each in finished for each in tasks), len(tasks))

        # The largest first, so that no thread is left with a long one in the end.
        engine.map(work, sorted(todo, key=lambda task: (task.n_themes, task.part, task.number), reverse=True))
        return pd.DataFrame([_row([finished[task] for task in own], *setting) for setting, own in of_each.items()])

    def prepare(self, tasks: Sequence[SearchTask], engine: LocalEngine) -> None:
        """Learn what all numbers of themes share on the folds of some tasks."""
        todo = sorted({task.number for task in tasks if task.part == "fold"} - set(self.shared))
        self.shared |= zip(todo, engine.map(self._share, todo), strict=True)

    @abstractmethod
    def _share(self, fold: int) -> Any: ...

    @abstractmethod
    def _skill(self, task: SearchTask) -> Values: ...

    @abstractmethod
    def _stability(self, task: SearchTask) -> float: ...

    def _sides(self, fold: int) -> tuple[Rows, Rows]:
        """Rows of training, and of the held-out texts."""
        return np.flatnonzero(self.folds != fold), np.flatnonzero(self.folds == fold)

    def _measures(self, task: SearchTask, family: Family, eta: Vector, profiles: Vector, X: sp.csr_array) -> Values:
        """Skill on the texts of a fold, and means over themes; X : (texts, terms) of training."""
        responses = self.responses[self.folds == task.number]
        known = ~np.isnan(responses)
        observed, eta = responses[known], eta[known]
        return {
            "deviance": float(2 * np.mean(family.log_scores(observed, eta))),
            "r2": r2_score(observed, family.mean(eta)),
            "coherence": float(coherence(X, profiles).mean()),
            "exclusivity": float(exclusivity(profiles).mean()),
        }


def _row(found: list[Values], n_themes: int, supervision: float | None) -> dict[str, Any]:
    """Means over folds and cuts, with their standard errors."""
    row: dict[str, Any] = {"n_themes": n_themes} | ({} if supervision is None else {"supervision": supervision})
    for measure in dict.fromkeys(name for one in found for name in one):
        values = [one[measure] for one in found if measure in one]
        row |= {measure: np.mean(values), f"{measure}_se": np.std(values, ddof=1) / np.sqrt(len(values))}
    return row


@dataclass(eq=False)
class ThemeCells(Cells):
    """Cells of themes: features, tone and vectors are shared by all numbers of themes."""

    options: parts.Options
    observed: Observed
    _halves: ThemeHalves | None = None

    def prepare(self, tasks: Sequence[SearchTask], engine: LocalEngine) -> None:
        """Learn what all numbers of themes share, and cut texts into halves."""
        super().prepare(tasks, engine)
        if self._halves is None and any(task.part == "cut" for task in tasks):
            self._halves = ThemeHalves.of(self._prepared(self.observed), self.seed, engine)

    def _share(self, fold: int) -> tuple[Prepared, PartlyRead, sp.csr_array]:
        """Training as far as it has no themes; features and counts of terms of the held-out texts."""
        train, test = map(self.observed.at, self._sides(fold))
        prepared = self._prepared(train)
        with LocalEngine() as engine:
            read = read_features(test.tokens, prepared.dictionary.features, engine)
            return prepared, read, count_units(test.tokens, prepared.dictionary.terms, engine)

    def _skill(self, task: SearchTask) -> Values:
        prepared, read, units = self.shared[task.number]
        with local_compute(1) as compute:
            ((fitted, training),) = fit_prepared(prepared, n_themes=task.n_themes, seed=self.seed, compute=compute)
            of_themes = fitted.terms, fitted.themes, fitted.verdict, fitted.language
            places = places_of(read.texts, units, *of_themes)
            (reading,) = readings_of(read, units, places, [fitted.words], len(fitted.topics))
        eta = fitted.effects.linear_predictor(reading.by_theme)
        X = sp.csr_array(by_document(training.units, training.texts))
        return self._measures(task, fitted.family, eta, plain_profiles(fitted)[:-1], X)

    def _stability(self, task: SearchTask) -> float:
        assert self._halves is not None
        return self._halves.cosine(task.n_themes, task.number)

    def _prepared(self, observed: Observed) -> Prepared:
        response = parts.scale_of(self.options).response(observed)
        with local_compute(1) as compute:
            return parts.prepare(self.options, [response], observed, compute)


@dataclass(eq=False)
class TopicCells(Cells):
    """Cells of topics on a matrix; keys : (texts,) of their content; X : (texts, terms)."""

    training: str
    family: Family
    keys: Keys
    X: sp.csr_array

    def _share(self, fold: int) -> tuple[sp.csr_array, sp.csr_array]:
        train, test = self._sides(fold)
        return self.X[train], self.X[test]

    def _skill(self, task: SearchTask) -> Values:
        (X, X_test), (train, test) = self.shared[task.number], self._sides(task.number)
        fit = self._fit(task, X, train, 0)
        measured = self._measures(task, fit.family_, fit.predictions(X_test).eta, _unit(fit.components_), X)
        return measured | {"text_deviance": _text_deviance(fit, X, X_test, self.keys[test])}

    def _stability(self, task: SearchTask) -> float:
        first = 2 * task.number
        samples = halves(self.keys, first + 2, self.seed)[first:]
        fits = [self._fit(task, self.X[rows], rows, number) for number, rows in enumerate(samples)]
        return float(match_topics(*[_unit(fit.components_) for fit in fits]).cosines.mean())

    def _fit(self, task: SearchTask, X: sp.csr_array, rows: Rows, seed: int) -> GLMNMF:
        return GLMNMF(
            task.n_themes,
            family=self.family,
            training=self.training,
            supervision=SUPERVISION if task.supervision is None else task.supervision,
            random_state=self.seed + seed,
            n_jobs=1,
        ).fit(X, self.responses[rows])


def _text_deviance(fit: GLMNMF, X: sp.csr_array, X_test: sp.csr_array, keys: Keys) -> float:
    """Minus twice the mean logarithm of the probability of a word in one half of a text, given the other half.

    The probability is that of its topics, with a little of the words of all training texts X in it.
    """
    rows = np.arange(X_test.shape[0])
    known, hidden = (unit_halves(X_test, rows, keys, side) for side in (0, 1))
    topics, overall = _unit(fit.components_), np.asarray(X.sum(axis=0), dtype=float) + LEAST_COUNT
    weights = _unit(fit.transform(known) * np.sum(fit.components_, axis=1))
    text, term = np.repeat(rows, np.diff(hidden.indptr)), hidden.indices
    chances = np.zeros(len(term))
    for topic, weight in zip(topics, weights.T, strict=True):
        chances += weight[text] * topic[term]
    chances = (1 - OVERALL) * chances + OVERALL * overall[term] / overall.sum()
    return float(-2 * np.average(np.log(chances), weights=hidden.data)) if len(term) else float("nan")


def _unit(topics: Array) -> Vector:
    """(topics, terms) each summing to 1."""
    size = topics.sum(axis=1, keepdims=True)
    return np.asarray(topics / np.where(size > 0, size, 1), dtype=float)


class Finished(dict[SearchTask, Values]):
    """Values of finished tasks, kept in a file: the first line identifies the search, each other one is a task.

    path : None for no file; of : data and settings of the search, which must be equal in the file.
    """

    def __init__(self, path: Path | None, of: dict[str, Any]) -> None:
        super().__init__()
        self._path, self._lock = path, Lock()
        if path is None:
            return
        if path.is_dir():
            raise OutputError(f"{path} is a folder; give the name of a file")
        lines = list(kept_lines(path))
        begun = path.read_text("utf-8", errors="replace") if path.exists() and not lines else ""
        if not lines and json.dumps({OF: of}, ensure_ascii=False).startswith(begun):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # an incomplete first line of a search that was stopped
            keep_line({OF: of}, path)
            return
        kept = lines[0].get(OF) if lines and isinstance(lines[0], dict) else None
        if not isinstance(kept, dict):
            raise InputError(f"{path} is not a file of a search; give another name")
        name = next((name for name, value in of.items() if kept.get(name) != value), None)
        if name is not None:
            what = f"{name}={kept.get(name)!r}, and this one of {name}={of[name]!r}"
            what = "other texts, responses or groups" if name == "data" else what
            raise InputError(f"{path} holds a search of {what}; give another file, or remove it to begin anew")
        for line in lines[1:]:
            if isinstance(line, dict) and "part" in line:
                values = line.pop("values")
                self[SearchTask(**line)] = values

    def keep(self, task: SearchTask, values: Values) -> None:
        """Add the values of a task, and write them to the file at once."""
        with self._lock:
            self[task] = values
            if self._path is not None:
                keep_line(task._asdict() | {"values": values}, self._path)


def skilled(cells: pd.DataFrame, measure: str = "deviance") -> pd.DataFrame:
    """Return the cells whose deviance is within one standard error of the least."""
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
    best_of_each = cells.loc[cells.groupby("n_themes")["deviance"].idxmin()]
    number = most_stable(_stability(eligible(best_of_each))).n_topics
    of_number = skilled(cells[cells["n_themes"] == number])
    return int(of_number.index[0] if "supervision" not in cells else of_number["supervision"].idxmin())


def _stability(cells: pd.DataFrame) -> list[StableNumber]:
    columns = (cells[name].tolist() for name in ("n_themes", "stability", "stability_se"))
    return [StableNumber(*cell) for cell in zip(*columns, strict=True)]


def in_words(cells: pd.DataFrame, taken: int, noun: str) -> str:
    """Describe the recommendation, its reason, and the neighbours with fewer and more themes; taken : a row label."""
    of_each = cells.loc[cells.groupby("n_themes")["deviance"].idxmin()].sort_values("n_themes", ignore_index=True)
    row, best = cells.loc[taken], cells.loc[cells["deviance"].idxmin()]
    place = of_each["n_themes"].tolist().index(row["n_themes"])
    supervised = f", with a supervision of {row['supervision']:g}" if "supervision" in cells else ""
    sentences = [f"Take {row['n_themes']:.0f} {noun}s{supervised}"]
    if len(of_each) > 1:
        kept = eligible(of_each)
        enough = ", and held-out text supports no more" if "text_deviance" in cells and place == kept.index[-1] else ""
        tried = _stability(of_each)
        reason = why_stable(tried[place], tried, noun, _stability(kept)) + enough
        sentences.append(reason[0].upper() + reason[1:])
    least = f"with {best['n_themes']:.0f}" + (f" and {best['supervision']:g}" if "supervision" in cells else "")
    at_best = "the best" if row.name == best.name else f"{best['r2']:.3f} at the least deviance, {least}"
    sentences.append(f"Held-out R2 is {row['r2']:.3f}, {at_best}")
    for other in (place - 1, place + 1):
        if other in of_each.index:
            cell = of_each.loc[other]
            less_stable = cell["stability"] < of_each.at[place, "stability"] - NEAR
            beyond = f"{noun}s are reproduced less well" if less_stable else "there is more to read, without a gain"
            loss = f"fewer {noun}s are distinguished" if other < place else beyond
            measured = f"R2 {cell['r2']:.3f}, cosine {cell['stability']:.2f}"
            sentences.append(f"With {cell['n_themes']:.0f}, {loss}: {measured}")
    return ". ".join(sentences) + "."
