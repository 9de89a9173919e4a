"""Whether findings survive ten clauses: kinds of clauses against people's labels, short texts, verdicts, small samples.

    python benchmarks/findings.py --data FOLDER                    everything
    python benchmarks/findings.py --data FOLDER labels short       some questions
    PYTHONPATH=OTHER/src python benchmarks/findings.py --data FOLDER skill      skill of another version

`hotel_sentences_labelled` judges and never trains. Hand-written texts are those of tests/judged.
"""

from __future__ import annotations

import argparse
import time
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from skill_data import SOURCES
from sklearn.metrics import roc_auc_score
from themes_data import LABEL_FILE, LEAST_LABELS, agreed

import textsignal as ts

JUDGED = Path(__file__).parents[1] / "tests" / "judged"
SEEDS, N_THEMES, DRAWS = (0, 1, 2), 14, 40
SETS = dict(zip(("hotel", "short", "clothing", "kaggle", "long", "google", "wine"), SOURCES, strict=True))
#: A text that judges nothing is predicted as near to the mean as this.
NEAR = 0.15
#: The set whose model reads the hand-written texts of a domain.
DOMAINS = {
    "hotel": "hotel",
    "restaurant": "yelp",
    "fast food": "short",
    "food": "short",
    "clothing": "clothing",
    "local": "google",
}


@cache
def model(folder: Path, name: str, seed: int = 0, rows: int | None = None) -> ts.TextResponseModel:
    """The model of the training side of a set, or of its first rows."""
    texts, y = train_side(folder, name)
    return ts.TextResponseModel(N_THEMES, random_state=seed).fit(texts[:rows], y[:rows])


@cache
def sides(folder: Path, name: str) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    texts, y = yelp(folder) if name == "yelp" else SETS[name].read(folder)
    order = np.random.default_rng(0).permutation(len(texts))
    cut = int(0.8 * len(texts))
    train, test = order[:cut], order[cut:]
    return [texts[i] for i in train], y[train], [texts[i] for i in test], y[test]


def yelp(folder: Path) -> tuple[list[str], np.ndarray]:
    """Both halves of the Yelp demo: reviews of restaurants, mostly."""
    table = pd.concat([pd.read_csv(folder / f"yelp_{part}_2k.csv.gz") for part in ("val", "holdout")])
    return table["text"].tolist(), table["stars"].to_numpy(dtype=float)


def train_side(folder: Path, name: str) -> tuple[list[str], np.ndarray]:
    return sides(folder, name)[:2]


def labels(folder: Path) -> None:
    """Kinds of labelled sentences, of the models of three seeds."""
    table = pd.read_csv(folder / f"{LABEL_FILE}.csv.gz")
    polar = agreed(table[table["polarity"].isin(["positive", "negative", "neutral"])], "polarity")
    rows = [judged_sentences(model(folder, "hotel", seed), polar) for seed in SEEDS]
    print(pd.DataFrame(rows, index=SEEDS).T.assign(mean=lambda t: t.mean(axis=1)).round(3).to_string())


def judged_sentences(fitted: ts.TextResponseModel, polar: pd.DataFrame) -> dict[str, float]:
    clauses = fitted.clauses(polar["text"].tolist())
    label = polar["polarity"].to_numpy()
    of_clause = label[clauses["text"]]
    kind = clauses["kind"].to_numpy()
    flags = {k: np.bincount(clauses["text"], kind == k, len(label)) > 0 for k in ("complaint", "praise")}
    total = np.bincount(clauses["text"], clauses["contribution"], len(label))
    judgement = np.bincount(clauses["text"], clauses["judgement"], len(label))
    polar_rows = label != "neutral"
    values = {}
    for k, name in (("complaint", "negative"), ("praise", "positive")):
        values[f"{k}: precision, clauses"] = float(np.mean(of_clause[kind == k] == name))
        values[f"{k}: precision, sentences"] = float(np.mean(label[flags[k]] == name))
        values[f"{k}: recall, sentences"] = float(np.mean(flags[k][label == name]))
        values[f"{k}: recall, clauses"] = float(np.mean(kind[of_clause == name] == k))
    neutral = ~flags["complaint"] & ~flags["praise"]
    values["neutral: recall, sentences"] = float(np.mean(neutral[label == "neutral"]))
    values["neutral: recall, clauses"] = float(np.mean(kind[of_clause == "neutral"] == "neutral"))
    for what, score in (("contribution", total), ("judgement", judgement)):
        values[f"AUC of {what}"] = float(roc_auc_score(label[polar_rows] == "positive", score[polar_rows]))
    return values


