"""Components of a TextResponseModel by its options: themes and tone, or an estimator and a vectorizer."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from textsignal.arrays import Vector
from textsignal.checks import check_choice, check_number, check_offset, draw_seed
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import kernels_of, local_compute
from textsignal.errors import InputError
from textsignal.estimators import GLMNMF, TopicEstimator
from textsignal.families import Family, as_family, check_trainable
from textsignal.families.auto import AUTO, Candidates, candidates, labelled, of_order
from textsignal.families.responses import Labels, as_response, in_numbers, ordered_categories
from textsignal.reading.classes import ONE_CLASS, ClassReader, class_responses
from textsignal.reading.matrix import MatrixReader, matrix_tokens
from textsignal.reading.observed import Observed, Tokens, observe, response_column
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader, theme_readers, theme_tokens
from textsignal.text.tokenise import language_name, normalise, stop_words
from textsignal.text.tokens import SentenceTexts
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.halves import ThemeNumber, choose_number
from textsignal.training.theme_model import Prepared, Response, fit_prepared, prepare_themes

#: Terms of the default vectorizer. The paper's 500 lose skill on every set we measured.
MAX_RAW_TERMS, MAX_TERMS = 5000, 2000
#: Default number of themes.
N_TOPICS = 10
#: Ways of training, the default first.
TRAININGS = ("themes", "predictive", "joint")
#: Maximum number of themes; maximum number of content terms of themes.
MOST_THEMES, CONTENT_TERMS = 60, 3000
#: Value of `stop_words` that selects those of the language.
OWN = "auto"
#: Options of a model that its estimator, or its vectorizer, has too.
ESTIMATOR_OPTIONS = (
    "n_themes",
    "family",
    "supervision",
    "training",
    "word_residual",
    "levels",
    "random_state",
    "n_jobs",
)
VECTORIZER_OPTIONS = ("max_terms", "ngram_range", "stop_words")
#: Families that take the order of categories.
OF_ORDER = ("ordinal", "bernoulli")
#: Options that do not apply to themes, and to other trainings.
NOT_OF_THEMES, OF_THEMES = ("supervision", "word_residual", "ngram_range"), ("seed_words", "device")


class Options(Protocol):
    """The options of a TextResponseModel."""

    n_themes: int | str | None
    family: str | Family
    supervision: float
    training: str | None
    word_residual: bool
    levels: ArrayLike | None
    max_terms: int | None
    ngram_range: tuple[int, int]
    language: str | None
    stop_words: str | Iterable[str] | None
    seed_words: Mapping[str, Sequence[str]] | None
    vectorizer: TextVectorizer | None
    estimator: TopicEstimator | None
    formula: str | None
    random_state: Any
    n_jobs: int | None
    device: str


@dataclass
class PlainOptions:
    """Options without a model: `Options` with the defaults of a TextResponseModel."""

    n_themes: int | str | None = None
    family: str | Family = AUTO
    supervision: float = 0.5
    training: str | None = None
    word_residual: bool = False
    levels: ArrayLike | None = None
    max_terms: int | None = None
    ngram_range: tuple[int, int] = (1, 1)
    language: str | None = "english"
    stop_words: str | Iterable[str] | None = OWN
    seed_words: Mapping[str, Sequence[str]] | None = None
    vectorizer: TextVectorizer | None = None
    estimator: TopicEstimator | None = None
    formula: str | None = None
    random_state: Any = 0
    n_jobs: int | None = -1
    device: str = "cpu"


def training_of(options: Options) -> str:
    """Return the requested training: themes, unless a vectorizer or an estimator is given."""
    if options.training is not None:
        check_choice("training", options.training, TRAININGS)
        return options.training
    if options.estimator is not None:
        return str(getattr(options.estimator, "training", "joint"))
    return "themes" if options.vectorizer is None else "predictive"


def tokenise(options: Options, texts: Iterable[str] | Tokens) -> Tokens:
    """Tokenise texts as the requested training needs them."""
    check(options)
    if training_of(options) == "themes":
        return theme_tokens(texts, language_of(options))
    return matrix_tokens(texts, new_vectorizer(options))


def observe_response(
    options: Options, tokens: Tokens, responses: object, sample_weight: ArrayLike | None = None
) -> Observed:
    """Return training documents, with the requested family if it determines their labels."""
    family = asked_family(options, response_column(tokens, responses), ordered_categories(responses))
    return observe(tokens, responses, sample_weight, family)


def check_response(options: Options, responses: ArrayLike) -> None:
    """Raise if responses do not fit the requested family, naming the row and what would fit."""
    if (family := asked_family(options, responses, ordered_categories(responses))) is not None:
        numbers = in_numbers(responses, family)
        family.learn(numbers).encode(numbers)


def asked_family(options: Options, responses: ArrayLike, order: Labels | None = None) -> Family | None:
    """Return the requested family, with its classes if responses are labels; None for "auto" and numbers.

    order : categories of responses that have an order, lowest first; explicit levels take precedence.
    """
    estimator = new_estimator(options) if training_of(options) != "themes" else None
    if order is not None and options.levels is None and options.estimator is None:
        if _is_auto(options):
            return of_order(order).learn(responses)
        if options.family in OF_ORDER:
            return as_family(options.family, order).learn(responses)
    if options.estimator is None and _is_auto(options):
        return labelled(responses, options.levels)
    family = as_family(options.family, options.levels) if estimator is None else estimator.asked_family
    known = family.has_text or not family.classifies or as_response(responses).dtype.kind == "f"
    return family if known else family.learn(responses)


def fit_reader(options: Options, observed: Observed, callbacks: Iterable[Any]) -> Reader:
    """Fit the model that the options describe to documents."""
    if training_of(options) == "themes":
        family = observed.family
        if family is not None and family.classifies:
            family = family.learn(np.where(observed.weight > 0, observed.responses, np.nan))
            if family.n_predictors > 1:
                return _fit_classes(options, observed, family)
        response = response_of(options, observed)
        (reader,) = fit_themes(options, [response], observed.tokens, observed.weight)
        return reader
    estimator = new_estimator(options).set_callbacks(*callbacks)
    automatic = options.estimator is None and _is_auto(options)
    if observed.family is not None and (observed.family.has_text or automatic):
        estimator.set_params(family=observed.family, levels=None)
    elif automatic:
        # Themes depend on the loss, so that comparing families would require fitting all of them.
        simplest = candidates(np.where(observed.weight > 0, observed.responses, np.nan), options.levels).families[0]
        estimator.set_params(family=simplest, levels=None)
    return MatrixReader.fit(new_vectorizer(options), estimator, observed)


def _fit_classes(options: Options, observed: Observed, family: Family) -> ClassReader:
    """Fit themes, and each class against all others."""
    if observed.given is not None:
        check_offset(observed.given.offset, family.largest_offset, family.name)
    counted = np.where(observed.weight > 0, observed.responses, np.nan)
    responses = []
    for label, values in zip(family.levels, class_responses(family, counted), strict=True):
        if not np.any(values == 1):
            raise InputError(f"no document that counts is of the class {label!r}; leave it out, or give such documents")
        responses.append(Response(values, Candidates("", (ONE_CLASS,)), observed.given))
    return ClassReader.of(family, fit_themes(options, responses, observed.tokens, observed.weight))


def response_of(options: Options, observed: Observed) -> Response:
    """Return the response for a model of themes; raise if there is nothing to explain."""
    counted = np.where(observed.weight > 0, observed.responses, np.nan)
    families = families_of(options, counted, observed.family)
    if observed.given is not None:
        check_offset(observed.given.offset, families.families[0].largest_offset, families.families[0].name)
    return Response(counted, families, observed.given)


def families_of(options: Options, counted: Vector, family: Family | None = None) -> Candidates:
    """Return candidate families of responses, NaN if missing; family : as far as it is known."""
    if np.isnan(counted).all():
        raise InputError("no document has a response (all are missing), so there is nothing to explain")
    families = _candidates(options, family, counted)
    for candidate in families.families:
        check_trainable(candidate)
    families.families[0].encode(counted)  # as all others do
    if np.nanmin(counted) == np.nanmax(counted):
        raise InputError("the response is constant, so there is nothing to explain; check the response column")
    return families


def fit_themes(options: Options, responses: Sequence[Response], tokens: Tokens, weight: Vector) -> list[ThemeReader]:
    """Fit themes, as the options describe them, and a reader for each response; weight : (documents,)."""
    assert isinstance(tokens, SentenceTexts)
    check_themes(options, len(tokens))
    with local_compute(options.n_jobs, options.device) as compute:
        return fit_prepared_themes(options, prepare(options, responses, tokens, weight, compute), compute)


def fit_prepared_themes(options: Options, prepared: Prepared, compute: Compute) -> list[ThemeReader]:
    """Fit the requested number of themes, or those that are reproduced, and a reader for each response."""
    seed, seed_words = draw_seed(options.random_state), check_themes(options, len(prepared.read.texts))
    if is_auto_number(options.n_themes):
        taken = choose_number(prepared, seed, compute, seed_words)
    else:
        taken = ThemeNumber(number_of(options))
    models = fit_prepared(
        prepared, n_themes=taken.number, seed=seed, compute=compute, seed_words=seed_words, why=taken.why
    )
    return theme_readers(models, options.n_jobs)


def prepare(
    options: Options, responses: Sequence[Response], tokens: SentenceTexts, weight: Vector, compute: Compute
) -> Prepared:
    """Learn the inputs of themes, whatever their number; weight : (documents,)."""
    return prepare_themes(tokens, responses, weight, compute=compute, **lexicon_options(options))


def lexicon_options(options: Options) -> dict[str, Any]:
    """Return options that select content terms."""
    return {
        "language": language_of(options),
        "stop_words": stop_words(own_stop_words(options)),
        "max_terms": CONTENT_TERMS if options.max_terms is None else int(options.max_terms),
    }


def is_auto_number(n_themes: object) -> bool:
    """True if the number of themes is to be chosen by the fit."""
    return isinstance(n_themes, str) and n_themes == AUTO


def number_of(options: Options) -> int:
    """Return the requested number of themes or themes, if it is not to be chosen by the fit."""
    assert not isinstance(options.n_themes, str)
    return N_TOPICS if options.n_themes is None else options.n_themes


def _candidates(options: Options, family: Family | None, responses: Vector) -> Candidates:
    """Return the requested family, or the candidates for the response."""
    if family is None:
        return candidates(responses, options.levels)
    return Candidates(", ".join(map(str, family.levels)) if _is_auto(options) else "", (family.learn(responses),))


def _is_auto(options: Options) -> bool:
    return isinstance(options.family, str) and options.family == AUTO


def check_themes(options: Options, n_texts: int | None = None) -> dict[str, list[str]] | None:
    """Return the seed words; raise if there are too few texts for the themes, or an option is wrong."""
    n_themes = max(1, len(options.seed_words or ())) if is_auto_number(options.n_themes) else number_of(options)
    check_number("n_themes", n_themes, least=1, whole=True)
    if n_themes > MOST_THEMES:
        raise InputError(f"n_themes={n_themes} is more than anybody reads; give 1 to {MOST_THEMES}")
    if n_texts is not None and n_themes > n_texts:
        raise InputError(
            f"{n_texts} texts cannot carry {n_themes} themes; give more texts, or fewer than n_themes={n_themes}"
        )
    if options.max_terms is not None:
        check_number("max_terms", options.max_terms, least=1, whole=True)
    if options.n_jobs == 0 or not isinstance(options.n_jobs, int | np.integer | None):
        raise InputError(f"n_jobs={options.n_jobs!r} must be a number of threads, or -1 for all cores")
    kernels_of(options.device)
    return _seed_words(options, n_themes)


def _seed_words(options: Options, n_themes: int) -> dict[str, list[str]] | None:
    """Return label -> normalised words."""
    given = options.seed_words
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


def own_stop_words(options: Options) -> str | Iterable[str] | None:
    """Return the requested stop words; by default those of the language."""
    return options.language if isinstance(options.stop_words, str) and options.stop_words == OWN else options.stop_words


def new_estimator(options: Options) -> TopicEstimator:
    """Return the user's estimator, or the one that the options describe; not fitted."""
    if options.estimator is not None:
        return clone(options.estimator)
    return GLMNMF(
        number_of(options),
        family="binomial" if _is_auto(options) else options.family,
        training=training_of(options),
        supervision=options.supervision,
        word_residual=options.word_residual,
        levels=options.levels,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
    )


