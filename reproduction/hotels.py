"""The paper's main sample of hotel reviews: search for topics and alpha, comparison of methods, topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from reproduction.claims import Claim, mean_and_spread, number_claim, statement_claim, unchecked
from reproduction.figures import SCORES, Entry, draw_bars, heat_map, method_lines, panels, write_legend
from reproduction.methods import (
    ALPHA,
    ALPHAS,
    BASELINES,
    JOINT,
    METHODS,
    N_TOPICS,
    QUICK_ALPHAS,
    TRAININGS,
    Settings,
    chosen,
    fit_published,
    label,
    scores,
)
from reproduction.page import table_of
from reproduction.samples import MAX_RAW_TERMS, MAX_TERMS, Sample, Split, split_sample
from reproduction.study import Cell, Columns, Plan, Row, Study, Tables
from textsignal.estimators import TopicEstimator
from textsignal.evaluation.metrics import r2_score, rmse
from textsignal.palette import NEUTRAL, topic_colors
from textsignal.plots import PAGE_HEIGHT, as_percent, axes, draw_cloud, figure_of, plain, styled
from textsignal.reading.words import relevance
from textsignal.text.tokenise import stop_words
from textsignal.text.vectorise import TextVectorizer

ROLE = "tripadvisor"
N_DOCUMENTS, QUICK_DOCUMENTS = 10_000, 2_000
TOPIC_METHODS = TRAININGS["both"]
#: Numbers of topics that are searched first.
COARSE, QUICK_COARSE = (2, 5, 8, 11, 14, 17, 20, 30), (5, 14)
#: Settings that the paper leaves open. The first start is that of all other tables.
OPEN = {
    "start": ("seed 0", "seed 1", "seed 2", "seed 3", "uniform"),
    "learning rate": ("0.001", "0.01", "0.1"),
    "stop words": ("scikit-learn", "none"),
}
QUICK_OPEN = {"start": ("seed 0", "seed 1"), "learning rate": ("0.01",), "stop words": ("scikit-learn",)}
#: Numbers of terms of a topic and of frequent words in the tables, of words in the cloud, and of terms in a label.
TOPIC_TERMS, FREQUENT_WORDS, CLOUD_WORDS, LABEL_TERMS = 10, 100, 60, 4
#: Height of a line of a list and of the space around the list, in inches.
LINE, AROUND = 0.19, 0.55
#: Colours of a heat map span this distance from the best value; worse values have the last colour.
REACH = 0.15
#: The paper's Table 1.
PAPER_R2 = {"mean": 0.000, "linear": 0.564, "ridge": 0.569, "published": 0.551}
PAPER_RMSE = {"mean": 1.239, "linear": 0.816, "ridge": 0.812, "published": 0.830}
PAPER_DOCUMENTS = 10_000
#: Largest difference from the paper's numbers that agrees, and from another method that is slight.
NEAR = 0.05
#: Moderate numbers of topics in a search over 2 to 30.
MODERATE = (8, 20)
#: Words that represent the themes of the paper's topics, by sign.
NEGATIVE_THEMES = {
    "room condition": "dirty old stained broken carpet bathroom shower water",
    "smell": "smell smelled smells smelly smoke",
    "sleep": "sleep noise noisy loud night",
    "front desk": "desk front reception",
    "charges": "charge charged charges pay paid money fee card",
    "complaints": "told said asked complained manager called",
}
POSITIVE_THEMES = {
    "experience": "great excellent wonderful amazing fantastic perfect recommend enjoyed loved",
    "location": "location located central close convenient",
    "service": "service staff friendly helpful",
    "breakfast": "breakfast buffet",
    "walking distance": "walk walking distance minutes",
    "premium rooms": "suite suites bathrooms balcony view views",
}
#: Words that the paper's cloud shows.
FREQUENT = ("room", "hotel", "staff", "breakfast", "food", "location", "stay")
TABLE, SEARCH, TOPICS = "Section 4.2, Table 1", "Section 4.2, Appendix D", "Section 4.3, Figures 4 and 5"


@lru_cache(maxsize=2)
def _split(sample: Sample, seed: int, max_terms: int = MAX_TERMS) -> Split:
    return split_sample(sample, seed, max_terms)


@lru_cache(maxsize=2)
def _validation_split(sample: Sample, seed: int) -> Split:
    """Split of the training side, to choose settings on."""
    return split_sample(sample.training_side(seed), seed)


def fit_points(method: str, sample: Sample, seed: int, n_topics: int, alphas: Sequence[float | None]) -> list[Row]:
    """Return scores along alpha: on a fifth of the training side, and on the test side after training on all of it."""
    split, inner = _split(sample, seed), _validation_split(sample, seed)
    rows = []
    for alpha in alphas:
        settings = Settings(n_topics, ALPHA if alpha is None else alpha, seed)
        held = METHODS[method].fit(inner, settings).predicted
        validation = {"validation_r2": r2_score(inner.y_test, held), "validation_rmse": rmse(inner.y_test, held)}
        rows.append({"alpha": alpha, **validation, **scores(split, METHODS[method].fit(split, settings))})
    return rows


def fit_method(method: str, sample: Sample, seed: int, max_terms: int) -> list[Row]:
    """Return scores of a method with the paper's settings."""
    split = _split(sample, seed, max_terms)
    return [scores(split, METHODS[method].fit(split, Settings(seed=seed)))]


