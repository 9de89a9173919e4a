"""What a report says that looks wrong, beyond its warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import ReportedModel, ReportSettings, TopicCard
from textsignal.report.values.documents import ReportTexts
from textsignal.report.values.wording import one_line
from textsignal.uncertainty.checks import Checked, Finding, can_check, check_all

#: Checks that warnings speak of already: copies, and skill that is none or does not hold.
WARNED = ("duplicates", "skill")


def to_look_at(
    model: ReportedModel, documents: ReportTexts, topics: Sequence[TopicCard], settings: ReportSettings
) -> tuple[Finding, ...]:
    """What looks wrong; nothing where documents with a response are too few to say so."""
    labels = {topic.number: topic.label for topic in topics}
    checked = Checked(
        reading=documents.reading,
        spoken=documents.spoken,
        labels=[labels[number] for number in range(len(labels))],
        naming=settings.naming,
        held_out=documents.held_out,
        out_of_fold=isinstance(model.reader_, ThemeReader),
        groups=documents.groups,
        times=documents.times,
        group_name=settings.group_name,
        time_name=settings.time_name,
    )
    if not can_check(checked):
        return ()
    found = check_all(checked, model.reader_, families=False).wrong
    return tuple(replace(each, problem=one_line(each.problem)) for each in found if each.check not in WARNED)
