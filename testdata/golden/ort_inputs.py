#!/usr/bin/env python3
"""Writes testdata/golden/ort/: small networks whose result jumps, or cancels, with
the last digits of what enters them, and what ONNX Runtime computes on numbers that
float32 cannot hold (0.1, times in seconds, large integers).

    python3 testdata/golden/ort_inputs.py

Needs numpy, onnx and onnxruntime. The rows of cases.json are the numbers of a data
file, in float64; each is given to ONNX Runtime in the type that its input declares,
by numpy's conversion, which rounds to nearest.
"""
import json
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ort")
NUMPY = {T.FLOAT: np.float32, T.DOUBLE: np.float64, T.INT32: np.int32, T.INT64: np.int64}
ROWS = 200


def f32(name, values):
    return numpy_helper.from_array(np.array(values, np.float32), name)


def f64(name, values):
    return numpy_helper.from_array(np.array(values, np.float64), name)


def node(op, inputs, output, **attributes):
    return h.make_node(op, inputs.split(), [output], **attributes)


THRESHOLDS = [f32("t", [0.1, 0.3, 0.7]), f32("w", [[1], [1], [1]])]
COUNT = [node("Cast", "above", "steps", to=T.FLOAT), node("MatMul", "steps w", "y")]


def cases(rng):
    """name, why, input type, rows, nodes, initializers."""
    tenths = np.round(rng.uniform(0, 1, (ROWS, 1)), 1)
    seconds = 1.7e9 + np.round(rng.uniform(0, 1e5, (ROWS, 1)), 1)
    large = rng.integers(2**24, 2**25, (ROWS, 1)).astype(float)
    wide = np.round(rng.uniform(-1, 1, (ROWS, 3)), 1)
    yield ("thresholds", "GreaterOrEqual(x, [0.1f, 0.3f, 0.7f]) on rows of one decimal", T.FLOAT, tenths,
           [node("GreaterOrEqual", "x t", "above")] + COUNT, THRESHOLDS)
    yield ("less", "the other side of the thresholds", T.FLOAT, tenths,
           [node("Less", "x t", "above")] + COUNT, THRESHOLDS)
    yield ("equal", "a level that is a decimal", T.FLOAT, tenths,
           [node("Equal", "x t", "above")] + COUNT, THRESHOLDS)
    yield ("double_input_cast", "a Cast to float between the input and its thresholds", T.DOUBLE, tenths,
           [node("Cast", "x", "z", to=T.FLOAT), node("GreaterOrEqual", "z t", "above")] + COUNT, THRESHOLDS)
    yield ("double_thresholds", "nothing is rounded where all is double", T.DOUBLE, tenths,
           [node("GreaterOrEqual", "x t", "above"), node("Cast", "above", "steps", to=T.DOUBLE), node("MatMul", "steps w", "y")],
           [f64("t", [0.1, 0.3, 0.7]), f64("w", [[1], [1], [1]])])
    yield ("both_ways", "read as double and, after a Cast, as float", T.DOUBLE, seconds,
           [node("Cast", "x", "z", to=T.FLOAT), node("Cast", "z", "back", to=T.DOUBLE), node("Sub", "x back", "y")], [])
    yield ("folded", "thresholds that are computed when the graph is loaded", T.FLOAT, tenths,
           [node("Mul", "third k", "t"), node("GreaterOrEqual", "x t", "above")] + COUNT,
           [f32("third", [0.1]), f32("k", [1, 3, 7]), THRESHOLDS[1]])
    yield ("folded_cast", "thresholds of double that a Cast rounds when the graph is loaded", T.FLOAT, tenths,
           [node("Cast", "d", "t", to=T.FLOAT), node("Sub", "x t", "s"), node("GreaterOrEqual", "s zero", "above")] + COUNT,
           [f64("d", [0.1, 0.3, 0.7]), f32("zero", [0]), THRESHOLDS[1]])
    yield ("floor", "10 x is an integer in float and falls short of it in double", T.FLOAT, tenths,
           [node("Mul", "x ten", "z"), node("Floor", "z", "y")], [f32("ten", [10])])
    yield ("ceil", "likewise", T.FLOAT, tenths, [node("Mul", "x ten", "z"), node("Ceil", "z", "y")], [f32("ten", [10])])
    yield ("cast_int", "a Cast to int64 truncates, and its result picks a row of a table", T.FLOAT, tenths,
           [node("Mul", "x ten", "z"), node("Cast", "z", "i", to=T.INT64), node("Gather", "table i", "g", axis=0), node("Reshape", "g shape", "y")],
           [f32("ten", [10]), f32("table", list(range(0, 110, 10))), numpy_helper.from_array(np.array([-1, 1], np.int64), "shape")])
    yield ("mod", "a remainder jumps, too", T.FLOAT, tenths,
           [node("Mul", "x ten", "z"), node("Mod", "z one", "y", fmod=1)], [f32("ten", [10]), f32("one", [1])])
    yield ("argmax", "equal numbers: the first one wins", T.FLOAT, wide,
           [node("Mul", "x s", "z"), node("ArgMax", "z", "i", axis=1, keepdims=1), node("Cast", "i", "y", to=T.FLOAT)], [f32("s", [1, 3, 0.3])])
    yield ("seconds", "times in seconds: float holds one of 128", T.FLOAT, seconds, [node("Sub", "x c", "y")], [f32("c", [1.7e9])])
    yield ("seconds_cast", "likewise after a Cast", T.DOUBLE, seconds,
           [node("Cast", "x", "z", to=T.FLOAT), node("Sub", "z c", "y")], [f32("c", [1.7e9])])
    yield ("large_integers", "integers beyond 2^24 as float", T.INT64, large,
           [node("Cast", "x", "z", to=T.FLOAT), node("Sub", "z c", "y")], [f32("c", [2.0**24])])
    yield ("large_integers32", "likewise, int32", T.INT32, large,
           [node("Cast", "x", "z", to=T.FLOAT), node("Sub", "z c", "y")], [f32("c", [2.0**24])])
    yield ("vectorizer", "ai.onnx.ml.FeatureVectorizer makes float of double", T.DOUBLE, seconds,
           [h.make_node("FeatureVectorizer", ["x"], ["z"], domain="ai.onnx.ml", inputdimensions=[1]), node("Sub", "z c", "y")], [f32("c", [1.7e9])])
    yield ("scaler", "and so does ai.onnx.ml.Scaler", T.INT64, large,
           [h.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[2.0**24], scale=[1.0])], [])


