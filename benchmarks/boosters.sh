#!/usr/bin/env bash
# boosters.sh [ROWS]: ROWS=100000 rows of 20 columns predicted by 300 trees of LightGBM (31 leaves), XGBoost and CatBoost (depth 6),
# read from the libraries' own files, next to the library's own predict with as many threads, in turns. The scores are
# compared. Needs Python (PYTHON) with numpy, lightgbm, xgboost and catboost. ROUNDS=5 turns, of which the fastest counts; WORKERS=2.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
python=${PYTHON:-python3}
rows=${1:-100000} workers=${WORKERS:-2}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$python" -c 'import catboost, lightgbm, numpy, xgboost' 2>/dev/null; then
	echo "boosters: $python lacks the packages catboost, lightgbm, numpy or xgboost (pip install them; set PYTHON)" >&2
	exit 1
fi
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) processors"
"${GO:-go}" build -C benchmarks -o "$dir/boosters" ./boosters
"$python" - "$dir" "$rows" "$workers" <<'PY'
import sys
import catboost, lightgbm, numpy as np, xgboost

folder, rows, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
x = rng.normal(size=(rows, 20))
y = x[:, 0] + np.sin(x[:, 1]) * x[:, 2] + 0.3 * rng.normal(size=rows)
x.tofile(folder + "/rows")
lightgbm.train({"num_leaves": 31, "verbose": -1, "num_threads": threads}, lightgbm.Dataset(x, y), 300).save_model(folder + "/LightGBM.txt")
xgboost.train({"max_depth": 6, "nthread": threads, "tree_method": "hist"}, xgboost.DMatrix(x, y), 300).save_model(folder + "/XGBoost.ubj")
catboost.CatBoostRegressor(iterations=300, depth=6, verbose=0, allow_writing_files=False, thread_count=threads).fit(x, y).save_model(folder + "/CatBoost.cbm")
print(f"version\tLightGBM {lightgbm.__version__}, XGBoost {xgboost.__version__}, CatBoost {catboost.__version__}")
PY
for model in LightGBM.txt XGBoost.ubj CatBoost.cbm; do
	: >"$dir/ours" >"$dir/peer"
	for _ in $(seq "${ROUNDS:-5}"); do
		"$dir/boosters" -model "$dir/$model" -rows "$dir/rows" -threads "$workers" -out "$dir/o" >>"$dir/ours"
		"$python" benchmarks/boosters/peer.py "$dir/$model" "$dir/rows" 20 "$workers" "$dir/p" >>"$dir/peer"
	done
	ours=$(sort -g "$dir/ours" | head -n 1 | cut -d' ' -f1) peer=$(sort -g "$dir/peer" | head -n 1 | cut -d' ' -f1)
	difference=$("$python" -c 'import sys, numpy as np; a, b = map(np.fromfile, sys.argv[1:]); print(f"{np.abs(a - b).max():.1e}")' "$dir/o" "$dir/p")
	printf 'row\t%s, %s rows, 300 trees, %s threads\t%s\t%s\t%.2f\t%s\n' "${model%.*}" "$rows" "$workers" "$ours" "$peer" "$(echo "$peer / $ours" | bc -l)" "$difference"
done
