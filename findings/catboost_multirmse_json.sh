#!/usr/bin/env bash
# catboost 1.2.10: a MultiRMSE model with statistics of categories (CTRs) predicts otherwise after save_model(format="json") and
# load_model: off by more than 1 where the targets' range is 21, without a word. The same model as .cbm predicts as before,
# and so does a model of the first target alone as JSON (the controls). The JSON has one table of counts for both targets: an
# entry of "ctrs" does not say whose borders were counted.
set -eu
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check catboost==1.2.10
cd "$dir" && "$dir/venv/bin/python" - <<'P'
import sys
import catboost, numpy, pandas
from catboost import CatBoost, Pool
print("catboost", catboost.__version__)
draw = numpy.random.default_rng(0)
level, x = draw.integers(0, 8, 400), draw.normal(size=400)
rows = pandas.DataFrame({"x": x, "k": [f"level {i}" for i in level]})
targets = numpy.column_stack([level + x, -2 * level + x]) + draw.normal(0, 0.1, (400, 2))

def off(loss, y, form):
    pool = Pool(rows, y, cat_features=["k"])
    model = CatBoost(dict(loss_function=loss, iterations=30, depth=3, one_hot_max_size=2, random_seed=1, thread_count=1, verbose=False, allow_writing_files=False))
    model.fit(pool)
    model.save_model("model", format=form, pool=pool)
    again = CatBoost()
    again.load_model("model", format=form)
    return abs(model.predict(pool) - again.predict(pool)).max()

for name, loss, y, form in (("two targets, cbm", "MultiRMSE", targets, "cbm"), ("one target, json", "RMSE", targets[:, 0], "json")):
    d = off(loss, y, form)
    print(f"{name}: off by {d:.3g}")
    if d > 1e-9:
        sys.exit(f"CHANGED: the control, {name}, differs")
d = off("MultiRMSE", targets, "json")
print(f"two targets, json: off by {d:.3g}")
if d < 1:
    sys.exit("CHANGED: it predicts as before")
P
