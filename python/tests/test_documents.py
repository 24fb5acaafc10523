"""The notebooks run, and so do the snippets of the README and of docs/python.md."""

import pathlib
import re

import pytest

import pho

HERE = pathlib.Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((HERE / "examples").glob("*.ipynb"))
PAGES = [p for p in (HERE / "README.md", HERE.parent / "docs" / "python.md") if p.exists()]


@pytest.mark.skipif(not NOTEBOOKS, reason="no examples beside the tests")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook(path):
    nbclient = pytest.importorskip("nbclient")
    for needed in ("ipykernel", "nbformat", "plotnine", "shap", "skl2onnx", "matplotlib"):
        pytest.importorskip(needed)
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    cells = [c for c in notebook.cells if c.cell_type == "code"]
    assert not any(c.outputs or c.execution_count for c in cells), "committed without outputs: they would be stale"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    shown = [o for c in cells for o in c.outputs]
    kinds = {kind for o in shown for kind in o.get("data", {})}
    assert {"image/png", "text/html"} <= kinds
    assert any("<iframe" in o.get("data", {}).get("text/html", "") for o in shown), "the report is not shown"
    assert not any(o.get("name") == "stderr" for o in shown), [o["text"] for o in shown if o.get("name") == "stderr"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """What the snippets take for granted: a fitted pipeline, rows, and new rows."""
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("skl2onnx")
    pytest.importorskip("matplotlib").use("Agg")
    from sklearn.compose import make_column_transformer
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    random = numpy.random.default_rng(1)
    frame = pandas.DataFrame({"age": random.integers(18, 80, 800), "income": random.lognormal(3, 0.5, 800)})
    frame["region"] = random.choice(["north", "south", "east"], 800)
    frame["y"] = numpy.sin(frame.age / 10) + 0.02 * frame.income + (frame.region == "north")
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["region"]), (StandardScaler(), ["age", "income"]))
    network = MLPRegressor(hidden_layer_sizes=(16,), solver="lbfgs", max_iter=2000, tol=1e-3, random_state=0)
    pipeline = make_pipeline(columns, network).fit(frame[["age", "income", "region"]], frame.y)
    return {"pipeline": pipeline, "frame": frame, "new_rows": frame.head(20), "X": frame[["age", "income", "region"]], "y": frame.y, "pho": pho}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_snippets(page, world, tmp_path, monkeypatch):
    """One after the other, in one namespace for each page."""
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert snippets
    names = dict(world)
    for snippet in snippets:
        if "import shap" in snippet:
            pytest.importorskip("shap")
        exec(compile(snippet, str(page), "exec"), names)
