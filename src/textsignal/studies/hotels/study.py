"""The paper's main sample of hotel reviews: search for topics and alpha, comparison of methods, topics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from textsignal.estimators.base import TopicEstimator
from textsignal.estimators.skill import r2_score, rmse
from textsignal.reading.labels import relevance
from textsignal.studies.hotels.claims import claims
from textsignal.studies.hotels.figures import figures
from textsignal.studies.hotels.results import COARSE, QUICK_COARSE, best_points
from textsignal.studies.hotels.section import section
from textsignal.studies.methods import (
    ALPHA,
    ALPHAS,
    BASELINES,
    METHODS,
    QUICK_ALPHAS,
    TRAININGS,
    Settings,
    chosen,
    fit_published,
    scores,
)
from textsignal.studies.samples import MAX_RAW_TERMS, MAX_TERMS, Sample, Split, split_sample
from textsignal.studies.study import Cell, Place, Plan, Row, Study, Tables
from textsignal.text.tokenise import stop_words
from textsignal.text.vectorise import TextVectorizer

ROLE = "tripadvisor"
N_DOCUMENTS, QUICK_DOCUMENTS = 10_000, 2_000
#: Terms of a topic and words of the corpus that are kept.
TOPIC_TERMS, FREQUENT_WORDS = 10, 100
TOPIC_METHODS = TRAININGS["both"]
#: What the paper leaves open, and how it is set: starts (the first is the one of all other tables), learning rates and
#: lists of stop words.
OPEN = {
    "start": ("seed 0", "seed 1", "seed 2", "seed 3", "uniform"),
    "learning rate": ("0.001", "0.01", "0.1"),
    "stop words": ("scikit-learn", "none"),
}
QUICK_OPEN = {"start": ("seed 0", "seed 1"), "learning rate": ("0.01",), "stop words": ("scikit-learn",)}


@lru_cache(maxsize=2)
def _split(sample: Sample, seed: int, max_terms: int = MAX_TERMS) -> Split:
    return split_sample(sample, seed, max_terms)


@lru_cache(maxsize=2)
def _validation_split(sample: Sample, seed: int) -> Split:
    """Four fifths of the training side against its last fifth."""
    return split_sample(sample.training_side(seed), seed)


def fit_points(method: str, sample: Sample, seed: int, n_topics: int, alphas: Sequence[float | None]) -> list[Row]:
    """Skill along alpha: on a fifth of the training side, and on the test side after training on all of it."""
    split, inner = _split(sample, seed), _validation_split(sample, seed)
    rows = []
    for alpha in alphas:
        settings = Settings(n_topics, ALPHA if alpha is None else alpha, seed)
        held = METHODS[method].fit(inner, settings).predicted
        validation = {"validation_r2": r2_score(inner.y_test, held), "validation_rmse": rmse(inner.y_test, held)}
        rows.append({"alpha": alpha, **validation, **scores(split, METHODS[method].fit(split, settings))})
    return rows


def fit_method(method: str, sample: Sample, seed: int, max_terms: int) -> list[Row]:
    """Skill of a method at the paper's number of topics."""
    split = _split(sample, seed, max_terms)
    return [scores(split, METHODS[method].fit(split, Settings(seed=seed)))]


def fit_open(sample: Sample, setting: str, value: str) -> list[Row]:
    """Skill of the paper's model where something that it leaves open is set as it was not in the other tables."""
    listed = {"scikit-learn": ENGLISH_STOP_WORDS, "none": None}
    split = split_sample(sample, 0, stop_words=listed[value]) if setting == "stop words" else _split(sample, 0)
    seed = int(value.removeprefix("seed ")) if value.startswith("seed") else 0
    outcome = fit_published(
        split,
        Settings(seed=seed),
        learning_rate=float(value) if setting == "learning rate" else None,
        uniform_start=value == "uniform",
    )
    assert outcome.model is not None
    ridge = METHODS["ridge"].fit(split, Settings()).predicted
    iterations = outcome.model.n_iter_
    return [{**scores(split, outcome), "ridge_r2": r2_score(split.y_test, ridge), "iterations": iterations}]


def fit_topics(method: str, sample: Sample) -> list[Row]:
    """One row per topic at the paper's number of topics and alpha, split 0."""
    split = _split(sample, 0)
    model = METHODS[method].fit(split, Settings()).model
    assert model is not None
    return topic_rows(model, split.terms)


