"""The aspects of `textsignal.datasets.synthetic_reviews(opinions=True)`, each spoken of well, badly or neutrally.

Templates and slots are as in `review_aspects`. Words that judge are an aspect's own or general ones, so that a reader
of the texts learns most of what they are worth from all aspects together, as in real reviews.
"""

from __future__ import annotations

from collections.abc import Mapping

from textsignal.datasets.review_aspects import Aspect, Words, listed

#: Intercept of a review without judgements: 3 stars on average, so that tone moves ratings symmetrically.
INTERCEPT = 0.0
#: Aspects in a review; chances that one is spoken of badly, neutrally and well.
ASPECTS_EACH = 3
CHANCES = (0.35, 0.3, 0.35)

SENTENCES = (
    "the {thing}, the {thing} and the {thing} were {own} and {any}",
    "we found the {thing} and the {thing} {own} and the {thing} {any}",
    "our {thing} with the {thing} and the {thing} seemed {any} and {own}",
    "the {thing} was {any}, and the {thing} and the {thing} were {own}",
)
NEUTRAL = listed("usual, standard, ordinary, plain, average, typical")
#: General words that judge, by tone.
GENERAL = {
    -1: listed("terrible, awful, dreadful, poor, horrible"),
    0: NEUTRAL,
    1: listed("wonderful, excellent, lovely, superb, great"),
}


def _opinion(name: str, effect: float, share: float, things: str, good: str, bad: str) -> Aspect:
    """An aspect of which speaking well adds `effect`, and speaking badly takes it off."""
    words = {"thing": listed(things), "good": listed(good), "bad": listed(bad)}
    return Aspect(name, effect, share, listed(things), SENTENCES, words)


ASPECTS = (
    _opinion(
        "room",
        0.9,
        0.55,
        "room, bed, bathroom, shower, pillow, mattress, wardrobe, carpet, towel, sink",
        "spotless, cosy, spacious",
        "filthy, cramped, mouldy",
    ),
    _opinion(
        "staff",
        1.0,
        0.5,
        "receptionist, porter, waiter, manager, concierge, maid, host, clerk, barman, cook",
        "friendly, helpful, attentive",
        "rude, lazy, arrogant",
    ),
    _opinion(
        "breakfast",
        0.6,
        0.4,
        "breakfast, coffee, omelette, bread, buffet, juice, fruit, bacon, cereal, pastries",
        "delicious, fresh, tasty",
        "stale, bland, greasy",
    ),
    _opinion(
        "location",
        0.4,
        0.45,
        "station, beach, centre, museum, square, bus, harbour, shops, park, market",
        "close, central, handy",
        "remote, shabby, unsafe",
    ),
    _opinion(
        "wifi",
        0.5,
        0.25,
        "wifi, internet, signal, password, router, laptop, connection, network, streaming, email",
        "fast, reliable, instant",
        "slow, broken, patchy",
    ),
    _opinion(
        "pool",
        0.5,
        0.25,
        "pool, sauna, gym, spa, jacuzzi, lounger, treadmill, steam, slide, hammam",
        "warm, inviting, relaxing",
        "crowded, freezing, murky",
    ),
    _opinion(
        "price",
        0.8,
        0.3,
        "price, rate, receipt, deposit, fee, charge, parking, tax, invoice, discount",
        "fair, cheap, reasonable",
        "outrageous, hidden, excessive",
    ),
    _opinion(
        "noise",
        0.9,
        0.3,
        "night, wall, lift, door, neighbours, window, traffic, corridor, disco, ceiling",
        "quiet, peaceful, calm",
        "noisy, loud, banging",
    ),
)


def words_of(aspect: Aspect, tone: int) -> Words:
    """Return fillers for the slots of an aspect's sentences if its tone is -1, 0 or 1."""
    own: Mapping[int, tuple[str, ...]] = {-1: aspect.words["bad"], 0: NEUTRAL, 1: aspect.words["good"]}
    return {"thing": aspect.words["thing"], "own": own[tone], "any": GENERAL[tone]}
