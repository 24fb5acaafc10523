"""Writes golden-LIBRARY-VERSION.json.gz: small boosters by the library itself and what it predicts for some rows.

    python golden.py xgboost     with the xgboost that is installed, in this folder
    python golden.py lightgbm

Each case is why it is there. Rows hold missing values, categories that training did not have, numbers
exactly on thresholds and their neighbours in float32 and float64. "score" is the raw score (margin), "response" what predict
answers. Versions: xgboost 1.7.6, 2.1.4, 3.2.0; lightgbm 3.3.5, 4.3.0, 4.7.0.
"""
import base64, gzip, json, math, re, sys, tempfile, os
import numpy as np

rng = np.random.default_rng(52)
N = 150
X = rng.normal(size=(N, 4))
X[:, 3] = rng.integers(0, 9, N)  # a category
eta = X[:, 0] + np.sin(2 * X[:, 1]) * X[:, 2] + np.array([0.5, -1, 0, 2, 0.1, -0.3, 1, -2, 0.7])[X[:, 3].astype(int)]
X[rng.random((N, 4)) < 0.12] = np.nan
X = X.astype(np.float32).astype(np.float64)  # as files of both libraries hold them
noise = rng.normal(size=N) * 0.3
y = eta + noise
responses = {
    "number": y, "positive": np.exp(y / 2), "count": rng.poisson(np.exp(y / 3)).astype(float), "binary": (y > 0).astype(float),
    "share": 1 / (1 + np.exp(-y)), "class": np.digitize(y, [-0.7, 0.7]).astype(float), "two": np.c_[y, np.cos(eta)], "rank": np.clip(np.digitize(y, [-1, 0, 1]), 0, 3).astype(float),
}


def rows_of(text):
    """Rows for a model: some of training, and some with its thresholds and what is next to them."""
    out = [list(X[i]) for i in range(10)]
    cuts = sorted(set(text))
    cuts = [cuts[i] for i in np.unique(np.linspace(0, len(cuts) - 1, 8).astype(int))] if cuts else []
    for c in cuts:
        for v in (c, np.nextafter(np.float32(c), np.float32(9)), np.nextafter(np.float32(c), np.float32(-9))):
            out.append([float(v)] * 3 + [float(len(out) % 9)])
        out.append([float(np.nextafter(c, 9)), float(c), float(np.nextafter(c, -9)), 2.0])
    nan = math.nan
    out += [[nan] * 4, [nan, 0.1, nan, 3], [0.0, 0.0, 0.0, 0.0], [-0.0, 1e-36, -1e-36, 1.0], [1e-35, -1e-35, 1.1e-35, nan], [0.2, nan, 1, nan], [1, 2, 3, 11], [1, 2, 3, 40], [-1, 0, 1, -1], [1e30, -1e30, 5, 8], [0.3, 0.2, 0.1, 2.5]]
    return out


def clean(a):
    return [[None if math.isnan(v) else v for v in row] for row in np.asarray(a, float).reshape(len(a), -1).tolist()]


def raw(a):
    """Numbers of float32 or float64 as texts that read back as the same."""
    a = np.asarray(a)
    return [[repr(float(v)) for v in row] for row in a.reshape(len(a), -1)]


cases = []


def add(name, file, rows, score, response, names=None):
    cases.append({"name": name, "file": base64.b64encode(file).decode(), "rows": clean(rows), "score": raw(score), "response": raw(response), "names": names or []})


