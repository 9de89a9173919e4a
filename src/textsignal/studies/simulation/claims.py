"""What the paper claims from its simulation, beside what we find."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from textsignal.studies.claims import Claim, mean_and_spread, number_claim, statement_claim, unchecked
from textsignal.studies.methods import chosen, label
from textsignal.studies.study import Plan, Tables

TRUE_TOPICS = 5
#: A draw whose mean predictor has an RMSE this near to the paper's is like it.
LIKE = 0.1
#: Numbers no further apart than this agree.
WITHIN = 0.05
WORD_LEVEL = ("linear", "ridge")
#: What the paper found, on a draw of effects that it does not give.
PAPER_R2 = {"mean": 0.000, "linear": -0.139, "ridge": -0.001, "published": 0.704}
PAPER_RMSE = {"mean": 1.461, "linear": 1.559, "ridge": 1.461, "published": 0.795}


def like_paper(tables: Tables) -> int:
    """The seed whose mean predictor has the RMSE nearest to the paper's."""
    means = tables["simulation-methods"].query("method == 'mean'").set_index("seed")["rmse"]
    return int((means - PAPER_RMSE["mean"]).abs().idxmin())


def ceiling_like_paper(tables: Tables) -> float:
    """That draw's ceiling."""
    methods = tables["simulation-methods"]
    return float(methods[methods["seed"] == like_paper(tables)]["ceiling"].iloc[0])


def draw_claim(tables: Tables) -> Callable[[str, str, float, ArrayLike, float, str, str], Claim]:
    """How numbers of the paper's draw are compared: with ours, where one of our draws spreads like it."""
    means = tables["simulation-methods"].query("method == 'mean'")["rmse"]
    like = bool((means - PAPER_RMSE["mean"]).abs().min() <= LIKE)

    def compared(
        where: str, statement: str, paper: float, ours: ArrayLike, within: float, agreed: str, differed: str
    ) -> Claim:
        if like:
            return number_claim(where, statement, paper, ours, within=within, agreed=agreed, differed=differed)
        reason = f"The paper's draw is not given, and no draw here spreads like it (RMSE of the mean within {LIKE:g})."
        return unchecked(where, statement, f"{paper:.3f}", reason)

    return compared


def claims(plan: Plan, tables: Tables) -> list[Claim]:
    """Section 3 of the paper."""
    found = _comparison_claims(tables)
    if "published" in plan.methods:
        found += [*_conclusions(tables), *_sensitivity_claims(tables), *_patterns(tables)]
    return found


def _comparison_claims(tables: Tables) -> list[Claim]:
    """Figure 3: every method's R2 and RMSE."""
    methods = tables["simulation-methods"]
    seed, number, found = like_paper(tables), draw_claim(tables), []
    for method in chosen(methods["method"].unique().tolist(), list(PAPER_R2)):
        here = methods[(methods["method"] == method) & (methods["seed"] == seed)]
        reason = _reason(tables, method)
        for value, name, paper in (("r2", "R2", PAPER_R2), ("rmse", "RMSE", PAPER_RMSE)):
            statement = f"{label(method)}: test {name} (draw {seed})"
            within = LIKE if method == "mean" else WITHIN
            found.append(number("Section 3.4, Figure 3", statement, paper[method], here[value], within, reason, reason))
    return found


def _reason(tables: Tables, method: str) -> str:
    """What explains a method's numbers."""
    methods, mixed = tables["simulation-methods"], tables["simulation-scrambled"]
    share = mean_and_spread(methods[methods["method"] == method]["share"])
    if method in WORD_LEVEL:
        scrambled = mean_and_spread(mixed[mixed["method"] == method]["r2"])
        return (
            f"Terms carry the topics' signal: {share} of the ceiling over all draws. The paper's number is what comes "
            f"out where ratings stand beside other documents' texts ({scrambled})."
        )
    if method == "mean":
        return "A matter of the draw."
    adaptive = methods[(methods["method"] == "joint") & (methods["seed"] == like_paper(tables))]["r2"]
    return (
        f"The draw's ceiling is {ceiling_like_paper(tables):.3f}; over all draws {share} of it, since a random start "
        f"may leave two true topics in one. *Joint, adaptive* has {mean_and_spread(adaptive)} on this draw."
    )


