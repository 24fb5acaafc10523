"""Ensembles of trees with ONNX Runtime's answers: trees.json.gz.

Tables of the cases that the definition leaves open (two classes with one sum, base
values, targets without a leaf) and random ensembles of every mode of node, with missing
values, as exporters do not write them.
"""
import base64
import gzip
import json
import os

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
KINDS = {"float": (T.FLOAT, "f4"), "double": (T.DOUBLE, "f8"), "int64": (T.INT64, "i8"), "int32": (T.INT32, "i4")}
cases = []


def add(name, node, kind, x, outputs):
    code, dtype = KINDS[kind]
    graph = h.make_graph([node], "g", [h.make_tensor_value_info("x", code, ["N", x.shape[1]])], outputs)
    opsets = [h.make_opsetid("", 21), h.make_opsetid("ai.onnx.ml", 5 if node.op_type == "TreeEnsemble" else 3)]
    model = h.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    answers = session.run(None, {"x": x.astype(dtype)})
    listed = lambda a: ["NaN" if v != v else "Inf" if v == np.inf else "-Inf" if v == -np.inf else v for v in a.astype("f8").ravel().tolist()]
    cases.append({"name": name, "rows": len(x), "model": base64.b64encode(model).decode(), "input": listed(x.astype(dtype)),
                  "outputs": {o.name: listed(a) for o, a in zip(outputs, answers)}})


def single(weights, base, transform, count, classes):
    """One split at 0 with the given weights: (leaf, class, weight)."""
    what = "class" if classes else "target"
    a = dict(nodes_treeids=[0] * 3, nodes_nodeids=[0, 1, 2], nodes_featureids=[0] * 3, nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
             nodes_values=[0.0] * 3, nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], post_transform=transform)
    a |= {what + "_treeids": [0] * len(weights), what + "_nodeids": [w[0] for w in weights], what + "_ids": [w[1] for w in weights], what + "_weights": [float(w[2]) for w in weights]}
    if base:
        a["base_values"] = [float(b) for b in base]
    y = h.make_tensor_value_info("y", T.FLOAT, ["N", count])
    if not classes:
        return h.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=count, **a), [y]
    label = h.make_tensor_value_info("label", T.INT64, ["N"])
    return h.make_node("TreeEnsembleClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml", classlabels_int64s=[5, 7, 9][:count], **a), [label, y]


def table():
    x = np.array([[-1.0], [1.0]])
    two = {"first, positive": [(1, 0, .3), (2, 0, .8)], "second, positive": [(1, 1, .3), (2, 1, .8)], "first, mixed": [(1, 0, -.3), (2, 0, .8)],
           "second, mixed": [(1, 1, -.3), (2, 1, .8)], "both": [(1, 0, .7), (1, 1, .3), (2, 0, .2), (2, 1, .8)], "both, mixed": [(1, 0, -.7), (1, 1, -.3), (2, 0, .2), (2, 1, .8)],
           "second sometimes": [(1, 0, .7), (2, 0, .2), (2, 1, .8)], "first sometimes": [(1, 1, .7), (2, 0, .2), (2, 1, .8)]}
    three = {"three": [(1, 0, .3), (2, 0, .8), (1, 1, .4), (2, 1, .05), (1, 2, .1), (2, 2, -.1)], "third never": [(1, 0, -.3), (2, 0, -.8), (1, 1, -.4), (2, 1, -.05)],
             "third sometimes": [(1, 0, -.3), (2, 0, -.8), (1, 1, -.4), (2, 1, -.05), (2, 2, -.01)]}
    for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"):
        for name, w in two.items():
            for base in ([], [.1], [.1, .25]):
                if transform == "PROBIT" and name in ("first, positive", "first, mixed", "second sometimes") or name == "second sometimes" and len(base) == 1:
                    continue  # ONNX Runtime leaves the second score unset
                add(f"classes {transform} {name} {base}", *split(single(w, base, transform, 2, True), x))
        for name, w in three.items():
            for base in ([], [.1, .2, .3]):
                add(f"classes {transform} {name} {base}", *split(single(w, base, transform, 3, True), x))
        for base in ([], [.1]):
            add(f"target {transform} {base}", *split(single([(1, 0, .3), (2, 0, .8)], base, transform, 1, False), x))
        for base in ([], [.1, .2]):
            for name, w in {"both": [(1, 0, .3), (2, 0, .8), (1, 1, .1), (2, 1, .05)], "never": [(1, 0, .3), (2, 0, .8)], "sometimes": [(1, 0, .3), (2, 0, .8), (1, 1, .1)]}.items():
                add(f"targets {transform} {name} {base}", *split(single(w, base, transform, 2, False), x))


def split(node_outputs, x):
    node, outputs = node_outputs
    return node, "float", x, outputs


def inputs(rng, kind, rows, features):
    x = np.round(rng.standard_normal((rows, features)) * 2, 0 if kind.startswith("int") else 1)
    if not kind.startswith("int"):
        x[rng.random(x.shape) < 0.1] = np.nan
        x[0, 0], x[1, 1] = np.inf, -np.inf
    return x


