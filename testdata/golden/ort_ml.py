#!/usr/bin/env python3
"""Writes testdata/golden/ort_ml.json: the operators of ai.onnx.ml and those on text, one
by one in their awkward forms, and what ONNX Runtime computes.

    python3 testdata/golden/ort_ml.py

Needs numpy, onnx and onnxruntime. Outputs are numbers: where an operator gives text,
a LabelEncoder behind it tells texts apart.
"""
import base64
import json
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ort_ml.json")
ML = "ai.onnx.ml"
NAN = float("nan")
NUMPY = {T.FLOAT: np.float32, T.DOUBLE: np.float64, T.INT64: np.int64, T.INT32: np.int32, T.STRING: object}


def node(op, inputs, outputs, domain=ML, **attributes):
    return h.make_node(op, inputs.split(), outputs.split(), domain=domain, **attributes)


def told(name, texts, **more):
    """Numbers for the texts of a tensor."""
    return node("LabelEncoder", name, "y", keys_strings=texts, values_int64s=list(range(len(texts))), default_int64=-9, **more)


def column(t, *values):
    return "x", t, np.array([[v] for v in values], NUMPY[t])


def rows(t, *values):
    return "x", t, np.array(values, NUMPY[t])


FLOATS = column(T.FLOAT, 1, NAN, 2, 0, -0.0, 1.5, -1, 3)
TEXTS = column(T.STRING, "a", "b", "", "zoo", "_Unused", "A")
WIDE = rows(T.FLOAT, [1, -2, 0.5], [0, 0, 0], [-1, -4, -2], [3, 0, 0], [1e-8, 0, 2])


def encoders():
    yield "encode_texts", 2, [TEXTS], [node("LabelEncoder", "x", "y", keys_strings=["b", "a", "b"], values_floats=[0.5, 2.0, 7.0])], T.FLOAT
    yield "encode_default", 2, [TEXTS], [node("LabelEncoder", "x", "y", keys_strings=["b", ""], values_int64s=[5, 6], default_int64=11)], T.INT64
    yield "encode_nan_2", 2, [FLOATS], [node("LabelEncoder", "x", "y", keys_floats=[1.0, NAN, 0.0], values_int64s=[10, 20, 30])], T.INT64
    yield "encode_nan_4", 4, [FLOATS], [node("LabelEncoder", "x", "y", keys_floats=[1.0, NAN, 0.0], values_int64s=[10, 20, 30])], T.INT64
    yield "encode_to_text", 2, [FLOATS], [node("LabelEncoder", "x", "t", keys_floats=[1.0, 2.0], values_strings=["a", "b"]), told("t", ["b", "a", "_Unused"])], T.INT64
    yield "encode_text_to_text", 3, [TEXTS], [node("LabelEncoder", "x", "t", keys_strings=["a", "zoo"], values_strings=["zoo", "a"], default_string="none"), told("t", ["a", "none"])], T.INT64
    yield "encode_integers", 3, [column(T.INT64, 1, 2, 3, -1)], [node("LabelEncoder", "x", "y", keys_int64s=[1, 3], values_floats=[0.25, 0.5])], T.FLOAT
    yield "encode_classes", 1, [TEXTS], [node("LabelEncoder", "x", "y", classes_strings=["b", "a"], default_int64=-5)], T.INT64
    yield "mapper", 1, [TEXTS], [node("CategoryMapper", "x", "y", cats_int64s=[5, 6], cats_strings=["a", "b"])], T.INT64
    yield "mapper_back", 2, [column(T.INT64, 5, 6, 7)], [node("CategoryMapper", "x", "t", cats_int64s=[5, 6], cats_strings=["a", "b"], default_string="c"), told("t", ["c", "b", "a"])], T.INT64
    yield "dummies_floats", 1, [column(T.FLOAT, 1, 1.5, 2, -1, NAN, 2.99, -0.5)], [node("OneHotEncoder", "x", "y", cats_int64s=[1, 2, 0])], T.FLOAT
    yield "dummies_twice", 1, [column(T.INT64, 1, 2)], [node("OneHotEncoder", "x", "y", cats_int64s=[1, 2, 1])], T.FLOAT
    yield "dummies_texts", 1, [rows(T.STRING, ["a", "b"], ["z", "a"])], [node("OneHotEncoder", "x", "y", cats_strings=["a", "b"])], T.FLOAT


