#!/usr/bin/env bash
# bench-compare.sh [NAME ...]: runs benchmarks/NAME.sh, all of them without names, in
# a clone of HEAD, so that the commit named with the figures holds what was measured,
# keeps their rows in benchmarks/results/MACHINE.tsv, and writes the tables of docs/benchmarks.md
# from all that is kept there. Fails if an answer is wrong.
set -uo pipefail
root=$(git -C "$(dirname "$0")" rev-parse --show-toplevel) || exit 1
cd "$root" || exit 1
export GOWORK=off GO=${GO:-go} PHO_SHARED
PHO_SHARED=$(realpath -m "${PHO_SHARED:-../shared}")
if [ -z "${MACHINE:-}" ]; then
	echo "bench-compare: MACHINE=NAME says in which file of benchmarks/results the figures are kept: zen5, or a new name" >&2
	exit 2
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
git clone -q "$root" "$dir/tree" || exit 1
if [ -n "$(git status --porcelain -- . ':!docs' ':!benchmarks/results')" ]; then
	echo "bench-compare: note: what is not committed is not measured"
fi
cd "$dir/tree" || exit 1
if [ $# -eq 0 ]; then
	for b in benchmarks/*.sh; do set -- "$@" "$(basename "$b" .sh)"; done
fi
logs=$root/bin/bench
mkdir -p "$logs"
"$GO" build -C benchmarks -buildvcs=true -o "$dir/table" ./table || exit 1
without= wrong=
for name in "$@"; do
	echo "== $name"
	if [ ! -f "benchmarks/$name.sh" ]; then
		echo "bench-compare: there is no benchmarks/$name.sh" >&2
		exit 2
	fi
	start=$SECONDS
	if ! bash "benchmarks/$name.sh" 2>&1 | tee "$logs/$name.log"; then
		without="$without $name"
		continue
	fi
	echo "$name took $((SECONDS - start)) s"
	"$dir/table" -script "$name" -machine "$MACHINE" -results "$root/benchmarks/results" -page "$root/docs/benchmarks.md" <"$logs/$name.log" || wrong="$wrong $name"
done
[ -z "$without" ] || echo "bench-compare: failed or without a peer, and left as they were:$without"
[ -z "$wrong" ] || { echo "bench-compare: with wrong answers, or without rows:$wrong"; exit 1; }
