"""Covariates and missing responses on review sets that are not in this repository.

    python benchmarks/responses_covariates.py --data FOLDER [--part wine] [--part missing]

wine : R2 of points, held out, by text and by text with price, country and variety; beside ridge on the same.
missing : R2 of ratings, held out, with nine tenths of the training responses missing, beside the labelled tenth alone.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score

from textsignal import TextResponseModel

#: Levels of a category with fewer training rows are one, "other".
RARE = 10
ALPHAS = np.logspace(-2, 3, 11)
SEEDS = range(3)


def split(n):
    """The documented split: positions of training and of test rows."""
    order = np.random.default_rng(0).permutation(n)
    return order[: round(0.8 * n)], order[round(0.8 * n) :]


def with_rare_as_other(column, training):
    counts = column.iloc[training].value_counts()
    return column.where(column.isin(counts.index[counts >= RARE]), "other")


def wine(folder, topics):
    """One row per way of predicting points."""
    table = pd.read_csv(folder / "wine_reviews_13k.csv.gz")
    table = table.fillna({"country": "unknown", "variety": "unknown"})
    training, test = split(len(table))
    log_price = np.log(table["price"])
    # All ways of predicting have the median for a price that is missing, and know that it is.
    covariates = pd.DataFrame({"log_price": log_price.fillna(log_price.iloc[training].median())})
    covariates["no_price"] = log_price.isna().astype(float)
    for name in ("country", "variety"):
        covariates[name] = with_rare_as_other(table[name], training)
    texts, points = table["text"].to_numpy(dtype=object), table["points"].to_numpy(dtype=float)
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=3, sublinear_tf=True).fit(texts[training])
    dummies = pd.get_dummies(covariates, dtype=float)
    dummies = (dummies - dummies.iloc[training].mean()) / dummies.iloc[training].std().replace(0, 1)
    matrices = {
        "ridge, words": words.transform(texts),
        "ridge, covariates": sp.csr_matrix(dummies),
        # One penalty for both kinds of columns: how large covariates are beside words is tuned with it.
        **{
            f"ridge, words and covariates x {size:g}": sp.hstack([words.transform(texts), size * dummies]).tocsr()
            for size in (0.1, 0.3, 1.0)
        },
    }
    rows = []
    for name, X in matrices.items():
        fit = RidgeCV(ALPHAS, cv=5).fit(X[training], points[training])
        rows.append((name, r2_score(points[test], fit.predict(X[test])), fit.best_score_))
    for name, given in (("themes", None), ("themes, covariates", covariates)):
        model = TextResponseModel(topics, family="gaussian", n_jobs=1)
        model.fit(texts[training], points[training], covariates=None if given is None else given.iloc[training])
        found = model.score(texts[test], points[test], covariates=None if given is None else given.iloc[test])
        rows.append((name, found, np.nan))
    return pd.DataFrame(rows, columns=["method", "test_r2", "cv_r2"])


def missing(folder, topics):
    """One row per seed: nine tenths of the responses missing, or the documents without them left out."""
    table = pd.read_csv(folder / "hotel_reviews_10k.csv.gz")
    texts, ratings = table["text"].fillna("").to_numpy(dtype=object), table["rating"].to_numpy(dtype=float)
    training, test = split(len(table))
    rows = []
    for seed in SEEDS:
        known = np.random.default_rng(seed).permutation(len(training))[: len(training) // 10]
        holed = np.full(len(training), np.nan)
        holed[known] = ratings[training[known]]
        every, tenth = (TextResponseModel(topics, random_state=seed, n_jobs=1) for _ in range(2))
        every.fit(texts[training], holed)
        tenth.fit(texts[training[known]], ratings[training[known]])
        scores = [model.score(texts[test], ratings[test]) for model in (every, tenth)]
        rows.append((seed, *scores, scores[0] - scores[1]))
    return pd.DataFrame(rows, columns=["seed", "all_texts_r2", "labelled_tenth_r2", "difference"])


PARTS = {"wine": wine, "missing": missing}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the review sets")
    parser.add_argument("--part", action="append", choices=PARTS, help="default all")
    parser.add_argument("--topics", type=int, default=14)
    given = parser.parse_args()
    for part in given.part or PARTS:
        print(f"\n{part}\n{PARTS[part](given.data, given.topics).round(4).to_string(index=False)}", flush=True)


if __name__ == "__main__":
    main()
