#!/usr/bin/env python3
"""ort.py: what ONNX Runtime computes with the network terms.onnx.

terms.onnx is written by this package (go test ./adapters/native -run ORT -update):
an SSN whose formula has every kind of term that can be saved, in float32 with its
formula terms in float64. The file's metadata is nothing to ONNX Runtime. Writes
ort.json: rows (exact in float32), the output, versions. Needs numpy and onnxruntime
(PyPI); without onnxruntime nothing is written.
"""
import json
import os
import sys

import numpy as np

try:
    import onnxruntime as ort
except ImportError:
    print("ort.py: SKIPPED: this Python has no onnxruntime")
    sys.exit(0)
ort.set_default_logger_severity(3)

here = os.path.dirname(os.path.abspath(__file__))
session = ort.InferenceSession(os.path.join(here, "terms.onnx"), providers=["CPUExecutionProvider"])
rng = np.random.default_rng(1)
n = 60
# A little beyond the training rows, which lie within -1..1; d is a factor of 4 levels.
rows = {i.name: rng.uniform(-1.2, 1.2, n).astype(np.float32) for i in session.get_inputs()}
rows["d"] = rng.integers(0, 4, n).astype(np.float32)
out = session.run(None, {k: v[:, None] for k, v in rows.items()})[0][:, 0]
with open(os.path.join(here, "ort.json"), "w") as f:
    json.dump({"made_by": f"ort.py, onnxruntime {ort.__version__}, numpy {np.__version__}, seed 1",
               "rows": {k: v.astype(float).tolist() for k, v in rows.items()}, "eta": out.astype(float).tolist()}, f, indent=1)
    f.write("\n")
