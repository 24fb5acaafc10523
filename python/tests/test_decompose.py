"""The main job, on files and tables of any kind."""

import json
import pathlib
import subprocess

import numpy
import pandas
import pytest

import pho
import pho._command


@pytest.fixture(scope="module")
def frame(demo):
    return pandas.read_csv(demo / "data.csv")


@pytest.fixture(scope="module")
def made(demo, frame):
    return pho.decompose(demo / "ssn.onnx", frame, response="y")


def test_parts_sum_to_the_network(made, demo):
    parts = made.contributions
    assert len(parts) == made.rows == 5000
    numpy.testing.assert_allclose(parts.drop(columns="eta").sum(axis=1), parts["eta"], rtol=0, atol=1e-9)
    by_command = pandas.read_csv(demo / "ssn" / "contributions.csv")
    assert "x0" in parts and set(parts) <= set(by_command)


@pytest.mark.parametrize("kind", ["path", "dict", "arrow", "polars", "batches"])
def test_rows_of_any_kind(kind, made, demo, frame):
    rows = demo / "data.csv"
    if kind == "dict":
        rows = {c: frame[c].tolist() for c in frame}
    elif kind == "arrow":
        rows = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    elif kind == "polars":
        rows = pytest.importorskip("polars").from_pandas(frame)
    elif kind == "batches":
        rows = pytest.importorskip("pyarrow").Table.from_pandas(frame).to_reader()
    d = pho.decompose(str(demo / "ssn.onnx"), rows, response="y")
    pandas.testing.assert_frame_equal(d.contributions, made.contributions)


def test_models_as_bytes(made, demo, frame):
    content = (demo / "ssn.onnx").read_bytes()
    pandas.testing.assert_frame_equal(pho.decompose(content, frame, response="y").contributions, made.contributions)
    onnx = pytest.importorskip("onnx")
    proto = onnx.load_from_string(content)
    pandas.testing.assert_frame_equal(pho.decompose(proto, frame, response="y").contributions, made.contributions)


def test_tables(made):
    assert list(made.terms["term"]) == [f"x{i}" for i in range(10)]
    assert ((made.terms["reasons"] == "") == (made.terms["verdict"] == "identified")).all()
    assert set(made.effects["stage"]) == {"before", "after"}
    assert made.importance["variance_share"].notna().all()
    assert made.predictors == ["eta"]
    assert "Structured = " in made.summary()
    assert made.report().html().startswith("<!DOCTYPE html>")
    assert "<iframe" in made._repr_html_()
    assert "terms explain" in repr(made)


def test_formula_and_options(demo, frame):
    d = pho.decompose(demo / "ssn.onnx", frame, "y ~ s(x2, k=8)", sp={"s(x2)": [0.5]}, factor=None)
    assert d.artifact["response"] == "y"
    term = next(t for t in d.artifact["predictors"][0]["terms"] if t["name"] == "s(x2)")
    assert term["sp"] == [0.5]
    assert d.formulas


def test_apply_is_of_the_training_rows(made, frame):
    few = made.apply(frame.head(7))
    pandas.testing.assert_frame_equal(few, made.contributions.head(7))
    assert "x2.se" in made.apply(frame.head(2), se=True)


def test_saved_and_loaded(made, frame, tmp_path):
    made.save(tmp_path / "result")
    back = pho.load(tmp_path / "result")
    pandas.testing.assert_frame_equal(back.apply(frame.head(5)), made.apply(frame.head(5)))
    made.save(tmp_path / "result")  # an earlier result is replaced
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    with pytest.raises(pho.UsageError, match="other files"):
        made.save(tmp_path / "other")
    assert (tmp_path / "other" / "thesis.tex").exists()
    with pytest.raises(pho.UsageError, match="not a result"):
        pho.load(tmp_path / "other")


def test_saved_with_a_network_in_memory(demo, frame, tmp_path):
    made = pho.decompose((demo / "ssn.onnx").read_bytes(), frame, response="y")
    expected = made.apply(frame.head(5))
    made.save(tmp_path / "result")
    del made
    pandas.testing.assert_frame_equal(pho.load(tmp_path / "result").apply(frame.head(5)), expected)