def fit_open(sample: Sample, setting: str, value: str) -> list[Row]:
    """Return scores of the paper's model with another choice of a setting that the paper leaves open."""
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
    """Return the topics with the paper's settings on split 0."""
    split = _split(sample, 0)
    model = METHODS[method].fit(split, Settings()).model
    assert model is not None
    return topic_rows(model, split.terms)


def topic_rows(model: TopicEstimator, terms: Sequence[str] | np.ndarray) -> list[Row]:
    """Return one row per topic.

    Returns
    -------
    list of dict
        effect, prevalence : relative to the average text and as a share of it, with all topics on one scale;
        coefficient, weight : the paper's beta_k and sum of W_ik, which depend on the scale that training leaves a topic
        on; terms : the most relevant terms.
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
    """Return the number of reviews by rating."""
    return [{"rating": stars, "documents": int((sample.ratings == stars).sum())} for stars in range(1, 6)]


def count_words(sample: Sample) -> list[Row]:
    """Return the most frequent words, without function words."""
    excluded = stop_words("english") | ENGLISH_STOP_WORDS
    vectorizer = TextVectorizer(FREQUENT_WORDS, None, stop_words=excluded, weighting="count")
    counts = np.asarray(vectorizer.fit_transform(sample.texts).sum(axis=0)).ravel()
    best = np.argsort(-counts, kind="stable")
    return [{"word": str(vectorizer.terms_[j]), "count": int(counts[j])} for j in best]


def _sample(plan: Plan) -> Sample:
    return plan.samples[ROLE].drawn(QUICK_DOCUMENTS if plan.quick else N_DOCUMENTS, 0)


def _coarse_cells(plan: Plan, tables: Tables) -> list[Cell]:
    """All cells but the search around the best number of topics."""
    sample, ours = _sample(plan), chosen(plan.methods, TOPIC_METHODS)

    def cell(table: str, compute: Callable[[], list[Row]], **columns: str | int | float) -> Cell:
        return Cell(f"hotels-{table}", columns, compute, sample.digest)

    cells = [cell("ratings", partial(count_ratings, sample)), cell("words", partial(count_words, sample))]
    for seed in range(plan.seeds):
        for method in ours:
            cells += _search_cells(plan, sample, method, seed, QUICK_COARSE if plan.quick else COARSE)
        pairs = [(method, MAX_TERMS) for method in chosen(plan.methods, BASELINES)]
        pairs += [(method, MAX_RAW_TERMS) for method in chosen(plan.methods, ("ridge", "predictive"))]
        for method, n_terms in pairs:
            compute = partial(fit_method, method, sample, seed, n_terms)
            cells.append(cell("methods", compute, method=method, seed=seed, terms=n_terms))
    cells += [cell("topics", partial(fit_topics, method, sample), method=method) for method in ours]
    if "published" in plan.methods:
        for setting, values in (QUICK_OPEN if plan.quick else OPEN).items():
            cells += [cell("open", partial(fit_open, sample, setting, v), setting=setting, value=v) for v in values]
    return cells


def _dense_cells(plan: Plan, tables: Tables) -> list[Cell]:
    """Numbers of topics around the best of each method and split by validation."""
    sample, done = _sample(plan), set(QUICK_COARSE if plan.quick else COARSE)
    cells = []
    for row in best_points(tables["hotels-search"], "validation_r2").itertuples():
        near = [k for k in range(row.n_topics - 2, row.n_topics + 3) if k >= 2 and k not in done]
        cells += _search_cells(plan, sample, row.method, row.seed, near[:1] if plan.quick else near)
    return cells


def _search_cells(plan: Plan, sample: Sample, method: str, seed: int, topics: Sequence[int]) -> list[Cell]:
    """One cell per number of topics; predictive training has no alpha."""
    alphas: Sequence[float | None] = QUICK_ALPHAS if plan.quick else ALPHAS
    if method == "predictive":
        alphas = (None,)
    tried = " ".join(f"{alpha:g}" for alpha in alphas if alpha is not None)
    cells = []
    for n_topics in topics:
        columns: Columns = {"method": method, "seed": seed, "n_topics": n_topics, "alphas": tried}
        compute = partial(fit_points, method, sample, seed, n_topics, alphas)
        cells.append(Cell("hotels-search", columns, compute, sample.digest))
    return cells


def best_points(search: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the row of the search with the largest value of a column, for each method and split."""
    return search.loc[search.groupby(["method", "seed"], sort=False)[by].idxmax()].reset_index(drop=True)


