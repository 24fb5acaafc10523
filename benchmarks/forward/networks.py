"""Writes the networks of benchmarks/forward.sh: networks.py DIR.

mlp.onnx: 10-200-200-1. nam.onnx: eight feature networks 1-64-64-32-1, summed.
lstm.onnx: 16 steps of 8 numbers, 32 units, the last state. transformer.onnx: a token of
16 for each of 10 features, 4 heads, one layer. quantised.onnx: the MLP in QDQ form.
trees_6.onnx, trees_3.onnx: 100 trees of depth 6, 1,000 of depth 3, of 28 features.
Made with the onnx package alone, as PyTorch, ONNX Runtime and onnxmltools export them.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(1)


def layer(nodes, inits, x, widths, prefix):
    for i, (a, b) in enumerate(zip(widths[:-1], widths[1:])):
        w, c = f"{prefix}.{i}.weight", f"{prefix}.{i}.bias"
        inits.append(numpy_helper.from_array((rng.standard_normal((b, a)) / np.sqrt(a)).astype(np.float32), w))
        inits.append(numpy_helper.from_array(rng.standard_normal(b).astype(np.float32) / 10, c))
        nodes.append(helper.make_node("Gemm", [x, w, c], [f"{prefix}.{i}"], transB=1))
        x = f"{prefix}.{i}"
        if i < len(widths) - 2:
            nodes.append(helper.make_node("Relu", [x], [x + ".relu"]))
            x += ".relu"
    return x


def save(path, nodes, inits, out, inputs, opset=13):
    nodes.append(helper.make_node("Identity", [out], ["y"]))
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", inputs])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)])
    model.ir_version = 8
    onnx.save(model, path)


def constant(inits, name, value, dtype=np.float32):
    inits.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
    return name


def normal(inits, name, *shape, scale=1.0):
    return constant(inits, name, rng.standard_normal(shape) * scale)


def lstm(out):
    nodes, inits = [], []
    steps, width, units = 16, 8, 32
    constant(inits, "steps", [0, steps, width], np.int64)
    nodes.append(helper.make_node("Reshape", ["x", "steps"], ["rows"]))
    nodes.append(helper.make_node("Transpose", ["rows"], ["sequence"], perm=[1, 0, 2]))
    normal(inits, "W", 1, 4 * units, width, scale=1 / np.sqrt(width))
    normal(inits, "R", 1, 4 * units, units, scale=1 / np.sqrt(units))
    normal(inits, "B", 1, 8 * units, scale=0.1)
    nodes.append(helper.make_node("LSTM", ["sequence", "W", "R", "B"], ["", "last", ""], hidden_size=units))
    constant(inits, "direction", [0], np.int64)
    nodes.append(helper.make_node("Squeeze", ["last", "direction"], ["h"]))
    save(f"{out}/lstm.onnx", nodes, inits, layer(nodes, inits, "h", [units, 1], "head"), steps * width)


def transformer(out):
    nodes, inits = [], []
    features, width, heads = 10, 16, 4

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def affine(x, inputs, outputs, name):
        product = node("MatMul", [x, normal(inits, f"{name}.weight", inputs, outputs, scale=1 / np.sqrt(inputs))], f"{name}.product")
        return node("Add", [product, normal(inits, f"{name}.bias", outputs, scale=0.1)], name)

    def norm(x, name):
        return node("LayerNormalization", [x, constant(inits, f"{name}.scale", np.ones(width)), constant(inits, f"{name}.shift", np.zeros(width))], name)

    last = constant(inits, "last", [2], np.int64)
    split = constant(inits, "split", [0, features, heads, width // heads], np.int64)
    joined = constant(inits, "joined", [0, features, width], np.int64)
    token = node("Mul", [node("Unsqueeze", ["x", last], "column"), normal(inits, "token", features, width)], "scaled")
    token = node("Add", [token, normal(inits, "offset", features, width)], "tokens")
    parts = {}
    for name, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        part = node("Reshape", [affine(token, width, width, name), split], f"{name}.heads")
        parts[name] = node("Transpose", [part], f"{name}.first", perm=perm)
    scores = node("MatMul", [parts["query"], parts["key"]], "scores")
    scores = node("Mul", [scores, constant(inits, "scale", (width // heads) ** -0.5)], "scores.scaled")
    mixed = node("MatMul", [node("Softmax", [scores], "weights", axis=-1), parts["value"]], "mixed")
    mixed = node("Reshape", [node("Transpose", [mixed], "mixed.rows", perm=[0, 2, 1, 3]), joined], "mixed.joined")
    x = norm(node("Add", [token, affine(mixed, width, width, "attention")], "residual"), "norm")
    hidden = node("Relu", [affine(x, width, 4 * width, "wide")], "wide.relu")
    x = norm(node("Add", [x, affine(hidden, 4 * width, width, "narrow")], "residual2"), "norm2")
    pooled = node("ReduceMean", [x], "pooled", axes=[1], keepdims=0)
    save(f"{out}/transformer.onnx", nodes, inits, layer(nodes, inits, pooled, [width, 1], "head"), features, opset=17)


def trees(path, count, depth, features=28):
    leaves = 2**depth
    first = leaves - 1  # the inner nodes come first, level by level
    lists = {name: [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")}
    targets = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for t in range(count):
        for i in range(2 * leaves - 1):
            leaf = i >= first
            lists["treeids"].append(t)
            lists["nodeids"].append(i)
            lists["featureids"].append(0 if leaf else int(rng.integers(features)))
            lists["modes"].append("LEAF" if leaf else "BRANCH_LEQ")
            lists["values"].append(0.0 if leaf else float(np.float32(rng.uniform(-1, 1))))
            lists["truenodeids"].append(0 if leaf else 2 * i + 1)
            lists["falsenodeids"].append(0 if leaf else 2 * i + 2)
            if leaf:
                targets["treeids"].append(t)
                targets["nodeids"].append(i)
                targets["ids"].append(0)
                targets["weights"].append(float(rng.standard_normal() / count))
    attributes = {f"nodes_{k}": v for k, v in lists.items()} | {f"target_{k}": v for k, v in targets.items()}
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["sum"], domain="ai.onnx.ml", n_targets=1, **attributes)
    save(path, [node], [], "sum", features)


def quantised(out):
    nodes, inits = [], []
    widths, x = [10, 200, 200, 1], "x"

    def pair(x, scale, zero, name, dtype):
        constant(inits, f"{name}.scale", scale)
        constant(inits, f"{name}.zero", zero, dtype)
        nodes.append(helper.make_node("QuantizeLinear", [x, f"{name}.scale", f"{name}.zero"], [f"{name}.q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}.q", f"{name}.scale", f"{name}.zero"], [name]))
        return name

    for i, (a, b) in enumerate(zip(widths[:-1], widths[1:])):
        x = pair(x, [1 / 64, 1 / 24, 1 / 24][i], [128, 0, 0][i], f"x{i}", np.uint8)
        constant(inits, f"w{i}.q", np.clip(np.rint(rng.standard_normal((a, b)) * 40), -127, 127), np.int8)
        constant(inits, f"w{i}.scale", 1 / (40 * np.sqrt(a)))
        constant(inits, f"w{i}.zero", 0, np.int8)
        nodes.append(helper.make_node("DequantizeLinear", [f"w{i}.q", f"w{i}.scale", f"w{i}.zero"], [f"w{i}"]))
        nodes.append(helper.make_node("Gemm", [x, f"w{i}", normal(inits, f"b{i}", b, scale=0.1)], [f"h{i}"]))
        x = f"h{i}"
        if i < len(widths) - 2:
            nodes.append(helper.make_node("Relu", [x], [x + ".relu"]))
            x += ".relu"
    save(f"{out}/quantised.onnx", nodes, inits, x, widths[0])


def main(out):
    nodes, inits = [], []
    save(f"{out}/mlp.onnx", nodes, inits, layer(nodes, inits, "x", [10, 200, 200, 1], "mlp"), 10)
    nodes, inits, parts = [], [], []
    for j in range(8):
        for name, v in (("start", j), ("end", j + 1), ("axis", 1)):
            inits.append(numpy_helper.from_array(np.array([v], dtype=np.int64), f"{name}{j}"))
        nodes.append(helper.make_node("Slice", ["x", f"start{j}", f"end{j}", f"axis{j}"], [f"x{j}"]))
        parts.append(layer(nodes, inits, f"x{j}", [1, 64, 64, 32, 1], f"f{j}"))
    nodes.append(helper.make_node("Sum", parts, ["sum"]))
    save(f"{out}/nam.onnx", nodes, inits, "sum", 8)
    lstm(out)
    transformer(out)
    quantised(out)
    trees(f"{out}/trees_6.onnx", 100, 6)
    trees(f"{out}/trees_3.onnx", 1000, 3)


main(sys.argv[1])
