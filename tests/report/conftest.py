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

    def __post_init__(self) -> None:
        self.listeners: dict[str, Callable] = {
            "console": lambda said: self.errors.append(f"{said.type}: {said.text}"),
            "pageerror": lambda error: self.errors.append(str(error)),
            "request": lambda request: self.requests.append(request.url),
            "dialog": lambda dialog: self.errors.append(f"dialog: {dialog.message}"),
        }


@pytest.fixture(scope="session")
def reports(models, tmp_path_factory) -> dict[str, Path]:
    """Report of each model."""
    folder = tmp_path_factory.mktemp("reports")
    for name, model in models.items():
        write_report(model, folder / f"{name}.html", model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)
    return {name: folder / f"{name}.html" for name in models}


@pytest.fixture(scope="module")
def tabs(browser) -> Iterator[dict[bool, list[Page]]]:
    """Tabs that wait for their next page, those that run scripts and those that do not: a new tab takes longer."""
    free: dict[bool, list[Page]] = {True: [], False: []}
    yield free
    for page in (*free[True], *free[False]):
        page.context.close()


@pytest.fixture
def visit(browser, tabs) -> Iterator[Callable[..., Visit]]:
    """Open a file anew with the network off: visit(path, width=390, color_scheme="dark", java_script_enabled=False)."""
    visits: list[tuple[bool, Visit]] = []

    def open_file(
        path: Path, *, width: int = 1280, color_scheme: str = "light", java_script_enabled: bool = True
    ) -> Visit:
        if not tabs[java_script_enabled]:
            context = browser.new_context(java_script_enabled=java_script_enabled)
            context.set_offline(True)
            tabs[java_script_enabled].append(context.new_page())
        opened = Visit(tabs[java_script_enabled].pop())
        visits.append((java_script_enabled, opened))
        for event, listener in opened.listeners.items():
            opened.page.on(event, listener)
        opened.page.set_viewport_size({"width": width, "height": 900})
        opened.page.emulate_media(media="null", color_scheme=color_scheme)
        opened.page.goto(path.as_uri())
        if java_script_enabled:
            opened.page.wait_for_selector("body[data-ready]")
            opened.page.evaluate("async () => { await textsignal.model; }")
        return opened

    yield open_file
    for java_script_enabled, opened in visits:
        # Nothing is left for the next visitor: neither what the page keeps nor where the mouse was.
        if java_script_enabled:
            opened.page.evaluate("localStorage.clear()")
        opened.page.mouse.move(0, 0)
        for event, listener in opened.listeners.items():
            opened.page.remove_listener(event, listener)
        opened.page.goto("about:blank")
        tabs[java_script_enabled].append(opened.page)