def columns():
    yield "binarizer", 1, [WIDE], [node("Binarizer", "x", "y", threshold=0.5)], T.FLOAT
    yield "imputer_nan", 1, [rows(T.FLOAT, [1, NAN, 3], [NAN, 0, NAN])], [node("Imputer", "x", "y", imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=NAN)], T.FLOAT
    yield "imputer_zero", 1, [WIDE], [node("Imputer", "x", "y", imputed_value_floats=[7.0])], T.FLOAT
    yield "imputer_integers", 1, [rows(T.INT64, [1, 0, 3])], [node("Imputer", "x", "y", imputed_value_int64s=[7, 8, 9], replaced_value_int64=0)], T.INT64
    for norm in ("MAX", "L1", "L2"):
        yield "normalizer_" + norm, 1, [WIDE], [node("Normalizer", "x", "y", norm=norm)], T.FLOAT
        yield "normalizer_integers_" + norm, 1, [rows(T.INT64, [1, -2, 5])], [node("Normalizer", "x", "y", norm=norm)], T.FLOAT
    yield "extractor", 1, [WIDE], [node("Constant", "", "p", domain="", value_ints=[2, 0, 2]), node("ArrayFeatureExtractor", "x p", "y")], T.FLOAT
    yield "extractor_text", 2, [rows(T.STRING, ["a", "b"], ["c", "a"])], [node("Constant", "", "p", domain="", value_ints=[1]), node("ArrayFeatureExtractor", "x p", "t"), told("t", ["b", "a"])], T.INT64


def linear():
    two, three = [1.0, -2.0, 0.5, 0.25, 1.0, -1.0], [1.0, -2.0, 0.5, 0.25, 1.0, -1.0, 0.0, 0.5, 2.0]
    for post in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        yield "binary_" + post, 1, [WIDE], [node("LinearClassifier", "x", "l y", coefficients=two[:3], intercepts=[0.25], classlabels_ints=[3, 7], post_transform=post)], T.FLOAT
        yield "two_" + post, 1, [WIDE], [node("LinearClassifier", "x", "l y", coefficients=two, intercepts=[0.1, -0.1], classlabels_ints=[3, 7], post_transform=post)], T.FLOAT
        yield "three_" + post, 1, [WIDE], [node("LinearClassifier", "x", "l y", coefficients=three, intercepts=[0.0, 0.0, 0.25], classlabels_ints=[3, 7, 9], post_transform=post)], T.FLOAT
        yield "targets_" + post, 1, [WIDE], [node("LinearRegressor", "x", "y", coefficients=two, intercepts=[0.1, -0.1], targets=2, post_transform=post)], T.FLOAT
    yield "labels_binary", 1, [WIDE], [node("LinearClassifier", "x", "y s", coefficients=two[:3], intercepts=[0.25], classlabels_ints=[3, 7], post_transform="LOGISTIC")], T.INT64
    yield "labels_three", 2, [WIDE], [node("LinearClassifier", "x", "t s", coefficients=three, intercepts=[0.0, 0.0, 0.25], classlabels_strings=["p", "q", "r"]), told("t", ["r", "q", "p"])], T.INT64
    yield "integers", 1, [rows(T.INT64, [1, 2, 3], [-5, 0, 1])], [node("LinearClassifier", "x", "l y", coefficients=three, intercepts=[0.0, 0.0, 0.25], classlabels_ints=[3, 7, 9])], T.FLOAT
    yield "probit", 1, [rows(T.FLOAT, [0.1], [0.25], [0.5], [0.75], [0.999])], [node("LinearRegressor", "x", "y", coefficients=[1.0], intercepts=[0.0], post_transform="PROBIT")], T.FLOAT


def machines(rng):
    x = rows(T.FLOAT, *rng.normal(size=(8, 2)).round(2).tolist())
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        a = dict(kernel_type=kernel, kernel_params=[0.5, 0.3, 2.0])
        yield "svr_" + kernel, 1, [x], [node("SVMRegressor", "x", "y", coefficients=rng.normal(size=4).tolist(), support_vectors=rng.normal(size=8).tolist(), n_supports=4, rho=[0.25], **a)], T.FLOAT
        for k, per in ((2, [3, 2]), (3, [2, 1, 2]), (4, [1, 2, 1, 1])):
            n, pairs = sum(per), k * (k - 1) // 2
            b = dict(coefficients=rng.normal(size=(k - 1) * n).tolist(), support_vectors=rng.normal(size=2 * n).tolist(), vectors_per_class=per,
                     rho=rng.normal(size=pairs).tolist(), classlabels_ints=list(range(10, 10 + k)), post_transform="NONE", **a)
            yield f"svc_{kernel}_{k}", 1, [x], [node("SVMClassifier", "x", "l y", **b)], T.FLOAT
            yield f"svc_labels_{kernel}_{k}", 1, [x], [node("SVMClassifier", "x", "y s", **b)], T.INT64
            b.update(prob_a=(-np.abs(rng.normal(size=pairs)) - 0.2).tolist(), prob_b=rng.normal(size=pairs).tolist())
            yield f"svc_probabilities_{kernel}_{k}", 1, [x], [node("SVMClassifier", "x", "l y", **b)], T.FLOAT


