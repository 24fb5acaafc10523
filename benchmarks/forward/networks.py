"""Writes the networks of benchmarks/forward.sh: networks.py DIR.

mlp.onnx: 10-200-200-1. nam.onnx: eight feature networks 1-64-64-32-1, summed.
Made with the onnx package alone, as PyTorch exports them. trees100x6.onnx and
trees1000x3.onnx: that many complete trees of that depth on 28 features, with NaN at the
right child, as boosting libraries export them.
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


def save(path, nodes, inits, out, inputs):
    nodes.append(helper.make_node("Identity", [out], ["y"]))
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", inputs])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])], inits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)


def trees(path, count, depth, features):
    inner, nodes = 2**depth - 1, 2**(depth + 1) - 1
    branch = np.arange(nodes) < inner
    every = np.tile(branch, count)
    ids = np.tile(np.arange(nodes), count)
    owner = np.repeat(np.arange(count), nodes)
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1,
        nodes_treeids=owner, nodes_nodeids=ids, nodes_featureids=np.where(every, rng.integers(features, size=len(ids)), 0),
        nodes_modes=["BRANCH_LEQ" if b else "LEAF" for b in every], nodes_values=np.where(every, rng.uniform(-1, 1, len(ids)), 0).astype(np.float32),
        nodes_truenodeids=np.where(every, 2 * ids + 1, 0), nodes_falsenodeids=np.where(every, 2 * ids + 2, 0), nodes_missing_value_tracks_true=np.zeros(len(ids), int),
        target_treeids=owner[~every], target_nodeids=ids[~every], target_ids=0 * ids[~every], target_weights=(rng.standard_normal((~every).sum()) / np.sqrt(count)).astype(np.float32))
    graph = helper.make_graph([node], "trees", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", features])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 3)])
    model.ir_version = 8
    onnx.save(model, path)


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
    trees(f"{out}/trees100x6.onnx", 100, 6, 28)
    trees(f"{out}/trees1000x3.onnx", 1000, 3, 28)


main(sys.argv[1])