def shape(rng, depth):
    """A random tree: (feature, value, true, false), or None for a leaf."""
    if depth == 0 or rng.random() < 0.15:
        return None
    return (int(rng.integers(4)), float(np.round(rng.standard_normal() * 2, 1)), shape(rng, depth - 1), shape(rng, depth - 1))


def random_old(seed, kind, modes, targets, aggregate, tensors):
    rng = np.random.default_rng(seed)
    keys = "nodes_treeids nodes_nodeids nodes_featureids nodes_modes nodes_values nodes_truenodeids nodes_falsenodeids nodes_missing_value_tracks_true target_treeids target_nodeids target_ids target_weights".split()
    a = {k: [] for k in keys}

    def grow(tree, node, at):
        i = len([t for t in a["nodes_treeids"] if t == tree])
        for k, v in zip(keys[:8], (tree, i, at[0] if at else 0, rng.choice(modes) if at else "LEAF", at[1] if at else 0.0, 0, 0, int(rng.integers(2)))):
            a[k].append(v)
        here = len(a["nodes_treeids"]) - 1
        if at is None:
            for t in range(targets):
                a["target_treeids"].append(tree), a["target_nodeids"].append(i), a["target_ids"].append(t), a["target_weights"].append(float(rng.standard_normal()))
            return i
        a["nodes_truenodeids"][here] = grow(tree, None, at[2])
        a["nodes_falsenodeids"][here] = grow(tree, None, at[3])
        return i

    for tree in range(7):
        grow(tree, None, shape(rng, 5))
    a["base_values"] = [float(v) for v in rng.standard_normal(targets)]
    if tensors:
        for k in ("nodes_values", "target_weights", "base_values"):
            a[k + "_as_tensor"] = numpy_helper.from_array(np.array(a.pop(k)), k)
    node = h.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=targets, aggregate_function=aggregate, **a)
    add(f"{kind} {'+'.join(modes)} {targets} {aggregate}", node, kind, inputs(rng, kind, 24, 4), [h.make_tensor_value_info("y", T.FLOAT, ["N", targets])])


def random_five(seed, kind, aggregate, targets):
    rng = np.random.default_rng(seed)
    names = "nodes_featureids nodes_splits nodes_modes nodes_truenodeids nodes_falsenodeids nodes_trueleafs nodes_falseleafs nodes_missing_value_tracks_true".split()
    a, members, leaves, roots = {k: [] for k in names}, [], [], []

    def leaf():
        leaves.append((int(rng.integers(targets)), float(rng.standard_normal())))
        return len(leaves) - 1

    def grow(at):
        if at is None:
            return leaf(), 1
        here, mode = len(a["nodes_modes"]), int(rng.integers(7))
        for k, v in zip(names, (at[0], at[1], mode, 0, 0, 0, 0, int(rng.integers(2)))):
            a[k].append(v)
        if mode == 6:
            members.append([float(v) for v in rng.choice(np.arange(-3, 4), 3, replace=False)])
        a["nodes_truenodeids"][here], a["nodes_trueleafs"][here] = grow(at[2])
        a["nodes_falsenodeids"][here], a["nodes_falseleafs"][here] = grow(at[3])
        return here, 0

    while len(roots) < 6:
        if (tree := shape(rng, 4)) is not None:
            roots.append(grow(tree)[0])
    dtype = KINDS[kind][1]
    flat = [v for m in members for v in [*m, np.nan]]
    a["nodes_splits"] = numpy_helper.from_array(np.array(a["nodes_splits"], dtype), "s")
    a["nodes_modes"] = numpy_helper.from_array(np.array(a["nodes_modes"], "u1"), "m")
    a |= dict(membership_values=numpy_helper.from_array(np.array(flat, dtype), "v"), leaf_targetids=[t for t, _ in leaves],
              leaf_weights=numpy_helper.from_array(np.array([w for _, w in leaves], dtype), "w"), tree_roots=roots)
    node = h.make_node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", n_targets=targets, aggregate_function=["AVERAGE", "SUM", "MIN", "MAX"].index(aggregate), **a)
    x = inputs(rng, "int64", 24, 4)
    x[rng.random(x.shape) < 0.1] = np.nan
    add(f"five {kind} {aggregate} {targets}", node, kind, x, [h.make_tensor_value_info("y", KINDS[kind][0], ["N", targets])])


table()
for i, modes in enumerate([[m] for m in BRANCHES] + [BRANCHES, BRANCHES[:4]]):
    for j, kind in enumerate(("float", "double")):
        random_old(100 + 10 * i + j, kind, modes, 1 + i % 2, "SUM", kind == "double" and i % 2 == 0)
for i, aggregate in enumerate(("AVERAGE", "MIN", "MAX")):
    for targets in (1, 3):
        random_old(200 + i, "float", BRANCHES[:4], targets, aggregate, False)
for i, aggregate in enumerate(("AVERAGE", "SUM", "MIN", "MAX")):
    random_five(300 + i, "float", aggregate, 1)
    random_five(310 + i, "double", aggregate, 1)
random_five(320, "float", "SUM", 3)
out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trees.json.gz")
text = json.dumps({"versions": {"onnx": onnx.__version__, "onnxruntime": ort.__version__}, "cases": cases}, separators=(",", ":")) + "\n"
with open(out, "wb") as f:
    f.write(gzip.compress(text.encode(), mtime=0))
