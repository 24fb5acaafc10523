"""Writes catboost-VERSION.json.gz: small models by CatBoost itself, as .cbm (in hexadecimal digits) and as JSON, and what it predicts for some rows.

    python catboost.py     with the catboost that is installed, in this folder

Each case is why it is there. Rows hold missing values, categories that training did not have, numbers exactly on
borders and their neighbours in float32 and float64. "score" is RawFormulaVal, "response" what predict of a regressor and
predict_proba of a classifier answer. "refused" are models that pho does not read. "hashes" are what CatBoost calls
the categories. Models of statistics of categories (CTRs) of the kinds FloatTargetMeanValue and
FeatureFreq, which only a GPU trains, are JSON in which another kind has that name, as the library reads it and predicts.
Versions: catboost 1.2.2, 1.2.10.
"""
import gzip, json, math, os, sys, tempfile

sys.path[:] = [p for p in sys.path if p not in ("", os.path.dirname(os.path.abspath(__file__)))]  # this file has the name of the library
import catboost
import numpy as np
import pandas as pd

rng = np.random.default_rng(52)
N = 200
X = rng.normal(size=(N, 3))
X[rng.random((N, 3)) < 0.1] = np.nan
c = np.array(["a", "b", "ä long name, of a category", "d d"])[rng.integers(0, 4, N)]
k = rng.integers(0, 3, N)
number = pd.DataFrame(X, columns=["x1", "x2", "x 3"])
mixed = number.assign(c=c, k=k)
known = np.nan_to_num(X)
eta = known[:, 0] + np.sin(2 * known[:, 1]) * known[:, 2] + 2 * (c == "a") - (k == 1) * known[:, 0]
noisy = eta + 0.3 * rng.normal(size=N)
y = {
    "number": noisy, "positive": np.exp(noisy / 2), "count": rng.poisson(np.exp(noisy / 3)).astype(float), "binary": (noisy > 0).astype(int),
    "share": 1 / (1 + np.exp(-noisy)), "class": np.digitize(noisy, [-0.7, 0.7]), "texts": np.array(["low", "middle", "high"])[np.digitize(noisy, [-0.7, 0.7])],
    "yes": np.array(["no", "yes"])[(noisy > 0).astype(int)], "two": np.c_[noisy, np.cos(eta)], "labels": np.c_[noisy > 0, eta > 1].astype(int),
    "rank": np.clip(np.digitize(noisy, [-1, 0, 1]), 0, 3).astype(float), "time": np.where(rng.random(N) < 0.3, -1, 1) * np.exp(noisy / 2),
    "bounds": np.c_[np.exp(noisy / 2), np.where(rng.random(N) < 0.3, -1, np.exp(noisy / 2))],
}
groups = np.sort(rng.integers(0, 20, N))
BASE = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 1, "learning_rate": 0.3}
cases, refused = [], []
CATEGORICAL = "ckbgs"  # columns


def rows_of(text, frame):
    """Some rows of training, and some with the model's borders and what is next to them."""
    out = frame.iloc[:8].to_dict("records")
    last = out[0]
    for f in text["features_info"].get("float_features", []):
        for b in (f.get("borders") or [])[1:5]:
            for v in (b, np.nextafter(np.float32(b), np.float32(9)), np.nextafter(np.float32(b), np.float32(-9)), np.nextafter(b, 9), np.nextafter(b, -9)):
                last = dict(last)
                last[frame.columns[f["flat_feature_index"]]] = float(v)
                out.append(last)
    for v in (math.nan, 0.0, -0.0, 1e30, -1e30):
        out.append({n: (v if n not in CATEGORICAL else last[n]) for n in frame.columns})
    drawn = [n for n in frame.columns if n in CATEGORICAL]
    if len(frame) > N:  # of the models with statistics: categories in any combination, with any numbers
        for _ in range(40):
            out.append({n: frame[n].iloc[more.integers(len(frame))] for n in frame.columns})
        for n in drawn:
            last = {**frame.iloc[more.integers(len(frame))].to_dict(), n: 5 if n == "k" else True if n == "b" else "new"}
            out.append(last)
        last = frame.iloc[3].to_dict()
    if "c" in frame:
        for category in ("never seen", "", "A", "a "):
            out.append({**last, "c": category})
        if "k" in frame:
            out.append({**last, "k": 77})
            out.append({**last, "k": -1})
    return pd.DataFrame(out, columns=frame.columns)