def performance(tables: Tables) -> list[Entry]:
    """Return the entries of the paper's Table 1 with our methods, word-level ones first."""
    methods, search = tables["hotels-methods"], tables["hotels-search"]
    few, many = (methods[methods["terms"] == n_terms] for n_terms in (MAX_TERMS, MAX_RAW_TERMS))
    paper = search[(search["n_topics"] == N_TOPICS) & (search["alpha"].isna() | (search["alpha"] == ALPHA))]
    validated, best = best_points(search, "validation_r2"), best_points(search, "r2")
    entries = [_entry(name, "", "", few) for name in BASELINES]
    entries.append(_entry("ridge", "-2000", ", 2,000 terms", many))
    for name in search["method"].unique():
        at = f", K={N_TOPICS}" + ("" if name == "predictive" else f", alpha={ALPHA:g}")
        entries.append(_entry(name, "", at, paper))
        entries.append(_entry(name, "-validated", ", chosen by validation", validated))
        entries.append(_entry(name, "-best", ", best on the test side", best))
    if "predictive" in search["method"].unique():
        entries.append(_entry("predictive", "-2000", f", K={N_TOPICS}, 2,000 terms", many))
    return entries


def _entry(method: str, suffix: str, remark: str, rows: pd.DataFrame) -> Entry:
    of_method = rows[rows["method"] == method].sort_values("seed")
    return Entry(method + suffix, label(method) + remark, method, of_method)


def by_name(tables: Tables, value: str) -> pd.DataFrame:
    """Return a column of the entries of `performance`, of shape (n_splits, n_entries)."""
    return pd.DataFrame({entry.name: entry.rows.set_index("seed")[value] for entry in performance(tables)})


def ranked(topics: pd.DataFrame, column: str, n: int = 8) -> pd.DataFrame:
    """Return the topics with the `n` largest absolute values of a column, the largest first."""
    order = topics[column].abs().sort_values(ascending=False, kind="stable").index
    return topics.loc[order[:n]]


