"""Compares ONNX Runtime with the predictions of adapters/native.

    go run -C benchmarks ./native -rows 2000 -save DIR && python3 check_ort.py DIR

Needs numpy and onnxruntime (PyPI). Prints max |difference| / max |predictor|.
"""
import csv
import glob
import os
import sys

import numpy as np
import onnxruntime as ort

worst = {"": 0.0, "_double": 0.0}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.csv"))):
    with open(path) as f:
        rows = list(csv.reader(f))
    table = dict(zip(rows[0], np.array(rows[1:], dtype=np.float64).T))
    for suffix, dtype in (("", np.float32), ("_double", np.float64)):
        model = path[:-4] + suffix + ".onnx"
        try:
            session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
        except Exception as e:
            if suffix and "NOT_IMPLEMENTED" in str(e):  # Erf and Softplus have no float64 kernels
                print(f"{os.path.basename(model):20} {str(e)[-70:]}")
                continue
            raise
        feed = {i.name: table[i.name].astype(dtype)[:, None] for i in session.get_inputs()}
        for name, got in zip([o.name for o in session.get_outputs()], session.run(None, feed)):
            want = table[name]
            miss = np.max(np.abs(got[:, 0] - want)) / np.max(np.abs(want))
            worst[suffix] = max(worst[suffix], miss)
            print(f"{os.path.basename(model):20} {name:8} {miss:.2e}")
assert worst[""] < 1e-5 and worst["_double"] < 1e-11, worst
