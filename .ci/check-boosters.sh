#!/usr/bin/env bash
# check-boosters.sh DIR: the goldens of adapters/boosters made anew by the libraries, and their models judged by their predictions, as
# pho reads them and as ONNX Runtime computes the files that pho writes of them. Makes a virtual environment in DIR from the package
# index, of the versions that python/requirements-boosters.txt pins (used again until they change). PYTHON makes it, 3.11.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3} go=${GO:-go}
dir=${1:?usage: check-boosters.sh DIR}
if ! cmp -s python/requirements-boosters.txt "$dir/installed"; then
    rm -rf "$dir"
    "$python" -m venv "$dir"
    "$dir/bin/python" -m pip install -q --disable-pip-version-check -r python/requirements-boosters.txt
    cp python/requirements-boosters.txt "$dir/installed"
fi
dir=$(cd "$dir" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp adapters/boosters/testdata/*.py "$work" # they write beside them
(cd "$work"
    "$dir/bin/python" golden.py xgboost
    "$dir/bin/python" golden.py lightgbm
    "$dir/bin/python" categories.py xgboost
    "$dir/bin/python" categories.py lightgbm
    "$dir/bin/python" catboost.py
    "$dir/bin/python" ebm.py)
PHO_BOOSTERS=$work "$go" test -count=1 ./adapters/boosters -run '^Test(Golden|MissingCategories|CatBoost|EBM|ONNX)$'
"$dir/bin/python" adapters/boosters/testdata/runtime.py "$work"
