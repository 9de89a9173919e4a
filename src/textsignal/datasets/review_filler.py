"""Filler sentences of synthetic reviews: about none of the aspects, and neutral.

They have few content words, so that they hardly form a separate topic.
"""

from textsignal.datasets.review_aspects import Words, listed

WORDS: Words = {
    "nights": listed("two nights, three nights, four nights, five nights, one night, a week, a weekend"),
    "month": listed("January, March, April, May, June, July, September, October, November"),
    "us": listed("my wife, my husband, my sister, a friend, my parents, my partner, the kids"),
    "stay": listed("stay, visit, trip, break, time here"),
}
OPENINGS = (
    "we were at this hotel for {nights} in {month}",
    "back from {nights} at this hotel, so here is how it was",
    "I was here for {nights} in {month} with {us}",
    "this is about our {stay} in {month}",
    "we had {nights} here and this is how it was",
    "{nights} here with {us}, back in {month}",
    "it was {us} and me at this hotel, for {nights}",
    "here is what I have to say after {nights}",
    "{us} and I were here in {month}",
)
CONNECTORS = (
    "also,",
    "what else:",
    "by the way,",
    "then again,",
    "as I said,",
    "another thing:",
    "oh, and",
    "tbh",
)
CLOSINGS = (
    "that is about all there is to say",
    "and that, in a few words, was our {stay}",
    "so much for our {stay}",
    "this is how it was for us",
    "that was our {stay}, make of it what you will",
    "others may not see it as we do",
    "there is not much more to say about our {stay}",
    "so that was our {stay}",
)
EMOJI = ("🏨", "🧳", "🛎️", "🗺️")