def save(name, model, frame, names=True, kept=None):
    """Adds a case; every third one, or where kept says so, has the JSON, too, whose numbers are those of the binary file."""
    kept = len(cases) % 3 == 0 if kept is None else kept
    folder = tempfile.mkdtemp()
    files = {}
    for form in ("cbm", "json"):
        path = os.path.join(folder, form)
        model.save_model(path, format=form)
        with open(path, "rb") as f:
            files[form] = f.read()
    text = json.loads(files["json"])
    rows = rows_of(text, frame)
    fed = rows if names else rows.to_numpy()
    try:
        score = model.predict(fed, prediction_type="RawFormulaVal")
    except catboost.CatBoostError:  # missing numbers are forbidden
        rows = rows.dropna()
        fed = rows if names else rows.to_numpy()
        score = model.predict(fed, prediction_type="RawFormulaVal")
    response = model.predict_proba(fed) if hasattr(model, "predict_proba") else model.predict(fed)
    response = np.asarray(response, float)
    if response.ndim == 2 and response.shape[1] == 2 and np.ndim(score) == 1:
        response = response[:, 1]
    cases.append({
        "name": name, "cbm": files["cbm"].hex(), "json": files["json"].decode() if kept else "", "text": [n for n in frame.columns if n in CATEGORICAL],
        "columns": [[None if isinstance(v, float) and math.isnan(v) else v if n not in CATEGORICAL else str(v) for v in rows[n].tolist()] for n in frame.columns],
        "score": [[repr(float(v)) for v in np.ravel(r)] for r in score], "response": [[repr(float(v)) for v in np.ravel(r)] for r in response],
    })


def train(name, response, frame=number, names=True, cls=None, kept=None, **params):
    target = y[response]
    if cls is None:
        cls = catboost.CatBoostRegressor
    cats = [n for n in frame.columns if n in CATEGORICAL]
    p = {**BASE, **params}
    if p.get("grow_policy") == "Lossguide":
        p.pop("depth"); p.setdefault("max_leaves", 7)
    more = {}
    if p.pop("grouped", False):
        more["group_id"] = groups
    data = frame if names else frame.to_numpy()
    pool = catboost.Pool(data, target, cat_features=cats or None, **more)
    m = cls(p) if cls is catboost.CatBoost else cls(**p)
    try:
        m.fit(pool)
    except Exception as fault:
        print("not trained:", name, str(fault)[:150])
        return None
    save(name, m, frame, names, kept)
    return m


C = catboost.CatBoostClassifier
ONE = {"one_hot_max_size": 10}
for grow in ("SymmetricTree", "Depthwise", "Lossguide"):
    train(f"{grow}, numbers", "number", grow_policy=grow)
    train(f"{grow}, categories", "number", mixed, grow_policy=grow, **ONE)
    train(f"{grow}, two classes", "binary", mixed, cls=C, grow_policy=grow, **ONE)
    train(f"{grow}, three classes", "class", mixed, cls=C, grow_policy=grow, **ONE)
    for mode in ("Min", "Max"):
        train(f"{grow}, missing as {mode}", "number", grow_policy=grow, nan_mode=mode)
train("forbidden, without missing numbers", "number", number.fillna(0.5), nan_mode="Forbidden")
train("no missing numbers in training", "number", number.fillna(0.5))
train("columns without names", "number", names=False)
train("depth 1", "number", mixed, depth=1, **ONE)
train("depth 8", "number", mixed, depth=8, iterations=2, **ONE)
train("one tree", "number", iterations=1)
train("categories alone", "number", mixed[["c", "k"]], **ONE)
train("categories first", "number", mixed[["c", "x1", "k", "x2"]], **ONE)
train("without a mean to begin from", "number", boost_from_average=False)
train("plain boosting, few borders", "number", border_count=4)
for loss in ("MAE", "MAPE", "Quantile:alpha=0.2", "Huber:delta=1", "Expectile:alpha=0.3", "LogCosh", "Lq:q=3", "RMSEWithUncertainty", "MultiQuantile:alpha=0.1,0.5,0.9"):
    train(loss, "number", loss_function=loss)
train("Poisson", "count", loss_function="Poisson")
train("Poisson, categories", "count", mixed, loss_function="Poisson", **ONE)
train("Tweedie", "positive", loss_function="Tweedie:variance_power=1.5")
train("LogLinQuantile", "positive", loss_function="LogLinQuantile:alpha=0.4")
train("MultiRMSE", "two", loss_function="MultiRMSE")
train("MultiRMSE, lossguide", "two", loss_function="MultiRMSE", grow_policy="Depthwise")
train("MultiRMSEWithMissingValues", "two", loss_function="MultiRMSEWithMissingValues")
train("Cox", "time", loss_function="Cox")
train("SurvivalAft", "bounds", loss_function="SurvivalAft:dist=Normal")
train("CrossEntropy", "share", cls=C, loss_function="CrossEntropy")
train("Focal", "binary", cls=C, loss_function="Focal:focal_alpha=0.25;focal_gamma=2")
train("OneVsAll", "class", cls=C, loss_function="MultiClassOneVsAll")
train("OneVsAll, names", "texts", mixed, cls=C, loss_function="MultiClassOneVsAll", **ONE)
train("classes with names", "texts", cls=C)
train("two classes with names", "yes", cls=C, auto_class_weights="Balanced")
train("MultiClass of two", "binary", cls=C, loss_function="MultiClass")
train("MultiLogloss", "labels", cls=C, loss_function="MultiLogloss")
train("MultiCrossEntropy", "labels", cls=C, loss_function="MultiCrossEntropy")
for loss in ("QueryRMSE", "YetiRank", "PairLogit", "QuerySoftMax", "StochasticRank:metric=DCG"):
    train(loss, "rank", cls=catboost.CatBoost, grouped=True, loss_function=loss)
