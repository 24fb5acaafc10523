#!/usr/bin/env bash
# train.sh [EPOCHS]: training by adapters/native next to PyTorch on the CPU: seconds
# per epoch (the peer with the best of its settings: threads, Adam's implementations,
# torch.compile and its modes), what a second worker gives, and validation loss by epoch
# over several seeds. Needs Python (PYTHON) with torch and numpy, and for torch.compile a
# C++ compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
python=${PYTHON:-python3}
if ! "$python" -c 'import torch, numpy' 2>/dev/null; then
	echo "train: $python lacks torch or numpy (pip install torch numpy; set PYTHON)" >&2
	exit 1
fi
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) processors; $("${GO:-go}" version)"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"${GO:-go}" build -C benchmarks -o "$dir/native" ./native
export PHO_NATIVE=$dir/native
"$python" benchmarks/native/compare_torch.py --epochs "${1:-12}"
"$python" benchmarks/native/compare_workers.py --epochs "${1:-12}"
"$python" benchmarks/native/compare_curves.py
