"""scikit-learn's pipelines through skl2onnx."""
import warnings

import numpy as np
import pandas as pd
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from sklearn import (calibration, cluster, compose, decomposition, discriminant_analysis, dummy, ensemble, feature_extraction, feature_selection, gaussian_process, impute, isotonic,
                     linear_model, mixture, multiclass, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm, tree)
from skl2onnx.common._container import ModelComponentContainer

from zoo import ROWS, Zoo, rows

warnings.simplefilter("ignore")
zoo = Zoo("sklearn", "scikit-learn", "skl2onnx", "pandas")


def plain(add):
    """skl2onnx 1.20 hands numpy's integers of HistGradientBoosting to onnx, which takes
    Python's alone."""
    def add_node(self, *args, **attributes):
        return add(self, *args, **{k: [int(x) if isinstance(x, (np.integer, np.bool_, bool)) else x for x in v] if isinstance(v, list) else v for k, v in attributes.items()})
    return add_node


ModelComponentContainer.add_node = plain(ModelComponentContainer.add_node)
P, N = 4, 200
rng = np.random.default_rng(5)
X = rng.standard_normal((N, P)).astype(np.float32)
ETA = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
Y = (ETA + 0.1 * rng.standard_normal(N)).astype(np.float32)
TWO = (ETA > 0).astype(np.int64)
THREE = np.array(["high", "low", "middle"])[np.digitize(ETA, [-0.7, 0.7])]
POSITIVE = np.exp(0.3 * Y)
TEST = rows(np.random.default_rng(6), P, (0, 1, -1, 3, -3))


def pipe(*steps):
    return pipeline.make_pipeline(*steps)


def numeric(name, model, why, y=Y, x=X, test=TEST, opset=None, tolerance=None, double=False, **options):
    """A model of one matrix of numbers."""
    def make():
        kind = np.float64 if double else np.float32
        model.fit(x, y)
        types = [("X", (DoubleTensorType if double else FloatTensorType)([None, x.shape[1]]))]
        proto = to_onnx(model, initial_types=types, target_opset=opset, options={id(model): options} if options else None)
        zoo.add(name, proto, {"X": test.astype(kind)}, why, tolerance, seed=5)
    zoo.attempt(name, make)


