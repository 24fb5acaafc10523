#!/usr/bin/env python3
"""Lays out the backend tests of the `onnx` package in a directory:

    python3 testdata/zoo/backend.py DIR

writes DIR/KIND/NAME/model.onnx with test_data_set_0/input_0.pb, output_0.pb and so on,
for the kinds node, simple, pytorch-operator and pytorch-converted, and DIR/cases.json
with the tolerances. `make backend-tests ONNX=DIR` runs them through our engine. The
kinds light and real are whole image networks, whose weights are elsewhere.
"""
import json
import os
import shutil
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

warnings.simplefilter("ignore")


def message(value, info):
    """The protobuf message of a value, by the type that the graph declares."""
    if isinstance(value, onnx.TensorProto):
        return value
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    return numpy_helper.from_array(np.asarray(value), info.name)


def write(folder, case):
    os.makedirs(folder)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(case.model.SerializeToString())
    for i, (inputs, outputs) in enumerate(case.data_sets):
        at = os.path.join(folder, f"test_data_set_{i}")
        os.makedirs(at)
        for kind, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for j, (value, info) in enumerate(zip(values, infos)):
                with open(os.path.join(at, f"{kind}_{j}.pb"), "wb") as f:
                    f.write(message(value, info).SerializeToString())


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    root, listed = sys.argv[1], []
    for kind in ("node", "simple", "pytorch-operator", "pytorch-converted"):
        shutil.rmtree(os.path.join(root, kind), ignore_errors=True)
        for case in sorted(load_model_tests(kind=kind), key=lambda c: c.name):
            folder = os.path.join(root, kind, case.name)
            if case.model_dir:
                shutil.copytree(case.model_dir, folder)
            else:
                write(folder, case)
            listed.append({"kind": kind, "name": case.name, "rtol": case.rtol, "atol": case.atol})
    with open(os.path.join(root, "cases.json"), "w") as f:
        json.dump({"onnx": onnx.__version__, "cases": listed}, f, indent=1)
        f.write("\n")
    print(f"{len(listed)} cases of onnx {onnx.__version__} in {root}")


main()
