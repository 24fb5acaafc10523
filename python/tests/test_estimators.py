"""The networks of pho train by scikit-learn's conventions."""

import pickle
import subprocess
import sys

import numpy
import pandas
import pytest

import pho

sklearn = pytest.importorskip("sklearn", "1.6")

from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

KINDS = [pho.SSNRegressor, pho.SSNClassifier, pho.NAMRegressor, pho.NAMClassifier, pho.GAMRegressor, pho.GAMClassifier]

# Weights are exact in what is solved; a network that is trained holds rows out, and draws its
# batches, by the number of rows, so that a row of weight 2 is not the row twice.
WEIGHTED = "which rows are held out, and when training stops, depends on the number of rows and not on their weights"
EXPECTED = {
    kind.__name__: {"check_sample_weight_equivalence_on_dense_data": WEIGHTED}
    for kind in KINDS
    if kind is not pho.GAMRegressor
}


def short(kind):
    """An estimator that trains for a short time only."""
    if kind in (pho.GAMRegressor, pho.GAMClassifier):
        return kind()
    return kind(random_state=0, epochs=25, batch_size=32, learning_rate=0.02)


@parametrize_with_checks([short(kind) for kind in KINDS], expected_failed_checks=lambda e: EXPECTED.get(type(e).__name__, {}))
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def people():
    random = numpy.random.default_rng(1)
    n = 700
    region = random.choice(["north", "south", "east"], n)
    frame = pandas.DataFrame({"age": random.uniform(18, 80, n), "pay": random.lognormal(3, 0.5, n), "region": region})
    frame["y"] = numpy.sin(frame.age / 10) + 0.05 * frame.pay + (frame.region == "north") + random.normal(size=n) * 0.1
    return frame


COLUMNS = ["age", "pay", "region"]


@pytest.fixture(scope="module")
def fitted(people):
    return pho.SSNRegressor(random_state=1).fit(people[COLUMNS], people.y)


def test_fitted_on_a_table(fitted, people):
    X = people[COLUMNS]
    assert fitted.score(X, people.y) > 0.95
    assert list(fitted.feature_names_in_) == COLUMNS and fitted.n_features_in_ == 3
    d = fitted.decomposition_
    assert list(d.terms["term"]) == ["s(age)", "s(pay)", "region"] and d.artifact["response"] == "y"
    numpy.testing.assert_allclose(fitted.predict(X), d.contributions["eta"], rtol=0, atol=1e-9)
    back = pickle.loads(pickle.dumps(fitted))
    numpy.testing.assert_array_equal(back.predict(X), fitted.predict(X))
    linear = fitted.decompose(X, "~ age + region")
    assert {"age", "region"} <= set(linear.terms["term"])
    polars = pytest.importorskip("polars")
    numpy.testing.assert_array_equal(fitted.predict(polars.from_pandas(X)), fitted.predict(X))


