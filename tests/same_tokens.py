"""Whether two readings of texts are the same."""

import numpy as np

ARRAYS = ("documents", "spans", "codes", "indptr", "under", "negated", "joined", "cleaned")


def assert_same_tokens(found, expected):
    assert list(found.texts) == list(expected.texts)
    assert list(found.words) == list(expected.words)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name, strict=True)