lm = linear_model
numeric("linear", lm.LinearRegression(), "least squares")
numeric("linear_double", lm.LinearRegression(), "the same in double", double=True)
numeric("ridge_scaled", pipe(preprocessing.StandardScaler(), lm.Ridge()), "scaled columns")
numeric("linear_two", lm.LinearRegression(), "two responses", y=np.stack([Y, POSITIVE], 1))
numeric("poisson", lm.PoissonRegressor(), "a log link", y=POSITIVE)
numeric("gamma", lm.GammaRegressor(), "a log link", y=POSITIVE)
numeric("tweedie", lm.TweedieRegressor(power=1.5, link="log"), "a log link", y=POSITIVE)
numeric("logistic", lm.LogisticRegression(), "labels and ZipMap, the default", y=TWO)
numeric("logistic_array", lm.LogisticRegression(), "labels and probabilities as an array", y=TWO, zipmap=False)
numeric("logistic_columns", lm.LogisticRegression(), "an output a class", y=TWO, zipmap="columns")
numeric("logistic_text", lm.LogisticRegression(), "three classes with names", y=THREE)
numeric("logistic_scores", lm.LogisticRegression(), "raw scores", y=THREE, raw_scores=True, zipmap=False)
numeric("sgd", lm.SGDClassifier(loss="log_loss", random_state=0), "stochastic gradients", y=TWO, zipmap=False)
numeric("mlp", neural_network.MLPRegressor(hidden_layer_sizes=(5, 4), max_iter=300, random_state=0), "a neural network")
numeric("mlp_tanh", pipe(preprocessing.StandardScaler(), neural_network.MLPRegressor(hidden_layer_sizes=(5,), activation="tanh", max_iter=300, random_state=0)), "scaled columns")
numeric("mlp_classifier", neural_network.MLPClassifier((5,), max_iter=300, random_state=0), "three classes", y=THREE)
numeric("mlp_binary", neural_network.MLPClassifier((5,), activation="logistic", max_iter=300, random_state=0), "two classes", y=TWO, zipmap=False)
for name, scaler in (("minmax", preprocessing.MinMaxScaler()), ("robust", preprocessing.RobustScaler()), ("maxabs", preprocessing.MaxAbsScaler()),
                     ("normalizer", preprocessing.Normalizer()), ("power", preprocessing.PowerTransformer()), ("quantile", preprocessing.QuantileTransformer(n_quantiles=20)),
                     ("polynomial", preprocessing.PolynomialFeatures(2)), ("interactions", preprocessing.PolynomialFeatures(2, interaction_only=True)),
                     ("bins", preprocessing.KBinsDiscretizer(4, encode="onehot-dense", quantile_method="averaged_inverted_cdf")),
                     ("bins_ordinal", preprocessing.KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf")), ("binarizer", preprocessing.Binarizer(threshold=0.2)),
                     ("pca", decomposition.PCA(2, random_state=0)),
                     ("select", feature_selection.SelectKBest(feature_selection.f_regression, k=2))):
    numeric(f"pre_{name}", pipe(scaler, lm.Ridge()), f"{type(scaler).__name__} before a linear model", opset={"": 17, "ai.onnx.ml": 3})
gone = X.copy()
gone[rng.random(X.shape) < 0.1] = np.nan
gone_test = TEST.copy()
gone_test[::5, 1] = np.nan
numeric("impute", pipe(impute.SimpleImputer(), lm.Ridge()), "missing numbers get the mean", x=gone, test=gone_test)
numeric("impute_indicator", pipe(impute.SimpleImputer(strategy="median", add_indicator=True), lm.Ridge()), "and an indicator", x=gone, test=gone_test)
numeric("impute_knn", pipe(impute.KNNImputer(n_neighbors=3), lm.Ridge()), "missing numbers from neighbours", x=gone[:40], y=Y[:40], test=gone_test)
numeric("tree", tree.DecisionTreeRegressor(max_depth=3, random_state=0), "a tree")
numeric("tree_classifier", tree.DecisionTreeClassifier(max_depth=3, random_state=0), "a tree", y=THREE)
numeric("forest", ensemble.RandomForestRegressor(5, max_depth=3, random_state=0), "a random forest")
numeric("kmeans", cluster.KMeans(3, n_init=2, random_state=0), "clusters and distances")
numeric("forest_classifier", ensemble.RandomForestClassifier(5, max_depth=3, random_state=0), "ZipMap on", y=THREE)
numeric("forest_array", ensemble.RandomForestClassifier(5, max_depth=3, random_state=0), "ZipMap off", y=TWO, zipmap=False)
numeric("extra_trees", ensemble.ExtraTreesRegressor(5, max_depth=3, random_state=0), "extra trees")
numeric("boosting", ensemble.GradientBoostingRegressor(n_estimators=8, max_depth=2, random_state=0), "boosting of depth 2: pairs")
numeric("boosting_stumps", ensemble.GradientBoostingRegressor(n_estimators=12, max_depth=1, random_state=0), "boosted stumps: additive")
numeric("boosting_classifier", ensemble.GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0), "boosting of two classes", y=TWO, zipmap=False)
numeric("boosting_three", ensemble.GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0), "boosting of three classes", y=THREE)
numeric("hist", ensemble.HistGradientBoostingRegressor(max_iter=8, max_leaf_nodes=6, early_stopping=False, random_state=0), "histogram boosting with missing numbers", x=gone, test=gone_test)
numeric("hist_stumps", ensemble.HistGradientBoostingRegressor(max_iter=12, max_leaf_nodes=2, early_stopping=False, random_state=0), "stumps: additive")
numeric("hist_classifier", ensemble.HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=5, early_stopping=False, random_state=0), "two classes", y=TWO)
numeric("ada", ensemble.AdaBoostClassifier(n_estimators=4, random_state=0), "AdaBoost", y=TWO, zipmap=False)
numeric("bagging", ensemble.BaggingRegressor(tree.DecisionTreeRegressor(max_depth=2), 3, random_state=0), "bagged trees")
numeric("voting", ensemble.VotingRegressor([("a", lm.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=2, random_state=0))]), "the mean of two models")
numeric("stacking", ensemble.StackingRegressor([("a", lm.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=2, random_state=0))], lm.Ridge()), "a model of two models")
numeric("isolation", ensemble.IsolationForest(n_estimators=4, max_samples=20, random_state=0), "outlier scores", opset={"": 17, "ai.onnx.ml": 3})
numeric("svr", svm.SVR(), "support vectors, rbf", x=X[:40], y=Y[:40])
numeric("svr_linear", svm.LinearSVR(random_state=0), "a linear machine")
numeric("svc", svm.SVC(probability=True, random_state=0), "support vectors with probabilities", x=X[:40], y=TWO[:40])
numeric("svc_poly", svm.SVC(kernel="poly", degree=2), "polynomial kernel", x=X[:40], y=TWO[:40])
numeric("linear_svc", svm.LinearSVC(random_state=0), "a linear machine", y=TWO)
numeric("calibrated", calibration.CalibratedClassifierCV(svm.LinearSVC(random_state=0), cv=2), "calibrated scores", y=TWO, zipmap=False)
numeric("knn", neighbors.KNeighborsRegressor(3), "nearest neighbours", x=X[:40], y=Y[:40])
numeric("knn_classifier", neighbors.KNeighborsClassifier(3), "nearest neighbours", x=X[:40], y=TWO[:40], zipmap=False)
numeric("gp", gaussian_process.GaussianProcessRegressor(gaussian_process.kernels.RBF(1.0) + gaussian_process.kernels.WhiteKernel(0.1), optimizer=None), "a Gaussian process", x=X[:20].astype(float), y=Y[:20], double=True, tolerance=1e-4)
numeric("bayes", naive_bayes.GaussianNB(), "naive Bayes", y=THREE, zipmap=False)
numeric("lda", discriminant_analysis.LinearDiscriminantAnalysis(), "linear discriminants", y=THREE, zipmap=False)
numeric("qda", discriminant_analysis.QuadraticDiscriminantAnalysis(), "quadratic discriminants", y=TWO, zipmap=False)
numeric("one_vs_rest", multiclass.OneVsRestClassifier(lm.LogisticRegression()), "a model a class", y=THREE, zipmap=False)
numeric("mixture", mixture.GaussianMixture(2, random_state=0), "a mixture of normal distributions", y=None)
numeric("feature_union", pipeline.make_pipeline(pipeline.make_union(decomposition.PCA(2, random_state=0), preprocessing.StandardScaler()), lm.Ridge()), "two preparations side by side")
for opset in (11, 15, 21):
    numeric(f"opset_{opset}", pipe(preprocessing.StandardScaler(), lm.LogisticRegression()), f"opset {opset}", y=TWO, opset={"": opset, "ai.onnx.ml": 1 if opset == 11 else 3})

