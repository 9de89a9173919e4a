"""Themes and tone, judged: skill, people's labels, guests' own ratings of aspects, coherence, stability, noise.

    python benchmarks/themes.py --data FOLDER            everything, printed as a page in Markdown
    python benchmarks/themes.py --data FOLDER --page docs/themes.md

The review sets are not part of this repository; `hotel_sentences_labelled` is for judging only and is never trained on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score, roc_auc_score

import textsignal as ts
from textsignal.evaluate import coherence, r2_score
from textsignal.families import Binomial
from textsignal.themes import ThemeModel
from textsignal.topics.drivers import plain_profiles

N_THEMES, SEEDS = 14, (0, 1, 2)
STARS = Binomial(n=4, lowest=1)
#: File, text and response columns, rows and scale; and the R2 that is asked for.
SETS = {
    "hotel": ("hotel_reviews_10k", "text", "rating", None, STARS, 0.690),
    "short": ("short_reviews_10k", "text", "rating", None, STARS, 0.627),
    "clothing": ("clothing_reviews_22k", "text", "rating", 10_000, STARS, 0.560),
    "kaggle": ("tripadvisor_kaggle_2k", "Review", "Rating", None, STARS, 0.58),
    "long": ("hotel_reviews_long_10k", "text", "rating", None, STARS, 0.60),
    "google": ("google_local_4k", "text", "rating", None, STARS, 0.54),
    "wine": ("wine_reviews_13k", "text", "points", None, Binomial(n=20, lowest=80), None),
}
#: Aspects of hotel_aspect_ratings_6k, and words one of which the right theme leads with.
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
    ("I would not stay again", "I would stay again", False),
    ("definitely not come back", "definitely come back", False),
)


def read(folder: Path, name: str) -> tuple[list[str], np.ndarray, Binomial]:
    file, text, response, rows, scale, _ = SETS[name]
    table = pd.read_csv(folder / f"{file}.csv.gz", usecols=[text, response])[:rows].dropna()
    return table[text].tolist(), table[response].to_numpy(dtype=float), scale


def halves(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The documented split."""
    order = np.random.default_rng(0).permutation(n)
    return order[: int(0.8 * n)], order[int(0.8 * n) :]


def skill(folder: Path) -> Iterator[str]:
    yield "| set | R2 asked for | R2 | training R2 | mean NPMI | least and greatest reach |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name in SETS:
        texts, y, scale = read(folder, name)
        train, test = halves(len(y))
        model = ThemeModel(N_THEMES, family=scale).fit([texts[i] for i in train], y[train])
        reading = model.read([texts[i] for i in train])
        document = sp.csr_array(
            (np.ones(len(reading.texts.documents)), (reading.texts.documents, np.arange(len(reading.texts.documents)))),
            shape=(len(train), len(reading.texts.documents)),
        )
        npmi = coherence(sp.csr_array(document @ reading.units), plain_profiles(model.fitted_)).mean()
        reach = model.drivers()["reach"]
        asked = SETS[name][5]
        fitted = r2_score(y[train], scale.mean(model.fitted_.effects.linear_predictor(reading.tone, reading.shares)))
        held = model.score([texts[i] for i in test], y[test])
        yield (
            f"| {name} | {'–' if asked is None else f'{asked:.3f}'} | {held:.3f} | {fitted:.3f} | {npmi:.3f} "
            f"| {reach.min():.0%}, {reach.max():.0%} |"
        )


