#!/usr/bin/env bash
# check-spark.sh DIR: tests pho.spark with the command of this tree, bin/pho, on a cluster of
# processes of this machine: a master, two workers and their executors, which are killed. Makes a virtual environment in
# DIR from the package index, of the versions that python/requirements-spark.txt pins (used again
# until they change). PYTHON makes the environment, 3.11 or later. Skipped, and it says so, where there is no Java.
# With --pin in place of DIR it writes the versions anew: the latest. PYTHON then needs uv.
set -euo pipefail
cd "$(dirname "$0")/../python"
python=${PYTHON:-python3}
if [ "${1:-}" = --pin ]; then
    "$python" -m uv pip compile -q --upgrade --no-header --no-annotate --universal --python-version 3.11 requirements-spark.in -o requirements-spark.txt
    exit
fi
dir=${1:?usage: check-spark.sh DIR}
if ! command -v java >/dev/null; then
    echo "check-spark: SKIPPED: there is no Java (Debian: openjdk-17-jre-headless)"
    exit
fi
if ! cmp -s requirements-spark.txt "$dir/installed"; then
    rm -rf "$dir"
    "$python" -m venv "$dir"
    "$dir/bin/python" -m pip install -q --disable-pip-version-check -r requirements-spark.txt
    cp requirements-spark.txt "$dir/installed"
fi
dir=$(cd "$dir" && pwd)
export PHO_BINARY=${PHO_BINARY:-$PWD/../bin/pho} PYTHONPATH=$PWD/src
"$dir/bin/python" -m pytest -q -rs tests/test_spark.py