def xgboost():
    import xgboost as xgb
    version = tuple(int(v) for v in xgb.__version__.split("."))
    base = {"max_depth": 3, "eta": 0.4, "seed": 1, "nthread": 1}

    def train(name, params, response, rounds=4, ubj=False, names=None, types=None, data=X, width=None, **more):
        label = responses[response] if isinstance(response, str) else response
        d = xgb.DMatrix(data, label, feature_names=names, feature_types=types, enable_categorical=types is not None, **more)
        if params.get("objective") == "survival:aft":
            d.set_float_info("label_lower_bound", responses["positive"]); d.set_float_info("label_upper_bound", np.where(responses["positive"] > 2, np.inf, responses["positive"]))
        try:
            b = xgb.train({**base, **params}, d, rounds)
        except Exception as err:
            print("not trained:", name, str(err).split("\n")[0][:200])
            return
        save(name, b, ubj, names, types)

    def save(name, b, ubj=False, names=None, types=None, limit=None):
        path = os.path.join(tempfile.mkdtemp(), "m.ubj" if ubj else "m.json")
        b.save_model(path)
        text = b.save_raw("json").decode()
        cuts = [float(np.float32(v)) for v in re.findall(r"[-+0-9.eE]+", " ".join(re.findall(r'"split_conditions":\[([^\]]*)\]', text))) if math.isfinite(float(v)) and abs(float(v)) < 1e6]
        rows = np.array(rows_of(cuts))
        d = xgb.DMatrix(rows, feature_names=names, feature_types=types, enable_categorical=types is not None)
        own = {} if limit is None else {"iteration_range": (0, limit)}
        add(name, open(path, "rb").read(), rows, b.predict(d, output_margin=True, **own), b.predict(d, **own), names)

    train("squared error", {}, "number")
    train("squared error, ubj", {}, "number", ubj=True)
    train("names", {}, "number", names=["age", "body mass", "größe", "kind"])
    train("names, ubj", {}, "number", names=["age", "body mass", "größe", "kind"], ubj=True)
    train("exact", {"tree_method": "exact"}, "number")
    train("one split", {"max_depth": 1}, "number", 12)
    train("by loss, deep", {"grow_policy": "lossguide", "max_leaves": 24, "max_depth": 0, "tree_method": "hist"}, "number", 3)
    train("one leaf", {"gamma": 1e9}, "number", 2)
    train("no rounds", {}, "number", 0)
    train("base score", {"base_score": 7.25}, "number")
    train("squared log error", {"objective": "reg:squaredlogerror"}, "positive")
    train("absolute error", {"objective": "reg:absoluteerror"}, "number")
    train("pseudo Huber", {"objective": "reg:pseudohubererror"}, "number")
    train("logistic regression", {"objective": "reg:logistic"}, "share")
    train("binary", {"objective": "binary:logistic"}, "binary")
    train("binary, base score", {"objective": "binary:logistic", "base_score": 0.3}, "binary")
    train("binary, weighted", {"objective": "binary:logistic", "scale_pos_weight": 3}, "binary", ubj=True)
    train("binary, raw", {"objective": "binary:logitraw", "base_score": 0.3}, "binary")
    train("hinge", {"objective": "binary:hinge"}, "binary")
    train("Poisson", {"objective": "count:poisson"}, "count")
    train("Poisson, base score", {"objective": "count:poisson", "base_score": 2.5}, "count", ubj=True)
    train("gamma", {"objective": "reg:gamma"}, "positive")
    train("Tweedie", {"objective": "reg:tweedie", "tweedie_variance_power": 1.3}, "count")
    train("Cox", {"objective": "survival:cox"}, np.where(responses["binary"] > 0, responses["positive"], -responses["positive"]))
    train("accelerated failure time", {"objective": "survival:aft", "aft_loss_distribution": "logistic"}, "positive")
    train("softmax", {"objective": "multi:softmax", "num_class": 3}, "class", 3)
    train("softprob", {"objective": "multi:softprob", "num_class": 3}, "class", 3)
    train("softprob, ubj", {"objective": "multi:softprob", "num_class": 3, "base_score": 0.2}, "class", 3, ubj=True)
    for objective in ("rank:pairwise", "rank:ndcg", "rank:map"):
        train(objective, {"objective": objective}, "rank" if objective != "rank:map" else "binary", group=[50, 50, 50])
    train("dart", {"booster": "dart", "rate_drop": 0.5, "skip_drop": 0.1}, "number", 8)
    train("dart, forest", {"booster": "dart", "rate_drop": 0.5, "normalize_type": "forest", "objective": "multi:softprob", "num_class": 3}, "class", 4, ubj=True)
    train("random forest", {"num_parallel_tree": 5, "subsample": 0.6, "colsample_bynode": 0.7, "eta": 1}, "number", 1)
    train("parallel classes", {"num_parallel_tree": 2, "subsample": 0.6, "objective": "multi:softprob", "num_class": 3}, "class", 2)
    train("two targets", {"tree_method": "hist"}, "two")
    train("two targets, ubj", {"tree_method": "hist"}, "two", ubj=True)
    train("linear", {"booster": "gblinear"}, "number", data=np.nan_to_num(X))
    train("linear, binary", {"booster": "gblinear", "objective": "binary:logistic"}, "binary", data=np.nan_to_num(X), ubj=True)
    train("linear, classes", {"booster": "gblinear", "objective": "multi:softprob", "num_class": 3}, "class", data=np.nan_to_num(X))
    kinds, named = ["q", "q", "q", "c"], ["a", "b", "c", "kind"]
    Z = X.copy()
    train("categories", {"tree_method": "hist", "max_cat_to_onehot": 1}, "number", names=named, types=kinds, data=Z)
    train("categories, one by one", {"tree_method": "hist", "max_cat_to_onehot": 20}, "number", names=named, types=kinds, data=Z)
    train("categories, ubj", {"tree_method": "hist", "max_cat_to_onehot": 1, "objective": "binary:logistic"}, "binary", names=named, types=kinds, data=Z, ubj=True)
    train("integers", {}, "number", names=named, types=["float", "float", "float", "int"])
    if version >= (2, 0):
        vector = {"tree_method": "hist", "multi_strategy": "multi_output_tree"}
        train("two targets, vectors", vector, "two")
        train("two targets, vectors, ubj", vector, "two", ubj=True)
        train("classes, vectors", {**vector, "objective": "multi:softprob", "num_class": 3}, "class", 3)
        train("quantile", {"objective": "reg:quantileerror", "quantile_alpha": 0.3}, "number")
        train("quantiles", {"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.5, 0.9]}, "number")
    fit = xgb.XGBRegressor(n_estimators=40, max_depth=4, early_stopping_rounds=2, random_state=1)
    fit.fit(X[:100], y[:100], eval_set=[(X[100:], y[100:])], verbose=False)
    path = os.path.join(tempfile.mkdtemp(), "m.json")
    fit.save_model(path)
    rows = np.array(rows_of([]))
    add("stopped early, scikit-learn", open(path, "rb").read(), rows, fit.predict(rows, output_margin=True), fit.predict(rows))
    b = xgb.train({**base, "eta": 1, "max_depth": 6}, xgb.DMatrix(X[:100], y[:100]), 40, evals=[(xgb.DMatrix(X[100:], y[100:]), "v")], early_stopping_rounds=2, verbose_eval=False)
    save("stopped early", b)
    return xgb.__version__


def lightgbm():
    import lightgbm as lgb
    base = {"num_leaves": 7, "min_data_in_leaf": 5, "learning_rate": 0.4, "verbose": -1, "num_threads": 1, "seed": 1, "deterministic": True, "min_data_in_bin": 1, "max_bin": 40}

    def train(name, params, response, rounds=4, data=X, names="auto", kinds="auto", **more):
        label = responses[response] if isinstance(response, str) else response
        try:
            b = lgb.train({**base, **params}, lgb.Dataset(data, label, feature_name=names, categorical_feature=kinds, params={**base, **params}, free_raw_data=False, **more), rounds)
        except Exception as err:
            print("not trained:", name, str(err).split("\n")[0][:200])
            return
        path = os.path.join(tempfile.mkdtemp(), "m.txt")
        b.save_model(path)
        text = open(path).read()
        cuts = [float(v) for line in re.findall(r"^threshold=(.*)$", text, re.M) for v in line.split() if math.isfinite(float(v))]
        rows = np.array(rows_of(cuts))
        b = lgb.Booster(model_file=path)  # what is written, which version 3.3 rounds in linear leaves
        add(name, text.encode(), rows, b.predict(rows, raw_score=True), b.predict(rows), None if names == "auto" else names)

    train("regression", {}, "number")
    train("names", {}, "number", names=["age", "bmi", "größe", "kind"])
    for objective in ("l1", "huber", "fair", "quantile", "mape"):
        train(objective, {"objective": objective}, "number")
    train("square root", {"reg_sqrt": True}, "positive")
    for objective, response in (("poisson", "count"), ("gamma", "positive"), ("tweedie", "count"), ("cross_entropy", "share"), ("cross_entropy_lambda", "share"), ("binary", "binary")):
        train(objective, {"objective": objective}, response)
    train("binary, sigmoid 2.5", {"objective": "binary", "sigmoid": 2.5}, "binary")
    train("binary, unbalanced", {"objective": "binary", "is_unbalance": True, "boost_from_average": False}, "binary")
    train("multiclass", {"objective": "multiclass", "num_class": 3}, "class", 3)
    train("multiclassova", {"objective": "multiclassova", "num_class": 3}, "class", 3)
    train("multiclassova, sigmoid 0.5", {"objective": "multiclassova", "num_class": 3, "sigmoid": 0.5}, "class", 3)
    train("lambdarank", {"objective": "lambdarank"}, "rank", group=[50, 50, 50])
    train("rank_xendcg", {"objective": "rank_xendcg"}, "rank", group=[50, 50, 50])
    train("dart", {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0}, "number", 8)
    train("goss", {"boosting": "goss"}, "number", 8)
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    train("random forest", forest, "number", 5)
    train("random forest, binary", {**forest, "objective": "binary"}, "binary", 5)
    train("random forest, classes", {**forest, "objective": "multiclass", "num_class": 3}, "class", 3)
    train("zero as missing", {"zero_as_missing": True}, "number", data=np.where(np.abs(X) < 0.4, 0, X))
    train("zero as missing, binary", {"zero_as_missing": True, "objective": "binary"}, "binary", data=np.nan_to_num(np.where(np.abs(X) < 0.4, 0, X)))
    train("no missing", {}, "number", data=np.nan_to_num(X, nan=0.7))
    train("missing not used", {"use_missing": False}, "number")
    train("categories", {"max_cat_to_onehot": 1, "min_data_per_group": 1, "cat_smooth": 1}, "number", kinds=[3])
    train("categories, one by one", {"max_cat_to_onehot": 20, "min_data_per_group": 1, "cat_smooth": 1}, "number", kinds=[3])
    many = X.copy(); many[:, 3] = many[:, 3] * 13
    train("categories, large codes", {"max_cat_to_onehot": 1, "min_data_per_group": 1, "cat_smooth": 1, "objective": "binary"}, "binary", kinds=[3], data=many)
    train("linear leaves", {"linear_tree": True}, "number")
    train("linear leaves, binary", {"linear_tree": True, "objective": "binary", "linear_lambda": 0.1}, "binary")
    train("linear leaves, categories", {"linear_tree": True, "min_data_per_group": 1, "cat_smooth": 1}, "number", kinds=[3])
    train("linear leaves, classes", {"linear_tree": True, "objective": "multiclass", "num_class": 3}, "class", 2)
    train("one leaf", {"min_data_in_leaf": 1000}, "number", 2)
    train("constant feature", {}, "number", data=np.c_[X[:, :3], np.ones(N)])
    train("deep", {"num_leaves": 31, "min_data_in_leaf": 1}, "number", 2)
    train("monotone", {"monotone_constraints": [1, 0, 0, 0]}, "number")
    train("extra trees", {"extra_trees": True, "path_smooth": 1}, "number")
    return lgb.__version__


library = sys.argv[1]
version = {"xgboost": xgboost, "lightgbm": lightgbm}[library]()
with open(f"golden-{library}-{version}.json.gz", "wb") as f:
    f.write(gzip.compress(json.dumps({"library": library, "version": version, "cases": cases}, separators=(",", ":")).encode(), 9, mtime=0))
print(library, version, len(cases), "cases")
