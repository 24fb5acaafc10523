#!/usr/bin/env python3
"""ort.py: what ONNX Runtime computes with the files beside it.

They are written by this package (go test ./adapters/onnx/export -run ORT -update), with
rows.json: networks and the parts of their decompositions. onnx.checker looks at each, with
its inference of shapes. Writes ort.json: the outputs of every file on the first rows, versions. Needs numpy,
onnx and onnxruntime (PyPI); without onnxruntime nothing is written.
"""
import glob
import json
import os
import sys

import numpy as np

try:
    import onnx
    import onnxruntime as ort
except ImportError:
    print("ort.py: SKIPPED: this Python has no onnx or onnxruntime")
    sys.exit(0)
ort.set_default_logger_severity(3)

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "rows.json")) as f:
    rows = json.load(f)
types = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(string)": object}
cases = {}
for path in sorted(glob.glob(os.path.join(here, "*.onnx"))):
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {}
    for i in session.get_inputs():
        columns = ["x1", "x2", "x3"] if i.name == "x" else [i.name]
        feed[i.name] = np.stack([np.array(rows[c], dtype=types[i.type]) for c in columns], 1)
    names = [o.name for o in session.get_outputs()]
    out = dict(zip(names, session.run(names, feed)))
    cases[os.path.basename(path)[:-5]] = {"outputs": {k: v[:20, 0].astype(float).tolist() for k, v in out.items()}}
with open(os.path.join(here, "ort.json"), "w") as f:
    json.dump({"made_by": f"ort.py, onnxruntime {ort.__version__}, onnx {onnx.__version__}, numpy {np.__version__}", "cases": cases}, f)
    f.write("\n")
