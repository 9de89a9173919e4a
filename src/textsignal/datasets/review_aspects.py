"""The aspects of `textsignal.datasets.synthetic_reviews`: their phrases and the planted truth, all written for it.

A sentence is a template in lower case without its full stop; `{slot}` stands for one of the words listed
under that slot. Most words of an aspect sit in slots, so that they mix freely and a topic model finds the
aspect, not the template.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Words = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Aspect:
    """Something reviews talk about, with its planted effect on the rating.

    Attributes
    ----------
    name : str
        What the aspect is, as a reader would label it.
    effect : float
        What mentioning it adds to the log odds of every star above the first; 0 if neutral.
    share : float
        Probability that a review mentions it.
    keywords : tuple of str
        Lower-case words that hardly occur outside the aspect, so they identify it among a topic's terms.
    sentences : tuple of str
        Templates of the sentences about it.
    words : mapping of str to tuple of str
        What each `{slot}` of the templates may become.
    """

    name: str
    effect: float
    share: float
    keywords: tuple[str, ...]
    sentences: tuple[str, ...] = field(repr=False)
    words: Words = field(repr=False, hash=False)


def listed(words: str) -> tuple[str, ...]:
    """The words of a list with commas."""
    return tuple(words.split(", "))


INTERCEPT = 1.2
MOOD_SD = 0.25

FRIENDLY_STAFF = Aspect(
    name="friendly staff",
    effect=1.0,
    share=0.32,
    keywords=listed("staff, friendly, helpful, polite, courteous, welcoming, cheerful, porter, smile, team"),
    sentences=(
        "the staff were {very} {kind} and {kind}",
        "the {who} was {kind} and {favour}",
        "everyone from the {who} to the {who} greeted us with {smile}",
        "the {who} {favour}, all with {smile}",
        "such a {kind} and {kind} team, and the {who} {favour}",
        "every member of staff we met was {kind}, {kind} and happy to help",
        "nothing was too much trouble for the {kind} {who}, who {favour}",
        "special thanks to {name}, the {kind} {who}, who {favour}",
        "we felt looked after by the {kind} staff, and the {who} even {favour}",
        "the {kind} {who} {favour} with no fuss at all",
        "the team stayed {kind} throughout and met every request with {smile}",
        "you can tell the staff enjoy what they do, they were {very} {kind}",
        "{name}, the {who}, was {very} {kind} and {favour}",
    ),
    words={
        "very": listed("very, really, so, always, incredibly"),
        "kind": listed("friendly, helpful, kind, warm, polite, courteous, welcoming, cheerful, patient"),
        "who": listed("concierge, porter, bartender, housekeeper, valet, barista, gardener"),
        "favour": listed(
            "carried our luggage, printed our tickets, called a taxi, lent us an umbrella, drew us a map, "
            "remembered our names, recommended places to eat, answered every question, helped with the bags"
        ),
        "smile": listed("a smile, a warm welcome, good humour, real kindness, a big smile, a friendly word"),
        "name": listed("Maria, Tomas, Aisha, Pierre, Linh, Samuel, Ingrid, Mateo"),
    },
)

BREAKFAST = Aspect(
    name="great breakfast",
    effect=0.8,
    share=0.30,
    keywords=listed("breakfast, buffet, eggs, pancakes, pastries, juice, fruit, yoghurt, delicious, tasty"),
    sentences=(
        "breakfast was {tasty}, with {dish}, {dish} and {drink}",
        "the breakfast buffet had {tasty} {dish}, {side} and plenty of {drink}",
        "we loved the {tasty} {dish} and the {side} at breakfast",
        "the chef cooked {dish} to order and the {drink} was {tasty}",
        "every morning there was a {tasty} buffet of {side}, {side} and {dish}",
        "do not skip the breakfast, the {dish} and the {side} are {tasty}",
        "my favourite part was the breakfast: {tasty} {dish} and a pot of {drink}",
        "plenty of choice in the morning, from {dish} to {side}, all of it {tasty}",
        "the {drink} was {tasty} and the {dish} came hot from the kitchen",
        "the breakfast room serves {dish}, {side} and {drink}, all {tasty} and homemade",
        "I filled my plate with {dish} and {side} at the {tasty} buffet",
        "the buffet is {tasty}: {side}, {dish}, {drink}, whatever you fancy",
    ),
    words={
        "tasty": listed("delicious, tasty, fresh, superb, wonderful, great, scrumptious"),
        "dish": listed("scrambled eggs, pancakes, waffles, omelettes, bacon, pastries, poached eggs, sausages"),
        "side": listed("fruit, yoghurt, local cheese, warm bread, jam, honey, berries, smoked salmon, muesli"),
        "drink": listed("coffee, orange juice, hot chocolate, green tea, cappuccino, apple juice"),
    },
)

COMFORTABLE_BED = Aspect(
    name="comfortable bed",
    effect=0.9,
    share=0.22,
    keywords=listed("bed, slept, comfortable, comfy, soft, cosy, plush, pillows, duvet, linen"),
    sentences=(
        "the bed was {very} {comfy} and we {slept}",
        "the {bedding} felt {comfy} and the {bedding} {comfy}",
        "a {comfy} bed with {comfy} {bedding}, so I {slept}",
        "I {slept} thanks to the {comfy} {bedding}",
        "the {size} bed came with {comfy} {bedding} and {comfy} {bedding}",
        "we {slept} in the {size} bed with its {comfy} {bedding}",
        "the {comfy} {bedding} made it hard to leave the bed in the morning",
        "it is the kind of {comfy} bed you dream of, with {comfy} {bedding}",
        "I want to take the {bedding} home, it all felt {very} {comfy}",
        "with such a {comfy} bed and {comfy} {bedding} everyone {slept}",
        "sinking into the {comfy} bed was a treat and we {slept}",
        "the bed was {very} {comfy}, and so was everything from the {bedding} to the {bedding}",
    ),
    words={
        "very": listed("very, really, so, wonderfully, incredibly"),
        "comfy": listed("comfortable, comfy, soft, cosy, plush, fluffy, luxurious"),
        "bedding": listed("pillows, duvet, mattress, bedding, linen, blankets, mattress topper"),
        "size": listed("king size, queen size, double, huge, big"),
        "slept": listed(
            "slept like a baby, slept like a log, slept soundly, woke up rested, slept right through, "
            "slept better than at home, slept deeply"
        ),
    },
)

DIRTY_ROOM = Aspect(
    name="dirty room",
    effect=-2.0,
    share=0.16,
    keywords=listed("dirty, filthy, grubby, mould, hair, dust, toilet, shower, sink, bathroom, smelled"),
    sentences=(
        "the {spot} was {filthy} and there was {grime} in the {spot}",
        "we found {grime} and {grime} in the {spot}",
        "the bathroom smelled of {smell} and the {spot} was {filthy}",
        "nobody had {cleaned} the {spot}, it was {filthy} and full of {grime}",
        "there was {grime} on the towels and the {spot} looked {filthy}",
        "the whole room was {filthy}, with {grime} all over the {spot}",
        "a {filthy} {spot} and a {filthy} {spot}, clearly not {cleaned} for weeks",
        "I had to wipe {grime} off the {spot} myself because it was so {filthy}",
        "the {spot} smelled of {smell} and had {grime} everywhere",
        "our room was {filthy}: {grime} in the {spot}, {grime} behind the {spot}",
        "it smelled of {smell} and the {filthy} {spot} had not been {cleaned}",
        "the {spot} was covered in {grime} and the bathroom was {filthy}",
    ),
    words={
        "spot": listed("shower, sink, toilet, carpet, bathtub, shower curtain, bathroom sink, toilet seat"),
        "filthy": listed("filthy, dirty, grubby, stained, sticky, mouldy, disgusting"),
        "grime": listed("mould, hair, dust, grime, limescale, old food, black mould, someone else's hair"),
        "smell": listed("damp, stale smoke, drains, sewage, mildew, old cigarettes"),
        "cleaned": listed("cleaned, mopped, scrubbed, disinfected, properly cleaned"),
    },
)

NOISE = Aspect(
    name="noise at night",
    effect=-1.5,
    share=0.15,
    keywords=listed("noise, noisy, loud, walls, thin, awake, traffic, sirens, slamming, hear"),
    sentences=(
        "there was {loud} noise from {source} until {time}",
        "the walls are {thin} and we could hear {source} and {source}",
        "I could not sleep because of {source} and {source}",
        "our room was on the street, and {source} kept us awake until {time}",
        "we had {loud} {source} to put up with until {time}",
        "we were awake and could hear {source} through the {thin} walls",
        "the {loud} noise of {source} kept me awake until {time}",
        "bring earplugs, because you hear {source} through the {thin} walls",
        "the windows are {thin} and let in {loud} noise from {source}",
        "at {time} we were still awake because of the {loud} {source}",
        "it is {very} noisy at night, with {source} until {time}",
        "a noisy night: {source}, {source} and no sleep before {time}",
    ),
    words={
        "very": listed("very, really, so, painfully, incredibly"),
        "loud": listed("loud, constant, endless, terrible"),
        "thin": listed("thin, paper thin, badly insulated, flimsy"),
        "source": listed(
            "traffic, sirens, music, slamming doors, shouting, barking dogs, drilling, car horns, karaoke, "
            "drunk neighbours, motorbikes, parties in the corridor"
        ),
        "time": listed("two in the morning, three o'clock, four in the morning, midnight, dawn, sunrise"),
    },
)

RUDE_CHECK_IN = Aspect(
    name="slow, rude check-in",
    effect=-1.8,
    share=0.15,
    keywords=listed("check, desk, receptionist, clerk, rude, queue, waited, ignored, reservation, apology"),
    sentences=(
        "check-in took {wait} because the {clerk} {fail}",
        "we waited {wait} in the {queue} while the {clerk} {fail}",
        "the {clerk} was {rude} and {fail}",
        "the {clerk} {fail} and {fail}, without an apology",
        "a {rude} {clerk} at check-in {fail}",
        "after {wait} in the {queue} a {rude} {clerk} {fail}",
        "I asked for an apology at the counter but the {clerk} {fail}",
        "the front desk was {rude} and the {queue} lasted {wait}",
        "nobody said sorry when the {rude} {clerk} {fail} at check-in",
        "we waited {wait} for our key and the {clerk} stayed {rude}",
        "check-in was chaos: {wait} in the {queue}, then the {clerk} {fail}",
        "being met by a {rude} {clerk} after we waited {wait} was too much",
    ),
    words={
        "rude": listed("rude, dismissive, surly, careless, bored, hostile"),
        "clerk": listed("receptionist, front desk clerk, desk clerk, front desk manager, reception clerk"),
        "fail": listed(
            "ignored us, argued with us, lost our reservation, could not find our reservation, sent us away, "
            "blamed the computer, talked on the phone, ignored my question, walked away from the counter"
        ),
        "wait": listed("forty minutes, almost an hour, nearly an hour, close to an hour, ages, far too long"),
        "queue": listed("queue, line, lobby queue, check-in queue, check-in line"),
    },
)

LOCATION = Aspect(
    name="location and transport",
    effect=0.0,
    share=0.38,
    keywords=listed("station, tram, bus, metro, train, harbour, museum, cathedral, river, walk, stops"),
    sentences=(
        "the hotel is {near} from the {place}, with a {transit} stop outside",
        "the {transit} goes to the {place} and then on to the {place}",
        "from the {place} you take the {transit}, then it is {near}",
        "it is between the {place} and the {place}, {near} from the {transit}",
        "it is {near} to the {place} and a {transit} ride to the {place}",
        "there is a {transit} to the {place} every {often} minutes, and one to the {place}",
        "we went by {transit} to the {place} and then to the {place}",
        "the {place} is {near} to the {side}, just behind the {place}",
        "you get to the {place} by {transit}, and the {place} is {near} away",
        "the hotel is on the {side} side of the {place}, {near} from the {place}",
        "we saw the {place} and the {place}, each {near} from here",
        "a {transit} line runs from here to the {place} and the {place}",
    ),
    words={
        "place": listed(
            "station, harbour, old town, museum, cathedral, market square, river, park, stadium, "
            "city centre, castle, train station"
        ),
        "transit": listed("tram, bus, metro, train, shuttle"),
        "near": listed("ten minutes, five minutes, two blocks, a short walk, three stops, a ten minute walk"),
        "often": listed("five, ten, twelve, fifteen, twenty"),
        "side": listed("north, south, east, west"),
    },
)

BUSINESS_TRIP = Aspect(
    name="business trip",
    effect=0.0,
    share=0.26,
    keywords=listed("business, conference, meeting, colleagues, company, client, slides, emails, seminar"),
    sentences=(
        "I was in town for a {event} with {peers}",
        "my company booked the hotel for a {event}, so {peers} stayed here too",
        "this was a business trip: a {event} on {day} and a {event} on {day}",
        "I {task} in the evening before the {event}",
        "on {day} I {task} with {peers} ahead of the {event}",
        "{peers} and I were here on business for a {event}",
        "between the {event} and the {event} I {task}",
        "our company holds a {event} here each year for {peers}",
        "I travel for work and {task} for the {event} on {day}",
        "business brought me here, first a {event}, then dinner with {peers}",
        "after the {event} I met {peers} and {task}",
        "the trip was for work, and on {day} I {task}",
    ),
    words={
        "event": listed(
            "conference, trade fair, training course, workshop, client meeting, sales meeting, seminar, "
            "board meeting, product launch"
        ),
        "peers": listed(
            "colleagues, two colleagues, three clients, sales people from work, our suppliers, "
            "business partners, people from head office"
        ),
        "task": listed(
            "answered emails, prepared slides, finished a report, rehearsed my presentation, "
            "joined client calls, filled in expenses, worked on slides, wrote emails"
        ),
        "day": listed("Monday, Tuesday, Wednesday, Thursday, Friday"),
    },
)

ROOM_FURNITURE = Aspect(
    name="room furniture",
    effect=0.0,
    share=0.32,
    keywords=listed("floor, lamp, wardrobe, kettle, minibar, television, mirror, sofa, rack, furniture, table"),
    sentences=(
        "the room has a {item}, a {item} and a {item}",
        "our room was on the {level} floor, with a {item} and a {colour} {item}",
        "there is a {item} next to the {item} and {colour} curtains at the window",
        "the {item} stands by the window and the {item} beside the door",
        "the room comes with a {item} and a {colour} {item}",
        "in the room you get a {item}, a {item} and {colour} wallpaper",
        "a {colour} {item} and a {item} make up the furniture",
        "rooms on the {level} floor have a {item}, a {item} and {colour} curtains",
        "we had a room with a {colour} {item}, plus a {item} under the window",
        "the furniture is {colour}, with a {item}, a {item} and a {item}",
        "you will find a {item} in the corner and a {item} next to the {item}",
        "the {level} floor rooms are {colour}, each with a {item} and a {item}",
    ),
    words={
        "item": listed(
            "wardrobe, kettle, safe, minibar, television, hairdryer, bedside lamp, luggage rack, mirror, "
            "sofa, bookshelf, writing table, floor lamp"
        ),
        "colour": listed("beige, grey, blue, white, brown, wooden"),
        "level": listed("second, third, fourth, fifth, sixth, top"),
    },
)

PESTS = Aspect(
    name="pests",
    effect=-3.5,
    share=0.06,
    keywords=listed("bedbugs, bugs, cockroaches, fleas, insects, bites, itchy, infested, crawling, bitten"),
    sentences=(
        "we found {pest} {where} and {pest} {where}",
        "I woke up with {harm} from {biter}",
        "there were {pest} crawling {where}, the room was infested",
        "the room is infested with {pest}, we saw them {where}",
        "we were bitten by {biter} and left with {harm}",
        "both of us had {harm} after {biter} came crawling {where}",
        "{biter} {where}, {harm} the next day, and still no exterminator",
        "an exterminator should deal with the {pest} crawling {where}",
        "my children were bitten by {biter} and covered in {harm}",
        "the doctor confirmed that my {harm} came from {biter}",
        "we caught {pest} {where} and showed them to the manager",
        "our bags were infested with {biter}, and I still have {harm}",
    ),
    words={
        "biter": listed("bedbugs, fleas, insects, bugs"),
        "pest": listed("bedbugs, cockroaches, fleas, mice, insects, bugs"),
        "where": listed(
            "under the mattress, behind the headboard, in the sheets, along the wall, inside my suitcase, "
            "on the pillow, in the drawers"
        ),
        "harm": listed("itchy bites, red welts, itchy rashes, swollen bites, dozens of bites, painful bites"),
    },
)

CELEBRATION = Aspect(
    name="surprise for a celebration",
    effect=2.5,
    share=0.06,
    keywords=listed("surprise, upgraded, upgrade, suite, anniversary, champagne, complimentary, cake"),
    sentences=(
        "they surprised us with {gift} for our {occasion}",
        "we were upgraded to a {suite} for our {occasion}",
        "when they heard about our {occasion} they sent {gift} to the {suite}",
        "a surprise upgrade to a {suite} made our {occasion} {magic}",
        "waiting in the {suite} was {gift}, a {magic} gesture",
        "the complimentary {suite} and {gift} made it a {magic} {occasion}",
        "for our {occasion} we got a surprise: {gift} and a {suite}",
        "the manager surprised us on our {occasion} with an upgrade to a {suite}",
        "we found {gift} in our upgraded {suite}, what a {magic} surprise",
        "such a {magic} gesture: {gift} and a card for our {occasion}",
        "being upgraded with {gift} on our {occasion} was {magic}",
        "our {occasion} became {magic} thanks to {gift} and the surprise upgrade",
    ),
    words={
        "occasion": listed("anniversary, wedding anniversary, celebration, special day, anniversary trip"),
        "gift": listed(
            "champagne, complimentary champagne, a chocolate cake, red roses, a handwritten letter, "
            "rose petals, complimentary cake"
        ),
        "suite": listed("suite, sea view suite, large suite, bright suite, honeymoon suite"),
        "magic": listed("magical, lovely, memorable, touching, beautiful"),
    },
)

_UP = (FRIENDLY_STAFF, BREAKFAST, COMFORTABLE_BED)
_DOWN = (DIRTY_ROOM, NOISE, RUDE_CHECK_IN)
_NEUTRAL = (LOCATION, BUSINESS_TRIP, ROOM_FURNITURE)
_RARE_AND_STRONG = (PESTS, CELEBRATION)
ASPECTS = _UP + _DOWN + _NEUTRAL + _RARE_AND_STRONG

# Pairs that do not occur in one review.
CONTRADICTIONS = ((FRIENDLY_STAFF, RUDE_CHECK_IN), (COMFORTABLE_BED, NOISE), (COMFORTABLE_BED, PESTS))
