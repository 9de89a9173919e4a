"""The text representation: the paper's formulas, the laws they obey, and what cannot be used."""

import json
import math
import pickle
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from textsignal.errors import InputError
from textsignal.text.tokenise import words
from textsignal.text.vectorise import TextVectorizer

TEXTS = [
    "The room was clean and the bed was soft. Clean bathroom!",
    "Noisy room, rude staff, not clean.",
    "Great staff; great breakfast. Breakfast was not cheap.",
    "",
    "The breakfast room had a view. What a view! 😀",
    "Not again. Rude, noisy, dirty.",
]
letters = st.sampled_from("aa bb cc dd ee ff gg hh".split())  # noqa: SIM905
corpora = st.lists(st.lists(letters, max_size=12).map(" ".join), min_size=1, max_size=8).filter(
    lambda texts: any(texts)
)
caps = st.integers(1, 9) | st.none()


def paper(texts, max_raw_terms, max_terms):
    """Transcribe the paper's section 2.1 in plain Python, in exact fractions where sums decide."""
    counts = [Counter(text.split()) for text in texts]
    frequency = Counter(word for text in texts for word in text.split())
    idf = {term: math.log((1 + len(texts)) / (1 + sum(term in count for count in counts))) + 1 for term in frequency}
    raw = sorted(frequency, key=lambda term: (-frequency[term], term))[:max_raw_terms]

    def tf(count, term, terms):
        total = sum(count[other] for other in terms)
        return Fraction(count[term], total) if total else Fraction(0)

    score = {term: float(sum(tf(count, term, raw) for count in counts)) * idf[term] for term in raw}
    score = {term: float(f"{value:.12g}") for term, value in score.items()}  # equal but for rounding is a tie
    final = sorted(sorted(raw, key=lambda term: (-score[term], term))[:max_terms])
    return final, np.array([[float(tf(c, term, final)) * idf[term] for term in final] for c in counts])


@given(corpora, caps, caps)
def test_it_is_the_papers_representation(texts, max_raw_terms, max_terms):
    vectorizer = TextVectorizer(max_raw_terms, max_terms, stop_words=None)
    X = vectorizer.fit_transform(texts)
    terms, expected = paper(texts, max_raw_terms, max_terms)
    assert vectorizer.terms_.tolist() == terms
    np.testing.assert_allclose(X.toarray(), expected, rtol=1e-13)


def test_idf_is_scikit_learns():
    ours = TextVectorizer(None, None, stop_words=None).fit(TEXTS)
    theirs = TfidfVectorizer(tokenizer=words, token_pattern=None, smooth_idf=True).fit(TEXTS)
    assert ours.terms_.tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=1e-15)


@given(corpora, st.integers(0, 2**32 - 1))
def test_the_order_of_documents_changes_nothing_but_the_order_of_rows(texts, seed):
    order = np.random.default_rng(seed).permutation(len(texts))
    first, second = TextVectorizer(6, 3), TextVectorizer(6, 3)
    X, shuffled = first.fit_transform(texts), second.fit_transform([texts[i] for i in order])
    assert first.terms_.tolist() == second.terms_.tolist()
    np.testing.assert_array_equal(X.toarray()[order], shuffled.toarray())


@given(corpora)
def test_term_frequencies_sum_to_one_or_there_is_no_term(texts):
    vectorizer = TextVectorizer(6, 3, sparse_output=False)
    tf = vectorizer.fit_transform(texts) / vectorizer.idf_
    sums = tf.sum(axis=1)
    assert np.all(np.isclose(sums, 1) | (sums == 0))


@pytest.mark.parametrize("weighting", ["tfidf", "count"])
@pytest.mark.parametrize("row_norm", [None, "l1", "l2"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, "float32"])
def test_transform_of_the_training_texts_is_fit_transform(weighting, row_norm, dtype):
    vectorizer = TextVectorizer(20, 8, weighting=weighting, row_norm=row_norm, dtype=dtype)
    X = vectorizer.fit_transform(TEXTS)
    again = vectorizer.transform(TEXTS)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(again, part))
    assert X.format == "csr"
    assert X.has_sorted_indices
    assert X.dtype == np.dtype(dtype)
    norms = np.linalg.norm(X.toarray(), {"l1": 1, "l2": 2}.get(row_norm), axis=1)
    assert row_norm is None or np.allclose(norms[[0, 1, 2, 4, 5]], 1)
    assert norms[3] == 0


