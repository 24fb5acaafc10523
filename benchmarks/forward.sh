#!/usr/bin/env bash
# forward.sh [ROUNDS]: networks run by adapters/onnx next to ONNX Runtime, a
# line for each on stdout; then one row to contributions. Needs Python (PYTHON) with the packages onnx and onnxruntime.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
python=${PYTHON:-python3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$python" -c 'import onnx, onnxruntime' 2>/dev/null; then
	echo "forward: $python lacks the packages onnx and onnxruntime (pip install onnx onnxruntime; set PYTHON)" >&2
	exit 1
fi
"$python" benchmarks/forward/networks.py "$dir"
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) processors; $("$go" version)"
"$go" build -o "$dir/forward" ./benchmarks/forward
"$dir/forward" -dir "$dir" -python "$python" -rounds "${1:-7}"
