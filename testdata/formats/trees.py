"""python trees.py VERSION: writes VERSION/trees.json, the trees of a histogram booster as the Python package hands them over."""

import os
import sys

import pandas
from pho import _own
from sklearn.ensemble import HistGradientBoostingRegressor

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), sys.argv[1])
place = os.path.join(folder, "trees.json")
if os.path.exists(place):
    sys.exit(f"{place} is there: what a release wrote does not change")
rows = pandas.read_csv(os.path.join(folder, "rows.csv"))
x = rows[["x1", "g"]]
model = HistGradientBoostingRegressor(max_iter=3, max_depth=2, categorical_features=["g"], min_samples_leaf=5).fit(x, rows.y)
_own.writer(model, list(x.columns))[1](place)
print(x.head(3).assign(prediction=model.predict(x.head(3))).to_dict("records"))  # what the test of package boosters wants
