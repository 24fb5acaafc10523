#!/usr/bin/env bash
# tensors.sh [NAME...]: networks of pictures, sequences and tokens with random weights (tensors/networks.py), by both
# exporters of PyTorch, run by adapters/onnx next to ONNX Runtime, one thread each, on the same rows: CPU seconds and
# their ratio, in both precisions, and the largest difference. Needs Python (PYTHON) with torch, onnxscript and onnxruntime.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
python=${PYTHON:-python3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! "$python" -c 'import torch, onnxscript, onnxruntime' 2>/dev/null; then
	echo "tensors: $python lacks torch, onnxscript or onnxruntime (pip install torch onnxscript onnxruntime; set PYTHON)" >&2
	exit 1
fi
"$python" -W ignore benchmarks/tensors/networks.py "$dir" "$@" >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
"$go" build -C benchmarks -o "$dir/tensors" ./tensors
echo "network, precision, CPU s of ONNX Runtime (float32), of ours, ratio, largest difference"
for network in "$dir"/*.onnx; do
	name=$(basename "$network" .onnx)
	peer=$("$python" benchmarks/tensors/onnxruntime_peer.py "$network" "$dir/${name%-*}.f32" "$dir/want" 8 3)
	GOMAXPROCS=1 "$dir/tensors" -passes 3 "$network" "$dir/${name%-*}.f32" "$dir/want" | sort | while read -r precision ours difference; do
		awk -v n="$name" -v p="$precision" -v a="$peer" -v b="$ours" -v d="$difference" 'BEGIN { printf "%-24s %s %8.3f %8.3f %6.2f %s\n", n, p, a, b, b / a, d }'
	done
done
