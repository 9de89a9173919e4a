"""Figures: they hold the model's numbers, fit their page, and leave everything else alone."""

import subprocess
import sys
from copy import deepcopy
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from textsignal import JBNMF, TextResponseModel, TopicModel, load, plots
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.palette import topic_colors

REVIEWS = synthetic_reviews(300, seed=4)
NEW = synthetic_reviews(200, seed=5)
PATH = pd.DataFrame(
    {
        "n_themes": [2, 5, 10] * 2,
        "skill": [0.2, 0.4, 0.5, 0.3, 0.5, 0.4],
        "lower": [0.1, 0.3, 0.4, 0.2, 0.4, 0.3],
        "upper": [0.3, 0.5, 0.6, 0.4, 0.6, 0.5],
        "method": ["joint training"] * 3 + ["a method with a name that is much too long for a legend"] * 3,
    }
)
HARD_LABELS = [
    "A label that somebody wrote without an end",
    "$\\frac{1}{",
    "<b>&amp;</b>",
    "two\nlines",
    "100% of $5 and $6",
]
FIGURES = {
    "effects": lambda model, ax=None: plots.effects(model, ax),
    "prevalence": lambda model, ax=None: plots.prevalence(model, ax),
    "effect_map": lambda model, ax=None: plots.effect_map(model, ax),
    "terms": lambda model, ax=None: plots.terms(model, 0, ax=ax),
    "calibration": lambda model, ax=None: plots.calibration(model, NEW.texts, NEW.ratings, ax=ax),
    "response_distribution": lambda model, ax=None: plots.response_distribution(model, ax),
    "word_cloud": lambda model, ax=None: plots.word_cloud(model, ax=ax),
    "word_cloud of a topic": lambda model, ax=None: plots.word_cloud(model, 0, ax=ax),
    "skill_path": lambda model, ax=None: plots.skill_path(PATH, x="n_themes", ax=ax),
}


def fitted(n_topics):
    return TopicModel(JBNMF(n_topics, max_iter=20, n_jobs=1)).fit(REVIEWS.texts, REVIEWS.ratings)


def of_themes():
    return TextResponseModel(5, n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module", params=[1, 14, 50, "hard labels"])
def model(request):
    if request.param == "hard labels":
        return of_themes().rename(dict(enumerate(HARD_LABELS)))
    return fitted(request.param)


@pytest.fixture(scope="module")
def one():
    return fitted(5)


def table_of(model, n_terms=10):
    """Topics with effect and prevalence; themes with gain less cost, and share of the text."""
    if isinstance(model, TopicModel):
        return model.topics(n_terms)
    table = model.themes(n_terms)
    return table.assign(topic=table["theme"], effect=table["gain"] - table["cost"], prevalence=table["share"])


def boxes(texts):
    return [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]


def written(ax):
    """Every text of the axes that a reader sees."""
    ticks = [
        (tick, sorted(axis.get_view_interval())) for axis in (ax.xaxis, ax.yaxis) for tick in axis.get_major_ticks()
    ]
    inside = [tick.label1 for tick, (low, high) in ticks if low <= tick.get_loc() <= high]
    return [*ax.texts, *([*inside, ax.xaxis.label, ax.yaxis.label] if ax.axison else []), ax.title, ax._left_title]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_one_column_wide_and_nothing_is_cut_off(model, name):
    figure = FIGURES[name](model)
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == plots.COLUMN_WIDTH
    page = figure.bbox
    for box in boxes(written(figure.axes[0])):
        assert box.x0 >= page.x0 - 1, "cut off on the left"
        assert box.x1 <= page.x1 + 1, "cut off on the right"
        assert box.y0 >= page.y0 - 1
        assert box.y1 <= page.y1 + 1


@pytest.mark.parametrize("name", FIGURES)
def test_labels_do_not_overlap(model, name):
    figure = FIGURES[name](model)
    figure.draw_without_rendering()
    for one, other in combinations(boxes(written(figure.axes[0])), 2):
        overlap = min(one.x1, other.x1) - max(one.x0, other.x0), min(one.y1, other.y1) - max(one.y0, other.y0)
        # Boxes have room above and below their letters.
        assert min(overlap) <= 0.2 * min(one.height, other.height)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_into_given_axes(one, name):
    figure = Figure(figsize=(7, 3))
    left, right = figure.subplots(1, 2)
    assert FIGURES[name](one, right) is figure
    assert right.has_data()
    assert not left.has_data()
    assert len(figure.axes) == 2


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_changes_neither_settings_nor_model(one, name):
    settings, table = dict(mpl.rcParams), table_of(one)
    FIGURES[name](one)
    assert dict(mpl.rcParams) == settings
    assert table_of(one).equals(table)


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_model_gives_the_same_picture(one, name):
    first, second = (FIGURES[name](one)._repr_png_() for _ in range(2))
    assert first == second
    assert first.startswith(b"\x89PNG")


def test_pyplot_is_left_alone():
    script = (
        "import sys; from textsignal import plots; plots.response_distribution([1, 2]); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(("name", "column"), [("effects", "effect"), ("prevalence", "prevalence")])
def test_bars_are_the_numbers_of_topics_in_their_colours(model, name, column):
    ax = FIGURES[name](model).axes[0]
    table = table_of(model).sort_values(column, ascending=False, kind="stable")
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table[column])
    colors = topic_colors(len(table))
    assert [to_hex(bar.get_facecolor()).upper() for bar in ax.patches] == [colors[k] for k in table["topic"]]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first is on top


def test_points_of_the_map_are_the_topics_in_their_colours(model):
    (points,) = plots.effect_map(model).axes[0].collections
    table = table_of(model)
    np.testing.assert_allclose(points.get_offsets(), table[["effect", "prevalence"]])
    colors = topic_colors(len(table))
    assert [to_hex(color).upper() for color in points.get_facecolors()] == [colors[k] for k in table["topic"]]


def test_labels_of_the_map_stand_clear_of_points_and_inside_the_axes(model):
    ax = plots.effect_map(model).axes[0]
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    centres = ax.transData.transform(table_of(model)[["effect", "prevalence"]])
    assert len(ax.texts) >= min(len(centres), 5)
    for box in boxes(ax.texts):
        assert not any(box.contains(x, y) for x, y in centres)
        assert frame.x0 - 1 <= box.x0 < box.x1 <= frame.x1 + 1
        assert frame.y0 - 1 <= box.y0 < box.y1 <= frame.y1 + 1


def test_terms_have_their_shares_in_the_topic_and_in_all_text(one):
    shown = table_of(one, 7).set_index("topic")["terms"][2]
    topics, prevalence = one.components_, table_of(one).set_index("topic")["prevalence"].sort_index()
    profiles = topics / topics.sum(axis=1, keepdims=True)
    columns = [one.vectorizer_.vocabulary_[term] for term in shown]
    ax = plots.terms(one, 2, n=7).axes[0]
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths[:7], profiles[2, columns])
    np.testing.assert_allclose(widths[7:], prevalence.to_numpy() @ profiles[:, columns])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == shown
    label = table_of(one).loc[2, "label"]
    assert plots.terms(one, label).axes[0].get_title("left") == plots.plain(label, plots.LIST_LABEL)


