#!/usr/bin/env bash
# check-servers.sh DIR: models behind MLServer, MLflow and pho serve on loopback, decomposed by the command of this
# tree, bin/pho, and judged by their own predictions (python/tests/servers/judge.py). Makes two virtual
# environments in DIR from the package index, since MLServer and MLflow want other versions of protobuf, of
# what python/requirements-mlserver.txt and -mlflow.txt pin (used again until they change). PYTHON makes them, 3.11.
# With --pin in place of DIR it writes the versions anew: the latest. PYTHON then needs uv.
set -euo pipefail
cd "$(dirname "$0")/../python"
python=${PYTHON:-python3}
servers="mlserver mlflow"
if [ "${1:-}" = --pin ]; then
    for server in $servers; do
        "$python" -m uv pip compile -q --upgrade --no-header --no-annotate --universal --python-version 3.11 "requirements-$server.in" -o "requirements-$server.txt"
    done
    exit
fi
dir=${1:?usage: check-servers.sh DIR}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
pho=${PHO_BINARY:-$PWD/../bin/pho}
for server in $servers; do
    if ! cmp -s "requirements-$server.txt" "$dir/$server/installed"; then
        rm -rf "${dir:?}/$server"
        "$python" -m venv "$dir/$server"
        "$dir/$server/bin/python" -m pip install -q --disable-pip-version-check -r "requirements-$server.txt"
        cp "requirements-$server.txt" "$dir/$server/installed"
    fi
    work=$(mktemp -d)
    "$dir/$server/bin/python" tests/servers/models.py "$server" "$work"
    "$dir/$server/bin/python" tests/servers/judge.py "$server" "$pho" "$work"
    rm -rf "$work"
done
work=$(mktemp -d)
"$dir/mlserver/bin/python" tests/servers/judge.py pho "$pho" "$work"
rm -rf "$work"
