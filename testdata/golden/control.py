#!/usr/bin/env python3
"""Writes testdata/golden/control/: networks with control flow, functions, sequences and
optionals, and what ONNX Runtime makes of them.

Run from anywhere with onnx and onnxruntime (PyPI):
    python3 testdata/golden/control.py
"""
import json
import os

import numpy as np
import onnx
import onnx.parser
import onnxruntime

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "control")
ROWS = 4
HEAD = '<ir_version: 10, opset_import: ["" : %d%s]>\n'

# name, opset, why, the graph
GRAPHS = [
    ("if_constant", 17, "the branch that is taken; the other one would mix rows", """
g (float[N,3] x) => (float[N,3] y) <bool yes = {1}> {
  y = If (yes) <then_branch = t () => (float[N,3] a) { a = Relu (x) }, else_branch = e () => (float[N,3] b) { m = ReduceMean <axes = [0], keepdims = 1> (x) b = Sub (x, m) }>
}"""),
    ("if_shape", 17, "a condition on sizes that holds for every number of rows", """
g (float[N,3] x) => (float[N,3] y) <int64 zero = {0}, int64 one = {1}, int64 three = {3}> {
  s = Shape (x)
  n = Gather (s, zero)
  d = Gather (s, one)
  some = Greater (n, zero)
  wide = Equal (d, three)
  both = And (some, wide)
  h = If (both) <then_branch = t () => (float[N,3] a) {
    inner = LessOrEqual (one, n)
    a = If (inner) <then_branch = t2 () => (float[N,3] c) { c = Tanh (x) }, else_branch = e2 () => (float[N,3] d2) { d2 = Neg (x) }>
  }, else_branch = e () => (float[N,3] b) { b = Exp (x) }>
  y = Add (h, x)
}"""),
    ("loop_passes", 17, "a fixed number of passes; the body reads the counter and a weight outside", """
g (float[N,3] x) => (float[N,3] y, float[4,N,3] all) <int64 n = {4}, bool yes = {1}, float[3,3] w = {0.1,0.2,-0.3,0.4,0.5,-0.6,0.7,-0.8,0.9}> {
  y, all = Loop (n, yes, x) <body = b (int64 i, bool c, float[N,3] z) => (bool c2, float[N,3] z2, float[N,3] each) {
    c2 = Identity (c)
    f = Cast <to = 1> (i)
    m = MatMul (z, w)
    p = Add (m, f)
    z2 = Tanh (p)
    each = Mul (z2, f)
  }>
}"""),
    ("loop_while", 17, "a condition that is computed from a counter", """
g (float[N,3] x) => (float[N,3] y, int64 k) <int64 zero = {0}, int64 one = {1}, int64 five = {5}, bool yes = {1}> {
  k, y = Loop (, yes, zero, x) <body = b (int64 i, bool c, int64 j, float[N,3] z) => (bool c2, int64 j2, float[N,3] z2) {
    j2 = Add (j, one)
    c2 = Less (j2, five)
    z2 = Sin (z)
  }>
}"""),
    ("loop_stops", 17, "a condition that ends it before the number of passes", """
g (float[N,3] x) => (float[N,3] y) <int64 n = {100}, bool yes = {1}, int64 two = {2}> {
  y = Loop (n, yes, x) <body = b (int64 i, bool c, float[N,3] z) => (bool c2, float[N,3] z2) {
    c2 = Less (i, two)
    z2 = Sigmoid (z)
  }>
}"""),
    ("loop_none", 17, "no pass at all", """
g (float[N,3] x) => (float[N,3] y) <int64 n = {0}, bool yes = {1}> {
  h = Loop (n, yes, x) <body = b (int64 i, bool c, float[N,3] z) => (bool c2, float[N,3] z2) { c2 = Identity (c) z2 = Sigmoid (z) }>
  y = Neg (h)
}"""),
    ("loop_nested", 17, "a loop in a loop with an If that tells passes apart; equal names inside", """
g (float[N,3] x) => (float[N,3] y) <int64 n = {2}, int64 m = {3}, bool yes = {1}, int64 one = {1}> {
  y = Loop (n, yes, x) <body = outer (int64 i, bool c, float[N,3] z) => (bool c2, float[N,3] z2) {
    c2 = Identity (c)
    z2 = Loop (m, yes, z) <body = inner (int64 k, bool e, float[N,3] t) => (bool e2, float[N,3] t3) {
      e2 = Identity (e)
      same = Equal (i, k)
      t2 = If (same) <then_branch = p () => (float[N,3] u) { u = Mul (t, x) }, else_branch = q () => (float[N,3] v) { v = Add (t, z) }>
      t3 = Tanh (t2)
    }>
  }>
}"""),
    ("loop_list", 17, "a sequence that grows pass by pass, as TensorFlow's lists and torch.jit's", """
g (float[N,3] x) => (float[N,3,2] y) <int64 n = {3}, bool yes = {1}, int64 one = {1}> {
  empty = SequenceEmpty <dtype = 1> ()
  z, list = Loop (n, yes, x, empty) <body = b (int64 i, bool c, float[N,3] z1, seq(float[N,3]) l) => (bool c2, float[N,3] z2, seq(float[N,3]) l2) {
    c2 = Identity (c)
    z2 = Cos (z1)
    l2 = SequenceInsert (l, z2)
  }>
  shorter = SequenceErase (list, one)
  y = ConcatFromSequence <axis = 2, new_axis = 1> (shorter)
}"""),
    ("loop_rows", 17, "a pass for each row that reads its row by the counter", """
g (float[N,2,3] x) => (float[N,3] y, float[N,4] d) <bool yes = {1}, int64 zero = {0}, float[3] w = {0.5,-1,2}, float[4,2] points = {0.1,0.2,0.3,0.4,0.5,0.6,-0.7,0.8}, int64[1] ones = {1}> {
  s = Shape (x)
  n = Gather (s, zero)
  y, d = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] each, float[4] dist) {
    c2 = Identity (c)
    row = Gather (x, i)
    scaled = Mul (row, w)
    each = ReduceSum <keepdims = 0> (scaled, zeros)
    one = Gather <axis = 1> (row, zero)
    diff = Sub (points, one)
    square = Mul (diff, diff)
    dist = ReduceSum <keepdims = 0> (square, ones)
  }>
}""".replace("int64[1] ones", "int64[1] zeros = {0}, int64[1] ones")),
    ("loop_rows_list", 17, "the rows' results gathered in a sequence", """
g (float[N,3] x) => (float[N,3] y) <bool yes = {1}, int64 zero = {0}> {
  s = Shape (x)
  n = Gather (s, zero)
  empty = SequenceEmpty <dtype = 1> ()
  list = Loop (n, yes, empty) <body = b (int64 i, bool c, seq(float[3]) l) => (bool c2, seq(float[3]) l2) {
    c2 = Identity (c)
    row = Gather (x, i)
    p = Softmax <axis = 0> (row)
    l2 = SequenceInsert (l, p)
  }>
  y = ConcatFromSequence <axis = 0, new_axis = 1> (list)
}"""),
    ("scan_axes", 17, "sequences along other axes and backwards", """
g (float[N,5,3] x, float[N,3,5] v) => (float[N,3] last, float[N,5,3] a, float[5,N,3] b) <float[1,3] none = {0.1,0.2,0.3}> {
  first = Expand (none, shape)
  last, a, b = Scan <num_scan_inputs = 2, scan_input_axes = [1, 2], scan_input_directions = [0, 1], scan_output_axes = [1, 0], scan_output_directions = [1, 0], body = f (float[N,3] h, float[N,3] p, float[N,3] q) => (float[N,3] h2, float[N,3] o, float[N,3] r) {
    s = Add (h, p)
    t = Mul (s, q)
    h2 = Tanh (t)
    o = Identity (h2)
    r = Sub (p, q)
  }> (first, x, v)
}""".replace("first = Expand (none, shape)", "rows = Shape <start = 0, end = 1> (x) three = Constant <value_ints = [3]> () shape = Concat <axis = 0> (rows, three) first = Expand (none, shape)")),
    ("scan_rows", 17, "distances to given points, as skl2onnx writes them: a scan over the rows", """
g (float[N,3] x) => (float[N,4] y) <float[4,3] points = {0.1,0.2,0.3,0.4,0.5,0.6,-0.7,0.8,0.9,1,-1,2}> {
  p, y = Scan <num_scan_inputs = 1, body = f (float[4,3] next_in, float[3] next) => (float[4,3] next_out, float[4] out) {
    d = Sub (next_in, next)
    s = ReduceSumSquare <axes = [1], keepdims = 0> (d)
    out = Sqrt (s)
    next_out = Identity (next_in)
  }> (points, x)
}"""),
    ("sizes", 17, "comparisons and extremes of sizes that hold for every number of rows; the rows in their order", """
g (float[N,3] x) => (float[N,3] y) <int64 zero = {0}, int64[1] first = {0}, int64[1] one = {1}, int64[1] less = {-2}, int64[1] three = {3}, int32 like = {7}> {
  s = Shape (x)
  n = Gather (s, first)
  most = Max (n, one, less)
  least = Min (most, n)
  k = CastLike (least, like)
  k64 = Cast <to = 7> (k)
  shape = Concat <axis = 0> (k64, three)
  ones = ConstantOfShape <value = float[1] {2}> (shape)
  never = Less (n, one)
  other = GreaterOrEqual (less, n)
  neither = Or (never, other)
  w = Where (neither, zero, three)
  f = Cast <to = 1> (w)
  m = Gather (s, zero)
  unit = Squeeze (one)
  in_order = Range (zero, m, unit)
  h = Gather (x, in_order)
  p = Mul (h, ones)
  y = Add (p, f)
}"""),
    ("split_sequence", 17, "pieces of a tensor, by place", """
g (float[N,7] x) => (float[N,3] a, float[N,1] b, float[N] c, float[N,7] d, int64 k) <int64 three = {3}, int64 last = {-1}, int64[2] two = {2,5}, int64 zero = {0}> {
  s = SplitToSequence <axis = 1> (x, three)
  a = SequenceAt (s, zero)
  b = SequenceAt (s, last)
  e = SplitToSequence <axis = 1, keepdims = 0> (x)
  c = SequenceAt (e, three)
  t = SplitToSequence <axis = 1> (x, two)
  left = SequenceAt (t, zero)
  right = SequenceAt (t, last)
  u = SequenceConstruct (right)
  w = SequenceInsert (u, left, zero)
  d = ConcatFromSequence <axis = 1> (w)
  k = SequenceLength (s)
}"""),
    ("sequence_map", 17, "a body for each element", """
g (float[N,3] x) => (float[N,6] y) {
  e = Exp (x)
  s = SequenceConstruct (x, e)
  m = SequenceMap <body = f (float[N,3] p, float[N,3] q) => (float[N,3] r) { r = Add (p, q) }> (s, x)
  y = ConcatFromSequence <axis = 1> (m)
}"""),
    ("optional", 17, "an optional that has an element", """
g (float[N,3] x) => (float[N,3] y) {
  o = Optional (x)
  has = OptionalHasElement (o)
  y = If (has) <then_branch = t () => (float[N,3] a) { v = OptionalGetElement (o) a = Tanh (v) }, else_branch = e () => (float[N,3] b) { b = Neg (x) }>
}"""),
    ("dropout_mask", 17, "at inference nothing is dropped", """
g (float[N,3] x) => (float[N,3] y, bool[N,3] mask) {
  h, mask = Dropout (x)
  y = Tanh (h)
}"""),
]