def test_counts_are_those_of_the_same_terms():
    ours = TextVectorizer(20, 8, weighting="count")
    X = ours.fit_transform(TEXTS)
    assert ours.terms_.tolist() == TextVectorizer(20, 8).fit(TEXTS).terms_.tolist()
    theirs = CountVectorizer(tokenizer=words, token_pattern=None, vocabulary=ours.terms_)
    np.testing.assert_array_equal(X.toarray(), theirs.transform(TEXTS).toarray())


def test_frequency_then_tfidf_decide():
    texts = ["aa aa aa bb", "aa aa aa cc", "bb dd dd"]
    assert TextVectorizer(2, None).fit(texts).terms_.tolist() == ["aa", "bb"]  # dd is as frequent as bb
    assert TextVectorizer(None, 2).fit(texts).terms_.tolist() == ["aa", "dd"]
    assert TextVectorizer(2, 1).fit(texts).terms_.tolist() == ["aa"]


def test_ties_go_to_the_first_in_the_alphabet():
    texts = ["zz yy xx ww", "ww zz xx yy"]
    assert TextVectorizer(3, None).fit(texts).terms_.tolist() == ["ww", "xx", "yy"]
    assert TextVectorizer(None, 2).fit(texts).terms_.tolist() == ["ww", "xx"]


def test_sums_that_differ_in_rounding_alone_are_a_tie():
    texts = ["aa bb bb xx xx", "aa aa bb bb yy", "aa aa aa bb bb"]
    assert math.fsum([1 / 5, 2 / 5, 3 / 5]) < math.fsum([2 / 5, 2 / 5, 2 / 5])
    assert TextVectorizer(None, 1).fit(texts).terms_.tolist() == ["aa"]


def test_idf_is_of_the_training_texts_and_counts_empty_ones():
    vectorizer = TextVectorizer().fit(["aa bb", "aa", ""])
    idf = vectorizer.idf_.copy()
    np.testing.assert_allclose(idf, [math.log(4 / 3) + 1, math.log(4 / 2) + 1])
    X = vectorizer.transform(["bb bb bb zz", "zz", ""]).toarray()
    np.testing.assert_allclose(X, [[0, idf[1]], [0, 0], [0, 0]])  # zz does not count in tf either
    np.testing.assert_array_equal(vectorizer.idf_, idf)
    assert vectorizer.n_documents_ == 3
    assert vectorizer.vocabulary_ == {"aa": 0, "bb": 1}


@pytest.mark.parametrize(
    ("options", "terms"),
    [
        ({"min_df": 2}, ["aa", "bb"]),
        ({"min_df": 0.5}, ["aa", "bb"]),
        ({"min_df": 0.75}, ["aa"]),
        ({"max_df": 2}, ["bb", "cc", "dd"]),
        ({"max_df": 0.25}, ["cc", "dd"]),
        ({"min_df": 2, "max_df": 0.5}, ["bb"]),
        ({"stop_words": ["AA", "bb"]}, ["cc", "dd"]),
        ({"stop_words": iter(["aa", "bb"])}, ["cc", "dd"]),
        ({"ngram_range": (2, 2)}, ["aa bb", "aa dd", "bb aa", "bb cc"]),
        ({"ngram_range": [1, 2], "stop_words": ["bb"]}, ["aa", "aa aa", "aa cc", "aa dd", "cc", "dd"]),
        ({"tokenizer": str.split}, ["DD", "aa", "bb", "cc"]),
    ],
)
def test_options(options, terms):
    texts = ["aa bb cc", "aa bb aa", "aa DD", ""]
    vectorizer = TextVectorizer(**options).fit(texts)
    assert vectorizer.terms_.tolist() == terms
    assert set(vectorizer.transform(texts).indices) == set(range(len(terms)))