def _figures(plan: Plan, tables: Tables) -> dict[str, Figure]:
    """The paper's figures: ratings, words, performance, search, and the two rankings of topics."""
    drawn = {
        "ratings": _draw_ratings(tables["hotels-ratings"]),
        "words": _draw_words(tables["hotels-words"]),
        "performance": _draw_performance(tables),
    }
    if chosen(plan.methods, JOINT):
        drawn["search"] = _draw_search(tables["hotels-search"], chosen(plan.methods, JOINT))
    drawn["number-of-topics"] = _draw_number_of_topics(tables)
    for method in tables["hotels-topics"]["method"].unique():
        topics = tables["hotels-topics"].query("method == @method")
        drawn[f"topics-{method}"] = _draw_rankings(topics, label(method))
    return drawn


@styled
def _draw_ratings(table: pd.DataFrame) -> Figure:
    ax = axes(None, 2.0)
    total = table["documents"].sum()
    bars = ax.bar(table["rating"], table["documents"] / total, color=NEUTRAL, width=0.85)
    ax.bar_label(bars, [f"{share:.1%}" for share in table["documents"] / total], fontsize=7)
    ax.set_xticks(table["rating"])
    ax.margins(y=0.1)
    as_percent(ax.yaxis)
    ax.set_xlabel("rating (stars)")
    ax.set_ylabel(f"share of {total:,} reviews")
    return figure_of(ax)


@styled
def _draw_words(table: pd.DataFrame) -> Figure:
    ax = axes(None, PAGE_HEIGHT)
    largest = table.head(CLOUD_WORDS)
    draw_cloud(ax, largest["word"].tolist(), largest["count"].tolist(), ["#0072B2"] * len(largest))
    return figure_of(ax)


@styled
def _draw_performance(tables: Tables) -> Figure:
    entries = performance(tables)
    figure, both = panels(1, 2, AROUND + LINE * len(entries), sharey=True)
    for ax, (value, unit, _), paper in zip(both, SCORES, (PAPER_R2, PAPER_RMSE), strict=True):
        draw_bars(ax, entries, value, paper)
        ax.set_xlabel(unit)
    return figure


def _draw_search(search: pd.DataFrame, methods: list[str]) -> Figure:
    """The paper's two heat maps, for the split of seed 0."""
    first = search[(search["seed"] == 0) & search["method"].isin(methods)]
    figure, both = panels(len(methods), 2, 1.75 * len(methods))
    for column, (value, unit, high) in enumerate(SCORES):
        low, top = first[value].min(), first[value].max()
        limits = (max(low, top - REACH), top) if high else (low, min(top, low + REACH))
        for row, method in enumerate(methods):
            grid = first[first["method"] == method].pivot(index="alpha", columns="n_topics", values=value)
            heat_map(both[2 * row + column], grid, title=f"{label(method)}: {unit}", limits=limits, best_high=high)
    return figure


@styled
def _draw_number_of_topics(tables: Tables) -> Figure:
    """Test R2 along the numbers of topics that all splits share; joint training at the paper's alpha."""
    search, methods = tables["hotels-search"], tables["hotels-methods"]
    lines = search[search["n_topics"].isin(COARSE) & (search["alpha"].isna() | (search["alpha"] == ALPHA))]
    figure, (ax,) = panels(1, 1, 2.6)
    method_lines(ax, lines, "n_topics", "r2")
    ridge = methods[(methods["method"] == "ridge") & (methods["terms"] == methods["terms"].min())]["r2"]
    color = METHODS["ridge"].color
    ax.axhline(ridge.mean(), color=color, linestyle="--", label=f"{label('ridge')} (no topics)")
    ax.set_xticks(sorted(lines["n_topics"].unique()))
    ax.set_xlabel("number of topics K")
    ax.set_ylabel("test R2")
    write_legend(ax, 4)
    return figure


