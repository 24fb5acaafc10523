#!/usr/bin/env bash
# solve.sh [P...]: decompose.Solve for P columns (1000 2000 4000 by default; 10000 needs 12 GB of
# memory) next to one P x P x P product of OpenBLAS with two threads and the code that suits the
# processor best, a line for each case on stdout. METHODS=reml-many runs one method, ROUNDS=3
# changes the turns. Needs a C compiler (CC) and OpenBLAS with its header (Debian:
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
for p in "${@:-1000 2000 4000}"; do
	for p in $p; do
		for method in ${METHODS:-least-squares aliased reml-few reml-many}; do
			"$dir/solve" -peer "$dir/openblas" -cores "$cores" -columns "$p" -method "$method" -rounds "${ROUNDS:-3}"
		done
	done
done