def test_stop_words_of_english_leave_negations_in():
    terms = TextVectorizer(None, None).fit(["It was not very clean and I'm never coming back, didn't sleep"]).terms_
    assert set(terms) >= {"not", "very", "never", "back", "didn't"}
    assert not set(terms) & {"it", "was", "and", "i'm"}


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        iter,
        lambda texts: np.array(texts, dtype=object),
        np.array,
        lambda texts: pd.Series(texts, index=[5] * len(texts)),
        lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
        lambda texts: pd.Series(texts, dtype="category"),
    ],
)
def test_any_container_of_texts(container):
    expected = TextVectorizer().fit_transform(TEXTS)
    vectorizer = TextVectorizer()
    np.testing.assert_array_equal(vectorizer.fit_transform(container(TEXTS)).toarray(), expected.toarray())
    np.testing.assert_array_equal(vectorizer.transform(container(TEXTS)).toarray(), expected.toarray())


def test_input_is_left_alone():
    texts = pd.Series(TEXTS)
    before = texts.copy()
    TextVectorizer().fit(texts).transform(texts)
    pd.testing.assert_series_equal(texts, before)


def test_no_texts_make_no_rows():
    vectorizer = TextVectorizer().fit(TEXTS)
    assert vectorizer.transform([]).shape == (0, len(vectorizer.terms_))


def test_a_single_text_of_a_million_words():
    X = TextVectorizer(weighting="count").fit_transform(["room " * 500_000 + "bed " * 500_000])
    assert X.toarray().tolist() == [[500_000, 500_000]]


# As a scikit-learn transformer


def test_clone_and_pickle():
    vectorizer = TextVectorizer(20, 8, tokenizer=words, ngram_range=(1, 2)).fit(TEXTS)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert not hasattr(clone(vectorizer), "terms_")
    again = pickle.loads(pickle.dumps(vectorizer))
    np.testing.assert_array_equal(again.transform(TEXTS).toarray(), vectorizer.transform(TEXTS).toarray())


def test_in_a_pipeline():
    model = make_pipeline(TextVectorizer(), Ridge()).fit(TEXTS, range(len(TEXTS)))
    assert model.predict(TEXTS).shape == (len(TEXTS),)
    assert model[:-1].get_feature_names_out().tolist() == model[0].terms_.tolist()


def test_tags_say_text():
    tags = sklearn.utils.get_tags(TextVectorizer()).input_tags
    assert tags.string
    assert not tags.two_d_array


def test_pandas_output():
    texts = pd.Series(TEXTS, index=list("uvwxyz"))
    vectorizer = TextVectorizer(sparse_output=False).set_output(transform="pandas")
    table = vectorizer.fit_transform(texts)
    assert table.columns.tolist() == vectorizer.get_feature_names_out().tolist()
    assert table.index.tolist() == list("uvwxyz")
    assert isinstance(vectorizer.set_output(transform="default").transform(texts), np.ndarray)


def test_pandas_output_is_never_sparse():
    with pytest.raises(InputError, match=r"pandas output is never sparse; make TextVectorizer\(sparse_output=False"):
        TextVectorizer().set_output(transform="pandas")
    assert issparse(TextVectorizer().set_output(transform="default").fit_transform(TEXTS))


def test_sparse_arrays_on_request():
    expected = TextVectorizer().fit_transform(TEXTS)
    with sklearn.config_context(sparse_interface="sparray"):
        X = TextVectorizer(row_norm=None).fit_transform(TEXTS)
    np.testing.assert_array_equal(X.toarray(), expected.toarray())


def test_not_fitted():
    with pytest.raises(NotFittedError):
        TextVectorizer().transform(TEXTS)
    with pytest.raises(NotFittedError):
        TextVectorizer().get_feature_names_out()


