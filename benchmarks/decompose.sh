#!/usr/bin/env bash
# decompose.sh [ROWS]: `pho decompose` as a whole (read Parquet, network, moments,
# REML, contributions) next to its own network run once over the same rows and file
# with as many workers, both as processes; with rows of CSV, next to one that reads them,
# runs the network and writes as many numbers as CSV. Prints lines of
#   case, ours, peer, ratio, answer difference
# separated by tabs: seconds, medians over ROUNDS=9 turns; the difference is that of
# the sum of the contributions written and the network alone, relative to its largest
# output. At the end it prints, for each case that has a target, what its parts must cost on
# this machine, from the speed of the kernels: the bounds of benchmarks/bounds.md. CASE=text runs the cases whose names hold it, WORKERS=2 changes goroutines.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$go" build -o "$dir/pho" ./cmd/pho
"$go" build -C benchmarks -o "$dir/decompose" ./decompose
"$dir/decompose" -write "$dir" -rows "${1:-1000000}"
"$dir/decompose" -pho "$dir/pho" -dir "$dir" -rounds "${ROUNDS:-9}" -workers "${WORKERS:-2}" -case "${CASE:-}"
"$dir/decompose" -bound -dir "$dir" -rows "${1:-1000000}" -workers "${WORKERS:-2}"