def entities(folder: Path) -> None:
    """Themes of labelled sentences against their entities: accuracy and NMI, unplaced and verdicts among them."""
    from sklearn.metrics import normalized_mutual_info_score
    from themes_measures import accuracy

    table = pd.read_csv(folder / f"{LABEL_FILE}.csv.gz")
    table["entity"] = table["category"].str.split("#").str[0]
    spoken = agreed(table[table["entity"] != "NONE"], "entity")
    often = spoken["entity"].value_counts()
    spoken = spoken[spoken["entity"].isin(often[often >= LEAST_LABELS].index)]
    entity, rows = spoken["entity"].to_numpy(), []
    for seed in SEEDS:
        fitted = model(folder, "hotel", seed)
        shares = fitted.transform(spoken["text"].tolist())
        left = 1 - np.asarray(shares).sum(axis=1, keepdims=True)
        main = np.hstack([shares, left]).argmax(axis=1)
        rows.append(
            {
                "accuracy": accuracy(main, entity),
                "NMI": normalized_mutual_info_score(entity, main),
                "overall": float(np.mean(main == N_THEMES)),
                "unplaced": float(np.mean(main == N_THEMES + 1)),
            }
        )
    print(pd.DataFrame(rows, index=SEEDS).T.assign(mean=lambda t: t.mean(axis=1)).round(3).to_string())


def read_judged(name: str, table: str = "case") -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = tomllib.loads((JUDGED / f"{name}.toml").read_text(encoding="utf-8"))[table]
    return cases


def overlap(row: Any, text: str, part: str) -> int:
    start = text.index(part)
    return max(0, min(row.end, start + len(part)) - max(row.start, start))


def part_of(table: pd.DataFrame, text: str, part: str) -> pd.DataFrame:
    """The clauses that lie mostly inside a part of a text."""
    own = np.array([overlap(row, text, part) for row in table.itertuples()])
    return table[own > 0.5 * np.maximum(table["end"] - table["start"], 1)]


def two_clauses(folder: Path) -> None:
    """Whether the clause that complains is charged, and not the other."""
    show("two clauses", *wrong_charges(folder))


def wrong_charges(folder: Path) -> tuple[list[tuple[str, ...]], int]:
    """Cases in which the wrong clause is charged, and the number of cases."""
    cases, wrong = read_judged("two_clauses"), []
    for case in cases:
        problem = charged(model(folder, DOMAINS[case["domain"]]).clauses([case["text"]]), case)
        if problem:
            wrong.append((case["domain"], problem, case["text"]))
    return wrong, len(cases)


def show(what: str, wrong: Sequence[tuple[str, ...]], n: int) -> None:
    for each in wrong:
        print("  ", *each, sep=" | ")
    print(f"{what}: {n - len(wrong)} of {n} right")


def charged(table: pd.DataFrame, case: dict[str, Any]) -> str:
    """What is wrong; "" if the clause that complains is charged: it lowers the response, and more than the other.

    Of praise and a neutral mention, the praise must raise the response, and more than the other.
    """
    parts = {each["kind"]: part_of(table, case["text"], each["text"]) for each in case["clauses"]}
    if any(part.empty for part in parts.values()):
        return "not cut"
    added = {kind: float(part["tone"].sum()) for kind, part in parts.items()}
    low, high = sorted(added, key=["complaint", "neutral", "praise"].index)
    wrong = added["complaint"] >= 0 if low == "complaint" else added["praise"] <= 0
    return f"{low} {added[low]:+.2f}, {high} {added[high]:+.2f}" if wrong or added[low] >= added[high] else ""


def verdicts(folder: Path) -> None:
    """Whether verdicts move no theme but the overall verdict."""
    show("verdicts", *wrong_verdicts(folder))


def wrong_verdicts(folder: Path) -> tuple[list[tuple[str, ...]], int]:
    """Verdicts that move a theme, or are not separate from what is said before or after, and the number of cases."""
    cases, wrong = read_judged("verdicts"), []
    for case in cases:
        table = model(folder, DOMAINS[case["domain"]]).clauses([case["text"]])
        own = part_of(table, case["text"], case["verdict"]["text"])
        if own.empty or not (own["is_overall"] | (own["theme"] < 0)).all():
            wrong.append((case["domain"], ", ".join(own["label"]) or "not cut", case["text"]))
    return wrong, len(cases)


