"""What several test files share: small corpora, simulated and real."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import settings
from threadpoolctl import threadpool_limits

from textsignal.datasets import SimulatedCorpus, simulate_corpus

pytest_plugins = ["browser"]

#: Public reviews for measuring; they lie beside the repository, never in it.
DATA = Path(__file__).parents[1].parent / "shared" / "data"

# A run of the tests says something about the code, not about the luck of the draw or the speed of the machine.
# New cases are looked for with `pytest --hypothesis-profile=default`.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
# Random cases for `make fuzz`, which repeats tests/fuzz for as long as it is given.
settings.register_profile("fuzz", derandomize=False, deadline=None, print_blob=True)


@pytest.fixture
def threaded_blas() -> Iterator[None]:
    """BLAS of two threads, where a run of the suite gives it one: laws of threads hold beside it too."""
    with threadpool_limits(2):
        yield


@pytest.fixture(scope="session")
def simulation() -> SimulatedCorpus:
    return simulate_corpus(n_documents=300, n_terms=150, random_state=1)


@pytest.fixture(scope="session")
def shares(simulation: SimulatedCorpus) -> sp.csr_array:
    """Each document's counts as shares of its length."""
    lengths = np.maximum(simulation.counts.sum(axis=1), 1)
    return sp.csr_array(sp.diags_array(1 / lengths) @ simulation.counts)


@pytest.fixture(scope="session")
def review_file():
    """Read the first rows of a real set: (texts, responses); skip where the sets are not at hand."""

    def read(name: str, text: str, response: str, n_rows: int) -> tuple[list[str], np.ndarray]:
        file = DATA / f"{name}.csv.gz"
        if not file.exists():
            pytest.skip(f"{file} is not there; the real sets lie beside the repository and are not shipped")
        table = pd.read_csv(file, nrows=n_rows)
        return table[text].fillna("").tolist(), table[response].to_numpy(dtype=float)

    return read
