"""Models from their folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sklearn.base import clone

from textsignal import storage
from textsignal.errors import StorageError, one_line
from textsignal.model import TextResponseModel
from textsignal.reading.themes import ThemeReader
from textsignal.several import TextResponsesModel
from textsignal.storage import is_of_several, read_names

Tokenizer = Callable[[str], list[str]]


def load(
    path: str | Path, *, tokenizer: Tokenizer | None = None, n_jobs: int | None = None
) -> TextResponseModel | TextResponsesModel:
    """Read a model that `save` or `textsignal fit` wrote, of one response or of several. Nothing stored is executed.

    Parameters
    ----------
    path : the model's folder.
    tokenizer : the function the model was fitted with, if it was the user's own; functions are not stored.
    n_jobs : threads; by default the number the model was made with.

    Examples
    --------
    >>> import tempfile
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(200, seed=1)
    >>> model = TextResponseModel(n_topics=4).fit(reviews.texts, reviews.ratings)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     again = load(f"{folder}/model")
    >>> bool((again.predict(reviews.texts) == model.predict(reviews.texts)).all())
    True
    """
    folder = Path(path)
    if not is_of_several(folder):
        return _load_one(folder, tokenizer, n_jobs)
    models = {name: _load_one(folder / inner, tokenizer, n_jobs) for name, inner in read_names(folder).items()}
    try:
        for name, model in models.items():
            if not isinstance(model.reader_, ThemeReader):
                raise ValueError(f"the model of {name!r} is not of themes")
        return TextResponsesModel.of(models)
    except ValueError as error:
        raise StorageError(
            f"{folder} does not hold what a model must ({one_line(error)}); save the model again"
        ) from error


def _load_one(path: Path, tokenizer: Tokenizer | None, n_jobs: int | None) -> TextResponseModel:
    stored = storage.read_model(path, tokenizer)
    given = {name: clone(getattr(stored.reader, name)) for name in stored.given}
    options = stored.options if n_jobs is None or "estimator" in given else stored.options | {"n_jobs": n_jobs}
    model = TextResponseModel(**options, **given)
    model.reader_ = stored.reader.with_jobs(options["n_jobs"] if n_jobs is None else n_jobs)
    model.labels_, model.n_documents_, model.naming_ = stored.labels, stored.n_documents, stored.naming
    model.design_ = stored.design
    return model