def texts():
    cast = [0, 1, -1, 0.1, 1 / 3, 1e10, 1e-7, 123456789, NAN, float("inf"), 16777216, 1e8, 0.00001234]
    written = ["0", "1", "-1", "0.1", "0.33333334", "1e+10", "1e-07", "1.2345679e+08", "NaN", "INF", "16777216", "1e+08", "1.234e-05"]
    yield "write_floats", 2, [column(T.FLOAT, *cast)], [node("Cast", "x", "t", domain="", to=T.STRING), told("t", written)], T.INT64
    yield "write_doubles", 2, [column(T.DOUBLE, 0.1, 1 / 3, 1e300, 123456789012345678)], [node("Cast", "x", "t", domain="", to=T.STRING), told("t", ["1e+300", "0.1", "0.33333333", "1.2345679e+17"])], T.INT64
    yield "write_integers", 2, [column(T.INT64, 0, -5, 2**52)], [node("Cast", "x", "t", domain="", to=T.STRING), told("t", ["4503599627370496", "0", "-5"])], T.INT64
    yield "read_floats", 2, [column(T.STRING, "1", " 2.5", "-7e3", "NaN", "-inf", "0x1p3", "1e39")], [node("Cast", "x", "y", domain="", to=T.FLOAT)], T.FLOAT
    yield "read_integers", 2, [column(T.STRING, "1", "-77", "+5")], [node("Cast", "x", "y", domain="", to=T.INT64)], T.INT64
    yield "equal", 2, [TEXTS], [node("Constant", "", "c", domain="", value_strings=["a"]), node("Equal", "x c", "e", domain=""), node("Cast", "e", "y", domain="", to=T.FLOAT)], T.FLOAT
    yield "where", 2, [TEXTS], [node("Constant", "", "c", domain="", value_strings=["a"]), node("Equal", "x c", "e", domain=""), node("Constant", "", "o", domain="", value_strings=["other"]),
                                node("Where", "e x o", "t", domain=""), told("t", ["other", "a"])], T.INT64
    yield "concat", 2, [TEXTS], [node("StringConcat", "x x", "t", domain=""), told("t", ["zoozoo", "aa", "bb", "", "AA"])], T.INT64
    yield "regex", 2, [TEXTS], [node("RegexFullMatch", "x", "e", domain="", pattern="[a-z]+"), node("Cast", "e", "y", domain="", to=T.FLOAT)], T.FLOAT
    yield "moved", 2, [rows(T.STRING, ["a", "b", "c"], ["d", "a", "b"])], [node("Transpose", "x", "t0", domain="", perm=[1, 0]), node("Transpose", "t0", "t1", domain="", perm=[1, 0]),
                                                                         node("Constant", "", "p", domain="", value_ints=[2, 1]), node("Gather", "t1 p", "t2", domain="", axis=1), node("Concat", "t2 x", "t", domain="", axis=1), told("t", ["a", "b", "c"])], T.INT64
    words = rows(T.INT64, [1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8])
    pool = dict(ngram_counts=[0, 4], ngram_indexes=[0, 1, 2, 3, 4, 5, 6], pool_int64s=[2, 3, 5, 4, 5, 6, 7, 8, 6, 7], max_gram_length=2)
    for mode in ("TF", "IDF", "TFIDF"):
        for shortest in (1, 2):
            for skip in (0, 1, 5):
                yield f"grams_{mode}_{shortest}_{skip}", 2, [words], [node("TfIdfVectorizer", "x", "y", domain="", mode=mode, min_gram_length=shortest, max_skip_count=skip, weights=[1.5, 2.0, 0.5, 3.0, 1.0, 2.5, 0.75], **pool)], T.FLOAT
    yield "grams_texts", 2, [rows(T.STRING, ["a", "b", "a"], ["b", "c", ""])], [node("TfIdfVectorizer", "x", "y", domain="", mode="TF", min_gram_length=1, max_gram_length=2, max_skip_count=0,
                                                                                  ngram_counts=[0, 2], ngram_indexes=[0, 1, 2], pool_strings=["a", "b", "a", "b"])], T.FLOAT


def numbers(a):
    return [x if np.isfinite(x) else ("NaN" if np.isnan(x) else ("Inf" if x > 0 else "-Inf")) for x in np.asarray(a, np.float64).ravel().tolist()]


def main():
    cases = []
    for name, version, inputs, nodes, kind in [*encoders(), *columns(), *linear(), *machines(np.random.default_rng(20)), *texts()]:
        graph = h.make_graph(nodes, name, [h.make_tensor_value_info(n, t, [None, *v.shape[1:]]) for n, t, v in inputs], [h.make_tensor_value_info("y", kind, None)])
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 20), h.make_opsetid(ML, version)], ir_version=9)
        file = model.SerializeToString(deterministic=True)
        out = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"]).run(["y"], {n: v for n, _, v in inputs})[0]
        cases.append({"name": name, "model": base64.b64encode(file).decode(), "rows": len(inputs[0][2]),
                      "inputs": [{"texts": v.ravel().tolist()} if t == T.STRING else {"numbers": numbers(v)} for _, t, v in inputs], "want": numbers(out)})
    with open(OUT, "w") as f:
        head = {"script": "testdata/golden/ort_ml.py", "onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__}
        f.write(json.dumps({"provenance": head})[:-1] + ', "cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]}\n")


main()
