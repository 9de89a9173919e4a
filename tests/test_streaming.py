"""Fitting from a source: the same model as from texts in memory, in whatever files and batches, or a clear error."""

import errno
import json
import os
import shutil
import subprocess
import sys
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest

import textsignal as ts
from textsignal import streaming
from textsignal.data.roles import Roles
from textsignal.data.source import read_batches
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError, OutputError, StorageError
from textsignal.streaming import memory_of, read_to_fit
from textsignal.text import shards
from textsignal.training import theme_model

N = 400


def new_model(**options):
    return ts.TextResponseModel(**{"n_themes": 4, "family": "binomial", "n_jobs": 1} | options)


def fitted(source, response="rating", text="review", model=None, **options):
    return (model or new_model()).fit(source, response, text=text, **options)


def numbers(model):
    """All numbers of a fitted model, by their bits."""
    own = model.reader_.fitted
    parts = (own, own.words, own.words.zone, own.verdict, own.themes, own.effects, own.training, own.training.clauses)
    found = {f"{type(part).__name__}.{each.name}": getattr(part, each.name) for part in parts for each in fields(part)}
    numbers = {name: np.asarray(value) for name, value in found.items() if not is_dataclass(value)}
    assert {"WordEffects.judgement", "Verdict.scores", "Zone.low", "ThemeEffects.average", "Clauses.kinds"} <= set(
        numbers
    )
    return {name: value.tolist() if value.dtype == object else value.tobytes() for name, value in numbers.items()}


@pytest.fixture(scope="module")
def table():
    """Reviews, some without words or response."""
    found = synthetic_reviews(N, seed=3).to_frame()[["review", "rating"]]
    found["rating"] = found["rating"].astype(float)
    found.loc[found.index % 40 == 7, "rating"] = np.nan
    found.loc[5, "review"], found.loc[6, "review"] = "", "😀"
    return found


@pytest.fixture(scope="module")
def in_memory(table):
    return new_model().fit(table["review"].tolist(), table["rating"].to_numpy())


