"""What people have in files and no exporter at hand writes: early and late opsets,
functions, control flow, sparse weights, text, the tree operator of ai.onnx.ml 5."""
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper, parser

from zoo import ROWS, Zoo, rows

zoo = Zoo("handmade")
X = rows(np.random.default_rng(4), 4)
RNG = np.random.default_rng(2)


def weights(**arrays):
    return [numpy_helper.from_array(np.asarray(a, a.dtype if hasattr(a, "dtype") else np.float32), n) for n, a in arrays.items()]


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def network(name, why, text, feeds=None, opset=17, ml=3, ir=8, tolerance=None, axis=0, **constants):
    """text: the graph and functions in ONNX's textual form."""
    def make():
        proto = parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {opset}, "ai.onnx.ml" : {ml}, "local" : 1]>\n{text}')
        proto.graph.initializer.extend(weights(**constants))
        used = {n.domain for n in proto.graph.node} | {n.domain for f in proto.functions for n in f.node}
        for o in [o for o in proto.opset_import if o.domain and o.domain not in used]:
            proto.opset_import.remove(o)
        onnx.checker.check_model(proto)
        zoo.add(name, proto, feeds or {"x": X}, why, tolerance, seed=4, axis=axis)
    zoo.attempt(name, make)


W, V = normal(4, 5), normal(5, 1)
for opset in (7, 8):
    network(f"opset_{opset}", f"opset {opset}: Dropout with a mask, BatchNormalization with spatial",
            "g (float[N,4] x) => (float[N,1] y) { h = MatMul(x, w) b = BatchNormalization(h, s, o, m, v) r = Relu(b) d, mask = Dropout(r) y = MatMul(d, u) }",
            opset=opset, ir=4, w=W, u=V, s=normal(5), o=normal(5), m=normal(5), v=np.abs(normal(5)))
network("function", "a function of the model, as onnxscript writes it",
        """g (float[N,4] x) => (float[N,1] y) { h = MatMul(x, w) a = local.act(h) y = MatMul(a, u) }
        <domain: "local", opset_import: ["" : 17]> act (z) => (r) { s = Sigmoid(z) r = Mul(z, s) }""", w=W, u=V)
network("if_constant", "If on a flag of the network, weights of the outer graph",
        """g (float[N,4] x) => (float[N,1] y) { h = MatMul(x, w)
        a = If(flag) <then_branch = t () => (float[N,5] p) { p = Relu(h) }, else_branch = e () => (float[N,5] q) { q = Tanh(h) }> y = MatMul(a, u) }""",
        w=W, u=V, flag=np.array(True))
network("loop", "Loop of three steps",
        """g (float[N,4] x) => (float[N,4] y) { y = Loop(trips, go, x) <body = b (int64 i, bool c, float[N,4] z) => (bool c2, float[N,4] z2)
        { c2 = Identity(c) m = MatMul(z, w) t = Tanh(m) z2 = Add(z, t) }> }""", trips=np.array(3), go=np.array(True), w=normal(4, 4) * 0.3)
network("loop_scan", "Loop that collects what each step gives",
        """g (float[N,4] x) => (float[N,4] y) { last, all = Loop(trips, go, x) <body = b (int64 i, bool c, float[N,4] z) => (bool c2, float[N,4] z2, float[N,4] each)
        { c2 = Identity(c) m = MatMul(z, w) z2 = Tanh(m) each = Identity(z2) }> y = ReduceMean <axes = [0], keepdims = 0> (all) }""",
        trips=np.array(3), go=np.array(True), w=normal(4, 4) * 0.5)
network("scan", "Scan over the steps of a series",
        """g (float[N,5,3] x) => (float[N,1] y) { s = Transpose <perm = [1,0,2]> (x) z0 = Slice(s, zero, one, zero) z1 = Squeeze(z0, zero) h0 = MatMul(z1, v0)
        h, each = Scan <num_scan_inputs = 1, body = b (float[N,4] h1, float[N,3] e) => (float[N,4] h2, float[N,4] o) { a = MatMul(e, v) c = MatMul(h1, w) d = Add(a, c) h2 = Tanh(d) o = Identity(h2) }> (h0, s)
        y = MatMul(h, u) }""",
        {"x": np.round(np.random.default_rng(4).standard_normal((ROWS, 5, 3)), 3).astype(np.float32)},
        v0=np.zeros((3, 4), np.float32), v=normal(3, 4), w=normal(4, 4), u=normal(4, 1), zero=np.array([0]), one=np.array([1]))