def topic_rows(model: TopicEstimator, terms: Sequence[str] | np.ndarray) -> list[Row]:
    """What topics are.

    effect, prevalence : against the average text, and as a share of it, with every topic on one scale.
    coefficient, weight : the paper's beta_k and sum of W_ik, on the scale that training left the topic on.
    terms : the most relevant ones.
    """
    centred = model.centred_effects
    topics = model.components_ / centred.size[:, None]
    ranked = np.argsort(-relevance(topics, centred.prevalence), axis=1, kind="stable")[:, :TOPIC_TERMS]
    return [
        {
            "topic": k,
            "effect": float(centred.effects[k]),
            "prevalence": float(centred.prevalence[k]),
            "coefficient": float(model.coef_[k]),
            "weight": float(model.weights_[:, k].sum()),
            "terms": " ".join(str(terms[j]) for j in ranked[k]),
        }
        for k in range(len(topics))
    ]


def count_ratings(sample: Sample) -> list[Row]:
    """Documents of each rating."""
    return [{"rating": stars, "documents": int((sample.ratings == stars).sum())} for stars in range(1, 6)]


def count_words(sample: Sample) -> list[Row]:
    """The most frequent words, function words apart."""
    listed = stop_words("english") | ENGLISH_STOP_WORDS
    vectorizer = TextVectorizer(FREQUENT_WORDS, None, stop_words=listed, weighting="count")
    counts = np.asarray(vectorizer.fit_transform(sample.texts).sum(axis=0)).ravel()
    best = np.argsort(-counts, kind="stable")
    return [{"word": str(vectorizer.terms_[j]), "count": int(counts[j])} for j in best]


def coarse_cells(plan: Plan, tables: Tables) -> list[Cell]:
    """All but the search around the best number of topics."""
    sample = _sample(plan)
    topics = QUICK_COARSE if plan.quick else COARSE
    found = [
        Cell("hotels-ratings", {}, partial(count_ratings, sample), sample.digest),
        Cell("hotels-words", {}, partial(count_words, sample), sample.digest),
    ]
    for seed in range(plan.seeds):
        for method in chosen(plan.methods, TOPIC_METHODS):
            found += _search_cells(plan, sample, method, seed, topics)
        pairs = [(method, MAX_TERMS) for method in chosen(plan.methods, BASELINES)]
        pairs += [(method, MAX_RAW_TERMS) for method in chosen(plan.methods, ("ridge", "predictive"))]
        for method, n_terms in pairs:
            place: Place = {"method": method, "seed": seed, "terms": n_terms}
            found.append(
                Cell("hotels-methods", place, partial(fit_method, method, sample, seed, n_terms), sample.digest)
            )
    for method in chosen(plan.methods, TOPIC_METHODS):
        found.append(Cell("hotels-topics", {"method": method}, partial(fit_topics, method, sample), sample.digest))
    return found + (_open_cells(plan, sample) if "published" in plan.methods else [])


def dense_cells(plan: Plan, tables: Tables) -> list[Cell]:
    """Numbers of topics around each method's best on the validation part of each split."""
    sample, done = _sample(plan), set(QUICK_COARSE if plan.quick else COARSE)
    found = []
    for row in best_points(tables["hotels-search"], "validation_r2").itertuples():
        near = [k for k in range(row.n_topics - 2, row.n_topics + 3) if k >= 2 and k not in done]
        found += _search_cells(plan, sample, row.method, row.seed, near[:1] if plan.quick else near)
    return found


def _sample(plan: Plan) -> Sample:
    return plan.samples[ROLE].drawn(QUICK_DOCUMENTS if plan.quick else N_DOCUMENTS, 0)


def _search_cells(plan: Plan, sample: Sample, method: str, seed: int, topics: Sequence[int]) -> list[Cell]:
    """One cell per number of topics; predictive training has no alpha."""
    alphas: Sequence[float | None] = QUICK_ALPHAS if plan.quick else ALPHAS
    if method == "predictive":
        alphas = (None,)
    found = []
    for n_topics in topics:
        tried = " ".join(f"{alpha:g}" for alpha in alphas if alpha is not None)
        place: Place = {"method": method, "seed": seed, "n_topics": n_topics, "alphas": tried}
        compute = partial(fit_points, method, sample, seed, n_topics, alphas)
        found.append(Cell("hotels-search", place, compute, sample.digest))
    return found


def _open_cells(plan: Plan, sample: Sample) -> list[Cell]:
    return [
        Cell("hotels-open", {"setting": name, "value": value}, partial(fit_open, sample, name, value), sample.digest)
        for name, values in (QUICK_OPEN if plan.quick else OPEN).items()
        for value in values
    ]


HOTELS = Study(
    name="hotels",
    title="Hotel reviews",
    needs=(ROLE,),
    seeds=3,
    quick_seeds=1,
    stages=(coarse_cells, dense_cells),
    figures=figures,
    section=section,
    claims=claims,
)
