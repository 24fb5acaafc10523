"""Models behind an address, and the structured parts of models without a file in ONNX Runtime."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy
import pandas
import pytest

import pho

N = 800


@pytest.fixture(scope="module")
def rows():
    random = numpy.random.default_rng(3)
    frame = pandas.DataFrame({c: random.normal(size=N) for c in "abcde"})
    frame["u"], frame["g"], frame["m"] = random.uniform(0, 24, N), random.choice(["n", "s", "é w"], N), random.integers(1, 6, N)
    return frame


def mean(frame):
    return numpy.exp(
        0.3 * numpy.sin(frame["a"]) + 0.2 * frame["b"] * frame["c"] + 0.4 * (frame["g"] == "s") + 0.3 * numpy.cos(frame["u"] / 4) + frame["m"] / 50
    )


class MLflow(BaseHTTPRequestHandler):
    """The scoring protocol of MLflow, of `mean`."""

    def do_POST(self):
        split = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["dataframe_split"]
        answer = json.dumps({"predictions": mean(pandas.DataFrame(split["data"], columns=split["columns"])).tolist()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = HTTPServer(("127.0.0.1", 0), MLflow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/invocations"
    server.shutdown()


def test_address(rows, address):
    d = pho.decompose(address, rows, "~ s(a) + g", link="log", inputs=["a", "b", "c", "u", "g", "m"])
    assert numpy.allclose(d.contributions["eta"], numpy.log(mean(rows)), rtol=0, atol=1e-12)  # the server's decimals are exact
    assert numpy.array_equal(d.apply(rows.head(7)), d.contributions.head(7))
    with pytest.raises(pho.UsageError, match="served"):
        pho.decompose("net.onnx", rows, link="log")


@pytest.mark.parametrize(
    "formula",
    [
        "~ a + g + factor(m) + s(b) + s(c, bs='cr') + s(u, bs='cc') + s(d, bs='ps') + s(e, bs='bs')",
        "~ s(a, bs='ts') + s(b, bs='cs') + s(u, bs='cp') + s(g, bs='re') + s(c, by=g) + s(d, by=e)",
        "~ te(a, b) + ti(c, d) + g:factor(m) + ridge(e, u)",
        "~ s(a, g, bs='fs') + s(b, c, k=20) + s(d, bs='rbf')",
    ],
)
def test_surrogate(rows, formula):
    runtime = pytest.importorskip("onnxruntime")
    d = pho.decompose(mean, rows, formula, link="log", export_onnx=True)
    session = runtime.InferenceSession(d.adapted_onnx())
    feed = {i.name: rows[[i.name]].to_numpy().astype(object if "string" in i.type else float) for i in session.get_inputs()}
    out = dict(zip((o.name for o in session.get_outputs()), session.run(None, feed)))
    parts = d.contributions
    for name in parts.columns.drop(["unstructured", "eta"]):
        got = out["pho/" + name if name in feed else name]
        assert numpy.allclose(got[:, 0], parts[name], rtol=0, atol=1e-10), name  # float64 sums in another order, of coefficients up to 1e5
    structured = parts["eta"] - parts["unstructured"]
    assert numpy.allclose(out["eta"][:, 0], structured, rtol=0, atol=1e-10)
    assert numpy.allclose(out["response"][:, 0], numpy.exp(structured), rtol=1e-9)
    left = json.loads(session.get_modelmeta().custom_metadata_map["pho.surrogate"])
    assert left["predictors"][0]["variance"]["unstructured"] == pytest.approx(parts["unstructured"].var(ddof=0), rel=0.01)


def test_surrogate_softplus(rows, address):
    runtime = pytest.importorskip("onnxruntime")  # which has no Softplus of float64
    d = pho.decompose(address, rows, "~ s(a)", link="softplus", inputs=["a", "b", "c", "u", "g", "m"], export_onnx=True)
    eta, got = runtime.InferenceSession(d.adapted_onnx()).run(["eta", "response"], {"a": rows[["a"]].to_numpy()})
    assert numpy.allclose(got, numpy.logaddexp(0, eta), rtol=0, atol=1e-14)  # of values up to 3, by other functions in float64
