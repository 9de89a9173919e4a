"""Checks of a model and its data: skill, calibration, dispersion, residuals, duplicates, leakage and influence.

Every measure has a limit: the larger of what chance gives, as a rule in responses drawn from the model itself, and of
what is too small to matter. With enough texts everything is significant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats

from textsignal.arrays import Vector
from textsignal.compute.engines.local import local_compute
from textsignal.errors import InputError
from textsignal.estimators.predictions import r2_score
from textsignal.evaluation import metrics as evaluate
from textsignal.evaluation.metrics import overfit_warning
from textsignal.families import Family, log_scores
from textsignal.families.auto import Candidates, candidates
from textsignal.insight.inputs import Times
from textsignal.insight.naming import Naming
from textsignal.reading.mentions import Mentions
from textsignal.reading.themes import Reading, ThemeReader
from textsignal.training.contributions import COMMON_SPREAD, choose_family
from textsignal.training.glm import ResponseModel, clustered_sandwich, dispersion_of, fit_glm, sandwich
from textsignal.uncertainty.influence import mean_slope

Codes = NDArray[np.int64]
#: Draws under the null: a measure is above all of them in one of a hundred clean samples; and that as a level of tests.
DRAWS, LEVEL = 99, 0.01
#: Differences of mean responses below this share of their standard deviation do not matter.
MATTERS = 0.15
#: Fewest documents with a response that are checked.
FEWEST = 50
#: Differences of R2 and of log scores are clear from this number of standard errors on.
CLEAR = 3.0


@dataclass(frozen=True)
class Finding:
    """Result of one measure.

    check : name of the check; measure : description; value : the number.
    limit : bound beyond which it looks wrong; NaN if there is no single bound.
    problem : what looks wrong, as a sentence; "" if nothing does. advice : what to do about it.
    rows : documents with the problem, from 1.
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


