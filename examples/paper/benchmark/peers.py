"""Writes peers.csv: RMSE of tree ensembles on each of the authors' folds.

    PHO_DATA=../shared/data python3 examples/paper/benchmark/peers.py

peers.csv was made with scikit-learn 1.9.1. Diabetes and forest_fire are left out:
there the additive model, which the program fits itself, is the better peer.
"""
import os
import pathlib

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor

DATA = pathlib.Path(os.environ.get("PHO_DATA", "../shared/data")) / "paper_folds"
KEEP = {"airfoil": [1, 2, 5], "concrete": range(1, 9), "yacht": [4, 6], "energy": [1, 2]}
PEERS = {
    "random forest": lambda: RandomForestRegressor(500, random_state=1),
    "extra trees": lambda: ExtraTreesRegressor(500, random_state=1),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=500, max_depth=4, learning_rate=0.1, random_state=1),
    "stochastic boosting": lambda: GradientBoostingRegressor(
        n_estimators=500, max_depth=4, learning_rate=0.05, subsample=0.7, random_state=1),
}

with open(pathlib.Path(__file__).parent / "peers.csv", "w") as out:
    out.write("set,peer,fold,rmse\n")
    for name, keep in KEEP.items():
        rows = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)
        x, y, fold = rows[:, [j - 1 for j in keep]], rows[:, -2], rows[:, -1]
        for peer, make in PEERS.items():
            for k in range(1, 11):
                model = make().fit(x[fold != k], y[fold != k])
                rmse = np.sqrt(np.mean((model.predict(x[fold == k]) - y[fold == k]) ** 2))
                out.write(f"{name},{peer},{k},{rmse:.4f}\n")