def new_vectorizer(options: Options) -> TextVectorizer:
    """Return the user's vectorizer, or the one that the options describe; not fitted."""
    if options.vectorizer is not None:
        return clone(options.vectorizer)
    max_terms = MAX_TERMS if options.max_terms is None else options.max_terms
    return TextVectorizer(
        max(MAX_RAW_TERMS, max_terms) if isinstance(max_terms, int) else max_terms,
        max_terms,
        stop_words=own_stop_words(options),
        ngram_range=options.ngram_range,
        weighting=new_estimator(options).weighting,
    )


def check(options: Options) -> None:
    """Raise if a component is of an unknown class, or if options contradict each other."""
    training = training_of(options)
    if training == "themes":
        for part in PARTS:
            if getattr(options, part) is not None:
                raise InputError(f'training="themes" takes no {part}; leave it out, or give training="predictive"')
    wrong, other = (NOT_OF_THEMES, "predictive") if training == "themes" else (OF_THEMES, "themes")
    for name in wrong:
        if not _same(getattr(options, name), _default(options, name)):
            raise InputError(
                f'{name}={getattr(options, name)!r} is nothing to training={training!r}; give training="{other}"'
            )
    if is_auto_number(options.n_themes) and training != "themes":
        raise InputError(
            f"n_themes='auto' is for training='themes', not for training={training!r}; textsignal.search finds a number"
        )
    if isinstance(options.n_themes, str) and not is_auto_number(options.n_themes):
        raise InputError(f"n_themes={options.n_themes!r} must be a whole number of at least 1, or 'auto'")
    _check_part(options, "estimator", (TopicEstimator,), "a GLMNMF or JBNMF", ESTIMATOR_OPTIONS)
    advice = "a TextVectorizer, with a tokenizer of your own if need be, or fit GLMNMF to another vectorizer's matrix"
    _check_part(options, "vectorizer", (TextVectorizer,), advice, VECTORIZER_OPTIONS)


def _check_part(options: Options, name: str, kinds: tuple[type, ...], advice: str, names: Iterable[str]) -> None:
    part = getattr(options, name)
    if part is None:
        return
    if not isinstance(part, kinds):
        raise InputError(f"{name}={part!r} cannot be used here; give {advice}")
    for option in names:
        value, own = getattr(options, option), getattr(part, option, None)
        if not _same(value, _default(options, option)) and not _same(value, own):
            raise InputError(
                f"{option}={value!r} and {name}={part!r} contradict each other; give {option} to the {name} alone"
            )


def _default(options: Options, name: str) -> Any:
    return inspect.signature(type(options)).parameters[name].default


def _same(one: object, other: object) -> bool:
    return one is other or bool(np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object)))


#: Components that a user may pass.
PARTS = ("vectorizer", "estimator")