@dataclass(frozen=True, eq=False)
class Check:
    """Results of all checks; prints as plain lines, and a notebook shows a list.

    findings : of every measure, wrong or not; documents : number of those with a response.
    where : the documents that predictions are judged on, in words.
    pit : histogram of responses within their predicted distributions: low, high, documents, expected.
    reliability : tenths of documents by prediction: predicted, observed, standard_error, documents.

    Examples
    --------
    >>> copies = Finding("duplicates", "share of copies", 0.1, 0.01, "40 texts (10%) are copies.", "Leave them out.")
    >>> fine = Finding("skill", "R2", 0.6, 0.1)
    >>> print(Check((fine, copies), 400, "judged out of fold", pd.DataFrame(), pd.DataFrame()))
    duplicates: 40 texts (10%) are copies. Leave them out.
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
        return pd.DataFrame(
            [{name: getattr(finding, name) for name in names} for finding in self.findings], columns=list(names)
        )

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
    """Documents to check and the model's reading of them.

    reading, spoken : of all documents, `spoken` out of fold if `out_of_fold`.
    labels : (themes,) names of the themes; naming : of the response.
    held_out : (documents,) True if training has not seen the document.
    out_of_fold : True if tone of training documents has not seen their responses.
    groups : (documents,) missing values allowed; times : (documents,) NaT if missing; None if absent.
    covariates : one row per document; None if absent. seed : of draws.
    """

    reading: Reading
    labels: Sequence[str]
    naming: Naming
    covariates: pd.DataFrame | None = None
    group_name: str = "group"
    time_name: str = "date"
    seed: int = 0

    @property
    def spoken(self) -> Mentions:
        """Mentions of themes."""
        return self.reading.mentions

    @property
    def held_out(self) -> NDArray[np.bool_]:
        """(texts,) True if training has not seen the text."""
        return self.reading.observed.unseen

    @property
    def out_of_fold(self) -> bool:
        """True: tone of training texts has not seen their responses."""
        return True

    @property
    def groups(self) -> pd.Series | None:
        """(texts,) groups."""
        return self.reading.observed.groups

    @property
    def times(self) -> Times | None:
        """(texts,) days."""
        return self.reading.observed.times

    @property
    def family(self) -> Family:
        """Family of the response."""
        return self.spoken.family

    @cached_property
    def answered(self) -> NDArray[np.int64]:
        """Numbers of the documents with a response and a positive weight."""
        return np.flatnonzero(~np.isnan(self.spoken.responses) & (self.spoken.weight > 0))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Numbers of the documents that predictions are judged on: those held out, if there are enough."""
        new = self.answered[self.held_out[self.answered]]
        return new if len(new) >= FEWEST else self.answered

    @property
    def responses(self) -> Vector:
        """(rows,) responses of these."""
        return self.spoken.responses[self.rows]

    @property
    def eta(self) -> Vector:
        """(rows,) linear predictors of these."""
        return self.spoken.eta[self.rows]

    @property
    def weight(self) -> Vector:
        """(rows,) weights of these."""
        return self.spoken.weight[self.rows]

    @cached_property
    def means(self) -> Vector:
        """(rows,) expected responses of these."""
        return self.family.mean(self.eta)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the responses."""
        return float(np.std(self.responses))

    @property
    def where(self) -> str:
        """The documents that predictions are judged on, in words."""
        if len(self.rows) < len(self.answered) or self.held_out[self.rows].all():
            return f"predictions judged on {len(self.rows):,} texts that training has not seen"
        if self.out_of_fold:
            return "predictions judged out of fold, by tone of fits that left each text out"
        return "predictions judged on the very texts that the model was fitted to, which flatters it"

    def rng(self, number: int) -> np.random.Generator:
        """Return the generator of one check, independent of other checks."""
        return np.random.default_rng([self.seed, number])


# Skill: does the text predict anything, and new texts as well as those of training?


def r2_error(responses: Vector, means: Vector) -> float:
    """Return the standard error of R2, by the delta method.

    Examples
    --------
    >>> bool(r2_error(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4])) == 0)
    True
    """
    squares, spread = (responses - means) ** 2, (responses - responses.mean()) ** 2
    if spread.sum() == 0:
        return float("nan")
    parts = (squares - squares.sum() / spread.sum() * spread) / spread.mean()
    return float(np.std(parts) / np.sqrt(len(parts)))


def skill(checked: Checked) -> list[Finding]:
    """Compare R2 with 0, and R2 of training documents with that of held-out ones."""
    r2, error = r2_score(checked.responses, checked.means), r2_error(checked.responses, checked.means)
    measure, limit = "R2", CLEAR * error
    if r2 > limit:
        finding = Finding("skill", measure, r2, limit)
    else:
        problem = (
            f"The text tells next to nothing of {checked.naming.subject}: R2 is {r2:.3f} in {len(checked.rows):,} "
            f"texts (standard error {error:.3f})."
        )
        advice = "Check that responses stand beside their own texts; believe no cost."
        finding = Finding("skill", measure, r2, limit, problem, advice)
    return [finding, *_gap(checked)]


def _gap(checked: Checked) -> list[Finding]:
    new = checked.held_out[checked.answered]
    training, held_out = checked.answered[~new], checked.answered[new]
    if min(len(training), len(held_out)) < FEWEST:
        return []
    responses, means = checked.spoken.responses, checked.family.mean(checked.spoken.eta)
    (first, one), (second, other) = (
        (r2_score(responses[rows], means[rows]), r2_error(responses[rows], means[rows]))
        for rows in (training, held_out)
    )
    limit, measure = CLEAR * float(np.hypot(one, other)), "R2 of training texts above that of held-out ones"
    warning = overfit_warning(first, second, len(held_out))
    if first - second <= limit or warning is None:
        return [Finding("skill", measure, first - second, limit)]
    if checked.out_of_fold:
        problem = (
            f"R2 is {first:.2f} on training texts, out of fold, but {second:.2f} on {len(held_out):,} held-out ones "
            f"(tolerated up to {limit:.2f} apart): these are not like those."
        )
        return [Finding("skill", measure, first - second, limit, problem, "Look at what differs between the two.")]
    advice = "Fewer themes, or less supervision, may hold better."
    return [Finding("skill", measure, first - second, limit, f"{warning}.", advice)]


# Calibration and dispersion: predicted distributions, means by tenths, scatter, and families that fit better.

#: Bins of the PIT, and of documents by prediction; most documents that responses are drawn for.
BINS, MOST_DRAWN = 10, 5000
#: Shares of documents in the wrong place of their predicted distribution that matter.
PIT_MATTERS = 0.04
#: Ratios of dispersions that matter: intervals are then a twelfth too narrow.
DISPERSION_MATTERS = 1.2
#: Differences in log scores of families below this, in nats, do not matter.
SCORE_MATTERS = 0.02
#: Log scores above this are of impossible responses.
IMPOSSIBLE = 700.0
#: Folds in which families are compared.
FOLDS = 2


@dataclass(frozen=True, eq=False)
class Drawn:
    """Documents, and responses drawn from the model for them.

    responses : (1 + draws, documents) the observed ones, then those drawn.
    """

    family: Family
    eta: Vector
    weight: Vector
    responses: Vector

    @classmethod
    def of(cls, checked: Checked) -> Drawn | None:
        """Draw responses for the documents that are judged; None if the family cannot have drawn the observed ones."""
        step = -(-len(checked.rows) // MOST_DRAWN)
        eta, observed = checked.eta[::step], checked.responses[::step]
        if log_scores(checked.family, observed, eta).max() > IMPOSSIBLE:
            return None  # shares of trials, say
        rng = checked.rng(0)
        drawn = [_numbers(checked.family, checked.family.sample(eta, rng)) for _ in range(DRAWS)]
        return cls(checked.family, eta, checked.weight[::step], np.array([observed, *drawn], dtype=float))


def _numbers(family: Family, drawn: NDArray[np.generic]) -> Vector:
    return family.numbers[family.encode(drawn).astype(np.int64)] if family.has_text else drawn.astype(float)


def calibration(checked: Checked, drawn: Drawn | None) -> tuple[list[Finding], pd.DataFrame, pd.DataFrame]:
    """Return findings, the histogram of the PIT, and tenths of documents by prediction."""
    tenths = evaluate.calibration_table(checked.responses, checked.means, BINS)
    if drawn is None:
        return [], pd.DataFrame(columns=["low", "high", "documents", "expected"]), tenths
    below = np.array([evaluate.pit_shares(drawn.family, y, drawn.eta, BINS, drawn.weight) for y in drawn.responses])
    heights, n = np.diff(below[0]), drawn.responses.shape[1]
    edges = np.linspace(0, 1, BINS + 1)
    pit = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "documents": n * heights, "expected": n / BINS})
    return [_pit_finding(checked, below, edges, n), _mean_finding(checked, drawn)], pit, tenths


def _pit_finding(checked: Checked, below: Vector, edges: Vector, n: int) -> Finding:
    distances = np.abs(below - edges).max(axis=1)
    limit = max(float(distances[1:].max()), PIT_MATTERS)
    measure, value = "largest distance of the PIT from that of calibrated predictions", float(distances[0])
    if value <= limit:
        return Finding("calibration", measure, value, limit)
    inside = below[0][BINS - 1] - below[0][1]
    middle = 1 - 2 / BINS
    problem = (
        f"Predicted distributions are off: {inside:.0%} of {n:,} responses lie in the middle {middle:.0%} of theirs, "
        f"{below[0][BINS // 2]:.0%} in the lower half (largest distance {value:.3f}; tolerated up to {limit:.3f})."
    )
    advice = 'Trust means more than chances and intervals; try family="auto".'
    return Finding("calibration", measure, value, limit, problem, advice)


def _mean_finding(checked: Checked, drawn: Drawn) -> Finding:
    means = drawn.family.mean(drawn.eta)
    order = np.argsort(means, kind="stable")
    tenth = np.empty(len(means), dtype=np.int64)
    tenth[order] = np.arange(len(means)) * BINS // len(means)
    size = np.bincount(tenth, drawn.weight)
    gaps = np.array([np.bincount(tenth, drawn.weight * (y - means)) / size for y in drawn.responses])
    largest = np.abs(gaps).max(axis=1)
    limit = max(float(largest[1:].max()), MATTERS * checked.spread)
    worst = int(np.abs(gaps[0]).argmax())
    measure, value = "largest gap between mean response and mean prediction of tenths", float(largest[0])
    if value <= limit:
        return Finding("calibration", measure, value, limit)
    at, naming = tenth == worst, checked.naming
    predicted = float(np.average(means[at], weights=drawn.weight[at]))
    problem = (
        f"Where {naming.mean(predicted)} is predicted, {naming.mean(predicted + gaps[0][worst])} is found "
        f"({int(at.sum()):,} texts, a tenth of them by prediction; tolerated up to {naming.amount(limit)} apart)."
    )
    advice = "See `reliability` for all tenths; fit anew with texts such as these."
    return Finding("calibration", measure, value, limit, problem, advice)


def dispersion(checked: Checked, drawn: Drawn | None, *, families: bool = True) -> list[Finding]:
    """Compare the scatter of responses with that of the family; if `families`, look for one that fits better."""
    if drawn is None:
        return []
    encoded = map(drawn.family.encode, drawn.responses)
    dispersions = np.array([dispersion_of(drawn.family, y, drawn.eta, drawn.weight) for y in encoded])
    ratios = dispersions / float(np.mean(dispersions[1:]))
    high, low = max(ratios[1:].max(), DISPERSION_MATTERS), min(ratios[1:].min(), 1 / DISPERSION_MATTERS)
    value, measure = float(ratios[0]), "scatter of responses over what the family says"
    better = [_better_family(checked)] if families else []
    if low <= value <= high:
        finding = Finding("dispersion", measure, value, float(high))
    else:
        how, width = ("more", "narrow") if value > high else ("less", "wide")
        problem = (
            f"Responses scatter {how} than the {drawn.family.name} family says: {value:.2f} times as much (tolerated "
            f"{low:.2f} to {high:.2f}), so intervals of single texts are too {width}."
        )
        named = better and better[0].wrong
        advice = "" if named else "Trust means more than intervals of single texts; standard errors should be robust."
        finding = Finding("dispersion", measure, value, float(high if value > high else low), problem, advice)
    return [finding, *better]


def _better_family(checked: Checked) -> Finding:
    """Find the family with the best held-back log score, by a GLM on the model's own linear predictor."""
    measure = "log score of the family over that of the best one"
    family, spoken = checked.family, checked.spoken
    # Training documents too: few parameters cannot overfit, but need many documents.
    rows = checked.answered[:: -(-len(checked.answered) // MOST_DRAWN)]
    eta, responses, weight = spoken.eta[rows], spoken.responses[rows], spoken.weight[rows]
    nothing = Finding("dispersion", measure, 0.0, SCORE_MATTERS)
    best = _best_at_first_sight(family, _others(family, responses), eta, responses, weight)
    if best is None:
        return nothing
    gains = _held_back(family, eta, responses, weight) - _held_back(best, eta, responses, weight)
    value = float(np.average(gains, weights=weight))
    limit = max(CLEAR * float(np.std(gains) / np.sqrt(len(gains))), SCORE_MATTERS)
    if value <= limit:
        return Finding("dispersion", measure, max(value, 0.0), limit)
    problem = (
        f"The {best.name} family fits better than {family.name}: held-back responses are {np.expm1(value):.0%} more "
        f"probable under it (log score lower by {value:.3f}; tolerated up to {limit:.3f})."
    )
    return Finding("dispersion", measure, value, limit, problem, f'Fit with family="{best.name}", or "auto".')


def _others(family: Family, responses: Vector) -> list[Family]:
    """Other families of the responses whose log scores can be compared: all discrete or all continuous."""
    levels = family.levels if hasattr(family, "levels") else None
    if family.has_text or (levels is not None and len(levels) == 2):
        return []
    try:
        families = candidates(responses, levels).families
    except InputError:
        return []

    def discrete(of: Family) -> bool:
        return hasattr(of.distribution(np.zeros(1)), "pmf")

    return [other for other in families if other.name != family.name and discrete(other) == discrete(family)]


def _best_at_first_sight(
    family: Family, others: list[Family], eta: Vector, responses: Vector, weight: Vector
) -> Family | None:
    """The family with the best mean log score, None if that is not better by `SCORE_MATTERS`."""
    if not others:
        return None
    folds = np.arange(len(eta)) % FOLDS
    with local_compute(1) as compute:
        choice = choose_family(Candidates("", (family, *others)), eta, folds, responses, weight, compute)
    scores = dict(choice.scores)
    best = min(others, key=lambda other: scores[other.name])
    return best if scores[family.name] - scores[best.name] > SCORE_MATTERS else None


def _held_back(family: Family, eta: Vector, responses: Vector, weight: Vector) -> Vector:
    """(documents,) log scores by fits that have not seen the document."""
    y, folds = family.encode(responses), np.arange(len(eta)) % FOLDS
    centre, scale = float(np.mean(eta)), float(np.std(eta)) or 1.0
    columns, scores = ((eta - centre) / scale)[:, None], np.empty(len(eta))
    with local_compute(1) as compute:
        model = ResponseModel(family, compute, 0.5 / COMMON_SPREAD**2, fit_intercept=True)
        for fold in range(FOLDS):
            out = folds == fold
            fit = fit_glm(model, columns[~out], y[~out], weight[~out])
            scores[out] = log_scores(fit.family, responses[out], fit.linear_predictor(columns[out]))
    return scores


# Residuals: does what the text leaves unexplained depend on its length, time, covariates or groups?

#: Fewest groups for errors between groups: with fewer these are too rough.
LEAST_GROUPS = 20
LENGTH = "the length of the text"
#: Fewest documents with a value of a covariate that is looked at.
LEAST = 30
#: Quantiles at which residuals are compared: low, middle, high.
ENDS = (0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class Curve:
    """Residuals as a curve of the ranks of a number.

    at : residuals expected at its low, middle and high quantiles; slope, error : from the low to the high one.
    wald, freedom, rest : statistic of the test of no curve, its degrees of freedom and those of the residuals.
    """

    at: Vector
    slope: float
    error: float
    wald: float
    freedom: int
    rest: int

    @property
    def p_value(self) -> float:
        """P value of the test of no curve."""
        return float(stats.f.sf(self.wald / self.freedom, self.freedom, self.rest))

    def by_chance(self, level: float) -> float:
        """Return the largest range of a curve of this shape that a test of this level would not reject."""
        critical = self.freedom * float(stats.f.isf(level, self.freedom, self.rest))
        return self.range * (critical / max(self.wald, np.finfo(float).tiny)) ** 0.5

    @property
    def range(self) -> float:
        """Difference between the highest and the lowest expected residual."""
        return float(np.ptp(self.at))


def curve_of(residuals: Vector, number: Vector, weight: Vector, groups: Codes | None = None) -> Curve:
    """Regress residuals on ranks of a number and their squares, with robust errors, or errors between groups.

    residuals, number, weight : (documents,); groups : (documents,) numbers of groups, None if absent.

    Examples
    --------
    >>> number = np.arange(100.0)
    >>> curve = curve_of(0.01 * number + np.tile([0.1, -0.1], 50), number, np.ones(100))
    >>> round(curve.slope, 2), curve.p_value < 1e-6
    (0.8, True)
    """
    rank = (stats.rankdata(number) - 0.5) / len(number)
    basis = _basis(rank)
    hessian = basis.T @ (weight[:, None] * basis)
    inverse = np.linalg.pinv(hessian, hermitian=True)
    effects = inverse @ (basis.T @ (weight * residuals))
    slopes = weight * (residuals - basis @ effects)
    covariance = (
        sandwich(basis, slopes, hessian) if groups is None else clustered_sandwich(basis, slopes, hessian, groups)
    )
    at = _basis(np.array(ENDS))
    low_to_high = at[-1] - at[0]
    rest = covariance[1:, 1:]
    return Curve(
        at=at @ effects,
        slope=float(low_to_high @ effects),
        error=float(np.sqrt(max(low_to_high @ covariance @ low_to_high, 0.0))),
        wald=float(effects[1:] @ np.linalg.pinv(rest, hermitian=True) @ effects[1:]),
        freedom=int(np.linalg.matrix_rank(rest, hermitian=True)) or 1,
        rest=(len(rank) if groups is None else len(np.unique(groups))) - basis.shape[1],
    )


def _basis(rank: Vector) -> Vector:
    centred = 2 * rank - 1
    return np.column_stack([np.ones(len(rank)), centred, centred**2 - 1 / 3])


def between(residuals: Vector, codes: Codes, weight: Vector) -> float:
    """Return the variance between the means of groups, less what the scatter of documents adds to it.

    codes : (documents,) numbers of groups from 0 on.

    Examples
    --------
    >>> between(np.array([1.0, 1.0, -1.0, -1.0]), np.array([0, 0, 1, 1]), np.ones(4))
    1.0
    """
    size = np.bincount(codes, weight)
    means = np.bincount(codes, weight * residuals) / size
    rest = np.bincount(codes, weight * (residuals - means[codes]) ** 2)
    freedom = max(len(residuals) - len(size), 1)
    mean = np.average(residuals, weights=weight)
    scatter = rest.sum() / weight.sum() * len(residuals) / freedom
    return float((size @ (means - mean) ** 2 - (len(size) - 1) * scatter * np.mean(weight)) / weight.sum())


def residuals(checked: Checked) -> list[Finding]:
    """Compare residuals with everything known but the words of the text."""
    left = checked.responses - checked.means
    numbers: dict[str, Any] = {LENGTH: checked.reading.n_words[checked.rows].astype(float)}
    kinds: dict[str, Any] = {}
    shown: dict[str, Callable[[float], str]] = {LENGTH: lambda value: f"{value:.0f} words"}
    if checked.times is not None:
        name = checked.time_name
        days = checked.times[checked.rows]
        numbers[name] = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(float))
        shown[name] = lambda value: str(np.datetime64(round(value), "D"))
    for name, column in () if checked.covariates is None else checked.covariates.iloc[checked.rows].items():
        is_number = pd.api.types.is_numeric_dtype(column.dtype) and column.nunique() > 2
        (numbers if is_number else kinds)[str(name)] = column.to_numpy()
    groups = None if checked.groups is None else checked.groups.iloc[checked.rows].to_numpy()
    level = LEVEL / len(numbers)
    findings = []
    for name, values in numbers.items():
        number = ResidualNumber(name, values.astype(float), shown.get(name, lambda value: f"{value:g}"))
        findings.append(_of_number(checked, left, number, level, groups))
    if groups is not None:
        kinds[checked.group_name] = groups
    for place, (name, cells) in enumerate(kinds.items()):
        findings.append(_of_kinds(checked, left, name, cells, checked.rng(100 + place)))
    return findings


@dataclass(frozen=True, eq=False)
class ResidualNumber:
    """A number of every document that residuals are compared with; show : writes one of its values."""

    name: str
    values: Vector
    show: Callable[[float], str]


def _of_number(
    checked: Checked, left: Vector, number: ResidualNumber, level: float, groups: NDArray[Any] | None
) -> Finding:
    name, known = number.name, np.isfinite(number.values)
    values = number.values[known]
    if len(values) < LEAST or np.unique(values).size < 3:
        return _too_few(name)
    curve = curve_of(left[known], values, checked.weight[known], _codes(groups, known))
    limit, naming = max(MATTERS * checked.spread, curve.by_chance(level)), checked.naming
    measure = f"residuals against {name}: range from low to high"
    if curve.range <= limit:
        return Finding("residuals", measure, curve.range, limit)
    ends = np.quantile(values, ENDS)
    parts = [f"{_signed(checked, at)} at {number.show(end)}" for at, end in zip(curve.at, ends, strict=True)]
    problem = (
        f"Responses go with {name} beyond what the text says: {', '.join(parts)} against the prediction, in "
        f"{naming.unit} (low to high {_signed(checked, curve.slope)}, standard error {naming.points(curve.error)}; "
        f"tolerated up to {naming.points(limit)}; {int(known.sum()):,} texts)."
    )
    return Finding("residuals", measure, curve.range, limit, problem, _advice(name))


def _of_kinds(checked: Checked, left: Vector, name: str, cells: NDArray[Any], rng: np.random.Generator) -> Finding:
    """Compare residuals of groups, or of levels of a category; null: documents dealt to groups at random."""
    codes, names = pd.factorize(pd.Series(cells))
    known = np.flatnonzero(codes >= 0)
    if len(known) < LEAST or not 1 < len(names) < len(known) / 2:
        return _too_few(name)
    left, weight, codes = left[known], checked.weight[known], codes[known]
    value = between(left, codes, weight)
    draws = []
    for _ in range(DRAWS):
        order = rng.permutation(len(left))
        draws.append(between(left[order], codes, weight[order]))
    size = float(np.sqrt(max(value, 0.0)))
    limit = max(float(np.sqrt(max(*draws, 0.0))), MATTERS * checked.spread)
    measure, naming = f"residuals against {name}: standard deviation between its values", checked.naming
    if size <= limit:
        return Finding("residuals", measure, size, limit)
    counts, sizes = np.bincount(codes), np.bincount(codes, weight)
    means = np.bincount(codes, weight * left) / sizes
    # Shrunk by their error, so that examples are extreme and have many texts.
    shrunk = means * value / (value + np.var(left) / counts)
    low, high = int(shrunk.argmin()), int(shrunk.argmax())
    problem = (
        f"Responses differ by {name} beyond what the text says: by a standard deviation of {naming.amount(size)} "
        f"(tolerated up to {naming.points(limit)}), such as {_signed(checked, means[low])} for {names[low]} "
        f"({counts[low]:,} texts) and {_signed(checked, means[high])} for {names[high]} ({counts[high]:,})."
    )
    return Finding("residuals", measure, size, limit, problem, _advice(name, checked.group_name))


def _too_few(name: str) -> Finding:
    nan = float("nan")
    return Finding("residuals", f"residuals against {name}: too few values, or texts of each value, to tell", nan, nan)


def _codes(groups: NDArray[Any] | None, known: NDArray[np.bool_]) -> Codes | None:
    """Numbers of groups, a separate one for each document without a group; None if there are too few."""
    if groups is None:
        return None
    codes, names = pd.factorize(pd.Series(groups[known]))
    if len(names) < LEAST_GROUPS:
        return None
    return np.where(codes < 0, len(names) + np.arange(len(codes)), codes).astype(np.int64)


def _signed(checked: Checked, difference: float) -> str:
    sign = "-" if difference < 0 else "+"
    return f"{sign}{checked.naming.points(difference)}"


def _advice(name: str, group_name: str = "") -> str:
    if name == group_name:
        return "Fit with groups=, so that standard errors mind them, or give them as a covariate."
    if name == LENGTH:
        return "Fit with the number of words as a covariate, or compare texts of like length."
    return f"Fit with {name} as a covariate, as a curve if it is one already: formula='bs({name}, 4)'."


# Duplicates and leakage: texts that occur more than once, and texts that contain the response itself.

#: Texts of fewer words may be equal by chance.
LEAST_WORDS = 8
#: Largest share of copies that does not matter.
COPIES_MATTER = 0.01
#: A word fixes the response if this share of its texts have the same one; the most telling words that people write by
#: themselves reach the second share. Responses of more levels than `PARTS` are cut into that number of parts.
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


def duplicates(checked: Checked) -> list[Finding]:
    """Count texts that occur more than once, exactly or up to case, spaces and punctuation."""
    long = checked.reading.n_words >= LEAST_WORDS
    texts = pd.Series(list(checked.reading.texts), dtype=object)
    plain = texts.map(plain_text)
    exact, alike = (each.duplicated() & long for each in (texts, plain))
    findings = [
        _copies(exact.to_numpy(), texts, "texts that an earlier one has", "are copies of others"),
        _copies(
            (alike & ~exact).to_numpy(),
            plain,
            "texts that differ from an earlier one in case, spaces or punctuation alone",
            "differ from others in case, spaces or punctuation alone",
        ),
    ]
    if checked.held_out.any() and not checked.held_out.all():
        findings.append(_in_both(checked, plain, long))
    return findings


def plain_text(text: str) -> str:
    """Return a text without case, punctuation and repeated spaces.

    Examples
    --------
    >>> plain_text(" A Room,  with view! ")
    'a room with view'
    """
    return " ".join(re.sub(r"[^\w\s]", "", text.lower()).split())


def _copies(later: NDArray[np.bool_], texts: pd.Series, measure: str, how: str) -> Finding:
    n, share = int(later.sum()), float(later.mean())
    if share <= COPIES_MATTER:
        return Finding("duplicates", measure, share, COPIES_MATTER)
    most = texts[later].value_counts()
    rows = (np.flatnonzero((texts == most.index[0]).to_numpy()) + 1).tolist()
    problem = f"{n:,} texts ({share:.1%}) {how}, and count every time; the most frequent is in {_rows(rows)}."
    advice = "Leave copies out unless each is somebody's own; intervals are too narrow with them."
    return Finding("duplicates", measure, share, COPIES_MATTER, problem, advice, tuple(rows[:NAMED]))


def _in_both(checked: Checked, plain: pd.Series, long: NDArray[np.bool_]) -> Finding:
    new = checked.held_out & long
    both = new & plain.isin(plain[~checked.held_out]).to_numpy()
    share = float(both.sum() / max(new.sum(), 1))
    measure = "held-out texts that are in training too"
    if share <= COPIES_MATTER:
        return Finding("duplicates", measure, share, COPIES_MATTER)
    rows = (np.flatnonzero(both) + 1).tolist()
    problem = (
        f"{len(rows):,} held-out texts ({share:.1%}) are in training too, which flatters held-out skill: {_rows(rows)}."
    )
    return Finding(
        "duplicates", measure, share, COPIES_MATTER, problem, "Hold all copies of a text out together.", tuple(rows)
    )


def leakage(checked: Checked, names: Sequence[str], present: sp.csr_array) -> list[Finding]:
    """Look for words, and stated numbers, that are the response itself.

    names : (features,); present : (documents, features), not 0 if a document has a feature.
    """
    return [_stated_finding(checked), _fixed_finding(checked, names, present)]


def stated_number(text: str) -> float:
    """Return the rating that a text states, as a share of its scale (5 stars, or what follows "/"), NaN if absent.

    Examples
    --------
    >>> stated_number("Four stars from me."), stated_number("8/10"), stated_number("Room 5 was cold.")
    (0.8, 0.8, nan)
    """
    lower = text.lower()
    for words, pattern in STATEMENTS:
        if any(word in lower for word in words) and (match := pattern.search(lower)) is not None:
            number, scale = _as_number(match[1]), _as_number(match[2]) if match[2] else 5.0
            return number / scale if scale in (5, 6, 7, 10, 20, 100) and number <= 2 * scale else float("nan")
    return float("nan")


def _as_number(text: str) -> float:
    return float(NUMBERS.get(text, text.replace(",", ".")))


def _stated_finding(checked: Checked) -> Finding:
    measure, rows = "correlation of the response with a rating that texts state", checked.answered
    stated = np.array([stated_number(checked.reading.texts[row]) for row in rows.tolist()])
    responses = checked.spoken.responses[rows]
    known = np.isfinite(stated)
    n = int(known.sum())
    least = max(LEAST_STATED, STATED_SHARE * len(rows))
    varied = n >= LEAST_STATED and np.ptp(stated[known]) > 0 and np.ptp(responses[known]) > 0
    value = abs(float(stats.spearmanr(stated[known], responses[known])[0])) if varied else 0.0
    # More than n pairs have by chance.
    limit = max(STATED, min(1.0, float(stats.norm.isf(LEVEL)) / max(n - 1, 1) ** 0.5))
    if n < least or value <= limit:
        return Finding("leakage", measure, value, limit)
    where = rows[known]
    problem = (
        f"{n:,} texts ({n / len(rows):.1%}) state a rating (“5 stars”, “8/10”), which goes with the response to a "
        f"correlation of {value:.2f}, such as {_rows((where + 1).tolist())}.{_without(checked, where)}"
    )
    advice = "Take such statements out of the texts, or these texts out of the data: a theme cannot be worth a rating."
    return Finding("leakage", measure, value, limit, problem, advice, tuple((where[:NAMED] + 1).tolist()))


def _fixed_finding(checked: Checked, names: Sequence[str], present: sp.csr_array) -> Finding:
    """Features whose documents nearly all have the same response, unlike words that people write by themselves."""
    rows, responses = checked.answered, checked.spoken.responses
    kinds = kinds_of(responses[rows])
    here = sp.csc_array(present)[rows].astype(bool).astype(float)
    size = here.sum(axis=0)
    most = np.max([here.T @ (kinds == kind) for kind in range(kinds.max() + 1)], axis=0)
    purity = np.divide(most, size, out=np.zeros(len(size)), where=size > 0)
    # At least the share of telling words, and more if one response is frequent anyway.
    usual = max(TELLING, 1 - (1 - float(np.bincount(kinds).max() / len(kinds))) * (1 - TELLING) * 2)
    chance = stats.binom.sf(most - 1, size, usual)
    fixed = np.flatnonzero((purity >= FIXED) & (chance < LEVEL))
    enough = size >= np.log(LEVEL) / np.log(usual)
    measure = "share of texts with a word that have the same response: most of all words"
    value = float(purity[enough].max()) if enough.any() else 0.0
    if not fixed.size:
        return Finding("leakage", measure, value, FIXED)
    order = fixed[np.argsort(-size[fixed], kind="stable")]
    with_it = rows[np.asarray(here[:, order].sum(axis=1)).ravel() > 0]
    listed = []
    for j in order[:NAMED].tolist():
        mean = float((here[:, [j]].T @ responses[rows]).item() / size[j])
        listed.append(f"“{names[j]}” ({int(size[j]):,} texts, {checked.naming.mean(mean)} on average)")
    more = f" and {len(order) - NAMED:,} more" if len(order) > NAMED else ""
    problem = (
        f"The response is all but fixed where there is {', '.join(listed)}{more}: {len(with_it):,} texts in all, such "
        f"as {_rows((with_it + 1).tolist())}.{_without(checked, with_it)}"
    )
    advice = "If these words were written because of the response, take them out of the texts."
    return Finding("leakage", measure, value, FIXED, problem, advice, tuple((with_it[:NAMED] + 1).tolist()))


def kinds_of(responses: Vector) -> NDArray[np.int64]:
    """Return (documents,) numbers of levels, or of equal parts by rank if there are more than `PARTS` levels.

    Examples
    --------
    >>> kinds_of(np.array([1.0, 5.0, 1.0]))
    array([0, 1, 0])
    """
    levels, places = np.unique(responses, return_inverse=True)
    if len(levels) <= PARTS:
        return places.astype(np.int64)
    return np.asarray((stats.rankdata(responses) - 1) * PARTS // len(responses), dtype=np.int64)


def _without(checked: Checked, rows: NDArray[np.int64]) -> str:
    """R2 with and without some documents, as a sentence."""
    rest = np.setdiff1d(checked.answered, rows)
    if len(rest) < LEAST_STATED:
        return ""
    responses, means = checked.spoken.responses, checked.family.mean(checked.spoken.eta)
    every = r2_score(responses[checked.answered], means[checked.answered])
    return f" R2 is {every:.2f} with these texts and {r2_score(responses[rest], means[rest]):.2f} without."


def _rows(rows: Sequence[int]) -> str:
    listed = ", ".join(f"{row:,}" for row in rows[:NAMED])
    more = f" and {len(rows) - NAMED:,} more" if len(rows) > NAMED else ""
    return f"row{'' if len(rows) == 1 else 's'} {listed}{more}"


# Influence: does a cost depend on a single document, or on one group?

#: Largest change of a cost by one document that does not matter, in standard errors by all others.
ONE_MATTERS = 1.0
#: Largest share of a cost that one group may make up; costs below this share of the responses' deviation are nothing.
GROUP_MATTERS, NOTHING = 0.5, 0.01


@dataclass(frozen=True, eq=False)
class Influence:
    """Costs of themes, and how they change without single documents.

    costs : (themes,); parts : (documents, themes) share of each document in them; weight : (documents,).
    moves : (documents, themes) change of each cost through the coefficients if a document is removed.
    """

    costs: Vector
    parts: Vector
    weight: Vector
    moves: Vector

    @property
    def of_documents(self) -> Vector:
        """(documents, themes) change of each cost if a document is removed."""
        rest = np.maximum(self.weight.sum() - self.weight, np.finfo(float).tiny)
        return (self.weight / rest)[:, None] * (self.costs - self.parts) + self.moves

    @property
    def in_errors(self) -> Vector:
        """(documents, themes) these changes in standard errors of costs, by the jackknife over all other documents."""
        squares = self.of_documents**2
        return np.sqrt(squares / np.maximum(squares.sum(axis=0) - squares, np.finfo(float).tiny))

    def of_groups(self, codes: NDArray[np.int64]) -> Vector:
        """Return (groups, themes) the change of each cost if a group is removed; codes : (documents,) -1 if absent."""
        rows = np.flatnonzero(codes >= 0)
        shape = (int(codes.max()) + 1, len(codes))
        sums = sp.csr_array((np.ones(len(rows)), (codes[rows], rows)), shape=shape)
        rest = np.maximum(self.weight.sum() - sums @ self.weight, np.finfo(float).tiny)
        return np.asarray(sums @ self._away / rest[:, None] + sums @ self.moves, dtype=float)

    @cached_property
    def _away(self) -> Vector:
        return self.weight[:, None] * (self.costs - self.parts)


def influence_on_costs(spoken: Mentions) -> Influence:
    """Approximate how costs change without each document, by one Newton step.

    The cost of theme k is a mean over documents, and the coefficients of the GLM in it were fitted to them. Without
    some documents g it changes by their part of the mean, and by the change of the coefficients:

        cost_k(-g) - cost_k ~ sum_g w (cost_k - d_k) / (W - W_g)  +  grad_k . H^-1 sum_g slope x

    d_k is a document's own part of the cost, x its columns (what each theme adds, shares of its text, 1), slope the
    derivative of its loss, H = sum w curvature x x'. Themes and the tone of words stay as they are.
    """
    family, eta, weight, bad = spoken.family, spoken.eta, spoken.weight, spoken.bad
    total, n_themes = weight.sum(), spoken.tone.shape[1]
    before = family.mean(eta)
    without = eta[:, None] - bad
    parts = spoken.better * (family.mean(without.ravel()).reshape(without.shape) - before[:, None])
    costs = weight @ parts / total
    columns = np.column_stack([spoken.tone, spoken.shares, np.ones(len(eta))])
    y = family.encode(spoken.responses)
    known = ~np.isnan(y)
    slopes, curvature = np.zeros(len(eta)), np.zeros(len(eta))
    slopes[known] = weight[known] * family.gradient(y[known], eta[known])
    curvature[known] = weight[known] * family.curvature(y[known], eta[known])
    hessian = columns.T @ (curvature[:, None] * columns)
    here, gradients = mean_slope(family, eta), np.empty((columns.shape[1], n_themes))
    for k in range(n_themes):
        there = mean_slope(family, without[:, k])
        gradients[:, k] = (weight * (there - here)) @ columns
        gradients[k, k] -= weight @ (there * bad[:, k])
    step = np.linalg.pinv(hessian, hermitian=True) @ (spoken.better * gradients / total)
    return Influence(costs, parts, weight, (columns * slopes[:, None]) @ step)


def influence(checked: Checked) -> list[Finding]:
    """Look for documents, and groups, without which a cost would be much different."""
    influences = influence_on_costs(checked.spoken)
    findings = [_of_documents(checked, influences)]
    if checked.groups is not None:
        codes, names = pd.factorize(checked.groups)
        if len(names) > 1:
            findings.append(_of_groups(checked, influences, codes.astype(np.int64), names))
    return findings


def _of_documents(checked: Checked, influences: Influence) -> Finding:
    moved, shares = influences.of_documents, influences.in_errors
    measure = "change of a cost without one text, in standard errors of all others"
    matters = (shares > ONE_MATTERS) & (np.abs(moved) > NOTHING * checked.spread)
    if not matters.any():
        return Finding("influence", measure, float(shares.max()), ONE_MATTERS)
    shares = np.where(matters, shares, 0.0)
    row, k = divmod(int(shares.argmax()), shares.shape[1])
    value = float(shares[row, k])
    largest = [int(r) + 1 for r in np.argsort(-shares.max(axis=1), kind="stable") if matters[r].any()]
    problem = (
        f"Without the text in row {row + 1:,} {_changed(checked, k, influences.costs[k], moved[row, k])} "
        f"(a change of {value:.1f} standard errors of all others)."
    )
    advice = "Read that text and check its response and weight before you report this cost."
    return Finding("influence", measure, value, ONE_MATTERS, problem, advice, tuple(largest[:5]))


def _of_groups(checked: Checked, influences: Influence, codes: NDArray[np.int64], names: pd.Index) -> Finding:
    """Null: documents dealt to groups at random, for each theme separately."""
    moved, rng = influences.of_groups(codes), checked.rng(200)
    draws = [np.abs(influences.of_groups(rng.permutation(codes))).max(axis=0) for _ in range(DRAWS)]
    least = NOTHING * checked.spread
    costs = np.maximum(np.abs(influences.costs), least)
    limits = np.maximum(np.max(draws, axis=0) / costs, GROUP_MATTERS)
    shares = np.where(np.abs(influences.costs) > least, np.abs(moved) / costs, 0.0)
    group, k = divmod(int((shares / limits).argmax()), shares.shape[1])
    value, limit = float(shares[group, k]), float(limits[k])
    measure = f"change of a cost without one {checked.group_name}, as a share of it"
    if value <= limit:
        return Finding("influence", measure, value, limit)
    problem = (
        f"Without {names[group]} ({int((codes == group).sum()):,} texts) "
        f"{_changed(checked, k, influences.costs[k], moved[group, k])} "
        f"(a change of {value:.0%}; tolerated up to {limit:.0%})."
    )
    advice = f"It is a matter of that {checked.group_name} rather than of all: see drivers(by=...)."
    return Finding("influence", measure, value, limit, problem, advice)


def _changed(checked: Checked, theme: int, cost: float, change: float) -> str:
    naming = checked.naming
    after, before = (f"{naming.steps * value:.{naming.digits + 1}f}" for value in (cost + change, cost))
    return f"the cost of “{checked.labels[theme]}” would be {after} instead of {before} {naming.unit}"


def check_all(checked: Checked, reader: ThemeReader, *, families: bool = True) -> Check:
    """Run all checks; families : also fit other families, which takes longer than everything else."""
    n_answered = len(checked.answered)
    if n_answered < FEWEST:
        raise InputError(f"{n_answered:,} texts have a response, which are too few to check; give at least {FEWEST}")
    if checked.spread == 0:
        raise InputError(
            "the response is constant in these texts, so nothing can be checked; check the response column"
        )
    drawn = Drawn.of(checked)
    calibrated, pit, reliability = calibration(checked, drawn)
    findings = [
        *skill(checked),
        *calibrated,
        *dispersion(checked, drawn, families=families),
        *residuals(checked),
        *duplicates(checked),
        *leakage(checked, *features_of(reader, checked.reading)),
        *influence(checked),
    ]
    return Check(tuple(findings), n_answered, checked.where, pit, reliability)


def can_check(checked: Checked) -> bool:
    """Return True if enough documents have a response, and responses differ."""
    return len(checked.answered) >= FEWEST and checked.spread > 0


def features_of(reader: ThemeReader, reading: Reading) -> tuple[Sequence[str], sp.csr_array]:
    """Return names of the model's features, and (documents, features) counts."""
    if not isinstance(reader, ThemeReader) or reading.clauses is None:
        return reader.terms, reading.X
    features, occurrences = reader.fitted.features, reading.clauses.occurrences
    documents = reading.clauses.texts.documents[occurrences.sentences]
    ones, shape = np.ones(len(documents)), (len(reading.texts), len(features))
    return features.names, sp.csr_array(sp.coo_array((ones, (documents, occurrences.features)), shape=shape))
