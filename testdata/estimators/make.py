"""Estimators of python/tests/estimators/zoo.py for tests that have Go alone.

    PHO_BINARY=bin/pho PYTHONPATH=python/src python testdata/estimators/make.py

writes here index.json with the versions of the libraries and, of each estimator, rows with its own
predictions and, where that predicts the same, its ONNX file. python/requirements-estimators.txt has
the versions. Files above LARGEST are left out, so that all is small.
"""

import importlib.metadata
import json
import pathlib
import re
import shutil
import sys
import warnings

import pandas

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "python" / "tests" / "estimators"))
import judge  # noqa: E402
import pho  # noqa: E402
import zoo  # noqa: E402

ROWS = 30
LARGEST = 14_000
LIBRARIES = ("scikit-learn", "lightgbm", "xgboost-cpu", "catboost", "interpret-core", "statsmodels", "skl2onnx", "onnxmltools", "onnx")


def main():
    warnings.simplefilter("ignore")
    for old in (*HERE.glob("*.onnx"), *HERE.glob("*.csv")):
        old.unlink()
    cases = []
    for case in zoo.cases():
        model, rows = case.make()
        own = judge.wanted(case, model, rows)
        d = pho.decompose(model, rows, "~ temp" if "temp" in rows else None, **case.options)
        file = d.artifact["model"]["checked"].get("rows") is not None
        if file and pathlib.Path(d.network).stat().st_size > LARGEST:
            continue
        stem = re.sub(r"[^a-z0-9]+", "-", case.name.lower()).strip("-")
        entry = {"name": case.name, "rows": f"{stem}.csv", "predictions": [f"own {k + 1}" for k in range(own.shape[1])]}
        heads = {p.get("head") for p in d.artifact["predictors"]}
        entry["link"] = next((link for head, link in (("softmax", "softmax"), ("sigmoid", "logit"), ("exp", "log")) if head in heads), "identity")
        entry.update({k: v for k, v in case.options.items() if k == "na"})
        if file:
            shutil.copy(d.network, HERE / f"{stem}.onnx")
            entry["model"] = f"{stem}.onnx"
            bound = d.artifact["model"]["inputs"]
            entry["inputs"] = {name: columns for name, columns in bound.items() if columns != [name]}
        else:
            entry["why"] = next((w.split("no exported file: ")[1] for w in d.warnings if "no exported file: " in w), "it has no file")
        few = rows.iloc[:: len(rows) // ROWS][:ROWS]
        values = pandas.DataFrame(own[few.index], columns=entry["predictions"], index=few.index)
        pandas.concat([few, values], axis=1).to_csv(HERE / f"{stem}.csv", index=False)
        cases.append(entry)
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    text = json.dumps({"made_by": "make.py", "versions": versions, "cases": cases}, indent=1, ensure_ascii=False)
    (HERE / "index.json").write_text(text + "\n", encoding="utf-8")
    print(len(cases), "cases,", sum("model" in c for c in cases), "files,", sum(f.stat().st_size for f in HERE.iterdir()), "bytes")


if __name__ == "__main__":
    main()
