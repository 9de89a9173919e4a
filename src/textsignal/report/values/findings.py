"""Findings of a report: what to fix, what to keep, how far to trust it, and what looks wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textsignal.evaluation import metrics as evaluate
from textsignal.insight.findings import NOTHING, cost_of, gain_of, titles_of, to_fix, to_keep
from textsignal.insight.naming import MEASURES, Naming, is_clear, range_of
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import (
    DocumentsSummary,
    Findings,
    Named,
    Prediction,
    ReportedModel,
    ReportSettings,
    Scores,
    Sentence,
    ThemeCard,
)
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.wording import one_line
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


def findings(
    themes: Sequence[ThemeCard],
    documents: DocumentsSummary,
    prediction: Prediction | None,
    settings: ReportSettings,
    noun: str,
    basis: str = "",
) -> Findings:
    """Put the report in a few sentences; basis : a sentence on the documents that the model was fitted to."""
    naming = settings.naming
    fixed = to_fix(themes, naming)
    kept = to_keep(themes, fixed, naming)
    texts = "1 text was" if documents.documents == 1 else f"{documents.documents:,} texts were"
    nouns = f"1 {noun}" if len(themes) == 1 else f"{len(themes)} {noun}s"
    read = f"{texts} read for what they speak of ({nouns}), how they speak of it, and what that is worth."
    return Findings(
        lead=Sentence((f"{read} {basis}".rstrip(),)),
        titles=titles_of(fixed, kept, naming),
        to_fix=tuple(
            Sentence((_named(theme), cost_of(theme, naming) + _where("Worst", theme.worst, settings)))
            for theme in fixed
        ),
        to_keep=tuple(
            Sentence((_named(theme), gain_of(theme, naming) + _where("Best", theme.best, settings))) for theme in kept
        ),
        conclusion=_conclusion(themes, naming, noun),
        trust=_trust(documents, prediction, naming),
        warnings=tuple(_warnings(themes, documents, prediction)),
    )


def _where(which: str, groups: Sequence[str], settings: ReportSettings) -> str:
    return f" {which} {settings.group_name}: {groups[0]}." if groups else ""


def _named(theme: ThemeCard) -> Named:
    return Named(theme.number, theme.label)


def _conclusion(themes: Sequence[ThemeCard], naming: Naming, noun: str) -> Sentence:
    """Sentence on the chart of drivers, limited to clear effects."""
    parts: list[str | Named] = []
    for measure, verb in zip(MEASURES, ("costs", "brings"), strict=True):
        clear = [theme for theme in themes if getattr(theme, measure) >= NOTHING and is_clear(theme, measure)]
        if not clear:
            continue
        most = max(clear, key=lambda theme: getattr(theme, measure))
        largest = max(getattr(theme, measure) for theme in themes)
        of_clear = "" if getattr(most, measure) == largest else " of what is clear"
        span = range_of(most, measure)
        around = "" if span is None else f" ({span.written(naming)})"
        parts += ["; "] if parts else []
        parts += [_named(most), f" {verb} most{of_clear}: {naming.amount(getattr(most, measure))}{around}"]
    clearly = "" if all(is_clear(theme, name) for theme in themes for name in MEASURES) else "clearly "
    return Sentence(tuple(parts) or (f"No {noun} {clearly}moves {naming.subject}.",))


def _trust(documents: DocumentsSummary, prediction: Prediction | None, naming: Naming) -> tuple[Sentence, ...]:
    """Sentences on skill and on the number of training texts."""
    if prediction is None:
        return (Sentence(("No text has a response here, so it cannot be said how well the model predicts.",)),)
    ours, ridge = _measured(prediction, "this model"), _measured(prediction, "ridge")
    assert ours is not None
    where = f"{ours.documents:,} texts it had not seen" if prediction.held_out else "the very texts it was fitted to"
    much = next(words for least, words in SKILL if not ours.r2 < least)
    # An error in predicting one of two values means little.
    error = "" if naming.event else f", and is typically off by {naming.amount(ours.rmse)} for a single text"
    skill = (
        f"The text accounts for {much} of the differences in {naming.subject}: the model explains "
        f"{_percent(ours.r2)} of them in {where}{error}."
    )
    baseline = "" if ridge is None else f" A regression on the counts of its terms explains {_percent(ridge.r2)}."
    return Sentence((skill + baseline,)), Sentence((f"It learnt from {documents.training:,} of the texts.",))


def _measured(prediction: Prediction, name: str) -> Scores | None:
    """Scores of one predictor, on held-out documents if there are any."""
    row = next((row for row in prediction.rows if row.name == name), None)
    if row is None:
        return None
    return row.held_out if prediction.held_out else row.training


def _warnings(themes: Sequence[ThemeCard], documents: DocumentsSummary, prediction: Prediction | None) -> list[str]:
    """Reasons not to trust the findings."""
    warnings = [warning] if (warning := unstable(themes)) else []
    ours = None if prediction is None else prediction.rows[0]
    if ours is not None and ours.training is not None and ours.held_out is not None:
        overfit = evaluate.overfit_warning(ours.training.r2, ours.held_out.r2, ours.held_out.documents)
        if overfit:
            warnings.append(f"Training skill is far above held-out skill. {overfit}.")
    if prediction is not None and not prediction.held_out:
        warnings.append(
            "No text was held out, so skill is that on texts that the model was fitted to, which flatters it."
        )
    if 0 < documents.training < FEW_TEXTS:
        warnings.append(
            f"It learnt from few texts ({documents.training:,}): another sample may well say something else."
        )
    if documents.copies > MANY_COPIES * documents.documents:
        warnings.append(f"{documents.copies:,} texts are copies of others, and count every time.")
    if documents.leaked:
        warnings.append(f"{documents.leaked:,} held-out texts are in training too, which flatters held-out skill.")
    if prediction is not None and abs(prediction.interval_held - prediction.interval_meant) > POOR_COVERAGE:
        warnings.append(
            f"Its intervals are not to be believed: those that should hold {prediction.interval_meant:.0%} of the "
            f"responses held {prediction.interval_held:.0%}."
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
    warning = f"{listed} {verb} cut differently in other samples of these texts: read {them} with care."
    return f"{warning} Fewer themes may be steadier." if len(labels) >= MANY * len(cards) else warning


def to_look_at(
    model: ReportedModel, documents: ReportTexts, themes: Sequence[ThemeCard], settings: ReportSettings
) -> tuple[Finding, ...]:
    """Return what looks wrong beyond the warnings; empty if too few texts have a response to check, or without themes."""
    if not isinstance(model.reader_, ThemeReader):
        return ()
    labels = {theme.number: theme.label for theme in themes}
    checked = Checked(
        reader=model.reader_,
        reading=documents.reading,
        spoken=documents.spoken,
        labels=[labels[number] for number in range(len(labels))],
        naming=settings.naming,
        held_out=documents.held_out,
        groups=documents.groups,
        times=documents.times,
        group_name=settings.group_name,
        time_name=settings.time_name,
    )
    if not can_check(checked):
        return ()
    wrong = check_all(checked, families=False).wrong
    return tuple(replace(each, problem=one_line(each.problem)) for each in wrong if each.check not in WARNED)