@styled
def _draw_rankings(topics: pd.DataFrame, title: str) -> Figure:
    """The paper's two rankings side by side; a topic has the same colour in both."""
    figure, (left, right) = panels(1, 2, AROUND + 0.2 + LINE * min(len(topics), 8))
    _bars(left, ranked(topics, "effect"), "effect")
    left.axvline(0, color="black", linewidth=0.6)
    left.set_xlabel("effect (log odds)")
    left.set_title(f"{title}: strongest", loc="left")
    _bars(right, ranked(topics, "prevalence"), "prevalence")
    as_percent(right.xaxis)
    right.set_xlabel("share of all text")
    right.set_title("most prevalent", loc="left")
    return figure


def _bars(ax: Axes, topics: pd.DataFrame, column: str) -> None:
    rows = range(len(topics))
    colors = topic_colors(int(topics["topic"].max()) + 1)
    ax.barh(rows, topics[column], color=[colors[topic] for topic in topics["topic"]], height=0.75)
    names = [plain(", ".join(terms.split()[:LABEL_TERMS]), 40) for terms in topics["terms"]]
    ax.set_yticks(rows, names)
    ax.set_ylim(len(topics) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0, labelsize=6.5)
    ax.xaxis.set_major_locator(MaxNLocator(4))


def _section(plan: Plan, tables: Tables) -> str:
    total = tables["hotels-ratings"]["documents"].sum()
    splits = "One random 80/20 split" if plan.seeds == 1 else f"{plan.seeds} random 80/20 splits"
    return f"""
{total:,} reviews; the paper's sample is not known. {splits}. Terms and document frequencies come from the
training side: the 2,000 most frequent terms, and of these the 500 with the largest summed TF-IDF. *Joint, as published*
has gamma = 400, lambda = 0.1, at most 500 iterations and a tolerance of 1e-4.

{{figure:ratings}}

{{figure:words}}

### Performance

{_performance(tables)}

*Chosen by validation*: the grid point below that is best on a fifth of the training side, trained again on all of it.
*Best on the test side*: the result of a search evaluated on the test side itself, as in the paper; it is
optimistic because of this selection. Black lines mark the paper's numbers.

{{figure:performance}}

### Search

First a coarse grid of numbers of topics, then those at most two from the best of them; alpha: {_alphas(tables)}. Every
point is fitted twice: on four fifths of the training side for the validation R2 used for selection, and on all of it
for the test R2.

{_choices(tables)}

{_heat_maps(plan)}

{{figure:number-of-topics}}

### Topics

At K={N_TOPICS} (and alpha={ALPHA:g}), split 0. Effects are relative to the average text and, like prevalence, on one
scale for all topics; the paper ranks by the size of beta_k and by the sum of W_ik, which depend on the scale of a topic
after training. A topic has the same colour on both sides.

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
    """Best points of the search, by validation and on the test side."""
    rows = []
    for how, by in (("validation", "validation_r2"), ("test side", "r2")):
        for method, group in best_points(tables["hotels-search"], by).groupby("method", sort=False):
            points = "; ".join(
                f"{n_topics}" if pd.isna(alpha) else f"{n_topics}, {alpha:g}"
                for n_topics, alpha in zip(group["n_topics"], group["alpha"], strict=True)
            )
            values = [mean_and_spread(group[value]) for value in ("validation_r2", "r2")]
            rows.append([f"{label(str(method))}, by {how}", points, *values])
    return table_of(["chosen", "K, alpha by split", "validation R2", "test R2"], rows)


def _heat_maps(plan: Plan) -> str:
    if not chosen(plan.methods, JOINT):
        return ""
    return """Results on the test side of split 0; the best point of the grid is framed. Colours end 0.15 from it.

{figure:search}"""


def _topics(tables: Tables) -> str:
    pieces = []
    for method, topics in tables["hotels-topics"].groupby("method", sort=False):
        strongest = pd.concat([ranked(topics, "effect"), ranked(topics, "prevalence")]).drop_duplicates("topic")
        rows = [
            [row.terms, f"{row.effect:+.2f}", f"{row.prevalence:.1%}"]
            for row in strongest.sort_values("effect").itertuples()
        ]
        table = table_of([f"{label(str(method))}: leading terms", "effect", "prevalence"], rows)
        pieces.append(f"{table}\n\n{{figure:topics-{method}}}")
    return "\n\n".join(pieces)


def _open(tables: Tables) -> str:
    text = """### Settings that the paper does not report