def short(folder: Path) -> None:
    """Orderings of short texts, and bare mentions."""
    show("orderings", *wrong_orderings(folder))
    show("bare mentions", *wrong_mentions(folder))


def wrong_orderings(folder: Path) -> tuple[list[tuple[str, ...]], int]:
    cases, wrong = read_judged("short_texts", "ordering"), []
    for case in cases:
        low, high = model(folder, DOMAINS[case["domain"]]).predict([case["lower"], case["higher"]])
        if low >= high:
            wrong.append((f"{low:.2f} {high:.2f}", case["lower"], case["higher"]))
    return wrong, len(cases)


def wrong_mentions(folder: Path) -> tuple[list[tuple[str, ...]], int]:
    """Texts that judge nothing and whose prediction is more than .15 from the mean."""
    cases, wrong = read_judged("short_texts", "bare"), []
    for case in cases:
        (value,) = model(folder, DOMAINS[case["domain"]]).predict([case["text"]])
        mean = float(np.mean(train_side(folder, DOMAINS[case["domain"]])[1]))
        if abs(value - mean) > NEAR:
            wrong.append((f"{value:.2f} for {mean:.2f}", case["text"]))
    return wrong, len(cases)


def skill(folder: Path) -> None:
    """Held-out R2 of every set, and of small samples of it."""
    rows = {}
    for name in SETS:
        texts, y, test, y_test = sides(folder, name)
        row = {"all": r2(model(folder, name), test, y_test)}
        for size in (500, 1000):
            draws = [np.random.default_rng(draw).permutation(len(texts))[:size] for draw in range(3)]
            fits = [ts.TextResponseModel(N_THEMES).fit([texts[i] for i in rows], y[rows]) for rows in draws]
            row[str(size)] = float(np.mean([r2(fit, test, y_test) for fit in fits]))
        rows[name] = row
        print(name, {k: round(v, 4) for k, v in row.items()}, flush=True)


def r2(fitted: ts.TextResponseModel, texts: Sequence[str], y: np.ndarray) -> float:
    return float(1 - np.mean((fitted.predict(texts) - y) ** 2) / np.var(y))


def full_skill(folder: Path) -> None:
    """Held-out R2 of every set."""
    for name in SETS:
        *_, test, y_test = sides(folder, name)
        start = time.perf_counter()
        fitted = model(folder, name)
        print(f"{name:12} {r2(fitted, test, y_test):.4f}   {time.perf_counter() - start:.1f} s", flush=True)


def null(folder: Path) -> None:
    """Slopes of the lexicon, and p values of costs, where responses have nothing to do with the texts."""
    for name in ("hotel", "short", "clothing"):
        texts, y = train_side(folder, name)
        slopes, p_values, clear = [], [], 0
        for draw in range(DRAWS):
            permuted = np.random.default_rng(draw).permutation(y[:2000])
            fitted = ts.TextResponseModel(N_THEMES, random_state=draw).fit(texts[:2000], permuted)
            effects = fitted.estimate_effects()
            costs = effects.of("cost")
            slopes.append(fitted.reader_.fitted.words.slope)
            p_values.append(costs["p_value"].to_numpy())
            clear += bool(effects.clear(costs).any())
        low = np.mean(np.array(p_values) < 0.05)
        print(f"{name}: largest slope {np.abs(slopes).max():.4f}; p < .05 for {low:.3f} of costs; ", end="")
        print(f"a cost is called significant in {clear} of {DRAWS} draws", flush=True)
    table = pd.read_csv(folder / "wine_reviews_13k.csv.gz").dropna(subset=["price"])
    fitted = ts.TextResponseModel(N_THEMES, family="gaussian").fit(table["text"].tolist(), np.log(table["price"]))
    print(f"log price of wine: slope {fitted.reader_.fitted.words.slope:.4f}")


QUESTIONS: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (labels, entities, two_clauses, verdicts, short, full_skill, skill, null)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("questions", nargs="*", choices=[*QUESTIONS, []])
    given = parser.parse_args()
    for name in given.questions or QUESTIONS:
        print(f"== {name}", flush=True)
        QUESTIONS[name](given.data)


if __name__ == "__main__":
    main()
