"""LightGBM models that onnxmltools writes into several ensembles (`split`), and ONNX
Runtime's answers: trees_split.json. Run by the environment of testdata/zoo/make.sh."""
import base64
import importlib.metadata
import json
import os

import lightgbm
import numpy as np
import onnxruntime
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType

rng = np.random.default_rng(1)
X = np.round(rng.standard_normal((400, 3)), 3).astype(np.float32)
Y = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 0] * X[:, 2]
ROWS = 40
cases = []
for name, depth in ("stumps", 1), ("pairs", 2):
    model = lightgbm.LGBMRegressor(n_estimators=20, max_depth=depth, num_leaves=2**depth, verbose=-1, n_jobs=1, random_state=0).fit(X, Y)
    file = convert_lightgbm(model, initial_types=[("X", FloatTensorType([None, 3]))], split=7, target_opset=15)
    file.graph.name = name  # a random one else
    file = file.SerializeToString(deterministic=True)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    y, = session.run(None, {"X": X[:ROWS]})
    text = lambda a: [float(np.format_float_positional(v)) for v in a.ravel()]
    cases.append({"name": name, "rows": ROWS, "model": base64.b64encode(file).decode(), "input": text(X[:ROWS]), "outputs": {"variable": text(y)}})
versions = {p: importlib.metadata.version(p) for p in ("lightgbm", "onnxmltools", "onnxruntime", "numpy")}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "trees_split.json"), "w") as f:
    json.dump({"versions": versions, "cases": cases}, f)
    f.write("\n")
