"""The document-term matrix that topics are learnt from."""

import math
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from textsignal.data.rows import checked_texts
from textsignal.errors import InputError
from textsignal.text.cleaning import without_markup
from textsignal.text.features import count_terms
from textsignal.text.tokenise import LocatedTerm, LocatedText, located_words, words
from textsignal.text.tokenise import stop_words as stop_words_of
from textsignal.text.tokens import TokenisedTexts, Tokenizer, tokenised

#: The most words in a term. A longer one never occurs twice, and a model that needs it is damaged.
LONGEST_TERM = 100
#: Texts, or texts that this vectorizer has tokenised.
Texts = Iterable[str] | TokenisedTexts


class TextVectorizer(TransformerMixin, BaseEstimator):
    """The paper's text representation: term frequency times inverse document frequency, of selected terms.

    With c the counts of the retained terms, M training texts and m_j of them holding term j::

        tf_ij = c_ij / sum_v c_iv        idf_j = log((1 + M) / (1 + m_j)) + 1        X_ij = tf_ij idf_j

    Terms are retained in two steps: first the `max_raw_terms` most frequent in the corpus, then of these the
    `max_terms` with the largest sum of TF-IDF over all texts. Ties go to the term that comes first in
    the alphabet. All of this is learnt from the training texts alone; other terms of a new text are
    ignored, and a text without any known term is a row of zeros.

    Parameters
    ----------
    max_raw_terms, max_terms : the most terms that each step retains; None is all.
    stop_words : words that are not terms: a language or a list, as in `textsignal.text.tokenise.stop_words`.
    ngram_range : least and greatest number of consecutive words in a term, without stop words.
    min_df, max_df : terms in fewer or more texts are not terms. A float is a share of the texts.
    tokenizer : returns the words of a text, in their final form. By default `textsignal.text.tokenise.words`.
    weighting : "tfidf" for X as above, or "count" for the counts c. Both have the same terms.
    row_norm : norm to which rows are scaled, "l1" or "l2"; None to keep it.
    strip_markup : True to remove tags, scripts and entities of HTML from texts first, as `without_markup` does.
    sparse_output : True for a sparse X. `set_output` needs it dense.
    dtype : of X, numpy.float64 or numpy.float32.

    Attributes
    ----------
    terms_ : (terms,) the retained terms, in alphabetical order.
    vocabulary_ : column of each term.
    idf_ : (terms,) inverse document frequencies.
    n_documents_ : number of training texts, empty ones included.

    Examples
    --------
    >>> vectorizer = TextVectorizer(max_terms=3, sparse_output=False)
    >>> X = vectorizer.fit_transform(["A clean room.", "The room was not clean!", "Not good, not clean."])
    >>> vectorizer.get_feature_names_out()
    array(['clean', 'not', 'room'], dtype=object)
    >>> X.round(3)
    array([[0.5  , 0.   , 0.644],
           [0.333, 0.429, 0.429],
           [0.333, 0.858, 0.   ]])
    """

    def __init__(
        self,
        max_raw_terms: int | None = 2000,
        max_terms: int | None = 500,
        *,
        stop_words: str | Iterable[str] | None = "english",
        ngram_range: tuple[int, int] = (1, 1),
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        tokenizer: Tokenizer | None = None,
        weighting: str = "tfidf",
        row_norm: str | None = None,
        strip_markup: bool = True,
        sparse_output: bool = True,
        dtype: Any = np.float64,
    ) -> None:
        self.max_raw_terms = max_raw_terms
        self.max_terms = max_terms
        self.stop_words = stop_words
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_df = max_df
        self.tokenizer = tokenizer
        self.weighting = weighting
        self.row_norm = row_norm
        self.strip_markup = strip_markup
        self.sparse_output = sparse_output
        self.dtype = dtype

    def fit(self, texts: Texts, y: object = None) -> Self:
        """Choose the terms and learn their inverse document frequencies; raises InputError if no term is left.

        Parameters
        ----------
        texts : the training texts: strings, or the result of `tokenise`.
        y : ignored; exists for scikit-learn's interface.
        """
        self._fit_counts(texts)
        return self

    def fit_transform(self, texts: Texts, y: object = None) -> csr_matrix | np.ndarray:
        """Fit to texts and transform them, counting words once."""
        return self._weigh(self._fit_counts(texts))

    def transform(self, texts: Texts) -> csr_matrix | np.ndarray:
        """Represent texts by the terms that were learnt.

        Parameters
        ----------
        texts : strings, or the result of `tokenise`.

        Returns
        -------
        csr_matrix or ndarray, shape (texts, terms)
            X, nonnegative; with sorted indices if sparse.
        """
        check_is_fitted(self)
        return self._weigh(self._count(texts, self.vocabulary_)[0])

    def tokenise(self, texts: Texts) -> TokenisedTexts:
        """Tokenise texts once, to pass to other methods in place of the texts.

        Examples
        --------
        >>> vectorizer = TextVectorizer(weighting="count")
        >>> tokens = vectorizer.tokenise(["Clean room.", "Noisy room."])
        >>> vectorizer.fit(tokens).transform(tokens).toarray()
        array([[1., 0., 1.],
               [0., 1., 1.]])
        """
        tokenizer = self.tokenizer or words
        if not isinstance(texts, TokenisedTexts):
            return tokenised(texts, tokenizer, without_markup if self.strip_markup else str)
        if texts.tokenizer != tokenizer:
            raise InputError("these texts were tokenised by another tokenizer than this vectorizer's; give the texts")
        return texts

    def locate(self, text: str, *, cleaned: bool = False) -> LocatedText:
        """Find the words of one text that are not stop words, and the terms they make up.

        Parameters
        ----------
        text : any text.
        cleaned : True if markup was removed already, as in the texts that `tokenise` returns.
        """
        check_is_fitted(self)
        (document,) = checked_texts([text])
        if self.strip_markup and not cleaned:
            document = without_markup(document)
        excluded = stop_words_of(self.stop_words)
        words_of = located_words(document, self.tokenizer or words)
        tokens = tuple(token for token in words_of if token.word not in excluded)
        runs = [range(i, i + length) for length in self._lengths for i in range(len(tokens) - length + 1)]
        columns = [self.vocabulary_.get(" ".join(tokens[i].word for i in run)) for run in runs]
        terms = (LocatedTerm(column, run) for column, run in zip(columns, runs, strict=True) if column is not None)
        return LocatedText(document, tokens, tuple(terms))

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the terms, one per column of X: ndarray of str, shape (terms,)."""
        check_is_fitted(self)
        return self.terms_.copy()

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container of X, "default", "pandas" or "polars", as with every scikit-learn transformer."""
        if self.sparse_output and transform not in {None, "default"}:
            raise InputError(f"{transform} output is never sparse; make TextVectorizer(sparse_output=False) for it")
        return super().set_output(transform=transform)

    @classmethod
    def restore(cls, params: Mapping[str, Any], terms: Sequence[str], idf: Sequence[float], n_documents: int) -> Self:
        """Make a fitted vectorizer from the attributes of another.

        Parameters
        ----------
        params : its `get_params()`. JSON's forms are accepted: a list for a tuple, a name for a dtype.
        terms, idf, n_documents : its `terms_`, `idf_` and `n_documents_`.
        """
        if not 0 < len(terms) == len(idf):
            raise InputError(f"{len(terms)} terms with {len(idf)} idf values; there must be one for each term")
        vectorizer = cls(**params)
        _check_options(vectorizer)
        vectorizer._learn(terms, np.array(idf, dtype=np.float64), n_documents)
        return vectorizer

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _fit_counts(self, texts: Texts) -> csr_matrix:
        """Learn from the training texts; returns their counts of the retained terms."""
        _check_options(self)
        tokens = self.tokenise(texts)
        if not len(tokens):
            raise InputError("no texts were given; there must be at least one")
        counts, terms = self._count(tokens)
        if not terms:
            raise InputError(
                f"no term is left: the {len(tokens):,} texts are empty or hold nothing but single letters "
                f"and stop words (stop_words={reprlib.repr(self.stop_words)})"
            )
        kept = _chosen_terms(counts, self)
        counts = counts[:, kept]
        self._learn([terms[j] for j in kept], _idf(counts), len(tokens))
        return counts

    def _learn(self, terms: Sequence[str], idf: np.ndarray, n_documents: int) -> None:
        self.terms_ = np.array([str(term) for term in terms], dtype=object)
        self.vocabulary_ = {term: column for column, term in enumerate(self.terms_)}
        self.idf_ = idf
        self.n_documents_ = n_documents

    @property
    def _lengths(self) -> range:
        """Numbers of words in a term."""
        return range(self.ngram_range[0], self.ngram_range[1] + 1)

    def _count(self, texts: Texts, vocabulary: Mapping[str, int] | None = None) -> tuple[csr_matrix, list[str]]:
        return count_terms(self.tokenise(texts), stop_words_of(self.stop_words), self._lengths, vocabulary)

    def _weigh(self, counts: csr_matrix) -> csr_matrix | np.ndarray:
        """Make X from the counts of the retained terms."""
        if self.weighting == "tfidf":
            X = _term_frequencies(counts)
            X.data *= self.idf_[X.indices]
        else:
            X = counts.astype(np.float64)
        if self.row_norm is not None:
            X = normalize(X, norm=self.row_norm, copy=False)
        X.sort_indices()
        X = X.astype(self.dtype, copy=False)
        return X if self.sparse_output else X.toarray()


