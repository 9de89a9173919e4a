"""The sentences of a report."""

from __future__ import annotations

from collections.abc import Sequence

from textsignal.report.values.data import Corpus, Prediction, ReportSettings, Topic

#: Share of a step in the response below which a topic is said to move nothing.
NOTHING = 0.005


def one_line(text: str) -> str:
    r"""A text that can stand in a chart, which control characters would bring down.

    Examples
    --------
    >>> one_line(" a\tb\n c")
    'a b c'
    """
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    r"""A text with control characters as their pictures and half surrogates as the replacement character.

    Examples
    --------
    >>> visible("a\x00b\ud800")
    'a␀b�'
    """
    return "".join(map(_sign, text))


def _sign(character: str) -> str:
    code = ord(character)
    if code < 32 and character not in "\n\t":
        return chr(0x2400 + code)
    if 127 <= code < 160:
        return "␡"
    return "�" if 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE else character


def signed(value: float, unit: str) -> str:
    """A change in words.

    Examples
    --------
    >>> signed(0.4211, "stars"), signed(-0.001, "stars")
    ('+0.42 stars', '±0.00 stars')
    """
    number = f"{value:+.2f}".replace("-", "−") if abs(value) >= NOTHING else "±0.00"
    return f"{number} {unit}"


def quoted(label: str) -> str:
    r"""A label inside a sentence; one that is written from right to left leaves the sentence as it is.

    Examples
    --------
    >>> quoted("staff")
    '“\u2068staff\u2069”'
    """
    return f"“\N{FIRST STRONG ISOLATE}{label}\N{POP DIRECTIONAL ISOLATE}”"


def region(prevalence: float, effect: float, fair_share: float, strong: float) -> str:
    """Where a topic stands on the map.

    Examples
    --------
    >>> region(0.2, -0.5, fair_share=0.1, strong=0.3)
    'common and strong'
    """
    often = "common" if prevalence >= fair_share else "rarer"
    return f"{often} and {'strong' if abs(effect) >= max(strong, NOTHING) else 'neutral'}"


def summary(
    topics: Sequence[Topic], corpus: Corpus, prediction: Prediction | None, settings: ReportSettings
) -> tuple[str, ...]:
    """The report in a few sentences; topics have the largest effect first."""
    name = settings.subject
    up = next((topic for topic in topics if topic.response_effect >= NOTHING), None)
    down = next((topic for topic in topics if topic.response_effect <= -NOTHING), None)
    common = max(topics, key=lambda topic: topic.prevalence)
    texts = "1 text was" if corpus.documents == 1 else f"{corpus.documents:,} texts were"
    mixture = "one topic" if len(topics) == 1 else f"a mixture of {len(topics)} topics"
    says = [f"{texts} read as {mixture}, and each topic’s pull on {name} was measured."]
    if up is not None:
        change = signed(up.response_effect, settings.unit)
        says.append(f"What raises {name} most is {quoted(up.label)}: {change} when another 10% of a text is about it.")
    if down is not None:
        says.append(f"What lowers {name} most is {quoted(down.label)}: {signed(down.response_effect, settings.unit)}.")
    says.append(f"Talked about most is {quoted(common.label)}: {common.prevalence:.0%} of all text.")
    if prediction is not None:
        says.append(skill_sentence(prediction, name))
    return tuple(says)


def skill_sentence(prediction: Prediction, name: str) -> str:
    """How much the text says about the response, beside a word-by-word regression."""
    scores = {row.name: row.held_out if prediction.held_out else row.training for row in prediction.rows}
    model, ridge = scores["this model"], scores.get("ridge")
    assert model is not None
    unseen = "texts it had not seen" if prediction.held_out else "the very texts it was fitted to"
    says = f"From the words alone the model explains {_percent(model.r2)} of how {name} differs in {unseen}"
    if ridge is not None:
        says += f"; a regression on every single word explains {_percent(ridge.r2)}"
    return says + "."


def _percent(r2: float) -> str:
    return f"{max(r2, 0):.0%}" if r2 == r2 else "an unknown share"
