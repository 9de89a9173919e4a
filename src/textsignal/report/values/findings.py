"""The findings of a report: what to fix, what to keep and how far to trust it, in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence

from textsignal.evaluation import metrics as evaluate
from textsignal.insight.findings import NOTHING, cost_of, titles_of, to_fix, to_keep, worth_of
from textsignal.insight.naming import MEASURES, is_clear, range_of
from textsignal.report.values.data import (
    DocumentsSummary,
    Findings,
    Named,
    Prediction,
    ReportSettings,
    Scores,
    Sentence,
    TopicCard,
)
from textsignal.report.values.stability import unstable

#: Fewer training texts than this are few; a share of copies above this is much.
FEW_TEXTS, MANY_COPIES = 300, 0.05
#: Intervals that hold this much less or more of the responses than they should are not to be believed.
POOR_COVERAGE = 0.1
#: R2 from which the text says this much of the differences in the response.
SKILL = ((0.5, "a large part"), (0.25, "a fair part"), (0.1, "a small part"), (-1e9, "next to nothing"))


def findings(
    topics: Sequence[TopicCard],
    documents: DocumentsSummary,
    prediction: Prediction | None,
    settings: ReportSettings,
    noun: str,
    basis: str = "",
) -> Findings:
    """The report in a few sentences; basis : a sentence on what was learnt from which documents."""
    fixed = to_fix(topics, settings.naming)
    kept = to_keep(topics, fixed, settings.naming)
    return Findings(
        lead=_lead(topics, documents, noun, basis),
        titles=titles_of(fixed, kept, settings.naming),
        to_fix=tuple(
            Sentence((_named(topic), cost_of(topic, settings.naming) + _where("Worst", topic.worst, settings)))
            for topic in fixed
        ),
        to_keep=tuple(
            Sentence((_named(topic), worth_of(topic, settings.naming) + _where("Best", topic.best, settings)))
            for topic in kept
        ),
        conclusion=_conclusion(topics, settings, noun),
        trust=_trust(documents, prediction, settings),
        warnings=tuple(_warnings(topics, documents, prediction)),
    )


def _lead(topics: Sequence[TopicCard], documents: DocumentsSummary, noun: str, basis: str) -> Sentence:
    texts = "1 text was" if documents.documents == 1 else f"{documents.documents:,} texts were"
    found = f"1 {noun}" if len(topics) == 1 else f"{len(topics)} {noun}s"
    read = f"{texts} read for what they speak of ({found}), how they speak of it, and what that is worth."
    return Sentence((f"{read} {basis}".rstrip(),))


def _where(which: str, groups: Sequence[str], settings: ReportSettings) -> str:
    """The group that stands out most, where there is one."""
    return f" {which} {settings.group_name}: {groups[0]}." if groups else ""


def _named(topic: TopicCard) -> Named:
    return Named(topic.number, topic.label)


def _conclusion(topics: Sequence[TopicCard], settings: ReportSettings, noun: str) -> Sentence:
    """What the chart of drivers shows, of what is clear."""
    parts: list[str | Named] = []
    for measure, verb in zip(MEASURES, ("costs", "brings"), strict=True):
        told = [topic for topic in topics if getattr(topic, measure) >= NOTHING and is_clear(topic, measure)]
        if not told:
            continue
        most = max(told, key=lambda topic: getattr(topic, measure))
        largest = max(getattr(topic, measure) for topic in topics)
        of_clear = "" if getattr(most, measure) == largest else " of what is clear"
        span = range_of(most, measure)
        around = "" if span is None else f" ({span.written(settings.naming)})"
        parts += ["; "] if parts else []
        parts += [_named(most), f" {verb} most{of_clear}: {settings.naming.amount(getattr(most, measure))}{around}"]
    clearly = "" if all(is_clear(topic, name) for topic in topics for name in MEASURES) else "clearly "
    return Sentence(tuple(parts) or (f"No {noun} {clearly}moves {settings.naming.subject}.",))


def _trust(
    documents: DocumentsSummary, prediction: Prediction | None, settings: ReportSettings
) -> tuple[Sentence, ...]:
    """How much the text says about the response, and how many documents say so."""
    learnt = f"It learnt from {documents.training:,} of the texts."
    if prediction is None:
        return (Sentence(("No text has a response here, so it cannot be said how well the model predicts.",)),)
    ours, ridge = _measured(prediction, "this model"), _measured(prediction, "ridge")
    assert ours is not None
    where = f"{ours.documents:,} texts it had not seen" if prediction.held_out else "the very texts it was fitted to"
    much = next(words for least, words in SKILL if not ours.r2 < least)
    said = (
        f"The text accounts for {much} of the differences in {settings.naming.subject}: the model explains "
        f"{_percent(ours.r2)} of them in {where}{_error(ours, settings)}."
    )
    beside = "" if ridge is None else f" A regression on the counts of its terms explains {_percent(ridge.r2)}."
    return Sentence((said + beside,)), Sentence((learnt,))


def _error(scores: Scores, settings: ReportSettings) -> str:
    """How far a prediction is from a single response, which of two values says little."""
    naming = settings.naming
    return "" if naming.event else f", and is typically off by {naming.amount(scores.rmse)} for a single text"


def _measured(prediction: Prediction, name: str) -> Scores | None:
    """Scores of one way to predict, on held-out documents where there are some."""
    row = next((row for row in prediction.rows if row.name == name), None)
    if row is None:
        return None
    return row.held_out if prediction.held_out else row.training


def _warnings(topics: Sequence[TopicCard], documents: DocumentsSummary, prediction: Prediction | None) -> list[str]:
    """What speaks against believing the findings."""
    found = [warning] if (warning := unstable(topics)) else []
    ours = None if prediction is None else prediction.rows[0]
    if ours is not None and ours.training is not None and ours.held_out is not None:
        overfit = evaluate.overfit_warning(ours.training.r2, ours.held_out.r2, ours.held_out.documents)
        if overfit:
            found.append(f"Training skill is far above held-out skill. {overfit}.")
    if prediction is not None and not prediction.held_out:
        found.append("No text was held out, so skill is that on texts that the model was fitted to, which flatters it.")
    if 0 < documents.training < FEW_TEXTS:
        found.append(f"It learnt from few texts ({documents.training:,}): another sample may well say something else.")
    if documents.copies > MANY_COPIES * documents.documents:
        found.append(f"{documents.copies:,} texts are copies of others, and count every time.")
    if documents.leaked:
        found.append(f"{documents.leaked:,} held-out texts are in training too, which flatters held-out skill.")
    if prediction is not None and abs(prediction.interval_held - prediction.interval_meant) > POOR_COVERAGE:
        found.append(
            f"Its intervals are not to be believed: those that should hold {prediction.interval_meant:.0%} of the "
            f"responses held {prediction.interval_held:.0%}."
        )
    return found


def _percent(r2: float) -> str:
    return f"{max(r2, 0):.0%}" if r2 == r2 else "an unknown share"