def _chosen_terms(counts: csr_matrix, options: TextVectorizer) -> np.ndarray:
    """Choose columns of counts, which are in alphabetical order: ndarray of int, ascending."""
    n_documents, n_terms = counts.shape
    in_documents, (least, most) = _document_frequency(counts), (options.min_df, options.max_df)
    shares = in_documents / n_documents
    enough = (shares if isinstance(least, float) else in_documents) >= least
    kept = np.flatnonzero(enough & ((shares if isinstance(most, float) else in_documents) <= most))
    if not len(kept):
        raise InputError(
            f"no term is left: none of the {n_terms:,} terms is in at least min_df={least} "
            f"and at most max_df={most} of the {n_documents:,} texts"
        )
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    kept = kept[_largest(frequency[kept], options.max_raw_terms)]
    return kept[_largest(_summed_tfidf(counts[:, kept]), options.max_terms)]


def _largest(scores: np.ndarray, limit: int | None) -> np.ndarray:
    """Positions of the largest scores, ascending; the first in a tie."""
    return np.sort(np.argsort(-scores, kind="stable")[:limit])


def _document_frequency(counts: csr_matrix) -> np.ndarray:
    return np.bincount(counts.indices, minlength=counts.shape[1])


def _idf(counts: csr_matrix) -> np.ndarray:
    return np.log((1 + counts.shape[0]) / (1 + _document_frequency(counts))) + 1


