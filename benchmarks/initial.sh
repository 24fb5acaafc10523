#!/usr/bin/env bash
# initial.sh [DIR]: how adapters/native draws weights next to PyTorch's default, by the
# error on test rows: the same splits of eight regression sets, network, rate, batch,
# patience and optimiser on both sides (benchmarks/initial). Prints the tables of
# benchmarks/initial/results.md and a row for each set. It trains 3,600 networks, one thread on
# each side, which takes about half an hour; with DIR, which keeps splits and runs, an
# interrupted comparison goes on where it was. The data sets are looked for in PHO_DATA
# (../shared/data); those that are not there are named and left out. Needs Python (PYTHON)
# with torch.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
python=${PYTHON:-python3}
if ! "$python" -c 'import torch' 2>/dev/null; then
	echo "initial: $python lacks torch (set PYTHON)" >&2
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dir=${1:-$work/runs}
mkdir -p "$dir"
"${GO:-go}" build -C benchmarks -o "$work/initial" ./initial
"$work/initial" -write -dir "$dir" -data "${PHO_DATA:-../shared/data}"
"$work/initial" -train -dir "$dir" &
ours=$!
"$python" benchmarks/initial/peer.py "$dir"
wait "$ours"
"$work/initial" -table -dir "$dir"
