"""docs/inference.md from finished cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from textsignal.datasets.synthetic import ASPECTS_EACH, CHANCES, MOOD_SD, OPINION_ASPECTS, OPINIONS_INTERCEPT

Line = tuple[str, int, dict[str, Any]]
METHODS = {"crossfit": "default", "bootstrap": "bootstrap", "plugin": "plug-in"}
SETS = {"hotel_reviews_10k": "hotels", "short_reviews_10k": "fast food", "simulated": "simulated"}
#: Draws of what reviews speak of and how, without their texts, by which true costs and gains are known.
DRAWS, BLOCKS = 200_000, 20


INTRO = """# Valid intervals

```python
effects = model.estimate_effects()  # or textsignal effects MODEL reviews.csv --text Review --response Rating
effects.to_frame()  # theme, quantity, estimate, std_error, low, high, p_value, p_holm
effects.summary()
ts.plots.intervals(effects, "cost")
model.estimate_effects(by=hotels)  # of each group, and its difference to the others
model.estimate_effects(groups=hotels)  # reviews of one hotel depend on each other: cluster-robust
model.estimate_effects(method="bootstrap")  # or "plugin": conditional on the themes, too narrow
model.drivers(interval=0.95)  # intervals next to cost and gain
```

## How it works
1. **Tone from a fit that has not seen the response.** The GLM on themes (level 2) reads every text by tone from a fit
   that excluded the text. It is then refitted without shrinkage, with a constant for each fold, because a shrunken
   estimate has no valid interval. Estimates therefore differ slightly from those of `drivers()`, which are shrunk and
   predict better.
2. **Influence functions.** Each quantity (cost, gain, mentions, tone, speaking, gamma) is a mean over texts. Its
   variance follows from the influence of each text, both directly and through the coefficients (HC2). Summing
   influences over groups first gives the cluster-robust variance. Cost keeps the set of texts with complaints fixed and
   may be negative, so that without an effect it falls below 0 as often as above.
3. **Halves measure what the formula ignores.** Tone was learnt from responses too, and folds learn from each other:
   without an effect the formula's z has a standard deviation of 1.1 to 1.2, and with strong effects its standard errors
   are three quarters of the true ones. So texts (or whole groups) are split into two halves eight times, each half
   learns tone separately, and the squared differences of their estimates are compared with those that the two formulas
   predict. Variances are multiplied by the mean ratio over themes and splits, one factor per kind of quantity, ≥ 1.
   Halves also measure bias: cost and gain are too small if tone is estimated imprecisely, by an amount that decreases
   as n^(-2/3) in simulations. The remaining bias is therefore the difference between the estimate from all texts and
   those from halves, divided by 2^(2/3) - 1. In units of the standard error it is similar for all themes; its mean is
   added. If gammas are not distinguishable from noise (root mean square of z below 3), nothing is added.
4. **Bootstrap** resamples texts (or whole groups) with replacement, updates themes from their fitted values, assigns
   sentences to themes and refits level 2. Standard errors are the spread of the refits, widened by step 3. (Percentiles
   of the refits are not used: refits spread more on the side away from 0, and their 2.5% and 97.5% percentiles enclose
   the truth in only 92% of cases with 20 themes and no effect.)
5. **Many themes at once:** `p_holm` (Holm) is valid for all themes of one quantity jointly; each interval is for a
   single theme.

