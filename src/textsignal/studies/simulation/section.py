"""What the page says about the simulation."""

from __future__ import annotations

from textsignal.studies.claims import mean_and_spread
from textsignal.studies.methods import label
from textsignal.studies.page import table_of
from textsignal.studies.simulation.claims import PAPER_R2, ceiling_like_paper, like_paper
from textsignal.studies.study import Plan, Tables


def section(plan: Plan, tables: Tables) -> str:
    """What was done and found."""
    methods, scrambled = tables["simulation-methods"], tables["simulation-scrambled"]
    ceilings = methods.drop_duplicates("seed")["ceiling"]
    rows = []
    for name, group in methods.groupby("method", sort=False):
        recovered = [
            mean_and_spread(group[column]) if column in group and group[column].notna().all() else ""
            for column in ("cosine", "signs", "effects")
        ]
        rows.append(
            [label(str(name)), *(mean_and_spread(group[value]) for value in ("r2", "rmse", "share")), *recovered]
        )
    mixed = [
        [
            f"{label(str(name))}, ratings beside other texts",
            mean_and_spread(group["r2"]),
            mean_and_spread(group["rmse"]),
        ]
        for name, group in scrambled.groupby("method", sort=False)
    ]
    header = ["method", "R2", "RMSE", "R2 / ceiling", "cosine of topics", "signs right", "correlation of effects"]
    return f"""
{plan.seeds} draws of the appendix' process (seeds 0 to {plan.seeds - 1}; 5,000 documents, 2,000 terms, 5 topics), 80/20
split, word counts as X. The draw of the effects decides how much can be predicted at all: the R2 of the *true* expected
ratings, the ceiling, lies between {ceilings.min():.2f} and {ceilings.max():.2f} here (mean {ceilings.mean():.2f}). The
paper shows one draw and does not give its effects, so its numbers stand beside our draw whose ratings spread most like
its own (standard deviation 1.461): seed {like_paper(tables)}, ceiling {ceiling_like_paper(tables):.3f}.

### Methods at the true number of topics

{table_of(header, rows)}

Black lines mark the paper's numbers.

{{figure:methods}}

Word-level regression where the ratings of the training side are moved to other documents, on 500 terms chosen as in
the paper (compare the paper's linear {PAPER_R2["linear"]:.3f} and ridge {PAPER_R2["ridge"]:.3f}):

{table_of(["method", "R2", "RMSE"], mixed)}

### Sensitivity to the number of topics and alpha

A frame marks the best field.

{{figure:sensitivity}}

As a share of the ceiling, with a band of one standard deviation over draws; joint training at the largest alpha:

{{figure:topics}}

{_open_settings(tables)}
"""


def _open_settings(tables: Tables) -> str:
    """What the paper leaves open, and how far the result depends on it."""
    text = """### What the paper leaves open

Start: random, on the scale of the text, for *joint, as published*; singular vectors for *joint, adaptive*. Learning
rate: the longest that is safe for the data at hand. Ridge penalty: the one of least leave-one-out error on the training
side. Representation: word counts."""
    if "simulation-open" not in tables:
        return text
    table = tables["simulation-open"]
    topics = table["n_topics"].unique()
    settings = [(k, alpha) for k in topics for alpha in sorted(table["alpha"].unique())]
    shares = table.set_index(["n_topics", "alpha"]).groupby(["start", "learning_rate"], sort=False)["share"]
    rows = [
        [f"{start}, {rate}", *(f"{group.loc[setting].mean():.3f}" for setting in settings)]
        for (start, rate), group in shares
    ]
    header = ["start, learning rate", *(f"K={k}, alpha={alpha:g}" for k, alpha in settings)]
    n_draws = table["seed"].nunique()
    return f"""{text} *Joint, as published* with other choices, as a share of the ceiling, mean over draws ({n_draws}).
*Scaled*: random numbers on the scale of the text, *uniform*: between 0 and 1; *safe*: the longest step that is safe.

{table_of(header, rows)}"""