Start: random, on the scale of the text, for *joint, as published*; singular vectors for *joint, adaptive*. Learning
rate: the largest that is safe for the data. Words: lower-cased, contractions kept whole, an English stop list that
keeps negations and intensifiers. Ridge penalty: the one with the lowest leave-one-out error on the training side."""
    if "hotels-open" not in tables:
        return text
    rows = [
        [f"{row.setting}: {row.value}", *(f"{x:.3f}" for x in (row.r2, row.rmse, row.train_r2, row.ridge_r2))]
        for row in tables["hotels-open"].itertuples()
    ]
    header = ["changed setting", "R2", "RMSE", "training R2", "ridge R2 on the same terms"]
    return f"""{text}

*Joint, as published* on split 0, K={N_TOPICS}, alpha={ALPHA:g}, with one of these settings changed (*start: seed 0*
is as above; *uniform*: numbers between 0 and 1, regardless of the scale of the text):

{table_of(header, rows)}"""


def _claims(plan: Plan, tables: Tables) -> list[Claim]:
    """Sections 4.1 to 4.3 of the paper, with appendices C and D."""
    claims = [*_data_claims(tables), *_table_claims(tables)]
    if "published" in plan.methods:
        claims += [*_search_claims(tables), *_topic_claims(tables)]
    return [*claims, *_trade_off_claims(plan, tables)]


def _data_claims(tables: Tables) -> list[Claim]:
    ratings, words = tables["hotels-ratings"], tables["hotels-words"]
    share = ratings[ratings["rating"] >= 4]["documents"].sum() / ratings["documents"].sum()
    first = words["word"].head(CLOUD_WORDS).tolist()
    lacking = [word for word in FREQUENT if word not in first]
    return [
        number_claim(
            "Section 4.1, Appendix C",
            "share of 4 and 5 stars",
            0.737,
            share,
            within=0.01,
            agreed="The sample has the paper's share, so numbers can be compared.",
            differed="The sample has another share, so the paper's numbers refer to different reviews.",
        ),
        statement_claim(
            "Appendix C",
            f"frequent words: {', '.join(FREQUENT)}",
            "by rank: " + ", ".join(f"{word} {first.index(word) + 1}" for word in FREQUENT if word in first),
            not lacking,
            agreed=f"All are among the {CLOUD_WORDS} words of the cloud; function words are excluded.",
            differed=f"Not among the {CLOUD_WORDS} words of the cloud: {', '.join(lacking)}.",
        ),
    ]


def _table_claims(tables: Tables) -> list[Claim]:
    """Table 1."""
    total = tables["hotels-ratings"]["documents"].sum()
    stated = f"The paper's sample of reviews is not known, so a difference of up to {NEAR:g} is accepted."
    if total < PAPER_DOCUMENTS:
        stated += f" This sample has {total:,} reviews, fewer than the paper's {PAPER_DOCUMENTS:,}."
    claims = []
    for value, unit, paper in (("r2", "R2", PAPER_R2), ("rmse", "RMSE", PAPER_RMSE)):
        ours = by_name(tables, value)
        for method, number in paper.items():
            at, reason = "", stated
            if method == "published":
                at, reason = f" at K={N_TOPICS}, alpha={ALPHA:g}", stated + _starts(tables)
            statement, values = f"{label(method)}{at}: test {unit}", ours.get(method, [])
            claims.append(number_claim(TABLE, statement, number, values, within=NEAR, agreed=reason, differed=reason))
    return claims


def _starts(tables: Tables) -> str:
    """Range of R2 of the published model over random starts."""
    if "hotels-open" not in tables:
        return ""
    starts = tables["hotels-open"].query("setting == 'start' and value != 'uniform'")["r2"]
    ends = f"{starts.min():.3f} and {starts.max():.3f}"
    return f" On split 0 alone, R2 lies between {ends} over {len(starts)} random starts."


def _search_claims(tables: Tables) -> list[Claim]:
    """Appendix D: points of the grid at which the published model is best on the test side."""
    search = tables["hotels-search"].query("method == 'published'")
    best = best_points(search, "r2")
    near = (best["n_topics"] - N_TOPICS).abs().le(1) & (best["alpha"] - ALPHA).abs().le(0.021)
    coarse = search[search["n_topics"].isin(COARSE)]
    along = coarse.groupby("n_topics")["r2"].mean()
    inside = (along.index >= MODERATE[0]) & (along.index <= MODERATE[1])
    level, others = along[inside].mean(), along[~inside]
    as_good = ", ".join(f"K={n_topics}" for n_topics in others.index[others >= level])
    return [
        statement_claim(
            SEARCH,
            "the best of the grid is at 14 topics and alpha 0.05",
            "by split: " + "; ".join(f"{row.n_topics}, {row.alpha:g}" for row in best.itertuples()),
            bool(near.mean() > 0.5),
            paper=f"{N_TOPICS}, {ALPHA:g}",
            agreed="On most splits the best is no further than one topic and 0.02 from it.",
            differed="Chosen on the test side, the best point varies with split and start." + _starts(tables),
        ),
        statement_claim(
            SEARCH,
            "performance is highest at moderate numbers of topics",
            "mean R2 " + ", ".join(f"{value:z.3f} (K={n_topics})" for n_topics, value in along.items()),
            not as_good,
            agreed=f"Every K outside {MODERATE[0]} to {MODERATE[1]} is below the mean inside, {level:.3f}.",
            differed=f"{as_good} performs as well as K from {MODERATE[0]} to {MODERATE[1]}, whose mean is {level:.3f}.",
        ),
        *_alpha_claims(coarse[coarse["n_topics"].between(*MODERATE)]),
    ]


def _alpha_claims(grid: pd.DataFrame) -> list[Claim]:
    """Comparison of the largest alpha with the paper's, fit by fit, and the spread at each alpha."""
    fits = grid.pivot(index=["seed", "n_topics"], columns="alpha", values="r2")
    change = fits[fits.columns.max()] - fits[ALPHA]
    at = f"K from {MODERATE[0]} to {MODERATE[1]}, all splits"
    little = " On average the change is less than 0.01." if abs(change.mean()) < 0.01 else ""
    weaker = statement_claim(
        SEARCH,
        "larger alpha often leads to weaker predictive performance",
        f"alpha {fits.columns.max():g} is below {ALPHA:g} in {(change < 0).sum()} of {len(change)} fits; "
        f"change of R2 {mean_and_spread(change)}",
        bool((change < 0).mean() > 0.5),
        agreed=f"In most fits, over {at}.{little}",
        differed=f"Not in most fits, over {at}.{little}",
    )
    less_stable, spread = "larger alpha is less stable", fits.std()
    if spread.isna().any():
        return [weaker, unchecked(SEARCH, less_stable, "", "One fit for each alpha has no spread.")]
    holds = bool(spread.iloc[-1] > spread[spread.index <= ALPHA].max())
    spreads = "standard deviation of R2 " + ", ".join(f"{sd:.3f} (alpha {alpha:g})" for alpha, sd in spread.items())
    reason = f"Over {at}." if holds else f"Not in this range of alpha, over {at}."
    return [weaker, statement_claim(SEARCH, less_stable, spreads, holds, agreed=reason, differed=reason)]