Intervals refer to the themes of the model: `model.stability()` measures whether these themes are reproduced.
"""


def page(lines: Sequence[Line]) -> str:
    """The page, of what is finished."""
    parts = [INTRO, _null(lines), _truth(lines), _groups(lines), _real(lines), _time(lines), CLOSING]
    return "\n".join(part for part in parts if part)


def _cells(lines: Iterable[Line], name: str) -> list[dict[str, Any]]:
    return [found for setting, _, found in lines if setting == name]


def _null(lines: Sequence[Line]) -> str:
    rows = []
    for name, title in SETS.items():
        for n_themes in (5, 20):
            cells = _cells(lines, f"null {name}, {n_themes} themes")
            for method, called in METHODS.items():
                if cells:
                    sums = {q: np.sum([cell[method][q] for cell in cells], axis=0) for q in cells[0][method]}
                    shares = [f"{beyond / n:.3f}" for n, beyond, _ in sums.values()]
                    covered = [f"{1 - outside / n:.3f}" for n, _, outside in list(sums.values())[:2]]
                    rows.append([title, n_themes, len(cells), called, *shares, *covered])
    if not rows:
        return ""
    head = ["texts", "themes", "replicates", "method", "cost", "gain", "gamma", "tone", "speaking"]
    return "\n".join(
        [
            "## No effect",
            "Ratings are permuted, so they are unrelated to the texts. Nine in ten replicates have 400 texts, the",
            "others 2,000. Columns are the share of |z| above 1.96 (nominal .05) and the coverage of 95% intervals.",
            "",
            _table([*head, "covers cost", "covers gain"], rows),
            "",
            "Tone of mentions is a product of two numbers that are both close to 0 here, so it is rarely significant.",
            "",
        ]
    )


def true_values() -> dict[str, np.ndarray]:
    """Cost and gain of each aspect of `synthetic_reviews(opinions=True)`."""
    effects = np.array([aspect.effect for aspect in OPINION_ASPECTS])
    odds = np.array([aspect.share / (1 - aspect.share) for aspect in OPINION_ASPECTS])
    rng, sums = np.random.default_rng(0), np.zeros((2, len(effects)))
    for _ in range(BLOCKS):
        rank = rng.exponential(1 / odds, (DRAWS, len(effects))).argsort(axis=1).argsort(axis=1)
        tones = rng.choice([-1, 0, 1], rank.shape, p=CHANCES) * (rank < ASPECTS_EACH)
        eta = OPINIONS_INTERCEPT + tones @ effects + rng.normal(0, MOOD_SD, DRAWS)
        for side, tone in enumerate((-1, 1)):
            moved = expit(eta[:, None] - effects * np.where(tones == tone, tone, 0))
            sums[side] += 4 * np.abs(moved - expit(eta)[:, None]).mean(axis=0) / BLOCKS
    return {"cost": sums[0], "gain": sums[1]}


def _truth(lines: Sequence[Line]) -> str:
    truths = true_values()
    tables = []
    for n in (2000, 400):
        cells = _cells(lines, f"truth {n}")
        if not cells:
            continue
        rows = []
        oracle = np.array([cell["oracle"] for cell in cells])
        for name, truth in truths.items():
            found = np.array([cell[name] for cell in cells])
            estimate, error, low, high, p = np.moveaxis(found, 2, 0)
            bias = (estimate.mean(axis=0) - truth) / error.mean(axis=0)
            covered = (low < truth) & (truth < high)
            for a, aspect in enumerate(OPINION_ASPECTS):
                power = f"{np.mean(p[:, a] < 0.05):.2f}"
                of_oracle = f"{np.mean(np.abs(oracle[:, a, 0] / oracle[:, a, 1]) > 1.96):.2f}" if name == "cost" else ""
                size = f"{oracle[:, a, 1].mean():.4f}" if name == "cost" else ""
                spread = [estimate[:, a].mean(), estimate[:, a].std(), error[:, a].mean()]
                rows.append(
                    [
                        name,
                        aspect.name,
                        f"{truth[a]:.3f}",
                        *(f"{x:.4f}" for x in spread),
                        f"{bias[a]:+.2f}",
                        f"{covered[:, a].mean():.3f}",
                        power,
                        of_oracle,
                        size,
                    ]
                )
            spread = [estimate.mean(), estimate.std(axis=0).mean(), error.mean()]
            rows.append(
                [
                    f"**{name}**",
                    "**all**",
                    f"{truth.mean():.3f}",
                    *(f"{x:.4f}" for x in spread),
                    f"**{bias.mean():+.2f}**",
                    f"**{covered.mean():.3f}**",
                    f"{np.mean(p < 0.05):.2f}",
                    "",
                    "",
                ]
            )
        head = ["quantity", "aspect", "truth", "mean estimate", "its sd", "mean error", "bias / error", "coverage"]
        tables += [
            f"{n:,} reviews, {len(cells)} replicates:",
            "",
            _table([*head, "power", "oracle's power", "oracle's error"], rows),
            "",
        ]
    if not tables:
        return ""
    return "\n".join(
        [
            "## A known truth",
            "`synthetic_reviews(opinions=True)`: each review praises, criticises or mentions three of eight aspects.",
            "Nine themes are learnt (words without judgement form one) and matched to aspects; coverage of 95%",
            "intervals and power at .05 follow. The oracle is the GLM on the true tones, unknown in practice.",
            "",
            *tables,
        ]
    )


def _groups(lines: Sequence[Line]) -> str:
    cells = _cells(lines, "groups")
    if not cells:
        return ""
    truth = np.mean([cell["truth"] for cell in cells], axis=0)
    rows = []
    for method in ("plain", "clustered"):
        estimate, error, low, high, _ = np.moveaxis(np.array([cell[method] for cell in cells]), 2, 0)
        covered = ((low < truth) & (truth < high)).mean()
        ratio = (error.mean(axis=0) / estimate.std(axis=0)).mean()
        rows.append([method, f"{covered:.3f}", f"{ratio:.2f}"])
    return "\n".join(
        [
            "## Groups",
            f"4,000 reviews of 40 hotels, {len(cells)} replicates. Hotels differ in tone, and in",
            "their ratings (standard deviation .65 on the logit) for reasons absent from the texts. Costs:",
            "",
            _table(["errors", "coverage", "error / true spread"], rows),
            "",
        ]
    )


def _real(lines: Sequence[Line]) -> str:
    halves, aspects = _cells(lines, "halves"), _cells(lines, "aspects")
    said = []
    if halves:
        one, error, other = (np.array([cell[name] for cell in halves]) for name in ("one", "error", "other"))
        inside = np.abs(one - other) <= 1.96 * np.sqrt(2) * error
        said += [
            f"**Halves of hotel_reviews_10k** ({len(halves)} cuts, {one.shape[1]} themes of the first; each learns",
            "tone on its own): the second half's cost lies in the 95% prediction interval from the first (estimate",
            f"± 1.96 √2 standard errors) for **{inside.mean():.1%}** of themes.",
            "",
        ]
    if aspects:
        rows = [[aspect, *of[:2], f"{of[2]:.2f}", f"{of[3]:.2f} to {of[4]:.2f}"] for aspect, of in aspects[0].items()]
        said += [
            "**hotel_aspect_ratings_6k**, themes and tone from overall ratings only: correlation of the mean tone of",
            "a theme's mentions with the same guests' mean rating of an aspect, over hotels with five such reviews.",
            "The theme is chosen on one half of the hotels (partial correlation given the overall rating); the rank",
            "correlation is computed on the other half, with a bootstrap interval over hotels:",
            "",
            _table(["guests' aspect", "theme", "hotels", "Spearman", "95%"], rows),
            "",
        ]
    return "\n".join(["## Real reviews", *said]) if said else ""


def _time(lines: Sequence[Line]) -> str:
    cells = _cells(lines, "time")
    if not cells:
        return ""
    found = cells[-1]
    fit = found["fit"]
    return "\n".join(
        [
            "## Time",
            f"hotel_reviews_10k, 14 themes, two cores: one fit {fit:.1f} s; `drivers(interval=.95)` "
            f"{found['drivers']:.1f} s, **{found['drivers'] / fit:.1f}** fits; 200 bootstrap refits "
            f"{found['bootstrap']:.1f} s, **{found['bootstrap'] / fit:.1f}** fits.",
            "",
        ]
    )


CLOSING = """## Limitations
- Intervals describe associations in texts like these. A cost is a what-if on the model, not the effect of a repair.
- Tone is learnt relative to the length of a text, and its zero is where the effects of words add up to nothing. If
  reviews differ strongly in their number of aspects, or ratings pile up at one end, simulated costs and gains are up to
  a tenth too small, or one is too small and the other too large. `synthetic_reviews(opinions=True)` has three aspects
  in every review and ratings around 3; that design was chosen after seeing this bias in others.
- On real reviews the mean cost hardly depends on the number of texts that tone was learnt from (hotels: .059 with 625
  texts, .060 with 10,000), so shrinkage of tone explains little of the bias there.
- With 400 texts and eight strong themes intervals cover 87%: halves of 200 texts are too small to measure the error of
  tone. Rely on intervals from about 2,000 texts on; without an effect they are valid with 400 too.
- The factor of step 3 is shared by all themes of a model; a theme whose tone depends on words that only it uses may
  need a larger one.

`make inference` computes all of this (about two hours on two cores) and writes this page.
"""


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
