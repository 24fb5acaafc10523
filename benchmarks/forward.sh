#!/usr/bin/env bash
# forward.sh [ROUNDS]: networks run by adapters/onnx next to ONNX Runtime (through its C
# API), OpenVINO and, for trees, LightGBM's own predictor, a line for each on stdout; then
# one row to contributions; at last what a row must cost one processor, by its multiply-adds,
# functions and bytes, and what it does. Each peer is tried with several settings (threads, callers,
# rows a call), and the best counts. Times are those of the median pass over the rows.
# Needs a C compiler and Python (PYTHON) with the packages onnx and onnxruntime, whose
# library is called; without the packages openvino and lightgbm their rows are missing.
# SECONDS_A_TURN=0.2 is how long a turn takes. For a part: CASE (a regular expression for
# names), ROWS=1,32,1024,65536, TYPES=f32,f64 and THREADS=2. TYPES="f32 on matrix units" (AMX) is
# what float32 networks run on where the processor has them; f32 goes without here.
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
library=$("$python" -c 'import glob, os, onnxruntime as o; print(glob.glob(os.path.join(os.path.dirname(o.__file__), "capi", "libonnxruntime.so*"))[0])')
(cd benchmarks/forward/ort && CGO_ENABLED=1 "$go" build -o "$dir/ort" .)
"$python" benchmarks/forward/networks.py "$dir"
rounds=${1:-7}
set -- "$rounds" -peer "$dir/ort $library"
for package in openvino lightgbm; do
	if "$python" -c "import $package" 2>/dev/null; then
		set -- "$@" -peer "$python benchmarks/forward/${package}_peer.py"
	else
		echo "forward: $python lacks the package $package: its rows are missing" >&2
	fi
done
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) processors; $("$go" version)"
"$go" build -C benchmarks -o "$dir/forward" ./forward
"$dir/forward" -dir "$dir" -seconds "${SECONDS_A_TURN:-0.2}" -case "${CASE:-}" -rows "${ROWS:-1,32,1024,65536}" -types "${TYPES:-f32,f32 on matrix units,f64,f32 there and f64 here}" -threads "${THREADS:-2}" -rounds "$@"
"$dir/forward" -bound -dir "$dir" -seconds "${SECONDS_A_TURN:-0.2}" -case "${CASE:-}" -types "${TYPES:-f32,f64}" -rounds "$rounds"
