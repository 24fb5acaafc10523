"""peer.py MODEL ROWS COLUMNS THREADS OUT: the library's own predict on the same rows; its seconds."""

import sys
import time

import numpy as np

model, rows, columns, threads, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
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


begin = time.perf_counter()
y = predict()
print(f"{time.perf_counter() - begin:.4f} s")
np.asarray(y, float).tofile(out)