# Functions with attributes, default attributes, an input that is left out, and one
# within another.
FUNCTIONS = [
    ("function_attributes", """<ir_version: 10, opset_import: ["" : 17, "local" : 1]>
g (float[N,3] x) => (float[N,3] y) <float w = {0.3}> {
  a = local.scaled <alpha = 0.2> (x, w)
  b = local.scaled <alpha = 0.7> (a)
  c = local.twice (b)
  y = local.again (c)
}
<domain: "local", opset_import: ["" : 17]>
scaled <alpha> (p, q) => (r) { s = LeakyRelu <alpha: float = @alpha> (p) r = Clip (s, q) }
<domain: "local", opset_import: ["" : 17]>
twice (p) => (r) { t = Softmax <axis = 1> (p) r = Add (t, t) }
<domain: "local", opset_import: ["" : 17, "local" : 1]>
again <alpha: float = 0.3> (p) => (r) { s = local.scaled <alpha: float = @alpha> (p) t = local.scaled <alpha: float = @alpha> (s) r = Add (s, t) }
"""),
    ("function_loop", """<ir_version: 10, opset_import: ["" : 17, "local" : 1]>
g (float[N,3] x) => (float[N,3] y) <int64 n = {3}, bool yes = {1}> {
  y = Loop (n, yes, x) <body = b (int64 i, bool c, float[N,3] z) => (bool c2, float[N,3] z2) { c2 = Identity (c) z2 = local.swish (z) }>
}
<domain: "local", opset_import: ["" : 17]>
swish (p) => (r) {
  yes = Constant <value_int = 1> ()
  go = Cast <to = 9> (yes)
  s = If (go) <then_branch = t () => (a) { a = Sigmoid (p) }, else_branch = e () => (b) { b = Tanh (p) }>
  r = Mul (p, s)
}
"""),
]