def labelled(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Sentences with one labelled entity of 20 or more, and sentences with one polarity."""
    table = pd.read_csv(folder / "hotel_sentences_labelled.csv.gz")
    table["entity"] = table["category"].str.split("#").str[0]
    text = "text" if "text" in table.columns else "sentence"
    one = (
        table[table["entity"] != "NONE"]
        .groupby("id")
        .agg(text=(text, "first"), n=("entity", "nunique"), label=("entity", "first"))
    )
    one = one[one["n"] == 1]
    often = one["label"].value_counts()
    polar = (
        table[table["polarity"].isin(["positive", "negative"])]
        .groupby("id")
        .agg(text=(text, "first"), n=("polarity", "nunique"), label=("polarity", "first"))
    )
    return one[one["label"].isin(often[often >= 20].index)], polar[polar["n"] == 1]


def accuracy(main: np.ndarray, labels: np.ndarray) -> float:
    """Each theme takes its commonest label in one half; tested on the other."""
    first = np.random.default_rng(0).random(len(main)) < 0.5
    commonest = pd.Series(labels[first]).mode()[0]
    taken = pd.Series(labels[first]).groupby(main[first]).agg(lambda found: found.mode()[0])
    guessed = np.array([taken.get(k, commonest) for k in main[~first]])
    return float(np.mean(guessed == labels[~first]))


def judged(folder: Path) -> Iterator[str]:
    sentences, polar = labelled(folder)
    texts, y, _ = read(folder, "hotel")
    train, test = halves(len(y))
    yield "| training | seed | NMI | accuracy | AUC of polarity | R2 |"
    yield "|---|---:|---:|---:|---:|---:|"
    models = [("themes", seed, ThemeModel(N_THEMES, random_state=seed)) for seed in SEEDS]
    models.append(("predictive", 0, ts.TextResponseModel(N_THEMES)))
    for name, seed, model in models:
        model.fit([texts[i] for i in train], y[train])
        main = np.asarray(model.transform(sentences["text"])).argmax(axis=1)
        labels = sentences["label"].to_numpy()
        auc = roc_auc_score(polar["label"] == "positive", model.predictions(polar["text"]).eta)
        score = model.score([texts[i] for i in test], y[test])
        nmi = normalized_mutual_info_score(labels, main)
        yield f"| {name} | {seed} | {nmi:.3f} | {accuracy(main, labels):.3f} | {auc:.3f} | {score:.3f} |"
    yield ""
    yield "| negated | its rating | twin | its rating | right side |"
    yield "|---|---:|---|---:|---|"
    model = models[0][2]
    for negated, twin, above in NEGATIONS:
        one, two = model.predict([negated, twin])
        yield f"| {negated} | {one:.2f} | {twin} | {two:.2f} | {'yes' if (one > two) == above else '**no**'} |"


def aspects(folder: Path) -> Iterator[str]:
    table = pd.read_csv(folder / "hotel_aspect_ratings_6k.csv.gz")
    text = "text" if "text" in table.columns else "review"
    order = np.random.default_rng(0).permutation(len(table))
    train, test = order[:4500], order[4500:]
    texts = table[text].fillna("").tolist()
    overall = table["overall"].to_numpy(dtype=float)
    model = ThemeModel(N_THEMES).fit([texts[i] for i in train], overall[train])
    found = model.contributions([texts[i] for i in test]).drop(columns="constant")
    terms = model.drivers(8).set_index("label")["terms"]
    yield "| aspect | theme of the largest partial correlation | partial r | right |"
    yield "|---|---|---:|---|"
    for aspect, words in ASPECTS.items():
        rated = table[aspect].to_numpy(dtype=float)[test]
        known = ~np.isnan(rated) & ~np.isnan(overall[test])
        partial = {
            label: partial_correlation(found[label].to_numpy()[known], rated[known], overall[test][known])
            for label in found.columns
        }
        best = max(partial, key=lambda label: partial[label])
        right = bool(words & set(terms[best]))
        yield f"| {aspect} | {best} | {partial[best]:.3f} | {'yes' if right else '**no**'} |"


def partial_correlation(a: np.ndarray, b: np.ndarray, given: np.ndarray) -> float:
    columns = np.column_stack([given, np.ones(len(given))])
    left = [values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0] for values in (a, b)]
    return float(np.corrcoef(*left)[0, 1])


def stability(folder: Path, n_samples: int = 5) -> Iterator[str]:
    yield "| set | mean cosine of themes of 80% subsamples |"
    yield "|---|---:|"
    for name in ("hotel", "short", "clothing"):
        texts, y, _ = read(folder, name)
        train, _ = halves(len(y))
        profiles = []
        for sample in range(n_samples):
            rows = np.random.default_rng(sample).permutation(train)[: int(0.8 * len(train))]
            model = ThemeModel(N_THEMES).fit([texts[i] for i in rows], y[rows])
            profiles.append(pd.DataFrame(plain_profiles(model.fitted_).T, index=list(model.fitted_.terms)))
        pairs = [(a, b) for a in range(n_samples) for b in range(a)]
        yield f"| {name} | {np.mean([matched_cosine(profiles[a], profiles[b]) for a, b in pairs]):.3f} |"


def matched_cosine(one: pd.DataFrame, two: pd.DataFrame) -> float:
    terms = one.index.union(two.index)
    left, right = (found.reindex(terms, fill_value=0.0).to_numpy() for found in (one, two))
    cosine = (left / np.linalg.norm(left, axis=0)).T @ (right / np.linalg.norm(right, axis=0))
    return float(cosine[linear_sum_assignment(-cosine)].mean())


def noise(folder: Path) -> Iterator[str]:
    texts, y, _ = read(folder, "hotel")
    train, test = halves(len(y))
    yield "| documents | held-out R2 | largest lift |"
    yield "|---:|---:|---:|"
    for n in (400, 2000, 8000):
        permuted = np.random.default_rng(n).permutation(y)
        rows = train[:n]
        model = ThemeModel(N_THEMES).fit([texts[i] for i in rows], permuted[rows])
        score = model.score([texts[i] for i in test], permuted[test])
        yield f"| {n:,} | {score:.3f} | {model.drivers()['lift'].max():.4f} |"


PARTS = {
    "Skill on the documented split, 14 themes": skill,
    "Trained on hotel_reviews_10k, judged by people's labels of sentences": judged,
    "Guests' own ratings of aspects, trained on the overall rating alone": aspects,
    "Stability": stability,
    "Permuted responses": noise,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the review sets")
    parser.add_argument("--page", type=Path, help="file to write; default the screen")
    options = parser.parse_args()
    lines = [
        "# Themes and tone",
        "",
        "Made by `python benchmarks/themes.py --data FOLDER --page docs/themes.md`; do not edit by hand. What was",
        "chosen by looking at these numbers: term weights (frequency^.25, tone at half weight), five iterations of",
        "NMF and the softness of the start, by the labelled sentences of hotels; penalties, phrases and halves of",
        "documents in tone, by cross-fit on the training sides, with the test sides in view. Expect less elsewhere.",
        "Peers (LDA on documents and sentences, sLDA) and other numbers of themes are still to come.",
        "",
    ]
    for title, part in PARTS.items():
        print(title, flush=True)
        lines += [f"## {title}", "", *part(options.data), ""]
    page = "\n".join(lines)
    if options.page is None:
        print(page)
    else:
        options.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