def test_a_result_of_predictions_has_no_network(demo, frame, tmp_path):
    rows = frame.assign(p=1 / (1 + numpy.exp(-frame["x1"])))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    arguments = ["decompose", "--data", tmp_path / "rows.csv", "--predictions", "p", "--link", "logit", "--formula", "~ s(x1) + x2"]
    subprocess.run([pho._command.binary(), *arguments, "--out", tmp_path / "result"], check=True, capture_output=True)
    d = pho.load(tmp_path / "result")
    assert d.network is None
    numpy.testing.assert_array_equal(d.apply(rows)["eta"], d.contributions["eta"])
    d.save(tmp_path / "saved")
    assert pho.load(tmp_path / "saved").artifact == d.artifact


def test_adapted_network(demo, frame):
    d = pho.decompose(demo / "ssn.onnx", frame, response="y", export_onnx=True)
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(d.adapted_onnx())
    x = frame[[f"x{i}" for i in range(10)]].to_numpy("float32")
    names = [o.name for o in session.get_outputs()]
    values = dict(zip(names, session.run(None, {session.get_inputs()[0].name: x})))
    numpy.testing.assert_allclose(values["x2"].ravel(), d.contributions["x2"], atol=1e-4)


def test_errors_are_the_commands_own(demo, frame, tmp_path):
    with pytest.raises(pho.UsageError, match="character 7"):
        pho.decompose(demo / "ssn.onnx", frame, "~ s(x0")
    with pytest.raises(pho.Error, match='no column "nope"') as caught:
        pho.decompose(demo / "ssn.onnx", frame, "~ s(nope)")
    assert not isinstance(caught.value, pho.UsageError) and "pho:" not in str(caught.value)
    with pytest.raises(pho.Error, match="missing.onnx"):
        pho.decompose(tmp_path / "missing.onnx", frame)
    with pytest.raises(pho.UsageError, match="not an option"):
        pho.decompose(demo / "ssn.onnx", frame, out="x")
    with pytest.raises(pho.UsageError, match="unknown option nonsense="):
        pho.decompose(demo / "ssn.onnx", frame, nonsense=1)
    for values in (frame["y"], frame["y"].to_numpy(), 3):
        with pytest.raises(pho.UsageError, match="formula= is text.*response=y"):
            pho.decompose(demo / "ssn.onnx", frame, values)
    with pytest.raises(pho.UsageError, match="rows are a builtins.int"):
        pho.decompose(demo / "ssn.onnx", 3)
    with pytest.raises(pho.UsageError, match="the model is a builtins.int"):
        pho.decompose(3, frame)


def test_nothing_is_left_behind(demo, frame, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", None)
    d = pho.decompose(demo / "ssn.onnx", frame, response="y")
    assert list(tmp_path.iterdir())
    del d
    with pytest.raises(pho.Error):
        pho.decompose(demo / "ssn.onnx", frame, "~ s(nope)")
    assert not list(tmp_path.iterdir())


def test_the_artifact_is_the_commands(made, demo, tmp_path):
    by_command = json.loads(pathlib.Path(demo / "ssn" / "decomposition.json").read_text())
    assert made.artifact["format"] == by_command["format"]


def test_the_index_of_the_rows_is_kept(demo, frame):
    d = pho.decompose(demo / "ssn.onnx", frame.set_index("x9", drop=False), response="y")
    pandas.testing.assert_index_equal(d.contributions.index, pandas.Index(frame.x9))
    pandas.testing.assert_index_equal(d.apply(frame.iloc[7:9]).index, pandas.RangeIndex(7, 9))


def test_formulas_by_predictor_and_labels(demo, frame):
    import subprocess

    import pho._command

    d = pho.decompose(demo / "ssn.onnx", frame, {"eta": "s(x2, k=5)"}, response="y")
    assert "s(x2)" in set(d.terms["term"])
    told = subprocess.run([pho._command.binary(), "decompose", "--help"], capture_output=True, text=True, check=True).stdout
    if "--labels" not in told:
        pytest.skip("the program has no labels yet")
    pho.decompose(demo / "ssn.onnx", frame, response="y", labels={"columns": {"x0": {"name": "dose"}}})


def test_import_is_fast():
    import subprocess
    import sys

    script = "import time; t = time.process_time(); import pho; print(time.process_time() - t)"
    env = {"PYTHONPATH": ":".join(sys.path)}
    taken = min(float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env).stdout) for _ in range(5))
    assert taken < 0.1
