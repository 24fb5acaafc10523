"""Writes models for a server, rows, and what the models themselves predict for these: models.py mlserver|mlflow DIR."""

import json
import os
import sys

import numpy
import pandas
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

kind, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)

random = numpy.random.default_rng(1)
N = 3000
rows = pandas.DataFrame(
    {"g": random.choice(list("abc"), N), "x1": random.normal(size=N), "x2": random.uniform(size=N), "k": random.integers(0, 5, N)}
)
rows["y"] = numpy.sin(2 * rows.x1) + rows.x2**2 + (rows.g == "b") * 0.5 + 0.1 * random.normal(size=N)
rows["c"] = (rows.y > rows.y.median()).astype(int)
rows["m"] = pandas.qcut(rows.y, 3, labels=["lo", "mid", "hi"]).astype(str)
rows.to_csv(os.path.join(folder, "rows.csv"), index=False)
rows = pandas.read_csv(os.path.join(folder, "rows.csv"))
numbers, all_columns = ["x1", "x2", "k"], ["g", "x1", "x2", "k"]


def prepared(model):
    return make_pipeline(make_column_transformer((OneHotEncoder(), ["g"]), remainder="passthrough"), model)


regression = GradientBoostingRegressor(random_state=0).fit(rows[numbers].to_numpy(), rows.y)
three = LogisticRegression().fit(rows[numbers].to_numpy(), rows.m)
pipeline = prepared(GradientBoostingRegressor(random_state=0)).fit(rows[all_columns], rows.y)
two = prepared(LogisticRegression()).fit(rows[all_columns], rows.c)
wanted = {
    "regression": regression.predict(rows[numbers].to_numpy()),
    "three": numpy.log(three.predict_proba(rows[numbers].to_numpy())),
    "pipeline": pipeline.predict(rows[all_columns]),
    "two": numpy.log(two.predict_proba(rows[all_columns])),
}
numpy.savez(os.path.join(folder, "wanted.npz"), classes=three.classes_, **wanted)

if kind == "mlserver":
    import joblib

    frame = {
        "inputs": [
            {"name": "g", "datatype": "BYTES", "shape": [-1, 1], "parameters": {"content_type": "str"}},
            {"name": "x1", "datatype": "FP64", "shape": [-1, 1]},
            {"name": "x2", "datatype": "FP64", "shape": [-1, 1]},
            {"name": "k", "datatype": "INT64", "shape": [-1, 1]},
        ],
        "outputs": [{"name": "predict", "datatype": "FP64", "shape": [-1, 1]}],
    }
    for name, model, said in [("regression", regression, {}), ("three", three, {}), ("pipeline", pipeline, frame)]:
        own = os.path.join(folder, name)
        os.makedirs(own, exist_ok=True)
        joblib.dump(model, os.path.join(own, "model.joblib"))
        parameters = {"uri": "./model.joblib", "version": "v1"}
        if said:
            parameters["content_type"] = "pd"
        with open(os.path.join(own, "model-settings.json"), "w") as file:
            json.dump({"name": name, "implementation": "mlserver_sklearn.SKLearnModel", "parameters": parameters, **said}, file)
else:
    import mlflow
    from mlflow.models import infer_signature

    for name, model, method in [("pipeline", pipeline, "predict"), ("two", two, "predict_proba")]:
        signature = infer_signature(rows[all_columns], getattr(model, method)(rows[all_columns]))
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            mlflow.sklearn.save_model(model, path, serialization_format="cloudpickle", signature=signature, pyfunc_predict_fn=method)
