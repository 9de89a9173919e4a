"""Checks of a model and its data: skill, calibration, dispersion, residuals, duplicates, leakage and influence.

Every measure has a limit: the larger of what chance gives, as a rule in responses drawn from the model itself, and of
what is too small to matter. With enough texts everything is significant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from textsignal.arrays import Rows, Vector
from textsignal.compute.engines.local import local_compute
from textsignal.errors import InputError
from textsignal.evaluation.metrics import calibration_table, overfit_warning, pit_shares, r2_score
from textsignal.families import Family
from textsignal.families.auto import candidates
from textsignal.insight.naming import Naming
from textsignal.reading.mentions import Mentions
from textsignal.reading.themes import Reading, ThemeReader
from textsignal.training.contributions import COMMON_SPREAD
from textsignal.training.glm import ResponseModel, clustered_sandwich, dispersion_of, fit_glm, sandwich
from textsignal.uncertainty.influence import mean_slope

#: Draws under the null: a measure is above all of them in one of a hundred clean samples; and that as a level of tests.
DRAWS, LEVEL = 99, 0.01
#: Differences of mean responses below this share of their standard deviation do not matter.
MATTERS = 0.15
#: Fewest texts with a response that are checked.
FEWEST = 50
#: Differences of R2 and of log scores are clear from this number of standard errors on.
CLEAR = 3.0
#: Bins of the PIT, and of texts by prediction; most texts that responses are drawn for.
BINS, MOST_DRAWN = 10, 5000
#: Log scores above this are of impossible responses.
IMPOSSIBLE = 700.0


@dataclass(frozen=True)
class Finding:
    """Result of one measure.

    check : name of the check; measure : description; value : the number.
    limit : bound beyond which it looks wrong; NaN if there is no single bound.
    problem : what looks wrong, as a sentence; "" if nothing does. advice : what to do about it.
    rows : texts with the problem, from 1.
    """

    check: str
    measure: str
    value: float
    limit: float
    problem: str = ""
    advice: str = ""
    rows: tuple[int, ...] = ()

    @property
    def wrong(self) -> bool:
        """True if something looks wrong."""
        return bool(self.problem)

    def only_if(self, wrong: bool) -> Finding:
        """Return the finding, without its problem unless something is wrong."""
        return self if wrong else replace(self, problem="", advice="", rows=())


@dataclass(frozen=True, eq=False)
class Check:
    """Results of all checks; prints as plain lines, and a notebook shows a list.

    findings : of every measure, wrong or not; documents : number of those with a response.
    where : the texts that predictions are judged on, in words.
    pit : histogram of responses within their predicted distributions: low, high, documents, expected.
    reliability : tenths of texts by prediction: predicted, observed, standard_error, documents.

    Examples
    --------
    >>> copies = Finding("duplicates", "share of copies", 0.1, 0.01, "40 texts (10%) are copies.", "Remove them.")
    >>> fine = Finding("skill", "R2", 0.6, 0.1)
    >>> print(Check((fine, copies), 400, "judged out of fold", pd.DataFrame(), pd.DataFrame()))
    duplicates: 40 texts (10%) are copies. Remove them.
    Nothing else looks wrong in skill (400 texts with a response; judged out of fold).
    """

    findings: tuple[Finding, ...]
    documents: int
    where: str
    pit: pd.DataFrame
    reliability: pd.DataFrame

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """Findings with a problem, in the order of the checks."""
        return tuple(finding for finding in self.findings if finding.wrong)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Names of the checks."""
        return tuple(dict.fromkeys(finding.check for finding in self.findings))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure: check, measure, value, limit, wrong, problem, advice, rows."""
        names = ("check", "measure", "value", "limit", "wrong", "problem", "advice", "rows")
        return pd.DataFrame([[getattr(finding, name) for name in names] for finding in self.findings], columns=names)

    def lines(self) -> list[str]:
        """Return a line for each problem, and a last one that names the checks without problems."""
        problems = [f"{finding.check}: {finding.problem} {finding.advice}".rstrip() for finding in self.wrong]
        return [*problems, self._rest]

    @property
    def _rest(self) -> str:
        wrong = {finding.check for finding in self.wrong}
        fine = [name for name in self.looked_at if name not in wrong]
        begin = "Nothing else looks wrong" if wrong else "Nothing looks wrong"
        where = f" in {', '.join(fine)}" if fine else ""
        return f"{begin}{where} ({self.documents:,} texts with a response; {self.where})."

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><strong>{escape(finding.check)}</strong>: {escape(finding.problem)} {escape(finding.advice)}</li>"
            for finding in self.wrong
        )
        return f"{f'<ul>{items}</ul>' if items else ''}<p>{escape(self._rest)}</p>"


@dataclass(frozen=True, eq=False)
class Checked:
    """Texts to check and a model's reading of them.

    labels : (themes,) names of the themes; naming : of the response.
    covariates : one row per text; None if absent. seed : of draws.
    """

    reader: ThemeReader
    reading: Reading
    labels: Sequence[str]
    naming: Naming
    covariates: pd.DataFrame | None = None
    group_name: str = "group"
    time_name: str = "date"
    seed: int = 0

    @cached_property
    def answered(self) -> Rows:
        """Numbers of the texts with a response and a positive weight."""
        return np.flatnonzero(~np.isnan(self.reading.mentions.responses) & (self.reading.mentions.weight > 0))

    @cached_property
    def rows(self) -> Rows:
        """Row numbers of the texts on which predictions are evaluated: the held-out ones, if there are enough."""
        new = self.answered[self.reading.observed.unseen[self.answered]]
        return new if len(new) >= FEWEST else self.answered

    @cached_property
    def means(self) -> Vector:
        """(texts,) expected responses."""
        return self.reading.mentions.family.mean(self.reading.mentions.eta)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the judged responses."""
        return float(np.std(self.reading.mentions.responses[self.rows]))

    @cached_property
    def sample(self) -> Mentions:
        """The judged texts, or some of them, that responses are drawn for."""
        return self.reading.mentions.at(self.rows[:: -(-len(self.rows) // MOST_DRAWN)])

    @cached_property
    def drawn(self) -> Vector | None:
        """(1 + draws, texts) responses of the sample, then others drawn from the model.

        None if the family cannot have drawn the observed ones, such as shares of trials.
        """
        family, eta, responses, rng = self.reading.mentions.family, self.sample.eta, self.sample.responses, self.rng(0)
        if family.log_scores(responses, eta).max() > IMPOSSIBLE:
            return None
        drawn = [family.sample(eta, rng) for _ in range(DRAWS)]
        if family.has_text:
            drawn = [family.numbers[family.encode(labels).astype(np.int64)] for labels in drawn]
        return np.array([responses, *drawn], dtype=float)

    @property
    def where(self) -> str:
        """Description of the texts on which predictions are evaluated."""
        if len(self.rows) < len(self.answered) or self.reading.observed.unseen[self.rows].all():
            return f"predictions judged on {len(self.rows):,} texts that training has not seen"
        return "predictions judged out of fold, by tone of fits that excluded each text"

    def rng(self, number: int) -> np.random.Generator:
        """Return the generator of one check, independent of other checks."""
        return np.random.default_rng([self.seed, number])

    def r2(self, rows: Rows) -> tuple[float, float]:
        """Return R2 in some texts, and its standard error by the delta method."""
        responses, means = self.reading.mentions.responses[rows], self.means[rows]
        squares, spread = (responses - means) ** 2, (responses - responses.mean()) ** 2
        if spread.sum() == 0:
            return float("nan"), float("nan")
        parts = (squares - squares.sum() / spread.sum() * spread) / spread.mean()
        return r2_score(responses, means), float(np.std(parts) / np.sqrt(len(parts)))

    def signed(self, difference: float) -> str:
        """Return a difference of means with its sign."""
        return f"{'-' if difference < 0 else '+'}{self.naming.points(difference)}"


def skill(checked: Checked) -> Iterator[Finding]:
    """Compare R2 with 0, and R2 of training texts with that of held-out ones."""
    r2, error = checked.r2(checked.rows)
    problem = (
        f"The text explains next to nothing of {checked.naming.subject}: R2 is {r2:.3f} in {len(checked.rows):,} "
        f"texts (standard error {error:.3f})."
    )
    advice = "Check that each response is in the row of its text; do not rely on any effect."
    yield Finding("skill", "R2", r2, CLEAR * error, problem, advice).only_if(not r2 > CLEAR * error)
    new = checked.reading.observed.unseen[checked.answered]
    training, held_out = checked.answered[~new], checked.answered[new]
    if min(len(training), len(held_out)) < FEWEST:
        return
    (first, one), (second, other) = checked.r2(training), checked.r2(held_out)
    limit = CLEAR * float(np.hypot(one, other))
    problem = (
        f"R2 is {first:.2f} on training texts, out of fold, but {second:.2f} on {len(held_out):,} held-out ones "
        f"(a difference of up to {limit:.2f} is tolerated): the two sets of texts differ."
    )
    wrong = first - second > limit and overfit_warning(first, second, len(held_out)) is not None
    measure = "R2 of training texts above that of held-out ones"
    advice = "Look for the difference between the two sets."
    yield Finding("skill", measure, first - second, limit, problem, advice).only_if(wrong)


#: Shares of texts in the wrong place of their predicted distribution that matter.
PIT_MATTERS = 0.04
#: Ratios of dispersions that matter: intervals are then a twelfth too narrow.
DISPERSION_MATTERS = 1.2
#: Differences in log scores of families below this, in nats, do not matter; folds in which they are compared.
SCORE_MATTERS, FOLDS = 0.02, 2


def pit_of(texts: Mentions, responses: Vector) -> Vector:
    """Return (BINS + 1,) shares of responses below the quantiles of their predicted distributions."""
    return pit_shares(texts.family, responses, texts.eta, BINS, texts.weight)


def calibration(checked: Checked) -> Iterator[Finding]:
    """Compare predicted distributions, and means of tenths of texts by prediction, with the responses."""
    texts, drawn, naming = checked.sample, checked.drawn, checked.naming
    if drawn is None:
        return
    below = np.array([pit_of(texts, responses) for responses in drawn])
    distances = np.abs(below - np.linspace(0, 1, BINS + 1)).max(axis=1)
    value, limit = float(distances[0]), max(float(distances[1:].max()), PIT_MATTERS)
    measure = "largest distance of the PIT from that of calibrated predictions"
    problem = (
        f"Predicted distributions are off: {below[0][BINS - 1] - below[0][1]:.0%} of {len(texts.eta):,} responses lie "
        f"in the middle {1 - 2 / BINS:.0%} of theirs, {below[0][BINS // 2]:.0%} in the lower half (largest distance "
        f"{value:.3f}; tolerated up to {limit:.3f})."
    )
    advice = 'Rely on means rather than on probabilities and intervals; try family="auto".'
    yield Finding("calibration", measure, value, limit, problem, advice).only_if(value > limit)
    means, weight = texts.family.mean(texts.eta), texts.weight
    tenth = np.empty(len(means), dtype=np.int64)
    tenth[np.argsort(means, kind="stable")] = np.arange(len(means)) * BINS // len(means)
    size = np.bincount(tenth, weight)
    gaps = np.array([np.bincount(tenth, weight * (responses - means)) / size for responses in drawn])
    largest, worst = np.abs(gaps).max(axis=1), int(np.abs(gaps[0]).argmax())
    value, limit = float(largest[0]), max(float(largest[1:].max()), MATTERS * checked.spread)
    measure, at = "largest gap between mean response and mean prediction of tenths", tenth == worst
    predicted = float(np.average(means[at], weights=weight[at]))
    problem = (
        f"Where {naming.mean(predicted)} is predicted, {naming.mean(predicted + gaps[0][worst])} is found "
        f"({int(at.sum()):,} texts, a tenth of them by prediction; up to {naming.amount(limit)} is tolerated)."
    )
    advice = "See `reliability` for all tenths; fit again with texts like these."
    yield Finding("calibration", measure, value, limit, problem, advice).only_if(value > limit)


def dispersion(checked: Checked, *, families: bool = True) -> Iterator[Finding]:
    """Compare the scatter of responses with that of the family; if `families`, look for one that fits better."""
    if checked.drawn is None:
        return
    texts, family = checked.sample, checked.reading.mentions.family
    encoded = map(family.encode, checked.drawn)
    dispersions = np.array([dispersion_of(family, y, texts.eta, texts.weight) for y in encoded])
    ratios = dispersions / float(np.mean(dispersions[1:]))
    high, low = max(ratios[1:].max(), DISPERSION_MATTERS), min(ratios[1:].min(), 1 / DISPERSION_MATTERS)
    value, better = float(ratios[0]), [_better_family(checked)] if families else []
    how, width, limit = ("less", "wide", float(low)) if value < low else ("more", "narrow", float(high))
    problem = (
        f"Responses scatter {how} than the {family.name} family implies: {value:.2f} times as much (tolerated "
        f"{low:.2f} to {high:.2f}), so intervals of single texts are too {width}."
    )
    advice = "Rely on means rather than on intervals of single texts; standard errors should be robust."
    advice = "" if better and better[0].wrong else advice
    finding = Finding("dispersion", "scatter of responses relative to the family", value, limit, problem, advice)
    yield from (finding.only_if(not low <= value <= high), *better)


def _better_family(checked: Checked) -> Finding:
    """Find the family with the best held-back log score, by a GLM on the model's own linear predictor."""
    # Training texts too: few parameters cannot overfit, but need many texts.
    texts = checked.reading.mentions.at(checked.answered[:: -(-len(checked.answered) // MOST_DRAWN)])
    measure = "log score of the family over that of the best one"
    finding = Finding("dispersion", measure, 0.0, SCORE_MATTERS)
    others = _others(texts.family, texts.responses)
    if not others:
        return finding
    lost = [_held_back(other, texts) for other in others]
    number = int(np.argmin([np.average(each, weights=texts.weight) for each in lost]))
    best, gains = others[number], _held_back(texts.family, texts) - lost[number]
    value = float(np.average(gains, weights=texts.weight))
    if value <= SCORE_MATTERS:
        return finding
    limit = max(CLEAR * float(np.std(gains) / np.sqrt(len(gains))), SCORE_MATTERS)
    problem = (
        f"The {best.name} family fits better than {texts.family.name}: held-out responses are {np.expm1(value):.0%} "
        f"more probable under it (log score lower by {value:.3f}; tolerated up to {limit:.3f})."
    )
    advice = f'Fit with family="{best.name}", or "auto".'
    return Finding("dispersion", measure, value, limit, problem, advice).only_if(value > limit)


def _others(family: Family, responses: Vector) -> list[Family]:
    """Other families of the responses whose log scores can be compared: all discrete or all continuous."""
    levels = getattr(family, "levels", None)
    if family.has_text or (levels is not None and len(levels) == 2):
        return []
    try:
        families = candidates(responses, levels).families
    except InputError:
        return []
    discrete, *others = (hasattr(each.distribution(np.zeros(1)), "pmf") for each in (family, *families))
    return [each for each, one in zip(families, others, strict=True) if each.name != family.name and one == discrete]


def _held_back(family: Family, texts: Mentions) -> Vector:
    """(texts,) log scores by fits that have not seen the text."""
    y, folds, eta = family.encode(texts.responses), np.arange(len(texts.eta)) % FOLDS, texts.eta
    columns, scores = ((eta - float(np.mean(eta))) / (float(np.std(eta)) or 1.0))[:, None], np.empty(len(eta))
    with local_compute(1) as compute:
        model = ResponseModel(family, compute, 0.5 / COMMON_SPREAD**2, fit_intercept=True)
        for fold in range(FOLDS):
            out = folds == fold
            fit = fit_glm(model, columns[~out], y[~out], texts.weight[~out])
            scores[out] = fit.family.log_scores(texts.responses[out], fit.linear_predictor(columns[out]))
    return scores


#: Fewest groups for errors between groups, which are too rough with fewer; fewest texts with a value of a covariate.
LEAST_GROUPS, LEAST = 20, 30
LENGTH = "the length of the text"
#: Quantiles at which residuals are compared: low, middle, high.
ENDS = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class Curve:
    """Residuals as a curve of the ranks of a number.

    at : residuals expected at its low, middle and high quantiles; slope, error : from the low to the high one.
    chance : largest range of a curve of this shape that the test of no curve would not reject.
    """

    at: Vector
    slope: float
    error: float
    chance: float

    @property
    def range(self) -> float:
        """Difference between the highest and the lowest expected residual."""
        return float(np.ptp(self.at))


def curve_of(residuals: Vector, number: Vector, weight: Vector, level: float, groups: Rows | None = None) -> Curve:
    """Regress residuals on ranks of a number and their squares, with robust errors, or errors between groups.

    residuals, number, weight : (texts,); groups : (texts,) numbers of groups, None if absent; level : of the test.
    """

    def basis_of(rank: Vector) -> Vector:
        centred = 2 * rank - 1
        return np.column_stack([np.ones(len(rank)), centred, centred**2 - 1 / 3])

    basis, at = basis_of((stats.rankdata(number) - 0.5) / len(number)), basis_of(np.array(ENDS))
    hessian = basis.T @ (weight[:, None] * basis)
    effects = np.linalg.pinv(hessian, hermitian=True) @ (basis.T @ (weight * residuals))
    slopes = weight * (residuals - basis @ effects)
    parts = basis, slopes, hessian
    covariance = sandwich(*parts) if groups is None else clustered_sandwich(*parts, groups)
    low_to_high, rest = at[-1] - at[0], covariance[1:, 1:]
    wald = float(effects[1:] @ np.linalg.pinv(rest, hermitian=True) @ effects[1:])
    freedom = int(np.linalg.matrix_rank(rest, hermitian=True)) or 1
    left = (len(number) if groups is None else len(np.unique(groups))) - basis.shape[1]
    critical = freedom * float(stats.f.isf(level, freedom, left))
    return Curve(
        at=at @ effects,
        slope=float(low_to_high @ effects),
        error=float(np.sqrt(max(low_to_high @ covariance @ low_to_high, 0.0))),
        chance=float(np.ptp(at @ effects)) * (critical / max(wald, np.finfo(float).tiny)) ** 0.5,
    )


def between(residuals: Vector, codes: Rows, weight: Vector) -> float:
    """Return the variance between the means of groups, less the part of it that the scatter of texts makes.

    codes : (texts,) numbers of groups from 0 on.
    """
    size = np.bincount(codes, weight)
    means = np.bincount(codes, weight * residuals) / size
    rest = np.bincount(codes, weight * (residuals - means[codes]) ** 2)
    freedom = max(len(residuals) - len(size), 1)
    mean = np.average(residuals, weights=weight)
    scatter = rest.sum() / weight.sum() * len(residuals) / freedom
    return float((size @ (means - mean) ** 2 - (len(size) - 1) * scatter * np.mean(weight)) / weight.sum())


def residuals(checked: Checked) -> Iterator[Finding]:
    """Compare residuals with everything known but the words: length, time, covariates and groups."""
    rows, observed, kinds = checked.rows, checked.reading.observed, dict[str, NDArray[Any]]()
    numbers: dict[str, tuple[Vector, Callable[[float], str]]] = {}
    numbers[LENGTH] = checked.reading.n_words[rows].astype(float), "{:.0f} words".format
    if observed.times is not None:
        days = observed.times[rows]
        numbers[checked.time_name] = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float)), _day
    for name, column in () if checked.covariates is None else checked.covariates.iloc[rows].items():
        if pd.api.types.is_numeric_dtype(column.dtype) and column.nunique() > 2:
            numbers[str(name)] = column.to_numpy().astype(float), "{:g}".format
        else:
            kinds[str(name)] = column.to_numpy()
    groups = None if observed.groups is None else observed.groups.iloc[rows].to_numpy()
    left = checked.reading.mentions.responses[rows] - checked.means[rows]
    for name, (values, shown) in numbers.items():
        known = np.isfinite(values)
        if known.sum() < LEAST or np.unique(values[known]).size < 3:
            yield _too_few(name)
            continue
        codes = None if groups is None else _codes(groups[known])
        weight, level = checked.reading.mentions.weight[rows[known]], LEVEL / len(numbers)
        curve = curve_of(left[known], values[known], weight, level, codes)
        ends = [shown(end) for end in np.quantile(values[known], ENDS).tolist()]
        yield _along(checked, name, curve, ends, len(weight))
    if groups is not None:
        kinds[checked.group_name] = groups
    for number, (name, cells) in enumerate(kinds.items()):
        yield _by_kind(checked, left, name, cells, checked.rng(100 + number))


def _day(value: float) -> str:
    return str(np.datetime64(round(value), "D"))


def _too_few(name: str) -> Finding:
    nan = float("nan")
    return Finding("residuals", f"residuals against {name}: too few values, or texts of each value", nan, nan)


def _codes(groups: NDArray[Any]) -> Rows | None:
    """Numbers of groups, a separate one for each text without a group; None if there are too few."""
    codes, names = pd.factorize(pd.Series(groups))
    separate = np.where(codes < 0, len(names) + np.arange(len(codes)), codes).astype(np.int64)
    return None if len(names) < LEAST_GROUPS else separate


def _along(checked: Checked, name: str, curve: Curve, ends: Sequence[str], n_texts: int) -> Finding:
    limit, naming = max(MATTERS * checked.spread, curve.chance), checked.naming
    parts = ", ".join(f"{checked.signed(at)} at {end}" for at, end in zip(curve.at, ends, strict=True))
    problem = (
        f"Responses depend on {name} beyond the text: {parts} compared with the prediction, in {naming.unit} (low to "
        f"high {checked.signed(curve.slope)}, standard error {naming.points(curve.error)}; "
        f"tolerated up to {naming.points(limit)}; {n_texts:,} texts)."
    )
    advice = f"Fit with {name} as a covariate, or as a curve if it is one already: formula='bs({name}, 4)'."
    if name == LENGTH:
        advice = "Fit with the number of words as a covariate, or compare texts of similar length."
    measure = f"residuals against {name}: range from low to high"
    return Finding("residuals", measure, curve.range, limit, problem, advice).only_if(curve.range > limit)


def _by_kind(checked: Checked, left: Vector, name: str, cells: NDArray[Any], rng: np.random.Generator) -> Finding:
    """Compare residuals of groups, or of levels of a category; null: texts dealt to groups at random."""
    codes, names = pd.factorize(pd.Series(cells))
    known = np.flatnonzero(codes >= 0)
    if len(known) < LEAST or not 1 < len(names) < len(known) / 2:
        return _too_few(name)
    left, weight, codes = left[known], checked.reading.mentions.weight[checked.rows[known]], codes[known]
    value, orders = between(left, codes, weight), (rng.permutation(len(left)) for _ in range(DRAWS))
    chance = max(*(between(left[order], codes, weight[order]) for order in orders), 0.0)
    size, limit = float(np.sqrt(max(value, 0.0))), max(float(np.sqrt(chance)), MATTERS * checked.spread)
    counts = np.bincount(codes)
    means = np.bincount(codes, weight * left) / np.bincount(codes, weight)
    # Shrunk by their error, so that examples are extreme and have many texts.
    shrunk = means * value / (value + np.var(left) / counts)
    low, high = int(shrunk.argmin()), int(shrunk.argmax())
    problem = (
        f"Responses differ by {name} beyond the text: by a standard deviation of "
        f"{checked.naming.amount(size)} (tolerated up to {checked.naming.points(limit)}), such as "
        f"{checked.signed(means[low])} for {names[low]} ({counts[low]:,} texts) and "
        f"{checked.signed(means[high])} for {names[high]} ({counts[high]:,})."
    )
    advice = "Fit with groups=, so that standard errors allow for them, or give them as a covariate."
    advice = advice if name == checked.group_name else f"Fit with {name} as a covariate."
    measure = f"residuals against {name}: standard deviation between its values"
    return Finding("residuals", measure, size, limit, problem, advice).only_if(size > limit)


#: Texts of fewer words may be equal by chance; largest share of copies that does not matter.
LEAST_WORDS, COPIES_MATTER = 8, 0.01
#: A word fixes the response if this share of its texts have the same one; the most predictive words in
#: ordinary texts reach the second share. Responses of more levels than `PARTS` are cut into that number of parts.
FIXED, TELLING, PARTS = 0.98, 0.9, 20
#: Stated numbers that are the response have at least this correlation with it; fewest texts with one, and least share.
STATED, LEAST_STATED, STATED_SHARE = 0.7, 10, 0.03
#: Most words and rows that are named.
NAMED = 5
_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {name: value for value, name in enumerate(_NAMES)}
_NUMBER = rf"(\d{{1,3}}(?:[.,]\d)?|{'|'.join(NUMBERS)})"
#: A number out of another, a number of stars, and a number that something is rated; texts that state one contain one of
#: the words in front.
STATEMENTS = (
    (("/", "out of", "out-of"), re.compile(rf"\b{_NUMBER}[ -]{{0,2}}(?:out[ -]of|/)[ ]?{_NUMBER}\b")),
    (("star",), re.compile(rf"\b{_NUMBER}[ -]{{0,2}}stars?\b()")),
    (
        ("rate", "rating", "score"),
        re.compile(rf"\b(?:rating|rated?|score)\b(?: it| this| a| of| is|:| =){{0,2}} ?{_NUMBER}\b()"),
    ),
)


def duplicates(checked: Checked) -> Iterator[Finding]:
    """Count texts that occur more than once, exactly or up to case, spaces and punctuation."""
    long = checked.reading.n_words >= LEAST_WORDS
    texts = pd.Series(list(checked.reading.texts), dtype=object)
    plain = texts.map(plain_text)
    exact, alike = ((each.duplicated() & long).to_numpy() for each in (texts, plain))
    but = "in case, spaces or punctuation alone"
    for later, cells, measure, how in (
        (exact, texts, "texts that an earlier one has", "are copies of others"),
        (alike & ~exact, plain, f"texts that differ from an earlier one {but}", f"differ from others {but}"),
    ):
        share = float(later.mean())
        rows = np.flatnonzero(cells.isin(cells[later].value_counts().index[:1]))
        problem = (
            f"{later.sum():,} texts ({share:.1%}) {how}, and count every time; the most frequent is in {_rows(rows)}."
        )
        advice = "Remove copies unless different people wrote them; intervals are too narrow with them."
        finding = Finding("duplicates", measure, share, COPIES_MATTER, problem, advice, _named(rows))
        yield finding.only_if(share > COPIES_MATTER)
    unseen = checked.reading.observed.unseen
    if unseen.any() and not unseen.all():
        new = unseen & long
        rows = np.flatnonzero(new & plain.isin(plain[~unseen]).to_numpy())
        share = float(len(rows) / max(new.sum(), 1))
        problem = (
            f"{len(rows):,} held-out texts ({share:.1%}) are in training too, which flatters held-out skill: "
            f"{_rows(rows)}."
        )
        measure, advice = "held-out texts that are in training too", "Hold all copies of a text out together."
        finding = Finding("duplicates", measure, share, COPIES_MATTER, problem, advice, tuple((rows + 1).tolist()))
        yield finding.only_if(share > COPIES_MATTER)


def plain_text(text: str) -> str:
    """Return a text without case, punctuation and repeated spaces."""
    return " ".join(re.sub(r"[^\w\s]", "", text.lower()).split())


def leakage(checked: Checked) -> Iterator[Finding]:
    """Look for stated numbers, and words, that are the response itself."""
    yield _stated(checked)
    yield _fixed(checked)


def stated_number(text: str) -> float:
    """Return the rating that a text states, as a share of its scale (5 stars, or what follows "/"), NaN if absent."""
    lower = text.lower()
    for words, pattern in STATEMENTS:
        if any(word in lower for word in words) and (match := pattern.search(lower)) is not None:
            number, scale = (float(NUMBERS.get(each, each.replace(",", "."))) for each in (match[1], match[2] or "5"))
            return number / scale if scale in (5, 6, 7, 10, 20, 100) and number <= 2 * scale else float("nan")
    return float("nan")


def _stated(checked: Checked) -> Finding:
    rows = checked.answered
    stated = np.array([stated_number(checked.reading.texts[row]) for row in rows.tolist()])
    known = np.isfinite(stated)
    stated, stating, n = stated[known], rows[known], int(known.sum())
    responses = checked.reading.mentions.responses[stating]
    varied = n >= LEAST_STATED and np.ptp(stated) > 0 and np.ptp(responses) > 0
    value = abs(float(stats.spearmanr(stated, responses)[0])) if varied else 0.0
    # More than n pairs have by chance.
    limit = max(STATED, min(1.0, float(stats.norm.isf(LEVEL)) / max(n - 1, 1) ** 0.5))
    problem = (
        f"{n:,} texts ({n / len(rows):.1%}) state a rating (“5 stars”, “8/10”), whose correlation with the "
        f"response is {value:.2f}, such as {_rows(stating)}.{_without(checked, stating)}"
    )
    advice = "Remove the statements from the texts, or these texts from the data: a stated rating is not about a theme."
    measure = "correlation of the response with a rating that texts state"
    finding = Finding("leakage", measure, value, limit, problem, advice, _named(stating))
    return finding.only_if(n >= max(LEAST_STATED, STATED_SHARE * len(rows)) and value > limit)


def _fixed(checked: Checked) -> Finding:
    """Features whose texts nearly all have the same response, unlike words that people write by themselves."""
    rows, responses, features = checked.answered, checked.reading.mentions.responses, checked.reader.fitted.features
    kinds, sentences = kinds_of(responses[rows]), checked.reading.clauses
    assert sentences is not None
    places = sentences.texts.documents[sentences.occurrences.sentences], sentences.occurrences.features
    shape = len(responses), len(features)
    here = sp.csc_array(sp.coo_array((np.ones(len(places[0]), dtype=bool), places), shape=shape), dtype=float)[rows]
    size = here.sum(axis=0)
    most = np.max([here.T @ (kinds == kind) for kind in range(kinds.max() + 1)], axis=0)
    purity = np.divide(most, size, out=np.zeros(len(size)), where=size > 0)
    # At least the share of predictive words, and more if one response is frequent anyway.
    usual = max(TELLING, 1 - (1 - float(np.bincount(kinds).max() / len(kinds))) * (1 - TELLING) * 2)
    fixed = np.flatnonzero((purity >= FIXED) & (stats.binom.sf(most - 1, size, usual) < LEVEL))
    enough = size >= np.log(LEVEL) / np.log(usual)
    value = float(purity[enough].max()) if enough.any() else 0.0
    measure = "share of texts with a word that have the same response: most of all words"
    order = fixed[np.argsort(-size[fixed], kind="stable")]
    having = rows[np.asarray(here[:, order].sum(axis=1)).ravel() > 0]
    means = here[:, order[:NAMED]].T @ responses[rows] / size[order[:NAMED]]
    listed = ", ".join(
        f"“{features.names[j]}” ({int(size[j]):,} texts, {checked.naming.mean(mean)} on average)"
        for j, mean in zip(order[:NAMED].tolist(), means.tolist(), strict=True)
    )
    more = f" and {len(order) - NAMED:,} more" if len(order) > NAMED else ""
    problem = (
        f"Single words all but determine the response: {listed}{more}; {len(having):,} texts in all, such as "
        f"{_rows(having)}.{_without(checked, having)}"
    )
    advice = "If these words were written because of the response, remove them from the texts."
    return Finding("leakage", measure, value, FIXED, problem, advice, _named(having)).only_if(fixed.size > 0)


def kinds_of(responses: Vector) -> Rows:
    """Return (texts,) numbers of levels, or of equal parts by rank if there are more than `PARTS` levels."""
    levels, numbers = np.unique(responses, return_inverse=True)
    parts = (stats.rankdata(responses) - 1) * PARTS // len(responses)
    return np.asarray(numbers if len(levels) <= PARTS else parts, dtype=np.int64)


def _without(checked: Checked, rows: Rows) -> str:
    """R2 with and without some texts, as a sentence."""
    rest = np.setdiff1d(checked.answered, rows)
    if len(rest) < LEAST_STATED:
        return ""
    every, others = checked.r2(checked.answered)[0], checked.r2(rest)[0]
    return f" R2 is {every:.2f} with these texts and {others:.2f} without."


def _named(rows: Rows) -> tuple[int, ...]:
    """Numbers of the first rows, counted from 1; rows : from 0."""
    return tuple((rows[:NAMED] + 1).tolist())


def _rows(rows: Rows) -> str:
    listed = ", ".join(f"{row:,}" for row in _named(rows))
    more = f" and {len(rows) - NAMED:,} more" if len(rows) > NAMED else ""
    return f"row{'' if len(rows) == 1 else 's'} {listed}{more}"


#: Largest change of a cost by one text that does not matter, in standard errors by all others.
ONE_MATTERS = 1.0
#: Largest share of a cost that one group may make up; costs below this share of the responses' deviation are nothing.
GROUP_MATTERS, NOTHING = 0.5, 0.01


@dataclass(frozen=True, eq=False)
class Influence:
    """Costs of themes, and how they change without single texts.

    costs : (themes,); rest : (texts, themes) each cost less the text's own part of it; weight : (texts,).
    moves : (texts, themes) change of each cost through the coefficients if a text is removed.
    """

    costs: Vector
    rest: Vector
    weight: Vector
    moves: Vector

    @property
    def of_texts(self) -> Vector:
        """(texts, themes) change of each cost if a text is removed."""
        others = np.maximum(self.weight.sum() - self.weight, np.finfo(float).tiny)
        return (self.weight / others)[:, None] * self.rest + self.moves

    def of_groups(self, codes: Rows) -> Vector:
        """Return (groups, themes) the change of each cost if a group is removed; codes : (texts,) -1 if absent."""
        rows = np.flatnonzero(codes >= 0)
        shape = (int(codes.max()) + 1, len(codes))
        sums = sp.csr_array((np.ones(len(rows)), (codes[rows], rows)), shape=shape)
        others = np.maximum(self.weight.sum() - sums @ self.weight, np.finfo(float).tiny)
        away = sums @ (self.weight[:, None] * self.rest)
        return np.asarray(away / others[:, None] + sums @ self.moves, dtype=float)


def influence_on_costs(spoken: Mentions) -> Influence:
    """Approximate how costs change without each text, by one Newton step.

    The cost of theme k is a mean over texts, and the coefficients of the GLM in it were fitted to them. Without some
    texts g it changes by their part of the mean, and by the change of the coefficients:

        cost_k(-g) - cost_k ~ sum_g w (cost_k - d_k) / (W - W_g)  +  grad_k . H^-1 sum_g slope x

    d_k is a text's own part of the cost, x its columns (what each theme adds, shares of its text, 1), slope the
    derivative of its loss, H = sum w curvature x x'. Themes and the tone of words stay as they are.
    """
    family, eta, weight, bad = spoken.family, spoken.eta, spoken.weight, spoken.complaint
    total, n_themes = weight.sum(), spoken.n_themes
    before = family.mean(eta)
    without = eta[:, None] - bad
    parts = spoken.better * (family.mean(without.ravel()).reshape(without.shape) - before[:, None])
    columns = np.column_stack([spoken.tone, spoken.shares, np.ones(len(eta))])
    y = family.encode(spoken.responses)
    known = ~np.isnan(y)
    y = np.where(known, y, y[known][0])
    slopes = np.where(known, weight * family.gradient(y, eta), 0.0)
    curvature = np.where(known, weight * family.curvature(y, eta), 0.0)
    hessian = columns.T @ (curvature[:, None] * columns)
    here, gradients = mean_slope(family, eta), np.empty((columns.shape[1], n_themes))
    for k in range(n_themes):
        there = mean_slope(family, without[:, k])
        gradients[:, k] = (weight * (there - here)) @ columns
        gradients[k, k] -= weight @ (there * bad[:, k])
    step = np.linalg.pinv(hessian, hermitian=True) @ (spoken.better * gradients / total)
    costs = weight @ parts / total
    return Influence(costs, costs - parts, weight, (columns * slopes[:, None]) @ step)


def influence(checked: Checked) -> Iterator[Finding]:
    """Look for texts, and groups, without which a cost would be much different."""
    influences, least = influence_on_costs(checked.reading.mentions), NOTHING * checked.spread
    moved = influences.of_texts
    squares = moved**2
    # In standard errors of costs, by the jackknife over all other texts.
    shares = np.sqrt(squares / np.maximum(squares.sum(axis=0) - squares, np.finfo(float).tiny))
    measure = "change of a cost without one text, in standard errors of all others"
    matters = (shares > ONE_MATTERS) & (np.abs(moved) > least)
    shares = np.where(matters, shares, 0.0) if matters.any() else shares
    row, k = divmod(int(shares.argmax()), shares.shape[1])
    value = float(shares[row, k])
    problem = (
        f"Without the text in row {row + 1:,} {_changed(checked, k, influences.costs[k], moved[row, k])} "
        f"(a change of {value:.1f} standard errors of all others)."
    )
    advice = "Read that text and check its response and weight before you report this number."
    order = np.argsort(-shares.max(axis=1), kind="stable")
    rows = _named(order[matters[order].any(axis=1)])
    yield Finding("influence", measure, value, ONE_MATTERS, problem, advice, rows).only_if(bool(matters.any()))
    if checked.reading.observed.groups is None:
        return
    codes, names = pd.factorize(checked.reading.observed.groups)
    if len(names) < 2:
        return
    # Null: texts dealt to groups at random, for each theme separately.
    moved, rng = influences.of_groups(codes), checked.rng(200)
    draws = [np.abs(influences.of_groups(rng.permutation(codes))).max(axis=0) for _ in range(DRAWS)]
    costs = np.maximum(np.abs(influences.costs), least)
    limits = np.maximum(np.max(draws, axis=0) / costs, GROUP_MATTERS)
    shares = np.where(np.abs(influences.costs) > least, np.abs(moved) / costs, 0.0)
    group, k = divmod(int((shares / limits).argmax()), shares.shape[1])
    value, limit = float(shares[group, k]), float(limits[k])
    measure = f"change of a cost without one {checked.group_name}, as a share of it"
    problem = (
        f"Without {names[group]} ({int((codes == group).sum()):,} texts) "
        f"{_changed(checked, k, influences.costs[k], moved[group, k])} "
        f"(a change of {value:.0%}; tolerated up to {limit:.0%})."
    )
    advice = f"Most of it is due to one {checked.group_name}: see drivers(by=...)."
    yield Finding("influence", measure, value, limit, problem, advice).only_if(value > limit)


def _changed(checked: Checked, theme: int, cost: float, change: float) -> str:
    naming = checked.naming
    after, before = (f"{naming.steps * value:.{naming.digits + 1}f}" for value in (cost + change, cost))
    what = "cost of" if naming.direction else "change due to"
    return f"the {what} “{checked.labels[theme]}” would be {after} instead of {before} {naming.unit}"


def check_all(checked: Checked, *, families: bool = True) -> Check:
    """Run all checks; families : also fit other families, which takes longer than everything else."""
    n_answered, texts, rows = len(checked.answered), checked.sample, checked.rows
    if n_answered < FEWEST:
        raise InputError(f"{n_answered:,} texts have a response, which are too few to check; give at least {FEWEST}")
    if checked.spread == 0:
        raise InputError(
            "the response is constant in these texts, so nothing can be checked; check the response column"
        )
    findings = (
        *skill(checked),
        *calibration(checked),
        *dispersion(checked, families=families),
        *residuals(checked),
        *duplicates(checked),
        *leakage(checked),
        *influence(checked),
    )
    pit = pd.DataFrame(columns=["low", "high", "documents", "expected"])
    if checked.drawn is not None:
        edges, n = np.linspace(0, 1, BINS + 1), len(texts.eta)
        heights = n * np.diff(pit_of(texts, texts.responses))
        pit = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "documents": heights, "expected": n / BINS})
    reliability = calibration_table(checked.reading.mentions.responses[rows], checked.means[rows], BINS)
    return Check(findings, n_answered, checked.where, pit, reliability)


def can_check(checked: Checked) -> bool:
    """Return True if enough texts have a response, and responses differ."""
    return len(checked.answered) >= FEWEST and checked.spread > 0
