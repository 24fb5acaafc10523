"""Writes the networks of benchmarks/forward.sh: networks.py DIR.

NAME.onnx is in float32, NAME.f64.onnx the same network with the same weights in float64.
Each reads x, rows x columns, and computes y. Made with the onnx package alone, as PyTorch,
ONNX Runtime and onnxmltools export them. NAME.txt are the trees as LightGBM saves them.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trees import trees

rng = np.random.default_rng(1)


class Net:
    """A graph in the making; names of tensors are numbered."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, value, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype=dtype)
        return name

    def ints(self, *value):
        return self.constant(value, np.int64)

    def normal(self, *shape, scale=1.0):
        return self.constant(rng.standard_normal(shape) * scale)

    def node(self, op, *inputs, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}.{i}" if i == outputs - 1 else "" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[-1]

    def gemm(self, x, a, b):
        """What nn.Linear exports."""
        return self.node("Gemm", x, self.normal(b, a, scale=1 / np.sqrt(a)), self.normal(b, scale=0.1), transB=1)

    def affine(self, x, a, b):
        """What nn.Linear exports for tensors of three axes."""
        return self.node("Add", self.node("MatMul", x, self.normal(a, b, scale=1 / np.sqrt(a))), self.normal(b, scale=0.1))

    def column(self, x, j):
        return self.node("Slice", x, self.ints(j), self.ints(j + 1), self.ints(1))

    def layers(self, x, widths, activation=None):
        for i, (a, b) in enumerate(zip(widths[:-1], widths[1:])):
            x = self.gemm(x, a, b)
            if i < len(widths) - 2:
                x = (activation or relu)(self, x)
        return x

    def save(self, path, out, columns, outputs=1, opset=20, double=True):
        self.nodes.append(helper.make_node("Identity", [out], ["y"]))
        for suffix, kind, number in (("", TensorProto.FLOAT, np.float32), (".f64", TensorProto.DOUBLE, np.float64))[: 2 if double else 1]:
            inits = [numpy_helper.from_array(v.astype(number) if v.dtype == np.float32 else v, k) for k, v in self.constants.items()]
            graph = helper.make_graph(
                self.nodes, "net",
                [helper.make_tensor_value_info("x", kind, ["N", columns])],
                [helper.make_tensor_value_info("y", kind, ["N", outputs])], inits)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)])
            model.ir_version = 9
            onnx.save(model, f"{path}{suffix}.onnx")


def relu(net, x):
    return net.node("Relu", x)


def tanh(net, x):
    return net.node("Tanh", x)


def silu(net, x):
    return net.node("Mul", x, net.node("Sigmoid", x))


def gelu(net, x):
    return net.node("Gelu", x)


def gelu_spelled(net, x):
    """What PyTorch exported GELU as before opset 20."""
    erf = net.node("Erf", net.node("Div", x, net.constant(np.sqrt(2))))
    return net.node("Mul", net.node("Mul", x, net.node("Add", erf, net.constant(1))), net.constant(0.5))


def gelu_tanh(net, x):
    return net.node("Gelu", x, approximate="tanh")


def normed(widths):
    """Relu behind a batch norm whose channels are as wide as the layer."""
    left = iter(widths)

    def activation(net, x):
        n = next(left)
        channel = [net.constant(v) for v in (rng.uniform(0.5, 1.5, n), rng.normal(size=n) / 10, rng.normal(size=n) / 10, rng.uniform(0.5, 1.5, n))]
        return relu(net, net.node("BatchNormalization", x, *channel))

    return activation


def activations(out):
    for name, activation in (("tanh", tanh), ("silu", silu), ("gelu", gelu), ("gelu_spelled", gelu_spelled), ("gelu_tanh", gelu_tanh), ("batchnorm", normed([64, 32]))):
        net = Net()
        net.save(f"{out}/{name}", net.layers("x", [100, 64, 32, 1], activation), 100)
    net = Net()
    net.save(f"{out}/softmax", net.node("Softmax", net.layers("x", [100, 64, 32, 10]), axis=1), 100, outputs=10)


def additive(out, name, columns, widths):
    net = Net()
    net.save(f"{out}/{name}", net.node("Sum", *[net.layers(net.column("x", j), widths) for j in range(columns)]), columns)


def residual(out):
    net, width = Net(), 256
    x = relu(net, net.gemm("x", 30, width))
    for _ in range(3):
        x = net.node("Add", net.gemm(relu(net, net.gemm(x, width, width)), width, width), x)
    net.save(f"{out}/residual", net.gemm(x, width, 1), 30)


def embeddings(out):
    """20 numbers, and 10 columns of codes from 0 to 99 that become 8 numbers each."""
    net, parts = Net(), []
    parts.append(net.node("Slice", "x", net.ints(0), net.ints(20), net.ints(1)))
    codes = net.node("Cast", net.node("Slice", "x", net.ints(20), net.ints(30), net.ints(1)), to=TensorProto.INT64)
    for j in range(10):
        code = net.node("Gather", codes, net.constant(j, np.int64), axis=1)
        parts.append(net.node("Gather", net.normal(100, 8), code))
    x = net.node("Concat", *parts, axis=1)
    net.save(f"{out}/embeddings", net.layers(x, [100, 128, 64, 1]), 30)


