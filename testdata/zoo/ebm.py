"""Explainable boosting machines of interpret through ebm2onnx, and what interpret says
that each term adds on the rows of their values: testdata/golden/ebm.json."""
import os
import warnings

import ebm2onnx
import numpy as np
import pandas as pd
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

from zoo import HERE, ROWS, Zoo, dump, numbers, rows

warnings.simplefilter("ignore")
zoo = Zoo("interpret", "interpret-core", "ebm2onnx")
machines = {}
N = 300
rng = np.random.default_rng(5)
frame = pd.DataFrame({"age": rng.standard_normal(N), "income": rng.standard_normal(N), "hours": rng.standard_normal(N), "city": np.array(["Bonn", "Köln", "Ulm"])[rng.integers(0, 3, N)]})
ETA = (frame.age + np.sin(2 * frame.income) + frame.hours * (frame.city == "Bonn")).to_numpy()
T = rows(np.random.default_rng(6), 3, (0, 1, -1, 3, -3))
test = {"age": T[:, 0], "income": T[:, 1], "hours": T[:, 2], "city": np.array(["Bonn", "Köln", "Ulm"])[np.arange(ROWS) % 3].astype(object)}
few = {"max_bins": 12, "max_interaction_bins": 5, "outer_bags": 2, "max_rounds": 40, "n_jobs": 1, "random_state": 0}


def network(name, why, model, y, columns, **options):
    def make():
        model.fit(frame[columns], y)
        proto = ebm2onnx.to_onnx(model, {c: "str" if c == "city" else "float" for c in columns}, **options)
        scores = model.eval_terms(pd.DataFrame({c: test[c] for c in columns}).astype({c: float for c in columns if c != "city"}))
        machines[name] = {
            "terms": [{"columns": [columns[i] for i in of], "scores": numbers(scores[:, t].reshape(ROWS, -1).T.astype(np.float32))} for t, of in enumerate(model.term_features_)],
            "intercept": numbers(np.float32(model.intercept_))}
        zoo.add(name, getattr(proto, "model", proto), {i.name: test[i.name].reshape([-1] + [1] * (len(i.type.tensor_type.shape.dim) - 1)) for i in proto.graph.input}, why, seed=5)
    zoo.attempt(name, make)


number, all_columns = ["age", "income", "hours"], list(frame.columns)
R, C = ExplainableBoostingRegressor, ExplainableBoostingClassifier
# ebm2onnx 3.3.1 cannot write a regression's pairs (it asks for classes).
network("regressor", "main effects alone", R(**few, interactions=0), ETA, number)
network("regressor_text", "a column of text", R(**few, interactions=0), ETA, all_columns)
network("explain", "the scores of the terms as a second output", R(**few, interactions=0), ETA, number, explain=True)
network("classifier", "two classes, probabilities", C(**few, interactions=0), ETA > 0, number, predict_proba=True)
network("pairs", "two pairs next to the main effects", C(**few, interactions=2), (ETA > 0).astype(int), number, predict_proba=True)
network("text", "a column of text and a pair", C(**few, interactions=1), (ETA > 0).astype(int), all_columns, predict_proba=True)
network("classes", "three classes", C(**few, interactions=0), np.digitize(ETA, [-0.7, 0.7]), number, predict_proba=True)
zoo.close()
with open(os.path.join(HERE, "..", "golden", "ebm.json"), "w") as f:
    dump({"versions": zoo.versions, "machines": machines}, f)