# Tables with columns of text: an input a column.
CITY, KIND = np.array(["Bonn", "Köln", "München"]), np.array(["a", "b", "c"])
frame = pd.DataFrame({"age": X[:, 0], "income": X[:, 1], "city": CITY[rng.integers(0, 3, N)], "kind": KIND[rng.integers(0, 3, N)], "count": rng.integers(0, 5, N)})
YF = Y + (frame.city == "Bonn") - 0.5 * (frame.kind == "b") + 0.1 * frame["count"]
test = pd.DataFrame({"age": TEST[:, 0], "income": TEST[:, 1], "city": CITY[np.arange(ROWS) % 3], "kind": KIND[np.arange(ROWS) // 3 % 3], "count": np.arange(ROWS) % 5})
unknown = test.copy()
unknown.loc[2:4, "city"] = "Ulm"
KINDS = {"age": (FloatTensorType, np.float32), "income": (FloatTensorType, np.float32), "city": (StringTensorType, object), "kind": (StringTensorType, object), "count": (Int64TensorType, np.int64)}


def table(name, columns, model, why, y=YF, rows=test, options=None):
    """A pipeline whose inputs are columns of shape [N,1]."""
    def make():
        m = pipeline.make_pipeline(compose.ColumnTransformer(columns), model)
        used = [c for c in frame.columns if any(c in cols for _, _, cols in columns)]
        m.fit(frame[used], y)
        proto = to_onnx(m, initial_types=[(c, KINDS[c][0]([None, 1])) for c in used], options=options and {id(model): options})
        zoo.add(name, proto, {c: rows[c].to_numpy().astype(KINDS[c][1]).reshape(-1, 1) for c in used}, why, seed=5)
    zoo.attempt(name, make)


number, text = ["age", "income"], ["city", "kind"]
pp = preprocessing
table("columns_linear", [("n", pp.StandardScaler(), number), ("t", pp.OneHotEncoder(), text)], lm.Ridge(), "scaler and one-hot of text")
table("columns_unknown", [("n", pp.StandardScaler(), number), ("t", pp.OneHotEncoder(handle_unknown="ignore"), text)], lm.Ridge(), "rows with an unknown level", rows=unknown)
table("columns_drop", [("t", pp.OneHotEncoder(drop="first"), text), ("p", "passthrough", ["age"])], lm.Ridge(), "treatment contrasts, a column passed through")
table("columns_logistic", [("n", pipe(impute.SimpleImputer(), pp.StandardScaler()), number), ("t", pipe(impute.SimpleImputer(strategy="most_frequent", missing_values=""), pp.OneHotEncoder(handle_unknown="ignore")), text)],
      lm.LogisticRegression(), "the pipeline of the scikit-learn guide", y=(YF > 0).astype(int))
table("columns_mlp", [("n", pp.StandardScaler(), number), ("t", pp.OneHotEncoder(), ["city"])], neural_network.MLPRegressor(hidden_layer_sizes=(4,), max_iter=200, random_state=0), "a neural network behind it")
table("columns_ordinal", [("n", "passthrough", number), ("t", pp.OrdinalEncoder(), text)], ensemble.RandomForestRegressor(4, max_depth=3, random_state=0), "ordinal codes and a forest")
table("columns_count", [("n", pp.MinMaxScaler(), number), ("c", pp.OneHotEncoder(), ["count"])], lm.Ridge(), "one-hot of integers")
table("columns_boosting", [("n", "passthrough", number), ("t", pp.OneHotEncoder(sparse_output=False), text)], ensemble.GradientBoostingRegressor(n_estimators=8, max_depth=1, random_state=0), "boosted stumps on one-hot columns")
table("columns_target", [("n", "passthrough", number), ("t", pp.TargetEncoder(random_state=0), ["city"])], lm.Ridge(), "target encoding")
table("columns_bins", [("n", pp.KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), number), ("p", pp.PowerTransformer(), ["age"]), ("t", pp.OneHotEncoder(), ["kind"])], lm.Ridge(), "bins, power transform and one-hot")


def words():
    texts = np.array(["good cheap soup", "bad soup", "good good service", "cheap and bad", "soup", "no service"])
    y = np.array([1.0, -1, 2, -1.5, 0.2, -0.5])
    for name, v in (("count", feature_extraction.text.CountVectorizer(lowercase=False)), ("tfidf", feature_extraction.text.TfidfVectorizer(lowercase=False))):
        def make(v=v, name=name):
            m = pipeline.make_pipeline(v, lm.Ridge()).fit(texts, y)
            zoo.add(f"words_{name}", to_onnx(m, initial_types=[("text", StringTensorType([None]))]), {"text": np.resize(texts, ROWS).astype(object)}, f"a column of text, {name} of words", seed=5)
        zoo.attempt(f"words_{name}", make)


words()
zoo.close()
