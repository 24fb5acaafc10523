#!/usr/bin/env bash
# gate.sh [FLAG ...]: the speed of the cases that count as ratios between our own variants:
# with and without assembly, two workers and one, and so on. See benchmarks/gate; flags are its
# own.
set -euo pipefail
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
go=${GO:-go}
export GOWORK=off
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir
"$go" build -C "$root/benchmarks" -o "$dir/gate" ./gate
"$go" build -C "$root/benchmarks" -tags purego -o "$dir/plain" ./gate
"$dir/gate" -plain "$dir/plain" "$@"
