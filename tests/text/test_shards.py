"""Shards: what is read is what was written, or an error that names the file."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from textsignal.errors import OutputError, StorageError
from textsignal.text import shards
from textsignal.text.shards import UNFINISHED, put_arrays, read_shard, write_shard
from textsignal.text.tokens import read_sentences

WORDS = ("not clean", "noisy!", "😀", "é. Ä", "don't", "\n", "a\u0000b", "\u2028", "x" * 300, ".", "")
documents = st.lists(st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=6).map(" ".join), max_size=8)


def written(folder, texts=("Not clean. Noisy!", "", "Fine")):
    """A shard of some texts, and its file."""
    tokens = read_sentences(list(texts), n_jobs=1)
    path = Path(folder) / "000000.shard"
    write_shard(tokens, {"response": np.arange(len(tokens), dtype=float)}, path)
    return tokens, path


@settings(max_examples=30, deadline=None)
@example([])
@example(["", "😀"])
@example(["", "  "])
@given(documents)
def test_a_shard_comes_back(texts):
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        tokens, path = written(folder, texts)
        found, others = read_shard(path)
        assert [file.name for file in Path(folder).iterdir()] == [path.name]
    assert len(found) == len(texts)
    assert list(found.words) == list(tokens.words)
    for name in ("documents", "codes", "indptr", "under", "negated", "n_words"):
        one, two = getattr(found, name), getattr(tokens, name)
        assert np.array_equal(one, two), name
        assert one.dtype == two.dtype, name
    assert others.keys() == {"response"}
    assert np.array_equal(others["response"], np.arange(len(texts)))


def test_texts_of_a_shard_are_not_there(tmp_path):
    found, _ = read_shard(written(tmp_path)[1])
    with pytest.raises(IndexError, match="not held"):
        found.texts[0]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_shard_is_named(tmp_path, share):
    _, path = written(tmp_path)
    size = path.stat().st_size
    os.truncate(path, int(size * share))
    with pytest.raises(StorageError, match=r"000000\.shard is missing or damaged"):
        read_shard(path)


def test_a_shard_with_numbers_that_cannot_be_is_named(tmp_path):
    tokens, path = written(tmp_path)
    good = shards.read_arrays(path)
    shifted = good["n_words"].copy()
    shifted[:2] += np.array([100, -100], np.int32)
    wrong = [
        ("n_words", shifted),
        ("codes", good["codes"] + np.int32(len(tokens.words))),
        ("n_words", good["n_words"] + np.int32(1)),
        ("n_sentences", good["n_sentences"][:-1]),
        ("marks", good["marks"][1:]),
        ("response", good["response"][1:]),
    ]
    for name, values in wrong:
        put_arrays(good | {name: values}, path)
        with pytest.raises(StorageError, match=r"000000\.shard is missing or damaged"):
            read_shard(path)
    put_arrays({name: values for name, values in good.items() if name != "codes"}, path)
    with pytest.raises(StorageError, match=r"000000\.shard is missing or damaged"):
        read_shard(path)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_names_the_folder_and_leaves_nothing(tmp_path, monkeypatch, call):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*((os, "fsync") if call == "fsync" else (Path, "replace")), full)
    with pytest.raises(OutputError, match=f"cannot write 000000.shard into {tmp_path}: No space left on device"):
        written(tmp_path)
    assert not [*tmp_path.iterdir()]


def test_a_write_that_the_system_stops_leaves_what_was_there(tmp_path):
    """A limit on the size of files fails in the middle of a write, as a full disk does."""
    resource = pytest.importorskip("resource")
    _, path = written(tmp_path)
    before, (soft, hard) = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OutputError, match=f"cannot write 000000.shard into {tmp_path}"):
            put_arrays({"codes": np.arange(100_000)}, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    assert not [*tmp_path.glob(f"*{UNFINISHED}")]