network("lstm_time_major", "the batch axis is the second: [steps, N, features], as ONNX's LSTM wants it",
        """g (float[5,N,3] x) => (float[1,N,4] y) { all, y, c = LSTM <hidden_size = 4> (x, w, r, b) }""",
        {"x": np.round(np.random.default_rng(4).standard_normal((5, ROWS, 3)), 3).astype(np.float32)}, axis=1, w=normal(1, 16, 3), r=normal(1, 16, 4), b=normal(1, 32))
network("text_labels", "text to codes by LabelEncoder, and an embedding",
        """g (string[N,1] city, float[N,4] x) => (float[N,1] y) { c = ai.onnx.ml.LabelEncoder <keys_strings = ["Bonn", "Ulm", "Aachen"], values_int64s = [0, 1, 2], default_int64 = 3> (city)
        e = Gather <axis = 0> (table, c) f = Flatten(e) h = MatMul(x, w) r = Relu(h) z = MatMul(r, u) k = MatMul(f, t) y = Add(z, k) }""",
        {"city": np.resize(np.array(["Bonn", "Ulm", "Aachen", "Kiel"], object), (ROWS, 1)), "x": X}, w=W, u=V, table=normal(4, 2), t=normal(2, 1))
network("text_equal", "text compared in the graph",
        """g (string[N,1] city) => (float[N,1] y) { i = Equal(city, names) f = Cast <to = 1> (i) y = MatMul(f, u) }""",
        {"city": np.resize(np.array(["Bonn", "Ulm", "Kiel"], object), (ROWS, 1))}, opset=19, ir=9, names=np.array(["Bonn", "Ulm"], object), u=normal(2, 1))
network("codes_onehot", "OneHotEncoder and CategoryMapper of ai.onnx.ml",
        """g (string[N,1] city) => (float[N,3] y) { c = ai.onnx.ml.CategoryMapper <cats_int64s = [3, 5, 7], cats_strings = ["Bonn", "Ulm", "Kiel"], default_int64 = -1> (city)
        o = ai.onnx.ml.OneHotEncoder <cats_int64s = [3, 5, 7], zeros = 1> (c) y = Squeeze(o, one) }""",
        {"city": np.resize(np.array(["Bonn", "Ulm", "Kiel", "Aachen"], object), (ROWS, 1))}, one=np.array([1]))
network("integers", "sums and products of integers", "g (int64[N,3] k) => (float[N,1] y) { s = ReduceSum(k, axes) m = ReduceMax <axes = [1]> (k) a = Mul(s, m) c = Mod(a, seven) y = Cast <to = 1> (c) }",
        {"k": RNG.integers(-9, 9, (ROWS, 3))}, axes=np.array([1]), seven=np.array([7]))
network("gather_nd", "GatherND by constant indices, batch_dims 1", "g (float[N,4] x, int64[N,1] at) => (float[N] y) { y = GatherND <batch_dims = 1> (x, at) }",
        {"x": X, "at": RNG.integers(0, 4, (ROWS, 1))})
network("bytes", "inputs of uint8 and bool", "g (uint8[N,4] k, bool[N,1] b) => (float[N,1] y) { f = Cast <to = 1> (k) z = MatMul(f, w) n = Cast <to = 1> (b) y = Add(z, n) }",
        {"k": RNG.integers(0, 255, (ROWS, 4)).astype(np.uint8), "b": RNG.integers(0, 2, (ROWS, 1)).astype(bool)}, w=normal(4, 1))
network("nonfinite", "IsNaN and IsInf", "g (float[N,4] x) => (float[N,1] y) { n = IsNaN(x) i = IsInf(x) b = Or(n, i) w = Where(b, zero, x) y = ReduceSum(w, axes) }",
        {"x": np.where(np.eye(ROWS, 4, dtype=bool), np.float32(np.nan), np.where(np.eye(ROWS, 4, k=-1, dtype=bool), np.float32(np.inf), X))}, zero=np.array(0, np.float32), axes=np.array([1]))
network("norm_23", "RMSNormalization of opset 23", "g (float[N,4] x) => (float[N,1] y) { h = RMSNormalization <axis = -1> (x, s) y = MatMul(h, w) }", opset=23, ir=10, s=normal(4), w=normal(4, 1))
network("attention_23", "Attention of opset 23", """g (float[N,5,4] x) => (float[N,5,4] y) { q = MatMul(x, a) k = MatMul(x, b) v = MatMul(x, c) y = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v) }""",
        {"x": np.round(np.random.default_rng(4).standard_normal((ROWS, 5, 4)), 3).astype(np.float32)}, opset=23, ir=10, a=normal(4, 4), b=normal(4, 4), c=normal(4, 4))
