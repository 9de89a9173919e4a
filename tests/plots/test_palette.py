"""Colours of topics: apart from each other, for colour-blind readers too."""

import re
from itertools import combinations

import numpy as np
import pytest

from textsignal.palette import NEGATIVE, POSITIVE, contrast_with_white, readable, topic_colors

#: What colour-blind readers see of linear light (Machado, Oliveira and Fernandes, 2009).
SIGHT = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
CONES = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
CONES = np.array([*CONES, [0.0883024619, 0.2817188376, 0.6299787005]])
OKLAB = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099]]
OKLAB = np.array([*OKLAB, [0.0259040371, 0.7827717662, -0.808675766]])


def seen(color, sight):
    """Where a colour lies in OKLab, in which distance is difference to the eye."""
    shares = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    light = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return OKLAB @ np.cbrt(CONES @ np.clip(np.array(sight) @ light, 0, 1))


@pytest.mark.parametrize("sight", SIGHT.values(), ids=SIGHT)
def test_the_first_colours_and_the_signs_are_told_apart_by_every_reader(sight):
    places = [seen(color, sight) for color in topic_colors(7)]
    assert min(np.linalg.norm(a - b) for a, b in combinations(places, 2)) > 0.07
    assert np.linalg.norm(seen(POSITIVE, sight) - seen(NEGATIVE, sight)) > 0.15


@pytest.mark.parametrize("color", [*topic_colors(50), "#FFFFFF"])
def test_letters_in_a_colour_can_be_read_on_white_and_no_darker_than_they_need(color):
    dark = readable(color)
    assert contrast_with_white(dark) >= 3
    assert dark == color if contrast_with_white(color) >= 3 else contrast_with_white(dark) < 3.2


def test_fifty_topics_have_fifty_colours():
    assert len(set(topic_colors(50))) == 50
    assert all(re.fullmatch("#[0-9A-F]{6}", color) for color in topic_colors(50))


def test_a_topic_keeps_its_colour_whatever_the_number_of_topics():
    colors = topic_colors(120)
    for n in (0, 1, 7, 14, 50):
        assert topic_colors(n) == colors[:n]
