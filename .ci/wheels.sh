#!/usr/bin/env bash
# Wheels of the Python package with the program inside, for every platform: dist/*.whl.
# GO is the compiler, PYTHON an interpreter with hatchling. Programs are static, so one
# Linux wheel of an architecture serves glibc and musl.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
python=${PYTHON:-python3}
out=$PWD/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -f "$out"/pho_go-*.whl
"$python" -c 'import hatchling' 2>/dev/null || {
    echo "wheels: $python has no hatchling: pip install hatchling, or set PYTHON"
    exit 1
}
while read -r os arch tag; do
    name=pho
    [ "$os" != windows ] || name=pho.exe
    mkdir -p "$work/$os-$arch"
    CGO_ENABLED=0 GOOS=$os GOARCH=$arch "$go" build -trimpath -ldflags='-s -w' -o "$work/$os-$arch/$name" ./cmd/pho
    (cd python && PHO_WHEEL_BINARY="$work/$os-$arch/$name" PHO_WHEEL_TAG=$tag "$python" -m hatchling build -t wheel -d "$out" >/dev/null)
done <<'PLATFORMS'
linux amd64 manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64
linux arm64 manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64
darwin amd64 macosx_12_0_x86_64
darwin arm64 macosx_12_0_arm64
windows amd64 win_amd64
windows arm64 win_arm64
PLATFORMS
"$python" python/check_wheels.py "$out"
