"""Writes the networks of benchmarks/forward.sh: networks.py DIR.

mlp.onnx: 10-200-200-1. nam.onnx: eight feature networks 1-64-64-32-1, summed.
Made with the onnx package alone, as PyTorch exports them.
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


main(sys.argv[1])
