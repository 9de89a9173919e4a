"""Loops that count, against what NumPy finds by sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from textsignal.kernels.counting import count_cells, count_documents, find_keys, number_keys

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40)
#: Keys that fall into few slots, and any others.
KEYS = st.lists(st.one_of(st.integers(-1, 9), st.integers(0, 2**62)), max_size=40)


def columns_of(pairs):
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()


@given(PAIRS)
def test_every_document_counts_once(pairs):
    documents, numbers = columns_of(sorted(pairs))
    expected = [len({d for d, number in pairs if number == k}) for k in range(7)]
    assert count_documents(numbers, documents, 7).tolist() == expected


@given(KEYS)
def test_keys_are_numbered_as_they_come(keys):
    distinct, numbers = number_keys(np.array(keys, dtype=np.int64))
    assert distinct.tolist() == list(dict.fromkeys(keys))
    assert distinct[numbers].tolist() == keys


@given(KEYS, KEYS)
def test_known_keys_are_found(known, keys):
    known = list(dict.fromkeys(known))
    found = find_keys(np.array(known, dtype=np.int64), np.array(keys, dtype=np.int64))
    assert found.tolist() == [known.index(key) if key in known else -1 for key in keys]


@given(PAIRS)
def test_cells_are_those_of_a_dense_matrix(pairs):
    rows, columns = columns_of(pairs)
    indptr, indices, counts, cells = count_cells(rows, columns, 5, 7)
    dense = np.zeros((5, 7))
    np.add.at(dense, (rows, columns), 1)
    expected_rows, expected_columns = np.nonzero(dense)
    np.testing.assert_array_equal(np.repeat(np.arange(5), np.diff(indptr)), expected_rows)
    np.testing.assert_array_equal(indices, expected_columns)
    np.testing.assert_array_equal(counts, dense[expected_rows, expected_columns])
    np.testing.assert_array_equal(expected_rows[cells], rows)
    np.testing.assert_array_equal(expected_columns[cells], columns)