train("monotone", "number", monotone_constraints=[1, 0, 0])
train("Bayesian bootstrap, categories", "number", mixed, bootstrap_type="Bayesian", **ONE)
train("Newton leaves, lossguide, categories", "count", mixed, loss_function="Poisson", grow_policy="Lossguide", **ONE)
m = train("two models, summed first", "number", mixed, **ONE)
m = train("scale and bias", "number", mixed, **ONE)
m.set_scale_and_bias(0.5, 3.25)
cases.pop()
save("scale and bias", m, mixed)
m = train("shrunk", "number", iterations=8)
m.shrink(3)
cases.pop()
save("shrunk", m, number)
a = catboost.CatBoostRegressor(**BASE).fit(number, y["number"])
b = catboost.CatBoostRegressor(**{**BASE, "random_seed": 9}).fit(number, y["number"] / 2)
save("two models, summed", catboost.sum_models([a, b], weights=[1.0, -0.5]), number)


def no(name, model, forms=("cbm", "json")):
    folder = tempfile.mkdtemp()
    own = {"name": name}
    for form in forms:
        path = os.path.join(folder, form)
        try:
            model.save_model(path, format=form)
        except Exception:  # not every model has every format
            continue
        with open(path, "rb") as f:
            own[form] = f.read().hex()
    refused.append(own)


words = [" ".join(rng.choice(["red", "green", "blue", "black"], 3)) for _ in range(N)]
no("text", catboost.CatBoostClassifier(**BASE).fit(catboost.Pool(number.assign(t=words), y["binary"], text_features=["t"])))
no("embeddings", catboost.CatBoostClassifier(**BASE).fit(catboost.Pool(number.assign(e=list(rng.normal(size=(N, 4)))), y["binary"], embedding_features=["e"])))

# Statistics of categories: what the response is hangs on combinations of them, and of one with a number.
more = np.random.default_rng(520)
M = 400
c, k, b, g, s = np.array(["a", "b", "ä long name, of a category", "d d", "E"])[more.integers(0, 5, M)], more.integers(-1, 3, M), more.random(M) < 0.4, more.integers(0, 3, M), more.integers(0, 25, M)
x1, x2 = more.normal(size=(2, M))
x1[more.random(M) < 0.1] = np.nan
counted = pd.DataFrame({"x1": x1, "c": c, "k": k, "x 2": x2, "b": b, "g": np.array(["u", "v", "w"])[g], "s": [f"s{i}" for i in s]})
at = np.unique(c, return_inverse=True)[1]
eta = (2 * more.normal(size=(5, 4, 2))[at, k + 1, (np.nan_to_num(x1) > 0.2).astype(int)] + 2 * more.normal(size=(3, 5))[g, at] + more.normal(size=(25, 2))[s, b.astype(int)] + x2 * (g == 1))
noisy = (eta - eta.mean()) / eta.std() + 0.1 * more.normal(size=M)
groups = np.sort(more.integers(0, 40, M))
y = {
    "number": noisy, "count": more.poisson(np.exp(noisy / 2)).astype(float), "binary": (noisy > 0).astype(int), "class": np.digitize(noisy, [-0.7, 0.7]), "texts": np.array(["low", "middle", "high", "top"])[np.digitize(noisy, [-0.7, 0.4, 1])],
    "two": np.c_[noisy, np.cos(eta)], "rank": np.clip(np.digitize(noisy, [-1, 0, 1]), 0, 3).astype(float),
}
BASE = {**BASE, "iterations": 7, "depth": 4, "model_size_reg": 0, "one_hot_max_size": 3, "max_ctr_complexity": 4}
few = counted[["x1", "c", "k", "g"]]
train("statistics", "number", counted)
train("statistics of single columns", "number", counted, max_ctr_complexity=1)
train("statistics, no values asked for", "number", counted, one_hot_max_size=1)
train("statistics, two classes", "binary", counted, cls=C)
train("statistics, three classes", "class", few, cls=C)
train("statistics, classes with names", "texts", few, cls=C)
train("statistics, OneVsAll", "texts", few, cls=C, loss_function="MultiClassOneVsAll")
train("statistics, Depthwise", "number", few, grow_policy="Depthwise")
train("statistics, Lossguide", "number", few, grow_policy="Lossguide")
train("statistics, Poisson", "count", few, loss_function="Poisson")
no("several targets", train("statistics, MultiRMSE", "two", few, kept=False, loss_function="MultiRMSE", iterations=4), ["json"])
no("several targets", train("statistics, cut twice", "number", few, kept=False, simple_ctr=["Borders:TargetBorderCount=1", "Borders:TargetBorderCount=4"], iterations=20), ["json"])
train("statistics, YetiRank", "rank", few, cls=catboost.CatBoost, grouped=True, loss_function="YetiRank")
train("statistics, QueryRMSE", "rank", few, cls=catboost.CatBoost, grouped=True, loss_function="QueryRMSE")
for mode in ("Min", "Max"):
    train(f"statistics, missing as {mode}", "number", few[["x1", "c", "k"]], nan_mode=mode, combinations_ctr="Borders")
