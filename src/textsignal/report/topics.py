"""The report on the paper's topics: skill, topics by effect and by prevalence, their words and typical texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.data.write import whole_file
from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.estimators.predictions import r2_score
from textsignal.insight.examples import find_texts
from textsignal.text.cleaning import masked_characters

#: Words in a cloud, with their smallest and largest size; texts quoted for a topic, and characters of each.
CLOUD, SIZES, QUOTED, CHARACTERS = 30, (0.8, 2.4), 2, 600


class ReportedTopics(Protocol):
    """Attributes of a fitted `TopicModel` that a report reads."""

    estimator_: Any

    @property
    def components_(self) -> NDArray[Any]:
        """(topics, terms) topics."""

    @property
    def terms_(self) -> NDArray[Any]:
        """(terms,) names of the terms."""

    def topics(self, n_terms: int = 10) -> pd.DataFrame:
        """Return the table of topics."""

    def predictions(self, texts: Sequence[str]) -> Predictions:
        """Return the predictions for texts."""


@dataclass(frozen=True)
class TopicCard:
    """A topic: its number, label and prevalence, its words with their sizes, and typical texts with their responses."""

    number: int
    label: str
    prevalence: float
    words: list[tuple[str, float]]
    texts: list[tuple[str, float]]


def write_topics(
    model: ReportedTopics,
    path: str | Path,
    texts: Sequence[str],
    responses: Vector,
    held_out: ArrayLike | None = None,
    *,
    title: str = "",
    force: bool = False,
) -> None:
    """Write the page to `path`, whole or not at all; responses : (texts,) NaN if missing."""
    new = np.zeros(len(texts), dtype=bool) if held_out is None else np.asarray(held_out, dtype=bool)
    if new.shape != (len(texts),):
        raise InputError(f"{len(texts):,} texts, but held_out has {new.size:,} flags; give one for each text")
    predictions, table = model.predictions(texts), model.topics(CLOUD)
    rows = table.drop_duplicates("topic").to_dict("records")
    environment = Environment(
        loader=PackageLoader("textsignal.report", "page"), autoescape=True, undefined=StrictUndefined
    )
    with whole_file(Path(path), force=force) as file:
        page = environment.get_template("topics.html.j2").render(
            title=title or "What moves the response",
            estimator=repr(model.estimator_),
            skill=_skill(responses, predictions, new),
            rows=table.to_dict("records"),
            classes="class" in table,
            cards=[_card(model, row, texts, responses, predictions) for row in rows],
        )
        file.write_text(page, encoding="utf-8", newline="\n")


def _skill(responses: Vector, predictions: Predictions, new: NDArray[np.bool_]) -> list[tuple[str, int, float]]:
    """Name, number of texts and R2 of training and of held-out texts that have a response."""
    if predictions.family.n_predictors > 1:
        return []
    known = ~np.isnan(responses)
    kinds = [("Training texts", known & ~new), ("Held-out texts", known & new)]
    return [
        (name, int(rows.sum()), r2_score(responses[rows], predictions.mean[rows])) for name, rows in kinds if rows.any()
    ]


def _card(
    model: ReportedTopics, row: dict[Any, Any], texts: Sequence[str], responses: Vector, predictions: Predictions
) -> TopicCard:
    number = int(row["topic"])
    profile = dict(zip(model.terms_, model.components_[number].tolist(), strict=True))
    weights = np.sqrt([profile[term] for term in row["terms"]])
    sizes = SIZES[0] + (SIZES[1] - SIZES[0]) * weights / weights.max(initial=0.0) if weights.any() else weights
    quotes = []
    if predictions.family.n_predictors == 1:
        examples = find_texts(number, QUOTED, None, texts, responses, predictions)
        quotes = [
            ("".join(masked_characters(text))[:CHARACTERS], response)
            for text, response in examples[["text", "response"]].to_numpy()
        ]
    return TopicCard(number, row["label"], row["prevalence"], [*zip(row["terms"], sizes.tolist(), strict=True)], quotes)