@pytest.fixture(scope="module")
def file(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "reviews.parquet"
    table.to_parquet(path)
    return path


def in_small_batches(source, columns):
    """Batches, and so shards, of 90 rows."""
    return read_batches(source, columns, batch_rows=90)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(streaming, "read_batches", in_small_batches)


def parted(table, folder, sizes=(150, 1, 249)):
    """The same rows in several files."""
    folder.mkdir()
    for number, stop in enumerate(np.cumsum(sizes)):
        table.iloc[stop - sizes[number] : stop].to_csv(folder / f"{number}.csv", index=False)
    return str(folder / "*.csv")


def test_a_streamed_model_is_the_model_of_texts_in_memory(file, table, in_memory, small_batches):
    model = fitted(file)
    assert numbers(model) == numbers(in_memory)
    assert model.n_texts_ == N
    assert list(model.terms_) == list(in_memory.terms_)
    assert np.array_equal(model.predict(table["review"]), in_memory.predict(table["review"]))
    assert model.reader_.described == in_memory.reader_.described
    pd.testing.assert_frame_equal(model.drivers(), in_memory.drivers())
    pd.testing.assert_frame_equal(model.clauses(), in_memory.clauses())
    assert model.naming_.response == "rating"


def test_weights_come_from_a_column(table, tmp_path, small_batches):
    weight = np.arange(N) % 3.0
    table.assign(votes=weight).to_json(tmp_path / "reviews.jsonl", orient="records", lines=True)
    model = fitted(tmp_path / "reviews.jsonl", sample_weight="votes")
    assert numbers(model) == numbers(new_model().fit(table["review"].tolist(), table["rating"], weight))


@pytest.mark.parametrize(
    "options",
    [
        {"family": "ordinal"},
        {"family": "auto", "levels": (0, 6)},
        {"lexicon": None, "neutral": 0.2},
        {"lexicon": {"dirty": -2.0, "friendly": 2.0}},
    ],
)
def test_options_mean_what_they_mean_in_memory(table, options, small_batches):
    part = table.iloc[:200]
    model = fitted(part, model=new_model(**options))
    other = new_model(**options).fit(part["review"].tolist(), part["rating"].to_numpy())
    assert model.family_.settings() == other.family_.settings()
    assert numbers(model) == numbers(other)


def test_files_tables_datasets_and_iterators_are_one_source(file, table, in_memory, tmp_path, small_batches):
    parts = [table.iloc[:100], table.iloc[100:]]
    for source in (parted(table, tmp_path / "csv"), table, ds.dataset(file), iter(parts)):
        assert numbers(fitted(source)) == numbers(in_memory)


def test_threads_change_nothing(file, in_memory, small_batches):
    assert numbers(fitted(file, model=new_model(n_jobs=2))) == numbers(in_memory)


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(streaming, "MOST_SAMPLED", 250)


def test_a_sample_does_not_depend_on_batches_and_says_what_it_is(file, table, small_sample, monkeypatch, tmp_path):
    model = fitted(file)
    monkeypatch.setattr(streaming, "read_batches", lambda source, columns: read_batches(source, columns, batch_rows=37))
    assert numbers(fitted(file)) == numbers(model)
    n_sampled = len(model.observed()[0].tokens)
    assert 100 < n_sampled <= 250
    assert model.n_texts_ == N
    assert model.reader_.described["Texts"] == (
        f"Themes, judgement and their numbers come from a random {n_sampled} of {N} texts, tone comes from all of them"
    )
    model.save(tmp_path / "model")
    stored = ts.load(tmp_path / "model")
    assert stored.reader_.described == model.reader_.described
    assert stored.n_texts_ == N
    assert np.array_equal(stored.predict(table["review"]), model.predict(table["review"]))


def test_what_is_said_of_a_sample_says_so(file, table, small_sample, tmp_path):
    model = fitted(file)
    basis = model.reader_.fitted.basis
    assert f"of {N} texts, tone comes from all of them." in basis
    assert basis in model.estimate_effects().summary()
    assert model.themes().attrs["basis"] == model.drivers().attrs["basis"] == basis
    assert basis in model.drivers()._repr_html_()
    assert "basis" not in model.drivers(texts=table["review"].tolist(), responses=table["rating"].to_numpy()).attrs
    model.report(tmp_path / "report.html")
    assert basis in (tmp_path / "report.html").read_text()
    n_answered = int((~np.isnan(model.observed()[0].responses)).sum())
    assert f"{n_answered} texts with a response" in str(model.check())
    assert set(model.stability(n_refits=1)["theme"]) == set(range(4))
    assert model.merge([0, 1]).reader_.fitted.basis == basis


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_tone_of_a_sample_is_that_of_all_documents(file, table, small_sample, monkeypatch, slope):
    """But for its weight against judgement, which the sample chooses, as it does the slope of the lexicon."""
    for module in (streaming, theme_model):
        monkeypatch.setattr(module, "lexicon_slope", lambda *_: slope)
    in_memory = new_model().fit(table["review"].tolist(), table["rating"].to_numpy())
    some, every = (model.reader_.fitted.words.tone for model in (fitted(file), in_memory))
    assert np.abs(some).max() > 0
    np.testing.assert_allclose(some / np.linalg.norm(some), every / np.linalg.norm(every), rtol=1e-12)


def test_held_back_documents_and_their_copies_teach_nothing(table, small_batches):
    """The held-back rows' responses can be anything."""
    copies = pd.concat([table, table.iloc[:50]], ignore_index=True)
    held = np.zeros(len(copies), dtype=bool)
    held[:50] = True
    changed = copies.copy()
    changed.loc[np.r_[0:50, N : N + 50], "rating"] = 1.0
    found = []
    for source in (copies, changed):
        with read_to_fit(new_model().options, source, Roles("review", ("rating",))) as read:
            found.append(read.fit(held))
        assert read.found.drawn.rows.tolist() == list(range(N + 50))
    one, other = (reader.fitted for reader in found)
    for name in ("tone", "judgement", "judged", "slope", "spread"):
        np.testing.assert_array_equal(getattr(one.words, name), getattr(other.words, name))
    np.testing.assert_array_equal(one.verdict.scores, other.verdict.scores)
    for name in ("gamma", "beta", "constant", "average"):
        np.testing.assert_array_equal(getattr(one.effects, name), getattr(other.effects, name))
    assert len(found[0].fitted.training.keys) == N


@pytest.fixture(scope="module")
def finished(file, in_memory, tmp_path_factory):
    """The folder of a run that ended."""
    folder = tmp_path_factory.mktemp("finished") / "shards"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "read_batches", in_small_batches)
        assert numbers(fitted(file, folder=folder)) == numbers(in_memory)
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of it."""
    return shutil.copytree(finished, tmp_path / "shards")


class TestFolder:
    def test_a_second_run_reads_no_text_again(self, file, in_memory, folder, small_batches, monkeypatch):
        assert sorted(path.name for path in folder.glob("*.shard")) == [f"{n:06d}.shard" for n in range(5)]
        monkeypatch.setattr(streaming, "write_shard", None)
        assert numbers(fitted(file, folder=folder)) == numbers(in_memory)

    def test_what_a_killed_run_left_is_removed(self, file, in_memory, folder, small_batches):
        (folder / "000001.shard").rename(folder / "000001.shard.unfinished")
        (folder / "000009.shard.unfinished").write_bytes(b"half")
        assert numbers(fitted(file, folder=folder)) == numbers(in_memory)
        assert not [*folder.glob("*.unfinished")]

    def test_a_run_that_was_killed_before_it_began(self, file, in_memory, tmp_path, small_batches):
        (tmp_path / "stream.json.unfinished").write_text('{"colu')
        assert numbers(fitted(file, folder=tmp_path)) == numbers(in_memory)

    def test_a_truncated_shard_is_named(self, file, folder, small_batches):
        os.truncate(folder / "000002.shard", 500)
        with pytest.raises(StorageError, match=r"000002\.shard is missing or damaged"):
            fitted(file, folder=folder)

    def test_shards_of_other_files_are_not_taken(self, file, table, folder, tmp_path):
        other = tmp_path / "other.parquet"
        table.to_parquet(other)
        with pytest.raises(InputError, match=f"{folder} holds shards of other files"):
            fitted(other, folder=folder)
        with pytest.raises(InputError, match=f"{folder} holds shards of other files"):
            fitted(file, model=new_model(language=None), folder=folder)

    def test_shards_of_a_file_that_changed_are_not_taken(self, file, folder):
        before = file.stat()
        os.utime(file, ns=(1, 1))
        try:
            with pytest.raises(InputError, match="of files that have changed"):
                fitted(file, folder=folder)
        finally:
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def test_shards_of_other_rows_are_not_taken(self, table, tmp_path, small_batches):
        """Tables in memory have no files that could be compared."""
        table = table.assign(votes=1.0)
        fitted(table, folder=tmp_path, sample_weight="votes")
        for column, cell in {"review": "Fine", "rating": 2.0, "votes": 2.0}.items():
            other = table.copy()
            other.loc[333, column] = cell
            message = f"{tmp_path} holds shards of other rows than the table, rows 271 to 360"
            with pytest.raises(InputError, match=message):
                fitted(other, folder=tmp_path, sample_weight="votes")

    def test_a_folder_with_other_files_is_left_alone(self, file, tmp_path):
        (tmp_path / "thesis.doc").write_text("years of work")
        (tmp_path / "note.unfinished").write_text("more work")
        with pytest.raises(InputError, match=f"{tmp_path} holds other files"):
            fitted(file, folder=tmp_path)
        assert len([*tmp_path.iterdir()]) == 2

    def test_a_note_that_is_damaged_and_a_file_for_a_folder(self, file, tmp_path):
        (tmp_path / "stream.json").write_text("{")
        with pytest.raises(OutputError, match=f"cannot use {tmp_path} for shards"):
            fitted(file, folder=tmp_path)
        with pytest.raises(OutputError, match=r"cannot use .*stream\.json for shards"):
            fitted(file, folder=tmp_path / "stream.json")

    def test_a_full_disk_is_told_and_the_run_goes_on_later(self, file, in_memory, tmp_path, small_batches, monkeypatch):
        calls, sync = iter(range(3)), os.fsync

        def full(descriptor):
            if next(calls, None) is None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(shards.os, "fsync", full)
            with pytest.raises(OutputError, match=f"cannot write 000003.shard into {tmp_path}: No space left"):
                fitted(file, folder=tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {"stream.json", *(f"{n:06d}.shard" for n in range(3))}
        assert numbers(fitted(file, folder=tmp_path)) == numbers(in_memory)

    def test_a_folder_of_ours_vanishes_whatever_happens(self, table, tmp_path, small_batches, monkeypatch):
        monkeypatch.setattr(shards.tempfile, "tempdir", str(tmp_path))

        def interrupted():
            yield table.iloc[:100]
            assert [*tmp_path.rglob("*.shard")]
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fitted(interrupted())
        assert not [*tmp_path.iterdir()]


#: Fits once, then forks children that it kills, one in each third of the time of a fit, and fits again.
KILLING = """
import os, random, signal, sys, time
from textsignal import TextResponseModel, streaming
from textsignal.data.source import read_batches

