"""Findings of a report: what to fix, what to keep, how reliable they are, and what looks wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textsignal.evaluation import metrics as evaluate
from textsignal.insight.findings import NOTHING, cost_of, gain_of, titles_of, to_fix, to_keep
from textsignal.insight.naming import MEASURES, Naming, is_clear, range_of
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.cards import ThemeCard
from textsignal.report.values.data import Named, Sentence
from textsignal.report.values.skill import Prediction
from textsignal.report.values.texts import ReportTexts, TextsSummary
from textsignal.report.values.wording import one_line, verbs
from textsignal.uncertainty.checks import Checked, Finding, can_check, check_all

#: Warn below this number of training texts, and above this share of copies.
FEW_TEXTS, MANY_COPIES = 300, 0.05
#: Warn if coverage of intervals is off by more than this.
POOR_COVERAGE = 0.1
#: Most unstable themes that a warning names; share of unstable themes from which it advises fewer.
NAMED, MANY = 3, 1 / 3
#: Checks that warnings already cover: copies, and skill that is absent or does not generalise.
WARNED = ("duplicates", "skill")
#: Least R2 -> how much of the differences in the response the text accounts for.
SKILL = ((0.5, "a large part"), (0.25, "a fair part"), (0.1, "a small part"), (-1e9, "next to nothing"))


@dataclass(frozen=True)
class Findings:
    """Main results of a report in sentences.

    titles : of what to fix and what to keep; to_fix, to_keep : one theme per sentence.
    conclusion : of the chart of drivers.
    trust : skill and sample size; warnings : reasons for doubt.
    """

    titles: tuple[str, str]
    to_fix: tuple[Sentence, ...]
    to_keep: tuple[Sentence, ...]
    conclusion: Sentence
    trust: str
    warnings: tuple[str, ...]


def findings(
    themes: Sequence[ThemeCard], summary: TextsSummary, prediction: Prediction | None, naming: Naming
) -> Findings:
    """Put the report in a few sentences."""
    fixed = to_fix(themes, naming)
    kept = to_keep(themes, fixed, naming)
    return Findings(
        titles=titles_of(fixed, kept, naming),
        to_fix=tuple(Sentence(Named(theme.number, theme.label), cost_of(theme, naming)) for theme in fixed),
        to_keep=tuple(Sentence(Named(theme.number, theme.label), gain_of(theme, naming)) for theme in kept),
        conclusion=_conclusion(themes, naming),
        trust=_trust(summary, prediction, naming),
        warnings=tuple(_warnings(themes, summary, prediction)),
    )


def _conclusion(themes: Sequence[ThemeCard], naming: Naming) -> Sentence:
    """Sentence on the chart of drivers, limited to clear effects of themes other than the overall verdict."""
    parts: list[str | Named] = []
    themes = [theme for theme in themes if not theme.is_overall]
    for measure, verb in zip(MEASURES, verbs(naming), strict=True):
        clear = [theme for theme in themes if getattr(theme, measure) >= NOTHING and is_clear(theme, measure)]
        if not clear:
            continue
        most = max(clear, key=lambda theme: getattr(theme, measure))
        largest = max(getattr(theme, measure) for theme in themes)
        of_clear = "" if getattr(most, measure) == largest else " of all clear ones"
        span = range_of(most, measure)
        around = "" if span is None else f" ({span.written(naming)})"
        parts += ["; "] if parts else []
        parts += [
            Named(most.number, most.label),
            f" {verb} most{of_clear}: {naming.amount(getattr(most, measure))}{around}",
        ]
    clearly = "" if all(is_clear(theme, name) for theme in themes for name in MEASURES) else "clearly "
    return Sentence(*parts) if parts else Sentence(f"No theme {clearly}moves {naming.subject}.")


def _trust(summary: TextsSummary, prediction: Prediction | None, naming: Naming) -> str:
    """Sentences on skill and on the number of training texts."""
    ours = None if prediction is None else prediction.measured("this model")
    if prediction is None or ours is None:
        return "No text has a response here, so the skill of the model cannot be measured."
    ridge = prediction.measured("ridge")
    where = f"{ours.texts:,} texts held out from training" if prediction.held_out else "its training texts"
    much = next(words for least, words in SKILL if not ours.r2 < least)
    # An error in predicting one of two values means little.
    error = "" if naming.event else f", and its typical error for a single text is {naming.amount(ours.rmse)}"
    baseline = "" if ridge is None else f" A regression on term counts explains {_percent(ridge.r2)}."
    return (
        f"The text accounts for {much} of the differences in {naming.subject}: the model explains "
        f"{_percent(ours.r2)} of them in {where}{error}.{baseline} It was fitted to {summary.training:,} of the texts."
    )


def _warnings(themes: Sequence[ThemeCard], summary: TextsSummary, prediction: Prediction | None) -> list[str]:
    """Reasons not to trust the findings."""
    warnings = [warning] if (warning := unstable(themes)) else []
    ours = None if prediction is None else prediction.rows[0]
    if ours is not None and ours.training is not None and ours.held_out is not None:
        overfit = evaluate.overfit_warning(ours.training.r2, ours.held_out.r2, ours.held_out.texts)
        if overfit:
            warnings.append(f"Training skill is far above held-out skill. {overfit}.")
    if prediction is not None and not prediction.held_out:
        warnings.append("No text was held out, so skill is measured on training texts and is too optimistic.")
    if 0 < summary.training < FEW_TEXTS:
        warnings.append(f"The model was fitted to few texts ({summary.training:,}): another sample may differ.")
    if summary.copies > MANY_COPIES * summary.texts:
        warnings.append(f"{summary.copies:,} texts are copies of others, and each copy is counted.")
    if summary.leaked:
        warnings.append(f"{summary.leaked:,} held-out texts are in training too, so held-out skill is too optimistic.")
    if prediction is not None and abs(prediction.interval_held - prediction.interval_meant) > POOR_COVERAGE:
        warnings.append(
            f"Prediction intervals are wrong: those meant to contain {prediction.interval_meant:.0%} of the responses "
            f"contain {prediction.interval_held:.0%}."
        )
    return warnings


def _percent(r2: float) -> str:
    return f"{max(r2, 0):.0%}" if r2 == r2 else "an unknown share"


def unstable(cards: Sequence[ThemeCard]) -> str | None:
    """Return a warning that names unstable themes, in the order of the cards; None if all are stable."""
    labels = [f"“{card.label}”" for card in cards if card.unstable]
    if not labels:
        return None
    named = labels if len(labels) <= NAMED + 1 else [*labels[:NAMED], f"{len(labels) - NAMED} more"]
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    verb, them = ("is", "it") if len(labels) == 1 else ("are", "them")
    warning = f"{listed} {verb} unstable: most refits to other samples do not reproduce {them}."
    return f"{warning} Fewer themes may be more stable." if len(labels) >= MANY * len(cards) else warning


def to_look_at(reader: ThemeReader, texts: ReportTexts, themes: Sequence[ThemeCard]) -> tuple[Finding, ...]:
    """Return what looks wrong beyond the warnings; empty if too few texts have a response to check."""
    checked = Checked(
        reader=reader,
        reading=texts.reading,
        labels=[theme.label for theme in sorted(themes, key=lambda theme: theme.number)],
        naming=texts.naming,
        group_name=texts.settings.group_name,
        time_name=texts.settings.time_name,
    )
    if not can_check(checked):
        return ()
    wrong = check_all(checked, families=False).wrong
    return tuple(replace(each, problem=one_line(each.problem)) for each in wrong if each.check not in WARNED)
