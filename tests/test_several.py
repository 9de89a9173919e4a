"""Several responses with shared themes: laws of the model, its tables, its folder, and what it refuses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from textsignal import TextResponseModel, load
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

N, N_TOPICS = 300, 5
REVIEWS = synthetic_reviews(N, seed=3)
WEIGHT = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)


def responses():
    rng = np.random.default_rng(0)
    stars = np.asarray(REVIEWS.ratings, dtype=float)
    table = pd.DataFrame({"stars": stars, "good": stars > 3, "votes": rng.poisson(stars / 2)})
    table["score"] = stars + rng.normal(size=N)
    table.loc[5:40, "score"] = np.nan
    return table


RESPONSES = responses()
NAMES = list(RESPONSES)
FAMILIES = {"stars": "ordinal", "votes": "poisson"}
#: Columns of a table of clauses that do not depend on the response.
PLACES = ["text", "clause", "start", "end", "theme", "label", "is_overall"]


def new(**options):
    return TextResponseModel(N_TOPICS, **({"family": FAMILIES, "n_jobs": 1} | options))


@pytest.fixture(scope="module")
def model():
    return new().fit(REVIEWS.texts, RESPONSES)


def test_each_response_has_its_own_family_and_tone_and_all_have_the_same_themes(model):
    assert {name: model.of(name).family_.name for name in NAMES} == {
        **{"stars": "ordinal", "good": "bernoulli", "votes": "poisson", "score": "gaussian"}
    }
    first = model.of("stars").reader_.fitted
    for name in NAMES[1:]:
        fitted = model.of(name).reader_.fitted
        assert np.array_equal(fitted.themes.topics, first.themes.topics)
        assert not np.array_equal(fitted.words.tone, first.words.tone)
        assert not np.array_equal(fitted.words.judgement, first.words.judgement)
        one, other = model.of(name).clauses(REVIEWS.texts[:50]), model.of("stars").clauses(REVIEWS.texts[:50])
        pd.testing.assert_frame_equal(one[PLACES], other[PLACES])
        assert not np.allclose(one["contribution"], other["contribution"])
        assert model.of(name).get_feature_names_out().tolist() == model.of("stars").get_feature_names_out().tolist()


@pytest.mark.parametrize("name", NAMES)
def test_one_response_is_the_model_of_one(name):
    family = FAMILIES.get(name, "auto")
    alone = TextResponseModel(N_TOPICS, family=family, n_jobs=1).fit(REVIEWS.texts, RESPONSES[name], WEIGHT)
    one = new(family=family).fit(REVIEWS.texts, RESPONSES[[name]], WEIGHT)
    assert one.names == []
    pd.testing.assert_frame_equal(one.themes(), alone.themes())
    for each in ("tone", "judgement"):
        ours, theirs = (getattr(model.reader_.fitted.words, each) for model in (one, alone))
        np.testing.assert_array_equal(ours, theirs)
    pd.testing.assert_frame_equal(one.clauses(), alone.clauses())
    np.testing.assert_array_equal(one.predict(REVIEWS.texts), alone.predict(REVIEWS.texts))


def test_clauses_of_a_response_are_praise_and_complaints_if_it_has_a_better_direction(model):
    assert set(model.of("stars").clauses()["kind"]) == {"praise", "neutral", "complaint"}
    assert set(model.of("votes").clauses()["kind"]) <= {"raises", "neutral", "lowers"}
    with pytest.raises(InputError, match=r"model.of\('stars'\)"):
        model.clauses(REVIEWS.texts)


def test_a_response_twice_is_that_response():
    twice = RESPONSES[["stars"]].assign(again=RESPONSES["stars"])
    one, two = new(family="ordinal").fit(REVIEWS.texts, RESPONSES[["stars"]]), new(family="ordinal")
    two.fit(REVIEWS.texts, twice)
    for name in twice:
        np.testing.assert_array_equal(two.predict(REVIEWS.texts)[name], one.predictions(REVIEWS.texts).mean)


def test_the_order_of_responses_does_not_matter(model):
    turned = new().fit(REVIEWS.texts, RESPONSES[NAMES[::-1]])
    np.testing.assert_allclose(turned.predict(REVIEWS.texts)[NAMES], model.predict(REVIEWS.texts), rtol=1e-6)


def test_texts_are_read_once_and_as_each_model_reads_them(model):
    predicted = model.predict(REVIEWS.texts)
    assert list(predicted) == NAMES
    for name in NAMES:
        np.testing.assert_array_equal(predicted[name], model.of(name).predictions(REVIEWS.texts).mean)


def test_predictions_keep_the_index_of_the_texts(model):
    texts = pd.Series(REVIEWS.texts[:4], index=[7, 3, 5, 1])
    assert model.predict(texts).index.tolist() == [7, 3, 5, 1]
    assert model.predict(texts.to_frame()).index.tolist() == [7, 3, 5, 1]


def test_tables_name_the_response_first(model):
    for table, each in ((model.themes(), "themes"), (model.drivers(), "drivers")):
        assert next(iter(table)) == "response"
        assert table["response"].unique().tolist() == NAMES
        for name in NAMES:
            own = table[table["response"] == name].drop(columns="response")
            pd.testing.assert_frame_equal(own, pd.DataFrame(getattr(model.of(name), each)()), check_like=True)


def test_drivers_by_group_and_of_other_texts(model):
    table = model.drivers(np.arange(N) % 2, texts=REVIEWS.texts, responses=RESPONSES)
    assert len(table) == len(NAMES) * 2 * (N_TOPICS + 1)
    own = model.of("good").drivers(texts=REVIEWS.texts[:50], responses=RESPONSES["good"][:50])
    table = model.drivers(texts=REVIEWS.texts[:50], responses=RESPONSES[:50])
    for name in ("mean_mention", "mean_complaint", "cost", "share_of_low"):
        np.testing.assert_array_equal(table.loc[table["response"] == "good", name], own[name])


def test_compare_has_costs_in_points_and_in_standard_deviations(model):
    table = model.compare()
    for name in NAMES:
        own = model.of(name).drivers().set_index("theme")
        numbers = table.index.get_level_values("theme")
        for measure in ("cost", "gain"):
            np.testing.assert_allclose(table[measure, name], own[measure].loc[numbers])
            deviation = RESPONSES[name].astype(float).std(ddof=0)
            np.testing.assert_allclose(table[f"{measure}_sd", name] * deviation, table[measure, name])
    assert table["cost_sd"].max(axis=1).is_monotonic_decreasing


def test_renaming_merging_and_dropping_are_for_all(model):
    named = model.rename(0, "first")
    assert all(named.of(name).themes().set_index("theme").loc[0, "label"] == "first" for name in NAMES)
    merged = named.merge(["first", 2], "both")
    assert merged.n_themes == N_TOPICS - 1
    for name in NAMES:
        alone = named.of(name).merge(["first", 2], "both")
        np.testing.assert_array_equal(merged.predict(REVIEWS.texts)[name], alone.predictions(REVIEWS.texts).mean)
        assert merged.of(name).theme_names == merged.of("stars").theme_names
    assert merged.drop("both").n_themes == N_TOPICS - 2
    assert model.n_themes == N_TOPICS


def test_covariates_are_beside_all(model):
    covariates = pd.DataFrame({"floor": np.arange(N) % 7})
    given = new().fit(REVIEWS.texts, RESPONSES, covariates=covariates)
    for name in NAMES:
        assert given.of(name).covariate_effects_["name"].tolist() == ["floor"]
    np.testing.assert_array_equal(
        given.predict(REVIEWS.texts, covariates=covariates)["votes"],
        given.of("votes").predictions(REVIEWS.texts, covariates=covariates).mean,
    )


def test_a_saved_model_says_the_same(model, tmp_path):
    named = model.rename(1, "named")
    named.save(tmp_path / "model")
    again = load(tmp_path / "model", n_jobs=1)
    assert again.names == NAMES
    pd.testing.assert_frame_equal(again.predict(REVIEWS.texts), model.predict(REVIEWS.texts))
    pd.testing.assert_frame_equal(again.compare(), named.compare())
    assert again.family == FAMILIES | {"good": "auto", "score": "auto"}
    clone(again).fit(REVIEWS.texts, RESPONSES)


def test_a_response_with_other_themes_is_refused(model):
    other = TextResponseModel(N_TOPICS, n_jobs=1, random_state=9).fit(REVIEWS.texts, RESPONSES["good"])
    readers = (model.reader_.readers[0], other.reader_, *model.reader_.readers[2:])
    with pytest.raises(ValueError, match="the themes of 'good' are not those of the others"):
        replace(model.reader_, readers=readers).check()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (RESPONSES[[]], "no column"),
        (RESPONSES[["stars", "stars"]], "two responses are called 'stars'"),
        (RESPONSES.assign(same=4), "response 'same': the response is constant"),
        (RESPONSES.assign(none=np.nan), "response 'none': no text has a response"),
        (RESPONSES.assign(stars=99 - RESPONSES["votes"]), "response 'stars'"),
        (RESPONSES[:9], "300 texts, but 9 responses"),
    ],
)
def test_responses_that_cannot_be_used_are_named(given, message):
    with pytest.raises(InputError, match=message):
        new(levels={"stars": (1, 5)} if "stars" in given else None).fit(REVIEWS.texts, given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": {"star": "ordinal"}}, "family names 'star', which is not a response"),
        ({"levels": {"star": (1, 5)}}, "levels names 'star'"),
        ({"n_themes": 0}, "n_themes=0"),
    ],
)
def test_options_that_cannot_be_had_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        TextResponseModel(**({"n_themes": 4, "n_jobs": 1} | options)).fit(REVIEWS.texts, RESPONSES)


def test_a_response_that_is_not_there_is_named(model):
    with pytest.raises(
        InputError, match="there is no response 'star'; responses are 'stars', 'good', 'votes', 'score'"
    ):
        model.of("star")


def test_reports_link_to_each_other(model, tmp_path):
    model.report(tmp_path / "pages", n_documents=5)
    pages = {file.name: file.read_text() for file in (tmp_path / "pages").iterdir()}
    assert set(pages) == {f"report-{name}.html" for name in NAMES}
    for file, page in pages.items():
        for other in pages:
            assert (f'href="{other}"' in page) == (other != file)
