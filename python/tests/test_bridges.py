"""Explanations for other tools: shap, InterpretML, matplotlib; comparisons."""

import sys

import numpy
import pandas
import pytest

import pho


@pytest.fixture(scope="module")
def rows():
    random = numpy.random.default_rng(0)
    n = 800
    frame = pandas.DataFrame(
        {
            "age": random.uniform(18, 80, n),
            "lon": random.uniform(-5, 5, n),
            "lat": random.uniform(40, 50, n),
            "region": random.choice(["north", "south", "east"], n),
            "grade": random.integers(1, 4, n),
        }
    )
    frame["y"] = numpy.sin(frame.age / 10) + 0.1 * frame.lon * (frame.lat - 45) + (frame.region == "north") + random.normal(size=n) * 0.2
    return frame


@pytest.fixture(scope="module")
def made(rows):
    from pho import _training

    options = {"formula": "~ s(age) + te(lon,lat,k=c(5,5)) + region + factor(grade)", "response": "y", "deep": "age,lon", "epochs": 5, "seed": 1}
    network, _ = _training.train(rows, options)
    return pho.decompose(network, rows, response="y")


@pytest.fixture(autouse=True)
def no_window():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    if "matplotlib.pyplot" in sys.modules:  # a test has drawn
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("package", ["shap", "interpret"])
def test_terms_told_as_a_sum_are_one(package):
    """How a sum splits is arbitrary: its terms may cancel by any amount."""
    pytest.importorskip(package)
    random = numpy.random.default_rng(1)
    x, z = random.normal(size=(2, 500))
    frame = pandas.DataFrame({"x": x, "near x": x + 1e-4 * random.normal(size=500), "z": z, "v": random.normal(size=500)})
    d = pho.decompose(lambda f: f["x"] + f["z"] + f["v"], frame, "~ x + `near x` + z")
    assert d.contributions["x"].abs().max() > 50
    if package == "shap":
        e = d.to_shap(frame)
        assert e.feature_names == ["x + near x", "z", "unstructured"] and e.display_data[3, 0].startswith(f"({x[3]:.4g}, ")
        values = e.values
        numpy.testing.assert_allclose(values.sum(axis=1) + e.base_values, d.contributions["eta"], atol=1e-9)
    else:
        local, overall = d.to_interpret(frame).data(3), d.to_interpret().data()
        assert local["names"] == overall["names"] == ["x + near x", "z", "unstructured"]
        values = numpy.array([local["scores"], overall["scores"]])
    assert numpy.abs(values).max() < 5


@pytest.mark.filterwarnings("ignore")
def test_shap_shows_exact_contributions(made, rows):
    shap = pytest.importorskip("shap")
    import matplotlib.pyplot as plt

    e = made.to_shap(rows.head(60))
    numpy.testing.assert_allclose(e.values.sum(axis=1) + e.base_values, made.contributions["eta"].head(60), atol=1e-9)
    at = {name: j for j, name in enumerate(e.feature_names)}
    assert e.feature_names[-1] == "unstructured"
    assert e.display_data[0, at["region"]] == rows.region[0] and e.data[0, at["region"]] in (0, 1, 2)
    assert e.display_data[0, at["te(lon,lat)"]] == f"({rows.lon[0]:.4g}, {rows.lat[0]:.4g})"
    for rows_explained in (e, made.to_shap()):
        shap.plots.waterfall(rows_explained[0], show=False)
        labels = [t.get_text() for t in plt.gca().get_yticklabels()]
        assert any("unstructured" in t for t in labels) and not any("nan" in t for t in labels)
        for draw in (shap.plots.beeswarm, shap.plots.bar, shap.plots.heatmap):
            plt.figure()
            draw(rows_explained, show=False)
    shap.plots.scatter(e[:, "region"], show=False)
    assert {t.get_text() for t in plt.gca().get_xticklabels()} >= {"north", "south", "east"}
    assert made.to_shap().values.shape == (len(rows), len(made.terms) + 1)
    with pytest.raises(pho.UsageError, match="eta"):
        made.to_shap(predictor="nope")


