"""What a comparison comes to, in two sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: A difference of fewer standard errors is often given by chance.
CLEAR = 2.0


@dataclass(frozen=True)
class Standing:
    """How a method stands by one measure.

    value : its own; ahead : by how much it is better than ours, 0 for ours; std_error : of that.
    """

    value: float
    ahead: float
    std_error: float


@dataclass(frozen=True)
class Party:
    """A method in sentences: its label, whether that is a plural, and what it gives beside predictions."""

    label: str
    gives: str
    plural: bool = False

    @property
    def named(self) -> str:
        """At the beginning of a sentence."""
        return self.label[0].upper() + self.label[1:]

    def verb(self, one: str, many: str) -> str:
        """The form that goes with the label."""
        return many if self.plural else one


def say_best(
    measure: str,
    standings: Mapping[str, Standing],
    parties: Mapping[str, Party],
    ours: str,
    best_by_log_score: str,
    *,
    clear: bool,
) -> str:
    """Which method is best, and whether its difference to ours is larger than its standard error.

    standings : of all methods by this measure, the best first, names as in `parties`; ours : our own.
    clear : whether the best is better than the mean by more than chance gives.
    """
    best, *others = standings
    party, own, mean = parties[best], parties[ours], parties["mean"]
    if not clear:
        named = "" if best == "mean" else f", {party.label} {_number(standings[best].value)}"
        return (
            f"No method predicts clearly better than {mean.label} "
            f"({measure} {_number(standings['mean'].value)}{named}): what the texts say of the response cannot be told "
            "from so few of them, or is nothing."
        )
    other_view = ""
    if best_by_log_score != best:
        other_view = f" (by the log score {parties[best_by_log_score].label} {_is(parties[best_by_log_score])} best)"
    begin = f"{party.named} {party.verb('predicts', 'predict')} best{other_view}: {measure}"
    begin = f"{begin} {_number(standings[best].value)}"
    if best == ours:
        rival, standing = parties[others[0]].label, standings[others[0]]
        return f"{begin}, and {rival}, the next, {_number(standing.value)}; {_difference(standing)}."
    return f"{begin}, and {own.label} {_number(standings[ours].value)}; {_difference(standings[best])}."


def _number(value: float) -> str:
    """Three digits, and no minus before 0."""
    return f"{round(value, 3) + 0.0:.3f}"


def _is(party: Party) -> str:
    return party.verb("is", "are")


def _difference(standing: Standing) -> str:
    """A difference in units of its standard error."""
    size, error = abs(standing.ahead), standing.std_error
    if not size > error:
        return f"the difference of {size:.3f} is not larger than its standard error ({error:.3f}), so call them equal"
    times = f"the difference of {size:.3f} is {size / error:.1f} times its standard error ({error:.3f})"
    return times + (", more than chance gives as a rule" if size >= CLEAR * error else ", which chance gives often")


def say_worth(standings: Mapping[str, Standing], parties: Mapping[str, Party], ours: str, text_tells: bool) -> str:
    """What one gets from ours that the best of the others does not give, where ours predicts at all.

    text_tells : whether ours is clearly better than the mean.
    """
    own = parties[ours]
    if not text_tells:
        return (
            f"{own.named} {_is(own)} not clearly better than {parties['mean'].label} here, so make nothing of what "
            f"{own.verb('it says', 'they say')} of the response."
        )
    rival = parties[next(name for name in standings if name != ours)]
    return f"Beside predictions {own.label} {own.verb('gives', 'give')} {own.gives}; {rival.label} gives {rival.gives}."
