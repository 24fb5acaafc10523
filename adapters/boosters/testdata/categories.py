"""Writes categories-LIBRARY-VERSION.json.gz: small boosters by the library itself, trained on pandas' categories of which some are missing, and what it predicts.

    python categories.py xgboost     with the xgboost that is installed, in this folder
    python categories.py lightgbm

Each case is why it is there. Cells are texts, as files have them: a missing one is null, a truth value True or False. "score" is
the raw score (margin). CatBoost has no missing categories, and ebm.py has those of InterpretML. Versions: xgboost 3.2.0; lightgbm 4.7.0.
"""
import gzip, json, os, sys, tempfile

import numpy as np
import pandas as pd

rng = np.random.default_rng(53)
N = 400
draw = lambda *levels: pd.Categorical(np.array([*levels, None], object)[rng.integers(0, len(levels) + 1, N)], categories=levels)
x = rng.normal(size=N)
x[rng.random(N) < 0.1] = np.nan
frame = pd.DataFrame({"x": x, "c": draw("a", "b", "d d"), "k": draw("low", "high"), "yes": draw(False, True), "n": draw(3, 7, 12)})
code = lambda name: frame[name].cat.codes.to_numpy()
y = np.nan_to_num(x) * (code("k") == 1) + np.array([3, -1, 0, 2])[code("c") + 1] + np.array([-2, 0, 1])[code("yes") + 1] + np.array([1, -1, 0, 0.5])[code("n") + 1] * (code("c") == 0) + 0.1 * rng.normal(size=N)
cases = []


def text(v):
    return None if v is None or v != v else v if isinstance(v, float) else str(v)


def train(name, columns, binary=False, **params):
    data, label = frame[columns], (y > 0).astype(int) if binary else y
    file = os.path.join(tempfile.mkdtemp(), "model.json")
    if library.__name__ == "xgboost":
        d = library.DMatrix(data, label, enable_categorical=True)
        b = library.train({"max_depth": 3, "eta": 0.4, "tree_method": "hist", "nthread": 1, "objective": "binary:logistic" if binary else "reg:squarederror", **params}, d, 6)
        score = b.predict(d, output_margin=True)
    else:
        b = library.train({"num_leaves": 7, "min_data_in_leaf": 5, "min_data_per_group": 1, "cat_smooth": 1, "learning_rate": 0.4, "verbose": -1, "num_threads": 1, "seed": 1, "deterministic": True, "objective": "binary" if binary else "regression", **params}, library.Dataset(data, label), 6)
        score = b.predict(data, raw_score=True)
    b.save_model(file)
    with open(file, "rb") as f:
        cases.append({"name": name, "file": f.read().hex(), "names": columns, "columns": [[text(v) for v in data[n].iloc[:60].tolist()] for n in columns], "score": [[repr(float(s))] for s in score[:60]]})


library = __import__(sys.argv[1])
one, pair = ({"max_depth": 1}, {"max_depth": 2}) if sys.argv[1] == "xgboost" else ({"num_leaves": 2}, {"num_leaves": 3})
train("one split", ["x", "c", "k"], **one)
train("pairs", ["c", "k"], **pair)
if sys.argv[1] == "lightgbm":  # XGBoost takes no truth values as categories
    train("truth values", ["yes", "x"], **pair)
    train("truth values alone", ["yes"], **one)
everything = ["x", "c", "k", "n"] + ["yes"] * (sys.argv[1] == "lightgbm")
train("all columns", everything)
train("all columns, two classes", everything, binary=True)
train("numbers", ["n", "c"], **pair)
with open(f"categories-{sys.argv[1]}-{library.__version__}.json.gz", "wb") as f:
    f.write(gzip.compress(json.dumps({"library": sys.argv[1], "version": library.__version__, "cases": cases}, separators=(",", ":")).encode(), 9, mtime=0))
print(sys.argv[1], library.__version__, len(cases), "cases of categories")
