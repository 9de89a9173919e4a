"""Stored models: the same bits again, nothing executed, and a clear error for whatever is not a good model."""

import errno
import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from stored import NEW, bits, contents, error_of, settings_of, sign

from textsignal import GLMNMF, JBNMF, Binomial, TextResponseModel, TextVectorizer, TopicModel, load, storage
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError, OutputError, StorageError

REVIEWS = synthetic_reviews(200, seed=2)

MODELS = {
    "themes": lambda: TextResponseModel(4),
    "themes in no language": lambda: TextResponseModel(
        3, language=None, max_terms=np.int64(80), levels=np.array([1, 6])
    ),
    "seeded themes": lambda: TextResponseModel(
        3, language="de", seed_words={"Frühstück": ("breakfast", "eggs")}, stop_words={"the", "was"}
    ),
    "one theme": lambda: TextResponseModel(1, family=Binomial(n=np.int64(9), lowest=0)),
    "GLMNMF": lambda: TopicModel(GLMNMF(4)),
    "JBNMF": lambda: TopicModel(JBNMF(4, alpha=0.05)),
    "the paper's algorithm": lambda: TopicModel(
        JBNMF(3, gamma=400, coefficient_step="gradient", init="random", max_iter=30)
    ),
    "float32": lambda: TopicModel(GLMNMF(4), TextVectorizer(dtype=np.float32)),
    "counts": lambda: TopicModel(GLMNMF(4), TextVectorizer(weighting="count", row_norm="l2")),
    "own stop words": lambda: TopicModel(GLMNMF(4), TextVectorizer(stop_words={"the", "was", "und", "Ärger"})),
    "n-grams": lambda: TopicModel(GLMNMF(4), TextVectorizer(stop_words=None, ngram_range=(1, 3), min_df=3, max_df=0.5)),
    "one topic": lambda: TopicModel(GLMNMF(1, training="joint")),
    "a given family": lambda: TopicModel(GLMNMF(3, family=Binomial(n=np.int64(9), lowest=0))),
    "levels as a range": lambda: TopicModel(GLMNMF(3, levels=range(0, 8))),
    "options of NumPy's types": lambda: TopicModel(
        JBNMF(np.int64(3), alpha=np.float32(0.1), levels=np.array([1, 5]), random_state=None)
    ),
    "a random generator": lambda: TopicModel(GLMNMF(3, training="joint", random_state=np.random.RandomState(5))),
}


def letters(text):
    """A tokenizer of somebody's own."""
    return list(text.lower())


@cache
def fitted(name):
    return MODELS[name]().fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(params=["themes", "GLMNMF"])
def kind(request):
    return request.param


@pytest.fixture
def saved(tmp_path, kind):
    """A folder with a good model in it, to be damaged."""
    fitted(kind).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_says_the_same_bits(tmp_path, name):
    model = fitted(name)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert bits(again) == bits(model)
    assert type(again) is type(model)
    table, expected = (
        each.themes() if isinstance(each, TextResponseModel) else each.topics() for each in (again, model)
    )
    assert table.equals(expected)
    assert again.score(REVIEWS.texts, REVIEWS.ratings) == model.score(REVIEWS.texts, REVIEWS.ratings)


def test_a_loaded_model_says_the_same_bits_in_a_new_process(tmp_path):
    names = ["themes", "GLMNMF", "JBNMF", "float32", "n-grams"]
    for name in names:
        fitted(name).save(tmp_path / name)
    (tmp_path / "new.json").write_text(json.dumps(NEW))
    script = f"""
        import hashlib, json, sys
        import numpy as np
        import textsignal as ts
        texts = json.load(open("new.json"))
        for name in {names}:
            found = ts.load(name).predictions(texts)
            parts = (found.weights, found.eta, found.mean, found.level(), found.probabilities, found.unknown)
            print(hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest())
    """
    lines = "\n".join(line[8:] for line in script.splitlines())
    done = subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [hashlib.sha256(bits(fitted(name))).hexdigest() for name in names]


@pytest.mark.parametrize("name", MODELS)
def test_saving_again_gives_the_same_files(tmp_path, name):
    fitted(name).save(tmp_path / "one")
    fitted(name).save(tmp_path / "two")
    load(tmp_path / "one").save(tmp_path / "three")
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")


