"""What the paper claims from its main sample of hotel reviews, beside what we find."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from scipy.stats import spearmanr

from textsignal.studies.claims import Claim, mean_and_spread, number_claim, statement_claim, unchecked
from textsignal.studies.hotels.results import CLOUD_WORDS, COARSE, PAPER_R2, PAPER_RMSE, best_points, by_name, ranked
from textsignal.studies.methods import ALPHA, N_TOPICS, label
from textsignal.studies.study import Plan, Tables

#: The paper's reviews are not known: numbers this near to its own count as the same, and a method that is no further
#: below another is slightly below it.
NEAR = 0.05
PAPER_DOCUMENTS = 10_000
#: Numbers of topics that count as moderate in a search over 2 to 30.
MODERATE = (8, 20)
#: Words that stand for what the paper reads in its topics, by their sign.
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
NOT_RUN = "The method that it speaks of was not run."


def claims(plan: Plan, tables: Tables) -> list[Claim]:
    """Sections 4.1 to 4.3 of the paper, with appendices C and D."""
    found = [*_data_claims(tables), *_table_claims(tables)]
    if "published" in plan.methods:
        found += [*_search_claims(tables), *_topic_claims(tables)]
    return [*found, *_trade_off_claims(plan, tables)]


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
            agreed="A sample with the paper's margin, so that numbers can be compared.",
            differed="A sample with another margin, so that the paper's numbers hold for other reviews than these.",
        ),
        statement_claim(
            "Appendix C",
            f"frequent words: {', '.join(FREQUENT)}",
            "by rank: " + ", ".join(f"{word} {first.index(word) + 1}" for word in FREQUENT if word in first),
            not lacking,
            agreed=f"All are among the {CLOUD_WORDS} words of the cloud; function words are left out.",
            differed=f"Not among the {CLOUD_WORDS} words of the cloud: {', '.join(lacking)}.",
        ),
    ]


def _table_claims(tables: Tables) -> list[Claim]:
    found = []
    for value, unit, paper in (("r2", "R2", PAPER_R2), ("rmse", "RMSE", PAPER_RMSE)):
        ours = by_name(tables, value)
        for method, number in paper.items():
            values = ours.get(method, [])
            at = f" at K={N_TOPICS}, alpha={ALPHA:g}" if method == "published" else ""
            reason = _stated(tables) + (_starts(tables) if method == "published" else "")
            statement = f"{label(method)}{at}: test {unit}"
            found.append(number_claim(TABLE, statement, number, values, within=NEAR, agreed=reason, differed=reason))
    return found


def _stated(tables: Tables) -> str:
    """How numbers are compared with the paper's."""
    total = tables["hotels-ratings"]["documents"].sum()
    fewer = (
        "" if total >= PAPER_DOCUMENTS else f" Here are {total:,} reviews, fewer than the paper's {PAPER_DOCUMENTS:,}."
    )
    return f"The paper's draw of reviews is not known, so a difference of up to {NEAR:g} counts as none.{fewer}"


def _starts(tables: Tables) -> str:
    """How far the published model depends on its start."""
    if "hotels-open" not in tables:
        return ""
    starts = tables["hotels-open"].query("setting == 'start' and value != 'uniform'")["r2"]
    ends = f"{starts.min():.3f} and {starts.max():.3f}"
    return f" On split 0 alone, R2 lies between {ends} over {len(starts)} random starts."


def _search_claims(tables: Tables) -> list[Claim]:
    """Where the published model is best on the grid, by its R2 on the test side."""
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
            differed="Chosen on the test side, the best point moves with split and start." + _starts(tables),
        ),
        statement_claim(
            SEARCH,
            "performance is highest at moderate numbers of topics",
            "mean R2 " + ", ".join(f"{value:z.3f} (K={n_topics})" for n_topics, value in along.items()),
            not as_good,
            agreed=f"Every K outside {MODERATE[0]} to {MODERATE[1]} is below the mean inside, {level:.3f}.",
            differed=f"{as_good} does as well as K from {MODERATE[0]} to {MODERATE[1]}, whose mean is {level:.3f}.",
        ),
        *_alpha_claims(coarse[coarse["n_topics"].between(*MODERATE)]),
    ]


