#!/usr/bin/env bash
# measure.sh [DIR]: which projection of a neural additive model is the default
# (docs/phonam.md): 42 networks on six data sets, five projections each, on all and on 300
# rows, next to mgcv's additive model of the network. Prints the tables; about five minutes of one processor.
# With DIR, which keeps networks and runs, an interrupted comparison goes on where it was.
# Data sets are looked for in PHO_DATA (../shared/data); those that are not there are left
# out. Needs Python (PYTHON) with pandas and torch, and Rscript with mgcv.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GOWORK=off
python=${PYTHON:-python3}
for tool in "$python" Rscript; do
	if ! command -v "$tool" >/dev/null; then
		echo "measure: there is no $tool" >&2
		exit 1
	fi
done
if ! "$python" -c 'import pandas, torch' 2>/dev/null; then
	echo "measure: $python lacks pandas or torch (set PYTHON)" >&2
	exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dir=${1:-$work/runs}
mkdir -p "$dir"
"${GO:-go}" build -o "$work/pho" ./cmd/pho
"$python" -W ignore examples/phonam/measure.py "$work/pho" "${PHO_DATA:-../shared/data}" "$dir"
"$python" examples/phonam/measure.py --table "$dir"