@pytest.mark.parametrize("name", ["GLMNMF", "JBNMF"])
def test_a_loaded_model_knows_how_it_was_trained(tmp_path, name):
    model = fitted(name)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.vectorizer_.n_documents_ == model.vectorizer_.n_documents_ == 200
    np.testing.assert_array_equal(again.coherence_, model.coherence_)
    np.testing.assert_array_equal(again.levels_, model.levels_)
    as_stored = {"dtype": "float64"}
    assert again.vectorizer_.get_params() == model.vectorizer_.get_params() | as_stored
    ours, theirs = again.estimator_, model.estimator_
    for attribute in ("n_iter_", "stop_reason_", "converged_", "alpha_", "intercept_", "n_features_in_", "family_"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    for attribute in ("components_", "coef_", "mean_weights_", "objective_", "levels_"):
        np.testing.assert_array_equal(getattr(ours, attribute), getattr(theirs, attribute))
    assert ours.trace_.equals(theirs.trace_)


@pytest.mark.parametrize("name", ["themes", "seeded themes", "GLMNMF", "JBNMF", "n-grams"])
def test_a_loaded_model_can_be_fitted_again(tmp_path, name):
    fitted(name).save(tmp_path / "model")
    refitted = clone(load(tmp_path / "model")).fit(REVIEWS.texts, REVIEWS.ratings)
    assert bits(refitted) == bits(fitted(name))


def test_a_path_may_be_a_string(tmp_path):
    fitted("GLMNMF").save(str(tmp_path / "model"))
    assert bits(load(str(tmp_path / "model"))) == bits(fitted("GLMNMF"))


def test_an_own_tokenizer_is_asked_for_and_then_gives_the_same_bits(tmp_path):
    model = TopicModel(GLMNMF(3), TextVectorizer(tokenizer=letters, stop_words=None))
    model.fit(REVIEWS.texts, REVIEWS.ratings).save(tmp_path / "model")
    with pytest.raises(InputError, match=r"fitted with its user's own tokenizer.*load\(path, tokenizer=\.\.\.\)"):
        load(tmp_path / "model")
    assert bits(load(tmp_path / "model", tokenizer=letters)) == bits(model)
    assert b"letters" not in b"".join(contents(tmp_path / "model").values())


def test_terms_of_every_kind_are_restored(tmp_path):
    texts = ["😀 naïve Ünïcode", "日本 😀 half\ud83d", 'quote" comma, back\\slash', 'naïve quote" null\x00'] * 5
    model = TopicModel(GLMNMF(2), TextVectorizer(tokenizer=str.split, stop_words=None))
    model.fit(texts, np.arange(20) % 3).save(tmp_path / "model")
    again = load(tmp_path / "model", tokenizer=str.split)
    assert again.vectorizer_.terms_.tolist() == model.vectorizer_.terms_.tolist()
    assert bits(again, texts) == bits(model, texts)


def test_a_model_is_two_files_neither_of_them_a_pickle(saved):
    files = contents(saved)
    assert set(files) == {"model.json", "arrays.safetensors"}
    assert json.loads(files["model.json"])["format_version"] == storage.FORMAT_VERSION
    # A safetensors file starts with the length of its header, which is JSON.
    length = int.from_bytes(files["arrays.safetensors"][:8], "little")
    assert {"topics.estimator.fitted.topics", "themes.fitted.themes.topics"} & set(
        json.loads(files["arrays.safetensors"][8 : 8 + length])
    )


def test_loading_executes_nothing(saved):
    script = """
        import sys
        import textsignal as ts
        ts.load("model")  # what is imported when first used, is imported now
        def watch(event, _):
            if event in ("exec", "compile", "import", "pickle.find_class", "os.system", "subprocess.Popen"):
                raise SystemExit(f"loading a model caused {event}")
        sys.addaudithook(watch)
        ts.load("model")
        print("quiet")
    """
    lines = "\n".join(line[8:] for line in script.splitlines())
    done = subprocess.run([sys.executable, "-c", lines], cwd=saved.parent, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("quiet\n", "")


def _truncate(file, share=0.5):
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])


