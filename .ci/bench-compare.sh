#!/usr/bin/env bash
# bench-compare.sh [NAME ...]: runs benchmarks/NAME.sh, all of them without names,
# and collects their rows into docs/benchmarks.md. Fails if an answer is wrong.
set -uo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off GO=${GO:-go}
if [ $# -eq 0 ]; then
	for b in benchmarks/*.sh; do set -- "$@" "$(basename "$b" .sh)"; done
fi
mkdir -p bin/bench
"$GO" build -o bin/bench/table ./benchmarks/table || exit 1
without= wrong=
for name in "$@"; do
	echo "== $name"
	if [ ! -f "benchmarks/$name.sh" ]; then
		echo "bench-compare: there is no benchmarks/$name.sh" >&2
		exit 2
	fi
	start=$SECONDS
	if ! bash "benchmarks/$name.sh" 2>&1 | tee "bin/bench/$name.log"; then
		without="$without $name"
		continue
	fi
	echo "$name took $((SECONDS - start)) s"
	bin/bench/table -script "$name" <"bin/bench/$name.log" || wrong="$wrong $name"
done
[ -z "$without" ] || echo "bench-compare: failed or without a peer, and left as they were:$without"
[ -z "$wrong" ] || { echo "bench-compare: with wrong answers, or without rows:$wrong"; exit 1; }
