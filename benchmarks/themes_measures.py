"""What `benchmarks/themes.py` asks of a method. Each question gives a dict of numbers that JSON can hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from skill_data import STARS
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import normalized_mutual_info_score, roc_auc_score
from themes_data import Documents, permuted, read_labelled, read_rated, read_set, resampled, split
from themes_methods import Fitted, Method, themes_model, topics_model

from textsignal.datasets import synthetic_reviews
from textsignal.estimators.predictions import r2_score
from textsignal.text.tokenise import words
from textsignal.training.topics import coherence, top_terms

#: Terms of a topic that NPMI is taken of, and terms that say which aspect it is.
COHERENT, LEADING = 10, 8
#: Documents that contributions are added up for.
ADDED = 1000
#: Subsamples for stability, and the share of the training side in each.
SAMPLES, SAMPLE_PART = 5, 0.8
#: Times as many documents, and how often a fit is timed.
TIMES, TIMED = 10, 3
#: Aspects that guests rated, and words one of which the right theme leads with. The last is not part of the mean.
ASPECTS = {
    "rooms": {"room", "rooms", "bathroom", "bed"},
    "service": {"staff", "service", "desk"},
    "location": {"location", "walk", "walking", "beach", "station", "close"},
    "cleanliness": {"clean", "rooms", "room", "bathroom"},
    "front_desk": {"staff", "desk", "service", "check"},
    "value": {"price", "value", "hotel", "rate"},
}
#: Each against its twin without the negation, and whether it must be above it.
NEGATIONS = (
    ("not good", "good", False),
    ("not dirty", "dirty", True),
    ("not rude", "rude", True),
    ("never again", "again", False),
    ("nothing to complain about", "something to complain about", True),
    ("no problems at all", "problems", True),
    ("no problems at all", "problems at all", True),
    ("I would not stay again", "I would stay again", False),
    ("definitely not come back", "definitely come back", False),
)
Values = dict[str, Any]


def fit_values(method: Method, folder: Path, name: str, n_topics: int, seed: int, rows: int | None) -> Values:
    """Skill, coherence, reach and seconds of one fit; on hotel also what people's labels and negations say of it."""
    train, test = split(read_set(folder, name, rows))
    warm_up(method)
    before = time.process_time()
    fitted = method.fit(train, n_topics, seed)
    fitted.eta(train.texts[:1])  # some learn effects only when they are asked for
    seconds = time.process_time() - before
    reach = fitted.reach()
    values = {
        "r2": skill(fitted, test),
        "npmi": npmi(fitted.profiles, train.texts),
        "reach": [float(reach.min()), float(reach.max())],
        "additivity": additivity(fitted, test.texts[:ADDED]),
        "seconds": seconds,
    }
    return values | judged(fitted, folder, train) if name == "hotel" else values


@cache
def warm_up(method: Method) -> None:
    """Compile and import, so that no method's time holds it."""
    reviews = synthetic_reviews(300, seed=0)
    documents = Documents(reviews.texts, np.asarray(reviews.ratings, dtype=float), STARS)
    method.fit(documents, 4, 0).eta(documents.texts[:1])


def skill(fitted: Fitted, documents: Documents) -> float:
    return r2_score(documents.y, documents.scale.mean(fitted.eta(documents.texts)))


def npmi(profiles: pd.DataFrame, texts: Sequence[str]) -> float:
    """Mean over topics, by co-occurrence in the training texts."""
    topics = profiles.to_numpy().T
    used = np.unique(top_terms(topics, COHERENT))
    counter = CountVectorizer(vocabulary=[profiles.index[j] for j in used], tokenizer=words, token_pattern=None)
    return float(coherence(sp.csr_array(counter.transform(texts)), topics[:, used], COHERENT).mean())


def additivity(fitted: Fitted, texts: Sequence[str]) -> float:
    """Largest difference between the linear predictor and what it is made of."""
    return float(np.abs(fitted.sums(texts) - fitted.eta(texts)).max())


def judged(fitted: Fitted, folder: Path, train: Documents) -> Values:
    labelled = read_labelled(folder)
    main = fitted.shares(labelled.texts).argmax(axis=1)
    phrases = sorted({phrase for negated, twin, _ in NEGATIONS for phrase in (negated, twin)})
    return {
        "nmi": float(normalized_mutual_info_score(labelled.entities, main)),
        "accuracy": accuracy(main, labelled.entities),
        "auc": float(roc_auc_score(labelled.positive, fitted.eta(labelled.polar_texts))),
        "ratings": dict(zip(phrases, train.scale.mean(fitted.eta(phrases)).tolist(), strict=True)),
    }