# What a body that runs once for each row may do with its row, p [2,3], and outside
# values: name, opset, axes of the result, nodes.
ROW_BODIES = [
    ("align", 17, 2, "q = ReduceMax <axes = [1], keepdims = 0> (p) t = ReduceMin <axes = [0, 1], keepdims = 0> (p) u = Unsqueeze (t, zero) v = Concat <axis = 0> (q, u) r = Add (w, v) s = Mul (r, p) o = Sub (s, k)"),
    ("scalar", 17, 1, "t = ReduceSum <keepdims = 0> (p) o = Mul (w, t)"),
    ("compare", 17, 2, "g = Greater (p, w) o = Where (g, p, w)"),
    ("reduce_all", 17, 2, "o = ReduceMean (p)"),
    ("reduce_last", 13, 1, "o = ReduceSum <keepdims = 0> (p, last)"),
    ("reduce_18", 18, 1, "o = ReduceL2 <keepdims = 0> (p, zero)"),
    ("reduce_none", 18, 2, "o = ReduceSum <noop_with_empty_axes = 1> (p)"),
    ("softmax", 17, 2, "o = Softmax <axis = 0> (p)"),
    ("softmax_last", 17, 2, "o = LogSoftmax (p)"),
    ("softmax_old", 11, 2, "o = Softmax (p)"),
    ("softmax_old_all", 11, 2, "o = Softmax <axis = 0> (p)"),
    ("concat", 17, 2, "e = Exp (p) o = Concat <axis = 1> (p, e)"),
    ("concat_back", 17, 2, "e = Exp (p) o = Concat <axis = -2> (p, e)"),
    ("gather", 17, 1, "o = Gather (p, one)"),
    ("gather_many", 17, 3, "o = Gather <axis = 1> (p, places)"),
    ("split", 17, 2, "a, b = Split (p) c = Mul (a, b) o = Add (c, b)"),
    ("argmax", 17, 1, "a = ArgMax <keepdims = 0> (p) o = Cast <to = 1> (a)"),
    ("argmin", 17, 2, "a = ArgMin <axis = -1> (p) o = Cast <to = 1> (a)"),
    ("unsqueeze", 17, 4, "o = Unsqueeze (p, ends)"),
    ("squeeze", 17, 2, "a = Unsqueeze (p, ends) b = Squeeze (a, zero) o = Squeeze (b, last)"),
    ("squeeze_old", 11, 2, "a = Unsqueeze <axes = [0, 3]> (p) b = Squeeze <axes = [0]> (a) o = Squeeze <axes = [-1]> (b)"),
    ("transpose", 17, 2, "o = Transpose (p)"),
    ("transpose_named", 17, 3, "a = Unsqueeze (p, zero) o = Transpose <perm = [2, 0, 1]> (a)"),
    ("slice", 17, 2, "o = Slice (p, one1, three, one1)"),
    ("slice_all", 17, 2, "o = Slice (p, zero, one1)"),
    ("slice_back", 17, 2, "o = Slice (p, last, far, last, last)"),
    ("matmul", 17, 2, "o = MatMul (p, m)"),
    ("matmul_vector", 17, 1, "a = Gather (p, one) o = MatMul (a, m)"),
    ("matmul_both", 17, 2, "a = Transpose (p) o = MatMul (p, a)"),
    ("matmul_column", 17, 1, "o = MatMul (p, w)"),
    ("inner_loop", 17, 2, "last_p = Loop (n, yes, p) <body = b (int64 i, bool c, float[2,3] z) => (bool c2, float[2,3] z2) { c2 = Identity (c) z2 = Tanh (z) }> o = Add (last_p, w)"),
    ("inner_stack", 17, 3, "q, o = Loop (n, yes, p) <body = b (int64 i, bool c, float[2,3] z) => (bool c2, float[2,3] z2, float[2,3] e) { c2 = Identity (c) z2 = Tanh (z) e = Sub (z, w) }>"),
    ("constant", 17, 1, "o = Identity (w)"),
]
ROW_VALUES = ("float[3] w = {0.5,-1,2}, float k = {0.25}, float[3,2] m = {1,2,3,-4,5,6}, int64 one = {1}, int64[1] zero = {0}, int64[1] one1 = {1}, int64[1] three = {3}, "
              "int64[1] last = {-1}, int64[1] far = {-9223372036854775808}, int64[2] ends = {0,-1}, int64[2,2] places = {2,0,1,1}, int64 n = {2}, bool yes = {1}")


