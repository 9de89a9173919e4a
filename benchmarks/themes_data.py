"""What `benchmarks/themes.py` measures on: sets and their documented split, labelled sentences, rated aspects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from skill_data import SOURCES, STARS

from textsignal.families import Binomial
from textsignal.text.tokens import read_sentences

#: Sets by the short names that this page uses.
SETS = dict(zip(("hotel", "short", "clothing", "kaggle", "long", "google", "wine"), SOURCES, strict=True))
#: Of hotel_aspect_ratings_6k, three quarters train.
ASPECT_FILE, ASPECT_PART = "hotel_aspect_ratings_6k", 0.75
LABEL_FILE, LEAST_LABELS = "hotel_sentences_labelled", 20
#: Share of words that are exchanged in resampled documents, so that none repeats.
EXCHANGED = 0.1


@dataclass(frozen=True)
class Documents:
    """Texts with responses on a scale. y : (documents,)."""

    texts: Sequence[str]
    y: np.ndarray
    scale: Binomial

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, rows: np.ndarray) -> Documents:
        return Documents([self.texts[i] for i in rows], self.y[rows], self.scale)


def read_set(folder: Path, name: str, rows: int | None = None) -> Documents:
    """A set, or its first rows."""
    source = SETS[name] if rows is None else replace(SETS[name], rows=rows)
    texts, y = source.read(folder)
    return Documents(texts, y, source.scale)


def split(documents: Documents) -> tuple[Documents, Documents]:
    """The documented split: training and test side."""
    order = np.random.default_rng(0).permutation(len(documents))
    cut = int(0.8 * len(documents))
    return documents.at(order[:cut]), documents.at(order[cut:])


def permuted(documents: Documents, seed: int) -> Documents:
    """The same texts with their responses in another order: nothing to be learnt."""
    return replace(documents, y=np.random.default_rng(seed).permutation(documents.y))


def resampled(documents: Documents, times: int) -> Documents:
    """Many times as many documents, drawn with replacement; words are exchanged at random so that none repeats."""
    rng = np.random.default_rng(0)
    rows = rng.integers(len(documents), size=times * len(documents))
    words = np.array([word for text in documents.texts for word in text.split()], dtype=object)

    def changed(text: str) -> str:
        own = np.array(text.split(), dtype=object)
        places = rng.random(len(own)) < EXCHANGED
        own[places] = words[rng.integers(len(words), size=places.sum())]
        return " ".join(own)

    return Documents([changed(documents.texts[i]) for i in rows], documents.y[rows], documents.scale)


@dataclass(frozen=True)
class Labelled:
    """Sentences with what people said of them; for judging only, never trained on.

    texts, entities : sentences whose labels name one entity, of entities that 20 sentences or more have.
    polar_texts, positive : sentences of one polarity, positive or negative.
    """

    texts: list[str]
    entities: np.ndarray
    polar_texts: list[str]
    positive: np.ndarray


def read_labelled(folder: Path) -> Labelled:
    table = pd.read_csv(folder / f"{LABEL_FILE}.csv.gz")
    table["entity"] = table["category"].str.split("#").str[0]
    spoken = agreed(table[table["entity"] != "NONE"], "entity")
    often = spoken["entity"].value_counts()
    spoken = spoken[spoken["entity"].isin(often[often >= LEAST_LABELS].index)]
    polar = agreed(table[table["polarity"].isin(["positive", "negative"])], "polarity")
    return Labelled(
        spoken["text"].tolist(),
        spoken["entity"].to_numpy(dtype=object),
        polar["text"].tolist(),
        (polar["polarity"] == "positive").to_numpy(),
    )


def agreed(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """One row per sentence whose labels all say the same."""
    sentences = table.groupby("id").agg(
        text=("sentence", "first"), n=(column, "nunique"), **{column: (column, "first")}
    )
    return sentences[sentences["n"] == 1]


@dataclass(frozen=True)
class Rated:
    """Reviews with guests' overall rating, and with their ratings of aspects on the test side (NaN where absent)."""

    train: Documents
    test: Documents
    aspects: pd.DataFrame


def read_rated(folder: Path, aspects: Sequence[str], rows: int | None = None) -> Rated:
    table = pd.read_csv(folder / f"{ASPECT_FILE}.csv.gz")[:rows]
    documents = Documents(table["text"].fillna("").tolist(), table["overall"].to_numpy(dtype=float), STARS)
    order = np.random.default_rng(0).permutation(len(table))
    cut = int(ASPECT_PART * len(table))
    ratings = table.loc[order[cut:], list(aspects)].astype(float).reset_index(drop=True)
    return Rated(documents.at(order[:cut]), documents.at(order[cut:]), ratings)


def cut_sentences(texts: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """All sentences of texts, and for each the number of its text."""
    read = read_sentences(texts)
    sentences = [texts[i][start:end] for i, (start, end) in zip(read.documents, read.spans, strict=True)]
    return sentences, read.documents
