"""Options of a model of themes, checked, and fits by these options."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textsignal.arrays import Vector
from textsignal.checks import check_number, check_offset, draw_seed
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import kernels_of, local_compute
from textsignal.errors import InputError
from textsignal.families import Family, as_family
from textsignal.families.auto import AUTO, Candidates, candidates, labelled, of_order
from textsignal.families.responses import Labels, as_response, in_numbers, ordered_categories
from textsignal.reading import observed as texts_in_use
from textsignal.reading.observed import Observed, observe, response_column
from textsignal.reading.several import ONE_CLASS, ClassReader, Reader, ResponseReader, by_class
from textsignal.reading.themes import ThemeReader, theme_readers
from textsignal.text.lexicon import OWN as OWN_LEXICON
from textsignal.text.lexicon import lexicon_of
from textsignal.text.tokenise import language_name, normalise, stop_words
from textsignal.text.tokens import SentenceTexts
from textsignal.training.halves import choose_number
from textsignal.training.theme_model import Prepared, Response, fit_prepared, prepare_themes

#: Default number of themes; the largest; largest number of content terms by default.
N_THEMES, MOST_THEMES, CONTENT_TERMS = 10, 60, 3000
#: Terms of vectorizers of topics, before and after weighting. The paper's 500 lose skill on every set we measured.
TOPIC_TERMS = 5000, 2000
#: Value of `stop_words` that selects those of the language.
OWN = "auto"
#: Families that take the order of categories.
OF_ORDER = ("ordinal", "bernoulli")


@dataclass(frozen=True)
class Options:
    """Options of a TextResponseModel, by its names and with its defaults."""

    n_themes: int | str | None = None
    family: Any = AUTO
    language: str | None = "english"
    seed_words: Mapping[str, Sequence[str]] | None = None
    levels: Any = None
    max_terms: int | None = None
    stop_words: str | Iterable[str] | None = OWN
    lexicon: str | Mapping[str, float] | None = OWN_LEXICON
    neutral: float | None = None
    formula: str | None = None
    missing: str = "error"
    random_state: Any = 0
    n_jobs: int | None = -1
    device: str = "cpu"


@dataclass(frozen=True)
class ResponseScale:
    """The requested family and levels of one response."""

    family: str | Family
    levels: ArrayLike | None

    @property
    def is_auto(self) -> bool:
        """True if the family is to be chosen."""
        return isinstance(self.family, str) and self.family == AUTO

    def family_of(self, responses: ArrayLike, order: Labels | None = None) -> Family | None:
        """Return the requested family, with its classes if responses are labels; None for "auto" and numbers.

        order : categories of responses that have an order, lowest first; explicit levels take precedence.
        """
        if order is not None and self.levels is None and (self.is_auto or self.family in OF_ORDER):
            family = of_order(order) if self.is_auto else as_family(self.family, order)
            return family.learn(responses)
        if self.is_auto:
            return labelled(responses, self.levels)
        family = as_family(self.family, self.levels)
        known = family.has_text or not family.classifies or as_response(responses).dtype.kind == "f"
        return family if known else family.learn(responses)

    def observe(self, tokens: SentenceTexts, responses: object, sample_weight: ArrayLike | None = None) -> Observed:
        """Return training texts, with the requested family if it determines their labels."""
        family = self.family_of(response_column(len(tokens), responses), ordered_categories(responses))
        return observe(tokens, responses, sample_weight, family)

    def check(self, responses: ArrayLike) -> None:
        """Raise if responses do not fit the requested family, naming the row and what would fit."""
        if (family := self.family_of(responses, ordered_categories(responses))) is not None:
            numbers = in_numbers(responses, family)
            family.learn(numbers).encode(numbers)

    def candidates(self, counted: Vector, family: Family | None = None) -> Candidates:
        """Return candidate families of responses, NaN if missing, or the given one; raise if they are constant."""
        if np.isnan(counted).all():
            raise InputError("no text has a response (all are missing), so there is nothing to explain")
        if family is None:
            families = candidates(counted, self.levels)
        else:
            chosen = ", ".join(map(str, family.levels)) if self.is_auto else ""
            families = Candidates(chosen, (family.learn(counted),))
        for candidate in families.families:
            candidate.check_trainable()
        families.families[0].encode(counted)  # as all others do
        if np.nanmin(counted) == np.nanmax(counted):
            raise InputError("the response is constant, so there is nothing to explain; check the response column")
        return families

    def response(self, observed: Observed) -> Response:
        """Return the response as training takes it; raise if there is nothing to explain."""
        families = self.candidates(observed.counted, observed.family)
        if observed.given is not None:
            check_offset(observed.given.offset, families.families[0].largest_offset, families.families[0].name)
        return Response(observed.counted, families, observed.given)


def scales_of(options: Options, names: Sequence[str]) -> list[ResponseScale]:
    """Return the requested family and levels of each response; both may be one for all, or a mapping by name."""
    families = _of_each("family", options.family, names, AUTO)
    return [
        ResponseScale(*pair) for pair in zip(families, _of_each("levels", options.levels, names, None), strict=True)
    ]


def _of_each(option: str, value: Any, names: Sequence[str], otherwise: Any) -> list[Any]:
    if not isinstance(value, Mapping):
        return [value] * len(names)
    if unknown := [name for name in value if name not in names]:
        raise InputError(
            f"{option} names {unknown[0]!r}, which is not a response; there are {', '.join(map(repr, names))}"
        )
    return [value.get(name, otherwise) for name in names]


def scale_of(options: Options) -> ResponseScale:
    """Return the requested family and levels of the only response."""
    for name in ("family", "levels"):
        if isinstance(value := getattr(options, name), Mapping):
            raise InputError(f"{name}={value!r} names responses; give them as a DataFrame, a column for each")
    return ResponseScale(options.family, options.levels)


def tokenise(options: Options, texts: Iterable[str] | SentenceTexts) -> SentenceTexts:
    """Cut texts into sentences and words, by the negations of the requested language."""
    check(options)
    return texts_in_use.tokenise(texts, language_of(options), options.n_jobs)


def fit_one(options: Options, scale: ResponseScale, observed: Observed) -> tuple[Reader, list[Observed]]:
    """Fit themes to one response, or to each of its classes; return the texts of each reader too."""
    family = observed.family
    if family is not None and family.classifies:
        family = family.learn(observed.counted)
        if family.n_predictors > 1:
            return _fit_classes(options, observed, family)
    (reader,) = fit_themes(options, [scale.response(observed)], observed)
    return reader, [observed]


def fit_several(
    options: Options, scales: Sequence[ResponseScale], observed: Mapping[str, Observed]
) -> tuple[Reader, list[Observed]]:
    """Fit shared themes to several responses, by their names."""
    responses, each = [], list(observed.values())
    for scale, (name, one) in zip(scales, observed.items(), strict=True):
        with named(name):
            responses.append(scale.response(one))
    return ResponseReader(tuple(observed), tuple(fit_themes(options, responses, each[0]))), each


def _fit_classes(options: Options, observed: Observed, family: Family) -> tuple[ClassReader, list[Observed]]:
    if observed.given is not None:
        check_offset(observed.given.offset, family.largest_offset, family.name)
    parts = by_class(family, observed)
    for label, part in zip(family.levels, parts, strict=True):
        if not np.any(part.counted == 1):
            raise InputError(f"no text that counts is of the class {label!r}; remove the class, or give texts of it")
    responses = [Response(part.counted, Candidates("", (ONE_CLASS,)), observed.given) for part in parts]
    return ClassReader.of(family, fit_themes(options, responses, observed)), parts


@contextmanager
def named(name: str) -> Iterator[None]:
    """Add the name of a response to errors."""
    try:
        yield
    except InputError as error:
        raise InputError(f"response {name!r}: {error}") from error


def fit_themes(options: Options, responses: Sequence[Response], observed: Observed) -> list[ThemeReader]:
    """Fit themes, as the options describe them, and a reader for each response."""
    check_themes(options, len(observed))
    with local_compute(options.n_jobs, options.device) as compute:
        return fit_prepared_themes(options, prepare(options, responses, observed, compute), compute)


def fit_prepared_themes(options: Options, prepared: Prepared, compute: Compute) -> list[ThemeReader]:
    """Fit the requested number of themes, or the reproducible ones, and a reader for each response."""
    seed, words = draw_seed(options.random_state), check_themes(options, len(prepared.read.texts))
    number, why = _number_of(options), ""
    if number is None:
        number, why = choose_number(prepared, seed, compute, words)
    models = fit_prepared(prepared, n_themes=number, seed=seed, compute=compute, seed_words=words, why=why)
    return theme_readers(models, options.n_jobs)


def prepare(options: Options, responses: Sequence[Response], observed: Observed, compute: Compute) -> Prepared:
    """Learn the inputs of themes, whatever their number."""
    return prepare_themes(observed.tokens, responses, observed.weight, compute=compute, **dictionary_options(options))


def dictionary_options(options: Options) -> dict[str, Any]:
    """Return options that select features and content terms."""
    language = language_of(options)
    return {
        "language": language,
        "lexicon": lexicon_of(options.lexicon, language),
        "neutral": None if options.neutral is None else float(options.neutral),
        "stop_words": stop_words(own_stop_words(options.language, options.stop_words)),
        "max_terms": CONTENT_TERMS if options.max_terms is None else int(options.max_terms),
    }


def _number_of(options: Options) -> int | None:
    """Requested number of themes; None if the fit is to choose it."""
    if isinstance(options.n_themes, str):
        if options.n_themes != AUTO:
            raise InputError(f"n_themes={options.n_themes!r} must be a whole number of at least 1, or 'auto'")
        return None
    return N_THEMES if options.n_themes is None else options.n_themes


def check(options: Options) -> None:
    """Raise if the number of themes is text other than "auto", or that of threads is not one."""
    if options.n_jobs == 0 or not isinstance(options.n_jobs, int | np.integer | None):
        raise InputError(f"n_jobs={options.n_jobs!r} must be a number of threads, or -1 for all cores")
    _number_of(options)


def check_themes(options: Options, n_texts: int | None = None) -> dict[str, list[str]] | None:
    """Return the seed words; raise if there are too few texts for the themes, or an option is wrong."""
    number = _number_of(options)
    n_themes = max(1, len(options.seed_words or ())) if number is None else number
    check_number("n_themes", n_themes, least=1, whole=True)
    if n_themes > MOST_THEMES:
        raise InputError(f"n_themes={n_themes} is too many to read; give 1 to {MOST_THEMES}")
    if n_texts is not None and n_themes > n_texts:
        raise InputError(
            f"{n_texts} texts cannot carry {n_themes} themes; give more texts, or fewer than n_themes={n_themes}"
        )
    if options.max_terms is not None:
        check_number("max_terms", options.max_terms, least=1, whole=True)
    kernels_of(options.device)
    if options.neutral is not None:
        check_number("neutral", options.neutral, least=0)
    lexicon_of(options.lexicon, language_of(options))
    return _seed_words(options.seed_words, n_themes)


def _seed_words(given: Mapping[str, Sequence[str]] | None, n_themes: int) -> dict[str, list[str]] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(f"seed_words={given!r} must name themes and their words, such as {{'food': ['breakfast']}}")
    if len(given) > n_themes:
        raise InputError(f"seed_words names {len(given)} themes, but n_themes={n_themes}")
    for label, words in given.items():
        if not isinstance(label, str) or not label.strip():
            raise InputError(f"seed_words has the label {label!r}; it must be a text that is not empty")
        if isinstance(words, str) or not isinstance(words, Collection) or not all(isinstance(w, str) for w in words):
            raise InputError(f"seed_words[{label!r}]={words!r} must be a list of words")
    return {label: [normalise(word) for word in words] for label, words in given.items()}


def language_of(options: Options) -> str | None:
    """Return the name of the requested language."""
    if not isinstance(options.language, str | None):
        raise InputError(f"language={options.language!r} must be a name or code such as 'english' or 'de', or None")
    return None if options.language is None else language_name(options.language)


def own_stop_words(language: str | None, given: str | Iterable[str] | None) -> str | Iterable[str] | None:
    """Return the requested stop words; by default those of the language."""
    return language if isinstance(given, str) and given == OWN else given