def _conclusions(tables: Tables) -> list[Claim]:
    """What the paper concludes from Figure 3."""
    methods = tables["simulation-methods"]
    share = methods.pivot(index="seed", columns="method", values="share")
    best = share[list(WORD_LEVEL)].max(axis=1)
    shares = f"published {mean_and_spread(share['published'])}, ridge {mean_and_spread(share['ridge'])} of the ceiling"
    ahead = share["published"] > best
    found, adaptive = (methods[methods["method"] == method] for method in ("published", "joint"))
    return [
        statement_claim(
            "Section 3.4",
            "word-level regression is structurally mismatched and fails where topics drive the rating",
            shares,
            bool((best < 0.5).mean() > 0.5),
            differed="Topic proportions are nearly linear in word counts, so ridge comes close to the ceiling.",
        ),
        statement_claim(
            "Section 3.4",
            "a joint topic-rating model uses the latent structure more effectively than word-level regression",
            f"ahead of ridge on {ahead.sum()} of {len(ahead)} draws; {shares}",
            bool(ahead.mean() > 0.5),
            agreed=f"By a few hundredths of the ceiling. *Joint, adaptive* has {mean_and_spread(share['joint'])}.",
            differed="Not on most draws.",
        ),
        statement_claim(
            "Section 3.1",
            "the model recovers rating-relevant latent structure",
            f"cosine of topics {mean_and_spread(found['cosine'])}, signs right {found['signs'].mean():.0%}",
            bool(found["cosine"].mean() > 0.9 and found["signs"].mean() > 0.9),
            differed=f"A random start may leave two true topics in one. *Joint, adaptive*: cosine "
            f"{mean_and_spread(adaptive['cosine'])}, signs right {adaptive['signs'].mean():.0%}.",
        ),
    ]


def _sensitivity_claims(tables: Tables) -> list[Claim]:
    """Figure 2: numbers at K = 2, 5 and 6."""
    table = tables["simulation-sensitivity"]
    seed, number, where = like_paper(tables), draw_claim(tables), "Section 3.3, Figure 2"
    here = table[(table["method"] == "published") & (table["seed"] == seed)].set_index(["n_topics", "alpha"])
    few = "Which themes two topics tell apart, and so what they predict, depends on the draw and the start."
    start = "Depends on start and learning rate, which the paper leaves open (table in the section)."
    wanted = [
        ("R2 at K=5", 0.704, here["r2"][TRUE_TOPICS].mean(), _reason(tables, "published")),
        ("RMSE at K=5", 0.795, here["rmse"][TRUE_TOPICS].mean(), _reason(tables, "published")),
        ("R2 at K=2", 0.046, here["r2"][2].mean(), few),
        ("RMSE at K=2", 1.427, here["rmse"][2].mean(), few),
        ("R2 at K=6, alpha=0.01", 0.533, here["r2"][6, 0.01], start),
        ("RMSE at K=6, alpha=0.01", 0.998, here["rmse"][6, 0.01], start),
        ("R2 at K=6, alpha=0.1", 0.196, here["r2"][6, 0.1], start),
        ("RMSE at K=6, alpha=0.1", 1.310, here["rmse"][6, 0.1], start),
    ]
    return [
        number(where, f"{statement} (draw {seed})", paper, [ours], WITHIN, reason, reason)
        for statement, paper, ours, reason in wanted
    ]


def _patterns(tables: Tables) -> list[Claim]:
    """What the paper sees in Figure 2."""
    table, where = tables["simulation-sensitivity"], "Section 3.3, Figure 2"
    ours, adaptive = (table[table["method"] == method] for method in ("published", "joint"))
    spans = ours[ours["n_topics"] == TRUE_TOPICS].groupby("seed")["r2"].agg(lambda r2: r2.max() - r2.min())
    by_topics, steady = (part.groupby("n_topics")["share"].mean() for part in (ours, adaptive))
    falls = []
    for part in (ours, adaptive):
        over = part[part["n_topics"] > TRUE_TOPICS]
        grid = over.pivot_table(index=["seed", "n_topics"], columns="alpha", values="share")
        falls.append(grid[grid.columns.min()] - grid[grid.columns.max()])
    above = steady[steady.index > TRUE_TOPICS].min()
    kept = f"*Joint, adaptive* has {steady[TRUE_TOPICS]:.3f} at K=5 and at least {above:.3f} above."
    return [
        statement_claim(
            where,
            "performance is best at the true number of topics, K=5",
            f"K={by_topics.idxmax()} has {by_topics.max():.3f} of the ceiling, K=5 {by_topics[TRUE_TOPICS]:.3f}",
            bool(by_topics.max() - by_topics[TRUE_TOPICS] < 0.005),
            agreed=kept,
            differed=f"From a random start, spare topics find what five missed. {kept}",
        ),
        statement_claim(
            where,
            "little variation across alpha at K=5",
            f"R2 spans {spans.max():.3f} at most",
            bool(spans.max() < 0.02),
            differed="On some draws alpha matters.",
        ),
        statement_claim(
            where,
            "too few topics perform poorly at every alpha",
            f"K=2 has {by_topics[2]:.3f} of the ceiling",
            bool(by_topics[2] < 0.5),
            agreed="Not so with predictive training, which chooses what few topics tell apart (figure in the section).",
            differed="Not on these draws.",
        ),
        statement_claim(
            where,
            "models with too many topics deteriorate under larger alpha",
            f"R2 / ceiling falls by {mean_and_spread(falls[0])} from the smallest to the largest alpha, K > 5",
            bool(falls[0].mean() > 0.05),
            agreed=f"*Joint, adaptive* falls by {mean_and_spread(falls[1])}.",
            differed=f"There is a small fall; *joint, adaptive*: {mean_and_spread(falls[1])}. Its size depends "
            "on start and learning rate, which the paper leaves open (table in the section).",
        ),
    ]
