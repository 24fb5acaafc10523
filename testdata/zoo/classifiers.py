"""Classifiers whose files hold probabilities and labels in the ways that differ between packages."""
import os
import warnings

import catboost
import numpy as np
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from zoo import Zoo, rows

warnings.simplefilter("ignore")
P, N = 3, 200
rng = np.random.default_rng(11)
X = np.round(rng.standard_normal((N, P)), 2).astype(np.float32)
ETA = X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.standard_normal(N)
TWO, THREE, COUNT = (ETA > 1).astype(int), np.digitize(ETA, [0, 1.5]), rng.poisson(np.exp(0.4 * X[:, 0]))
TEXT2, TEXT3 = np.array(["no", "yes"])[TWO], np.array(["high", "low", "mid"])[THREE]
TEST = rows(np.random.default_rng(12), P, (0, 1, -1, 3, -3))
zoo = Zoo("classifiers", "skl2onnx", "scikit-learn", "catboost", "xgboost", "onnxmltools")


def sklearn(name, why, model, y, kind=np.float32, **options):
    def make():
        model.fit(X, y)
        zoo.add(name, to_onnx(model, X[:1].astype(kind), options={"zipmap": False, **options} if y is not COUNT else None), {"X": TEST.astype(kind)}, why, seed=11)
    zoo.attempt(name, make)


forest = dict(n_estimators=4, max_depth=3, random_state=1)
sklearn("forest", "probabilities of two classes that may be 0 and 1", RandomForestClassifier(**forest), TWO)
sklearn("forest_text", "labels that are text beside probabilities", RandomForestClassifier(**forest), TEXT2)
sklearn("forest_three", "three classes called by text", RandomForestClassifier(**forest), TEXT3)
sklearn("forest_leaves", "probabilities that are never 0 and 1", RandomForestClassifier(min_samples_leaf=40, **forest), TWO)
sklearn("forest_double", "double inputs", RandomForestClassifier(**forest), TWO, np.float64)
sklearn("tree", "one tree", DecisionTreeClassifier(max_depth=3), TEXT2)
sklearn("bagging", "a mean of trees' probabilities", BaggingClassifier(n_estimators=3, random_state=1, max_samples=30), TEXT2)
sklearn("bayes", "x - log sum exp(x), by Reshape", GaussianNB(), TWO)
sklearn("bayes_three", "the same of three classes", GaussianNB(), TEXT3)
sklearn("logistic_double", "sigmoids of r and -r over their sum", LogisticRegression(), TWO, np.float64)
sklearn("ada", "a softmax whose sum is guarded against 0", AdaBoostClassifier(n_estimators=3), TWO)
sklearn("svc", "Platt's probabilities", SVC(probability=True), TWO)
sklearn("stacking", "classes by number inside, by text outside", StackingClassifier([("l", LogisticRegression()), ("b", GaussianNB())]), TEXT2)
sklearn("neighbours", "labels of the five nearest stored points", KNeighborsClassifier(5), TWO)
sklearn("neighbours_mean", "mean over the five nearest stored points", KNeighborsRegressor(5), COUNT)


def catboosted(name, why, y):
    def make():
        model = catboost.CatBoostClassifier(iterations=4, depth=2, verbose=0, allow_writing_files=False, thread_count=1, random_seed=1).fit(X, y)
        model.save_model(zoo.path(name), format="onnx")
        zoo.add(name, None, {"features": TEST}, why, seed=11)
    zoo.attempt(name, make)


catboosted("catboost", "the sum of trees and its negative, each by a sigmoid", TWO)
catboosted("catboost_text", "the same with labels that are text", TEXT2)
catboosted("catboost_three", "three classes called by text", TEXT3)


def count():
    model = xgboost.XGBRegressor(n_estimators=4, max_depth=2, objective="count:poisson", n_jobs=1).fit(X, COUNT)
    zoo.add("counts", onnxmltools.convert_xgboost(model, name="counts", initial_types=[("X", FloatTensorType([None, P]))]), {"X": TEST}, "exp(z) times the base score", seed=11)


zoo.attempt("counts", count)
zoo.close()
