#!/usr/bin/env bash
# solve.sh [P...]: decompose.Solve for P columns next to one P x P x P product of OpenBLAS with
# two threads and the code that suits the processor best, three lines for each case on stdout:
# time, the same next to its limit, and P x P matrices held. Without P: 1000 2000 4000, and 10000 where 14 GB of memory
# are free. METHODS=reml-many runs one method (least-squares aliased reml-few reml-many),
# ROUNDS=3 changes the turns. Needs a C compiler (CC) and OpenBLAS with its header (Debian:
# libopenblas-dev).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
cc=${CC:-cc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. benchmarks/blas/settings.bash

if ! "$cc" -O2 -o "$dir/openblas" benchmarks/blas/peer/openblas.c -lopenblas 2>"$dir/errors"; then
	cat "$dir/errors" >&2
	echo "solve: cannot build the peer; a C compiler, OpenBLAS and its header are needed (Debian: libopenblas-dev)" >&2
	exit 1
fi
cores=$(blas_cores | tr ' ' '\n' | grep -vx -- - | paste -sd , || true)
"$go" build -C benchmarks -o "$dir/solve" ./solve
printf 'version\t%s\n' "$(echo version | "$dir/openblas" | sed 's/ core .*//')"
if [ $# -eq 0 ]; then
	set -- 1000 2000 4000
	free=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
	if [ "$free" -gt 14000000 ]; then set -- "$@" 10000; fi
fi
for p in "$@"; do
	rounds=${ROUNDS:-3}
	if [ "$p" -gt 5000 ]; then rounds=0; fi
	for method in ${METHODS:-least-squares aliased reml-few reml-many}; do
		"$dir/solve" -peer "$dir/openblas" -cores "$cores" -columns "$p" -method "$method" -rounds "$rounds"
	done
done
