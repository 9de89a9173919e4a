"""The number of themes is the largest that is about as stable as the best."""

from textsignal.training.halves import StableNumber, most_stable


def test_the_largest_number_near_the_greatest_stability_is_taken():
    cells = [StableNumber(5, 0.98, 0.02), StableNumber(6, 0.97, 0.01), StableNumber(9, 0.8, 0.1)]
    assert most_stable(cells).n_topics == 6