def test_shap_of_several_predictors(rows):
    pytest.importorskip("shap")
    model = pho.SSNClassifier("~ age + lon", ["age"], epochs=2, random_state=0).fit(rows[["age", "lon"]], rows.region)
    d = model.decomposition_
    with pytest.raises(pho.UsageError, match="east, north, south"):
        d.to_shap()
    e = d.to_shap(rows.head(5), predictor="north")
    numpy.testing.assert_allclose(e.values.sum(axis=1) + e.base_values, d.contributions["north.eta"].head(5), atol=1e-9)
    assert d.plot("age", predictor="south").get_title() == "age"


def test_interpret_shows_curves_and_rows(made, rows):
    pytest.importorskip("interpret")
    whole = made.to_interpret()
    assert whole.feature_names == ["s(age)", "lon & lat", "region", "factor(grade)"]
    assert whole.feature_types == ["continuous", "interaction", "nominal", "nominal"]
    overall = whole.data()
    numpy.testing.assert_allclose(overall["scores"][0], made.contributions["s(age)"].abs().mean())
    assert overall["names"][-1] == "unstructured"
    curve = whole.data(0)
    effects = made.effects[(made.effects.term == "s(age)") & (made.effects.stage == "after")]
    numpy.testing.assert_allclose(curve["scores"], effects["value"])
    assert len(curve["names"]) == len(curve["scores"]) + 1 and sum(curve["density"]["scores"]) == len(rows)
    assert (curve["lower_bounds"] <= curve["upper_bounds"]).all()
    surface = whole.data(1)
    assert surface["scores"].shape == (len(surface["left_names"]) - 1, len(surface["right_names"]) - 1)
    levels = whole.data(2)
    assert dict(zip(levels["names"], levels["density"]["scores"])) == rows.region.value_counts().to_dict()
    for key in (None, 0, 1, 2, 3):
        assert whole.visualize(key).data
    local = made.to_interpret(rows.head(4), response=rows.y.head(4))
    numpy.testing.assert_allclose(sum(local.data(2)["scores"]) + local.data(2)["extra"]["scores"][0], made.contributions["eta"][2])
    assert local.visualize(1).data and list(local.selector["Actual"]) == list(rows.y.head(4).round(3))


def test_interpret_preserves_it(made, tmp_path):
    interpret = pytest.importorskip("interpret")
    interpret.preserve(made.to_interpret(), file_name=str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").stat().st_size > 1000


def test_plots(made):
    for term, label in (("s(age)", "age"), ("te(lon,lat)", "lon"), ("region", "contribution"), ("factor(grade)", "contribution")):
        import matplotlib.pyplot as plt

        _, ax = plt.subplots()
        assert made.plot(term, ax=ax).get_xlabel() == label
    with pytest.raises(pho.UsageError, match="there are s\\(age\\)"):
        made.plot("s(nope)")


def test_compare(made, rows):
    later = rows.assign(age=rows.age + 3)
    other = pho.decompose(made.network, later, response="y")
    c = pho.compare(made, other, later)
    assert c.document["same_network"] and list(c.terms["term"])[:2] == ["s(age)", "te(lon,lat)"]
    assert "s(age)" in c.summary() and c.report().html().startswith("<!DOCTYPE html>")
    with pytest.raises(pho.Error, match='no column "lat" in the rows'):
        pho.compare(made, other, later.drop(columns="lat"))


def test_terms_of_one_column_are_one_row(rows):
    def model(frame):
        return (frame.age / 10) ** 2 + frame.lon

    line, spline = (pho.decompose(model, rows, formula=f"~ {term} + lon", response="y") for term in ("age", "s(age)"))
    terms = pho.compare(line, spline).terms
    assert list(zip(terms["term"], terms["term_b"], terms["in"])) == [("age", "s(age)", "both"), ("lon", "", "both")]
