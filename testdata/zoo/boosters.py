"""LightGBM and XGBoost through onnxmltools, CatBoost by itself."""
import os
import warnings

import catboost
import lightgbm
import numpy as np
import onnx
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType

from zoo import ROWS, Zoo, rows

warnings.simplefilter("ignore")
P, N = 4, 200
rng = np.random.default_rng(5)
X = np.round(rng.standard_normal((N, P)), 2).astype(np.float32)
GONE = X.copy()
GONE[rng.random(X.shape) < 0.1] = np.nan
CODED = X.copy()
CODED[:, 3] = rng.integers(0, 5, N)
ETA = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
Y = (ETA + 0.1 * rng.standard_normal(N)).astype(np.float32)
TWO = (ETA > 0).astype(int)
THREE = np.digitize(ETA, [-0.7, 0.7])
COUNT = rng.poisson(np.exp(0.4 * ETA))
TEST = rows(np.random.default_rng(6), P, (0, 1, -1, 3, -3))
TEST_GONE = TEST.copy()
TEST_GONE[::4, 1] = np.nan
TEST_CODED = TEST.copy()
TEST_CODED[:, 3] = np.arange(ROWS) % 5
TYPES = [("X", FloatTensorType([None, P]))]


def exporter(zoo, convert):
    def network(name, why, model, y=Y, x=X, test=TEST, fit=None, **options):
        def make():
            model.fit(x, y, **(fit or {}))
            zoo.add(name, convert(model, name=name, **options), {"X": test}, why, seed=5)  # else the graph's name is random
        zoo.attempt(name, make)
    return network


zoo = Zoo("lightgbm", "lightgbm", "onnxmltools")
light = exporter(zoo, lambda m, **o: onnxmltools.convert_lightgbm(m, initial_types=TYPES, **o))
few = {"n_estimators": 8, "num_leaves": 6, "min_child_samples": 5, "random_state": 0, "n_jobs": 1, "verbose": -1}
R, C = lightgbm.LGBMRegressor, lightgbm.LGBMClassifier
light("regressor", "trees of six leaves", R(**few))
light("stumps", "depth 1: additive", R(**{**few, "max_depth": 1, "n_estimators": 20}))
light("pairs", "depth 2: columns and pairs", R(**{**few, "max_depth": 2, "n_estimators": 12}))
light("constraints", "interactions allowed between two pairs alone", R(**few, interaction_constraints=[[0, 1], [2, 3]]))
light("missing", "missing numbers", R(**few), x=GONE, test=TEST_GONE)
light("categories", "splits by sets of codes", R(**few), x=CODED, test=TEST_CODED, fit={"categorical_feature": [3]})
light("poisson", "a log link", R(**few, objective="poisson"), y=COUNT)
light("tweedie", "a log link", R(**few, objective="tweedie"), y=COUNT)
light("quantile", "a quantile", R(**few, objective="quantile", alpha=0.8))
light("forest", "boosting_type rf", R(**few, boosting_type="rf", bagging_freq=1, bagging_fraction=0.7))
light("linear_dart", "dart", R(**few, boosting_type="dart"))
light("classifier", "two classes, ZipMap", C(**few), y=TWO)
light("classifier_array", "two classes, an array", C(**few), y=TWO, zipmap=False)
light("classes", "three classes", C(**{**few, "n_estimators": 4}), y=THREE)
light("classifier_stumps", "depth 1: additive on the logit scale", C(**{**few, "max_depth": 1}), y=TWO, zipmap=False)
light("split", "ensembles in several nodes (split)", R(**few), split=4)
light("opset_9", "opset 9", R(**few), target_opset=9)
zoo.close()

zoo = Zoo("xgboost", "xgboost", "onnxmltools")
xg = exporter(zoo, lambda m, **o: onnxmltools.convert_xgboost(m, initial_types=TYPES, **o))
few = {"n_estimators": 6, "max_depth": 3, "random_state": 0, "n_jobs": 1, "tree_method": "exact"}
R, C = xgboost.XGBRegressor, xgboost.XGBClassifier
xg("regressor", "trees of depth 3", R(**few))
xg("stumps", "depth 1: additive", R(**{**few, "max_depth": 1, "n_estimators": 20}))
xg("pairs", "depth 2: columns and pairs", R(**{**few, "max_depth": 2, "n_estimators": 12}))
xg("missing", "missing numbers", R(**few), x=GONE, test=TEST_GONE)
xg("hist", "tree_method hist, leaf-wise", R(**{**few, "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": 6, "max_depth": 0}))
xg("base_score", "a base score of its own", R(**few, base_score=2.5))
xg("poisson", "a log link", R(**few, objective="count:poisson"), y=COUNT)
xg("gamma", "a log link", R(**few, objective="reg:gamma"), y=np.exp(0.3 * Y))
xg("logistic", "a sigmoid on a regression", R(**few, objective="reg:logistic"), y=TWO)
xg("forest", "a random forest", xgboost.XGBRFRegressor(**{**few, "tree_method": "hist"}))
xg("classifier", "two classes", C(**few), y=TWO)
xg("classes", "three classes", C(**few), y=THREE)
xg("classifier_stumps", "depth 1: additive on the logit scale", C(**{**few, "max_depth": 1}), y=TWO)
xg("opset_9", "opset 9", R(**few), target_opset=9)
zoo.close()

zoo = Zoo("catboost", "catboost")


def save(m):
    m.save_model(zoo.path("catboost"), format="onnx", export_parameters={"onnx_domain": "ai.catboost", "onnx_model_version": 1, "onnx_graph_name": "catboost"})
    proto = onnx.load(zoo.path("catboost"))
    os.remove(zoo.path("catboost"))
    for entry in [e for e in proto.metadata_props if e.key in ("train_finish_time", "model_guid")]:
        proto.metadata_props.remove(entry)  # what differs from run to run
    return proto


def cat(name, why, model, y=Y):
    def make():
        model.fit(X, y, verbose=False)
        zoo.add(name, save(model), {"features": TEST}, why, seed=5)
    zoo.attempt(name, make)


few = {"iterations": 6, "depth": 3, "random_seed": 0, "thread_count": 1, "allow_writing_files": False}
cat("regressor", "oblivious trees", catboost.CatBoostRegressor(**few))
cat("stumps", "depth 1: additive", catboost.CatBoostRegressor(**{**few, "depth": 1, "iterations": 15}))
cat("classifier", "two classes", catboost.CatBoostClassifier(**few), y=TWO)
cat("classes", "three classes", catboost.CatBoostClassifier(**few), y=THREE)
zoo.close()