def _alter(file, before, after):
    content = file.read_bytes()
    assert before in content
    file.write_bytes(content.replace(before, after, 1))


def _flip_last_byte(file):
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def _of_format(folder, version):
    sign(folder, settings_of(folder) | {"format_version": version})


NOW, NEXT = storage.FORMAT_VERSION, storage.FORMAT_VERSION + 1
#: What may happen to a model, and what the error must say. The folder holds `j` model.json and `a` the arrays.
DAMAGE = {
    "settings truncated": (lambda f, j, a: _truncate(j), r"model\.json cannot be read .* truncated"),
    "settings emptied": (lambda f, j, a: j.write_bytes(b""), r"model\.json cannot be read .* truncated"),
    "settings missing": (lambda f, j, a: j.unlink(), r"holds no model: model\.json is missing"),
    "settings of another kind": (
        lambda f, j, a: j.write_text('{"name": "x"}'),
        r"model\.json is not a textsignal model",
    ),
    "settings no object": (lambda f, j, a: j.write_text("[1, 2]"), r"model\.json is not a textsignal model"),
    "settings no text": (lambda f, j, a: j.write_bytes(b"\x80\x04\x95"), r"model\.json cannot be read"),
    "settings nested deep": (lambda f, j, a: j.write_text("[" * 100_000), r"model\.json cannot be read"),
    "settings a folder": (lambda f, j, a: (j.unlink(), j.mkdir()), r"model\.json cannot be read"),
    "a value altered": (
        lambda f, j, a: _alter(j, b'"n_jobs": -1', b'"n_jobs": 1'),
        r"model\.json was altered after it was saved",
    ),
    "a term altered": (lambda f, j, a: _alter(j, b'"breakfast"', b'"dinner"'), r"model\.json was altered"),
    "the checksum removed": (lambda f, j, a: _alter(j, b'"sha256"', b'"other"'), r"model\.json was altered"),
    "a newer format": (
        lambda f, j, a: _of_format(f, NEXT),
        rf"has model format {NEXT}, and this textsignal reads format {NOW}; use a newer textsignal",
    ),
    "an older format": (
        lambda f, j, a: _of_format(f, 1),
        rf"has model format 1, and this textsignal reads format {NOW}; fit the model again",
    ),
    "a format that is not a number": (
        lambda f, j, a: _alter(j, f'"format_version": {NOW}'.encode(), b'"format_version": "one"'),
        "has model format 'one'",
    ),
    "arrays truncated": (lambda f, j, a: _truncate(a), r"arrays\.safetensors is truncated or was altered"),
    "arrays emptied": (lambda f, j, a: a.write_bytes(b""), r"arrays\.safetensors is truncated or was altered"),
    "arrays missing": (lambda f, j, a: a.unlink(), r"arrays\.safetensors cannot be read: No such file"),
    "one byte of an array": (lambda f, j, a: _flip_last_byte(a), r"arrays\.safetensors is truncated or was altered"),
    "the folder missing": (lambda f, j, a: shutil.rmtree(f), "there is no model at"),
    "a file in its place": (lambda f, j, a: (shutil.rmtree(f), f.write_text("model")), "model is a file; a model is"),
    "an empty folder": (lambda f, j, a: (j.unlink(), a.unlink()), "holds no model"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_model_gets_a_clear_error(saved, name):
    damage, message = DAMAGE[name]
    damage(saved, saved / storage.SETTINGS_FILE, saved / storage.ARRAYS_FILE)
    with pytest.raises(StorageError, match=message):
        load(saved)
    error_of(saved)


@pytest.mark.parametrize("name", [storage.SETTINGS_FILE, storage.ARRAYS_FILE])
def test_no_altered_byte_and_no_cut_goes_unnoticed(saved, kind, name):
    file, good, expected = saved / name, (saved / name).read_bytes(), bits(fitted(kind))
    rng = np.random.default_rng(0)
    for place in rng.integers(len(good), size=60):
        altered = bytearray(good)
        altered[place] ^= rng.integers(1, 256)
        file.write_bytes(altered)
        try:
            assert bits(load(saved)) == expected  # a space for a line break is no change
        except StorageError:
            continue
    for length in rng.integers(len(good) - 1, size=20):
        file.write_bytes(good[:length])
        error_of(saved)


#: Headers of a safetensors file: what stands where its length should, and the header.
HEADERS = {
    "a length beyond all files": ((2**63).to_bytes(8, "little"), {}),
    "a length beyond this file": ((2**31).to_bytes(8, "little"), {}),
    "an absurd shape": (None, {"idf": {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 8]}}),
    "offsets beyond the file": (None, {"idf": {"dtype": "F64", "shape": [2**30], "data_offsets": [0, 2**33]}}),
    "offsets backwards": (None, {"idf": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}}),
    "a type that is none": (None, {"idf": {"dtype": "TEXT", "shape": [1], "data_offsets": [0, 8]}}),
    "a type NumPy does not have": (None, {"idf": {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [0, 8]}}),
    "no object": (None, ["idf"]),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_cannot_be_is_refused(saved, name):
    length, header = HEADERS[name]
    text = json.dumps(header).encode()
    content = (len(text).to_bytes(8, "little") if length is None else length) + text + bytes(8)
    (saved / storage.ARRAYS_FILE).write_bytes(content)
    sign(saved, settings_of(saved))
    assert "arrays.safetensors cannot be read" in error_of(saved)


def test_everything_that_was_fitted_is_stored_by_its_own_fields(saved, kind):
    """No list of names in storage: a field that is added is stored."""
    if kind == "GLMNMF":
        ours, theirs = load(saved).estimator_.fitted_, fitted(kind).estimator_.fitted_
        assert ours.weights is None
    else:
        ours, theirs = load(saved).reader_, fitted(kind).reader_
    assert same(ours, theirs)


def same(ours, theirs):
    """Whether two values are the same, but for what is not stored."""
    if is_dataclass(theirs):
        stored = [field.name for field in fields(theirs) if field.metadata.get("stored", True)]
        return all(same(getattr(ours, name), getattr(theirs, name)) for name in stored)
    if isinstance(theirs, np.ndarray):
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")
    return ours == theirs


def test_a_loaded_model_does_not_hold_the_texts_of_training(tmp_path, kind):
    fitted(kind).save(tmp_path / "model")
    again = load(tmp_path / "model")
    with pytest.raises(InputError, match=r"a stored model does not hold (the texts it was trained on|its texts); give"):
        again.find_texts(0)
    written = b"".join(contents(tmp_path / "model").values())
    assert not any(text.encode() in written for text in REVIEWS.texts)


def test_a_loaded_model_does_not_hold_the_weights_of_training(tmp_path):
    fitted("GLMNMF").save(tmp_path / "model")
    assert not hasattr(load(tmp_path / "model").estimator_, "weights_")
    assert hasattr(fitted("GLMNMF").estimator_, "weights_")


def test_the_folder_around_a_model_points_to_it(saved):
    assert error_of(saved.parent).endswith(f"did you mean {saved}?")


def test_only_a_fitted_model_can_be_saved(tmp_path):
    for model in (TextResponseModel(), TopicModel()):
        with pytest.raises(NotFittedError):
            model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    class Mine(GLMNMF):
        pass

    model = TopicModel(Mine(2)).fit(REVIEWS.texts, REVIEWS.ratings)
    with pytest.raises(InputError, match="a Mine cannot be stored; only GLMNMF and JBNMF can"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_model_is_replaced_only_with_force(saved):
    (saved / "notes.txt").write_text("mine")
    before = contents(saved)
    with pytest.raises(OutputError, match="exists already"):
        fitted("JBNMF").save(saved)
    assert contents(saved) == before
    fitted("JBNMF").save(saved, force=True)
    assert bits(load(saved)) == bits(fitted("JBNMF"))
    assert (saved / "notes.txt").read_text() == "mine"
    assert list(saved.parent.iterdir()) == [saved]


@pytest.mark.parametrize("force", [False, True])
def test_a_disk_that_is_full_leaves_everything_as_it_was(saved, monkeypatch, force):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    target = saved if force else saved.parent / "other"
    before = contents(saved)
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OutputError, match="cannot write the model: No space left on device"):
        fitted("JBNMF").save(target, force=force)
    assert contents(saved) == before
    assert list(saved.parent.iterdir()) == [saved]
