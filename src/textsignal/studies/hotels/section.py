"""The text of the study of hotel reviews."""

from __future__ import annotations

import pandas as pd

from textsignal.studies.claims import mean_and_spread
from textsignal.studies.hotels.results import PAPER_R2, PAPER_RMSE, best_points, performance, ranked
from textsignal.studies.methods import ALPHA, JOINT, N_TOPICS, chosen, label
from textsignal.studies.page import table_of
from textsignal.studies.study import Plan, Tables


def section(plan: Plan, tables: Tables) -> str:
    """What was done and found."""
    total = tables["hotels-ratings"]["documents"].sum()
    splits = "One random 80/20 split" if plan.seeds == 1 else f"{plan.seeds} random 80/20 splits"
    return f"""
{total:,} reviews; which ones the paper drew is not known. {splits}. Terms and document frequencies come from the
training side: the 2,000 most frequent terms, and of these the 500 of largest summed TF-IDF. *Joint, as published* has
gamma = 400, lambda = 0.1, at most 500 iterations and a tolerance of 1e-4.

{{figure:ratings}}

{{figure:words}}

### Performance

{_performance(tables)}

*Chosen by validation*: the point of the grid below that is best on a fifth of the training side, trained again on all
of it. *Best on the test side*: what a search gives that is judged on the test side itself, as the paper's was; it is
too good by what the choice itself gains. Black lines mark the paper's numbers.

{{figure:performance}}

### Search

Numbers of topics far apart first, then those up to two from the best of them; alpha: {_alphas(tables)}. Every
point is fitted twice: on four fifths of the training side for the validation R2 that chooses, and on all of it for the
test R2.

{_choices(tables)}

{_heat_maps(plan)}

{{figure:number-of-topics}}

### Topics

At K={N_TOPICS} (and alpha={ALPHA:g}), split 0. Effects are against the average text and, like prevalence, on one
scale for all topics; the paper ranks by the size of beta_k and by the sum of W_ik, which depend on the scale that
training leaves a topic on. A topic has the same colour on both sides.

{_topics(tables)}

{_open(tables)}
"""


def _performance(tables: Tables) -> str:
    rows = []
    for entry in performance(tables):
        paper = [f"{numbers[entry.name]:.3f}" if entry.name in numbers else "" for numbers in (PAPER_R2, PAPER_RMSE)]
        values = [mean_and_spread(entry.rows[value]) for value in ("r2", "rmse", "train_r2")]
        rows.append([entry.label, values[0], paper[0], values[1], paper[1], values[2]])
    return table_of(["method", "R2", "paper", "RMSE", "paper", "training R2"], rows)


def _alphas(tables: Tables) -> str:
    alphas = sorted(tables["hotels-search"]["alpha"].dropna().unique())
    return ", ".join(f"{alpha:g}" for alpha in alphas) or "none, which predictive training does not have"


def _choices(tables: Tables) -> str:
    """What either way of choosing gives, and the paper's own point."""
    search = tables["hotels-search"]
    rows = []
    for how, by in (("validation", "validation_r2"), ("test side", "r2")):
        best = best_points(search, by)
        for method, group in best.groupby("method", sort=False):
            places = "; ".join(_place(row) for _, row in group.iterrows())
            values = [mean_and_spread(group[value]) for value in ("validation_r2", "r2")]
            rows.append([f"{label(str(method))}, by {how}", places, *values])
    return table_of(["chosen", "K, alpha by split", "validation R2", "test R2"], rows)


def _place(row: pd.Series) -> str:
    return f"{row['n_topics']}" if pd.isna(row["alpha"]) else f"{row['n_topics']}, {row['alpha']:g}"


def _heat_maps(plan: Plan) -> str:
    if not chosen(plan.methods, JOINT):
        return ""
    return """The test side of split 0 over the grid, the best point framed; colours end 0.15 from the best.

{figure:search}"""


def _topics(tables: Tables) -> str:
    parts = []
    for method, topics in tables["hotels-topics"].groupby("method", sort=False):
        strongest = pd.concat([ranked(topics, "effect"), ranked(topics, "prevalence")]).drop_duplicates("topic")
        rows = [
            [row.terms, f"{row.effect:+.2f}", f"{row.prevalence:.1%}"]
            for row in strongest.sort_values("effect").itertuples()
        ]
        table = table_of([f"{label(str(method))}: leading terms", "effect", "prevalence"], rows)
        parts.append(f"{table}\n\n{{figure:topics-{method}}}")
    return "\n\n".join(parts)


def _open(tables: Tables) -> str:
    """What the paper leaves open, and how far the result depends on it."""
    text = """### What the paper leaves open

Start: random, on the scale of the text, for *joint, as published*; singular vectors for *joint, adaptive*. Learning
rate: the longest that is safe for the data at hand. Words: lower-cased, contractions whole, an English stop list that
keeps negations and intensifiers. Ridge penalty: the one of least leave-one-out error on the training side."""
    if "hotels-open" not in tables:
        return text
    rows = [
        [
            f"{row.setting}: {row.value}",
            f"{row.r2:.3f}",
            f"{row.rmse:.3f}",
            f"{row.train_r2:.3f}",
            f"{row.ridge_r2:.3f}",
        ]
        for row in tables["hotels-open"].itertuples()
    ]
    header = ["set otherwise", "R2", "RMSE", "training R2", "ridge R2 on the same terms"]
    return f"""{text}

*Joint, as published* on split 0, K={N_TOPICS}, alpha={ALPHA:g}, with one of these set otherwise (*start: seed 0* is as
above; *uniform*: numbers between 0 and 1, whatever the scale of the text):

{table_of(header, rows)}"""
