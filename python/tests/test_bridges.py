"""Explanations for other tools."""

import numpy
import pandas
import pytest

import pho

shap = pytest.importorskip("shap")


def test_shap_shows_exact_contributions(demo, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    frame = pandas.read_csv(demo / "data.csv")
    d = pho.decompose(demo / "ssn.onnx", frame, response="y")
    e = d.to_shap(frame.head(50))
    numpy.testing.assert_allclose(e.values.sum(axis=1) + e.base_values, d.contributions["eta"].head(50), atol=1e-9)
    assert e.feature_names[-1] == "unstructured" and e.display_data[0, 0] == frame.x0[0]
    import matplotlib.pyplot as plt

    for draw in (lambda: shap.plots.waterfall(e[0], show=False), lambda: shap.plots.beeswarm(e, show=False), lambda: shap.plots.bar(e, show=False)):
        plt.figure()
        draw()
        plt.savefig(tmp_path / "plot.png")
        plt.close("all")
    assert d.to_shap().values.shape == (5000, len(d.terms) + 1)
    with pytest.raises(pho.UsageError, match="eta"):
        d.to_shap(predictor="nope")