def _topic_claims(tables: Tables) -> list[Claim]:
    """Topics of the published model."""
    topics = tables["hotels-topics"].query("method == 'published'")
    return [
        _rankings_claim(topics),
        _themes_claim("negative", NEGATIVE_THEMES, topics, -1),
        _themes_claim("positive", POSITIVE_THEMES, topics, 1),
        unchecked(
            TOPICS,
            "the topics are recognisable aspects of hotel experience, and the interpretability is substantive",
            "",
            "A judgement for readers: the topics are listed below with their terms.",
        ),
    ]


def _rankings_claim(topics: pd.DataFrame) -> Claim:
    half = len(topics) // 2
    strong, common = (set(ranked(topics, column, half)["topic"]) for column in ("effect", "prevalence"))
    every = set(topics["topic"])
    weak = len(common - strong)
    rare = len((every - common) & strong)
    correlation = spearmanr(topics["effect"].abs(), topics["prevalence"]).statistic
    spread = topics["weight"].max() / topics["weight"].min()
    return statement_claim(
        TOPICS,
        "the two rankings differ: there are common but weak and rare but strong topics",
        f"rank correlation {correlation:.2f}; {weak} common but weak, {rare} rare but strong of {len(topics)}",
        weak > 0 and rare > 0,
        agreed="Common and strong: in the upper half by prevalence and by size of effect. We rank on one scale for all "
        f"topics: the paper's own sum of W_ik hardly differs between topics (at most by a factor of {spread:.2f}), "
        "because with gamma = 400 weights stay near their random start and H absorbs the scale of a topic.",
        differed="The topics in the upper half by prevalence are those in the upper half by size of effect.",
    )


