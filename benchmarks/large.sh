#!/usr/bin/env bash
# large.sh: `pho decompose` of factors and random effects of many levels, of tables of many columns and of many classes, and what
# reads a result of 200 terms, each next to a small case of its kind in the same run. Prints lines of
#   row, case, large, small, ratio, answer difference (none: tests compare)
# separated by tabs: seconds of all processors, and MiB at the largest. KEEP=DIR keeps tables and figures, so that the same
# call goes on where it was ended; CASE=text runs the cases whose names hold it; PHO=file times another build; a run ends
# after LIMIT=5m. FLAMES=DIR draws where the time of the large cases goes instead, into DIR.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ -n "${PHO:-}" ] || "$go" build -o "$dir/pho" ./cmd/pho
[ -z "${FLAMES:-}" ] || "$go" build -C benchmarks -o "$dir/pho" ./profile
"$go" build -C benchmarks -o "$dir/large" ./large
mkdir -p "${KEEP:-$dir/keep}" ${FLAMES:+"$FLAMES"}
"$dir/large" -pho "${PHO:-$dir/pho}" -keep "${KEEP:-$dir/keep}" -limit "${LIMIT:-5m}" -case "${CASE:-}" -flames "${FLAMES:-}"
