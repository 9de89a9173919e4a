"""Dask's workers give the bits of the local engine, and one that dies is survived."""

import os
import signal
import time
from collections import Counter
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed", reason="textsignal[dask] is not installed")

from distributed import Client, LocalCluster, wait
from same_tokens import assert_same_tokens
from sklearn.base import clone

from textsignal import TextResponseModel, predict_batches
from textsignal.compute.engines import dask
from textsignal.compute.engines.dask import DaskEngine, connect
from textsignal.compute.engines.local import LocalEngine
from textsignal.compute.hashing import drawn
from textsignal.data.roles import Roles
from textsignal.data.source import Source
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.text.tokens import read_sentences
from textsignal.training import streamed, tone
from textsignal.training.streamed import Passing, Sample, common_bound, joined
from textsignal.workflow.analyse import analyse_source

#: Documents of a file, and of a block of tone.
ROWS = 150


class DyingEngine(DaskEngine):
    """An engine of which one worker is killed in the middle of the second pass of tone."""

    def __init__(self, client, mark):
        super().__init__(client)
        self.mark, self.n_passes = mark, 0

    def keep(self, step, blocks, turns=None):
        self.n_passes += "_descend" in getattr(step, "__qualname__", "")
        return super().keep(killing(step, self.mark) if self.n_passes == 2 else step, blocks, turns)


def killing(step, mark):
    def killed(block):
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return step(block)

    return killed


@pytest.fixture(scope="module")
def client():
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "host": "127.0.0.1"}
    with LocalCluster(n_workers=2, memory_limit=0, **options) as cluster, Client(cluster) as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, table = tmp_path_factory.mktemp("reviews"), synthetic_reviews(4 * ROWS, seed=1).to_frame()
    table.loc[::7, "rating"] = np.nan
    for start in range(0, len(table), ROWS):
        table.iloc[start : start + ROWS].to_parquet(folder / f"{start:04d}.parquet")
    return folder / "*.parquet"


