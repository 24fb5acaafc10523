#!/usr/bin/env python3
"""Writes testdata/golden/recurrent_bytes/: random networks of one DynamicQuantizeLSTM of ONNX
Runtime, which are those of recurrent.py with weights of bytes, and what it makes of each row
alone: in a batch it quantises by the range of all rows.

Run from anywhere with onnx and onnxruntime (PyPI):
    python3 testdata/golden/recurrent_bytes.py
"""
import json
import os

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from recurrent import DIRECTIONS, ROWS, flat, network, run

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recurrent_bytes")
# "columns": a scale and zero point for each column, of which ONNX Runtime takes equal ones; "unsigned": uint8.
OPTIONS = [["bias"], ["columns"], ["unsigned", "bias"], ["columns", "unsigned", "state", "memory"], ["lengths", "bias", "state"], ["peepholes", "coupled", "clip", "bias"]]


def quantised(rng, model, options):
    """The model with weights [directions, k, 4 hidden] of bytes."""
    dtype = np.uint8 if "unsigned" in options else np.int8
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    graph, node = model.graph, model.graph.node[0]
    names = list(node.input) + [""] * (8 - len(node.input))
    for at, name in (1, "w"), (2, "r"):
        weight = next(t for t in graph.initializer if t.name == name)
        v = np.swapaxes(numpy_helper.to_array(weight), 1, 2)
        shape = (v.shape[0], v.shape[2]) if "columns" in options else (v.shape[0],)
        zero = np.full(shape, rng.integers(100, 156) if dtype == np.uint8 else 0, dtype)
        scale = rng.uniform(0.008, 0.012, shape).astype(np.float32)
        every = (slice(None), None) if "columns" in options else (slice(None), None, None)
        graph.initializer.remove(weight)
        graph.initializer.extend([numpy_helper.from_array(np.clip(np.round(v / scale[every]) + zero[every], low, high).astype(dtype), name),
                                  numpy_helper.from_array(scale, name + "_scale"), numpy_helper.from_array(zero, name + "_zero")])
        names += [name + "_scale", name + "_zero"]
    del node.input[:]
    node.input.extend(names)
    node.op_type, node.domain = "DynamicQuantizeLSTM", "com.microsoft"
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def alone(model, inputs):
    parts = [run(model, {n: v[r:r + 1] if v.ndim == 1 else v[:, r:r + 1] for n, v in inputs.items()}) for r in range(ROWS)]
    return [np.concatenate(p, axis=p[0].ndim - 2) for p in zip(*parts)]


def write():
    os.makedirs(OUT, exist_ok=True)
    for old in os.listdir(OUT):
        os.remove(os.path.join(OUT, old))
    index = []
    for i, (direction, options) in enumerate((d, o) for d in DIRECTIONS for o in OPTIONS):
        rng = np.random.default_rng([17, i])
        model, inputs, _ = network(rng, "LSTM", direction, False, options)
        model = quantised(rng, model, options)
        name = "_".join([direction] + options)
        with open(os.path.join(OUT, name + ".onnx"), "wb") as f:
            f.write(model.SerializeToString())
        tensor = lambda v, axis: {"shape": list(v.shape), "axis": axis, "values": flat(v)}
        index.append({"name": name, "inputs": [tensor(v, 0 if v.ndim == 1 else 1) for v in inputs.values()],
                      "outputs": [tensor(v, v.ndim - 2) for v in alone(model, inputs)]})
    with open(os.path.join(OUT, "cases.json"), "w") as f:
        f.write('{"onnx": "%s", "onnxruntime": "%s", "cases": [\n' % (onnx.__version__, onnxruntime.__version__))
        f.write(",\n".join(json.dumps(c) for c in index))
        f.write("\n]}\n")
    print(len(index), "cases")


if __name__ == "__main__":
    write()