def _themes_claim(which: str, themes: Mapping[str, str], topics: pd.DataFrame, sign: int) -> Claim:
    """A theme is present if its words are a larger share of the leading terms of topics of this sign than of others."""
    same, others = (topics[topics["effect"] * side > 0]["terms"].str.split().explode() for side in (sign, -sign))
    present = [
        name for name, words in themes.items() if same.isin(words.split()).mean() > others.isin(words.split()).mean()
    ]
    lacking = ", ".join(name for name in themes if name not in present)
    return statement_claim(
        TOPICS,
        f"the most {which} topics concern {', '.join(themes)}",
        f"{len(present)} of {len(themes)}: {', '.join(present)}",
        3 * len(present) >= 2 * len(themes),
        agreed="Words of a theme have a larger share of the leading terms of topics with this sign than of the others."
        + (f" Exceptions: {lacking}." if lacking else ""),
        differed=f"Words of these have no larger share of the leading terms of topics with this sign: {lacking}.",
    )


def _trade_off_claims(plan: Plan, tables: Tables) -> list[Claim]:
    ours, claims = by_name(tables, "r2"), []
    if "published" in plan.methods:
        below = ours[["linear", "ridge"]].max(axis=1) - ours["published"]
        claims.append(
            statement_claim(
                TABLE,
                "slightly below the best word-level baseline, but close",
                f"{mean_and_spread(below)} of R2 below",
                bool(0 < below.mean() <= NEAR),
                paper="0.018",
                agreed=f"Close: no more than {NEAR:g} of R2.",
                differed=f"Close is taken as at most {NEAR:g} of R2." + _starts(tables),
            )
        )
    where, loss = "Sections 4.3 and 5", "topics cost a modest loss of prediction"
    if "predictive" not in plan.methods:
        return [*claims, unchecked(where, loss, "", "The method concerned was not run.")]
    gain, more = ours["predictive"] - ours["ridge"], ours["predictive-2000"] - ours["ridge-2000"]
    claim = statement_claim(
        where,
        loss,
        f"predictive training {mean_and_spread(gain)} of R2 above ridge; with 2,000 terms each {mean_and_spread(more)}",
        bool(gain.mean() < 0),
        agreed="Predictive training does not make up for it here.",
        differed=f"A cost of joint training, not of topics: {N_TOPICS} topics learnt so that weights follow "
        "from the text alone predict better than ridge regression on the same terms. Part of the lead comes from using "
        "counts in rows of norm 1 instead of TF-IDF; the study of length compares it with ridge on the same rows.",
    )
    return [*claims, claim]


HOTELS = Study(
    name="hotels",
    title="Hotel reviews",
    needs=(ROLE,),
    seeds=3,
    quick_seeds=1,
    stages=(_coarse_cells, _dense_cells),
    figures=_figures,
    section=_section,
    claims=_claims,
)