@pytest.fixture(scope="module")
def small_steps():
    """Several blocks of tone, and few passes over them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed, "BLOCK", ROWS)
        patch.setattr(tone, "MANY", 10)
        yield


@pytest.fixture(scope="module")
def fit(files, small_steps):
    return lambda engine=None: TextResponseModel(4, n_jobs=1).fit(files, "rating", text="review", engine=engine)


@pytest.fixture(scope="module")
def local(fit):
    return fit()


def assert_same_bits(one, two):
    own, others = one.reader_.fitted, two.reader_.fitted
    assert list(own.terms) == list(others.terms)
    for name in ("tone", "judgement", "judged", "slope", "spread"):
        np.testing.assert_array_equal(getattr(own.words, name), getattr(others.words, name))
    np.testing.assert_array_equal(own.verdict.scores, others.verdict.scores)
    np.testing.assert_array_equal(one.components_, two.components_)
    texts = one.observed()[0].tokens.texts
    assert list(texts) == list(two.observed()[0].tokens.texts)
    np.testing.assert_array_equal(one.predict(list(texts)), two.predict(list(texts)))


def test_a_fit_has_the_bits_of_the_local_one(client, fit, local):
    assert_same_bits(fit(DaskEngine(client)), local)


def test_columns_and_bad_rows_of_a_source_are_those_of_the_local_engine(client, files, small_steps, tmp_path):
    """Of parts with rows that are left out, later rows keep their numbers."""
    tables = [pd.read_parquet(file) for file in sorted(files.parent.glob("*.parquet"))]
    for number, table in enumerate(tables):
        table.loc[table.index[: 40 * number], "review"] = ""
        table.to_parquet(tmp_path / f"{number}.parquet")
    roles, model = Roles("review", ("rating",), by="hotel", over="date"), TextResponseModel(4, n_jobs=1)
    one, two = (
        analyse_source(tmp_path / "*.parquet", roles, clone(model), engine=engine, on_bad_rows="drop")
        for engine in (DaskEngine(client), None)
    )
    pd.testing.assert_frame_equal(one.texts, two.texts, check_exact=True)
    pd.testing.assert_frame_equal(one.only.drivers, two.only.drivers, check_exact=True)
    first, second = one.only.reading.observed, two.only.reading.observed
    assert first.groups.equals(second.groups)
    assert np.array_equal(first.times, second.times, equal_nan=True)
    assert (one.summary, one.only.summary) == (two.summary, two.only.summary)
    assert one.summary.dropped.startswith("240 bad rows: 240 empty texts (rows 151, 152, 153, 154, 155 and 235 more)")
    expected = pd.concat(tables)["hotel"].iloc[one.texts["row"] - 1]
    assert first.groups.tolist() == expected.tolist()


def test_sums_are_added_in_the_order_of_the_local_engine(client):
    blocks = list(np.random.default_rng(0).random((40, 7)))
    for groups in (1, 8, 64):
        expected = LocalEngine(1).sweep(np.sqrt, blocks, groups)
        np.testing.assert_array_equal(DaskEngine(client).sweep(np.sqrt, blocks, groups), expected)


def test_what_is_kept_stays_with_workers_and_can_be_worked_on(client):
    engine = DaskEngine(client)
    kept = engine.keep(lambda item: [item, os.getpid()], range(4))
    assert os.getpid() not in engine.map(lambda block: block[1], kept)
    assert engine.map(lambda pair: pair[0][0] + pair[1], [(kept[0], 10), (kept[3], 20)]) == [10, 23]
    assert list(engine.stream(lambda both: both[0][0] + both[1][0], [kept[:2], kept[2:]])) == [1, 5]


def test_workers_take_blocks_in_turn(client):
    on_one = client.scatter([np.full(10**6, number) for number in range(6)], workers=[min(client.nthreads())])
    handles = DaskEngine(client).keep(lambda block: (time.sleep(0.05), block + 1)[1], on_one, [0, 0, 1, 1, 2, 3])
    wait(handles)
    assert sorted(Counter(place for places in client.who_has(handles).values() for place in places).values()) == [3, 3]
    assert [block[0] for block in client.gather(handles)] == [1, 2, 3, 4, 5, 6]


def test_predictions_by_workers_are_those_of_the_whole(client, files, local):
    given = {"model": local, "source": files, "text": "review", "keep": ["rating"]}
    whole = pd.concat(predict_batches(**given), ignore_index=True)
    apart = pd.concat(predict_batches(**given, engine=DaskEngine(client)), ignore_index=True)
    pd.testing.assert_frame_equal(apart, whole, check_exact=True)
    assert len(local.observed()[0].tokens) == 4 * ROWS


def test_an_engine_is_a_local_one_of_one_thread_on_workers(client):
    engine = DaskEngine(client)
    assert engine.map(lambda _: (type(engine).__name__, engine.n_threads), [0]) == [("LocalEngine", 1)]


def test_an_error_on_a_worker_is_told_as_it_was_there(client, files, tmp_path):
    (tmp_path / "a.csv").write_text("review,rating\nClean and quiet,4\nNoisy,bad\n")
    with pytest.raises(InputError, match=r"a\.csv, row 2: 'bad' in column 'rating' is not a number"):
        TextResponseModel().fit(tmp_path / "a.csv", "rating", text="review", engine=DaskEngine(client))


def test_what_workers_cannot_have_is_refused(client, files, tmp_path):
    engine, model = DaskEngine(client), TextResponseModel()
    with pytest.raises(InputError, match="only files can be read by several workers"):
        model.fit(synthetic_reviews(20).to_frame(), "rating", text="review", engine=engine)
    with pytest.raises(InputError, match=r"folder=.* is of fits on one machine"):
        model.fit(files, "rating", text="review", engine=engine, folder=tmp_path)
    with pytest.raises(InputError, match="an engine is for a source"):
        model.fit(["clean"], [1], engine=engine)


def test_nobody_at_an_address_is_told(client):
    with pytest.raises(InputError, match=r"no Dask scheduler answers at 'nowhere'"), connect("nowhere"):
        pass


def test_the_extra_is_named_where_dask_is_not_installed(monkeypatch):
    monkeypatch.setattr(dask, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"install textsignal\[dask\]"), connect("tcp://127.0.0.1:8786"):
        pass


def test_a_cluster_is_connected_to_by_its_address(client):
    with connect(client.scheduler.address) as engine:
        assert engine.map(abs, [-1, 2]) == [1, 2]


# Last of those with workers: one of them is started anew.
def test_a_worker_that_is_killed_in_the_middle_of_tone_is_survived(client, fit, local, tmp_path):
    before = set(client.run(os.getpid).values())
    engine = DyingEngine(client, tmp_path / "killed")
    assert_same_bits(fit(engine), local)
    assert engine.mark.exists()
    assert set(client.run(os.getpid).values()) != before


class TestParts:
    @pytest.mark.parametrize("batch_rows", [40, 100, 10**6])
    def test_are_the_batches_of_the_source(self, tmp_path, batch_rows):
        table = synthetic_reviews(250, seed=1).to_frame()
        for name, rows in (("a", slice(0, 170)), ("b", slice(170, 250))):
            table.iloc[rows].to_parquet(tmp_path / f"{name}.parquet", row_group_size=30)
        table.iloc[:20].to_csv(tmp_path / "c.csv")
        source = Source([tmp_path / "*.parquet", tmp_path / "c.csv"], ["review"], batch_rows=batch_rows)
        apart = [batch for part in source.parts() for batch in part]
        for one, other in zip(source, apart, strict=True):
            assert (one.file, one.row, one.number) == (other.file, other.row, other.number)
            assert one.table.equals(other.table)

    def test_a_file_that_has_changed_is_named(self, tmp_path):
        file = tmp_path / "a.csv"
        file.write_text("review\nClean\n")
        (part,) = Source(file).parts()
        file.write_text("review\nClean and quiet\n")
        with pytest.raises(InputError, match=r"a\.csv has changed"):
            list(part)


@pytest.mark.parametrize("most_words", [1, 100, 10**9])
@pytest.mark.parametrize("edges", [(0, 500), (0, 20, 450, 500)])
def test_samples_of_parts_are_the_sample_of_all(most_words, edges):
    rng = np.random.default_rng(0)
    n = edges[-1]
    texts, most = [f"text {i}" for i in range(n)], (200, most_words)
    keys, numbers = rng.integers(0, 2**64, n, np.uint64), (rng.integers(1, 9, n), rng.random(n), np.ones(n))
    rows, cells = np.arange(n), rng.choice(["inn", 7, None], (n, 2))
    documents = Passing(drawn(keys + rows.astype(np.uint64), 0), rows, keys, *numbers, cells)
    nothing = Passing.nothing(2)
    whole = Sample(*most, documents=nothing)
    whole.offer(read_sentences(texts).at, documents)
    parts = []
    for start, stop in pairwise(edges):
        part = documents.at(np.arange(start, stop))
        parts.append(Sample(*most, documents=nothing))
        parts[-1].offer(read_sentences(texts[start:stop]).at, replace(part, rows=part.rows - start))
    bound = common_bound([(part.bound, part.levels) for part in parts], *most)
    found = joined([(part.up_to(bound), first) for part, first in zip(parts, edges[:-1], strict=True)])
    assert_same_tokens(found.tokens, whole.tokens)
    assert_same_tokens(found.tokens, read_sentences([texts[row] for row in found.documents.rows]))
    assert found.bound == whole.bound
    for column in fields(Passing):
        np.testing.assert_array_equal(getattr(found.documents, column.name), getattr(whole.documents, column.name))