def accuracy(main: np.ndarray, labels: np.ndarray) -> float:
    """Each theme takes its commonest label in one half; tested on the other."""
    first = np.random.default_rng(0).random(len(main)) < 0.5
    commonest = pd.Series(labels[first]).mode()[0]
    taken = pd.Series(labels[first]).groupby(main[first]).agg(lambda found: found.mode()[0])
    guessed = np.array([taken.get(k, commonest) for k in main[~first]])
    return float(np.mean(guessed == labels[~first]))


def aspect_values(method: Method, folder: Path, n_topics: int, seed: int, rows: int | None) -> Values:
    """For each aspect the theme whose contribution follows guests' own rating best, given the overall rating."""
    rated = read_rated(folder, list(ASPECTS), rows)
    fitted = method.fit(rated.train, n_topics, seed)
    _, parts = fitted.parts(rated.test.texts)
    leading = fitted.leading(LEADING)
    values: Values = {}
    for aspect, terms in ASPECTS.items():
        rating = rated.aspects[aspect].to_numpy()
        known = ~np.isnan(rating) & ~np.isnan(rated.test.y)
        partial = [partial_correlation(part[known], rating[known], rated.test.y[known]) for part in parts.T]
        best = int(np.argmax(partial))
        values[aspect] = {"r": partial[best], "terms": leading[best], "right": bool(terms & set(leading[best]))}
    return values


def partial_correlation(a: np.ndarray, b: np.ndarray, given: np.ndarray) -> float:
    """Correlation of what `given` leaves of a and b; 0 where it leaves nothing."""
    columns = np.column_stack([given, np.ones(len(given))])
    left, right = (values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0] for values in (a, b))
    size = np.linalg.norm(left) * np.linalg.norm(right)
    return float(left @ right / size) if size > 1e-12 else 0.0


def stability_values(
    method: Method, folder: Path, name: str, n_topics: int, rows: int | None, samples: int = SAMPLES
) -> Values:
    """Mean cosine of matched themes, over all pairs of subsamples of the training side."""
    train, _ = split(read_set(folder, name, rows))
    size = int(SAMPLE_PART * len(train))
    profiles = [
        method.fit(train.at(np.random.default_rng(sample).permutation(len(train))[:size]), n_topics, 0).profiles
        for sample in range(samples)
    ]
    return {"cosine": float(np.mean([matched_cosine(one, two) for one, two in combinations(profiles, 2)]))}


def matched_cosine(one: pd.DataFrame, two: pd.DataFrame) -> float:
    """Mean cosine of topics (columns over terms), each with its partner."""
    terms = one.index.union(two.index)
    left, right = (found.reindex(terms, fill_value=0.0).to_numpy() for found in (one, two))
    size = np.outer(np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=0))
    cosine = left.T @ right / np.maximum(size, np.finfo(float).tiny)
    return float(cosine[linear_sum_assignment(-cosine)].mean())


def noise_values(method: Method, folder: Path, n_topics: int, size: int, draw: int, rows: int | None) -> Values:
    """With the responses of hotel reviews permuted, held-out R2 and the largest lift."""
    documents = permuted(read_set(folder, "hotel", rows), size + draw)
    train, test = split(documents)
    fitted = method.fit(train.at(np.arange(size)), n_topics, 0)
    return {"r2": skill(fitted, test), "lift": float(fitted.lift().max())}


def time_values(folder: Path, n_topics: int, rows: int | None) -> Values:
    """Seconds by the clock of fits from raw text with all cores, in turns: hotel reviews, and ten times as many."""
    documents = read_set(folder, "hotel", rows)
    makers: dict[str, Callable[[], Any]] = {
        "themes": lambda: themes_model(n_topics, documents.scale, 0, n_jobs=-1),
        "predictive": lambda: topics_model(n_topics, documents.scale, 0, "predictive", n_jobs=-1),
        "joint": lambda: topics_model(n_topics, documents.scale, 0, "joint", n_jobs=-1),
    }
    few, many = documents.at(np.arange(min(300, len(documents)))), resampled(documents, TIMES)
    for make in makers.values():
        make().fit(few.texts, few.y)  # compiles
    turns = [{name: seconds(make, documents) for name, make in makers.items()} for _ in range(TIMED)]
    once = {name: min(turn[name] for turn in turns) for name in makers}
    return {"documents": len(documents), "once": once, "many": {n: seconds(make, many) for n, make in makers.items()}}


def seconds(make: Callable[[], Any], documents: Documents) -> float:
    model, before = make(), time.perf_counter()
    model.fit(documents.texts, documents.y)
    return time.perf_counter() - before