streaming.read_batches = lambda source, columns: read_batches(source, columns, batch_rows=40)

def fit(folder):
    model = TextResponseModel(n_themes=4, family="binomial", n_jobs=1)
    return model.fit(sys.argv[1], "rating", text="review", folder=folder)

fit(None)
start = time.monotonic()
undisturbed = fit(None)
took = time.monotonic() - start
for third in range(3):
    child = os.fork()
    if not child:
        fit(sys.argv[2])
        os._exit(0)
    time.sleep(took * random.uniform(third, third + 1) / 3)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    print(os.WIFSIGNALED(status), len(os.listdir(sys.argv[2])) if os.path.exists(sys.argv[2]) else 0)
fit(sys.argv[2]).save(sys.argv[3])
undisturbed.save(sys.argv[4])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs forks")
def test_a_run_that_is_killed_at_any_moment_goes_on(tmp_path):
    synthetic_reviews(2000, seed=5).to_frame().to_csv(tmp_path / "reviews.csv", index=False)
    names = ("reviews.csv", "shards", "after", "undisturbed")
    command = [sys.executable, "-c", KILLING, *(str(tmp_path / name) for name in names)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "True" in done.stdout, "no child was killed"
    for name in ("arrays.safetensors", "model.json"):
        assert (tmp_path / "after" / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes()
    assert not [*(tmp_path / "shards").glob("*.unfinished")]


def test_a_file_that_changes_while_it_is_read(table, tmp_path, small_batches, monkeypatch):
    path = tmp_path / "reviews.csv"
    table.to_csv(path, index=False)
    write = streaming.write_shard

    def changing(*arguments):
        write(*arguments)
        with path.open("a") as file:
            file.write("Late,3\n")

    monkeypatch.setattr(streaming, "write_shard", changing)
    with pytest.raises(InputError, match=r"reviews\.csv changed while it was read \(after row 90\)"):
        fitted(path)


def error_of(source, **options):
    with pytest.raises(InputError) as caught:
        fitted(source, **options)
    return str(caught.value)


CELLS = {
    "no text": ("review", None, "column 'review' holds no text"),
    "infinite": ("rating", np.inf, "inf in column 'rating' is not a number"),
    "label": ("rating", "good", "'good' in column 'rating' is not a number"),
    "negative weight": ("votes", -1.0, "the weight -1 in column 'votes'; it must be a number of at least 0"),
    "no weight": ("votes", np.nan, "a missing weight in column 'votes'"),
    "number for a text": ("review", 5, "column 'review' holds a int (5)"),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_that_cannot_be_is_named_by_file_row_and_column(table, tmp_path, name, small_batches):
    column, cell, message = CELLS[name]
    good = table.assign(votes=1.0)
    bad = good.astype({column: object})
    bad.loc[333, column] = cell
    tables = {"a": good, "b": bad}
    for key, rows in tables.items():
        records = rows.to_dict("records")
        lines = [
            json.dumps({k: None if isinstance(v, float) and np.isnan(v) else v for k, v in r.items()}) for r in records
        ]
        (tmp_path / f"{key}.jsonl").write_text("\n".join(lines))
    found = error_of(str(tmp_path / "*.jsonl"), sample_weight="votes")
    assert f"b.jsonl, row 334: {message}" in found


def test_a_response_off_its_scale_is_named_by_its_row(table, tmp_path, small_batches):
    wrong = table.copy()
    wrong.loc[333, "rating"] = 9.0
    found = error_of(wrong, model=new_model(levels=(1, 5)))
    assert "(row 334: 9; rows count from 1)" in found
    assert "files" not in found
    assert "(rows are counted over all 3 files)" in error_of(
        parted(wrong, tmp_path / "csv"), model=new_model(levels=(1, 5))
    )


@pytest.mark.parametrize("cell", ["4/5", "yes", "five"])
def test_what_only_all_rows_could_tell_is_no_number(table, tmp_path, cell, small_batches):
    """Of "4/5" in one batch and "4/10" in another nobody knows what they are."""
    table.assign(rating=cell).to_csv(tmp_path / "reviews.csv", index=False)
    assert f"reviews.csv, row 1: '{cell}' in column 'rating' is not a number" in error_of(tmp_path / "reviews.csv")


def test_what_there_is_nothing_to_learn_from(table):
    assert "constant" in error_of(table.assign(rating=3.0))
    assert "no text has a response" in error_of(table.assign(rating=np.nan))
    assert "no content term is left" in error_of(table.assign(review=""))
    assert "1 texts cannot carry 4 themes" in error_of(table.iloc[:1]) or "constant" in error_of(table.iloc[:1])
    assert "no column 'stars'" in error_of(table, response="stars")
    assert "has no rows" in error_of(table.iloc[:0])


def test_a_sample_without_responses(table, monkeypatch):
    monkeypatch.setattr(streaming, "MOST_SAMPLED", 20)
    rare = table.assign(rating=np.where(np.arange(N) < 4, np.arange(N) % 2 + 1.0, np.nan))
    assert "drawn at random from 400 have no two different responses" in error_of(rare)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory": "2 cats"}, "memory='2 cats' is not a size"),
        ({"memory": "100MB"}, "memory='100MB' is too little"),
        ({"memory": -1}, "memory=-1 is not a size"),
        ({"sample_weight": "rating"}, "are of one column"),
        ({"sample_weight": [1.0]}, "sample_weight must be the name of a column"),
        ({"covariates": pd.DataFrame()}, "covariates, offset and groups cannot be given"),
        ({"model": new_model(n_themes=61)}, "too many to read"),
        ({"model": new_model(seed_words={"": []})}, "seed_words has the label ''"),
        ({"model": new_model(formula="a + b")}, "formula='a \\+ b' needs covariates"),
        ({"model": new_model(family="categorical")}, "classes without an order"),
    ],
)
def test_options_that_cannot_be(table, options, message):
    with pytest.raises(InputError, match=message):
        fitted(table, **options)


def test_options_are_looked_at_before_anything_is_read(monkeypatch):
    def never():
        raise AssertionError
        yield

    for options in ({"memory": "no"}, {"model": new_model(n_themes=61)}):
        error_of(never(), **options)


def test_sizes_of_memory():
    assert memory_of("4GB") == memory_of("4 GiB") == memory_of(4 * 2**30) == 2**32
    assert memory_of("1536m") == 1536 * 2**20