def _term_frequencies(counts: csr_matrix) -> csr_matrix:
    totals = np.asarray(counts.sum(axis=1)).ravel()
    frequencies = counts.astype(np.float64)
    frequencies.data /= np.repeat(totals, np.diff(counts.indptr))
    return frequencies


def _summed_tfidf(counts: csr_matrix) -> np.ndarray:
    """Sum each term's TF-IDF over texts; the bits do not depend on their order."""
    frequencies: csc_matrix = _term_frequencies(counts).tocsc()
    values = frequencies.data.tolist()
    sums = [math.fsum(values[start:end]) for start, end in pairwise(frequencies.indptr)]
    # Twelve digits, so that sums which differ only in rounding are a tie.
    return np.array([float(f"{score:.12g}") for score in np.array(sums) * _idf(counts)])


def _check_options(options: TextVectorizer) -> None:
    for name in ("max_raw_terms", "max_terms"):
        limit = getattr(options, name)
        if limit is not None and not _is_count(limit):
            raise InputError(f"{name} must be a whole number from 1, or None for no limit, not {limit!r}")
    for name in ("min_df", "max_df"):
        bound = getattr(options, name)
        if not (_is_count(bound) or (isinstance(bound, float) and 0 <= bound <= 1)):
            raise InputError(f"{name} must be a whole number from 1 or a share from 0.0 to 1.0, not {bound!r}")
    match options.ngram_range:
        case (low, high) if _is_count(low) and _is_count(high) and low <= high <= LONGEST_TERM:
            pass
        case other:
            raise InputError(
                f"ngram_range must be two whole numbers from 1 to {LONGEST_TERM}, such as (1, 2), not {other!r}"
            )
    if options.tokenizer is not None and not callable(options.tokenizer):
        raise InputError(f"tokenizer must be a function from a text to its words, not {options.tokenizer!r}")
    for name, allowed in {"weighting": ("tfidf", "count"), "row_norm": (None, "l1", "l2")}.items():
        if getattr(options, name) not in allowed:
            choices = ", ".join(map(repr, allowed))
            raise InputError(f"{name} must be one of {choices}, not {getattr(options, name)!r}")
    if options.dtype not in (np.float64, np.float32, "float64", "float32"):
        raise InputError(f"dtype must be float64 or float32, not {options.dtype!r}")


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)
