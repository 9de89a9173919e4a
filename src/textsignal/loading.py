"""Models from their folders."""

from __future__ import annotations

from pathlib import Path

from textsignal.model import TextResponseModel
from textsignal.storage import Tokenizer, TopicParts, read_model
from textsignal.topic_model import TopicModel


def load(
    path: str | Path, *, tokenizer: Tokenizer | None = None, n_jobs: int | None = None
) -> TextResponseModel | TopicModel:
    """Read a model that `save` or `textsignal fit` wrote. Nothing stored is executed.

    Parameters
    ----------
    path : the model's folder.
    tokenizer : the function a model of topics was fitted with, if it was the user's own; functions are not stored.
    n_jobs : threads; by default the number the model was made with.

    Examples
    --------
    >>> import tempfile
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(200, seed=1)
    >>> model = TextResponseModel(n_themes=4).fit(reviews.texts, reviews.ratings)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     again = load(f"{folder}/model")
    >>> bool((again.predict(reviews.texts) == model.predict(reviews.texts)).all())
    True
    """
    stored = read_model(Path(path), tokenizer)
    if isinstance(stored, TopicParts):
        return TopicModel.restore(stored, n_jobs)
    return TextResponseModel.restore(stored, n_jobs)