def convolutions(out):
    """The NAM of 30 as grouped convolutions of kernel 1, and 8 sensors' 32 times by kernels
    of 5 and 3 within the sensor."""
    net, n = Net(), 30
    x = net.node("Unsqueeze", "x", net.ints(2))
    for a, b in ((1, 64), (64, 64), (64, 32)):
        x = relu(net, net.node("Conv", x, net.normal(n * b, a, 1, scale=1 / np.sqrt(a)), net.normal(n * b, scale=0.1), group=n, kernel_shape=[1]))
    x = net.node("Conv", x, net.normal(n, 32, 1, scale=1 / np.sqrt(32)), net.normal(n), group=n, kernel_shape=[1])
    net.save(f"{out}/grouped_nam", net.node("ReduceSum", x, net.ints(1), keepdims=0), n)
    net, n = Net(), 8
    x = net.node("Reshape", "x", net.ints(0, n, 32))
    for a, b, size in ((1, 8, 5), (8, 8, 3)):
        x = relu(net, net.node("Conv", x, net.normal(n * b, a, size, scale=1 / np.sqrt(a * size)), net.normal(n * b, scale=0.1), group=n, kernel_shape=[size], pads=[size // 2] * 2))
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    net.save(f"{out}/grouped_sensors", net.gemm(x, n * 8, 1), n * 32)


def lstm(out):
    net, steps, width, units = Net(), 16, 8, 32
    x = net.node("Transpose", net.node("Reshape", "x", net.ints(0, steps, width)), perm=[1, 0, 2])
    w = net.normal(1, 4 * units, width, scale=1 / np.sqrt(width))
    r = net.normal(1, 4 * units, units, scale=1 / np.sqrt(units))
    h = net.node("LSTM", x, w, r, net.normal(1, 8 * units, scale=0.1), outputs=2, hidden_size=units)
    net.save(f"{out}/lstm", net.gemm(net.node("Squeeze", h, net.ints(0)), units, 1), steps * width, opset=13, double=False)


def transformer(out):
    net, features, width, heads = Net(), 10, 16, 4

    def norm(x):
        return net.node("LayerNormalization", x, net.constant(np.ones(width)), net.constant(np.zeros(width)))

    split, joined = net.ints(0, features, heads, width // heads), net.ints(0, features, width)
    token = net.node("Mul", net.node("Unsqueeze", "x", net.ints(2)), net.normal(features, width))
    token = net.node("Add", token, net.normal(features, width))
    query, key, value = (net.node("Transpose", net.node("Reshape", net.affine(token, width, width), split), perm=perm)
                         for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    scores = net.node("Mul", net.node("MatMul", query, key), net.constant((width // heads) ** -0.5))
    mixed = net.node("MatMul", net.node("Softmax", scores, axis=-1), value)
    mixed = net.node("Reshape", net.node("Transpose", mixed, perm=[0, 2, 1, 3]), joined)
    x = norm(net.node("Add", token, net.affine(mixed, width, width)))
    x = norm(net.node("Add", x, net.affine(relu(net, net.affine(x, width, 4 * width)), 4 * width, width)))
    net.save(f"{out}/transformer", net.gemm(net.node("ReduceMean", x, axes=[1], keepdims=0), width, 1), features, opset=17, double=False)


def quantised(out):
    net, widths, x = Net(), [10, 200, 200, 1], "x"
    for i, (a, b) in enumerate(zip(widths[:-1], widths[1:])):
        scale, zero = net.constant([1 / 64, 1 / 24, 1 / 24][i]), net.constant([128, 0, 0][i], np.uint8)
        x = net.node("DequantizeLinear", net.node("QuantizeLinear", x, scale, zero), scale, zero)
        w = net.constant(np.clip(np.rint(rng.standard_normal((a, b)) * 40), -127, 127), np.int8)
        w = net.node("DequantizeLinear", w, net.constant(1 / (40 * np.sqrt(a))), net.constant(0, np.int8))
        x = net.node("Gemm", x, w, net.normal(b, scale=0.1))
        if i < len(widths) - 2:
            x = relu(net, x)
    net.save(f"{out}/quantised", x, widths[0], opset=13, double=False)


def main(out):
    for name, widths in (("mlp", [10, 200, 200, 1]), ("wide", [30, 512, 512, 256, 1])):
        net = Net()
        net.save(f"{out}/{name}", net.layers("x", widths), widths[0])
    additive(out, "nam", 8, [1, 64, 64, 32, 1])
    additive(out, "nam30", 30, [1, 64, 64, 32, 1])
    activations(out)
    residual(out)
    embeddings(out)
    convolutions(out)
    lstm(out)
    transformer(out)
    quantised(out)
    for count, depth in ((100, 6), (1000, 3)):
        net, (attributes, text) = Net(), trees(rng, count, depth, features=28)
        net.save(f"{out}/trees_{depth}", net.node("TreeEnsembleRegressor", "x", domain="ai.onnx.ml", n_targets=1, **attributes), 28, double=False)
        with open(f"{out}/trees_{depth}.txt", "w") as f:
            f.write(text)


main(sys.argv[1])