network("swish_24", "Swish of opset 24", "g (float[N,4] x) => (float[N,1] y) { h = MatMul(x, w) s = Swish <alpha = 1.5> (h) y = MatMul(s, u) }", opset=24, ir=11, w=W, u=V)
network("sequence", "columns put into a sequence and taken out, as scripting writes lists",
        "g (float[N,4] x) => (float[N,2] y) { a, b = Split <axis = 1> (x, sizes) s = SequenceConstruct(a, b) y = SequenceAt(s, one) }", sizes=np.array([2, 2]), one=np.array(1))


def sparse():
    """Weights of which most are 0, as sparse initializers."""
    w = np.zeros((4, 5), np.float32)
    w[[0, 1, 3], [1, 4, 0]] = [1.5, -2, 0.5]
    at = np.flatnonzero(w)
    graph = h.make_graph([h.make_node("MatMul", ["x", "w"], ["h"]), h.make_node("Relu", ["h"], ["r"]), h.make_node("ReduceSum", ["r", "axes"], ["y"])], "sparse",
                         [h.make_tensor_value_info("x", T.FLOAT, ["N", 4])], [h.make_tensor_value_info("y", T.FLOAT, ["N", 1])], weights(axes=np.array([1])),
                         sparse_initializer=[h.make_sparse_tensor(numpy_helper.from_array(w.ravel()[at], "w"), numpy_helper.from_array(at.astype(np.int64), "w_at"), w.shape)])
    zoo.add("sparse", h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), {"x": X}, "sparse weights", seed=4)


def trees():
    """TreeEnsemble of ai.onnx.ml 5: two stumps and a tree of depth two, ties at thresholds."""
    node = h.make_node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, aggregate_function=1, post_transform=0,
                       tree_roots=[0, 1, 2], nodes_featureids=[0, 1, 2, 3], nodes_modes=numpy_helper.from_array(np.array([0, 1, 2, 0], np.uint8), "modes"),
                       nodes_splits=numpy_helper.from_array(np.array([0.5, -0.25, 1, 5], np.float32), "splits"),
                       nodes_truenodeids=[0, 2, 3, 5], nodes_trueleafs=[1, 1, 0, 1], nodes_falsenodeids=[1, 3, 4, 6], nodes_falseleafs=[1, 1, 1, 1],
                       leaf_targetids=[0] * 7, leaf_weights=numpy_helper.from_array(np.array([0.1, -0.2, 0.3, 0.4, 1.5, -2, 0.7], np.float32), "weights"))
    graph = h.make_graph([node], "trees", [h.make_tensor_value_info("x", T.FLOAT, ["N", 4])], [h.make_tensor_value_info("y", T.FLOAT, ["N", 1])])
    x = X.copy()
    x[0], x[1] = [0.5, -0.25, 1, 5], [0.50001, -0.2501, 1.0001, 5.0001]
    zoo.add("trees_5", h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("ai.onnx.ml", 5)], ir_version=10), {"x": x}, "TreeEnsemble of ai.onnx.ml 5", seed=4)


def trees_double():
    """TreeEnsembleRegressor with thresholds of double."""
    def f64(v):
        return numpy_helper.from_array(np.array(v, np.float64))
    node = h.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0],
                       nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values_as_tensor=f64([0.1, 0, 0]), nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
                       target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights_as_tensor=f64([1.25, -0.5]))
    graph = h.make_graph([node], "trees", [h.make_tensor_value_info("x", T.DOUBLE, ["N", 4])], [h.make_tensor_value_info("y", T.FLOAT, ["N", 1])])
    x = X.astype(np.float64)
    x[:3, 1] = [0.1, np.nextafter(0.1, 1), np.float64(np.float32(0.1))]
    zoo.add("trees_double", h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("ai.onnx.ml", 3)], ir_version=8), {"x": x}, "thresholds of double, rows that float would not tell apart", seed=4)


def bfloat16():
    """Weights of bfloat16 that the graph casts."""
    w = h.make_tensor("w", T.BFLOAT16, [4, 5], normal(20)), h.make_tensor("u", T.BFLOAT16, [5, 1], normal(5))
    nodes = [h.make_node("Cast", ["w"], ["wf"], to=T.FLOAT), h.make_node("MatMul", ["x", "wf"], ["h"]), h.make_node("Relu", ["h"], ["r"]),
             h.make_node("Cast", ["u"], ["uf"], to=T.FLOAT), h.make_node("MatMul", ["r", "uf"], ["y"])]
    graph = h.make_graph(nodes, "bfloat16", [h.make_tensor_value_info("x", T.FLOAT, ["N", 4])], [h.make_tensor_value_info("y", T.FLOAT, ["N", 1])], w)
    zoo.add("bfloat16", h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), {"x": X}, "weights of bfloat16 that the graph casts", seed=4)


zoo.attempt("sparse", sparse)
zoo.attempt("trees_5", trees)
zoo.attempt("trees_double", trees_double)
zoo.attempt("bfloat16", bfloat16)
zoo.close()
