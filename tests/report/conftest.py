"""Reports of small models, and how the browser opens them: without network."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page
from small_reviews import HELD_OUT, N_TRAINING, REVIEWS, SETTINGS

from textsignal import GLMNMF, TextResponseModel, TextVectorizer
from textsignal.report.page.render import write_report


def fitted(training: str, vectorizer: TextVectorizer) -> TextResponseModel:
    estimator = GLMNMF(6, training=training, levels=(1, 5), max_epochs=5, n_jobs=1)
    model = TextResponseModel(vectorizer=vectorizer, estimator=estimator)
    return model.fit(REVIEWS.texts[:N_TRAINING], REVIEWS.ratings[:N_TRAINING])


@pytest.fixture(scope="session")
def models() -> dict[str, TextResponseModel]:
    """One model of each training, with the text that suits it; one with effects of words, one with long terms."""
    themes = TextResponseModel(6, levels=(1, 5), n_jobs=1)
    with_words = fitted("predictive", TextVectorizer(5000, 2000, weighting="count"))
    # So few texts teach no effect of a single word, so these are given.
    with_words.estimator_.word_effects_[::3] = np.linspace(-1, 1, len(with_words.estimator_.word_effects_[::3]))
    return {
        "themes": themes.fit(REVIEWS.texts[:N_TRAINING], REVIEWS.ratings[:N_TRAINING]),
        "predictive": fitted("predictive", TextVectorizer(5000, 2000, weighting="count")),
        "words": with_words,
        "joint": fitted("joint", TextVectorizer(5000, 400, ngram_range=(1, 2), row_norm="l1")),
    }


@dataclass
class Visit:
    """A page that was opened, and what it did meanwhile."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def reports(models, tmp_path_factory) -> dict[str, Path]:
    """Report of each model."""
    folder = tmp_path_factory.mktemp("reports")
    for name, model in models.items():
        write_report(model, folder / f"{name}.html", model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)
    return {name: folder / f"{name}.html" for name in models}


@pytest.fixture
def visit(browser) -> Iterator[Callable[..., Visit]]:
    """Open a file with the network off: visit(path, width=390, color_scheme="dark", java_script_enabled=False)."""
    contexts = []

    def open_file(path: Path, *, width: int = 1280, **options: object) -> Visit:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        context.set_offline(True)
        opened = Visit(context.new_page())
        opened.page.on("console", lambda said: opened.errors.append(f"{said.type}: {said.text}"))
        opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.on("dialog", lambda dialog: opened.errors.append(f"dialog: {dialog.message}"))
        opened.page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            opened.page.wait_for_selector("body[data-ready]")
            opened.page.evaluate("async () => { await textsignal.model; }")
        return opened

    yield open_file
    for context in contexts:
        context.close()