for kind in ("Borders:TargetBorderCount=4", "Buckets:TargetBorderCount=3", "BinarizedTargetMeanValue", "Counter"):
    train(f"statistics, {kind}", "number", few, simple_ctr=kind, combinations_ctr=kind)
train("statistics, all kinds", "number", few, simple_ctr=["Borders:TargetBorderCount=2", "Buckets", "BinarizedTargetMeanValue", "Counter"], combinations_ctr=["Borders:TargetBorderCount=3", "Buckets", "BinarizedTargetMeanValue", "Counter"])
train("statistics, Buckets of three classes", "class", few, cls=C, simple_ctr="Buckets", combinations_ctr="Buckets")
train("statistics, priors", "number", few, simple_ctr=["Borders:Prior=-0.25:Prior=3", "Counter:Prior=0.7"], combinations_ctr=["Borders:Prior=2"], ctr_target_border_count=2)
train("statistics, counted of all rows", "number", few, counter_calc_method="Full", simple_ctr="Counter", ctr_leaf_count_limit=4)
train("statistics of numbers alone", "number", few[["x1", "k"]], one_hot_max_size=1)
train("statistics, no numbers", "number", counted[["c", "g", "s"]], store_all_simple_ctr=True)
m = train("statistics, scale and bias", "number", few)
m.set_scale_and_bias(0.5, 3.25)
cases.pop()
save("statistics, scale and bias", m, few)
categorical = ["c", "k", "g"]
first, second = (catboost.CatBoostRegressor(**{**BASE, "random_seed": seed}).fit(catboost.Pool(few[rows], noisy[rows], cat_features=categorical)) for seed, rows in ((1, c != "E"), (2, c != "a")))
save("statistics of two models, averaged", catboost.sum_models([first, second], weights=[1.0, 0.5], ctr_merge_policy="IntersectingCountersAverage"), few)
for trained, called in (("BinarizedTargetMeanValue", "FloatTargetMeanValue"), ("Counter", "FeatureFreq")):
    m = train(called, "number", few, simple_ctr=trained, combinations_ctr=trained)
    cases.pop()
    path = os.path.join(tempfile.mkdtemp(), "json")
    m.save_model(path, format="json")
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(text.replace(trained, called))
    save(f"statistics, {called}", catboost.CatBoostRegressor().load_model(path, format="json"), few, kept=True)

texts = ["", "d", "0", "-1", "ä"] + ["".join(chr(97 + (i * 7 + n) % 26) for i in range(n)) for n in (3, 4, 7, 8, 9, 12, 16, 17, 20, 32, 33, 40, 63, 64, 65, 66, 127, 128, 129, 150, 191, 192, 193, 300)]
pool = catboost.Pool(pd.DataFrame({"c": texts * 4, "x": range(4 * len(texts))}), np.arange(4 * len(texts)) % 7, cat_features=["c"])
path = os.path.join(tempfile.mkdtemp(), "hashes.json")
catboost.CatBoostRegressor(**{**BASE, "iterations": 1}).fit(pool).save_model(path, format="json", pool=pool)
with open(path) as f:
    hashes = {h["value"]: h["hash"] for h in json.load(f)["features_info"]["cat_features_hash"]}

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, f"catboost-{catboost.__version__}.json.gz"), "wb") as out:
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0, compresslevel=9, filename="") as g:
        g.write(json.dumps({"version": catboost.__version__, "cases": cases, "refused": refused, "hashes": hashes}).encode())
print(len(cases), "cases of catboost", catboost.__version__)