def row_body(rank, nodes, axis):
    """A network whose Scan runs the nodes for each row."""
    shape = ["N" if i == axis else "D%d" % i for i in range(rank + 1)]
    used = ", ".join(v for v in ROW_VALUES.split(", ") if v.split()[1] in nodes.replace("(", " ").replace(",", " ").replace(")", " ").split())
    return "g (float[N,2,3] x) => (float[%s] y) <%s> { y = Scan <num_scan_inputs = 1, scan_output_axes = [%d], body = f (float[2,3] p) => (float[%s] o) { %s }> (x) }" % (
        ",".join(shape), used, axis, ",".join("E%d" % i for i in range(rank)), nodes)


def texts():
    for name, opset, _, text in GRAPHS:
        yield name, HEAD % (opset, "") + text
    for i, (name, opset, rank, nodes) in enumerate(ROW_BODIES):
        yield "row_" + name, HEAD % (opset, "") + row_body(rank, nodes, i % 2)
    yield from FUNCTIONS


def flat(v):
    return [float("%.9g" % x) for x in v.flatten()]


def main():
    os.makedirs(OUT, exist_ok=True)
    for old in os.listdir(OUT):
        os.remove(os.path.join(OUT, old))
    rng = np.random.default_rng(13)
    index = []
    for name, text in texts():
        model = onnx.parser.parse_model(text)
        with open(os.path.join(OUT, name + ".onnx"), "wb") as f:
            f.write(model.SerializeToString())
        inputs = {}
        for i in model.graph.input:
            shape = [d.dim_value or ROWS for d in i.type.tensor_type.shape.dim]
            inputs[i.name] = rng.standard_normal(shape).astype(np.float32)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        wanted = session.run(None, inputs)
        axes = [[d.dim_param for d in o.type.tensor_type.shape.dim] for o in model.graph.output]
        index.append({"name": name,
                      "inputs": [{"shape": list(v.shape), "axis": 0, "values": flat(v)} for v in inputs.values()],
                      "outputs": [{"shape": list(v.shape), "axis": a.index("N") if "N" in a else -1, "values": flat(v)} for v, a in zip(wanted, axes)]})
    with open(os.path.join(OUT, "cases.json"), "w") as f:
        f.write('{"onnx": "%s", "onnxruntime": "%s", "seed": 13, "cases": [\n' % (onnx.__version__, onnxruntime.__version__))
        f.write(",\n".join(json.dumps(c) for c in index))
        f.write("\n]}\n")
    print(len(index), "cases")


main()