def test_calibration_shows_means_and_their_errors(one):
    ax = plots.calibration(one, NEW.texts, NEW.ratings, n_bins=4).axes[0]
    predicted = one.predict(NEW.texts)
    quarters = np.array_split(np.argsort(predicted, kind="stable"), 4)
    line = next(line for line in ax.lines if line.get_marker() == "o")
    x, y = np.array(line.get_data(), dtype=float)
    np.testing.assert_allclose(x, [predicted[rows].mean() for rows in quarters])
    np.testing.assert_allclose(y, [NEW.ratings[rows].mean() for rows in quarters])


def test_responses_are_shown_as_shares():
    bars = plots.response_distribution(REVIEWS.ratings).axes[0].patches
    shares = [np.mean(level == REVIEWS.ratings) for level in range(1, 6)]
    np.testing.assert_allclose([bar.get_height() for bar in bars], shares)
    wide = plots.response_distribution(np.random.default_rng(0).normal(size=500)).axes[0].patches
    assert sum(bar.get_height() for bar in wide) == pytest.approx(1)
    single = plots.response_distribution([3, 3]).axes[0].patches
    assert [bar.get_height() for bar in single] == [1]


def test_lines_of_a_skill_path_are_its_points_in_the_order_of_x():
    ax = plots.skill_path(PATH.sample(frac=1, random_state=0), x="n_themes").axes[0]
    found = {line.get_label(): line.get_data() for line in ax.lines}
    x, y = found["joint training"]
    np.testing.assert_array_equal(x, [2, 5, 10])
    np.testing.assert_array_equal(y, [0.2, 0.4, 0.5])
    assert len(ax.collections) == 2
    assert len({line.get_marker() for line in ax.lines}) == 2
    single = plots.skill_path(PATH[:3][["n_themes", "skill"]].rename(columns={"n_themes": "x"})).axes[0]
    assert len(single.lines) == 1
    assert single.get_legend() is None


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m: plots.skill_path(PATH), "column 'x' is missing; there are 'n_themes', 'skill'"),
        (lambda m: plots.skill_path(PATH.drop(columns="skill"), x="n_themes"), "column 'skill' is missing"),
        (lambda m: plots.terms(m, "pool"), "no theme has the label 'pool'"),
        (lambda m: plots.terms(m, 0, n=0), "n_terms=0 must be a whole number of at least 1"),
        (lambda m: plots.word_cloud(m, 9), "theme=9 is not a theme"),
        (lambda m: plots.word_cloud(m, n=0), "n=0 must be a whole number"),
        (lambda m: plots.response_distribution([np.nan]), "no response to show"),
        (lambda m: plots.response_distribution([]), "no response to show"),
        (lambda m: plots.calibration(m, NEW.texts, NEW.ratings, n_bins=0), "n_bins=0 must be a whole number"),
        (lambda m: plots.calibration(m, NEW.texts, NEW.ratings[:3]), "3 responses, but 200 predictions"),
    ],
)
def test_bad_input_gets_a_clear_error(one, draw, message):
    with pytest.raises(InputError) as caught:
        draw(one)
    assert message in str(caught.value)


def test_a_loaded_model_has_no_responses_to_show(one, tmp_path):
    one.save(tmp_path / "model")
    with pytest.raises(InputError, match="a stored model does not hold"):
        plots.response_distribution(load(tmp_path / "model"))


def test_a_topic_without_terms_has_no_cloud(one):
    dead = deepcopy(one)
    dead.estimator_.components_[1] = 0
    with pytest.raises(InputError, match="topic 1 has no terms"):
        plots.word_cloud(dead, 1)
    assert len(plots.effects(dead).axes[0].patches) == 5
