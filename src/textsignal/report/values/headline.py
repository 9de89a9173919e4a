"""The headline of a report: what was found, in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence

from textsignal.report.values.data import DocumentsSummary, Prediction, ReportSettings, Sentence, TopicCard
from textsignal.report.values.wording import NOTHING, signed


def headline(
    topics: Sequence[TopicCard],
    documents: DocumentsSummary,
    prediction: Prediction | None,
    settings: ReportSettings,
    *,
    common: float,
) -> tuple[Sentence, ...]:
    """The report in a few sentences.

    topics : largest effect first; common : share of all text from which a topic is common.
    """
    name = settings.subject
    up = next((topic for topic in topics if topic.response_effect >= NOTHING), None)
    down = next((topic for topic in topics if topic.response_effect <= -NOTHING), None)
    most = max(topics, key=lambda topic: topic.prevalence)
    texts = "1 text was" if documents.documents == 1 else f"{documents.documents:,} texts were"
    mixture = "one topic" if len(topics) == 1 else f"a mixture of {len(topics)} topics"
    sentences = [Sentence(f"{texts} read as {mixture}, and each topic’s pull on {name} was measured.")]
    if up is not None:
        change = f": {signed(up.response_effect, settings.unit)} when another 10% of a text is about it."
        sentences.append(Sentence(f"What raises {name} most is ", up.number, up.label, change))
    if down is not None:
        change = f": {signed(down.response_effect, settings.unit)}."
        sentences.append(Sentence(f"What lowers {name} most is ", down.number, down.label, change))
    if most.prevalence >= common:
        share = f": {most.prevalence:.0%} of all text."
        sentences.append(Sentence("Talked about most is ", most.number, most.label, share))
    elif len(topics) > 1:
        sentences.append(Sentence(f"No topic stands out by how much it is talked about: {_range(topics)} of all text."))
    if prediction is not None:
        sentences.append(Sentence(skill_sentence(prediction, name)))
    return tuple(sentences)


def skill_sentence(prediction: Prediction, name: str) -> str:
    """How much the text says about the response, beside a word-by-word regression."""
    scores = {row.name: row.held_out if prediction.held_out else row.training for row in prediction.rows}
    model, ridge = scores["this model"], scores.get("ridge")
    assert model is not None
    where = "texts it had not seen" if prediction.held_out else "the very texts it was fitted to"
    sentence = f"From the words alone the model explains {_percent(model.r2)} of how {name} differs in {where}"
    if ridge is not None:
        sentence += f"; a regression on every single word explains {_percent(ridge.r2)}"
    return sentence + "."


def _range(topics: Sequence[TopicCard]) -> str:
    """The least and the greatest share of text of a topic."""
    shares = [topic.prevalence for topic in topics]
    return f"each takes up {min(shares):.0%} to {max(shares):.0%}"


def _percent(r2: float) -> str:
    return f"{max(r2, 0):.0%}" if r2 == r2 else "an unknown share"
