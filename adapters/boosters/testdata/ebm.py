"""Writes interpret-VERSION.json.gz: small explainable boosting machines by InterpretML itself and what they predict for some rows.

    python ebm.py     with the interpret-core that is installed, in this folder

Each case is why it is there. Rows hold missing values, categories that training did not have, and numbers exactly on cuts and
next to them. "score" is the sum of scores, "response" what predict of a regressor and predict_proba of a classifier
answer. Versions: interpret-core 0.6.10, 0.7.8.
"""
import gzip, json, math, os, warnings

warnings.simplefilter("ignore")
import interpret
import numpy as np
import pandas as pd
from interpret.glassbox import ExplainableBoostingClassifier as C
from interpret.glassbox import ExplainableBoostingRegressor as R

rng = np.random.default_rng(52)
N = 300
X = rng.normal(size=(N, 3))
X[rng.random((N, 3)) < 0.1] = np.nan
c = np.array(["a", "b", "ä d", "e"], object)[rng.integers(0, 4, N)]
k = np.array([str(v) for v in rng.integers(0, 3, N)], object)
frame = pd.DataFrame(X, columns=["x1", "x2", "x 3"]).assign(c=c, k=k)
holes = frame.assign(c=np.where(rng.random(N) < 0.1, None, c))
known = np.nan_to_num(X)
noisy = known[:, 0] + np.sin(2 * known[:, 1]) * known[:, 2] + 2 * (c == "a") - (k == "1") * known[:, 0] + 0.3 * rng.normal(size=N)
y = {"number": noisy, "positive": np.exp(noisy / 2), "count": rng.poisson(np.exp(noisy / 3)).astype(float), "binary": (noisy > 0).astype(int),
     "class": np.digitize(noisy, [-0.7, 0.7]), "texts": np.array(["low", "middle", "high"])[np.digitize(noisy, [-0.7, 0.7])], "truth": noisy > 0}
BASE = {"outer_bags": 2, "max_rounds": 30, "n_jobs": 1, "max_bins": 8, "max_interaction_bins": 4, "random_state": 1}
TYPES = {"x1": "continuous", "x2": "continuous", "x 3": "continuous", "c": "nominal", "k": "nominal"}
cases = []


def rows_of(model, data):
    out = data.iloc[:15].to_dict("records")
    last = out[0]
    for f in model["ebm"]["features"]:
        for level in f.get("cuts", []):
            for cut in level[:4]:
                for v in (cut, np.nextafter(cut, 9e9), np.nextafter(cut, -9e9)):
                    last = {**last, f["name"]: float(v)}
                    out.append(last)
    for v in (math.nan, 0.0, -0.0, 1e300, -1e300):
        out.append({n: v if TYPES[n] == "continuous" else last[n] for n in data.columns})
    if "c" in data:
        out += [{**last, "c": "never seen"}, {**last, "c": None}, {**last, "k": "77"}]
    return pd.DataFrame(out, columns=data.columns)


def train(name, response, data=frame, cls=R, edit=None, detail="minimal", **params):
    m = cls(feature_types=[TYPES[n] if n not in params.get("ordinal", {}) else params["ordinal"][n] for n in data.columns], **{**BASE, **{p: v for p, v in params.items() if p != "ordinal"}})
    try:
        m.fit(data, y[response])
        if edit:
            edit(m)
        text = json.dumps(m.to_jsonable(detail), allow_nan=False)
    except Exception as fault:
        print("not trained:", name, str(fault)[:150])
        return
    rows = rows_of(json.loads(text), data)
    response = m.predict_proba(rows) if cls is C else m.predict(rows)
    if cls is C and response.shape[1] == 2:
        response = response[:, 1]
    from interpret.glassbox._ebm._bin import ebm_predict_scores  # predict, before its link

    from interpret.utils._clean_x import preclean_X  # as predict does
    clean, n = preclean_X(rows, m.feature_names_in_, m.feature_types_in_)[:2]
    score = ebm_predict_scores(clean, n, None, m.feature_names_in_, m.feature_types_in_, m.bins_, m.intercept_, m.term_scores_, m.term_features_)
    cases.append({
        "name": name, "json": text, "text": [n for n in data.columns if TYPES[n] == "nominal"],
        "columns": [[None if v is None or isinstance(v, float) and math.isnan(v) else v for v in rows[n].tolist()] for n in data.columns],
        "score": [[repr(float(v)) for v in np.ravel(r)] for r in score], "response": [[repr(float(v)) for v in np.ravel(r)] for r in response],
    })


numbers = frame[["x1", "x2", "x 3"]]
train("numbers", "number", numbers, interactions=0)
train("numbers, pairs", "number", numbers, interactions=2)
train("categories, pairs", "number", interactions=4)
train("categories alone", "number", frame[["c", "k"]], interactions=1)
train("three columns", "number", interactions=[("x1", "x2", "x 3"), ("x1", "c"), ("x2", "c", "k")])
train("missing categories", "number", holes, interactions=3)
train("all that is written", "number", detail="all", interactions=1)
train("what can be merged", "number", detail="mergeable", interactions=1)
train("many bins", "number", max_bins=64, interactions=0)
train("two bins", "number", numbers, max_bins=3, interactions=0)
train("ordinal", "number", ordinal={"k": ["0", "1", "2"]}, interactions=2)
train("no missing values in training", "number", frame.fillna(0.25), interactions=2)
train("one term", "number", numbers[["x2"]], interactions=0)
train("poisson", "count", objective="poisson_deviance", interactions=1)
train("tweedie", "positive", objective="tweedie_deviance:variance_power=1.5")
train("gamma", "positive", objective="gamma_deviance")
train("log of the mean", "positive", objective="rmse_log")
train("huber", "number", objective="pseudo_huber:delta=1.0")
train("two classes", "binary", cls=C, interactions=2)
train("two classes, truth values", "truth", numbers, cls=C, interactions=0)
train("three classes", "class", cls=C, interactions=0)
train("three classes, pairs", "class", cls=C, interactions=2)
train("three classes with names", "texts", cls=C, interactions=0)
train("monotone", "number", numbers, interactions=0, monotone_constraints=[1, 0, 0])


def drop(m):
    m.remove_terms([1])
    m.sweep() if hasattr(m, "sweep") else None


train("edited: a term removed", "number", interactions=2, edit=drop)
train("edited: a term scaled", "number", interactions=1, edit=lambda m: m.scale(0, 0.5))
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, f"interpret-{interpret.__version__}.json.gz"), "wb") as out:
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0, compresslevel=9, filename="") as g:
        g.write(json.dumps({"version": interpret.__version__, "cases": cases}).encode())
print(len(cases), "cases of interpret", interpret.__version__)
