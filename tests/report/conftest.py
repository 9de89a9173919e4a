"""Reports of small models, and how the browser opens them: without network."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
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
    has_scripts: bool
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listeners: dict[str, Callable] = {
            "console": lambda message: self.errors.append(f"{message.type}: {message.text}"),
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


class Tabs:
    """Tabs of a browser, without network. One that is left is used again, since a new one takes longer to open."""

    def __init__(self, browser: Browser):
        self.browser = browser
        self.free: dict[bool, list[Page]] = {True: [], False: []}  # those that run scripts, those that do not

    def open(
        self, path: Path, *, width: int = 1280, color_scheme: str = "light", java_script_enabled: bool = True
    ) -> Visit:
        """A file, opened anew."""
        if not self.free[java_script_enabled]:
            context = self.browser.new_context(java_script_enabled=java_script_enabled)
            context.set_offline(True)
            self.free[java_script_enabled].append(context.new_page())
        visit = Visit(self.free[java_script_enabled].pop(), java_script_enabled)
        for event, listener in visit.listeners.items():
            visit.page.on(event, listener)
        visit.page.set_viewport_size({"width": width, "height": 900})
        visit.page.emulate_media(media="null", color_scheme=color_scheme)
        visit.page.goto(path.as_uri())
        if java_script_enabled:
            visit.page.wait_for_selector("body[data-ready]")
            visit.page.evaluate("async () => { await textsignal.model; }")
        return visit

    def leave(self, visit: Visit) -> None:
        """Nothing is left for the next visit: neither what the page keeps nor where the mouse was."""
        if visit.has_scripts:
            visit.page.evaluate("localStorage.clear()")
        visit.page.mouse.move(0, 0)
        for event, listener in visit.listeners.items():
            visit.page.remove_listener(event, listener)
        visit.page.goto("about:blank")
        self.free[visit.has_scripts].append(visit.page)


@pytest.fixture(scope="module")
def tabs(browser) -> Tabs:
    return Tabs(browser)


@pytest.fixture
def visit(tabs) -> Iterator[Callable[..., Visit]]:
    """Open a file for one test: visit(path, width=390, color_scheme="dark", java_script_enabled=False)."""
    visits: list[Visit] = []

    def open_file(path: Path, **options: object) -> Visit:
        visits.append(tabs.open(path, **options))
        return visits[-1]

    yield open_file
    for opened in visits:
        tabs.leave(opened)
