"""Whether ONNX Runtime computes what the libraries predict, of the files that TestONNX writes of models.

    python runtime.py DIR    with goldens (golden.py, catboost.py, ebm.py), and the files in DIR/onnx

Numbers are equal to 1e-6 of them, or of 1 where XGBoost sums numbers of float32 that cancel.
"""
import glob, gzip, json, os, sys

import numpy as np
import onnx
import onnxruntime

onnxruntime.set_default_logger_severity(3)


def columns(case):
    return case["Columns"] if "Columns" in case else [list(v) for v in zip(*case["Rows"])]


def fed(session, case):
    feed, at, given = {}, 0, columns(case)
    for tensor in session.get_inputs():
        own = given[at:at + tensor.shape[1]]
        at += len(own)
        if "string" in tensor.type:
            feed[tensor.name] = np.array([["" if v is None else str(v) for v in c] for c in own], object).T
        else:
            feed[tensor.name] = np.array([[np.nan if v is None else v for v in c] for c in own], "float32" if "float" in tensor.type else "float64").T
    return feed


def answers(name, y):
    """What the library answers that its response function does not."""
    if name == "softmax":
        return y.argmax(1)[:, None]
    return {"hinge": (y > 0) * 1.0, "square root": y * abs(y)}.get(name, y)


models = wrong = 0
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.json.gz"))):
    golden = {k.lower(): v for k, v in json.loads(gzip.open(path).read()).items()}
    library = os.path.basename(path)[:-len(".json.gz")]
    for i, case in enumerate(golden["cases"]):
        file = os.path.join(sys.argv[1], "onnx", f"{library}-{i}.onnx")
        if not os.path.exists(file):  # TestONNX says why
            continue
        case = {k.capitalize(): v for k, v in case.items()}
        models += 1
        onnx.checker.check_model(file)
        session = onnxruntime.InferenceSession(file)
        out = session.run(None, fed(session, case))
        got = answers(case["Name"], np.concatenate([o.reshape(len(o), -1) for o in out], 1).astype(float))
        want = np.array(case["Response"], float)
        least = 1 if "xgboost" in library else 1e-300
        off = np.abs(got - want) / np.maximum(np.abs(want), least) if got.shape == want.shape else np.full(1, np.inf)
        if not (off <= 1e-6).all():
            wrong += 1
            print(f"{library}, {case['Name']}: {np.nanmax(off):.2g} off")
print(f"{models} models, {wrong} wrong")
sys.exit(wrong > 0 or models < 150)
