"""`compare`: our model against simpler ways, by cross-validation on the same folds."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector
from textsignal.checks import check_groups, check_number
from textsignal.compute.engines.local import LocalEngine
from textsignal.errors import InputError
from textsignal.evaluation.folds import fold_numbers
from textsignal.evaluation.methods import METHODS, ComparedTexts, Method, Outcome, Split, count_ngrams, fit_ours
from textsignal.evaluation.results import OURS, Comparison, Predicted
from textsignal.evaluation.wording import Party
from textsignal.families import Binomial, Family, as_family, log_scores
from textsignal.families.auto import AUTO, candidates
from textsignal.families.responses import constant_response
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed, Tokens, response_column
from textsignal.text.tokens import tokenised

#: Fewest documents of a fold.
FEWEST_OF_FOLD = 10
#: Most classes without an order.
MOST_CLASSES = 20
#: What our model is called in sentences, and what it gives, by training.
OUR_PARTIES = {
    "themes": Party(
        "themes and tone", "what people speak of, in which tone, and what each theme is worth", plural=True
    ),
    "predictive": Party("predictive topics", "topics that were moved to predict, and their effects", plural=True),
    "joint": Party("joint topics", "topics learnt with the response, and their effects", plural=True),
}

#: Method, folds done, folds in all.
Progress = Callable[[str, int, int], None]


def compare_methods(
    model: Any,
    texts: Iterable[str] | Tokens,
    responses: ArrayLike,
    *,
    folds: int = 5,
    groups: ArrayLike | None = None,
    seed: int = 0,
    n_jobs: int | None = -1,
    progress: Progress | None = None,
) -> Comparison:
    """Compare a model, which is neither fitted nor changed, with simpler methods; see `workflow.compare`."""
    _check_model(model)
    check_number("folds", folds, least=2, whole=True)
    check_number("seed", seed, least=0, whole=True)
    tokens = parts.tokenise(model, texts)
    observed = parts.observe_response(model, tokens, responses)
    column, numbers = response_column(tokens, responses), check_groups(groups, len(tokens))
    rows = _usable(observed, int(folds))
    model, family = _with_scale(model, observed.at(rows))
    kept = tokens.at(rows)
    units = kept.first_copies() if numbers is None else numbers[rows]
    _check_units(units, int(folds), grouped=numbers is not None)
    words = tokenised(kept.texts)
    given = column[rows] if family.has_text else observed.responses[rows]
    documents = ComparedTexts(kept, words, count_ngrams(words), given, observed.responses[rows], units)
    of_documents = fold_numbers(units, documents.numbers, int(folds), int(seed))
    _check_training(documents.numbers, of_documents, family)
    splits = [documents.split(of_documents == fold, int(seed)) for fold in range(int(folds))]
    outcomes = _outcomes(splits, model, family, n_jobs, progress)
    ours = OUR_PARTIES[parts.training_of(model)]
    return Comparison(
        family=family,
        families=tuple(outcome.family.name for outcome in outcomes[OURS]),
        given=given,
        numbers=documents.numbers,
        rows=rows + 1,
        folds=of_documents,
        units=units,
        predicted={name: _joined(documents, splits, found) for name, found in outcomes.items()},
        parties={OURS: ours} | {method.name: _party(method, family) for method in METHODS},
        described={OURS: ours.label} | {method.name: method.described for method in METHODS},
    )


def _party(method: Method, family: Family) -> Party:
    frequencies = method.name == "mean" and family.n_predictors > 1
    return Party("how often classes are" if frequencies else method.label, method.gives)


def _outcomes(
    splits: Sequence[Split], model: Any, family: Family, n_jobs: int | None, progress: Progress | None
) -> dict[str, list[Outcome]]:
    """What each method says of what each split leaves out; ours first, whose family the others take."""
    methods = [method for method in METHODS if method.of_classes or family.n_predictors == 1]
    done, lock = Counter[str](), Lock()

    def finished(name: str, outcome: Outcome) -> Outcome:
        with lock:
            done[name] += 1
            if progress is not None:
                progress(name, done[name], len(splits))
        return outcome

    tasks = [(method, number) for method in methods for number in range(len(splits))]
    with LocalEngine(n_jobs) as engine, threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the lasso's, at penalties that are not taken
        ours = engine.map(lambda split: finished(OURS, fit_ours(split, model)), splits)
        others = engine.map(
            lambda task: finished(task[0].name, task[0].fit(splits[task[1]], ours[task[1]].family, model)), tasks
        )
    found = {OURS: ours} | {method.name: [] for method in methods}
    for (method, _), outcome in zip(tasks, others, strict=True):
        found[method.name].append(outcome)
    return found


def _joined(documents: ComparedTexts, splits: Sequence[Split], outcomes: Sequence[Outcome]) -> Predicted:
    """Predictions for all documents, in their order."""
    order = np.argsort(np.concatenate([split.test for split in splits]))
    scores = [
        log_scores(outcome.family, documents.given[split.test], outcome.eta)
        for split, outcome in zip(splits, outcomes, strict=True)
    ]
    return Predicted(np.concatenate([outcome.mean for outcome in outcomes])[order], np.concatenate(scores)[order])


def _with_scale(model: Any, observed: Observed) -> tuple[Any, Family]:
    """The model with the scale, or the classes, of all responses, which a fold may lack; and the simplest family."""
    if model.estimator is not None:
        return model, getattr(parts.new_estimator(model), "asked_family").learn(observed.responses)  # noqa: B009
    given = model.family
    if observed.family is not None and observed.family.has_text:
        family = observed.family
        return clone(model).set_params(family=family, levels=None), family
    if isinstance(given, str) and given == AUTO:
        family = candidates(observed.responses, model.levels).families[0]
        scaled = isinstance(family, Binomial)
        levels = (family.levels[0], family.levels[-1], family.step) if isinstance(family, Binomial) else None
        return clone(model).set_params(levels=levels) if scaled else model, family
    family = as_family(given, model.levels).learn(observed.responses)
    return clone(model).set_params(family=family, levels=None), family


def _check_model(model: Any) -> None:
    parts.check(model)
    if model.formula is not None:
        raise InputError(f"formula={model.formula!r}: compare takes texts alone and no covariates; leave it out")
    if getattr(model.family, "name", model.family) == "proportion":
        raise InputError(
            "compare takes scales, two values, counts, any numbers and classes; shares (family='proportion') have "
            "weights that it has no place for"
        )


def _usable(observed: Observed, n_folds: int) -> NDArray[np.int64]:
    """Rows with a response; raises where they are too few, or all alike."""
    rows = np.flatnonzero(~np.isnan(observed.responses))
    if rows.size < FEWEST_OF_FOLD * n_folds:
        raise InputError(
            f"{rows.size:,} texts have a response, and folds={n_folds} need at least {FEWEST_OF_FOLD * n_folds}; give "
            "more texts, or fewer folds"
        )
    if np.ptp(observed.responses[rows]) == 0:
        raise constant_response(observed.responses[rows[0]])
    return rows


def _check_units(units: NDArray[np.int64], n_folds: int, *, grouped: bool) -> None:
    n_units = np.unique(units).size
    if n_units < n_folds:
        what = "groups" if grouped else "different texts"
        raise InputError(f"there are {n_units} {what}, and folds={n_folds} need at least as many; give fewer folds")


def _check_training(numbers: Vector, folds: NDArray[np.int64], family: Family) -> None:
    """Raise where some fold would leave too little to learn from."""
    of_classes = family.n_predictors > 1
    if of_classes and family.n_predictors >= MOST_CLASSES:
        raise InputError(
            f"the response is of {family.n_predictors + 1} classes without an order; compare takes up to {MOST_CLASSES}"
        )
    values = np.unique(numbers)
    for fold in np.unique(folds):
        learnt = np.unique(numbers[folds != fold])
        missing = values[~np.isin(values, learnt)]
        if of_classes and missing.size:
            label = family.levels[int(family.numbers.tolist().index(missing[0]))]
            raise InputError(f"all documents of the class {label!r} are left out together; leave the class out")
        if learnt.size < 2:
            raise InputError(
                f"without fold {fold + 1} all responses are {learnt[0]:g}, so there is nothing to learn; give fewer "
                "folds, or more documents"
            )
