#!/usr/bin/env bash
# blas.sh [ROUNDS [THREADS]]: the products of internal/base/kernel next to OpenBLAS, a line
# for each on stdout. Needs a C compiler (CC) and OpenBLAS with its header (Debian:
# libopenblas-dev). OpenBLAS may not know a new processor and fall back to slow
# code; so the code of the processors that this one resembles is tried as well,
# and the fastest is the peer.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off
go=${GO:-go}
cc=${CC:-cc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! command -v "$cc" >/dev/null; then
	echo "blas: no C compiler ($cc); install one or set CC" >&2
	exit 1
fi
if ! "$cc" -O2 -o "$dir/openblas" benchmarks/blas/peer/openblas.c -lopenblas 2>"$dir/errors"; then
	cat "$dir/errors" >&2
	echo "blas: cannot build the peer; OpenBLAS and its header are needed (Debian: libopenblas-dev)" >&2
	exit 1
fi
cores=
if grep -qw avx512f /proc/cpuinfo 2>/dev/null; then
	cores=Haswell,SkylakeX,Cooperlake,SapphireRapids
elif grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
	cores=Haswell,Zen
fi
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(nproc) processors; $("$go" version)"
"$go" build -C benchmarks -o "$dir/blas" ./blas
"$dir/blas" -peer "$dir/openblas" -cores "$cores" -rounds "${1:-15}" -threads "${2:-2}"
