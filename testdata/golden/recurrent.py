#!/usr/bin/env python3
"""Writes testdata/golden/recurrent/: random networks of one RNN, GRU or LSTM with what
ONNX Runtime makes of them, in every direction and layout, with and without each optional
input, with activations, clip and the other attributes, on sequences of several lengths.

Run from anywhere with onnx and onnxruntime (PyPI):
    python3 testdata/golden/recurrent.py
"""
import json
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recurrent")
ROWS, STEPS, IN, HIDDEN = 4, 5, 3, 4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
DIRECTIONS = ("forward", "reverse", "bidirectional")
# Two functions have no default of alpha and beta; that of ThresholdedRelu is 1 in the standard and
# 0 in ONNX Runtime. Each function with the alpha and beta that it takes.
ACTIVATIONS = {"Relu": "", "Tanh": "", "Sigmoid": "", "Softsign": "", "Softplus": "", "LeakyRelu": "a", "ThresholdedRelu": "a",
               "Elu": "a", "HardSigmoid": "ab", "ScaledTanh": "ab", "Affine": "ab"}


def network(rng, op, direction, rows_first, options):
    """A model, its inputs and which axis of each holds the rows."""
    dirs = 2 if direction == "bidirectional" else 1
    gates = GATES[op]
    f32 = np.float32
    scale = 0.2 if "activations" in options else 0.6  # unbounded gates grow
    weight = lambda *shape: (scale * rng.standard_normal(shape)).astype(f32)
    constants = {"w": weight(dirs, gates * HIDDEN, IN), "r": weight(dirs, gates * HIDDEN, HIDDEN)}
    names = ["x", "w", "r"]
    attributes = {"hidden_size": HIDDEN, "direction": direction}
    x = rng.standard_normal((ROWS, STEPS, IN) if rows_first else (STEPS, ROWS, IN)).astype(f32)
    inputs, axes = {"x": x}, {"x": 0 if rows_first else 1}

    def optional(name, given):
        names.append(name if given else "")

    optional("b", "bias" in options)
    constants["b"] = weight(dirs, 2 * gates * HIDDEN)
    optional("lengths", "lengths" in options)
    inputs["lengths"], axes["lengths"] = rng.integers(0, STEPS + 1, ROWS).astype(np.int32), 0
    optional("h0", "state" in options)
    state = lambda: rng.standard_normal((ROWS, dirs, HIDDEN) if rows_first else (dirs, ROWS, HIDDEN)).astype(f32)
    inputs["h0"], axes["h0"] = state(), axes["x"]
    if op == "LSTM":
        optional("c0", "memory" in options)
        inputs["c0"], axes["c0"] = state(), axes["x"]
        optional("p", "peepholes" in options)
        constants["p"] = weight(dirs, 3 * HIDDEN)
    if "clip" in options:
        attributes["clip"] = 0.4
    if "coupled" in options:
        attributes["input_forget"] = 1
    if "after" in options:
        attributes["linear_before_reset"] = 1
    if rows_first:
        attributes["layout"] = 1
    if "activations" in options:
        known = [a for a in sorted(ACTIVATIONS) if "defaults" not in options or a not in ("Affine", "ScaledTanh", "ThresholdedRelu")]
        picked = list(rng.choice(known, dirs * FUNCTIONS[op]))
        attributes["activations"] = [str(a) for a in picked]
        for letter, name in ("a", "activation_alpha"), ("b", "activation_beta"):
            numbers = [float(f32(rng.uniform(0.1, 0.9))) for a in picked if letter in ACTIVATIONS[a]]
            if numbers and "defaults" not in options:
                attributes[name] = numbers
    outputs = ["y", "yh"] + (["yc"] if op == "LSTM" else [])
    node = helper.make_node(op, names, outputs, **attributes)
    inputs = {n: v for n, v in inputs.items() if n in names}
    info = []
    for n, v in inputs.items():
        shape = list(v.shape)
        shape[axes[n]] = "N"
        info.append(helper.make_tensor_value_info(n, TensorProto.INT32 if n == "lengths" else TensorProto.FLOAT, shape))
    graph = helper.make_graph([node], "g", info, [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
                              [numpy_helper.from_array(v, n) for n, v in constants.items() if n in names])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14 if rows_first else 11)], ir_version=8), inputs, axes


def cases():
    """Every option at least once with each direction; layout 1 too, which ONNX Runtime
    has not: the script exchanges the axes for it."""
    for op in GATES:
        own = {"RNN": [], "GRU": [["after"], ["after", "bias", "clip", "lengths"]],
               "LSTM": [["memory"], ["peepholes"], ["coupled"], ["peepholes", "coupled", "clip", "bias"], ["bias", "state", "memory", "peepholes", "lengths"]]}[op]
        for direction in DIRECTIONS:
            for options in [[], ["bias"], ["state"], ["lengths", "bias"], ["clip", "bias"], ["activations"], ["activations", "defaults", "bias"],
                            ["bias", "state", "lengths", "clip"]] + own:
                yield op, direction, options


def run(model, inputs):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def flat(v):
    return [int(x) for x in v.flatten()] if v.dtype == np.int32 else [float("%.9g" % x) for x in v.flatten()]


def write(out, seed, every):
    os.makedirs(out, exist_ok=True)
    for old in os.listdir(out):
        os.remove(os.path.join(out, old))
    index = []
    for i, (op, direction, options) in enumerate(cases()):
        model, inputs, axes = network(np.random.default_rng([seed, i]), op, direction, False, options)
        wanted = run(model, inputs)
        if i % every:
            continue
        swapped = i % (3 * every) == 0  # the same with the rows first
        if swapped:
            model, _, _ = network(np.random.default_rng([seed, i]), op, direction, True, options)
            constants = {t.name: t for t in model.graph.initializer}
            old, _, _ = network(np.random.default_rng([seed, i]), op, direction, False, options)
            for t in old.graph.initializer:
                constants[t.name].CopyFrom(t)
            inputs = {n: np.swapaxes(v, 0, 1) if v.ndim == 3 else v for n, v in inputs.items()}
            wanted = [wanted[0].transpose(2, 0, 1, 3)] + [np.swapaxes(v, 0, 1) for v in wanted[1:]]
        name = "_".join([op.lower(), direction] + options + (["rows_first"] if swapped else []))
        with open(os.path.join(out, name + ".onnx"), "wb") as f:
            f.write(model.SerializeToString())
        tensor = lambda v, axis: {"shape": list(v.shape), "axis": axis, "values": flat(v)}
        index.append({"name": name,
                      "inputs": [tensor(v, 0 if v.ndim == 1 or swapped else 1) for v in inputs.values()],
                      "outputs": [tensor(v, 0 if swapped else v.ndim - 2) for v in wanted]})
    with open(os.path.join(out, "cases.json"), "w") as f:
        f.write('{"onnx": "%s", "onnxruntime": "%s", "seed": %d, "cases": [\n' % (onnx.__version__, onnxruntime.__version__, seed))
        f.write(",\n".join(json.dumps(c) for c in index))
        f.write("\n]}\n")
    print(len(index), "cases")


if __name__ == "__main__":
    write(OUT, 13, 1)
