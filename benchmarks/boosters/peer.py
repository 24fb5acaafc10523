"""peer.py MODEL ROWS COLUMNS ROUNDS THREADS OUT: the library's own predict on the same rows; seconds of the fastest round."""

import sys
import time

import numpy as np

model, rows, columns, rounds, threads, out = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6]
x = np.fromfile(rows).reshape(-1, columns)
if model.endswith(".txt"):
    import lightgbm

    booster = lightgbm.Booster(model_file=model)

    def predict():
        return booster.predict(x, num_threads=threads, raw_score=True)
elif model.endswith(".cbm"):
    import catboost

    booster = catboost.CatBoost().load_model(model)

    def predict():
        return booster.predict(x, thread_count=threads, prediction_type="RawFormulaVal")
else:
    import xgboost

    booster = xgboost.Booster({"nthread": threads}, model_file=model)

    def predict():
        return booster.inplace_predict(x, predict_type="margin")


best = float("inf")
for _ in range(rounds):
    begin = time.perf_counter()
    y = predict()
    best = min(best, time.perf_counter() - begin)
print(f"{best:.4f} s")
np.asarray(y, float).tofile(out)