def _alpha_claims(grid: pd.DataFrame) -> list[Claim]:
    """The largest alpha against the paper's choice, fit by fit, and the spread at each alpha."""
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
    reason = f"Over {at}." if holds else f"It is not within this range, over {at}."
    return [weaker, statement_claim(SEARCH, less_stable, spreads, holds, agreed=reason, differed=reason)]


def _topic_claims(tables: Tables) -> list[Claim]:
    """What the published model's topics say."""
    topics = tables["hotels-topics"].query("method == 'published'")
    return [
        _rankings_claim(topics),
        _themes_claim("negative", NEGATIVE_THEMES, topics, -1),
        _themes_claim("positive", POSITIVE_THEMES, topics, 1),
        unchecked(
            TOPICS,
            "the topics are recognisable aspects of hotel experience, and the interpretability is substantive",
            "",
            "A judgement that readers make: the topics stand below, with their terms.",
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
        "since with gamma = 400 weights stay near their random start and a topic's scale goes into H.",
        differed="The topics in the upper half by prevalence are those in the upper half by size of effect.",
    )


def _themes_claim(which: str, themes: Mapping[str, str], topics: pd.DataFrame, sign: int) -> Claim:
    """Whether words of each theme are a larger share of the leading terms of topics of that sign than of others."""
    mine, others = (topics[topics["effect"] * side > 0]["terms"].str.split().explode() for side in (sign, -sign))
    there = [
        name for name, words in themes.items() if mine.isin(words.split()).mean() > others.isin(words.split()).mean()
    ]
    lacking = ", ".join(name for name in themes if name not in there)
    return statement_claim(
        TOPICS,
        f"the most {which} topics speak of {', '.join(themes)}",
        f"{len(there)} of {len(themes)}: {', '.join(there)}",
        3 * len(there) >= 2 * len(themes),
        agreed="Words of a theme have a larger share of the leading terms of topics with this sign than of the others."
        + (f" Not so: {lacking}." if lacking else ""),
        differed=f"Words of these have no larger share of the leading terms of topics with this sign: {lacking}.",
    )


def _trade_off_claims(plan: Plan, tables: Tables) -> list[Claim]:
    ours = by_name(tables, "r2")
    close, loss = "slightly below the best word-level baseline, but close", "topics cost a modest loss of prediction"
    found = []
    if "published" in plan.methods:
        below = ours[["linear", "ridge"]].max(axis=1) - ours["published"]
        found.append(
            statement_claim(
                TABLE,
                close,
                f"{mean_and_spread(below)} of R2 below",
                bool(0 < below.mean() <= NEAR),
                paper="0.018",
                agreed=f"Close: no more than {NEAR:g} of R2.",
                differed=f"Close would be no more than {NEAR:g} of R2." + _starts(tables),
            )
        )
    if "predictive" not in plan.methods:
        return [*found, unchecked("Sections 4.3 and 5", loss, "", NOT_RUN)]
    gain, more = ours["predictive"] - ours["ridge"], ours["predictive-2000"] - ours["ridge-2000"]
    claim = statement_claim(
        "Sections 4.3 and 5",
        loss,
        f"predictive training {mean_and_spread(gain)} of R2 above ridge; with 2,000 terms each {mean_and_spread(more)}",
        bool(gain.mean() < 0),
        agreed="Predictive training does not make up for it here.",
        differed=f"A cost of joint training, not of topics: {N_TOPICS} topics that are learnt so that the text alone "
        "gives the weights predict better than ridge regression on the same terms. Part of the lead comes from reading "
        "counts in rows of norm 1, and not TF-IDF; the study of length sets ridge beside it on the same rows.",
    )
    return [*found, claim]