@pytest.mark.parametrize("options", [{}, {"stop_words": ["room"], "ngram_range": (1, 2), "dtype": "float32"}])
def test_restore_from_what_was_stored(options):
    first = TextVectorizer(20, 8, **options).fit(TEXTS)
    params = json.loads(json.dumps(first.get_params(), default=lambda dtype: np.dtype(dtype).name))
    second = TextVectorizer.restore(params, first.terms_.tolist(), first.idf_, first.n_documents_)
    new = ["Clean room, rude staff, a view.", "", "unknown"]
    np.testing.assert_array_equal(first.transform(new).toarray(), second.transform(new).toarray())
    assert second.get_feature_names_out().tolist() == first.terms_.tolist()
    assert second.n_documents_ == len(TEXTS)
    assert second.transform(new).dtype == first.transform(new).dtype


def test_restore_needs_one_idf_a_term():
    with pytest.raises(InputError, match="2 terms with 1 idf values"):
        TextVectorizer.restore({}, ["aa", "bb"], [1.0], 3)


# What cannot be used


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"not a single str; for one text give \[text\]"),
        (b"bytes", "not a single bytes"),
        (None, "not a single NoneType"),
        (pd.DataFrame({"a": ["x"]}), "not a table; give one column"),
        (np.array([["x"]]), "not a table; give one column"),
        (["a", "b", "c", float("nan")], r"text 4 is a float \(nan\), counting from 1"),
        (pd.Series(["a", None]), r"text 2 is a (float \(nan\)|NoneType \(None\))"),
        ([["a", "b"]], r"text 1 is a list \(\['a', 'b'\]\)"),
        ([b"a"], "text 1 is a bytes"),
        ([], "no texts were given"),
    ],
)
def test_what_is_no_list_of_texts(texts, message):
    with pytest.raises(InputError, match=message):
        TextVectorizer().fit(texts)


@pytest.mark.parametrize("texts", ["one text", [None]])
def test_new_texts_are_checked_too(texts):
    with pytest.raises(InputError):
        TextVectorizer().fit(TEXTS).transform(texts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop_words": ["aa", "bb"]}, r"the 2 texts are empty .* \(stop_words=\['aa', 'bb'\]\)"),
        ({"min_df": 2}, "none of the 2 terms is in at least min_df=2 and at most max_df=1.0 of the 2 texts"),
        ({"max_df": 0.1}, "none of the 2 terms is in at least min_df=1 and at most max_df=0.1 of the 2 texts"),
    ],
)
def test_no_term_left_says_what_removed_them(options, message):
    with pytest.raises(InputError, match=f"no term is left: {message}"):
        TextVectorizer(**options).fit(["aa", "bb"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_raw_terms": 0}, "max_raw_terms must be a whole number from 1, or None for no limit, not 0"),
        ({"max_terms": 2.5}, "max_terms must be a whole number from 1"),
        ({"max_terms": True}, "max_terms must be a whole number from 1"),
        ({"min_df": -1}, "min_df must be a whole number from 1 or a share from 0.0 to 1.0, not -1"),
        ({"max_df": 1.5}, "max_df must be a whole number from 1 or a share"),
        ({"max_df": "all"}, "max_df must be a whole number from 1 or a share"),
        (
            {"ngram_range": (2, 1)},
            r"ngram_range must be two whole numbers from 1 to 100, such as \(1, 2\), not \(2, 1\)",
        ),
        ({"ngram_range": 2}, "ngram_range must be two whole numbers"),
        ({"tokenizer": "split"}, "tokenizer must be a function"),
        ({"weighting": "bm25"}, "weighting must be one of 'tfidf', 'count', not 'bm25'"),
        ({"row_norm": "max"}, "row_norm must be one of None, 'l1', 'l2', not 'max'"),
        ({"dtype": np.int64}, "dtype must be float64 or float32"),
        ({"stop_words": "klingon"}, "no stop words for 'klingon'"),
    ],
)
def test_bad_options_say_what_is_allowed(options, message):
    with pytest.raises(InputError, match=message):
        TextVectorizer(**options).fit(TEXTS)


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextVectorizer(stop_words=["It's", "new york"], ngram_range=(1, 2)).fit(TEXTS).transform(["New"])
