#!/usr/bin/env bash
# arm64.sh [short]: tests of the packages with NEON kernels, and of those that rest on them, for
# arm64: on such a machine as they are, elsewhere in an emulator (QEMU, or what
# qemu-aarch64-static or qemu-aarch64 in the path is). Without one it says so and passes. short
# is what make check has time for: the kernels, without the longest of their tests.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export GOWORK=off GOOS=linux GOARCH=arm64 CGO_ENABLED=0
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
	"$go" test ${emulator:+"$emulator"} -short -skip '^TestMul(Narrow)?$' ./internal/kernel
	exit
fi
"$go" test ${emulator:+"$emulator"} ./internal/kernel
# Emulated, what is not about kernels takes long: -short, and one package after the other.
"$go" test ${emulator:+"$emulator"} -p 1 -short -timeout 30m ./penalty ./decompose ./adapters/onnx/...