def test_predictions_are_the_networks(fitted, people, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    codes = people.assign(region=people.region.map({"east": 0, "north": 1, "south": 2}))
    session = onnxruntime.InferenceSession(fitted.export_onnx_())
    fed = {i.name: codes[[i.name]].to_numpy("float32") for i in session.get_inputs()}
    numpy.testing.assert_allclose(session.run(None, fed)[0].ravel(), fitted.predict(people[COLUMNS]), atol=1e-4)


def test_the_same_seed_is_the_same_network(people):
    X = people[COLUMNS]
    a, b, other = (pho.SSNRegressor("~ age", ["age", "pay"], epochs=4, random_state=s).fit(X, people.y) for s in (1, 1, 2))
    assert a.export_onnx_() == b.export_onnx_() != other.export_onnx_()


def test_in_pipelines_and_searches(people):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    X, y = people[COLUMNS], people.y
    pipe = make_pipeline(FunctionTransformer(lambda f: f.assign(pay=numpy.log(f.pay))), pho.GAMRegressor())
    assert cross_val_score(pipe, X, y, cv=3).min() > 0.9
    search = GridSearchCV(pho.GAMRegressor(), {"formula": ["~ age", "~ s(age) + s(pay) + region"]}, cv=2, n_jobs=2).fit(X, y)
    assert search.best_params_ == {"formula": "~ s(age) + s(pay) + region"}
    assert clone(pipe)[-1].formula is None


@pytest.mark.parametrize("kind", [pho.GAMClassifier, pho.SSNClassifier])
@pytest.mark.parametrize("classes", [2, 3])
def test_classes(kind, classes, people):
    from sklearn.linear_model import LogisticRegression

    X = people[["age", "pay"]]
    score = (X - X.mean()) / X.std()
    noise = numpy.random.default_rng(0).logistic(size=(len(X), 3))
    of = numpy.column_stack([noise[:, 0], noise[:, 1] + 2 * score.age, noise[:, 2] - score.age + score.pay])[:, :classes]
    y = numpy.array(["no", "yes", "perhaps"])[of.argmax(axis=1)]
    model = kind("~ age + pay", random_state=0).fit(X, y)
    plain = LogisticRegression(C=1e6).fit(score, y)
    assert list(model.classes_) == sorted(set(y))
    assert model.score(X, y) > plain.score(score, y) - 0.03
    p = model.predict_proba(X)
    if kind is pho.GAMClassifier:
        numpy.testing.assert_allclose(p, plain.predict_proba(score), atol=0.005)
    numpy.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()


@pytest.mark.parametrize("family", ["poisson", "gamma", "negative-binomial", "student-t"])
def test_means_of_families(family, people):
    random = numpy.random.default_rng(5)
    mean = numpy.exp(0.5 + 0.02 * people.age)
    gamma = random.gamma(3, mean / 3)
    y = {"poisson": random.poisson(mean), "gamma": gamma, "negative-binomial": random.poisson(gamma), "student-t": mean}[family]
    model = pho.SSNRegressor("~ age", ["age"], family=family, epochs=40, random_state=0).fit(people[["age"]], y)
    assert model.decomposition_.links["eta"]["name"] == ("identity" if family == "student-t" else "log")
    assert abs(model.predict(people[["age"]]) / mean - 1).mean() < 0.15


def test_weights_and_names(people):
    X = people[["age", "pay"]].rename(columns={"pay": "pay a year", "age": "weights"})
    weights = numpy.where(people.region == "north", 0.0, 1.0)
    some = pho.GAMRegressor("~ s(weights) + `pay a year`").fit(X, people.y, weights)
    less = pho.GAMRegressor("~ s(weights) + `pay a year`").fit(X[weights > 0], people.y[weights > 0])
    numpy.testing.assert_allclose(some.predict(X), less.predict(X), atol=0.05)
    assert pho.SSNRegressor(epochs=1).fit(X, people.y).decomposition_.terms["features"].iloc[1] == "pay a year"
    with pytest.raises(ValueError, match="egative"):
        pho.GAMRegressor().fit(X, people.y, -weights)


def test_what_cannot_be(people):
    X = people[COLUMNS]
    with pytest.raises(pho.UsageError, match="the mean, which is known of"):
        pho.SSNRegressor(family="cox").fit(X, people.y)
    with pytest.raises(pho.Error, match='column "nope"'):
        pho.SSNRegressor("~ s(nope)").fit(X, people.y)
    with pytest.raises(ValueError, match="class"):
        pho.SSNClassifier().fit(X, ["a"] * len(X))
    with pytest.raises(pho.Error, match="(?s)missing|empty"):
        pho.GAMRegressor().fit(X.assign(age=numpy.nan), people.y)


def test_sklearn_is_imported_when_it_is_used():
    script = "import sys, pho; assert not {'sklearn', 'numpy', 'pandas'} & set(sys.modules); pho.SSNRegressor; assert 'sklearn' in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": ":".join(sys.path)})
