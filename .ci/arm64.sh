#!/usr/bin/env bash
# arm64.sh [short | bench]: tests of the packages with NEON kernels, and of those that rest on them, for
# arm64: on such a machine as they are, elsewhere in an emulator (QEMU, or what
# qemu-aarch64-static or qemu-aarch64 in the path is). Without one it says so and passes. short
# is what make check has time for: the kernels, which it has vetted, without the longest of their tests. bench prints
# how many times faster NEON is than Go's own code; in an emulator, where arithmetic is a call
# of a function for each number, that says nothing about a processor.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export GOWORK=off GOOS=linux GOARCH=arm64 CGO_ENABLED=0
# Where code for some processors is: the kernels, which make check compiles for arm64, and a program of the
# benchmarks. Elsewhere make check would not see that such code does not compile.
aware='internal/base/kernel benchmarks/forward'
for file in $({ git ls-files '*_amd64*' '*_arm64*'; git grep -lE '^//go:build.*(amd64|arm64)' -- '*.go' '*.s'; } | sort -u); do
	if ! grep -qE "^(${aware// /|})/" <<<"$file"; then
		echo "arm64: $file is for some processors, outside $aware, and make check compiles no other package for arm64"
		exit 1
	fi
done
emulator=
if [ "$("$go" env GOHOSTARCH)" != arm64 ]; then
	qemu=${QEMU:-$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)}
	if [ -z "$qemu" ]; then
		echo "check-arm64: SKIPPED: needs an arm64 machine or qemu-aarch64 (Debian: qemu-user-static)"
		exit 0
	fi
	emulator="-exec=$qemu"
fi
if [ "${1:-}" = short ]; then
	"$go" test -vet=off ${emulator:+"$emulator"} -short -skip '^(TestMul|TestMulNarrow|TestCrossIsInBlocks)$' ./internal/base/kernel
	exit
fi
if [ "${1:-}" = bench ]; then
	where=emulated
	if [ -z "$emulator" ]; then where=measured; fi
	echo "kernel, $where ratio of the time of plain Go to that of NEON, best of five turns each"
	for _ in 1 2 3 4 5; do
		"$go" test ${emulator:+"$emulator"} -run '^$' -benchtime 10x -bench 'Mul/256x(200|64|1)x|Gram/(plain|neon)|Outer|MulBand|Elementwise|Function' ./internal/base/kernel
	done | awk '/^Benchmark/ && $4 == "ns/op" {
			set = match($1, /[\/_](plain|neon)(-unpacked)?([\/-]|$)/) ? substr($1, RSTART + 1, RLENGTH - 1) : ""
			if (set == "") next
			name = $1; sub(/-[0-9]+$/, "", name); sub(/\/(plain|neon)/, "", name)
			of = set ~ /^neon/ ? "neon" : "plain"
			if (!(name in seen)) { order[n++] = name; seen[name] = 1 }
			if (!((name, of) in best) || $3 < best[name, of]) best[name, of] = $3
		}
		END { for (i = 0; i < n; i++) if (((order[i], "plain") in best) && ((order[i], "neon") in best))
			printf "%-50s %6.2f\n", order[i], best[order[i], "plain"] / best[order[i], "neon"] }'
	exit
fi
"$go" test ${emulator:+"$emulator"} ./internal/base/kernel
# Emulated, what is not about kernels takes long: -short, and one package after the other.
"$go" test ${emulator:+"$emulator"} -p 1 -short -timeout 30m ./penalty ./decompose ./adapters/onnx/...
