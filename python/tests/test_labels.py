"""Labels, names of rows, and results without contributions."""

import json

import numpy
import pandas
import pytest

import pho
from pho._labels import Words

LABELS = {
    "columns": {
        "x0": {"name": "Temperature", "unit": "°C", "back_transform": {"scale": 10, "shift": 20}},
        "x1": {"name": "Income", "back_transform": {"function": "exp10", "shift": 3}},
        "y": {"name": "Yield"},
    },
    "predictors": {"eta": "Expected yield"},
    "terms": {"x2": "Wind"},
}


@pytest.fixture(scope="module")
def frame(demo):
    return pandas.read_csv(demo / "data.csv")


def test_labels_as_dict_and_path(demo, frame, tmp_path):
    (tmp_path / "labels.json").write_text(json.dumps(LABELS), encoding="utf-8")
    by_dict = pho.decompose(demo / "ssn.onnx", frame, response="y", labels=LABELS)
    by_path = pho.decompose(demo / "ssn.onnx", frame, response="y", labels=tmp_path / "labels.json")
    assert by_dict.artifact["labels"] == by_path.artifact["labels"]
    assert "Temperature" in by_dict.summary() and "Temperature (°C)" in by_dict.report().html()
    assert "x0" in by_dict.contributions and "x0" in set(by_dict.terms["term"])
    later = pho.decompose(demo / "ssn.onnx", frame, response="y").label(LABELS)
    assert later.artifact == by_dict.artifact and later.report().html() == by_dict.report().html()
    assert "labels" not in later.label({}).artifact
    with pytest.raises(pho.Error, match='there is no column "x00"; did you mean "x0"'):
        later.label({"columns": {"x00": {"name": "Temperature"}}})


def test_plots_use_labels(demo, frame):
    plt = pytest.importorskip("matplotlib.pyplot")
    d = pho.decompose(demo / "ssn.onnx", frame, response="y", formula="~ s(x1) + ti(x0,x1,k=c(3,3))", labels=LABELS)
    ax = d.plot("x0", ax=plt.figure().gca())
    assert ax.get_title() == "Temperature" and ax.get_xlabel() == "Temperature (°C)"
    for place, text in zip(ax.get_xticks(), ax.get_xticklabels()):
        assert float(text.get_text().replace("\N{MINUS SIGN}", "-")) == pytest.approx(20 + 10 * place)
    ax = d.plot("s(x1)", ax=plt.figure().gca())
    assert ax.get_title().split("\n") == ["s(Income)", "known only in sum with", "Income"] and len(ax.get_xticks()) > 1
    for place, text in zip(ax.get_xticks(), ax.get_xticklabels()):
        assert float(text.get_text()) == pytest.approx(10 ** (place + 3))
    ax = d.plot("ti(x0,x1)", ax=plt.figure().gca())
    assert ax.get_title() == "ti(Temperature, Income)" and ax.get_ylabel() == "Income"
    assert d.plot("x2", ax=plt.figure().gca()).get_title() == "Wind"
    plt.close("all")


def test_terms_are_called_as_by_the_command():
    words = Words({"labels": {"columns": {"hr": {"name": "Hour"}, "dow": {"name": "Day", "levels": {"1": "Monday"}}, "a.b": {"name": "AB"}}}})
    for name, features, want in [
        ("s(hr)", ["hr"], "s(Hour)"),
        ("te(hr,z)", ["hr", "z"], "te(Hour, z)"),
        ("te(y,z)", ["y", "z"], "te(y,z)"),
        ("s(hr):dow1", ["hr", "dow"], "s(Hour):Day = Monday"),
        ("s(z):dow1", ["z", "dow"], "s(z):Day = Monday"),
        ("s(a.b)", ["a.b"], "s(AB)"),
        ("onehot(hr..z)", ["hr", "y", "z"], "onehot(Hour..z)"),
        ("hr:dow", ["hr", "dow"], "Hour:Day"),
    ]:
        assert words.term(name, features) == want


def test_id_names_rows(demo, frame):
    named = frame.assign(row=[f"r{i:04d}" for i in range(len(frame))])
    d = pho.decompose(demo / "ssn.onnx", named, response="y", id="row")
    parts = d.contributions
    assert parts.columns[0] == "row" and list(parts["row"].astype(str)) == list(named["row"])
    numpy.testing.assert_allclose(parts.drop(columns=["row", "eta"]).sum(axis=1), parts["eta"], rtol=0, atol=1e-9)
    pytest.importorskip("shap")
    assert d.to_shap().values.shape[1] == len(d.terms) + 1
    assert list(d.apply(named.head(3), id="row")["row"].astype(str)) == ["r0000", "r0001", "r0002"]


def test_without_contributions(demo, frame):
    d = pho.decompose(demo / "ssn.onnx", frame, response="y", contributions="none")
    with pytest.raises(pho.Error, match="without contributions: use apply"):
        _ = d.contributions
    assert len(d.apply(frame.head(5))) == 5
