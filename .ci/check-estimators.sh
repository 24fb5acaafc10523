#!/usr/bin/env bash
# check-estimators.sh DIR: every estimator of python/tests/estimators/zoo.py, decomposed by the
# Python package with the command of this tree, bin/pho, is judged by its own predictions. Makes a
# virtual environment in DIR from the package index, of the versions that
# python/requirements-estimators.txt pins (used again until they change). PYTHON makes it, 3.11.
# With --pin in place of DIR it writes the versions anew: the latest. PYTHON then needs uv.
set -euo pipefail
cd "$(dirname "$0")/../python"
python=${PYTHON:-python3}
if [ "${1:-}" = --pin ]; then
    "$python" -m uv pip compile -q --upgrade --no-header --no-annotate --universal --python-version 3.11 requirements-estimators.in -o requirements-estimators.txt
    exit
fi
dir=${1:?usage: check-estimators.sh DIR}
if ! cmp -s requirements-estimators.txt "$dir/installed"; then
    rm -rf "$dir"
    "$python" -m venv "$dir"
    "$dir/bin/python" -m pip install -q --disable-pip-version-check -r requirements-estimators.txt
    cp requirements-estimators.txt "$dir/installed"
fi
dir=$(cd "$dir" && pwd)
export PHO_BINARY=${PHO_BINARY:-$PWD/../bin/pho} PYTHONPATH=$PWD/src
"$dir/bin/python" tests/estimators/judge.py