def main():
    os.makedirs(OUT, exist_ok=True)
    rng = np.random.default_rng(20)
    listed = []
    for name, why, kind, rows, nodes, initializers in cases(rng):
        out = T.DOUBLE if name in ("double_thresholds", "both_ways") else T.FLOAT
        graph = h.make_graph(nodes, name, [h.make_tensor_value_info("x", kind, ["N", rows.shape[1]])],
                             [h.make_tensor_value_info("y", out, ["N", 1])], initializers)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
        onnx.checker.check_model(model)
        raw = model.SerializeToString()
        with open(os.path.join(OUT, name + ".onnx"), "wb") as f:
            f.write(raw)
        y = onnxruntime.InferenceSession(raw, providers=["CPUExecutionProvider"]).run(None, {"x": rows.astype(NUMPY[kind])})[0]
        listed.append({"name": name, "why": why, "rows": rows.tolist(), "want": y.astype(float).reshape(len(rows), -1).tolist()})
    provenance = {"script": "testdata/golden/ort_inputs.py", "seed": 20, "onnx": onnx.__version__,
                  "onnxruntime": onnxruntime.__version__, "numpy": np.__version__}
    with open(os.path.join(OUT, "cases.json"), "w") as f:
        json.dump({"provenance": provenance, "cases": listed}, f)
        f.write("\n")


main()
